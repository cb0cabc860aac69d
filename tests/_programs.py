"""Objective functions in the style of public optimisation sets.

Each takes the array namespace first, so one source runs under NumPy, on a tape and
under JAX. Programs that assign in place have a separately written pure twin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["BY_NAME", "PROGRAMS", "Program"]

Objective = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Program:
    """An objective ``f(xp, x)`` with a point where it is twice differentiable."""

    name: str
    f: Objective
    x0: Any
    twin: Objective | None = None

    @property
    def pure(self) -> Objective:
        """The same function without in-place assignment."""
        return self.twin or self.f

    def __call__(self, x: Any) -> Any:
        return self.f(np, x)


PROGRAMS: list[Program] = []


def program(x0: Any, twin: Objective | None = None) -> Callable[[Objective], Objective]:
    """Add the decorated objective to the set."""

    def add(f: Objective) -> Objective:
        PROGRAMS.append(Program(f.__name__, f, np.array(x0, float), twin))
        return f

    return add


def generic(n: int, seed: int, low: float = -1.5, high: float = 1.5) -> Any:
    """A point without coincidences."""
    return np.random.default_rng(seed).uniform(low, high, size=n)


# --- sums of squares, by loops and by slices ---------------------------------------


@program(generic(6, 1))
def rosenbrock_loop(xp: Any, x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


@program(generic(8, 2))
def rosenbrock_slices(xp: Any, x: Any) -> Any:
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@program(generic(5, 3))
def rosenbrock_while(xp: Any, x: Any) -> Any:
    total, i = x[0] * 0.0, 0
    while i + 1 < x.shape[0]:
        a, b = x[i], x[i + 1]
        total += (1 - a) * (1 - a)
        total += 100 * (b - a * a) ** 2
        i += 1
    return total


@program(generic(8, 4))
def extended_rosenbrock(xp: Any, x: Any) -> Any:
    odd, even = x[::2], x[1::2]
    r = xp.concatenate([10.0 * (even - odd**2), 1.0 - odd])
    return xp.dot(r, r)


@program([-3.1, -1.2, -2.9, -0.8])
def wood(xp: Any, x: Any) -> Any:
    a, b, c, d = x
    return (
        100 * (b - a**2) ** 2
        + (1 - a) ** 2
        + 90 * (d - c**2) ** 2
        + (1 - c) ** 2
        + 10 * (b + d - 2) ** 2
        + (b - d) ** 2 / 10
    )


@program([3.1, -1.2, 0.3, 1.1])
def powell_singular(xp: Any, x: Any) -> Any:
    return (
        (x[0] + 10 * x[1]) ** 2
        + 5 * (x[2] - x[3]) ** 2
        + (x[1] - 2 * x[2]) ** 4
        + 10 * (x[0] - x[3]) ** 4
    )


@program(generic(8, 5))
def extended_powell(xp: Any, x: Any) -> Any:
    y = xp.reshape(x, (-1, 4))
    r1 = y[:, 0] + 10.0 * y[:, 1]
    r2 = math.sqrt(5.0) * (y[:, 2] - y[:, 3])
    r3 = (y[:, 1] - 2.0 * y[:, 2]) ** 2
    r4 = math.sqrt(10.0) * (y[:, 0] - y[:, 3]) ** 2
    return xp.sum(xp.stack([r1, r2, r3, r4]) ** 2)


@program([0.013, 1.7])
def powell_badly_scaled(xp: Any, x: Any) -> Any:
    r1 = 1e4 * x[0] * x[1] - 1.0
    r2 = xp.exp(-x[0]) + xp.exp(-x[1]) - 1.0001
    return r1 * r1 + r2 * r2


@program([1.3, 0.7])
def brown_badly_scaled(xp: Any, x: Any) -> Any:
    return (x[0] - 1e6) ** 2 + (x[1] - 2e-6) ** 2 + (x[0] * x[1] - 2.0) ** 2


@program([1.1, 0.9])
def beale(xp: Any, x: Any) -> Any:
    powers = xp.stack([x[1], x[1] ** 2, x[1] ** 3])
    r = np.array([1.5, 2.25, 2.625]) - x[0] * (1.0 - powers)
    return xp.sum(r**2)


def _helical_twin(xp: Any, x: Any) -> Any:
    turn = 0.5 - xp.arctan(-x[1] / x[0]) / (2.0 * math.pi)
    radius = xp.sqrt(x[0] ** 2 + x[1] ** 2)
    return 100.0 * ((x[2] - 10.0 * turn) ** 2 + (radius - 1.0) ** 2) + x[2] ** 2


@program([-1.1, 0.4, 0.2], _helical_twin)
def helical_valley(xp: Any, x: Any) -> Any:
    turn = xp.arctan(x[1] / x[0]) / (2.0 * math.pi)
    if x[0] < 0:
        turn = turn + 0.5
    radius = xp.sqrt(x[0] ** 2 + x[1] ** 2)
    return 100.0 * ((x[2] - 10.0 * turn) ** 2 + (radius - 1.0) ** 2) + x[2] ** 2


@program([-1.1, 0.4, 0.2])
def helical_valley_arctan2(xp: Any, x: Any) -> Any:
    turn = xp.arctan2(x[1], x[0]) / (2.0 * math.pi)
    radius = xp.hypot(x[0], x[1])
    return 100.0 * ((x[2] - 10.0 * turn) ** 2 + (radius - 1.0) ** 2) + x[2] ** 2


@program([0.6, -2.1])
def freudenstein_roth(xp: Any, x: Any) -> Any:
    a = -13.0 + x[0] + ((5.0 - x[1]) * x[1] - 2.0) * x[1]
    b = -29.0 + x[0] + ((x[1] + 1.0) * x[1] - 14.0) * x[1]
    return a**2 + b**2


@program([0.31, 0.42])
def jennrich_sampson(xp: Any, x: Any) -> Any:
    i = np.arange(1.0, 11.0)
    return xp.sum((2.0 + 2.0 * i - (xp.exp(i * x[0]) + xp.exp(i * x[1]))) ** 2)


@program([1.1, 0.9, 1.2])
def bard(xp: Any, x: Any) -> Any:
    u = np.arange(1.0, 16.0)
    v = 16.0 - u
    w = np.minimum(u, v)
    y = 0.14 + 0.25 * np.linspace(0.0, 2.0, 15) ** 2
    return xp.sum((y - (x[0] + u / (v * x[1] + w * x[2]))) ** 2)


@program([0.41, 1.1, 0.1])
def gaussian_fit(xp: Any, x: Any) -> Any:
    t = np.linspace(-3.5, 3.5, 15)
    y = 0.4 * np.exp(-0.5 * t**2)
    return xp.sum((x[0] * xp.exp(-x[1] * (t - x[2]) ** 2 / 2.0) - y) ** 2)


@program([0.021, 4000.0, 250.0])
def meyer(xp: Any, x: Any) -> Any:
    t = 45.0 + 5.0 * np.arange(1.0, 17.0)
    y = 34000.0 * np.exp(-0.045 * (t - 50.0))
    return xp.sum((x[0] * xp.exp(x[1] / (t + x[2])) - y) ** 2)


@program([5.1, 2.4, 0.17])
def gulf(xp: Any, x: Any) -> Any:
    total = 0.0
    for i in range(1, 6):
        t = i / 100.0
        y = 25.0 + (-50.0 * math.log(t)) ** (2.0 / 3.0)
        total = total + (xp.exp(-(abs(y - x[1]) ** x[2]) / x[0]) - t) ** 2
    return total


@program([0.1, 9.7, 19.3])
def box_three_dimensional(xp: Any, x: Any) -> Any:
    t = 0.1 * np.arange(1.0, 11.0)
    r = xp.exp(-t * x[0]) - xp.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10.0 * t))
    return xp.dot(r, r)


@program([0.25, 0.39, 0.415, 0.39])
def kowalik_osborne(xp: Any, x: Any) -> Any:
    u = 4.0 / np.arange(1.0, 12.0)
    y = 0.19 * u / (0.3 + u)
    return xp.sum((y - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])) ** 2)


@program([25.0, 5.0, -5.0, -1.0])
def brown_dennis(xp: Any, x: Any) -> Any:
    t = np.arange(1.0, 21.0) / 5.0
    a = x[0] + t * x[1] - np.exp(t)
    b = x[2] + x[3] * np.sin(t) - np.cos(t)
    return xp.sum((a**2 + b**2) ** 2)


@program([1.1, 2.1, 0.9, 1.2, 1.3, 0.8])
def biggs_exp6(xp: Any, x: Any) -> Any:
    t = 0.1 * np.arange(1.0, 14.0)
    y = np.exp(-t) - 5.0 * np.exp(-10.0 * t) + 3.0 * np.exp(-4.0 * t)
    model = (
        x[2] * xp.exp(-t * x[0]) - x[3] * xp.exp(-t * x[1]) + x[5] * xp.exp(-t * x[4])
    )
    return xp.sum((model - y) ** 2)


@program([1.3, 0.65, 0.7, 0.6, 3.0, 5.0, 2.0, 4.5])
def osborne_peaks(xp: Any, x: Any) -> Any:
    t = np.arange(24.0) / 4.0
    y = 1.2 * np.exp(-t) + 0.5 * np.exp(-((t - 3.0) ** 2))
    model = x[0] * xp.exp(-t * x[3])
    for k in range(2):
        model = model + x[1 + k] * xp.exp(-x[4 + k] * (t - x[6 + k]) ** 2)
    r = y - model
    return r @ r


@program(generic(6, 6, -0.5, 0.5))
def watson(xp: Any, x: Any) -> Any:
    n = x.shape[0]
    t = np.arange(1.0, 30.0)[:, None] / 29.0
    j = np.arange(n)
    values = t**j
    slopes = np.where(j > 0, j * t ** np.maximum(j - 1, 0), 0.0)
    r = slopes @ x - (values @ x) ** 2 - 1.0
    return xp.sum(r**2) + x[0] ** 2 + (x[1] - x[0] ** 2 - 1.0) ** 2


@program(generic(7, 7, 0.1, 2.0))
def penalty_one(xp: Any, x: Any) -> Any:
    return 1e-5 * xp.sum((x - 1.0) ** 2) + (xp.sum(x**2) - 0.25) ** 2


@program(generic(6, 8, 0.1, 0.9))
def penalty_two(xp: Any, x: Any) -> Any:
    n = x.shape[0]
    i = np.arange(2.0, n + 1.0)
    y = np.exp(i / 10.0) + np.exp((i - 1.0) / 10.0)
    e = xp.exp(x / 10.0)
    weights = n - np.arange(float(n))
    return (
        (x[0] - 0.2) ** 2
        + 1e-5 * xp.sum((e[1:] + e[:-1] - y) ** 2)
        + 1e-5 * xp.sum((e[1:] - math.exp(-0.1)) ** 2)
        + (xp.dot(weights, x**2) - 1.0) ** 2
    )


@program(generic(7, 9, 0.0, 1.0))
def variably_dimensioned(xp: Any, x: Any) -> Any:
    s = xp.dot(np.arange(1.0, 8.0), x - 1.0)
    return xp.sum((x - 1.0) ** 2) + s**2 + s**4


@program(generic(6, 10, 0.1, 0.4))
def trigonometric(xp: Any, x: Any) -> Any:
    n = x.shape[0]
    i = np.arange(1.0, n + 1.0)
    r = n - xp.sum(xp.cos(x)) + i * (1.0 - xp.cos(x)) - xp.sin(x)
    return xp.sum(r**2)


@program(generic(5, 11, 0.3, 0.8))
def brown_almost_linear(xp: Any, x: Any) -> Any:
    r = x[:-1] + xp.sum(x) - (x.shape[0] + 1.0)
    return xp.sum(r**2) + (xp.prod(x) - 1.0) ** 2


@program(generic(7, 12, -0.3, 0.0))
def discrete_boundary_value(xp: Any, x: Any) -> Any:
    n = x.shape[0]
    h = 1.0 / (n + 1)
    t = h * np.arange(1.0, n + 1.0)
    left = xp.concatenate([np.zeros(1), x[:-1]])
    right = xp.concatenate([x[1:], np.zeros(1)])
    return xp.sum((2.0 * x - left - right + h**2 * (x + t + 1.0) ** 3 / 2.0) ** 2)


@program(generic(6, 13, -0.3, 0.0))
def discrete_integral(xp: Any, x: Any) -> Any:
    n = x.shape[0]
    h = 1.0 / (n + 1)
    t = h * np.arange(1.0, n + 1.0)
    cube = (x + t + 1.0) ** 3
    low = xp.cumsum(t * cube)
    high = xp.cumsum(((1.0 - t) * cube)[::-1])[::-1] - (1.0 - t) * cube
    return xp.sum((x + h * ((1.0 - t) * low + t * high) / 2.0) ** 2)


@program(generic(7, 14))
def broyden_tridiagonal(xp: Any, x: Any) -> Any:
    padded = xp.concatenate([np.zeros(1), x, np.zeros(1)])
    r = (3.0 - 2.0 * x) * x - padded[:-2] - 2.0 * padded[2:] + 1.0
    return xp.sum(r * r)


@program(generic(7, 15))
def broyden_banded(xp: Any, x: Any) -> Any:
    n, total = len(x), 0.0
    for i in range(n):
        r = x[i] * (2.0 + 5.0 * x[i] ** 2) + 1.0
        for j in range(max(0, i - 4), min(n, i + 2)):
            if j != i:
                r = r - x[j] * (1.0 + x[j])
        total = total + r**2
    return total


@program(generic(4, 16))
def linear_full_rank(xp: Any, x: Any) -> Any:
    m, n = 9, x.shape[0]
    a = np.vstack([np.eye(n), np.zeros((m - n, n))]) - 2.0 / m
    return xp.linalg.norm(a @ x - 1.0) ** 2


@program(generic(5, 17, 0.05, 0.95))
def chebyquad(xp: Any, x: Any) -> Any:
    n = x.shape[0]
    previous, current = xp.ones_like(x), 2.0 * x - 1.0
    total = 0.0
    for k in range(1, n + 1):
        exact = 0.0 if k % 2 else -1.0 / (k * k - 1.0)
        total = total + (xp.mean(current) - exact) ** 2
        previous, current = current, 2.0 * (2.0 * x - 1.0) * current - previous
    return total


@program([0.6, 1.4])
def himmelblau(xp: Any, x: Any) -> Any:
    return xp.square(x[0] ** 2 + x[1] - 11) + xp.square(x[0] + x[1] ** 2 - 7)


# --- global optimisation -----------------------------------------------------------


@program(generic(5, 20, -6.0, 6.0))
def griewank(xp: Any, x: Any) -> Any:
    i = np.sqrt(np.arange(1.0, 6.0))
    return xp.sum(x**2) / 4000.0 - xp.prod(xp.cos(x / i)) + 1.0


@program(generic(4, 21, -3.0, 3.0))
def ackley(xp: Any, x: Any) -> Any:
    root = xp.sqrt(xp.mean(x**2))
    return (
        -20.0 * xp.exp(-0.2 * root)
        - xp.exp(xp.mean(xp.cos(2.0 * math.pi * x)))
        + 20.0
        + math.e
    )


@program(generic(5, 22, -4.0, 4.0))
def levy(xp: Any, x: Any) -> Any:
    w = 1.0 + (x - 1.0) / 4.0
    middle = (w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * xp.sin(math.pi * w[:-1] + 1.0) ** 2)
    last = (w[-1] - 1.0) ** 2 * (1.0 + xp.sin(2.0 * math.pi * w[-1]) ** 2)
    return xp.sin(math.pi * w[0]) ** 2 + xp.sum(middle) + last


@program(generic(6, 23, -4.0, 4.0))
def rastrigin(xp: Any, x: Any) -> Any:
    return 10.0 * x.size + (x**2 - 10.0 * xp.cos(2.0 * math.pi * x)).sum()


@program(generic(5, 24, -300.0, 300.0))
def schwefel(xp: Any, x: Any) -> Any:
    return 418.9829 * len(x) - xp.sum(x * xp.sin(xp.sqrt(xp.abs(x))))


@program(generic(6, 25, -4.0, 4.0))
def styblinski_tang(xp: Any, x: Any) -> Any:
    return sum(0.5 * (t**4 - 16.0 * t**2 + 5.0 * t) for t in x)


@program(generic(5, 26, 0.2, 2.9))
def michalewicz(xp: Any, x: Any) -> Any:
    i = np.arange(1.0, 6.0)
    return -xp.sum(xp.sin(x) * xp.sin(i * x**2 / math.pi) ** 4)


@program(generic(5, 27))
def zakharov(xp: Any, x: Any) -> Any:
    s = xp.sum(0.5 * np.arange(1.0, 6.0) * x)
    return xp.sum(x**2) + s**2 + s**4


@program(generic(6, 28))
def dixon_price(xp: Any, x: Any) -> Any:
    i = np.arange(2.0, 7.0)
    return (x[0] - 1.0) ** 2 + (i * (2.0 * x[1:] ** 2 - x[:-1]) ** 2).sum()


@program([0.7, -0.6])
def six_hump_camel(xp: Any, x: Any) -> Any:
    a, b = x[0], x[1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


@program([2.2, 4.1])
def branin(xp: Any, x: Any) -> Any:
    b, c, t = 5.1 / (4 * math.pi**2), 5 / math.pi, 1 / (8 * math.pi)
    return (x[1] - b * x[0] ** 2 + c * x[0] - 6) ** 2 + 10 * (1 - t) * xp.cos(x[0]) + 10


@program([0.4, -0.7])
def goldstein_price(xp: Any, x: Any) -> Any:
    a, b = x[0], x[1]
    left = 1 + (a + b + 1) ** 2 * (
        19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2
    )
    right = 30 + (2 * a - 3 * b) ** 2 * (
        18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2
    )
    return left * right


@program([0.2, 0.5, 0.8])
def hartmann(xp: Any, x: Any) -> Any:
    a = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])
    p = np.array(
        [[0.37, 0.12, 0.27], [0.47, 0.44, 0.75], [0.11, 0.87, 0.55], [0.04, 0.57, 0.88]]
    )
    return -xp.dot(
        np.array([1.0, 1.2, 3.0, 3.2]), xp.exp(-xp.sum(a * (x - p) ** 2, axis=1))
    )


@program([3.1, 4.4, 5.2, 3.7])
def shekel(xp: Any, x: Any) -> Any:
    a = np.array([[4.0] * 4, [1.0] * 4, [8.0] * 4, [6.0] * 4, [3.0, 7.0, 3.0, 7.0]])
    c = np.array([0.1, 0.2, 0.2, 0.4, 0.4])
    return -xp.sum(1.0 / (xp.sum((x[None, :] - a) ** 2, axis=-1) + c))


@program(generic(5, 29, -5.0, 5.0))
def alpine(xp: Any, x: Any) -> Any:
    return xp.sum(abs(x * xp.sin(x) + 0.1 * x))


@program(generic(4, 30, -2.0, 2.0))
def salomon(xp: Any, x: Any) -> Any:
    r = xp.linalg.norm(x)
    return 1.0 - xp.cos(2.0 * math.pi * r) + 0.1 * r


@program([0.8, -1.3])
def drop_wave(xp: Any, x: Any) -> Any:
    q = x @ x
    return -(1.0 + xp.cos(12.0 * xp.sqrt(q))) / (0.5 * q + 2.0)


@program([2.9, 3.4])
def easom(xp: Any, x: Any) -> Any:
    bump = xp.exp(-((x[0] - math.pi) ** 2) - (x[1] - math.pi) ** 2)
    return -xp.cos(x[0]) * xp.cos(x[1]) * bump


# --- data fitting and learning -----------------------------------------------------


@program([1.2, -0.7, 0.4, 0.3])
def exponential_fit(xp: Any, x: Any) -> Any:
    t = np.linspace(0.0, 2.0, 12)
    y = 2.0 * np.exp(-1.1 * t) + 0.2
    return xp.mean((x[0] * xp.exp(x[1] * t) + x[2] + x[3] * t - y) ** 2)


@program(generic(4, 40))
def logistic_regression(xp: Any, x: Any) -> Any:
    rng = np.random.default_rng(41)
    a, y = rng.normal(size=(15, 4)), np.sign(rng.normal(size=15))
    return xp.sum(xp.logaddexp(0.0, -y * (a @ x))) + 0.05 * xp.sum(x**2)


@program(generic(4, 42))
def logistic_by_hand(xp: Any, x: Any) -> Any:
    rng = np.random.default_rng(43)
    a, y = rng.normal(size=(12, 4)), rng.integers(0, 2, size=12).astype(float)
    p = 1.0 / (1.0 + xp.exp(-xp.dot(a, x)))
    return -xp.sum(y * xp.log(p) + (1.0 - y) * xp.log1p(-p))


@program(np.reshape(generic(9, 44), (3, 3)))
def softmax_cross_entropy(xp: Any, w: Any) -> Any:
    a = np.random.default_rng(45).normal(size=(6, 3))
    z = xp.matmul(a, w)
    z = z - xp.max(z, axis=1, keepdims=True)
    logs = xp.log(xp.sum(xp.exp(z), axis=1))
    return xp.mean(logs - z[np.arange(6), np.arange(6) % 3])


@program(generic(5, 46, -2.0, 2.0))
def logsumexp_by_hand(xp: Any, x: Any) -> Any:
    top = x.max()
    return top + xp.log(xp.exp(x - top).sum())


@program(generic(17, 47))
def neural_network(xp: Any, p: Any) -> Any:
    a = np.random.default_rng(48).normal(size=(5, 2))
    w1, b1 = xp.reshape(p[:8], (2, 4)), p[8:12]
    w2, b2 = p[12:16], p[16]
    out = xp.tanh(a @ w1 + b1) @ w2 + b2
    return xp.sum((out - np.linspace(-1.0, 1.0, 5)) ** 2)


@program(np.reshape(generic(8, 49), (4, 2)))
def layer_norm(xp: Any, x: Any) -> Any:
    centred = x - xp.mean(x, axis=0, keepdims=True)
    scaled = centred / xp.sqrt(xp.var(x, axis=0) + 0.1)
    return xp.sum(xp.sin(scaled) * np.arange(8.0).reshape(4, 2))


@program(generic(6, 50, 0.3, 2.0))
def gaussian_likelihood(xp: Any, x: Any) -> Any:
    mean, spread = x[:3], x[3:]
    data = np.linspace(-1.0, 2.0, 7)[:, None]
    terms = ((data - mean) / spread) ** 2 / 2.0 + xp.log(spread)
    return xp.sum(terms)


@program(generic(5, 51, 0.2, 1.0))
def portfolio(xp: Any, x: Any) -> Any:
    a = np.random.default_rng(52).normal(size=(5, 5))
    w = x / xp.sum(x)
    return xp.sqrt(w @ (a @ a.T) @ w) - xp.dot(np.linspace(0.1, 0.3, 5), w)


# --- physics -----------------------------------------------------------------------


@program(np.array([0.0, 0.1, 0.2, 1.2, -0.1, 0.1, 0.3, 1.1, -0.2, 0.9, 0.8, 1.3]))
def lennard_jones_loop(xp: Any, x: Any) -> Any:
    total = 0.0
    for i in range(4):
        for j in range(i):
            d = [x[3 * i + k] - x[3 * j + k] for k in range(3)]
            s = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) ** 3
            total = total + 4.0 * (s * s - s)
    return total


@program(np.array([[0.0, 0.1], [1.2, -0.1], [0.3, 1.1], [1.4, 1.3]]))
def lennard_jones_pairs(xp: Any, x: Any) -> Any:
    i, j = np.triu_indices(4, 1)
    r2 = xp.sum((x[i] - x[j]) ** 2, axis=1)
    return 4.0 * xp.sum(r2**-6 - r2**-3)


@program(np.reshape(generic(10, 53), (5, 2)))
def spring_chain(xp: Any, x: Any) -> Any:
    steps = xp.diff(x, axis=0)
    lengths = xp.hypot(steps[:, 0], steps[:, 1])
    return xp.sum((lengths - 0.7) ** 2) + 0.3 * xp.sum(x[:, 1])


@program(np.reshape(generic(12, 54), (3, 4)))
def minimal_surface(xp: Any, u: Any) -> Any:
    dx = u[1:, :-1] - u[:-1, :-1]
    dy = u[:-1, 1:] - u[:-1, :-1]
    return xp.sum(xp.sqrt(1.0 + dx**2 + dy**2))


@program([1.1, 0.7, 0.5, 0.9])
def lotka_volterra_steps(xp: Any, x: Any) -> Any:
    def rate(s: Any) -> Any:
        return xp.stack([s[0] * (x[2] - s[1]), s[1] * (s[0] - x[3])])

    s, h = x[:2], 0.1
    for _ in range(2):
        k1 = rate(s)
        k2 = rate(s + h / 2 * k1)
        s = s + h * (k1 + 3 * k2) / 4 + h**2 * k1 * k2
    return s[0] ** 2 + s[0] * s[1]


@program(generic(4, 55, 0.1, 1.2))
def pendulum_energy(xp: Any, x: Any) -> Any:
    a, b, p, q = x[0], x[1], x[2], x[3]
    mass = 2.0 - xp.cos(a - b) ** 2
    kinetic = (p**2 + 2.0 * q**2 - 2.0 * p * q * xp.cos(a - b)) / (2.0 * mass)
    return kinetic - 2.0 * xp.cos(a) - xp.cos(b)


def _heat_twin(xp: Any, x: Any) -> Any:
    u = x**2
    for _ in range(4):
        inner = u[1:-1] + 0.3 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
        u = xp.concatenate([u[:1], inner, u[-1:]])
    return xp.sum(u**2)


@program(generic(7, 56, 0.2, 1.0), _heat_twin)
def heat_equation(xp: Any, x: Any) -> Any:
    u = x**2
    for _ in range(4):
        u[1:-1] += 0.3 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
    return xp.sum(u**2)


def _gauss_seidel_twin(xp: Any, x: Any) -> Any:
    u = [x[i] for i in range(6)]
    for _ in range(2):
        for i in range(1, 5):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) - 0.1 * xp.exp(u[i])
    return sum(t**2 for t in u)


@program(generic(6, 57), _gauss_seidel_twin)
def gauss_seidel(xp: Any, x: Any) -> Any:
    u = x.copy()
    for _ in range(2):
        for i in range(1, 5):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) - 0.1 * xp.exp(u[i])
    return xp.sum(u**2)


def _wave_twin(xp: Any, x: Any) -> Any:
    old, now = x, x + 0.1 * xp.sin(x)
    for _ in range(3):
        lap = now[2:] - 2.0 * now[1:-1] + now[:-2]
        inner = 2.0 * now[1:-1] - old[1:-1] + 0.2 * lap - 0.05 * now[1:-1] ** 3
        old, now = now, xp.concatenate([xp.zeros(1), inner, xp.zeros(1)])
    return xp.sum(now * old)


@program(generic(7, 58), _wave_twin)
def wave_leapfrog(xp: Any, x: Any) -> Any:
    old, now = x, x + 0.1 * xp.sin(x)
    for _ in range(3):
        new = xp.zeros_like(now)
        inner = new[1:-1]
        inner += 2.0 * now[1:-1]
        inner -= old[1:-1]
        inner += 0.2 * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        inner -= 0.05 * now[1:-1] ** 3
        old, now = now, new
    return xp.sum(now * old)


def _thomas_twin(xp: Any, x: Any) -> Any:
    n = 5
    c, d = [1.0 / (4.0 + x[0] ** 2)], [x[0] / (4.0 + x[0] ** 2)]
    for i in range(1, n):
        pivot = 4.0 + x[i] ** 2 - c[-1]
        c.append(1.0 / pivot)
        d.append((x[i] - d[-1]) / pivot)
    y = d[-1]
    total = y**2
    for i in range(n - 2, -1, -1):
        y = d[i] - c[i] * y
        total = total + y**2
    return total


@program(generic(5, 59), _thomas_twin)
def thomas_algorithm(xp: Any, x: Any) -> Any:
    n = len(x)
    diagonal, y = 4.0 + x**2, x.copy()
    upper = xp.ones_like(x)
    upper[0] /= diagonal[0]
    y[0] /= diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - upper[i - 1]
        upper[i] = 1.0 / pivot
        y[i] = (y[i] - y[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        y[i] -= upper[i] * y[i + 1]
    return y.dot(y)


def _scatter_twin(xp: Any, x: Any) -> Any:
    u = xp.stack([x[2] * x[0], x[1], x[0] ** 2, x[3] * x[3], x[4], 3.0 * x[5]])
    v = xp.where(x > 0, 2.0 * u, u)
    return xp.sum(v * v * xp.roll(v, 1))


@program(generic(6, 60), _scatter_twin)
def scatter_assignment(xp: Any, x: Any) -> Any:
    u = x.copy()
    u[[2, 0]] = [x[0] ** 2, x[2] * x[0]]
    u[3:4] *= x[3]
    u[np.array([False] * 5 + [True])] *= 3.0
    u[x > 0] += u[x > 0]
    return xp.sum(u * u * xp.roll(u, 1))


def _views_twin(xp: Any, x: Any) -> Any:
    a = xp.stack([x[0] * x[3], x[1] + x[0], x[2] + x[1]])
    b = xp.stack([x[3] - 1.0, x[4], x[5]])
    return xp.sum(xp.sin(a) * b[::-1]) + a[0] * b[1]


@program(generic(6, 61), _views_twin)
def assignment_through_views(xp: Any, x: Any) -> Any:
    m = x.copy().reshape(2, 3)
    top, column = m[0], m.T[0]
    top[1:] += x[:2]
    column[0] *= x[3]
    m.T[0, 1:] -= 1.0
    return xp.sum(xp.sin(top) * m[1, ::-1]) + m[0, 0] * m[1, 1]


# --- branches and loops ------------------------------------------------------------


def _branches_twin(xp: Any, x: Any) -> Any:
    low = xp.where(x > -0.5, xp.sin(x) * x, -xp.exp(x))
    return xp.sum(xp.where(x > 0.5, x**3, low)) ** 2


@program(generic(6, 70), _branches_twin)
def branches_in_a_loop(xp: Any, x: Any) -> Any:
    total = x[0] * 0.0
    for t in x:
        if t > 0.5:
            total += t**3
        elif t > -0.5:
            total += xp.sin(t) * t
        else:
            total -= xp.exp(t)
    return total * total


def _newton_twin(xp: Any, x: Any) -> Any:
    root = x[0]
    for _ in range(5):
        root = 0.5 * (root + x[0] / root)
    return root * x[1] ** 2


@program([3.7, 1.4], _newton_twin)
def newton_while_loop(xp: Any, x: Any) -> Any:
    root = x[0]
    while abs(root * root - x[0]) > 1e-12:
        root = 0.5 * (root + x[0] / root)
    return root * x[1] ** 2


@program(generic(4, 71, 0.1, 0.9))
def horner_ratio(xp: Any, x: Any) -> Any:
    top, bottom = 0.0, 1.0
    for t in reversed(list(x)):
        top = top * 0.8 + t
        bottom = bottom * t + 2.0
    return top / bottom


def _sorted_twin(xp: Any, x: Any) -> Any:
    y = xp.sort(x)
    return (
        xp.maximum(x[0], x[1]) * xp.minimum(x[1], x[2]) ** 2
        + y[0] * y[1] ** 2 * y[2] ** 3
    )


@program([0.7, -0.4, 1.2], _sorted_twin)
def builtin_max_and_sorted(xp: Any, x: Any) -> Any:
    low, middle, high = sorted(x)
    return max(x[0], x[1]) * min(x[1], x[2]) ** 2 + low * middle**2 * high**3


@program(generic(6, 72, 0.5, 2.0))
def hand_made_cholesky(xp: Any, x: Any) -> Any:
    a = [[4.0 + x[0], x[1], x[2]], [x[1], 5.0 + x[3], x[4]], [x[2], x[4], 6.0 + x[5]]]
    lower = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i + 1):
            s = a[i][j]
            for k in range(j):
                s = s - lower[i][k] * lower[j][k]
            lower[i][j] = xp.sqrt(s) if i == j else s / lower[j][j]
    return 2.0 * sum(xp.log(lower[i][i]) for i in range(3))


# --- array operations --------------------------------------------------------------


@program(generic(6, 80))
def random_walk_cumsum(xp: Any, x: Any) -> Any:
    return xp.sum(xp.cos(xp.cumsum(x)) * xp.cumsum(x**2))


@program(generic(6, 81, -0.5, 0.5))
def growth_cumprod(xp: Any, x: Any) -> Any:
    return xp.sum(xp.cumprod(1.0 + x) ** 2)


@program(np.reshape(generic(6, 82), (2, 3)))
def einsum_forms(xp: Any, x: Any) -> Any:
    a = np.arange(9.0).reshape(3, 3) / 5.0
    gram = xp.einsum("ij,kj->ik", x, x)
    return xp.einsum("ij,jk,ik->", x, a, x) + xp.sum(gram**2)


@program(np.reshape(generic(8, 83), (2, 2, 2)))
def tensordot_forms(xp: Any, x: Any) -> Any:
    a = np.arange(8.0).reshape(2, 2, 2) - 3.0
    t = xp.tensordot(x, x, axes=([0, 1], [1, 0]))
    return xp.sum(t**2) + xp.tensordot(x, a, axes=3)


@program(generic(4, 84))
def outer_kernel(xp: Any, x: Any) -> Any:
    k = xp.exp(-((x[:, None] - x[None, :]) ** 2))
    return xp.sum(k * xp.outer(x, xp.sin(x)))


@program(generic(6, 85))
def rolled_stencil(xp: Any, x: Any) -> Any:
    return xp.sum((xp.roll(x, 1) - 2.0 * x + xp.roll(x, -1)) ** 2 * x)


@program(generic(8, 86, -2.0, 2.0))
def huber_where(xp: Any, x: Any) -> Any:
    return xp.sum(xp.where(xp.abs(x) < 1.0, 0.5 * x**2, xp.abs(x) - 0.5))


@program(generic(8, 87, -2.0, 2.0))
def guarded_logarithm(xp: Any, x: Any) -> Any:
    safe = xp.where(x > 0, x, 1.0)
    return xp.sum(xp.where(x > 0, x * xp.log(safe), x**2))


@program(generic(7, 88, -2.0, 2.0))
def clipped_penalty(xp: Any, x: Any) -> Any:
    return xp.sum(xp.clip(x, -0.8, 0.9) ** 3 + xp.maximum(x, 0.1) * xp.minimum(x, 1.1))


@program(np.reshape(generic(12, 89), (3, 4)))
def norms_over_axes(xp: Any, x: Any) -> Any:
    rows = xp.linalg.norm(x, axis=1)
    columns = xp.linalg.norm(x, axis=0, ord=1)
    return xp.sum(rows**3) + xp.sum(columns * columns)


@program(np.reshape(generic(12, 90), (4, 3)))
def variances(xp: Any, x: Any) -> Any:
    return (
        xp.sum(xp.var(x, axis=0) ** 2) + xp.sum(xp.std(x, axis=1, ddof=1)) + xp.var(x)
    )


@program(generic(6, 91))
def concatenate_and_stack(xp: Any, x: Any) -> Any:
    m = xp.stack([x[:3], x[3:]], axis=1)
    wide = xp.concatenate([m, m**2], axis=1)
    return xp.sum(wide @ wide.T)


@program(np.reshape(generic(12, 92), (3, 4)))
def extreme_values(xp: Any, x: Any) -> Any:
    spread = xp.max(x, axis=0) - xp.min(x, axis=0)
    return xp.sum(spread**2) * x.max() - x.min() ** 3


@program(generic(7, 93))
def boolean_selection(xp: Any, x: Any) -> Any:
    chosen = np.array([True, False, True, True, False, False, True])
    return xp.sum(x[chosen] ** 3) * xp.sum(xp.cos(x[~chosen]))


@program(np.reshape(generic(9, 94), (3, 3)))
def fancy_selection(xp: Any, x: Any) -> Any:
    i, j = np.array([0, 0, 2, 1, 0]), np.array([1, 1, 0, 2, 1])
    return xp.sum(x[i, j] ** 2 * x[j, i]) + xp.sum(
        x[np.array([2, 0])] * x[:, i[1:4]][:2]
    )


@program(np.reshape(generic(6, 95), (2, 3)))
def transposed_products(xp: Any, x: Any) -> Any:
    left, right = x @ x.T, x.T @ x
    return xp.sum(left * left) + xp.sum(xp.sin(right)) + xp.einsum("ii->", left @ left)


@program(np.reshape(generic(12, 96), (3, 2, 2)))
def batched_products(xp: Any, x: Any) -> Any:
    chain = xp.matmul(xp.matmul(x, xp.transpose(x, (0, 2, 1))), x[::-1])
    return xp.sum(chain**2)


@program(np.reshape(generic(6, 97), (2, 3)))
def products_over_axes(xp: Any, x: Any) -> Any:
    return xp.sum(xp.prod(x, axis=0) ** 2) + xp.prod(1.0 + x**2)


@program([0.4, -1.1, 0.8])
def object_array_rotation(xp: Any, x: Any) -> Any:
    c, s = xp.cos(x[0]), xp.sin(x[0])
    rotation = xp.array([[c, -s], [s, c]])
    y = xp.dot(rotation, xp.array([x[1], x[2]]))
    return y[0] ** 2 * y[1] + xp.exp(y[1])


@program([0.4, -1.1, 0.8])
def list_of_scalars(xp: Any, x: Any) -> Any:
    residuals = [x[0] * x[1], x[1] - x[2] ** 2, xp.sin(x[0] + x[2])]
    r = xp.stack(residuals)
    return xp.sum(r**2) + sum(t * t for t in residuals)


@program(generic(6, 98))
def broadcast_and_ravel(xp: Any, x: Any) -> Any:
    wide = xp.broadcast_to(x[:3], (2, 3)) * xp.reshape(x[3:5], (2, 1))
    return xp.sum(xp.ravel(wide) ** 2 * np.arange(6.0)) + wide.T.ravel()[4] ** 3 * x[5]


@program([1.3, 0.7, 2.1])
def variable_exponents(xp: Any, x: Any) -> Any:
    return x[0] ** x[1] + 2.0 ** x[2] + x[2] ** -1.5 + xp.power(x[1], x[0] * x[2])


@program(generic(5, 99, -0.8, 0.8))
def inverse_functions(xp: Any, x: Any) -> Any:
    return xp.sum(
        xp.arcsin(x) * xp.arccos(x)
        + xp.arctan(3.0 * x)
        + xp.arctanh(x) * xp.arcsinh(x)
        + xp.arccosh(2.0 + x)
    )


@program(generic(5, 100))
def hyperbolic_functions(xp: Any, x: Any) -> Any:
    return xp.sum(xp.sinh(x) * xp.tanh(x)) + xp.prod(xp.cosh(x)) + xp.sum(xp.tan(x / 2))


@program(generic(5, 101, 0.2, 3.0))
def logarithms_and_powers(xp: Any, x: Any) -> Any:
    return xp.sum(
        xp.log2(x) * xp.log10(1.0 + x)
        + xp.exp2(-x)
        + xp.expm1(x / 3.0) * xp.log1p(x)
        + xp.cbrt(x)
        + xp.reciprocal(1.0 + xp.square(x))
    )


@program(generic(5, 102, 0.2, 3.0))
def remainders_and_signs(xp: Any, x: Any) -> Any:
    return xp.sum(
        xp.mod(x, 0.7) ** 2
        + xp.floor(x) * x**2
        + xp.sign(x - 1.0) * xp.sinc(x)
        + xp.copysign(x**2, x - 1.5)
        + xp.deg2rad(x) * xp.rad2deg(x**2)
    )


@program(1.3)
def scalar_input(xp: Any, x: Any) -> Any:
    return xp.sin(x) * xp.exp(-(x**2)) + x**3


BY_NAME = {p.name: p for p in PROGRAMS}
