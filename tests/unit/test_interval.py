"""Interval: construction, NumPy's protocols, decisions, and what it refuses."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derivative_covers import Interval, Upward, errors
from derivative_covers import elements as el

RNG = np.random.default_rng(6)


def some(*shape):
    """Intervals of every sign, some of them points."""
    a, b = RNG.integers(-9, 9, shape) / 4, RNG.random(shape)
    return Interval(a - b, a + np.where(RNG.random(shape) < 0.2, -b, b))


def holds(x, values):
    """Members of ``x``, whose ends are not far from them."""
    assert x.shape == np.shape(values)
    assert np.all((x.lo <= values) & (values <= x.hi)), (x, values)


def members(x, t):
    return np.clip(x.lo + t * (x.hi - x.lo), x.lo, x.hi)


def test_numbers_are_converted_outward():
    x = Interval(1, 2)
    assert (x.shape, x.ndim, x.size, x.dtype) == ((), 0, 1, np.float64)
    assert type(x.lo) is type(x.hi) is np.float64
    point = Interval([1, 2])
    assert np.array_equal(point.lo, point.hi)
    assert (
        Interval(np.float32(0.1)).lo == Interval(np.float32(0.1)).hi == np.float32(0.1)
    )
    third = Interval(Fraction(1, 3))
    assert Fraction(float(third.lo)) < Fraction(1, 3) < Fraction(float(third.hi))
    for big in (2**53 + 1, np.int64(2**53 + 1), np.array([2**53 + 1])):
        x = Interval(big)
        assert Fraction(float(np.min(x.lo))) < 2**53 + 1 < Fraction(float(np.max(x.hi)))
    assert Interval(10**400).hi == np.inf
    assert Interval(10**400).lo == np.finfo(float).max
    wide = Interval(np.longdouble(1) / 3)
    assert wide.lo < wide.hi
    assert Interval(True).lo == 1
    assert not np.signbit(Interval(-0.0).lo)
    mixed = Interval([[Interval(0, 1), 2.0], [3, third]])
    assert mixed.shape == (2, 2)
    assert mixed[0, 0].hi == 1
    assert Interval(0.0, [1.0, 2.0]).shape == (2,)
    assert Interval([], []).shape == (0,)


@pytest.mark.parametrize(
    ("ends", "error", "match"),
    [
        ((2.0, 1.0), errors.OptionError, "exchange"),
        (([0.0, 2.0], [1.0, 1.0]), errors.OptionError, "entry 1"),
        (([[0.0, 2.0]], [[1.0, 1.0]]), errors.OptionError, r"entry \(0, 1\)"),
        ((math.nan, 1.0), errors.OptionError, "NaN"),
        ((0.0, [1.0, math.nan]), errors.OptionError, "NaN"),
        ((np.array([0.0, math.nan]), np.ones(2)), errors.OptionError, "NaN"),
        ((np.zeros(2), np.array([1.0, math.nan])), errors.OptionError, "NaN"),
        ((np.array(math.nan), np.empty(0)), errors.OptionError, "NaN"),
        ((math.inf,), errors.OptionError, "no real number"),
        ((-math.inf, -math.inf), errors.OptionError, "no real number"),
        (([0.0, 1.0], [2.0, 3.0, 4.0]), errors.ShapeError, "shape"),
        (([[1.0], [2.0, 3.0]],), errors.ShapeError, "length"),
        ((1j,), errors.InputTypeError, "complex"),
        (("1", "2"), errors.InputTypeError, "real"),
        ((None, 1.0), errors.InputTypeError, "NoneType"),
        (([object()],), errors.InputTypeError, "object"),
        ((0.0, np.ma.masked_greater([1.0, 9.0], 5.0)), errors.InputTypeError, "masked"),
    ],
)
def test_what_is_no_interval_is_refused(ends, error, match):
    with pytest.raises(error, match=match):
        Interval(*ends)


def test_boxes_in_every_form():
    box = Interval([0.0, 2.0, 4.0], [1.0, 3.0, 5.0])

    class Bounds:
        lb, ub = box.lo, box.hi

    for form in (
        (box.lo, box.hi),
        ([0, 2, 4], [1, 3, 5]),
        [(0, 1), (2, 3), (4, 5)],
        ((0, 1), (2, 3), (4, 5)),
        np.array([[0, 1], [2, 3], [4, 5]]),
        Bounds(),
    ):
        assert np.array_equal(Interval.box(form), box)
    assert Interval.box(box) is box
    assert Interval.box((0.0, 1.0)).shape == ()
    assert Interval.box([]).shape == (0,)
    with pytest.raises(errors.OptionError, match="two pairs"):
        Interval.box(((0, 1), (2, 3)))
    for wrong in ([1.0, 2.0, 3.0], np.ones(3), [(1, 2, 3)]):
        with pytest.raises((errors.ShapeError, TypeError)):
            Interval.box(wrong)
    with pytest.raises(errors.InputTypeError, match="no box"):
        Interval.box(3.0)
    with pytest.raises(errors.OptionError, match="exchange"):
        Interval.box([(1, 0)])


def test_repr_and_copies_keep_every_bit():
    x = Interval([0.1, -1 / 3], [0.2, 1e300])
    assert np.array_equal(eval(repr(x), {"Interval": Interval}), x)
    assert repr(Interval(0.1, 0.5)) == "Interval(0.1, 0.5)"
    assert len(repr(some(10000))) < 1000
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert np.array_equal(other, x)
        other[0] = 7
        assert x[0].hi == 0.2
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_ends_are_read_only_and_entries_can_be_assigned():
    source = np.array([1.0, 2.0, 3.0])
    x = Interval(source, source)
    source[0] = 9
    assert x[0].lo == 1
    with pytest.raises(ValueError, match="read-only"):
        x.lo[0] = 5
    view = x[1:]
    view[0] = Interval(0, 7)
    assert (x[1].lo, x[1].hi) == (0, 7)
    x[x > 7.5] = 1
    x[[0, 2]] = [Interval(-1, 1), 2.0]
    assert x.lo.tolist() == [-1, 0, 2]
    x[:-1] = x[1:]
    assert x.lo.tolist() == [0, 2, 2]
    same = x
    same += 1
    assert x.hi.tolist() == [8, 3, 3]
    s = t = Interval(1, 2)
    s += 1
    assert (t.lo, s.lo) == (1, 2)
    with pytest.raises(TypeError, match="no entries"):
        t[0] = 1.0
    with pytest.raises(errors.OptionError, match="NaN"):
        x[0] = math.nan
    with pytest.raises(errors.UnsupportedOperationError, match="stored"):
        np.add(x, 1, out=np.zeros(3))
    with pytest.raises(errors.UnsupportedOperationError, match=r"\.mid"):
        np.zeros(3)[:] = x


UNARY = [
    np.negative, np.positive, np.absolute, np.fabs, np.square, np.sign, np.floor,
    np.ceil, np.trunc, np.rint,
]  # fmt: skip
BINARY = [
    np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.hypot,
    np.copysign, np.heaviside,
]  # fmt: skip
QUOTIENTS = [np.divide, np.floor_divide, np.remainder, np.fmod]


@pytest.mark.parametrize("ufunc", UNARY + BINARY + QUOTIENTS, ids=lambda u: u.__name__)
def test_ufuncs_contain_their_values_at_members(ufunc):
    x, y = some(400), some(400)
    if ufunc in QUOTIENTS:
        y = y[(y.lo > 0) | (y.hi < 0)]
        x = x[: y.size]
    args = (x, y)[: ufunc.nin]
    found = ufunc(*args)
    slack = 4 * np.finfo(float).eps * (np.abs(found.lo) + np.abs(found.hi))
    loose = Interval(found.lo - slack, found.hi + slack)
    ends = [np.inf, -np.inf]
    for s in np.linspace(0, 1, 7):
        for t in np.linspace(0, 1, 7)[:: 1 if ufunc.nin == 2 else 7]:
            v = ufunc(*(members(a, r) for a, r in zip(args, (s, t), strict=False)))
            holds(loose, v)
            ends = [np.minimum(ends[0], v), np.maximum(ends[1], v)]
    if ufunc not in (np.remainder, np.fmod, np.heaviside):
        # the range over the members tried is not much smaller
        scale = 1 + np.abs(ends[0]) + np.abs(ends[1])
        wide = 0.3 if ufunc in (np.copysign, np.floor_divide) else 0.2
        few = np.mean((found.hi - found.lo) - (ends[1] - ends[0]) > wide * scale)
        assert few < 0.05


@pytest.mark.parametrize("ufunc", [np.reciprocal, np.sqrt, np.divide, np.power])
def test_domains_raise(ufunc):
    x = Interval([1.0, -1.0], [2.0, 1.0])
    args = {np.divide: (1.0, x), np.power: (x, -2)}.get(ufunc, (x,))
    with pytest.raises(errors.DomainError, match="make the interval smaller"):
        ufunc(*args)
    args = tuple(a[:1] if isinstance(a, Interval) else a for a in args)
    assert np.all(ufunc(*args).lo > 0)


@given(a=st.floats(-5, 5), r=st.floats(0, 3), n=st.integers(-4, 6), t=st.floats(0, 1))
@settings(max_examples=100)
def test_powers_of_whole_numbers(a, r, n, t):
    x = Interval(a, a + r)
    if n < 0 and x.lo <= 0 <= x.hi:
        return
    found = x**n
    exact = Fraction(float(members(x, t))) ** n
    assert found.lo == -np.inf or Fraction(float(found.lo)) <= exact
    assert found.hi == np.inf or Fraction(float(found.hi)) >= exact
    assert np.array_equal(found, np.power(x, float(n)))
    assert np.array_equal(found, np.power(Interval([a], [a + r]), np.array([n]))[0])


def test_roots_as_powers_and_what_is_no_arithmetic():
    x = Interval([1.0, 4.0], [4.0, 9.0])
    assert np.array_equal(x**0.5, Interval([1.0, 2.0], [2.0, 3.0]))
    assert np.array_equal(x**-0.5, 1 / np.sqrt(x))
    assert np.array_equal(x ** np.array([0, 2]), Interval([1.0, 16.0], [1.0, 81.0]))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300, 5e-324])
def test_hypot_stays_in_range(scale):
    x = Interval(3 * scale, 4 * scale)
    found = np.hypot(x, Interval(-scale, 4 * scale))
    assert Fraction(float(found.lo)) <= 3 * Fraction(scale)
    square = 2 * Fraction(4 * scale) ** 2
    assert Fraction(float(found.hi)) ** 2 >= square
    if scale > 1e-320:
        assert found.hi <= 5.66 * scale
    assert np.hypot(Interval(0, np.inf), 1.0).hi == np.inf


def test_plain_operands_on_either_side():
    x = Interval([1.0, 2.0], [2.0, 4.0])
    a = np.array([1.0, 10.0])
    for found in (x * a, a * x, np.multiply([1, 10], x), Interval(a) * x):
        assert isinstance(found, Interval)
        assert found.hi.tolist() == [2, 40]
    assert (1 - x).lo.tolist() == [-1, -3]
    assert (np.float64(8) / x).lo.tolist() == [4, 2]
    assert (x * Fraction(1, 2)).hi.tolist() == [1, 2]
    tenth = Interval(1) * Fraction(1, 10)
    assert Fraction(float(tenth.lo)) < Fraction(1, 10) < Fraction(float(tenth.hi))
    assert (x[:, None] + a).shape == (2, 2)
    assert isinstance(sum(x), Interval)
    with pytest.raises(errors.OptionError, match="NaN"):
        x + math.nan
    with pytest.raises(errors.InputTypeError, match="complex"):
        x * 1j
    with pytest.raises(ValueError, match="broadcast"):
        x + np.ones(3)
    assert (x + np.inf).hi.tolist() == [np.inf, np.inf]
    assert np.array_equal(np.maximum(x, -np.inf), x)


def test_comparisons_are_decided_or_raise():
    x = Interval([0.0, 2.0, 1.0], [1.0, 3.0, 1.0])
    assert (x < 4).all()
    assert (x <= [1.0, 3.0, 1.0]).tolist() == [True, True, True]
    assert (x[:2] > 1.5).tolist() == [False, True]
    assert (x != 9).all()
    assert (x[2] == 1).item() is True
    assert (x == x).all()
    assert not (x < x).any()
    assert bool(x[1])
    assert not Interval(0.0)
    with pytest.raises(errors.UndecidedError, match=r"\[0.0, 1.0\] < \[0.5, 0.5\]"):
        x < 0.5  # noqa: B015
    with pytest.raises(errors.UndecidedError, match=r"entry 1 \(2 of 3"):
        x.copy() == Interval([5.0, 2.0, 0.0], [6.0, 3.0, 2.0])  # noqa: B015
    with pytest.raises(errors.UndecidedError, match="smaller"):
        bool(Interval(-1, 1))
    with pytest.raises(ValueError, match="smaller"):
        max(Interval(0, 1), 0.5)
    assert np.argmax(x[:2]) == 1
    assert np.argmin(Interval([5.0, 0.0, 2.0], [6.0, 1.0, 3.0])) == 1
    assert np.argmax(Interval([1.0, 1.0])) == 0
    with pytest.raises(errors.UndecidedError, match="argmax"):
        np.argmax(Interval([0.0, 0.5], [1.0, 2.0]))
    assert not np.isnan(x).any()
    assert np.isfinite(x).all()
    assert np.isinf(Interval(0, np.inf))


def test_membership_and_measures():
    x = Interval([0.0, -1.0], [1.0, 3.0])
    assert [0.5, 0.0] in x
    assert [0.5, 4.0] not in x
    assert 0.5 in x
    assert Interval([0.0, 1.0], [0.5, 2.0]) in x
    assert [0.5] not in x
    assert x.contains([2.0, 2.0]).tolist() == [False, True]
    assert x.mid.tolist() == [0.5, 1.0]
    assert x.width.tolist() == [1.0, 4.0]
    assert x.rad.tolist() == [0.5, 2.0]
    line = Interval(-np.inf, np.inf)
    assert (line.mid, line.width, line.rad) == (0.0, np.inf, np.inf)
    assert np.isfinite(Interval(1, np.inf).mid)
    odd = Interval(0.1, 0.7)
    mid, rad = Fraction(float(odd.mid)), Fraction(float(odd.rad))
    assert mid - rad <= Fraction(0.1) < Fraction(0.7) <= mid + rad
    assert Fraction(float(odd.width)) >= Fraction(0.7) - Fraction(0.1)
    assert float(Interval(2.5)) == Interval([2.5]).item() == 2.5
    assert int(Interval(2)) == 2
    for convert in (float, int):
        with pytest.raises(errors.UnsupportedOperationError, match="mid"):
            convert(x[0])


ARRANGING = [
    lambda a: a[1], lambda a: a[..., None], lambda a: a[a.shape[0] - 1, ::-1],
    lambda a: a.T, lambda a: a.reshape(-1), lambda a: a.ravel(), lambda a: a.flatten(),
    lambda a: a.transpose(1, 0), lambda a: a[[1, 0], [2, 1]], lambda a: np.reshape(a, (4, 3)),
    lambda a: np.ravel(a), lambda a: np.transpose(a), lambda a: np.swapaxes(a, 0, 1),
    lambda a: np.moveaxis(a, 0, 1), lambda a: np.expand_dims(a, 1),
    lambda a: np.squeeze(a[:, :1]), lambda a: np.flip(a, 1), lambda a: np.roll(a, 2),
    lambda a: np.tile(a, 2), lambda a: np.repeat(a, 2, axis=1),
    lambda a: np.take(a, [0, 2], axis=0), lambda a: np.diag(a), lambda a: np.tril(a),
    lambda a: np.delete(a, 1, axis=0), lambda a: np.split(a, 2, axis=1)[1],
    lambda a: np.broadcast_to(a, (2, *a.shape)), lambda a: np.concatenate([a, a], axis=1),
    lambda a: np.stack([a, a]), lambda a: np.hstack([a, a]), lambda a: np.vstack([a, a]),
    lambda a: np.append(a, a), lambda a: np.copy(a), lambda a: np.atleast_2d(a[0]),
    lambda a: np.broadcast_arrays(a, a[0])[1], lambda a: np.column_stack([a[0], a[1]]),
    lambda a: np.where(np.eye(3, 4) > 0, a, -a), lambda a: np.max(a, axis=0),
    lambda a: np.min(a), lambda a: np.maximum.reduce(a), lambda a: np.sort(a),
    lambda a: np.clip(a, -1, 1), lambda a: np.zeros_like(a), lambda a: np.full_like(a, 2),
]  # fmt: skip
SUMMING = [
    lambda a: np.sum(a), lambda a: a.sum(0), lambda a: a.sum((0, 1), keepdims=True),
    lambda a: np.mean(a, axis=1), lambda a: np.prod(a, axis=0),
    lambda a: np.prod(a, (0, 1), keepdims=True), lambda a: np.cumsum(a, axis=1),
    lambda a: np.cumsum(a), lambda a: np.cumprod(a, axis=0), lambda a: np.diff(a, axis=0),
    lambda a: np.trace(a), lambda a: a @ a.T, lambda a: np.dot(a, a[0]),
    lambda a: a[0] @ a[1], lambda a: np.dot(a[0], a[1]), lambda a: np.dot(a[0, 0], a),
    lambda a: np.vdot(a, a), lambda a: np.inner(a, a), lambda a: np.outer(a, a[0]),
    lambda a: np.add.outer(a[0], a[1]), lambda a: np.add.reduce(a),
    lambda a: np.linalg.norm(a, axis=0), lambda a: np.linalg.norm(a),
    lambda a: a @ np.ones((4, 2)), lambda a: np.arange(3.0) @ a,
    lambda a: np.linalg.norm(a[0], 1), lambda a: np.linalg.norm(a[0], np.inf),
]  # fmt: skip


@pytest.mark.parametrize("f", ARRANGING)
def test_arranging_is_exact(f):
    x = some(3, 4)
    point = RNG.integers(-20, 20, (3, 4)) / 4
    kept = f(Interval(point))
    assert np.array_equal(kept.lo, f(point))
    assert np.array_equal(kept.hi, f(point))
    for t in (0.0, 0.4, 1.0):
        holds(f(x), f(members(x, t)))


@pytest.mark.parametrize("f", SUMMING)
def test_sums_and_products_contain_theirs(f):
    x = some(3, 4)
    found = f(x)
    for t in (0.0, 0.4, RNG.random((3, 4)), 1.0):
        v = f(members(x, t))
        holds(Interval(found.lo - 1e-12, found.hi + 1e-12), v)
    whole = RNG.integers(-5, 5, (3, 4)).astype(float)
    exact = f(Interval(whole))
    holds(exact, f(whole))
    assert np.all(exact.width <= 1e-14 * (1 + np.abs(exact.mid)))


def test_empty_arrays():
    x = Interval(np.zeros((0, 3)), np.ones((0, 3)))
    assert (x + x * x / 2).shape == (0, 3)
    assert x.sum(0).lo.tolist() == [0, 0, 0]
    assert np.prod(x, axis=0).hi.tolist() == [1, 1, 1]
    assert np.sqrt(x).shape == x.reshape(0, 3).shape
    assert (x < 1).shape == (0, 3)
    assert (x @ np.ones(3)).shape == (0,)
    assert list(x) == []
    assert Interval([]) in Interval([])


@pytest.mark.parametrize(
    "lose",
    [
        lambda x: np.asarray(x),
        lambda x: np.array([x, 1.0], dtype=float),
        lambda x: np.median(x),
        lambda x: np.linalg.inv(x),
        lambda x: np.einsum("i,i", x, x),
        lambda x: np.linalg.norm(x, 3),
        lambda x: np.multiply.reduce(x),
        lambda x: np.add.at(x, [0], 1.0),
        lambda x: np.add(x, x, where=[True, False]),
        lambda x: np.sum(x, dtype=np.float32),
        lambda x: np.nextafter(x, 1.0),
        lambda x: np.logical_and(x, x),
        lambda x: x.astype(np.float32),
        lambda x: np.take([1.0, 2.0], x),
        lambda x: [1.0, 2.0][x[0]],
    ],
)
def test_what_has_no_enclosure_is_refused_by_name(lose):
    with pytest.raises(TypeError, match=r"Interval|interval"):
        lose(Interval([1.0, 2.0], [1.5, 3.0]))


def test_the_contract():
    x = Interval([-3.0, 1.0], [2.0, 2.0])
    assert el.magnitude(x).tolist() == [3, 2]
    assert el.magnitude(x[0]) == 3
    assert el.magtype(Interval) is np.float64
    assert el.boundtype(Interval) is Upward
    assert [el.decided_sign(e) for e in (x[0], x[1], -x[1])] == [0, 1, -1]
    assert el.decided_one(Interval(1))
    assert not el.decided_one(Interval(1, 2))
    assert el.decided_zero(Interval(0))
    assert not el.decided_zero(Interval(-1, 1))
    assert el.separation(x, np.array([5.0, 0.0])).tolist() == [3, 1]
    assert el.separation(np.array([5.0, 1.5]), x).tolist() == [3, 0]
    assert el.separation(x[1], 4.0) == 2
    assert el.element_type(x) == np.float64
    with pytest.raises(errors.UnsupportedOperationError, match=r"\.mid"):
        el.as_element(x, np.float64)


def test_big_arrays_keep_their_views_and_flags():
    n = 100_003
    x = Interval(-RNG.random(n), RNG.random(n))
    y = (x * x + 0.5 - x)[::-1]
    t = members(x, RNG.random(n))
    slack = Interval(-1e-15, 1e-15)
    holds(y + slack, (t * t + 0.5 - t)[::-1])
    with np.errstate(all="raise"):
        huge = Interval(np.full(4, 1e308)) * 10
        assert huge.hi.tolist() == [np.inf] * 4
        assert np.isfinite(huge.lo).all()


def test_refused_functions_have_the_names_by_which_they_were_called():
    x = Interval([1.0, 2.0], [2.0, 3.0])
    for call, name in (
        (lambda: np.linalg.solve(np.eye(2), x), "numpy.linalg.solve is not"),
        (lambda: np.fft.fft(x), "numpy.fft.fft is not"),
        (lambda: np.median(x), "numpy.median is not"),
    ):
        with pytest.raises(errors.UnsupportedOperationError, match=name):
            call()
    with pytest.raises(errors.InputTypeError, match=r"type str; .*Fraction\(\)"):
        Interval("0.1")
