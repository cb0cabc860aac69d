"""The picture of two schedules: `python -m examples.schedule [--out FOLDER]`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from derivative_covers.checkpoint import Revolve, UniformBlock

from .figures import STYLE

__all__ = ["draw_schedules", "main"]

STEPS, SLOTS = 40, 4


def draw_schedules(path: Path) -> None:
    """Draw the best schedule above that of uniform blocks, on one axis of time."""
    plans = [schedule.plan(STEPS) for schedule in (Revolve(SLOTS), UniformBlock(SLOTS))]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 6.6), layout="constrained")
        for plan, axes in zip(plans, figure.subplots(2, 1), strict=True):
            plan.plot(axes)
            axes.grid(visible=False)
            axes.set_xlim(0, max(p.cost.unrecorded + 2 * p.steps for p in plans))
        figure.savefig(path, dpi=130)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the picture."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.schedule", description=__doc__
    )
    parser.add_argument(
        "--out", type=Path, default=Path("demo-output"), metavar="FOLDER"
    )
    folder = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "revolve-schedule.png"
    draw_schedules(path)
    print(f"Picture: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
