"""The JAX programs that covers are measured on: a function, its point, and its name."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _suite

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = 1e-3


class Program(NamedTuple):
    """A function of one pytree, at a point in the precision of a run."""

    name: str
    f: Callable[[Any], Any]
    x: Any
    n: int


def programs(jax: Any, dtype: Any, *, quick: bool) -> list[Program]:
    """Rosenbrock, logistic regression, a network, Poisson's energy and Lorenz-96."""
    size = (lambda full, small: small) if quick else (lambda full, small: full)
    suite = (
        _suite.rosenbrock(size(1_000_000, 10_000)),
        _suite.logistic(size(10_000, 500), size(100, 10)),
        _suite.poisson(size(512, 32)),
    )
    array = lambda a: jax.numpy.asarray(_typed(a, dtype))  # noqa: E731
    rosenbrock, logistic, poisson = (
        Program(p.name, p.bind(jax.numpy, array), array(p.x), p.n) for p in suite
    )
    return [
        rosenbrock,
        logistic,
        network(jax, dtype, batch=size(256, 16)),
        poisson,
        lorenz(jax, dtype, steps=size(10_000, 100)),
    ]


def _typed(a: np.ndarray, dtype: Any) -> np.ndarray:
    return a.astype(dtype) if a.dtype.kind == "f" else a


def rosenbrock(jax: Any, dtype: Any, n: int) -> Program:
    """Rosenbrock's function at another size."""
    p = _suite.rosenbrock(n)
    return Program(p.name, p.bind(jax.numpy, list), jax.numpy.asarray(p.x, dtype), n)


def network(jax: Any, dtype: Any, batch: int, sizes: Any = (784, 128, 10)) -> Program:
    """The cross-entropy of a network of two layers on random pictures."""
    names, rng = jax.numpy, np.random.default_rng(3)
    pixels = names.asarray(rng.uniform(size=(batch, sizes[0])), dtype)
    digit = names.asarray(rng.integers(sizes[-1], size=batch))
    layers = [
        {
            "w": names.asarray(rng.normal(size=(m, n)) / np.sqrt(m), dtype),
            "b": names.asarray(0.1 * rng.normal(size=n), dtype),
        }
        for m, n in pairwise(sizes)
    ]

    def loss(layers: Any) -> Any:
        first, second = layers
        hidden = names.tanh(pixels @ first["w"] + first["b"])
        scores = hidden @ second["w"] + second["b"]
        top = jax.nn.logsumexp(scores, axis=1)
        own = names.take_along_axis(scores, digit[:, None], axis=1)[:, 0]
        return names.mean(top - own)

    n = sum(a.size for layer in layers for a in layer.values())
    return Program(f"network of two layers, batch {batch}", loss, layers, n)


def lorenz(jax: Any, dtype: Any, steps: int, variables: int = 40) -> Program:
    """The mean square of the last state of Lorenz-96, by a scan of Runge-Kutta steps."""
    names = jax.numpy

    def rate(x: Any) -> Any:
        return (names.roll(x, -1) - names.roll(x, 2)) * names.roll(x, 1) - x + 8.0

    def step(x: Any, _: Any) -> tuple[Any, None]:
        a = rate(x)
        b = rate(x + STEP / 2 * a)
        c = rate(x + STEP / 2 * b)
        d = rate(x + STEP * c)
        return x + STEP / 6 * (a + 2.0 * (b + c) + d), None

    def f(x: Any) -> Any:
        return names.mean(jax.lax.scan(step, x, None, length=steps)[0] ** 2)

    x = names.asarray(8.0 + np.sin(np.arange(float(variables))), dtype)
    return Program(f"Lorenz-96, scan of {steps} steps", f, x, variables)
