"""The kinetics of an enzyme, fitted in four sets of units.

Puromycin data: the rate of a reaction at twelve concentrations of its substrate, with the
enzyme treated by puromycin (Treloar 1974; printed in Bates & Watts, Nonlinear Regression
Analysis and Its Applications, 1988, appendix 1.3). The model of Michaelis and Menten has two
parameters, the largest rate and the concentration at half of it. Bates and Watts find 212.7
counts/min² and 0.0641 ppm.

What the library brings: the scales of the two parameters, and a stopping test without units.
The fit is the same in all units; with SciPy alone it is not.

    python -m examples.enzyme [--out FOLDER] [--quick]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize as plain_minimize

import derivative_covers as dc
from derivative_covers.interop.scipy import minimize, scaling

from ._gallery import BLUE, INK, ORANGE, finish, options, picture

__all__ = ["CONCENTRATION", "PUBLISHED", "RATE", "fits", "main", "residual_sum"]

CONCENTRATION = np.repeat([0.02, 0.06, 0.11, 0.22, 0.56, 1.10], 2)  # ppm
RATE = np.array([76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200.0])
PUBLISHED = np.array([212.68, 0.06412])
START = np.array([200.0, 0.05])

# One unit of each, in counts/min² and in ppm.
UNITS = {
    "counts/min², ppm": (1.0, 1.0),
    "counts/min², ppb": (1.0, 1e-3),
    "counts/s², percent": (3600.0, 1e4),
    "counts/h², mass fraction": (1 / 3600, 1e6),
}


def residual_sum(units: tuple[float, float]) -> Callable[[Any], Any]:
    """The residual sum of squares, a program of somebody who measures in these units."""
    rate, concentration = RATE / units[0], CONCENTRATION / units[1]

    def f(p: Any) -> Any:
        return np.sum((p[0] * concentration / (p[1] + concentration) - rate) ** 2)

    return f


def fits(units: tuple[float, float]) -> tuple[Any, Any]:
    """SciPy alone with exact gradients, and through the library; by L-BFGS-B."""
    f, start = residual_sum(units), START / units
    alone = plain_minimize(f, start, jac=lambda p: dc.gradient(f, p), method="L-BFGS-B")
    return alone, minimize(f, start, method="L-BFGS-B")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit in all units, print the results in published units, draw the picture."""
    chosen = options("enzyme", __doc__, arguments)
    print(f"{'one unit of rate, concentration':<33}{'SciPy alone':<30}{'scaled':<30}")
    found = {}
    for name, units in UNITS.items():
        found[name] = fits(units)
        columns = [f"{name:<33}"]
        for result in found[name]:
            best = result.x * units
            said = "success" if result.success else "failure"
            columns.append(f"{best[0]:8.2f} {best[1]:8.5f} {result.nfev:3d} {said}")
        print(" ".join(columns))
    print("(largest rate, concentration at half of it, evaluations, what SciPy says)")
    print(f"Published: {PUBLISHED[0]} counts/min², {PUBLISHED[1]} ppm")
    last = next(iter(found.values()))[1]
    step = scaling(residual_sum((1.0, 1.0)), START).step
    print("The library brought:")
    print(f"- natural steps {step[0]:.2g} counts/min² and {step[1]:.2g} ppm;")
    print(f"- a stopping test without units: {last.message}")
    draw(found, chosen.out)
    return 0


def draw(found: dict[str, tuple[Any, Any]], folder: Path) -> None:
    """The data and the curves that were fitted in each set of units."""
    figure, axes = picture(2)
    c = np.linspace(0, 1.15, 200)
    for k, (panel, title, colour) in enumerate(
        zip(axes, ("SciPy alone", "scaled by the cover"), (ORANGE, BLUE), strict=True)
    ):
        for (name, results), width in zip(found.items(), (7, 5, 3, 1), strict=True):
            largest, half = results[k].x * UNITS[name]
            with np.errstate(divide="ignore", invalid="ignore"):
                curve = largest * c / (half + c)
            panel.plot(c, curve, color=colour, linewidth=width, alpha=0.4)
        panel.plot(CONCENTRATION, RATE, "o", color=INK, markersize=4)
        panel.set_ylim(0, 230)
        panel.set_title(f"{title}, four sets of units", loc="left")
        panel.set_xlabel("substrate (ppm)")
    axes[0].set_ylabel("rate (counts/min²)")
    finish(figure, folder, "enzyme")


if __name__ == "__main__":
    raise SystemExit(main())
