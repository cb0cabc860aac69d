"""Small programs of scalars that every backend should run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["PROGRAMS"]


def _arithmetic(x: Any) -> Any:
    return (x[0] + 2.0) * x[1] - x[2] / (3.0 - x[1]) + 1.5 / x[0] - (0.5 - x[2])


def _powers(x: Any) -> Any:
    return x[0] ** 2 + x[1] ** 3 + 2.0 ** x[2] + (1.0 + x[0] * x[0]) ** x[1]


def _functions(x: Any) -> Any:
    return np.exp(np.sin(x[0])) + np.log(1.0 + x[1] * x[1]) * np.tanh(x[2])


def _two_operands(x: Any) -> Any:
    return np.arctan2(x[0], x[1]) + np.hypot(x[1], x[2]) + np.logaddexp(x[0], 1.0)


def _repeated(x: Any) -> Any:
    y = x[0] * x[1]
    return y * y + y / y + (x[2] - x[2]) * x[0] + np.maximum(y, y)


def _literals(x: Any) -> Any:
    total = type(x[0])(0.0)
    for k in range(3):
        total = total + type(x[0])(0.5) * x[k] * (k + 1)
    return total * type(x[0])(2.0) + total * total


def _branches(x: Any) -> Any:
    y = x[0] if x[0] > x[1] else x[1] * x[1]
    z = abs(x[2]) if x[2] != 0.0 else 1.0
    return y * z + np.maximum(x[0], -x[1]) * np.floor(x[1] + 0.3)


def _loop(x: Any) -> Any:
    y, z = x[0], x[1]
    for _ in range(20):
        y, z = 0.9 * y - 0.1 * z * x[2], 0.1 * y + 0.9 * np.sin(z)
    return y * z


def _linear(x: Any) -> Any:
    return 2.0 * x[0] - x[1] + 0.25 * (x[2] - 4.0 * x[0])


def _unused(x: Any) -> Any:
    return x[1] * x[1] * 3.0


PROGRAMS: dict[str, tuple[Callable[[Any], Any], tuple[float, ...]]] = {
    "arithmetic": (_arithmetic, (0.7, 1.3, -0.4)),
    "powers": (_powers, (0.7, 1.3, -0.4)),
    "functions": (_functions, (0.7, 1.3, -0.4)),
    "functions of two operands": (_two_operands, (0.7, 1.3, -0.4)),
    "repeated operands": (_repeated, (0.7, 1.3, -0.4)),
    "typed literals": (_literals, (0.7, 1.3, -0.4)),
    "branches": (_branches, (0.7, 1.3, -0.4)),
    "loop": (_loop, (0.7, 1.3, -0.4)),
    "linear": (_linear, (0.7, 1.3, -0.4)),
    "one input of three": (_unused, (0.7, 1.3, -0.4)),
    "a vanishing factor": (lambda x: x[0] * x[1] + x[2] * x[0], (0.0, 1.3, -0.4)),
}
