"""Numbers that rules compute for themselves are enclosed, not rounded."""

import math
from fractions import Fraction

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import UnsupportedOperationError
from derivative_covers.sweeps.kernels import upward

pytest.importorskip("flint")


def coefficients(f, n):
    """The Jacobian of a linear function of ``n`` inputs, as an Interval."""
    point = np.linspace(0.5, 5.0, n)
    return dc.jacobian(*dc.tape_function(lambda x: f(x) * 1.0, dc.Interval(point)))


def contains(found, exact, width=1e-14):
    lo, hi = np.ravel(found.lo), np.ravel(found.hi)
    assert lo.size == len(exact)
    for below, value, above in zip(lo, exact, hi, strict=True):
        assert Fraction(below) <= value <= Fraction(above)
        assert above - below <= width * max(abs(below), abs(above), 1e-2)


def exactly(*numbers):
    return [Fraction(x) for x in numbers]


TRAPEZOID = vars(np).get("trapezoid") or vars(np)["trapz"]
GRID = exactly(0.1, 0.3, 0.7)
WEIGHTS = exactly(0.1, 0.2, 0.3, 0.4)
PERIOD = Fraction(0.8)
# The knots around 3.9 are 0.5 and, a period on, 0.1.
SHARE = (Fraction(0.1) + PERIOD - (Fraction(3.9) - 4 * PERIOD)) / (
    Fraction(0.1) + PERIOD - Fraction(0.5)
)


def slopes():
    one, two = GRID[1] - GRID[0], GRID[2] - GRID[1]
    return [
        -two / (one * (one + two)),
        (two - one) / (one * two),
        one / two / (one + two),
    ]


@pytest.mark.parametrize(
    ("f", "exact"),
    [
        (lambda x: np.gradient(x, [0.1, 0.3, 0.7])[1], slopes()),
        (
            lambda x: np.gradient(x, 0.1, edge_order=2)[0],
            [Fraction(c) / Fraction(0.1) for c in (-1.5, 2, -0.5)],
        ),
        (
            lambda x: np.gradient(x, 7e-18, edge_order=2)[0],
            [Fraction(c) / Fraction(7e-18) for c in (-1.5, 2, -0.5)],
        ),
        (
            lambda x: TRAPEZOID(x, [0.1, 0.3, 0.7]),
            [
                (GRID[1] - GRID[0]) / 2,
                (GRID[2] - GRID[0]) / 2,
                (GRID[2] - GRID[1]) / 2,
            ],
        ),
        (
            lambda x: np.average(x, weights=[0.1, 0.2, 0.3, 0.4]),
            [w / sum(WEIGHTS) for w in WEIGHTS],
        ),
        (
            lambda x: np.interp(0.35, [0.1, 0.9], x),
            [
                (Fraction(0.9) - Fraction(0.35)) / (Fraction(0.9) - Fraction(0.1)),
                (Fraction(0.35) - Fraction(0.1)) / (Fraction(0.9) - Fraction(0.1)),
            ],
        ),
        (
            lambda x: np.interp(x - 0.25, [0.1, 0.9], [0.3, 0.7]),
            [(Fraction(0.7) - Fraction(0.3)) / (Fraction(0.9) - Fraction(0.1))],
        ),
        (lambda x: np.interp(3.9, [0.1, 0.5], x, period=0.8), [1 - SHARE, SHARE]),
        (
            lambda x: np.quantile(x, 0.15),
            [1 - 3 * Fraction(0.15), 3 * Fraction(0.15), 0, 0],
        ),
        (
            lambda x: np.quantile(x, 0.2, method="median_unbiased"),
            [
                1 - (4 * Fraction(0.2) + Fraction(1, 3) * (1 + Fraction(0.2)) - 1),
                4 * Fraction(0.2) + Fraction(1, 3) * (1 + Fraction(0.2)) - 1,
                0,
                0,
            ],
        ),
        (
            lambda x: np.percentile(x, 7.0),
            [1 - Fraction(21, 100), Fraction(21, 100), 0, 0],
        ),
        (
            lambda x: np.polyval(x, 1000.1),
            [Fraction(1000.1) ** k for k in range(9, -1, -1)],
        ),
        (
            lambda x: np.linspace(0, x[0], 12)[5],
            [Fraction(5, 11)],
        ),
        (
            lambda x: np.pad(x, 7, mode="linear_ramp")[3],
            [Fraction(3, 7)],
        ),
    ],
)
def test_linear_rules(f, exact):
    contains(coefficients(f, len(exact)), exact)


def test_covariances_and_densities():
    y = exactly(0.1, 0.7, 0.35, 0.2)
    weights = exactly(0.1, 0.2, 0.3, 0.4)
    numbers = list(map(float, y))
    box = dc.Interval(numbers)

    def value(f):
        tape, out = dc.tape_function(f, box)
        return tape.values_at(np.ravel(out))

    mean = sum(y) / 4
    contains(value(np.cov), [sum((v - mean) ** 2 for v in y) / 3])
    contains(
        value(
            lambda x: np.histogram([0.2], [0.1, 0.3], weights=x[:1], density=True)[0]
        ),
        [1 / (Fraction(0.3) - Fraction(0.1))],
    )
    total = sum(weights)
    mean = sum(w * v for w, v in zip(weights, y, strict=True)) / total
    free = total - sum(w * w for w in weights) / total
    contains(
        value(lambda x: np.cov(x, aweights=list(map(float, weights)))),
        [sum(w * (v - mean) ** 2 for w, v in zip(weights, y, strict=True)) / free],
    )


@pytest.mark.parametrize(("order", "scale"), [(3, 1e100), (5, 1e60)])
def test_norms_of_rounded_order(order, scale):
    tape, out = dc.tape_function(
        lambda x: np.linalg.norm(x * scale, order), dc.Interval([0.7])
    )
    contains(tape.vals[out : out + 1], [Fraction(0.7) * Fraction(scale)], 1e-12)


def test_logarithm_to_a_base():
    @dc.with_numpy
    def f(x):
        return math.log(x[0], 3.0) * 1e3

    found = dc.gradient(f, dc.Interval([1.0]))
    # 1000 / ln 3, from ln 3 = 1.098612288668109691395245236922525704647490557822749...
    ln3 = Fraction(1098612288668109691395245236922525704647490557822749, 10**51)
    contains(found, [1000 / ln3])


def test_what_has_no_exact_numbers_is_refused():
    box = dc.Interval([1.0, 2.0, 3.0])
    for f in (
        lambda x: np.polyfit([0.1, 0.2, 0.7], x, 1)[0],
        lambda x: np.var(x, ddof=0.9),
    ):
        with pytest.raises(UnsupportedOperationError):
            dc.tape_function(f, box)


# -- kernels of magnitudes -------------------------------------------------------------


def test_roots_of_numbers_beside_one_are_rounded_up():
    for x in (1.0 + 2.0**-52, 1.0 - 2.0**-53, 1.0, 0.0, 5e-324, 2.0):
        for root in (upward.root_above.plain, upward.root_above.compiled()):
            r = root(x)
            assert Fraction(r) ** 2 >= Fraction(x)
    h = dc.cover_hessian(
        lambda x: x[0] ** 2 * (0.5 + 2.0**-53), dc.Interval([1.0], [2.0])
    ).h
    assert Fraction(h[0]) ** 2 >= 1 + Fraction(2) ** -52


def test_products_that_underflow_are_covered():
    h = dc.cover_hessian(
        lambda x: x[0] / x[1], dc.Interval([1.0, 1e160], [2.0, 1e160])
    ).h
    y = Fraction(1e160)
    assert Fraction(h[0]) * Fraction(h[1]) >= 1 / y**2
    assert Fraction(h[1]) ** 2 >= 4 / y**3
    rng = np.random.default_rng(3)
    for _ in range(300):
        aw = float(rng.uniform(0.5, 2.0))
        e12 = float(rng.integers(1, 9)) * 5e-324
        z1, z2 = 2.0 ** rng.integers(-300, 300, 2)
        r1, r2, status = upward.split.plain(
            aw, 0.0, e12, 0.0, z1, z2, True, 1.0, 1.0, 1e-8, True
        )
        assert status == 0
        assert Fraction(r1) * Fraction(r2) >= Fraction(aw) * Fraction(e12)
