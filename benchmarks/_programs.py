"""The programs that are measured, one source for every package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OPERATIONS_A_TERM = 8
OPERATIONS_A_STEP = 5


def rosenbrock(x: Any) -> Any:
    """Rosenbrock's function on arrays: eight nodes an entry."""
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def rosenbrock_square(x: Any) -> Any:
    """A function of a sum: its one outermost atom touches every variable."""
    return rosenbrock(x) ** 2


def rosenbrock_terms(entries: Sequence[Any]) -> Any:
    """Rosenbrock's function on scalars, `OPERATIONS_A_TERM` operations a term."""
    total: Any = 0.0
    previous = entries[0]
    for entry in entries[1:]:
        total = total + (100.0 * (entry - previous**2) ** 2 + (1.0 - previous) ** 2)
        previous = entry
    return total


def pendulum(entries: Sequence[Any], sin: Callable[[Any], Any], steps: int) -> Any:
    """The angle of a pendulum, `OPERATIONS_A_STEP` operations a step."""
    angle, speed = entries
    for _ in range(steps):
        speed = speed - 0.01 * sin(angle)
        angle = angle + 0.01 * speed
    return angle


def rosenbrock_loop(x: Any) -> Any:
    """`rosenbrock_terms` on the entries of an array."""
    return rosenbrock_terms(list(x))


def rosenbrock_loop_square(x: Any) -> Any:
    """The square of `rosenbrock_loop`."""
    return rosenbrock_loop(x) ** 2


def products(x: Any) -> Any:
    """Products of different operands: every node but the sums takes a split."""
    y = x[1:] * x[:-1]
    return (y[2:] * y[:-2] * x[:-3] * y[1:-1]).sum()


def quotients(x: Any) -> Any:
    """Quotients, whose blocks have three second partials of full length."""
    return (x[1:] / (1.0 + x[:-1] ** 2)).sum()


def mixture(x: Any) -> Any:
    """Transcendental elementals; a few products of tiny factors ask for scales."""
    y = np.exp(-(x**2)) * np.sin(x)
    return (np.log1p(y**2) + np.tanh(x) * y).sum()


def rosenbrock_hessian(x: np.ndarray) -> np.ndarray:
    """The Hessian of Rosenbrock's function, written out."""
    diagonal = np.zeros_like(x)
    diagonal[:-1] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    diagonal[1:] += 200.0
    beside = -400.0 * x[:-1]
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


def point(n: int, seed: int = 0) -> np.ndarray:
    """The point of measurement: `n` standard normal numbers."""
    return np.random.default_rng(seed).normal(size=n)
