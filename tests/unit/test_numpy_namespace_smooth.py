"""logsumexp, softmax, log_softmax: values by mpmath, derivatives by JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import special

import derivative_covers as dc
import derivative_covers.numpy as dnp
from derivative_covers.errors import InputTypeError
from tests._oracle import FAST

ROWS = np.array([[0.3, -1.2, 2.0], [5.0, 5.0, 5.0]])
POINTS = {
    "plain": np.array([0.3, -1.2, 2.0, 0.9]),
    "tied": np.array([1.5, 1.5, 1.5, 1.5]),
    "huge": np.array([1e4, 1e4 - 1.0, -1e4, 9e3]),
    "far": np.array([0.0, -40.0, -600.0, -800.0]),
    "one": np.array([3.0]),
}


def exact_logsumexp(x: Any) -> float:
    with mpmath.workdps(60):
        return float(
            mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(float(e))) for e in x))
        )


def jax_gradient(f: Any, x: Any) -> Any:
    with jax.enable_x64(True):
        compiled = jax.jit(jax.grad(f), compiler_options=FAST)
        return np.asarray(compiled(jnp.asarray(x)))


def jax_of(f: Any, x: Any) -> tuple[Any, Any]:
    def both(y: Any) -> tuple[Any, Any]:
        return jax.grad(f)(y), jax.jacfwd(jax.grad(f))(y)

    with jax.enable_x64(True):
        g, h = jax.jit(both, compiler_options=FAST)(jnp.asarray(x))
        return np.asarray(g), np.asarray(h)


@pytest.mark.parametrize("name", POINTS)
def test_logsumexp(name: str) -> None:
    x = POINTS[name]
    exact = exact_logsumexp(x)
    assert dnp.logsumexp(x) == pytest.approx(exact, rel=4e-16)
    tape, out = dc.tape_function(dnp.logsumexp, x)
    assert float(tape.vals[out]) == float(dnp.logsumexp(x))
    gradient, hessian = jax_of(jax.nn.logsumexp, x)
    np.testing.assert_allclose(
        dc.gradient(tape, out), gradient, rtol=1e-12, atol=1e-300
    )
    np.testing.assert_allclose(dc.hessian(tape, out), hessian, rtol=1e-11, atol=1e-15)
    cover = dc.cover_hessian(tape, out).h
    assert dc.iscover(cover, dc.hessian(tape, out))


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("which", ["softmax", "log_softmax"])
def test_softmax(which: str, name: str) -> None:
    x = POINTS[name]
    ours, theirs = getattr(dnp, which), getattr(jax.nn, which)
    # SciPy loses the terms that are small beside the largest.
    np.testing.assert_allclose(
        ours(x), getattr(special, which)(x), rtol=1e-14, atol=1e-17
    )
    weights = np.arange(1.0, 1.0 + x.size)
    gradient, hessian = jax_of(lambda y: theirs(y) @ weights, x)
    f = lambda y: ours(y) @ weights  # noqa: E731
    np.testing.assert_allclose(dc.gradient(f, x), gradient, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(dc.hessian(f, x), hessian, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_and_shapes(axis: Any, keepdims: bool) -> None:
    plain = dnp.logsumexp(ROWS, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(
        plain, special.logsumexp(ROWS, axis=axis, keepdims=keepdims), rtol=1e-15
    )

    def f(x: Any) -> Any:
        r = dnp.logsumexp(x, axis=axis, keepdims=keepdims)
        assert np.shape(r) == np.shape(plain)
        return np.sum(r * r)

    def oracle(x: Any) -> Any:
        return jnp.sum(jax.nn.logsumexp(x, axis=axis, keepdims=keepdims) ** 2)

    gradient = jax_gradient(oracle, ROWS)
    np.testing.assert_allclose(dc.gradient(f, ROWS), gradient, rtol=1e-12)
    for which in ("softmax", "log_softmax"):
        np.testing.assert_allclose(
            getattr(dnp, which)(ROWS, axis),
            getattr(special, which)(ROWS, axis),
            rtol=1e-14,
            atol=1e-15,
        )


def test_factors_and_signs() -> None:
    b = np.array([1.0, -2.0, 0.0, 0.5])
    x = POINTS["plain"]
    for factors in (np.abs(b), b, -b, 2.0):
        for return_sign in (False, True):
            ours = dnp.logsumexp(x, b=factors, return_sign=return_sign)
            theirs = special.logsumexp(x, b=factors, return_sign=return_sign)
            np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    weights = np.array([1.0, 2.0, 0.0, 0.5])
    f = lambda z: dnp.logsumexp(z[:4], b=z[4:])  # noqa: E731
    point = np.concatenate([x, weights])
    gradient, hessian = jax_of(lambda z: jax.nn.logsumexp(z[:4], b=z[4:]), point)
    found = dc.gradient(f, point)
    used = np.arange(8) != 6  # a factor of 0 leaves its term out
    np.testing.assert_allclose(found[used], gradient[used], rtol=1e-12)
    some = np.ix_(used, used)
    np.testing.assert_allclose(
        dc.hessian(f, point)[some], hessian[some], rtol=1e-11, atol=1e-14
    )

    def signed(z: Any) -> Any:
        r, sign = dnp.logsumexp(z, b=b, return_sign=True)
        assert sign == special.logsumexp(x, b=b, return_sign=True)[1]
        return r

    gradient = jax_gradient(
        lambda z: jax.nn.logsumexp(z, b=jnp.asarray(b), return_sign=True)[0], x
    )
    np.testing.assert_allclose(dc.gradient(signed, x), gradient, rtol=1e-12)


def test_infinite_and_missing_entries() -> None:
    inf = np.inf
    for x in ([-inf, -inf], [0.0, -inf], [inf, 0.0], [-inf], []):
        assert dnp.logsumexp(x) == special.logsumexp(x)
    np.testing.assert_array_equal(dnp.softmax([0.0, -inf]), [1.0, 0.0])
    np.testing.assert_array_equal(dnp.log_softmax([0.0, -inf]), [0.0, -inf])

    def f(x: Any) -> Any:
        padded = dnp.array([x[0], -inf, x[1]])
        return dnp.logsumexp(padded) + dnp.softmax(padded)[0]

    gradient = jax_gradient(
        lambda x: jax.nn.logsumexp(x) + jax.nn.softmax(x)[0], np.array([0.5, 0.5])
    )
    np.testing.assert_allclose(dc.gradient(f, [0.5, 0.5]), gradient, rtol=1e-14)


def test_lists_scalars_and_types() -> None:
    assert dc.gradient(lambda x: dnp.logsumexp([x[0], 1.0]), [1.0])[0] == 0.5
    assert dc.gradient(lambda x: dnp.logsumexp(x[0]), [1.0])[0] == 1.0
    assert dc.gradient(lambda x: dnp.logsumexp(x), 1.0) == 1.0
    g = dc.gradient(dnp.logsumexp, np.float32([1.0, 2.0]))
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, special.softmax([1.0, 2.0]), rtol=1e-6)
    assert dnp.softmax([1, 1]).tolist() == [0.5, 0.5]
    assert dnp.logsumexp(np.float32([1.0, 2.0])).dtype == np.float32
    with pytest.raises(InputTypeError, match="complex"):
        dnp.logsumexp([1j])
    assert isinstance(dnp.logsumexp([1.0, 2.0]), float)
    assert dnp.softmax(3.0) == 1.0
    assert dc.gradient(lambda x: dnp.softmax([x[0], x[0]])[0] + x[0], [1.0])[0] == 1.0
    assert dnp.log_softmax([0.0, -40.0])[0] == -exact_logsumexp([0.0, -40.0])
