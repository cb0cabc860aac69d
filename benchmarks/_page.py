"""The page of results, from what the JSON file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OURS = "this package"
COLUMNS = (
    "record",
    "record + gradient",
    "gradient",
    "hvp",
    "cover sum",
    "cover quadrature",
    "hybrid",
    "replayed value",
    "replayed gradient",
    "replayed hvp",
    "replayed cover sum",
)
SIZES = (
    "peak bytes a node",
    "exponent, record",
    "exponent, cover sum",
    "exponent, cover quadrature",
    "largest relative difference",
)
COMPARED = ("value", "gradient", "hvp")


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _how(row: dict[str, Any]) -> str:
    """The text of a row, with what is special about its run."""
    said = [row["run"] + " run"] if "run" in row else []
    said += ["processor time"] if row.get("clock") == "processor" else []
    return row["what"] + (f" ({', '.join(said)})" if said else "")


def _verdict(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "not measured"
    return {True: "met", False: "**missed**", None: ""}[row["met"]]


def _targets(rows: list[dict[str, Any]]) -> str:
    lines = []
    for r in rows:
        goal = "" if r["target"] is None else f"{r['sense']} {_number(r['target'])}"
        value = f"{_number(r['value'])} {r['unit']}".strip()
        lines.append((_how(r), f"{r['n'] or ''}", value, goal, _verdict(r)))
    return _table(("measured", "n", "value", "target", ""), lines)


def _programs(rows: list[dict[str, Any]]) -> str:
    """Three tables: ours in plain evaluations, sizes and exponents, all packages."""
    cells: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for r in rows:
        if r["what"].count(" | ") == 2 and r["value"] is not None:
            program, who, column = r["what"].split(" | ")
            who = OURS if who == "all" else who
            cells.setdefault((program, f"{r['n']:g}"), {})[who, column] = r["value"]

    def ours(columns: tuple[str, ...]) -> str:
        shown = [c for c in columns if any((OURS, c) in x for x in cells.values())]
        return _table(
            ("program", "n", *shown),
            (
                (*name, *(_number(found.get((OURS, c))) for c in shown))
                for name, found in cells.items()
            ),
        )

    makers = list(dict.fromkeys(who for x in cells.values() for who, _ in x))
    peers = [who for who in makers if who != OURS]
    lines = []
    for name, found in cells.items():
        for column in COMPARED:
            mine = [
                _number(found.get((OURS, c)))
                for c in (column, f"record + {column}", f"replayed {column}")
            ]
            theirs = [_number(found.get((who, column))) for who in peers]
            lines.append((*name, column, *mine, *theirs))
    head = ("program", "n", "", "of a tape", "with recording", "replayed", *peers)
    return "\n\n".join((ours(COLUMNS), ours(SIZES), _table(head, lines)))


def page(data: dict[str, Any]) -> str:
    """Everything that was measured last, as Markdown."""
    items: dict[str, list[dict[str, Any]]] = {}
    for row in data["rows"]:
        items.setdefault(row["item"], []).append(row)
    parts = [
        "# Results",
        "Written by `python -m benchmarks`; [README.md](README.md) says how.",
        ", ".join(f"{name} {version}" for name, version in data["versions"].items()),
    ]
    if "targets" in items:
        parts += ["## What must hold", _targets(items.pop("targets"))]
    if "table" in items:
        parts += [
            "## Programs and packages",
            "One call over one evaluation of the program in plain NumPy (a loop: in "
            "plain Python). Columns of a tape begin with the tape at hand. An empty "
            "cell was not measured: the package is not installed, or the program is "
            "too long for it.",
            _programs(items.pop("table")),
        ]
    for item, rows in items.items():
        parts += [f"## {item}", _targets(rows)]
    return "\n\n".join(parts) + "\n"
