"""Functions of public collections and of practice, each with a box.

They use only what NumPy does on arrays of any objects, so that they can be evaluated on
numbers of other kinds as well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["CASES", "Case", "spike"]


class Case(NamedTuple):
    name: str
    f: Any
    box: list[tuple[float, float]]


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def wood(x):
    a, b, c, d = x[0], x[1], x[2], x[3]
    return (
        100 * (a**2 - b) ** 2 + (a - 1) ** 2 + (c - 1) ** 2 + 90 * (c**2 - d) ** 2
        + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1)
    )  # fmt: skip


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def six_hump_camel(x):
    a, b = x[0], x[1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


def three_hump_camel(x):
    a, b = x[0], x[1]
    return 2 * a**2 - 1.05 * a**4 + a**6 / 6 + a * b + b**2


def goldstein_price(x):
    a, b = x[0], x[1]
    one = 19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2
    two = 18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2
    return (1 + (a + b + 1) ** 2 * one) * (30 + (2 * a - 3 * b) ** 2 * two)


def branin(x):
    a, b = x[0], x[1]
    curve = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return curve**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def beale(x):
    a, b = x[0], x[1]
    return (
        (1.5 - a + a * b) ** 2
        + (2.25 - a + a * b**2) ** 2
        + (2.625 - a + a * b**3) ** 2
    )


def booth(x):
    return (x[0] + 2 * x[1] - 7) ** 2 + (2 * x[0] + x[1] - 5) ** 2


def matyas(x):
    return 0.26 * (x[0] ** 2 + x[1] ** 2) - 0.48 * x[0] * x[1]


def levy(x):
    w = 1 + (x - 1) / 4
    inner = np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2))
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return np.sin(np.pi * w[0]) ** 2 + inner + last


def griewank(x):
    product = 1.0
    for k in range(len(x)):
        product = product * np.cos(x[k] / np.sqrt(k + 1.0))
    return np.sum(x**2) / 4000 - product + 1


def smooth_ackley(x):
    root = np.sqrt(0.5 * np.sum(x**2) + 0.01)
    wave = np.exp(0.5 * np.sum(np.cos(2 * np.pi * x)))
    return -20 * np.exp(-0.2 * root) - wave


def log_sum_exp(x):
    return np.log(np.sum(np.exp(np.array([[1, 2], [-1, 0.5], [0, -3]]) @ x)))


FEATURES = np.array(
    [[0.5, -1.2, 0.3], [1.1, 0.4, -0.7], [-0.6, 0.9, 1.5], [0.2, -0.3, 1]]
)


def logistic_loss(x):
    return np.sum(np.log(1 + np.exp(-(FEATURES @ x)))) + 0.05 * np.sum(x**2)


def gaussian_mixture(x):
    centres = ((0.3, 0.7), (-0.5, 0.2), (0.9, -0.4))
    wells = (1.0, 0.7, 1.3)
    return -sum(
        w * np.exp(-2 * ((x[0] - a) ** 2 + (x[1] - b) ** 2))
        for w, (a, b) in zip(wells, centres, strict=True)
    )


def exp_sine(x):
    return np.exp(np.sin(3 * x[0]) * x[1]) + np.sin(x[0] + x[1] ** 2)


WEIGHTS = np.array([[0.8, -0.5], [-0.3, 1.2], [0.6, 0.4]])


def softplus_net(x):
    return np.sum(np.log(1 + np.exp(WEIGHTS @ x + 0.1)) * np.array([1.0, -2.0, 0.5]))


def tanh_net(x):
    hidden = np.tanh(WEIGHTS @ x - 0.2)
    return np.sum(np.tanh(WEIGHTS.T @ hidden) * np.array([1.0, -0.5]))


def trained_net(x):  # the loss of a net with two hidden units in its five weights
    error = 0.0
    for a, b in ((-1.0, 0.5), (0.2, -0.3), (1.3, 0.8)):
        out = x[0] * np.tanh(x[1] * a + x[2]) + x[3] * np.tanh(x[4] * a)
        error = error + (out - b) ** 2
    return error


def lennard_jones(x):  # three atoms in a plane: at 0, (a, 0) and (b, c)
    a, b, c = x[0], x[1], x[2]
    squares = (a**2, b**2 + c**2, (a - b) ** 2 + c**2)
    return sum(1 / s**6 - 2 / s**3 for s in squares)


def pharmacokinetics(x):  # dose, absorption and elimination against three samples
    error = 0.0
    for t, c in ((0.5, 1.2), (1.5, 1.6), (4.0, 0.7)):
        curve = np.exp(-x[2] * t) - np.exp(-x[1] * t)
        error = error + (x[0] * x[1] / (x[1] - x[2]) * curve - c) ** 2
    return error


def rational(x):
    return x[0] * x[1] / (1 + x[0] ** 2 + x[1] ** 2) + 1 / (2 + x[0] * x[1])


def entropy(x):
    return np.sum(x * np.log(x)) - np.sum(x) * np.log(np.sum(x))


def powell_singular(x):
    return (
        (x[0] + 10 * x[1]) ** 2
        + 5 * (x[2] - x[3]) ** 2
        + (x[1] - 2 * x[2]) ** 4
        + 10 * (x[0] - x[3]) ** 4
    )


def rastrigin(x):
    return np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def styblinski_tang(x):
    return np.sum(x**4 - 16 * x**2 + 5 * x) / 2


def mccormick(x):
    return np.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1


def zakharov(x):
    weighted = np.sum(0.5 * np.arange(1.0, len(x) + 1) * x)
    return np.sum(x**2) + weighted**2 + weighted**4


def dixon_price(x):
    return (x[0] - 1) ** 2 + np.sum(
        np.arange(2.0, len(x) + 1) * (2 * x[1:] ** 2 - x[:-1]) ** 2
    )


def brown_dennis(x):
    total = 0.0
    for k in range(1, 4):
        t = k / 5
        one = x[0] + t * x[1] - np.exp(t)
        two = x[2] + np.sin(t) * x[3] - np.cos(t)
        total = total + (one**2 + two**2) ** 2
    return total


def exponential_fit(x):
    t = np.array([0.0, 1.0, 2.0, 4.0])
    y = np.array([3.1, 2.2, 1.4, 0.6])
    return np.sum((x[0] * np.exp(-x[1] * t) + x[2] - y) ** 2)


def michaelis_menten(x):
    s = np.array([0.3, 1.0, 3.0, 8.0])
    v = np.array([0.4, 0.9, 1.4, 1.7])
    return np.sum((x[0] * s / (x[1] + s) - v) ** 2)


def student(x):
    y = np.array([-0.4, 0.1, 0.3, 2.9])
    z = (y - x[0]) * np.exp(-x[1])
    return np.sum(2.5 * np.log(1 + z**2 / 4)) + 4 * x[1]


def trigonometric_polynomial(x):
    return np.sum(np.sin(2 * x) * np.cos(3 * x)) + np.cos(x[0] * x[1]) * x[2]


def reactor(x):  # a temperature and a conversion
    rate = np.exp(-3 / x[0])
    return (x[1] - rate * (1 - x[1])) ** 2 + 0.1 * (x[0] - x[1]) ** 2


def spike(x):
    """Flat but for a narrow dent: samples miss it, and its curvature is very negative.

    A convexity test by sampled Hessians answers yes over [-2, 2], and then a local
    minimum (0 near the ends) passes for the global one, which is -3.5.
    """
    return 0.001 * x[0] ** 2 - 3.5 * np.exp(-1e6 * (x[0] - 0.123456) ** 2)


UNIT = (-1.0, 1.0)
CASES = [
    Case("rosenbrock 2", rosenbrock, [(-1.5, -1), (0.8, 1.3)]),
    Case("rosenbrock 6", rosenbrock, [(-1.2, 1.1)] * 6),
    Case("wood", wood, [(-2, 0.5), (-1, 1), (0.2, 1.5), UNIT]),
    Case("himmelblau", himmelblau, [(-5, 5)] * 2),
    Case("six-hump camel", six_hump_camel, [(-2, 2), UNIT]),
    Case("three-hump camel", three_hump_camel, [(-2, 2)] * 2),
    Case("goldstein-price", goldstein_price, [(-0.5, 0.5), (-1.5, -0.5)]),
    Case("branin", branin, [(-5, 10), (0, 15)]),
    Case("beale", beale, [(-2, 4), (-1, 1.5)]),
    Case("booth", booth, [(-10, 10)] * 2),
    Case("matyas", matyas, [(-10, 10)] * 2),
    Case("levy", levy, [(-2, 3)] * 3),
    Case("griewank", griewank, [(-3, 4)] * 3),
    Case("smooth ackley", smooth_ackley, [(-0.4, 0.7)] * 2),
    Case("log-sum-exp", log_sum_exp, [UNIT] * 2),
    Case("logistic loss", logistic_loss, [(-2, 2)] * 3),
    Case("gaussian mixture", gaussian_mixture, [UNIT] * 2),
    Case("exp of sine", exp_sine, [UNIT] * 2),
    Case("softplus net", softplus_net, [(-2, 2)] * 2),
    Case("tanh net", tanh_net, [(-1, 1.5)] * 2),
    Case("net's loss", trained_net, [UNIT] * 5),
    Case("lennard-jones", lennard_jones, [(0.9, 1.1), (0.4, 0.6), (0.8, 1)]),
    Case("pharmacokinetics", pharmacokinetics, [(1, 3), (1.5, 2.5), (0.2, 0.5)]),
    Case("rational", rational, [(-0.8, 1), UNIT]),
    Case("entropy", entropy, [(0.1, 1), (0.2, 2), (0.5, 1.5)]),
    Case("powell singular", powell_singular, [UNIT] * 4),
    Case("rastrigin", rastrigin, [(-1, 1.5)] * 3),
    Case("styblinski-tang", styblinski_tang, [(-5, 5)] * 3),
    Case("mccormick", mccormick, [(-1.5, 4), (-3, 4)]),
    Case("zakharov", zakharov, [(-1, 2)] * 3),
    Case("dixon-price", dixon_price, [(-2, 2)] * 4),
    Case("brown-dennis", brown_dennis, [(-2, 2)] * 4),
    Case("exponential fit", exponential_fit, [(1, 4), (0.2, 1), (-0.5, 0.5)]),
    Case("michaelis-menten", michaelis_menten, [(1, 3), (0.5, 2)]),
    Case("student", student, [(-1, 2), (-0.5, 0.7)]),
    Case("waves", trigonometric_polynomial, [UNIT] * 3),
    Case("reactor", reactor, [(0.5, 2), (0.1, 0.9)]),
    Case("spike", spike, [(-2, 2)]),
]
