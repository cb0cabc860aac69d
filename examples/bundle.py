"""Bundle adjustment: cameras and points from photographs.

Where were the cameras, and where are the points that they saw? The unknowns differ wildly in
size: rotations of some tenths, positions in thousands of millimetres, a focal length of some
hundred pixels, and two coefficients of the lens, one over pixels squared (1e-7) and to the
fourth (1e-14). The model of a camera has nine numbers, as in "Bundle Adjustment in the Large"
(Agarwal, Snavely, Seitz & Szeliski, ECCV 2010), but for the units. The scene is made up: cameras
around a ball of points, with errors of half a pixel in each picture.

What the library brings: residuals written as a plain program, its derivatives, and the scale of
every unknown.

    python -m examples.bundle [--out FOLDER] [--quick]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult
from scipy.optimize import minimize as plain_minimize

import derivative_covers as dc
from derivative_covers.interop.scipy import least_squares, minimize

from ._gallery import BLUE, INK, ORANGE, finish, options, picture

__all__ = ["Scene", "main", "project", "scene"]

PIXEL_ERROR = 0.5


def project(cameras: Any, points: Any) -> Any:
    """Where each camera sees its point, in pixels.

    Args:
        cameras: Rotation vector, shift, focal length and two lens coefficients of the
            camera of each observation, shape (n, 9).
        points: The point of each observation, shape (n, 3).

    Returns:
        Pixels, shape (n, 2).
    """
    axis, shift, lens = cameras[:, :3], cameras[:, 3:6], cameras[:, 6:]
    angle = np.sqrt(np.sum(axis**2, axis=1))[:, None]
    unit = axis / angle
    cos, sin = np.cos(angle), np.sin(angle)
    along = np.sum(unit * points, axis=1)[:, None]
    turned = cos * points + sin * np.cross(unit, points) + (1 - cos) * along * unit
    seen = turned + shift
    flat = -lens[:, :1] * seen[:, :2] / seen[:, 2:]
    square = np.sum(flat**2, axis=1)
    bent = 1 + square * (lens[:, 1] + square * lens[:, 2])
    return bent[:, None] * flat


@dataclass(frozen=True)
class Scene:
    """What was photographed.

    Attributes:
        cameras: The true cameras, shape (m, 9).
        points: The true points, shape (n, 3).
        who: The camera of each observation, shape (m * n,).
        what: The point of each observation, shape (m * n,).
        seen: Pixels, shape (m * n, 2).
    """

    cameras: np.ndarray
    points: np.ndarray
    who: np.ndarray
    what: np.ndarray
    seen: np.ndarray

    def split(self, x: Any) -> tuple[Any, Any]:
        """Cameras and points of a vector of unknowns."""
        size = self.cameras.size
        return x[:size].reshape(-1, 9), x[size:].reshape(-1, 3)

    def join(self, camera: Any, point: float) -> np.ndarray:
        """The vector of unknowns with all cameras and all points alike."""
        cameras = np.broadcast_to(camera, self.cameras.shape).ravel()
        return np.concatenate([cameras, np.full(self.points.size, point)])

    def residuals(self) -> Callable[[Any], Any]:
        """Pixels of the model minus those seen, a program of the unknowns."""

        def r(x: Any) -> Any:
            cameras, points = self.split(x)
            return (project(cameras[self.who], points[self.what]) - self.seen).ravel()

        return r

    def start(self) -> np.ndarray:
        """A first guess: everything somewhat off, the lens unknown."""
        rng = np.random.default_rng(1)
        cameras = self.cameras + rng.normal(size=self.cameras.shape) * (
            [0.02] * 3 + [100.0] * 3 + [40.0, 0.0, 0.0]
        )
        cameras[:, 7:] = 0.0
        points = self.points + rng.normal(scale=100.0, size=self.points.shape)
        return np.concatenate([cameras.ravel(), points.ravel()])


def scene(cameras: int, points: int) -> Scene:
    """Cameras in an arc, all looking at a ball of points."""
    rng = np.random.default_rng(0)
    turn = np.linspace(-0.6, 0.6, cameras)
    true = np.zeros((cameras, 9))
    true[:, :3] = np.stack([np.full(cameras, 0.1), turn, 0.05 * turn], axis=1)
    true[:, 3:6] = [0.0, 0.0, -6000.0]
    true[:, 6:] = [700.0, -1.6e-7, 4e-14]
    ball = rng.normal(size=(points, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None] / rng.uniform(500, 1500, (points, 1))
    who, what = (k.ravel() for k in np.mgrid[:cameras, :points])
    exact = project(true[who], ball[what])
    return Scene(
        true, ball, who, what, exact + rng.normal(scale=PIXEL_ERROR, size=exact.shape)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Adjust, print the errors in pixels, draw them."""
    chosen = options("bundle", __doc__, arguments)
    made = scene(2, 6) if chosen.quick else scene(4, 25)
    r, x0 = made.residuals(), made.start()
    # The coefficients of the lens start at zero, which says nothing of their size.
    size = made.join([1.0] * 3 + [1000.0] * 3 + [700.0, 1e-7, 1e-13], 1000.0)
    limit = {"maxiter": 60 if chosen.quick else 1500}

    def misfit(x: Any) -> Any:
        return 0.5 * np.sum(r(x) ** 2)

    program = dc.compile(misfit, x0)
    runs = {
        "first guess": OptimizeResult(fun=misfit(x0), nfev=1, success=False),
        "SciPy's L-BFGS-B alone": plain_minimize(
            program.value_and_gradient, x0, jac=True, method="L-BFGS-B", options=limit
        ),
        "L-BFGS-B, scaled": minimize(
            misfit, x0, method="L-BFGS-B", scales=size, options=limit
        ),
    }
    best = least_squares(r, x0, scales=size, max_nfev=100)
    runs["least_squares, scaled"] = OptimizeResult(best, fun=best.cost)
    print(f"{made.seen.size} residuals of {x0.size} unknowns; typical error in pixels:")
    for name, run in runs.items():
        rms = np.sqrt(2 * run.fun / made.seen.size)
        said = "success" if run.success else "-"
        print(f"{name:<24}{rms:8.3f} after {run.nfev:4d} evaluations  {said}")
    cameras, points = made.split(1 / dc.cover_nls(r, x0, ngroups=None).h_gn)
    names = "rotation", "position", "focal length", "lens, r²", "lens, r⁴"
    parts = (slice(0, 3), slice(3, 6), slice(6, 7), slice(7, 8), slice(8, 9))
    print("The library brought the steps that count alike in the pixels:")
    for name, part in zip(names, parts, strict=True):
        print(f"- {name}: {np.median(cameras[:, part]):.2g}")
    print(f"- points: {np.median(points):.2g}")
    draw(made, x0, best.x, chosen.out)
    return 0


def draw(made: Scene, x0: np.ndarray, x: np.ndarray, folder: Path) -> None:
    """The first camera's picture, with what the model says before and after."""
    figure, axes = picture(2)
    first = made.who == 0
    for panel, z, title, colour in zip(
        axes, (x0, x), ("first guess", "adjusted"), (ORANGE, BLUE), strict=True
    ):
        cameras, points = made.split(z)
        model = project(cameras[made.who[first]], points[made.what[first]])
        seen = made.seen[first]
        for one, other in zip(seen, model, strict=True):
            panel.plot(*np.stack([one, other]).T, color=colour, linewidth=1)
        panel.plot(*seen.T, ".", color=INK, markersize=4, label="seen")
        panel.plot(*model.T, "o", color=colour, markersize=7, alpha=0.5, label="model")
        panel.set_aspect("equal")
        panel.set_title(f"{title}: one picture, in pixels", loc="left")
        panel.legend(fontsize=8)
    finish(figure, folder, "bundle")


if __name__ == "__main__":
    raise SystemExit(main())
