"""Thirteen argon atoms in SI units.

Atoms attract each other from afar and repel each other when they touch: the potential of
Lennard-Jones. The lowest energy of thirteen atoms is known, -44.326801 in units of the depth
of one pair, and belongs to an icosahedron (Hoare & Pal 1971; the Cambridge Cluster Database).
Here positions are in metres and energies in joules, so that an ångström is 1e-10 and a typical
energy 1e-21. SciPy alone takes every start for a minimum: its gradient is below 1e-5.

What the library brings: scales of all 39 coordinates, and a stopping test that does not
depend on metres and joules.

    python -m examples.cluster [--out FOLDER] [--quick]
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize as plain_minimize

import derivative_covers as dc
from derivative_covers.interop.scipy import minimize, scaling

from ._gallery import BLUE, INK, ORANGE, finish, options, picture

__all__ = ["DEPTH", "LOWEST", "energy", "main", "starts"]

ATOMS = 13
DIAMETER, DEPTH = 3.405e-10, 1.654e-21  # of argon: metres, joules
LOWEST = -44.326801
FIRST, SECOND = np.triu_indices(ATOMS, 1)


def energy(x: Any) -> Any:
    """Energy in joules of positions in metres, one after another."""
    place = x.reshape(ATOMS, 3)
    square = np.sum((place[FIRST] - place[SECOND]) ** 2, axis=1)
    attraction = (DIAMETER**2 / square) ** 3
    return 4 * DEPTH * np.sum(attraction**2 - attraction)


def starts(number: int) -> np.ndarray:
    """Random places in a ball, no two atoms closer than 0.85 diameters."""
    rng = np.random.default_rng(13)
    found = []
    for _ in range(number):
        place = np.empty((0, 3))
        while len(place) < ATOMS:
            new = rng.uniform(-1.5, 1.5, 3)
            free = np.linalg.norm(place - new, axis=1) > 0.85
            if np.linalg.norm(new) < 1.5 and free.all():
                place = np.vstack([place, new])
        found.append(DIAMETER * place.ravel())
    return np.array(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Minimise from random starts, print the energies, draw the best cluster."""
    chosen = options("cluster", __doc__, arguments)
    tried = starts(1 if chosen.quick else 12)
    first = tried[0]
    alone = plain_minimize(
        energy, first, jac=lambda x: dc.gradient(energy, x), method="L-BFGS-B"
    )
    print(
        f"SciPy alone: energy {alone.fun / DEPTH:.2f} after {alone.nfev} evaluation(s),"
    )
    print(
        f"  as at the start ({energy(first) / DEPTH:.2f}); success = {alone.success}."
    )
    limit = {"maxiter": 2000}  # an atom that flies off flies on
    runs = [minimize(energy, x, method="L-BFGS-B", options=limit) for x in tried]
    energies = np.array([run.fun for run in runs]) / DEPTH
    best = runs[int(np.argmin(energies))]
    print(f"Scaled, {len(runs)} start(s), {sum(run.nfev for run in runs)} evaluations:")
    print("  energies", *(f"{e:.2f}" for e in np.sort(energies)))
    print(f"Lowest: {energies.min():.6f}; known: {LOWEST}")
    print("The library brought:")
    step = scaling(energy, first).step
    print(
        f"- natural steps of {step.min():.1e} to {step.max():.1e} m at the first start;"
    )
    print(f"- a stopping test without units: {best.message}")
    draw(energies, best.x.reshape(ATOMS, 3) / DIAMETER, chosen.out)
    return 0


def draw(energies: np.ndarray, place: np.ndarray, folder: Path) -> None:
    """The energies that were found, and the best cluster seen from one side."""
    figure, (left, right) = picture(2)
    left.plot(np.sort(energies), "o", color=BLUE)
    left.axhline(LOWEST, color=ORANGE, label="known lowest energy")
    left.set_xlabel("starts, sorted")
    left.set_ylabel("energy (depths of a pair)")
    left.legend()
    seen = place - place.mean(axis=0)
    pairs = np.linalg.norm(seen[FIRST] - seen[SECOND], axis=1)
    for i, j in zip(FIRST[pairs < 1.25], SECOND[pairs < 1.25], strict=True):
        right.plot(*seen[[i, j]][:, :2].T, color=INK, linewidth=0.7, alpha=0.5)
    order = np.argsort(seen[:, 2])
    right.scatter(
        *seen[order, :2].T,
        s=700,
        c=seen[order, 2],
        cmap="Blues",
        edgecolors=INK,
        vmin=-2,
    )
    right.set_aspect("equal")
    right.margins(0.2)
    right.grid(visible=False)
    right.set_title("the best cluster", loc="left")
    finish(figure, folder, "cluster")


if __name__ == "__main__":
    raise SystemExit(main())
