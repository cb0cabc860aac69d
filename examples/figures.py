"""The two pictures of the demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from .tightness import Covered
from .units import METHODS, UNITS, Run

__all__ = ["draw_tightness", "draw_units", "unit_label"]

# Colours that the colour-blind can tell apart (Okabe & Ito).
INK, BLUE, ORANGE, GREEN = "#222222", "#0072B2", "#D55E00", "#009E73"
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "legend.frameon": False,
}
SOLVED = 1e-4
LOWEST = 1e-15


def _power(number: float) -> str:
    exponent = round(np.log10(number))
    return f"10^{{{exponent}}}" if exponent else "1"


def unit_label(units: tuple[float, float]) -> str:
    """The factors of the two variables, as mathematics."""
    return rf"$({_power(units[0])},\ {_power(units[1])})$"


def draw_units(runs: Sequence[Run], path: Path) -> None:
    """Draw the best value against evaluations: raw above, scaled below."""
    colours = dict(zip(UNITS, (INK, BLUE, ORANGE, GREEN), strict=True))
    # Coinciding curves stay visible: the first ones are drawn wider.
    widths = dict(zip(UNITS, (8.0, 5.4, 3.2, 1.4), strict=True))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 6.6), layout="constrained")
        axes = figure.subplots(2, 3, sharex=True, sharey=True)
        for run in runs:
            panel = axes[int(run.scaled), METHODS.index(run.method)]
            counts = np.arange(1, len(run.history) + 1)
            panel.plot(
                counts,
                np.maximum(run.history, LOWEST / 10),
                color=colours[run.units],
                linewidth=widths[run.units] if run.scaled else 2.2,
                solid_capstyle="round",
                label=unit_label(run.units),
            )
            if run.f > SOLVED:
                end = (counts[-1], run.f)
                panel.plot(*end, "X", color=colours[run.units], markersize=10, zorder=3)
        for scaled, row in enumerate(axes):
            for method, panel in zip(METHODS, row, strict=True):
                chosen = [r for r in runs if (r.method, r.scaled) == (method, scaled)]
                title = f"{method}: {_verdict(chosen)}"
                panel.set_title(title, fontsize=9, loc="left")
        for panel in axes[1]:
            panel.set_xlabel("function evaluations")
        axes[0, 0].set_yscale("log")
        axes[0, 0].set_ylim(LOWEST, 200)
        axes[0, 0].set_ylabel("SciPy as it is\nbest value so far")
        axes[1, 0].set_ylabel("scaled by the cover\nbest value so far")
        figure.suptitle(
            "Rosenbrock's function in four sets of units (X: stopped without solution)"
        )
        figure.legend(
            *axes[0, 0].get_legend_handles_labels(),
            title="variables multiplied by",
            loc="outside lower center",
            ncols=len(UNITS),
        )
        figure.savefig(path, dpi=130)


def _verdict(runs: Sequence[Run]) -> str:
    counts = [run.evaluations for run in runs if run.f <= SOLVED]
    least, most = min(counts), max(counts)
    span = f"{least}" if least == most else f"{least} to {most}"
    return f"{len(counts)} of {len(runs)} solved in {span} evaluations"


def draw_tightness(problems: Sequence[Sequence[Covered]], path: Path) -> None:
    """Draw each Hessian entry against its bound, and the excess of each problem."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 6.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_entries(left, [one for points in problems for one in points])
        _draw_excess(right, problems)
        figure.savefig(path, dpi=130)


def _draw_entries(axes: Any, covered: Sequence[Covered]) -> None:
    pairs = []
    for one in covered:
        sizes = np.abs(one.H)
        kept = sizes > 1e-12 * sizes.max()
        pairs.append((sizes[kept], np.outer(one.h_quadrature, one.h_quadrature)[kept]))
    entries, bounds = (np.concatenate(column) for column in zip(*pairs, strict=True))
    ends = np.array([entries.min() / 10, bounds.max() * 10])
    axes.loglog(ends, ends, color=INK, linewidth=1)
    axes.loglog(entries, bounds, ".", color=BLUE, markersize=5, alpha=0.4)
    note = "on the line: bound = entry"
    axes.text(0.97, 0.04, note, transform=axes.transAxes, ha="right", color=INK)
    axes.set_xlabel("true size of a Hessian entry  $|H_{ij}|$")
    axes.set_ylabel("its bound  $h_i h_j$  (quadrature)")
    above = np.count_nonzero(entries > bounds * (1 + 1e-12))
    axes.set_title(
        f"{len(entries)} Hessian entries, {above or 'none'} above its bound", loc="left"
    )


def _draw_excess(axes: Any, problems: Sequence[Sequence[Covered]]) -> None:
    rows = np.arange(len(problems))[::-1]
    kinds = (("sum", ORANGE, "o", 0.15), ("quadrature", BLUE, "s", -0.15))
    for kind, colour, marker, shift in kinds:
        for row, points in zip(rows, problems, strict=True):
            excess = [10 ** one.excess(kind) for one in points]
            axes.plot(excess, [row + shift] * len(excess), color=colour, alpha=0.35)
            axes.plot(
                excess,
                [row + shift] * len(excess),
                marker,
                color=colour,
                markersize=4.5,
                label=f"{kind} merge" if row == 0 else None,
            )
    axes.set_xscale("log")
    axes.set_yticks(rows, [points[0].problem.name for points in problems], fontsize=8)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("typical factor between bound and entry (1 is exact)")
    axes.set_title("per problem: two starts and the solution", loc="left")
    axes.legend(loc="lower right")
