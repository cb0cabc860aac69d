"""What the examples share: options, pictures and their colours."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from .figures import BLUE, GREEN, INK, ORANGE, STYLE

__all__ = ["BLUE", "GREEN", "INK", "ORANGE", "finish", "options", "picture"]


def options(
    name: str, about: str | None, arguments: Sequence[str] | None
) -> argparse.Namespace:
    """Read ``--out FOLDER`` and ``--quick``; make the folder."""
    parser = argparse.ArgumentParser(
        prog=f"python -m examples.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--out", type=Path, default=Path("demo-output"), metavar="FOLDER"
    )
    parser.add_argument(
        "--quick", action="store_true", help="a smaller problem, in a second or two"
    )
    found = parser.parse_args(arguments)
    found.out.mkdir(parents=True, exist_ok=True)
    return found


def picture(columns: int = 1) -> tuple[Figure, Any]:
    """A figure with so many axes side by side."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.6 * columns, 3.6), layout="constrained")
        return figure, figure.subplots(1, columns)


def finish(figure: Figure, folder: Path, name: str) -> None:
    """Write the figure and say where."""
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=80)
    print(f"Picture: {path}")
