"""Tapes of Fractions, mpmath's numbers and balls, against jets and many digits."""

from __future__ import annotations

from fractions import Fraction as F

import flint
import mpmath
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.elements import ends_of, magnitude, upper
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    UndecidedError,
    UnsupportedOperationError,
)
from tests._jets import Jet

X = [F(1, 3), F(-2, 7), F(5, 4)]


def rational(x):
    a, b, c = x
    u = a * b + 3 / c
    return u * u * u - c / (1 + a * a) + F(1, 3) * b * u - 0.1 * c + 2**60 * a - 5


def covered(h, H):
    """Whether |H_ij| <= h_i h_j in exact arithmetic."""
    n = range(len(H))
    h = [F(float(e)) for e in np.ravel(h)]
    return all(abs(H[i][j]) <= h[i] * h[j] for i in n for j in n)


def test_fractions_give_exact_values_derivatives_and_bounds():
    truth = rational(Jet.inputs(X))
    tape, out = dc.tape_function(rational, X)
    assert tape.element is F
    assert type(tape.vals[out]) is F
    assert tape.vals[out] == truth.v
    assert dc.gradient(tape, out).tolist() == truth.g
    assert dc.hessian(tape, out).tolist() == truth.H
    v = [F(1, 9), 2, -0.75]
    product = [sum(a * F(b) for a, b in zip(row, v, strict=True)) for row in truth.H]
    assert dc.hvp(tape, out, v).tolist() == product
    B = dc.hessian_bound(tape, out)
    assert type(B[0, 0]) is F
    assert (abs(np.array(truth.H, dtype=object)) <= B).all()
    large = [2**60 + 1, 10**30 + 1]  # no float holds these
    found = dc.gradient(
        lambda x: (x * np.array([large[0], 1])).sum() + x[1] * large[1], X[:2]
    )
    assert found.tolist() == [large[0], large[1] + 1]
    assert dc.jacobian(lambda x: [x[0] * x[1], x[0] / 3], X[:2]).tolist() == [
        [X[1], X[0]],
        [F(1, 3), 0],
    ]


@pytest.mark.parametrize("merge", ["sum", "quadrature", "auto"])
def test_covers_of_fractions_hold_exactly(merge):
    truth = rational(Jet.inputs(X))
    cover = dc.cover_hessian(rational, X, merge=merge)
    assert cover.h.dtype == np.float64
    assert covered(cover.h, truth.H)
    assert cover.gradient.tolist() == truth.g
    assert cover.value == truth.v
    near = dc.cover_hessian(_floats, [float(e) for e in X], merge=merge)
    np.testing.assert_allclose(cover.h, near.h, rtol=1e-12)
    hybrid = dc.cover_hybrid(rational, X, ngroups=2)
    assert covered(hybrid.h, truth.H)


def _floats(x):
    a, b, c = x
    u = a * b + 3 / c
    return u * u * u - c / (1 + a * a) + (1 / 3) * b * u - 0.1 * c + 2**60 * a - 5


def test_numpy_functions_of_fractions_are_exact():
    x = np.array([[F(1, 3), F(2, 7)], [F(-1, 5), F(4)]])
    A = np.array([[F(1, 11), 2], [F(3, 2), F(-5, 13)]])

    def f(x):
        y = A @ x + x.T @ x
        y[0, 1] = x[1, 1] / 7
        total = np.mean(y) + np.var(x) + np.sum(y * x, axis=0)[1] + np.prod(x)
        return total + np.max(x) * np.cumsum(x)[2] + np.where(x > 0, x, 0).sum()

    def jets(p):
        x = np.array(p, dtype=object).reshape(2, 2)
        y = A @ x + x.T @ x
        y[0, 1] = x[1, 1] / 7
        mean = (x[0, 0] + x[0, 1] + x[1, 0] + x[1, 1]) / 4
        var = sum((e - mean) ** 2 for e in x.ravel()) / 4
        total = y.sum() / 4 + var + (y * x)[:, 1].sum() + x.prod()
        positive = x[0, 0] + x[0, 1] + x[1, 1]
        return total + x[1, 1] * (x[0, 0] + x[0, 1] + x[1, 0]) + positive

    truth = jets(Jet.inputs(x.ravel().tolist()))
    tape, out = dc.tape_function(f, x)
    assert tape.vals[out] == truth.v
    assert dc.gradient(tape, out).ravel().tolist() == truth.g
    assert dc.hessian(tape, out).reshape(4, 4).tolist() == truth.H
    assert covered(dc.cover_hessian(tape, out).h, truth.H)


def test_structures_least_squares_and_first_order():
    point = {"a": F(1, 3), "b": [2.5, 1]}
    found = dc.gradient(lambda p: p["a"] * np.sum(p["b"] ** 2), point)
    assert found["a"] == F(29, 4)
    assert found["b"].tolist() == [F(5, 3), F(2, 3)]

    def r(x):
        return [x[0] * x[1] - F(1, 3), x[0] ** 2]

    cover = dc.cover_nls(r, [F(1, 7), F(3, 5)], weights=[0.1, 2.0])
    x = Jet.inputs([F(1, 7), F(3, 5)])
    a, b = x[0] * x[1] - F(1, 3), x[0] ** 2
    truth = (a * a * F(0.1) + b * b * 2) / 2
    assert cover.value == truth.v
    assert cover.gradient.tolist() == truth.g
    assert covered(cover.h, truth.H)
    tape, out = dc.tape_function(lambda x: x[0] - x[1] / 3, [F(1), 2])
    assert dc.abs_forward([1.0, 1.0], tape)[out] == F(4, 3)
    assert dc.abs_reverse(tape, out, 1.0).tolist() == [1, F(1, 3)]
    rows = dc.cover_jacobian(r, [F(1, 7), F(3, 5)])
    for k, row in enumerate(([F(3, 5), F(1, 7)], [F(2, 7), 0])):
        for a, entry in enumerate(row):
            assert F(float(rows.a[k])) * F(float(rows.b[a])) >= entry


def test_what_fractions_cannot_do_is_refused_by_name():
    for f, name in ((np.exp, "exp"), (np.sqrt, "sqrt"), (np.sin, "sin")):
        with pytest.raises(UnsupportedOperationError, match=f"{name}.*Fraction"):
            dc.tape_function(lambda x, f=f: f(x[0]), [F(1, 2)])
    with pytest.raises(UnsupportedOperationError, match=r"power.*Fraction"):
        dc.gradient(lambda x: x[0] ** F(1, 2), [F(1, 2)])
    with pytest.raises(UnsupportedOperationError, match=r"floor.*Fraction"):
        dc.gradient(lambda x: np.floor(x[0]) * x[0], [F(1, 2)])
    with pytest.raises(UnsupportedOperationError, match="solve"):
        dc.gradient(lambda x: np.linalg.solve(np.diag(x), x).sum(), [F(1, 2), F(1, 3)])
    with pytest.raises(InputTypeError, match="Fraction and mpf"):
        dc.gradient(lambda x: x[0], [F(1, 2), mpmath.mpf(1)])
    with pytest.raises(InputTypeError, match="Fraction"):
        dc.forward_cover(lambda x: x[0] ** 2, [F(1, 2)])


def test_domains_kinks_and_ties_of_elements():
    with pytest.raises(DomainError, match="divide"):
        dc.gradient(lambda x: 1 / x[0], [F(0)])
    assert dc.gradient(lambda x: np.where(x > 0, 1 / x, x).sum(), [F(2), F(0) - 1])[
        0
    ] == F(-1, 4)
    # an undefined value that no output depends on is none's business
    assert dc.gradient(lambda x: np.stack([x[0] ** 2, 1 / x[1]])[0], [F(2), 0])[0] == 4
    with pytest.raises(NondifferentiableError):
        dc.gradient(lambda x: abs(x[0]), [F(0)])
    with pytest.raises(NondifferentiableError):
        dc.gradient(lambda x: x[0] if x[0] < x[1] else x[1], [F(1, 3), F(1, 3)])
    tiny = F(1, 10**40)  # no float tells these apart
    f = lambda x: x[0] if x[0] < x[1] else x[1]  # noqa: E731
    assert dc.gradient(f, [F(1, 3), F(1, 3) + tiny]).tolist() == [1, 0]
    assert (
        dc.gradient(lambda x: np.where(x[0] < x[1], x[0], x[1]), [F(1), F(2)])[0] == 1
    )
    with pytest.raises(UndecidedError):
        dc.gradient(f, [flint.arb(1, 0.5), flint.arb(1.25, 0.5)])
    with pytest.raises(DomainError, match="x0"):
        dc.gradient(lambda x: x[0], [mpmath.mpf("nan")])


SMOOTH = [
    ("exp", mpmath.exp), ("expm1", mpmath.expm1), ("exp2", lambda x: 2**x),
    ("log", mpmath.log), ("log2", lambda x: mpmath.log(x, 2)), ("log10", mpmath.log10),
    ("log1p", mpmath.log1p), ("sqrt", mpmath.sqrt), ("cbrt", mpmath.cbrt),
    ("sin", mpmath.sin), ("cos", mpmath.cos), ("tan", mpmath.tan),
    ("arcsin", mpmath.asin), ("arccos", mpmath.acos), ("arctan", mpmath.atan),
    ("sinh", mpmath.sinh), ("cosh", mpmath.cosh), ("tanh", mpmath.tanh),
    ("arcsinh", mpmath.asinh), ("arctanh", mpmath.atanh), ("abs", abs),
    ("square", lambda x: x * x), ("reciprocal", lambda x: 1 / x),
    ("deg2rad", mpmath.radians), ("rad2deg", mpmath.degrees),
]  # fmt: skip
TWO = [
    ("hypot", mpmath.hypot), ("arctan2", mpmath.atan2), ("power", mpmath.power),
    ("logaddexp", lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y))),
    ("divide", lambda x, y: x / y), ("maximum", max), ("fmin", min),
]  # fmt: skip


@pytest.mark.parametrize("digits", [8, 50])
@pytest.mark.parametrize(("name", "reference"), SMOOTH)
def test_elementals_at_any_precision(name, reference, digits):
    with mpmath.workdps(digits):
        x = mpmath.mpf("0.375")
        f = lambda x: getattr(np, name)(x[0])  # noqa: E731
        tape, out = dc.tape_function(f, [x])
        found = [tape.vals[out], dc.gradient(tape, out)[0], dc.hessian(tape, out)[0, 0]]
        ball, bo = dc.tape_function(f, [flint.arb(0.375)])
        balls = [ball.vals[bo], dc.gradient(ball, bo)[0], dc.hessian(ball, bo)[0, 0]]
    with mpmath.workdps(2 * digits + 10):
        truth = [mpmath.diff(reference, x, k) for k in range(3)]
    with mpmath.workdps(2 * digits + 10):
        for a, b in zip(found, truth, strict=True):
            assert abs(a - b) <= mpmath.mpf(10) ** (2 - digits) * (1 + abs(b))
        for a, b in zip(balls, truth, strict=True):
            wide = flint.arb(mpmath.nstr(b, 15), 1e-12)
            assert a.overlaps(wide)


@pytest.mark.parametrize(("name", "reference"), TWO)
def test_elementals_of_two_operands_at_any_precision(name, reference):
    point = (mpmath.mpf("0.375"), mpmath.mpf("1.25"))
    for given in (lambda x: x, lambda x: (x[0], 1.25), lambda x: (0.375, x[1])):

        def f(x, given=given):
            return getattr(np, name)(*given(x))

        with mpmath.workdps(40):
            tape, out = dc.tape_function(f, list(point))
            value, H = tape.vals[out], dc.hessian(tape, out)
            cover = dc.cover_hessian(tape, out).h
            ball, bo = dc.tape_function(f, [flint.arb(0.375), flint.arb(1.25)])
            balls = dc.hessian(ball, bo)
        fixed = given([None, None])
        with mpmath.workdps(90):

            def g(x, y, fixed=fixed):
                a, b = (
                    c if c is not None else e
                    for c, e in zip(fixed, (x, y), strict=True)
                )
                return reference(a, b)

            assert abs(value - g(*point)) < mpmath.mpf(10) ** -38
            for i, j, order in ((0, 0, (2, 0)), (0, 1, (1, 1)), (1, 1, (0, 2))):
                truth = mpmath.diff(g, point, order)
                assert abs(H[i, j] - truth) < mpmath.mpf(10) ** -35
                assert balls[i, j].overlaps(flint.arb(mpmath.nstr(truth, 15), 1e-12))
                assert cover[i] * cover[j] >= abs(truth) - mpmath.mpf(10) ** -35


def test_balls_cover_every_point_of_them():
    def f(x):
        return np.exp(x[0]) * np.sin(x[1]) / (1 + x[2] ** 2) + np.hypot(x[0], x[2])

    centre, radius = np.array([0.5, 1.0, 0.7]), 0.125
    balls = [flint.arb(c, radius) for c in centre]
    tape, out = dc.tape_function(f, balls)
    cover = dc.cover_hessian(tape, out, merge="quadrature")
    box = dc.Interval(centre - radius, centre + radius)
    same = dc.cover_hessian(f, box, merge="quadrature")
    assert (cover.h < 2 * same.h).all()
    B = dc.hessian_bound(tape, out)
    assert B.dtype == np.float64
    gradient = dc.gradient(tape, out)
    rng = np.random.default_rng(3)
    for x in rng.uniform(centre - radius, centre + radius, (30, 3)):
        H = dc.hessian(f, x)
        assert (abs(H) <= np.outer(cover.h, cover.h)).all()
        assert (abs(H) <= B).all()
        g = dc.gradient(f, x)
        assert all(
            a.overlaps(flint.arb(b, 1e-14)) for a, b in zip(gradient, g, strict=True)
        )


def test_value_gives_the_number_itself_and_texts_show_it():
    seen = []

    def f(x):
        seen.append(dc.value(x[0] * 3))
        seen.append(dc.value(x))
        return (x**2).sum()

    cover = dc.cover_hessian(f, [F(1, 9), F(1, 2)])
    assert seen[0] == F(1, 3)
    assert seen[1].tolist() == [F(1, 9), F(1, 2)]
    assert "Fraction(2, 9)" in repr(cover)


def test_nodes_show_their_partials_in_the_type():
    tape, _ = dc.tape_function(lambda x: x[0] * x[1] + np.mean(x**3), [F(1, 3), 2])
    found = [d.tolist() for d in tape.ds]
    assert [2, F(1, 3)] in found
    assert [F(1, 2), F(1, 2)] in found
    assert [F(1, 3)] in found
    assert any(getattr(C, "c", None) == 2 for C in tape.Cs)
    assert "Fraction" in repr(tape)


@pytest.mark.parametrize(
    "x",
    [F(2, 3), F(-1, 3), F(1, 2), F(2**60 + 1), F(1, 10**400), F(10**400), F(0)],
)
def test_floats_around_a_number_hold_it(x):
    size = upper(magnitude(x))
    lo, hi = ends_of(x)
    assert size == np.inf or (F(size) >= abs(x) and F(np.nextafter(size, 0)) <= abs(x))
    assert lo == -np.inf or F(lo) <= x
    assert hi == np.inf or F(hi) >= x
    assert hi == np.inf or hi <= np.nextafter(lo, np.inf)
    with mpmath.workdps(60):
        y = mpmath.mpf(x.numerator) / x.denominator
        assert upper(magnitude(y)) >= abs(y)
        lo, hi = ends_of(y)
        assert lo <= y <= hi
    ball = flint.arb(flint.fmpq(x.numerator, x.denominator))
    lo, hi = ends_of(ball)
    assert lo == -np.inf or lo <= ball
    assert hi == np.inf or ball <= hi
    assert upper(magnitude(ball)) == np.inf or abs(ball) <= upper(magnitude(ball))


def test_covers_in_floats_alone_would_not_hold_exactly():
    short = 0
    for p in range(1, 30):
        c = F(p, 7 * p + 3)
        h = dc.cover_hessian(lambda x, c=c: c * x[0] ** 2, [F(1, 3)]).h[0]
        assert F(float(h)) ** 2 >= 2 * c
        near = dc.cover_hessian(lambda x, c=c: float(c) * x[0] ** 2, [1 / 3]).h[0]
        short += F(float(near)) ** 2 < 2 * c
    assert short


def test_refusals_speak_of_the_type_and_not_of_a_box():
    x = [F(1), F(2)]
    for call in (dc.forward_cover, dc.check):
        with pytest.raises(InputTypeError, match="holds numbers of type Fraction"):
            call(lambda x: x[0] * x[1], x)
    with pytest.raises(UnsupportedOperationError, match="of another type than floats"):
        dc.gradient(lambda x: np.linalg.solve(np.eye(2), x)[0], x)
    with pytest.raises(UnsupportedOperationError, match="of another type than floats"):
        dc.hessian(lambda x: x[0] * x[1], x, sparse=True)
    with pytest.raises(NondifferentiableError, match=r"absolute\(0\.0\)"):
        dc.gradient(lambda x: abs(x[0]), [F(0)])


@pytest.mark.parametrize("near", [0.0, -1e-9, 0.3, 1e-300])
def test_bounds_of_magnitudes_end_where_float_is_far_off(near):
    class Poor(F):
        """A fraction whose ``float`` may be wrong in every digit."""

        def __float__(self):
            return near

        def __sub__(self, other):
            return F(self) - F(other)

    size = upper(Poor(1, 3))
    assert F(1, 3) <= F(size) < 1
