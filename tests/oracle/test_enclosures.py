"""Enclosures of elementals: containment against balls, domains, kinks, known ranges."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

import flint
import mpmath
import numpy as np
import pytest
from flint import arb
from numpy.testing import assert_array_equal

from derivative_covers.elementals import by_name
from derivative_covers.elementals._enclosures import Enclosed, enclose, using
from derivative_covers.errors import MissingPackageError, UnsupportedOperationError
from derivative_covers.extend import elemental
from tests._own import OWN
from tests.oracle._truths import TRUTHS
from tests.oracle.containment import centres, check, domains, patterns, truth

SLOW = {
    "beta",
    "betaln",
    "y0",
    "y1",
    "yv",
    "jv",
    "j0",
    "j1",
    "rgamma",
    "sinc",
    "kv",
    "iv",
}
SLOW |= {
    "fresnel_sine",
    "fresnel_cosine",
    "k0e",
    "k1e",
    "i1e",
    "gamma",
    "gammaln",
    "digamma",
}
SLOW |= {"loggamma", "sine_integral", "cosine_integral"}
BY_CRIVAL = [
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
    "cosm1", "arcsin", "arccos", "sinh", "cosh", "tanh", "arctanh", "expit", "log_expit",
    "cbrt", "power", "xlogy", "xlog1py", "boxcox", "inv_boxcox",
]  # fmt: skip


def test_every_elemental_has_a_truth():
    assert {op.name for op in OWN} - set(TRUTHS) == {"tie"}


@pytest.mark.parametrize("name", TRUTHS)
def test_contains_truth(name):
    report = check(name, 15 if name in SLOW else 400)
    assert not report.outside, report.outside[:3]
    assert report.checked > report.skipped * 4
    # A few ulps at points, were the natural extension would lose digits by cancellation.
    assert report.widest <= (1e4 if name in {"xlog1py"} else 40), report


@pytest.mark.parametrize("name", BY_CRIVAL)
def test_contains_truth_without_crival(name):
    report = check(name, 150, 1, ("flint",))
    assert not report.outside, report.outside[:3]


def one_ulp(op, pattern, operands, *, order=2):
    """The naive type: NumPy's results moved by one ulp."""
    points = [np.where(lo == hi, lo, hi) for lo, hi in operands]
    rule = (op.rule, op.rule, op.rule_first(), op.rule_second())[pattern]
    with np.errstate(all="ignore"):
        v = op.value(np, *points)
        found = [v, *rule.partials(np, *points, v)]
    pairs = [
        (np.nextafter(x, -np.inf), np.nextafter(x, np.inf))
        for x in (np.broadcast_to(f, points[0].shape) for f in found)
    ]
    return Enclosed(pairs[0], tuple(pairs[1:]))


@pytest.mark.parametrize("name", ["tanh", "expit", "log_expit", "arcsinh", "sinc"])
def test_one_ulp_is_not_enough(name):
    rng = np.random.default_rng(0)
    x = rng.uniform(-4.0, 4.0, 400)
    found = one_ulp(by_name(name), 0, ((x, x),))
    misses = [0, 0, 0]
    for k, point in enumerate(x.tolist()):
        for j, (pair, exact) in enumerate(
            zip([found.value, *found.parts], truth(name, 0, [point]), strict=True)
        ):
            lo, hi = (float(end[k]) for end in pair)
            misses[j] += bool(exact < lo or exact > hi)
    assert sum(misses) > 0


@pytest.mark.parametrize(
    "name", ["sin", "exp", "tanh", "gamma", "erfinv", "j1", "dawsn", "i0"]
)
def test_truth_against_mpmath(name):
    functions = {
        "gamma": mpmath.gamma,
        "erfinv": mpmath.erfinv,
        "j1": lambda x: mpmath.besselj(1, x),
        "dawsn": lambda x: (
            mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)
        ),
        "i0": lambda x: mpmath.besseli(0, x),
    }
    f = functions.get(name) or getattr(mpmath, name)
    with mpmath.workdps(60):
        for x in (0.25, 0.8125):
            given = mpmath.taylor(f, mpmath.mpf(x), 2)
            given[2] *= 2
            for mine, other in zip(truth(name, 0, [x]), given, strict=True):
                text = mine.str(50, radius=False)
                assert abs(mpmath.mpf(text) - other) < mpmath.mpf(10) ** -35


@pytest.mark.parametrize("op", OWN, ids=lambda op: op.name)
def test_domain_and_kink_at_points_are_those_of_the_float_rule(op):
    if op.name not in TRUTHS:
        return
    rng = np.random.default_rng(1)
    for pattern in patterns(op.name):
        box = [centres(rng, 60, d) for d in domains(op.name, pattern)]
        edges = np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 1.5, -0.5, -1.5, 3.0])
        if op.arity == 1:
            x = [np.concatenate([box[0], edges])]
        else:
            p, q = np.meshgrid(edges, edges)
            x = [
                np.concatenate([b, e.ravel()]) for b, e in zip(box, (p, q), strict=True)
            ]
        if op.name in {"jv", "yv", "iv", "kv", "expn"}:
            x[0] = np.abs(np.round(np.clip(x[0], -8, 8)))
        rule = (op.rule, op.rule, op.rule_first(), op.rule_second())[pattern]
        found = enclose(op, pattern, tuple((a, a) for a in x), order=0)
        with np.errstate(all="ignore"):
            inside = (
                np.ones(x[0].shape, bool)
                if rule.domain is None
                else rule.domain(np, *x)
            )
            kink = (
                np.zeros(x[0].shape, bool) if rule.kink is None else rule.kink(np, *x)
            )
        outside = np.zeros(x[0].shape, bool) if found.outside is None else found.outside
        mine = np.zeros(x[0].shape, bool) if found.kink is None else found.kink
        assert_array_equal(
            np.broadcast_to(outside, inside.shape), ~inside, str((op.name, pattern))
        )
        # Outside of the domain a kink means nothing.
        assert_array_equal((mine & inside), (kink & inside), str((op.name, pattern)))


def ends(pair, k=0):
    return float(np.ravel(pair[0])[k]), float(np.ravel(pair[1])[k])


@pytest.mark.parametrize("packages", [("ival", "flint"), ("flint",)])
def test_ranges_of_periodic_and_bent_functions_are_exact(packages):
    with using(*packages):
        s = enclose(
            by_name("sin"),
            0,
            ((np.array([0.0, 2.0, 0.1, -1.0]), np.array([4.0, 11.0, 0.2, 1e300])),),
        )
        assert ends(s.value)[1] == 1.0
        assert ends(s.value)[0] == pytest.approx(np.sin(4.0), rel=1e-15)
        assert ends(s.value, 1) == (-1.0, 1.0)
        assert ends(s.parts[0])[0] == -1.0
        assert ends(s.value, 3) == (-1.0, 1.0)
        t = enclose(by_name("tanh"), 0, ((-1.0, 3.0),))
        assert ends(t.parts[0])[1] == 1.0
        assert ends(t.parts[0])[0] == pytest.approx(1 / np.cosh(3.0) ** 2, rel=1e-14)
        assert ends(t.parts[1]) == pytest.approx(
            (-0.7698003589195010, 0.7698003589195010), rel=1e-14
        )
        far = enclose(by_name("tanh"), 0, ((20.0, 20.0),))
        assert ends(far.value) == (np.nextafter(1.0, 0.0), 1.0)
        p = enclose(by_name("power"), 2, ((-2.0, 1.0), np.array(4.0)))
        assert ends(p.value) == (0.0, 16.0)
        assert ends(p.parts[0]) == (-32.0, 4.0)
        assert ends(p.parts[1]) == (0.0, 48.0)
        e = enclose(by_name("exp"), 0, ((-800.0, 800.0),))
        assert ends(e.value) == (0.0, np.inf)
        tangent = enclose(
            by_name("tan"), 0, ((np.array([1.0, -0.5]), np.array([2.0, 0.5])),)
        )
        assert tangent.outside.tolist() == [True, False]
        assert ends(tangent.parts[0], 1)[0] == 1.0


def test_huge_arguments_of_the_sine():
    with using("flint"):
        found = enclose(by_name("sin"), 0, (np.array([1e308, 1e22, 1e6]),))
    lo, hi = found.value
    assert (hi - lo <= 2e-16).all()


def test_without_any_package():
    with using():
        assert ends(enclose(by_name("square"), 0, ((-1.0, 2.0),)).value) == (0.0, 4.0)
        assert ends(enclose(by_name("sqrt"), 0, ((4.0, 9.0),)).value) == (2.0, 3.0)
        with pytest.raises(MissingPackageError, match=r"pip install '\.\[intervals\]'"):
            enclose(by_name("exp"), 0, ((0.0, 1.0),))


def test_refuses_recorded_order():
    with pytest.raises(UnsupportedOperationError, match="order"):
        enclose(by_name("jv"), 1, ((1.0, 1.0), (1.0, 2.0)))


SHAPED = ["tanh", "expit", "log_expit", "arctan", "arcsinh", "erf", "ndtr", "log_ndtr", "logit", "entr", "loggamma", "exprel"]  # fmt: skip


@pytest.mark.parametrize("name", SHAPED)
def test_no_turning_point_is_missing(name):
    """Balls prove that nothing turns but where the table says, on a large piece."""
    shape = shapes()[name]
    a, b = max(shape.domain[0], -6.0) + 2.0**-6, min(shape.domain[1], 6.0) - 2.0**-6
    places = np.linspace(a, b, 400).tolist()
    with flint.ctx.workprec(120):
        for k in range(2):  # the jet has the next derivative of value and slope
            turns = [float(t) for t in shape.turns[k]]
            pending = list(pairwise(places))
            while pending:
                lo, hi = pending.pop()
                if any(lo - 2.0**-7 <= t <= hi + 2.0**-7 for t in turns):
                    continue
                ball = arb(lo).union(arb(hi))
                found = shape.jet(ball)[k + 1]
                if found > 0 or found < 0:
                    continue
                assert hi - lo > 1e-9, (k, lo, hi)
                pending += [(lo, (lo + hi) / 2), ((lo + hi) / 2, hi)]


def shapes():
    registry = import_module("derivative_covers.elementals._enclosures._registry")
    registry._load()
    return registry._SHAPES


@pytest.mark.parametrize("op", OWN, ids=lambda op: op.name)
def test_marks_cover_every_member(op):
    """What the float rule marks at a member is marked for the interval."""
    rng = np.random.default_rng(2)
    n = 150
    for pattern in patterns(op.name):
        boxes = []
        for _ in range(op.arity):
            lo = rng.integers(-6, 7, n) / 2.0 - rng.choice([0.0, 0.125], n)
            boxes.append((lo, lo + rng.choice([0.0, 0.125, 0.5, 1.0], n)))
        fixed = {2: 1, 3: 0}.get(pattern)
        if fixed is not None:
            boxes[fixed] = (boxes[fixed][0], boxes[fixed][0])
        if op.name in {"jv", "yv", "iv", "kv", "expn"}:
            boxes[0] = (np.abs(np.round(boxes[0][0])),) * 2
        found = enclose(op, pattern, tuple(boxes), order=0)
        rule = (op.rule, op.rule, op.rule_first(), op.rule_second())[pattern]
        for share in (0.0, 0.25, 0.5, 1.0):
            x = [lo + share * (hi - lo) for lo, hi in boxes]
            if op.arity == 2:
                x[1] = boxes[1][1] - share * (boxes[1][1] - boxes[1][0])
            with np.errstate(all="ignore"):
                inside = (
                    np.ones(n, bool) if rule.domain is None else rule.domain(np, *x)
                )
                kink = np.zeros(n, bool) if rule.kink is None else rule.kink(np, *x)
            outside = np.zeros(n, bool) if found.outside is None else found.outside
            mark = np.zeros(n, bool) if found.kink is None else found.kink
            assert (outside | inside).all(), (op.name, pattern)
            assert (mark | outside | ~kink | ~inside).all(), (op.name, pattern)


def test_balls_become_the_doubles_around_them():
    balls = import_module("derivative_covers.elementals._enclosures._balls")
    tiny, huge = 5e-324, np.finfo(float).max
    two = arb(2)
    with flint.ctx.workprec(100):
        third = arb(1) / 3
    cases = [
        (two**2000, (huge, np.inf)),
        (-(two**2000), (-np.inf, -huge)),
        (two**-2000, (0.0, tiny)),
        (-(two**-2000), (-tiny, 0.0)),
        (3 * two**-1075, (tiny, 2 * tiny)),
        (two**-1074, (tiny, tiny)),
        (arb(0), (0.0, 0.0)),
        (third, (1 / 3, np.nextafter(1 / 3, 1))),  # the double is below
        (arb.nan(), (-np.inf, np.inf)),
        (arb(0, arb.pos_inf()), (-np.inf, np.inf)),
        (arb(-1).log(), (-np.inf, np.inf)),
    ]  # fmt: skip
    lo, hi = balls.rounded(flint, [ball for ball, _ in cases])
    assert list(zip(lo.tolist(), hi.tolist(), strict=True)) == [
        pair for _, pair in cases
    ]


def test_elementals_of_users():
    @elemental(
        partials=lambda xp, x, v: (xp.cos(x) * v, (xp.cos(x) ** 2 - xp.sin(x)) * v),
        domain=lambda xp, x: x > -1.0,
        kink=lambda xp, x: x == 0.25,
        name="enclosed exp of sin",
    )
    def exp_of_sin(xp, x):
        return xp.exp(xp.sin(x))

    x = np.array([0.5, 0.1, -2.0]), np.array([0.5, 0.5, 0.2])
    found = enclose(exp_of_sin.elemental, 0, (x,))
    assert found.outside.tolist() == [False, False, True]
    assert found.kink.tolist() == [False, True, False]
    with flint.ctx.workprec(200):
        flint.ctx.cap = 3
        s = flint.arb_series([arb(0.5), 1]).sin().exp()
        for pair, exact in zip(
            (found.value, *found.parts), (s[0], s[1], 2 * s[2]), strict=True
        ):
            lo, hi = ends(pair)
            assert arb(lo) <= exact <= arb(hi)
            assert hi - lo < 1e-14


def test_elementals_of_users_that_branch():
    @elemental(partials=lambda xp, x, v: (1.0, 0.0), name="branching")
    def branching(xp, x):
        return x if x > 0 else -x

    assert ends(enclose(branching.elemental, 0, ((1.0, 2.0),)).value) == (1.0, 2.0)
    with pytest.raises(UnsupportedOperationError, match=r"branching.*extend.encloses"):
        enclose(branching.elemental, 0, ((-1.0, 2.0),))
