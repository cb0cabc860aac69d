"""Every call of the table over a box: it encloses, or says that it cannot decide."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    DomainError,
    NondifferentiableError,
    UndecidedError,
    UnsupportedOperationError,
)
from derivative_covers.tape._hints import public_name
from derivative_covers.tape._over_box import ANSWERS, SAFE
from derivative_covers.tape._protocol import FUNCTIONS
from derivative_covers.tape._tarray import TArray
from tests._numpy_calls import BY_NAME, CALLS, Call

pytest.importorskip("flint")
REFUSALS = (
    DomainError,
    NondifferentiableError,
    UndecidedError,
    UnsupportedOperationError,
)
_lin: Any = np.linalg


def _refilled(y: Any, x: Any) -> Any:
    y[...] = x  # what stands there before may be anything
    return y


# Functions of the table of rules that the table of calls reaches under other names.
MORE = [
    ("all", (3,), lambda xp, x: xp.all(x)),
    ("any axis", (3, 2), lambda xp, x: xp.any(x, axis=0)),
    ("flatnonzero", (4,), lambda xp, x: xp.flatnonzero(x)),
    ("logical_and", (4,), lambda xp, x: xp.logical_and(x, x > 0)),
    ("logical_or", (4,), lambda xp, x: xp.logical_or(x > 0, x < 0)),
    ("logical_xor", (4,), lambda xp, x: xp.logical_xor(x, x > 0)),
    ("logical_not", (4,), lambda xp, x: xp.logical_not(x)),
    ("logical_and.reduce", (4,), lambda xp, x: xp.logical_and.reduce(x)),
    ("floor_divide", (4,), lambda xp, x: xp.floor_divide(x, 0.7)),
    ("ones_like", (4,), lambda xp, x: xp.ones_like(x) * x),
    ("empty_like", (4,), lambda xp, x: _refilled(xp.empty_like(x), x)),
    ("norm 0", (4,), lambda xp, x: _lin.norm(x, 0)),
    ("norm 1", (3, 4), lambda xp, x: _lin.norm(x, 1)),
    ("norm 3", (4,), lambda xp, x: _lin.norm(x, 3)),
    ("norm inf", (3, 4), lambda xp, x: _lin.norm(x, np.inf, axis=0)),
    ("norm 2 of matrices", (3, 3), lambda xp, x: _lin.norm(x, 2)),
    ("norm nuc", (3, 3), lambda xp, x: _lin.norm(x, "nuc")),
    ("norm fro", (3, 3), lambda xp, x: _lin.norm(x, "fro")),
    ("multi_dot", (3, 3), lambda xp, x: _lin.multi_dot([x, x.T, x])),
    ("matrix_power", (3, 3), lambda xp, x: _lin.matrix_power(x, 3)),
    ("matrix_power -1", (3, 3), lambda xp, x: _lin.matrix_power(x, -1)),
    ("solve", (3, 3), lambda xp, x: _lin.solve(x, np.ones(3))),
    ("solve right", (3,), lambda xp, x: _lin.solve(np.eye(3) * 3.0, x)),
    ("inv", (3, 3), lambda xp, x: _lin.inv(x)),
    ("det", (3, 3), lambda xp, x: _lin.det(x)),
    ("cholesky", (2,), lambda xp, x: _lin.cholesky(xp.diag(x * x + 1.0))),
    ("lstsq", (3, 2), lambda xp, x: _lin.lstsq(x, np.ones(3))[0]),
    ("eigvalsh", (2,), lambda xp, x: _lin.eigvalsh(xp.diag(x))),
    ("isnan", (4,), lambda xp, x: xp.isnan(x)),
    ("isfinite", (4,), lambda xp, x: xp.isfinite(x)),
    ("signbit", (4,), lambda xp, x: xp.signbit(x)),
    ("int", (), lambda xp, x: int(x * 3.0)),
    ("bool", (), lambda xp, x: bool(x)),
    ("compare", (4,), lambda xp, x: x > x[0]),
    ("equal", (4,), lambda xp, x: x == x),
    ("contains", (4,), lambda xp, x: 7.0 in x),
    ("shape only", (3, 2), lambda xp, x: xp.size(x) + xp.ndim(x)),
    ("result_type", (3,), lambda xp, x: xp.result_type(x) is np.dtype(np.float64)),
    ("modf parts", (3,), lambda xp, x: xp.modf(x)[1]),
]
TABLE: dict[str, Call] = {
    **BY_NAME,
    **{f"more: {name}": Call(name, shape, f) for name, shape, f in MORE},
}


def enclosed(call: Call, box: Any) -> Any:
    """What the call gives over a box: intervals, or a plain answer."""
    seen: list[Any] = []

    def program(z: Any) -> Any:
        y = call.f(np, z)
        if isinstance(y, TArray):  # no number hides behind a node
            assert np.isnan(y.v[y.node_ids() >= 0]).all()
        seen.append(dc.value(y))
        return z

    dc.tape_function(program, box)
    return seen[0]


def plain(call: Call, x0: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(call.f(np, np.array(x0)))


def points(box: Any, rng: Any) -> list[Any]:
    lo, hi = np.asarray(box.lo), np.asarray(box.hi)
    found = [lo, hi]
    for _ in range(4):
        t = rng.random(lo.shape)
        found.append(np.clip(lo + t * (hi - lo), lo, hi))
        found.append(np.where(rng.random(lo.shape) < 0.5, lo, hi))
    return found


def check(call: Call, radius: float) -> bool:
    rng = np.random.default_rng(3)
    x0 = np.asarray(call.x0)
    box = dc.Interval(x0 - radius, x0 + radius)
    try:
        found = enclosed(call, box)
    except REFUSALS:
        return False
    for x in points(box, rng):
        y = plain(call, x)
        if isinstance(found, dc.Interval):
            assert np.shape(found.lo) == y.shape
            slack = 1e-12 * (1.0 + np.abs(y).max(initial=0.0))
            assert (found.lo - slack <= y).all(), (found, y)
            assert (y <= found.hi + slack).all(), (found, y)
        else:
            assert np.array_equal(np.asarray(found), y, equal_nan=True)
    return True


@pytest.mark.parametrize("name", TABLE)
def test_calls_enclose_or_refuse(name: str) -> None:
    for radius in (0.0, 1e-3, 0.4):
        check(TABLE[name], radius)


def test_most_calls_enclose() -> None:
    some = [call for k, call in enumerate(CALLS) if k % 5 == 0]
    assert np.mean([check(call, 0.0) for call in some]) > 0.9
    assert np.mean([check(call, 0.4) for call in some]) > 0.65


def test_functions_that_nobody_named_are_refused_by_name() -> None:
    box = dc.Interval([[1.0, 2.0], [3.0, 4.0]], [[1.5, 2.5], [3.5, 4.5]])
    others = [f for f in FUNCTIONS if f not in SAFE and f not in ANSWERS]
    assert 20 < len(others) < 60
    for function in others:
        n = getattr(function, "nin", 0) or sum(
            p.default is p.empty
            and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in inspect.signature(function).parameters.values()
        )

        def program(x: Any, function: Any = function, n: int = n) -> Any:
            with pytest.raises(UnsupportedOperationError) as refused:
                function(*[x] * n)
            assert public_name(function) in str(refused.value)
            return x

        dc.tape_function(program, box)
