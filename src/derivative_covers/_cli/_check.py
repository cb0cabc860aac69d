"""``derivative-covers check``: derivatives against differences of the plain program."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import click

from ..checks import CheckReport
from ..checks import check as compare
from ._program import program_options, read_program, running
from ._progress import working

__all__ = ["check"]

FINE, FAILED = 0, 1


@click.command(short_help="hold derivatives against differences of the plain program")
@program_options
@click.option(
    "--directions",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Number of random directions.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the random directions.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def check(
    target: str,
    point: tuple[str, ...],
    names: str | None,
    directions: int,
    seed: int,
    as_json: bool,
) -> int:
    """Hold derivatives against differences of the plain program.

    Compares gradient or Jacobian, Hessian products, and the cover with second
    derivatives in sampled directions. Exit status 1 where one is wrong.

    Example: derivative-covers check model.py:energy --x0 1.0,2.0
    """
    program = read_program(target, point, names)
    with working(f"checking {target}"), running(target, program.x0):
        report = compare(
            program.f,
            program.x0,
            directions=directions,
            seed=seed,
            names=program.names,
        )
    click.echo(_json(target, report) if as_json else repr(report))
    return FINE if report.ok else FAILED


def _json(target: str, report: CheckReport) -> str:
    rows = [
        {key: _plain(value) for key, value in asdict(row).items()}
        for row in report.rows
    ]
    return json.dumps(
        {"function": target, "ok": report.ok, "comparisons": rows}, indent=2
    )


def _plain(value: Any) -> Any:
    """JSON has neither NaN nor infinities."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
