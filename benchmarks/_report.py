"""Rows, the table, and the results file."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from ._page import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

PACKAGES = (
    "derivative-covers",
    "numpy",
    "numba",
    "autograd",
    "casadi",
    "jax",
    "torch",
    "scipy",
    "checkpoint-schedules",
    "pyrevolve",
    "crival",
    "immrax",
    "dask",
    "discopt",
)


@dataclass(frozen=True)
class Row:
    """One measured number beside its target; no `target` means for information."""

    item: str
    what: str
    value: float | None
    unit: str = "x"
    target: float | None = None
    at_least: bool = False
    n: int | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target holds; None where there is none or nothing was measured."""
        if self.target is None or self.value is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    @property
    def verdict(self) -> str:
        """The word in the last column of the table."""
        if self.value is None:
            return "not measured"
        return {True: "met", False: "MISSED", None: "-"}[self.met]

    @property
    def shown(self) -> str:
        """The value with its unit."""
        return "" if self.value is None else f"{self.value:.3g} {self.unit}".rstrip()

    @property
    def goal(self) -> str:
        """The target with its sense."""
        if self.target is None:
            return ""
        return f"{'>=' if self.at_least else '<='} {self.target:g}"

    def as_json(self) -> dict[str, Any]:
        """What does not depend on the machine: seconds become fractions of the target."""
        value, unit, target = self.value, self.unit, self.target
        if unit == "s":
            unit = "of target"
            value = None if value is None or not target else value / target
            target = 1.0 if target else None
        return {
            "item": self.item,
            "what": self.what,
            "n": self.n,
            "value": None if value is None else float(f"{value:.4g}"),
            "unit": unit,
            "target": target,
            "sense": ">=" if self.at_least else "<=",
            "met": self.met,
        }


def table(rows: Iterable[Row]) -> str:
    """All rows as aligned text."""
    lines = [("item", "measured", "n", "value", "target", "verdict", "note")]
    for r in rows:
        size = "" if r.n is None else f"{r.n:g}"
        lines.append((r.item, r.what, size, r.shown, r.goal, r.verdict, r.note))
    widths = [max(len(line[k]) for line in lines) for k in range(6)]
    return "\n".join(
        "  ".join([*(c.ljust(w) for c, w in zip(line, widths, strict=False)), line[6]])
        for line in lines
    )


def versions() -> dict[str, str]:
    """The versions that were measured."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def save(path: Path, rows: Sequence[Row], **how: str) -> None:
    """Write `rows`, each with what `how` says of the run.

    Rows of items that were not run now are kept from the old file, and those of a full
    run that no row of this one replaces.
    """
    new = [{**r.as_json(), **how} for r in rows]
    items = {r["item"] for r in new}
    replaced = {(r["item"], r["what"], r["n"]) for r in new}
    old = json.loads(path.read_text())["rows"] if path.exists() else []
    kept = [
        r
        for r in old
        if r["item"] not in items
        or (r.get("run") == "full" and (r["item"], r["what"], r["n"]) not in replaced)
    ]
    data = {"versions": versions(), "rows": [*kept, *new]}
    path.write_text(json.dumps(data, indent=1) + "\n")
    path.with_name("RESULTS.md").write_text(page(data))
