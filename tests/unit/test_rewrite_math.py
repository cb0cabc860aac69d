"""Functions of `math` in rewritten code: against mpmath on recorded numbers, bits on plain."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    InputTypeError,
    NondifferentiableError,
    UnsupportedOperationError,
)
from derivative_covers.rewrite import with_numpy
from derivative_covers.rewrite._math import MATH

# Name, point, and the same function for mpmath.
SMOOTH = [
    ("acos", (0.3,), mpmath.acos),
    ("acosh", (1.7,), mpmath.acosh),
    ("asin", (0.3,), mpmath.asin),
    ("asinh", (0.3,), mpmath.asinh),
    ("atan", (0.3,), mpmath.atan),
    ("atan2", (0.3, -0.8), mpmath.atan2),
    ("atanh", (0.3,), mpmath.atanh),
    ("cbrt", (0.3,), lambda x: mpmath.root(x, 3)),
    ("copysign", (0.3, -2.0), lambda x, y: -abs(x) + 0 * y),
    ("cos", (0.3,), mpmath.cos),
    ("cosh", (0.3,), mpmath.cosh),
    ("degrees", (0.3,), lambda x: x * 180 / mpmath.pi),
    ("erf", (0.3,), mpmath.erf),
    ("erfc", (1.3,), mpmath.erfc),
    ("exp", (0.3,), mpmath.exp),
    ("exp2", (0.3,), lambda x: mpmath.mpf(2) ** x),
    ("expm1", (0.3,), mpmath.expm1),
    ("fabs", (-0.3,), abs),
    ("fmod", (5.3, 2.0), lambda x, y: x - 2 * y),
    ("gamma", (2.3,), mpmath.gamma),
    ("hypot", (0.3, 0.4), lambda *a: mpmath.sqrt(sum(x * x for x in a))),
    ("hypot", (0.3, 0.4, 1.2), lambda *a: mpmath.sqrt(sum(x * x for x in a))),
    ("hypot", (3e200, 4e200, 1e200), lambda *a: mpmath.sqrt(sum(x * x for x in a))),
    ("hypot", (0.0, 0.0, 1.0), lambda *a: mpmath.sqrt(sum(x * x for x in a))),
    ("lgamma", (2.3,), mpmath.loggamma),
    ("log", (0.3,), mpmath.log),
    ("log", (0.3, 3.0), lambda x, b: mpmath.log(x) / mpmath.log(b)),
    ("log10", (0.3,), mpmath.log10),
    ("log1p", (0.3,), mpmath.log1p),
    ("log2", (0.3,), lambda x: mpmath.log(x, 2)),
    ("pow", (1.3, 2.5), lambda x, y: x**y),
    ("radians", (0.3,), lambda x: x * mpmath.pi / 180),
    ("remainder", (5.3, 2.0), lambda x, y: x - 3 * y),
    ("sin", (0.3,), mpmath.sin),
    ("sinh", (0.3,), mpmath.sinh),
    ("sqrt", (0.3,), mpmath.sqrt),
    ("tan", (0.3,), mpmath.tan),
    ("tanh", (0.3,), mpmath.tanh),
]


@pytest.mark.parametrize(("name", "point", "exact"), SMOOTH)
def test_smooth(name, point, exact):
    """The last argument is recorded, then the first, then all of them."""

    def f(x):
        return getattr(math, name)(*x)

    x = np.array(point)
    tape, out = dc.tape_function(with_numpy(f), x)
    got = dc.gradient(tape, out)
    with mpmath.workdps(400 if max(point) > 1e100 else 40):
        at = [mpmath.mpf(p) for p in point]
        orders = np.eye(len(at), dtype=int)
        slopes = [
            float(
                mpmath.diff(
                    exact, tuple(at), tuple(map(int, o)), h=mpmath.mpf(10) ** -15
                )
            )
            for o in orders
        ]
    assert float(tape.vals[out]) == pytest.approx(f(point), rel=4e-16)
    np.testing.assert_allclose(got, slopes, rtol=2e-12, atol=1e-15)
    for k in range(len(point)):

        def one(y, k=k):
            return f([*point[:k], y, *point[k + 1 :]])

        tape, out = dc.tape_function(with_numpy(one), point[k])
        assert float(dc.gradient(tape, out)) == pytest.approx(
            slopes[k], rel=2e-12, abs=1e-15
        )


@pytest.mark.parametrize("name", ["ceil", "floor", "trunc"])
def test_steps(name):
    def f(x):
        return getattr(math, name)(x[0]) * x[1]

    tape, out = dc.tape_function(with_numpy(f), [2.3, 4.0])
    assert float(tape.vals[out]) == f([2.3, 4.0])
    np.testing.assert_array_equal(dc.gradient(tape, out), [0.0, f([2.3, 1.0])])
    tape, out = dc.tape_function(with_numpy(f), [2.0, 4.0])
    with pytest.raises(NondifferentiableError):
        dc.gradient(tape, out)


def test_parts_of_a_number():
    def f(x):
        m, e = math.frexp(x[0])
        part, whole = math.modf(x[1])
        return m * part * math.ldexp(x[0], 3) * whole * e

    x = np.array([5.5, 2.25])
    tape, out = dc.tape_function(with_numpy(f), x)
    assert float(tape.vals[out]) == f(x)
    m = 5.5 / 8.0
    np.testing.assert_allclose(
        dc.gradient(tape, out), [2 * 5.5 * 0.25 * 2.0 * 3, m * 5.5 * 8.0 * 2.0 * 3]
    )
    with pytest.raises(NondifferentiableError, match=r"power of two 4\.0"):
        dc.tape_function(with_numpy(lambda x: math.frexp(x[0])[0]), [4.0])
    with pytest.raises(NondifferentiableError, match=r"remainder\(3.0, 2.0\)"):
        dc.tape_function(with_numpy(lambda x: math.remainder(x[0], 2.0)), [3.0])


def test_collections():
    x = np.array([0.1, 0.2, 0.3])

    def total(x):
        return math.fsum(x) + math.fsum([x[0], 1.0, 1e-17]) + math.fsum(v for v in x)

    tape, out = dc.tape_function(with_numpy(total), x)
    assert float(tape.vals[out]) == pytest.approx(total(x), rel=4e-16)
    np.testing.assert_array_equal(dc.gradient(tape, out), [3.0, 2.0, 2.0])

    def product(x):
        return math.prod(x) * math.prod([x[0], 2.0], start=3.0)

    tape, out = dc.tape_function(with_numpy(product), x)
    assert float(tape.vals[out]) == product(x)
    np.testing.assert_allclose(
        dc.gradient(tape, out), [6 * 2 * 0.1 * 0.06, 6 * 0.01 * 0.3, 6 * 0.01 * 0.2]
    )

    def distance(x):
        return math.dist(x, [1.0, 2.0, 3.0]) * math.dist([x[0]], [2.0])

    tape, out = dc.tape_function(with_numpy(distance), x)
    assert float(tape.vals[out]) == pytest.approx(distance(x), rel=1e-15)
    d = math.dist(x, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        dc.gradient(tape, out), (x - [1, 2, 3]) / d * 1.9 + np.array([-d, 0.0, 0.0])
    )


def test_questions():
    def f(x):
        assert math.isfinite(x[0])
        assert not math.isnan(x[0])
        assert not math.isinf(x[0])
        assert math.isclose(x[0], 0.3 + 1e-12)
        assert not math.isclose(x[0], 0.3 + 1e-12, rel_tol=1e-15)
        return x[0] * math.pi * math.e

    tape, out = dc.tape_function(with_numpy(f), [0.3])
    assert float(dc.gradient(tape, out)[0]) == pytest.approx(math.pi * math.e)


def test_refusals():
    for name in ("nextafter", "ulp"):
        if hasattr(MATH, name):
            with pytest.raises(UnsupportedOperationError, match=f"math.{name}"):
                dc.tape_function(
                    with_numpy(
                        lambda x, n=name: getattr(math, n)(
                            *[x[0], 1.0][: 1 + (n[0] == "n")]
                        )
                    ),
                    [0.3],
                )
    with pytest.raises(InputTypeError, match=r"shape \(3,\)"):
        dc.tape_function(with_numpy(lambda x: math.exp(x)), [0.1, 0.2, 0.3])
    with pytest.raises(UnsupportedOperationError, match="exponent"):
        dc.tape_function(with_numpy(lambda x: math.ldexp(1.0, x[0])), [2.0])


def test_arrays_of_one_entry_and_constants():
    def f(x):
        c = np.zeros(2)
        assert math.exp(c[0]) == 1.0
        assert math.fsum(c) == 0.0
        return math.exp(x[:1]) * math.cos(c[1])

    tape, out = dc.tape_function(with_numpy(f), [0.3, 0.2])
    np.testing.assert_allclose(dc.gradient(tape, out), [math.exp(0.3), 0.0])


def test_plain_numbers_have_the_bits_of_math():
    numbers = np.linspace(0.05, 0.95, 97)
    for name, point, _ in SMOOTH:
        for shift in numbers:
            at = [p * (1.0 + 1e-3 * shift) for p in point]
            assert getattr(MATH, name)(*at) == getattr(math, name)(*at)
    assert MATH.prod([2, 3]) == 6
    assert type(MATH.prod([2, 3])) is int
    assert MATH.fsum(v for v in (0.1,) * 10) == 1.0
    assert MATH.dist([1.0], [2.0]) == 1.0
    assert type(MATH.floor(2.5)) is int


def test_everything_of_math_is_there():
    assert [
        n for n in dir(math) if not n.startswith("_") and not hasattr(MATH, n)
    ] == []
    for name in dir(math):
        value = getattr(math, name)
        if not name.startswith("_") and callable(value):
            assert getattr(MATH, name).__name__ == name
