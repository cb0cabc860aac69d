"""The demonstration: `make demo`, or `python -m examples.demo [--out FOLDER]`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from . import tightness, units
from .figures import SOLVED, draw_tightness, draw_units

SPELLED_OUT = "MGH10"


def say(text: str = "") -> None:
    """Print at once, so that each row of a table shows progress."""
    print(text, flush=True)


def rosenbrock_in_units(path: Path) -> list[units.Run]:
    """Minimise Rosenbrock's function raw and scaled; print the table, draw the picture."""
    say("1. ONE FUNCTION, FOUR SETS OF UNITS")
    say()
    say("Rosenbrock's function from (-1.2, 1), minimum 0. Only the units of the two")
    say(
        "variables differ. A cover h at the start gives each variable its natural step,"
    )
    say("1 / h[i]; on the right SciPy counts every variable in its natural steps.")
    say()
    say(
        f"{'':<9} {'variables':<15} | {'SciPy as it is':<31} | {'scaled by the cover':<31}"
    )
    heading = f"{'final f':>8} {'evals':>6}  {'SciPy says':<15}"
    say(f"{'method':<9} {'multiplied by':<15} | {heading} | {heading}")
    say("-" * 93)
    done = []
    for run in units.runs():
        done.append(run)
        if run.scaled:
            raw, scaled = done[-2:]
            factors = "{:g}, {:g}".format(*run.units)
            say(f"{run.method:<9} {factors:<15} | {_outcome(raw)} | {_outcome(scaled)}")
    say()
    say(f"'success !!': reported as success with f above {SOLVED:g}.")
    draw_units(done, path)
    say(f"Picture: {path}")
    return done


def _outcome(run: units.Run) -> str:
    says = "success" if run.success else "failure"
    if run.success and run.f > SOLVED:
        says += " !!"
    return f"{run.f:8.1e} {run.evaluations:6d}  {says:<15}"


def nist_regression(path: Path) -> list[list[tightness.Covered]]:
    """Cover NIST's least-squares objectives; print the table, draw the picture."""
    say("2. NIST'S REGRESSION PROBLEMS: BOUNDS NEXT TO TRUE HESSIANS")
    say()
    say(
        "Half the residual sum of squares of every problem, at both published starts and"
    )
    say("at the certified solution. A cover h bounds every entry of the Hessian H:")
    say(
        "|H[i, j]| <= h[i] * h[j]. The figures are the typical factor between bound and"
    )
    say("entry (geometric mean; 1 is exact). The merge 'sum' costs one pass, the merge")
    say("'quadrature' is the tighter one.")
    say()
    merges = f"{'start 1':>9}{'start 2':>9}{'solution':>9}"
    say(f"{'':<10}{'':<9}{'param-':>7}{'obser-':>8} | {'sum':^27} | {'quadrature':^27}")
    say(f"{'problem':<10}{'grade':<9}{'eters':>7}{'vations':>8} | {merges} | {merges}")
    say("-" * 94)
    done = []
    for points in tightness.covered():
        done.append(points)
        problem = points[0].problem
        factors = (
            "".join(f"{10 ** one.excess(merge):9.2f}" for one in points)
            for merge in ("sum", "quadrature")
        )
        say(
            f"{problem.name:<10}{problem.difficulty:<9}{len(points[0].H):>7}"
            f"{len(problem.y):>8} | {' | '.join(factors)}"
        )
    say()
    sums, quadratures = (
        np.median([10 ** one.excess(merge) for points in done for one in points])
        for merge in ("sum", "quadrature")
    )
    say(f"Median factor: {sums:.1f} with sum, {quadratures:.1f} with quadrature.")
    say()
    solutions = {points[-1].problem.name: points[-1] for points in done}
    _spell_out(solutions[SPELLED_OUT])
    draw_tightness(done, path)
    say(f"Picture: {path}")
    return done


def _spell_out(one: tightness.Covered) -> None:
    h = one.h_quadrature
    say(f"{one.problem.name} at its solution, {one.problem.formula}:")
    say()
    say(f"{'true Hessian H':^41}   {'bound h[i] * h[j]':^41}")
    for row, bound in zip(one.H, np.outer(h, h), strict=True):
        left, right = ("".join(f"{v:13.4g}" for v in values) for values in (row, bound))
        say(f"{left}     {right}")
    say()
    steps = ", ".join(f"{1 / v:.3g}" for v in h)
    say(f"Natural step of each parameter, 1 / h: {steps}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both parts and write both pictures."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo", description=__doc__
    )
    parser.add_argument(
        "--out", type=Path, default=Path("demo-output"), metavar="FOLDER"
    )
    folder = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    say("(The first run on a machine compiles the sweeps, which takes some seconds.)")
    say()
    rosenbrock_in_units(folder / "rosenbrock-units.png")
    say()
    nist_regression(folder / "nist-tightness.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
