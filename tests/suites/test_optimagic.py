"""The 114 functions of optimagic's benchmark sets, unmodified, through `with_numpy`.

They fill `np.zeros` in place, slice, loop, call one another across modules, sit in partials and
partly in numba's compiled functions. The oracle is the plain function: its values bit for bit,
its first and second derivatives by extrapolated differences.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from optimagic.benchmarking.cartis_roberts import CARTIS_ROBERTS_PROBLEMS
from optimagic.benchmarking.more_wild import MORE_WILD_PROBLEMS

import derivative_covers as dc
from derivative_covers.rewrite import with_numpy
from tests.suites._differences import along

pytestmark = pytest.mark.slow

PROBLEMS = {
    **{f"more_wild-{k}": p for k, p in MORE_WILD_PROBLEMS.items()},
    **{f"cartis_roberts-{k}": p for k, p in CARTIS_ROBERTS_PROBLEMS.items()},
}

# Problems that do not pass, and why. None: every start is away from kinks, too.
FAILING: dict[str, str] = {}


def plain(fun):
    """The Python function: numba's code has other bits where it contracts or calls libm."""
    if isinstance(fun, functools.partial):
        return functools.partial(plain(fun.func), *fun.args, **fun.keywords)
    return getattr(fun, "py_func", getattr(fun, "__wrapped__", fun))


def start(name):
    return np.array(PROBLEMS[name]["start_x"], dtype=float)


def check(name):
    fun, x = PROBLEMS[name]["fun"], start(name)
    r = np.asarray(plain(fun)(x.copy()))
    assert r.ndim == 1

    tape, outs = dc.tape_function(with_numpy(fun), x)
    np.testing.assert_array_equal(tape.vals[outs], r)
    square = with_numpy(lambda x: np.sum(fun(x) ** 2), modules=["optimagic"])
    total, out = dc.tape_function(square, x)
    assert float(total.vals[out]) == np.sum(r**2)

    jacobian, gradient = dc.jacobian(tape, outs), dc.gradient(total, out)
    rng = np.random.default_rng(len(x))
    for _ in range(2):
        v = rng.standard_normal(x.size) * np.maximum(abs(x), 0.1)
        d1, e1, d2, e2 = along(plain(fun), x, v)
        size = abs(d1).max()
        assert e1.max() < 1e-6 * size
        np.testing.assert_allclose(jacobian @ v, d1, rtol=0.0, atol=2e-7 * size)
        slope = 2.0 * abs(r) @ abs(d1)
        assert abs(gradient @ v - 2.0 * r @ d1) <= 1e-8 * slope + 2.0 * abs(r) @ e1
        bend = 2.0 * (d1 @ d1 + abs(r) @ abs(d2))
        assert 2.0 * abs(r) @ e2 < 1e-3 * bend
        product = dc.hvp(total, out, v)
        assert abs(v @ product - 2.0 * (d1 @ d1 + r @ d2)) <= 1e-5 * bend

    hessian = dc.hessian(total, out)
    np.testing.assert_allclose(
        hessian @ v, product, rtol=1e-9, atol=1e-10 * abs(product).max()
    )
    h = np.asarray(dc.cover_hessian(total, out).h)
    assert (abs(hessian) <= np.outer(h, h) * (1.0 + 1e-12)).all()


def test_the_sets_are_complete():
    assert len(PROBLEMS) == 114
    assert len(FAILING) <= 1
    assert FAILING.keys() <= PROBLEMS.keys()


@pytest.mark.parametrize("name", sorted(PROBLEMS.keys() - FAILING.keys()))
def test_problem(name):
    check(name)


@pytest.mark.parametrize("name", sorted(FAILING) or [None])
def test_what_fails_still_does(name):
    if name is None:
        assert not FAILING
        return
    with pytest.raises((AssertionError, dc.errors.DerivativeError)):
        check(name)
