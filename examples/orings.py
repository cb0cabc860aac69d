"""Logistic regression: the O-rings of the space shuttle.

Twenty-three flights before the Challenger accident: the temperature at launch (in degrees
Fahrenheit) and whether any O-ring was damaged (Dalal, Fowlkes & Hoadley, Journal of the
American Statistical Association 84, 1989). Textbooks print the fit of these data: log odds of
damage 15.0429 - 0.2322 t, deviance 20.315. The launch of the accident was at 31 degrees.

What the library brings: scales for an intercept and a slope whose units differ, and a proof
that no other parameters within a box fit better: the likelihood is convex all over it.

    python -m examples.orings [--out FOLDER] [--quick]
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from derivative_covers import bounds
from derivative_covers.interop.scipy import minimize

from ._gallery import BLUE, INK, ORANGE, finish, options, picture

__all__ = ["DAMAGED", "PUBLISHED", "TEMPERATURE", "deviance", "main", "proof"]

TEMPERATURE = np.concatenate(
    [
        [66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78.0],
        [67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58.0],
    ]
)
DAMAGED = np.concatenate(
    [[0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0], [0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1]]
)
PUBLISHED = np.array([15.0429, -0.2322])
ACCIDENT = 31.0


def deviance_of(odds: Any) -> Any:
    """Twice the negative log likelihood of these log odds."""
    return 2 * np.sum(np.logaddexp(0.0, np.where(DAMAGED, -1.0, 1.0) * odds))


def deviance(p: Any) -> Any:
    """The deviance of intercept and slope."""
    return deviance_of(p[0] + p[1] * TEMPERATURE)


def centred(p: Any) -> Any:
    """That of the log odds at 70 degrees and their change in ten degrees."""
    return deviance_of(p[0] + p[1] * (TEMPERATURE - 70) / 10)


def proof(box: Sequence[tuple[float, float]], max_boxes: int) -> bool | None:
    """Whether the deviance is convex all over a box of `centred`'s parameters."""
    return bounds.convex_on(centred, box, max_boxes=max_boxes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, prove, draw."""
    chosen = options("orings", __doc__, arguments)
    found = minimize(deviance, [0.0, 0.0], method="BFGS", scales=[10.0, 0.1])
    risk = 1 / (1 + np.exp(-(found.x[0] + found.x[1] * ACCIDENT)))
    print(f"Log odds of damage: {found.x[0]:.4f} {found.x[1]:+.4f} t, ", end="")
    print(f"deviance {found.fun:.3f}, {found.nfev} evaluations")
    print(f"Published: {PUBLISHED[0]:.4f} {PUBLISHED[1]:+.4f} t")
    print(
        f"Chance of damage at {ACCIDENT:g} degrees, far outside of the data: {risk:.4f}"
    )
    box = [(-1.3, -1.0), (-2.5, -2.0)] if chosen.quick else [(-2.5, 0.5), (-5.0, 0.0)]
    proved = proof(box, max_boxes=400)
    print("The library brought:")
    ratio = found.scale[0] / found.scale[1]
    print(f"- scales: the intercept moves {ratio:.0f} times as far as the slope;")
    print(f"- convex for log odds at 70 degrees in {box[0]}")
    print(f"  and changes in ten degrees in {box[1]}: {proved}")
    print("  (True is a proof: no parameters there fit better. None: undecided.)")
    draw(found.x, chosen.out)
    return 0


def draw(p: np.ndarray, folder: Path) -> None:
    """The flights and the fitted chance of damage."""
    figure, axes = picture()
    t = np.linspace(ACCIDENT - 1, 85, 300)
    axes.plot(t, 1 / (1 + np.exp(-(p[0] + p[1] * t))), color=BLUE)
    axes.plot(TEMPERATURE, DAMAGED, "o", color=INK, alpha=0.5, markersize=5)
    axes.axvline(ACCIDENT, color=ORANGE)
    axes.text(ACCIDENT + 1, 0.05, "the accident", color=ORANGE)
    axes.set_xlabel("temperature at launch (°F)")
    axes.set_ylabel("damage")
    finish(figure, folder, "orings")


if __name__ == "__main__":
    raise SystemExit(main())
