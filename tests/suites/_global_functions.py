"""Classical functions of global optimisation, with their usual boxes and least values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tests.suites._box_functions import (
    beale,
    booth,
    branin,
    goldstein_price,
    powell_singular,
    rosenbrock,
    six_hump_camel,
    three_hump_camel,
)

__all__ = ["CASES", "Case"]


class Case(NamedTuple):
    """A function, its box, the published least value, and whether it is quick."""

    name: str
    f: Any
    box: list[tuple[float, float]]
    least: float
    quick: bool


# Dixon and Szegö 1978, "Towards Global Optimization 2"; Surjanovic and Bingham, "Virtual
# Library of Simulation Experiments".
HARTMANN_A = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
HARTMANN_P = np.array(
    [
        [0.3689, 0.1170, 0.2673],
        [0.4699, 0.4387, 0.7470],
        [0.1091, 0.8732, 0.5547],
        [0.0381, 0.5743, 0.8828],
    ]
)
HARTMANN_C = np.array([1.0, 1.2, 3.0, 3.2])


def hartmann3(x):
    total = 0.0
    for a, p, c in zip(HARTMANN_A, HARTMANN_P, HARTMANN_C, strict=True):
        total = total - c * np.exp(-np.sum(a * (x - p) ** 2))
    return total


SHEKEL_A = np.array(
    [[4, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7]], dtype=float
)
SHEKEL_C = (0.1, 0.2, 0.2, 0.4, 0.4)


def shekel5(x):
    total = 0.0
    for a, c in zip(SHEKEL_A, SHEKEL_C, strict=True):
        total = total - 1 / (np.sum((x - a) ** 2) + c)
    return total


def levy(x):
    w = 1 + (x - 1) / 4
    inner = np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2))
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return np.sin(np.pi * w[0]) ** 2 + inner + last


KOWALIK_Y = np.array(
    [
        0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627,
        0.0456, 0.0342, 0.0323, 0.0235, 0.0246,
    ]
)  # fmt: skip
KOWALIK_U = np.array(
    [4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625]
)


def kowalik(x):
    u = KOWALIK_U
    model = x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])
    return np.sum((KOWALIK_Y - model) ** 2)


CASES = [
    Case("six-hump camel", six_hump_camel, [(-3, 3), (-2, 2)], -1.0316284535, True),
    Case("branin", branin, [(-5, 10), (0, 15)], 0.3978873577, True),
    Case("goldstein-price", goldstein_price, [(-2, 2)] * 2, 3.0, False),
    Case("hartmann 3", hartmann3, [(0, 1)] * 3, -3.8627797870, True),
    Case("shekel 5", shekel5, [(0, 10)] * 4, -10.1531996791, False),
    Case("beale", beale, [(-4.5, 4.5)] * 2, 0.0, True),
    Case("booth", booth, [(-10, 10)] * 2, 0.0, True),
    Case("three-hump camel", three_hump_camel, [(-5, 5)] * 2, 0.0, True),
    Case("levy 3", levy, [(-10, 10)] * 3, 0.0, False),
    Case("rosenbrock 3", rosenbrock, [(-5, 10)] * 3, 0.0, False),
    Case("powell singular", powell_singular, [(-4, 5)] * 4, 0.0, True),
    Case("kowalik", kowalik, [(0, 0.42)] * 4, 0.0003074860, False),
]
