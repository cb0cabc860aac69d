"""The programs of the comparison with other packages, one text for all of them.

A program is `f(x, np, data)`: a point, the namespace of the package that runs it, and
arrays of that package. Loops get a list of scalars as `x`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ._programs import rosenbrock_terms

Data = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Program:
    """A program at one size."""

    name: str
    f: Callable[[Any, Any, Any], Any]
    x: np.ndarray
    data: Data = ()
    loop: bool = False
    smaller: Callable[[], Program] | None = None
    made: tuple[str, int] = ("", 0)  # the function here that makes it, and its argument

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.x.size)

    def plain(self, x: Any) -> Any:
        """The program in NumPy, which this package records."""
        return self.f(list(x) if self.loop else x, np, self.data)

    def bind(
        self, np: Any, asarray: Callable[[Any], Any], entries: Any = list
    ) -> Callable[[Any], Any]:
        """The program in another package's namespace, its data converted once."""
        data = tuple(asarray(d) for d in self.data)
        return lambda x: self.f(entries(x) if self.loop else x, np, data)


def _loop(x: Any, np: Any, data: Any) -> Any:
    return rosenbrock_terms(x)


def _rosenbrock(x: Any, np: Any, data: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def _logistic(x: Any, np: Any, data: Any) -> Any:
    (signed,) = data
    return np.sum(np.log1p(np.exp(-(signed @ x)))) + 0.5 * np.sum(x * x)


def _log_sum_exp(x: Any, np: Any, data: Any) -> Any:
    return np.log(np.sum(np.exp(x)))


def _network(x: Any, np: Any, data: Any) -> Any:
    first, second = data
    return np.sum(np.tanh(second @ np.tanh(first @ x)))


def _poisson(x: Any, np: Any, data: Any) -> Any:
    (source,) = data
    m = source.shape[0]
    u = np.reshape(x, (m, m))
    across, down = u[:, 1:] - u[:, :-1], u[1:, :] - u[:-1, :]
    walls = u[0, :] ** 2 + u[-1, :] ** 2
    sides = u[:, 0] ** 2 + u[:, -1] ** 2
    bonds = np.sum(across**2) + np.sum(down**2) + np.sum(walls) + np.sum(sides)
    return 0.5 * bonds - np.sum(source * u)


def _lennard_jones(x: Any, np: Any, data: Any) -> Any:
    one, other = data
    place = np.reshape(x, (x.shape[0] // 3, 3))
    apart = place[one, :] - place[other, :]
    inverse = 1.0 / np.sum(apart**2, axis=1)
    cube = inverse**3
    return 4.0 * np.sum(cube**2 - cube)


def rosenbrock_loop(n: int) -> Program:
    """Rosenbrock's function, one scalar operation after another."""
    return Program("Rosenbrock, loop", _loop, _normal(n), loop=True)


def rosenbrock(n: int) -> Program:
    """Rosenbrock's function on arrays."""
    return Program("Rosenbrock, arrays", _rosenbrock, _normal(n))


def logistic(m: int = 10_000, n: int = 100) -> Program:
    """Logistic regression with `m` samples, and a ridge."""
    rng = np.random.default_rng(1)
    sign = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    samples = rng.normal(size=(m, n)) / np.sqrt(n)
    return Program(
        "logistic regression", _logistic, _normal(n), (sign[:, None] * samples,)
    )


def log_sum_exp(n: int) -> Program:
    """The logarithm of a sum of exponentials."""
    return Program("log-sum-exp", _log_sum_exp, _normal(n))


def network(n: int) -> Program:
    """Two layers of `n` units."""
    rng = np.random.default_rng(2)
    layers = tuple(rng.normal(size=(n, n)) / np.sqrt(n) for _ in range(2))
    return Program("network of two layers", _network, _normal(n), layers)


def poisson(m: int) -> Program:
    """The energy of Poisson's equation on `m` by `m` points, zero at the walls."""
    grid = np.arange(1, m + 1) / (m + 1)
    source = np.outer(np.sin(np.pi * grid), grid) / (m + 1) ** 2
    return Program("Poisson energy", _poisson, _normal(m * m), (source,))


def lennard_jones(atoms: int = 200) -> Program:
    """All pairs of atoms on a jittered lattice."""
    side = round(atoms ** (1 / 3) + 0.5)
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1)
    places = 1.1 * lattice.reshape(-1, 3)[:atoms] + 0.05 * _normal(3 * atoms).reshape(
        -1, 3
    )
    pairs = np.triu_indices(atoms, 1)
    return Program("Lennard-Jones", _lennard_jones, places.ravel(), pairs)


def _normal(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=n)


def _sized(make: Callable[[int], Program], *sizes: int) -> list[Program]:
    """Programs at rising sizes; each knows the one before."""
    found = []
    for k, size in enumerate(sizes):
        before = partial(make, sizes[k - 1] if k else max(size // 4, 2))
        found.append(replace(make(size), smaller=before, made=(make.__name__, size)))
    return found


def programs(*, quick: bool) -> list[Program]:
    """All programs at the sizes of a run."""
    if quick:
        return [
            *_sized(rosenbrock_loop, 100),
            *_sized(rosenbrock, 10_000),
            *_sized(logistic, 500),
            *_sized(log_sum_exp, 1_000),
            *_sized(network, 50),
            *_sized(poisson, 20),
            *_sized(lennard_jones, 27),
        ]
    return [
        *_sized(rosenbrock_loop, 100, 1_000, 10_000, 100_000),
        *_sized(rosenbrock, 100, 1_000, 10_000, 100_000, 1_000_000),
        *_sized(logistic, 10_000),
        *_sized(log_sum_exp, 100_000),
        *_sized(network, 200),
        *_sized(poisson, 200),
        *_sized(lennard_jones, 200),
    ]
