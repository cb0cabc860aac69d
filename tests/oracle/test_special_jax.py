"""Every ufunc of scipy.special that JAX has, through recording and sweeps."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as theirs
import numpy as np
import pytest
import scipy.special as ours

import derivative_covers as dc
from derivative_covers.elementals import BY_OPCODE
from tests._oracle import FAST

UFUNCS = sorted(
    {
        (name.partition(".")[2].partition("[")[0], op.arity)
        for op in BY_OPCODE
        for name in op.ufuncs
        if name.startswith("special.")
    }
)
# JAX cannot compile second derivatives of its exponential integrals E1 and En.
BROKEN = {"exp1", "expn"}
SHARED = [
    (name, arity)
    for name, arity in UFUNCS
    if hasattr(theirs, name) and name not in BROKEN
]
RNG = np.random.default_rng(5)


def agree(f: Any, g: Any, x0: Any) -> None:
    """Value, gradient and Hessian product of ``f`` against JAX's of ``g``."""
    v = np.cos(np.arange(x0.size))

    def derivatives(x: Any) -> tuple[Any, ...]:
        value, gradient = jax.value_and_grad(g)(x)
        return value, gradient, jax.jvp(jax.grad(g), (x,), (jnp.asarray(v),))[1]

    with jax.enable_x64(True):
        truth = jax.jit(derivatives, compiler_options=FAST)(jnp.asarray(x0))
    tape, out = dc.tape_function(f, x0)
    found = (tape.vals[out], dc.gradient(tape, out), dc.hvp(tape, out, v))
    for one, other in zip(found, map(np.asarray, truth), strict=True):
        scale = np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13 * scale)


def first(f: Any) -> Any:
    """``f``, or the sum of its outputs weighted unequally where it has several."""

    def g(*x: Any) -> Any:
        v = f(*x)
        return v[0] + 3.0 * v[1] if isinstance(v, tuple) else v

    return g


def test_all_are_there() -> None:
    assert len(SHARED) >= 25


@pytest.mark.parametrize("name", [u for u, arity in SHARED if arity == 1])
def test_one_operand(name: str) -> None:
    f, g = first(getattr(ours, name)), first(getattr(theirs, name))
    w = np.linspace(1.0, 2.0, 6)

    def at_once(x: Any) -> Any:
        return jnp.sum(w * g(jnp.append(x, x[1] * x[2])))

    agree(
        lambda x: np.sum(w[:-1] * f(x)) + w[-1] * f(x[1] * x[2]),
        at_once,
        RNG.uniform(0.2, 0.45, size=5),
    )


@pytest.mark.parametrize("name", [u for u, arity in SHARED if arity == 2])
def test_two_operands(name: str) -> None:
    """JAX gets one long call, for it compiles each."""
    f, g = getattr(ours, name), getattr(theirs, name)
    low, high = RNG.uniform(0.2, 0.8, size=2), RNG.uniform(1.1, 1.9, size=2)
    c = 1.3 * low + 1.0

    def one_by_one(x: Any) -> Any:
        a, b = x[:2], x[2:]
        total = f(x[0], x[3]) + 2.0 * f(x[3], 1.5) + 3.0 * f(0.4, x[1])
        for s, t in ((a, b), (b, a)):
            total = total + np.sum(f(s, t)) + np.sum(f(s, c)) + np.sum(f(c, s))
        return total

    def at_once(x: Any) -> Any:
        a, b = x[:2], x[2:]
        left = jnp.concatenate([a, b, a, b, c, c, x[0:1], x[3:], jnp.array([0.4])])
        right = jnp.concatenate([b, a, c, c, a, b, x[3:], jnp.array([1.5]), x[1:2]])
        w = np.append(np.ones(13), [2.0, 3.0])
        return jnp.sum(w * g(left, right))

    agree(one_by_one, at_once, np.concatenate([low, high]))


DEFINITIONS = {
    "exp1": lambda x: -theirs.expi(-x),
    "expn": lambda x: jnp.exp(-x) + x * theirs.expi(-x),
    "log_expit": lambda x: -jnp.logaddexp(0.0, -x),
    "exprel": lambda x: jnp.expm1(x) / x,
    "cosm1": lambda x: -2.0 * jnp.sin(0.5 * x) ** 2,
    "rgamma": lambda x: 1.0 / theirs.gamma(x),
    "erfcinv": lambda x: theirs.erfinv(1.0 - x),
    "huber": lambda d, r: jnp.where(r <= d, 0.5 * r * r, d * (r - 0.5 * d)),
    "pseudo_huber": lambda d, r: d * d * (jnp.sqrt(1.0 + (r / d) ** 2) - 1.0),
    "inv_boxcox": lambda y, p: jnp.exp(jnp.log1p(p * y) / p),
    "inv_boxcox1p": lambda y, p: jnp.exp(jnp.log1p(p * y) / p) - 1.0,
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_those_that_jax_lacks(name: str) -> None:
    f, g = getattr(ours, name), DEFINITIONS[name]
    if name == "expn":
        f = partial(ours.expn, 2)
    x0 = RNG.uniform(0.2, 1.7, size=8)
    if g.__code__.co_argcount == 1:
        agree(lambda x: np.sum(f(x) * x), lambda x: jnp.sum(g(x) * x), x0)
        return
    agree(
        lambda x: np.sum(f(x[:4], x[4:]) * x[:4]) + f(x[0], 0.6) * f(0.6, x[1]),
        lambda x: jnp.sum(g(x[:4], x[4:]) * x[:4]) + g(x[0], 0.6) * g(0.6, x[1]),
        x0,
    )
