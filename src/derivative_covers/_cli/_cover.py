"""``derivative-covers cover``: gradient, cover and natural step of every variable."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

import click
import numpy as np

from ..covers import HessianCover, cover_hessian
from ..results import Summary, flattened, number, scales_notes, text, variables
from ._program import Program, program_options, read_program, running
from ._progress import working

__all__ = ["cover"]

NOTE = "h covers the Hessian H: |H[i, j]| <= h[i] h[j]. 1/h is the natural step."


@click.command(short_help="gradient, cover and natural step of every variable")
@program_options
@click.option(
    "--merge",
    type=click.Choice(["auto", "sum", "quadrature"]),
    default="auto",
    show_default=True,
    help="How the contributions of operations are combined: the tightest for about 500 "
    "gradients, one sweep, or the tightest.",
)
@click.option(
    "--plot",
    "picture",
    metavar="FILE.png",
    help="Draw the natural steps, into a file of any type that matplotlib writes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def cover(
    target: str,
    point: tuple[str, ...],
    names: str | None,
    merge: str,
    picture: str | None,
    as_json: bool,
) -> None:
    """Print gradient, cover and natural step of every variable.

    FILE.py:FUNCTION is a function of one array (or of one dictionary, with a point in a
    .json file) that returns a number. The file is run, as Python would run it. Of many
    variables, the table shows those with the largest and the smallest h; --json shows
    all.

    Example: derivative-covers cover model.py:energy --x0 1.0,2.0 --names length,angle
    """
    program = read_program(target, point, names)
    with working(f"covering {target}"), running(target, program.x0):
        found: HessianCover = cover_hessian(program.f, program.x0, merge=merge)
    if program.names is not None:
        found = found.named(program.names)
    answer = _json(program, found) if as_json else _table(target, found)
    if picture is not None:
        _draw(found, picture)
    click.echo(answer)


def _table(target: str, found: HessianCover) -> str:
    cost = "" if found.cost is None else f", about {found.cost:.3g} gradients"
    title = f"{target}: value={number(found.value)}, merge={found.merge!r}{cost}"
    columns = {"gradient": found.gradient, "h": found.h}
    table = variables(found.names, columns, "h")
    return text(Summary(title, (table,), (NOTE, *scales_notes(found.asked))))


def _draw(found: HessianCover, file: str) -> None:
    from ..plot import scales  # noqa: PLC0415 - matplotlib loads for a second

    os.environ.setdefault("MPLBACKEND", "agg")  # no window is wanted
    figure: Any = scales(found).figure
    try:
        figure.savefig(file)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        msg = f"the picture cannot be written to {file}: {reason}"
        raise click.UsageError(msg) from None


def _json(program: Program, found: HessianCover) -> str:
    if np.iscomplexobj(found.gradient):
        msg = "the point is complex, which JSON does not hold; leave --json out"
        raise click.UsageError(msg)
    columns = (flattened(part).tolist() for part in (found.gradient, found.h))
    rows: list[dict[str, Any]] = []
    for name, gradient, h in zip(found.names, *columns, strict=True):
        step = None
        with suppress(ZeroDivisionError):
            step = 1 / h
        rows.append({"name": name, "gradient": gradient, "cover": h, "scale": step})
    facts = {
        "function": program.title,
        "value": float(found.value),
        "merge": found.merge,
        "variables": rows,
    }
    return json.dumps(facts, indent=2)
