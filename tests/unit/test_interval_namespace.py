"""Rules evaluated on intervals: open conditions, hulls and enclosed constants."""

from __future__ import annotations

import math

import numpy as np
import pytest

from derivative_covers import Interval, errors
from derivative_covers.elements import _interval_namespace as xp
from derivative_covers.elements._interval_ufuncs import _elementary, set_elementary


def huber(xp, x):
    size = xp.abs(x)
    return xp.where(size <= 1.0, 0.5 * x * x, size - 0.5)


@pytest.mark.parametrize(
    "rule",
    [
        huber,
        lambda xp, x: xp.where(
            (x > -1.0) & (x < 1.0), xp.square(x), 1.0 / xp.square(x)
        ),
        lambda xp, x: xp.where((x <= -1.0) | ~(x < 1.0), 2.0 * x, -x),
        lambda xp, x: xp.where(xp.logical_not(x > 0.0), 0.0, xp.sqrt(x)),
        lambda xp, x: (x > 0.5) * x,
        lambda xp, x: xp.maximum(x, 0.0) ** 2 + xp.sign(x) * xp.floor(x),
        lambda xp, x: xp.where(x == 0.0, 1.0, xp.copysign(2.0, x)),
        lambda xp, x: xp.where(x != x, xp.nan_to_num(0.0), xp.minimum(x, 1.0)),
    ],
)
def test_rules_contain_their_values(rule):
    rng = np.random.default_rng(2)
    lo = rng.integers(-8, 8, 300) / 4
    hi = lo + rng.random(300) * rng.integers(0, 3, 300)
    found = rule(xp, xp.lift((lo, hi)))
    assert isinstance(found, Interval)
    for t in np.linspace(0, 1, 11):
        with np.errstate(all="ignore"):
            v = rule(np, np.clip(lo + t * (hi - lo), lo, hi))
        slack = 1e-14 * (1 + np.abs(v))
        assert np.all((found.lo - slack <= v) & (v <= found.hi + slack))


def test_decided_rules_are_tight():
    x = xp.lift(([2.0, 0.0, -0.5], [3.0, 0.5, 2.0]))
    found = huber(xp, xp.lift((np.array([2.0, 0.0, -0.5]), np.array([3.0, 0.5, 2.0]))))
    assert found.lo[:2].tolist() == [1.5, 0.0]
    assert found.hi.tolist() == [2.5, 0.125, 2.0]
    assert xp.asarray(x) is x


def test_answers_that_must_be_known_raise():
    x = xp.lift((np.array([-1.0, 2.0]), np.array([1.0, 3.0])))
    positive = x > 0
    assert positive.any()
    assert (x > -2).all()
    assert not (x > 2.5)[:1].all()
    assert positive.shape == (2,)
    for ask in (lambda: positive.all(), lambda: bool(positive[0])):
        with pytest.raises(errors.UndecidedError, match=r"xp\.where"):
            ask()
    assert bool(positive[1])
    both = (x > 0) ^ (x > 5)
    assert both.yes.tolist() == [False, True]
    with pytest.raises(errors.UnsupportedOperationError, match="condition"):
        np.sum(positive)


def test_constants_are_enclosed():
    assert math.pi in xp.pi
    assert xp.pi.lo < xp.pi.hi
    assert 2 * xp.e.hi > 2 * math.e
    assert isinstance(xp.sqrt(2.0), Interval)
    assert xp.sqrt(2.0).lo < xp.sqrt(2.0).hi
    assert xp.finfo(xp.lift(1.0).dtype).tiny == np.finfo(float).tiny
    assert xp.ones_like(xp.lift(1.0), dtype=bool).item() is True
    with pytest.raises(AttributeError):
        xp.no_such_function  # noqa: B018


def test_ufuncs_without_a_rule_go_to_what_was_registered():
    kept = list(_elementary)
    x = Interval(0.0, 1.0)
    try:
        _elementary.clear()
        with pytest.raises(errors.UnsupportedOperationError, match="exp"):
            np.exp(x)
        asked = []

        def enclose(ufunc, operands):
            asked.append((ufunc.__name__, len(operands)))
            return (operands[0][0] + 1, operands[0][1] + 2) if ufunc is np.exp else None

        set_elementary(enclose)
        assert np.exp(x).hi == 3
        assert isinstance(xp.exp(0.0), xp.NaturalInterval)
        with pytest.raises(errors.UnsupportedOperationError, match="sin"):
            np.sin(x)
        with pytest.raises(errors.UnsupportedOperationError, match="power"):
            x**0.3
        assert asked == [("exp", 1), ("exp", 1), ("sin", 1), ("power", 2)]
    finally:
        _elementary[:] = kept
