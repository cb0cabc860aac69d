"""Every NumPy function in the table: a replay is a recording there, or raises."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    BranchChangedError,
    DerivativeError,
    DomainError,
    ReplayError,
)
from tests._numpy_calls import CALLS, Call, total

# Rules that look at values in a way that no guard holds.
NAMED = ("allclose", "isclose", "polydiv", "spacing", "unwrap")
CONSTANT = ("select plain",)


def agrees(tape: Any, out: Any, f: Any, there: Any) -> bool:
    """Whether there is a replay, which then equals a recording at that point."""
    try:
        replayed = tape.replay(there)
    except (BranchChangedError, DomainError):
        return False
    fresh, other = dc.tape_function(f, there)
    np.testing.assert_allclose(
        replayed.vals[out], fresh.vals[other], rtol=1e-11, atol=1e-11
    )
    found = dc.gradient(replayed, out)
    expected = dc.gradient(fresh, other)
    np.testing.assert_allclose(
        found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()
    )
    return True


def points(call: Call) -> list[Any]:
    """A point near by, where decisions stay, and one far away, where many change."""
    rng = np.random.default_rng(7)
    return [call.x0 + 1e-5 * rng.normal(size=call.shape), rng.normal(size=call.shape)]


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c.name)
def test_a_replay_equals_a_recording_or_raises(call: Call) -> None:
    if call.name in CONSTANT:
        return

    def f(x: Any) -> Any:
        return total(np, call.f(np, x))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tape, out = dc.tape_function(f, call.x0)
        near, far = points(call)
        if call.name.startswith(NAMED):
            with pytest.raises(ReplayError):
                tape.replay(near)
            return
        assert agrees(tape, out, f, near)
        agrees(tape, out, f, far)


# Plain answers, which carry no derivative: as factors they must not go stale.
ANSWERS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: np.all(x > 0),
    "any of values": np.any,
    "argwhere": np.argwhere,
    "count_nonzero": np.count_nonzero,
    "flatnonzero": np.flatnonzero,
    "nonzero": lambda x: np.nonzero(x)[0],
    "nonzero method": lambda x: x.nonzero()[0],
    "logical_and": lambda x: np.logical_and(x, x[::-1]),
    "logical_not": np.logical_not,
    "logical_or reduce": np.logical_or.reduce,
    "logical_xor": lambda x: np.logical_xor(x, 0.0),
    "isnan": lambda x: np.isnan(np.sqrt(x)),
    "isfinite": lambda x: np.isfinite(1 / x),
    "isinf": lambda x: np.isinf(1 / x),
    "isposinf": lambda x: np.isposinf(1 / x),
    "signbit": lambda x: np.signbit(x + 0.05),
    "scalar isnan": lambda x: np.isnan(np.log(x[0])),
    "scalar isfinite": lambda x: np.isfinite(1 / x[0]),
    "argmax": np.argmax,
    "argmin axis": lambda x: np.argmin(x.reshape(2, 2), axis=1),
    "nanargmax": np.nanargmax,
    "argsort": np.argsort,
    "argpartition": lambda x: np.argpartition(x, 1),
    "lexsort": lambda x: np.lexsort((x, np.ones(4))),
    "lexsort of two": lambda x: np.lexsort((x, np.round(x[::-1]) * 0.0)),
    "searchsorted": lambda x: np.searchsorted([-0.5, 0.1, 1.0], x),
    "searchsorted right": lambda x: np.searchsorted(np.sort(x), 0.25, side="right"),
    "searchsorted sorter": lambda x: np.searchsorted([1.0, -1.0], x, sorter=[1, 0]),
    "digitize": lambda x: np.digitize(x, [-0.5, 0.1, 1.0]),
    "digitize back": lambda x: np.digitize(x, [1.0, 0.1, -0.5], right=True),
    "histogram": lambda x: np.histogram(x, [-4.0, -0.5, 0.1, 4.0])[0],
    "histogram of bins": lambda x: np.histogram(x, 3)[0],
    "histogram of a range": lambda x: np.histogram(x, 3, (-1.0, 1.0))[0],
    "unique size": lambda x: np.unique(np.floor(x)).size,
    "unique index": lambda x: np.unique(x, return_index=True)[1],
    "unique inverse": lambda x: np.unique(x, return_inverse=True)[1],
    "isin": lambda x: np.isin(np.sign(x), [1.0, 0.0]),
    "setdiff1d size": lambda x: np.setdiff1d(np.sign(x), [1.0]).size,
    "array_equal": lambda x: np.array_equal(np.abs(x), x),
    "array_equiv": lambda x: np.array_equiv(np.sign(x), 1.0),
    "trim_zeros": lambda x: np.trim_zeros(np.maximum(x, 0.0)).size,
    "norm 0": lambda x: np.linalg.norm(np.maximum(x, 0.0), 0),
    "matrix_rank": lambda x: np.linalg.matrix_rank(np.diag(np.maximum(x, 0.0))),
    "slogdet": lambda x: np.linalg.slogdet(np.diag(x))[0],
    "allclose": lambda x: np.allclose(x, np.abs(x)),
    "isclose": lambda x: np.isclose(x, np.abs(x)),
    "spacing": np.spacing,
    "min_scalar_type": lambda x: np.min_scalar_type(x[0]).itemsize,
    "result_type": lambda x: np.result_type(x, np.float32).itemsize,
    "int": lambda x: int(4 * x[0]),
    "bool": lambda x: bool(x[0] > x[1]),
    "equality": lambda x: np.sign(x) == np.sign(x[::-1]),
    "difference": lambda x: np.sign(x[0]) != np.sign(x[1]),
    "value": lambda x: dc.value(x),
    "contains": lambda x: 1.0 in np.sign(x[:2]),
    "isreal": np.isreal,
    "median of signs": lambda x: int(np.median(np.sign(x)) * 2 + 0.5),
    "where of one": lambda x: np.where(x > 0.1)[0],
    "extract size": lambda x: np.extract(x > 0.1, x).size,
    "text": lambda x: len(str(x)[:1]),
}


UNGUARDED = (
    "allclose",
    "isclose",
    "matrix_rank",
    "min_scalar_type",
    "slogdet",
    "spacing",
    "value",
)


@pytest.mark.parametrize("name", ANSWERS)
def test_plain_answers_do_not_go_stale(name: str) -> None:
    answer = ANSWERS[name]

    def f(x: Any) -> Any:
        plain = np.ravel(np.asarray(answer(x), dtype=float))
        return x[0] * (1.0 + plain @ np.sqrt(np.arange(1.0, plain.size + 1.0)))

    rng = np.random.default_rng(3)
    here = np.array([0.6, -0.4, 1.3, 0.2])
    tape, out = dc.tape_function(f, here, kinks="branch")
    if name in UNGUARDED:
        with pytest.raises(ReplayError):
            tape.replay(here)
        return
    tape.replay(here * 1.001)
    for there in [
        np.array([0.0, -0.4, 0.0, 0.2]),
        -here,
        here[::-1].copy(),
        *rng.normal(size=(5, 4)),
    ]:
        try:
            replayed = tape.replay(there)
        except DerivativeError:
            continue
        fresh, other = dc.tape_function(f, there, kinks="branch")
        assert replayed.vals[out] == fresh.vals[other]
