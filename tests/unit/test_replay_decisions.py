"""What a replay checks: every decision of a program, and what it refuses by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
import derivative_covers.numpy as dnp
from derivative_covers.errors import (
    BranchChangedError,
    DomainError,
    NondifferentiableError,
    ReplayError,
)
from derivative_covers.tape import _guards


def same_bits(a: Any, b: Any) -> None:
    assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


FLIPS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "scalar <": (lambda x: x[0] if x[0] < x[1] else x[2], "<"),
    "scalar >= constant": (lambda x: x[0] if x[1] >= 0.5 else x[2], ">="),
    "constant > scalar": (lambda x: x[0] if 0.5 > x[1] else x[2], "<"),  # noqa: SIM300
    "sorted": (lambda x: sorted(x)[0] * x[2], "<"),
    "builtin max": (lambda x: max(x) * x[0], ">"),
    "int": (lambda x: x[int(x[2])] * x[1], "int"),
    "truth": (lambda x: x[0] if x[0] - 1.0 else x[2], "!="),
    "array comparison": (lambda x: np.sum(x[x > 0.7]), ">"),
    "where": (lambda x: np.sum(np.where(x < x[::-1], x, 2 * x)), "<"),
    "contains": (lambda x: x[0] if 1.0 in x else x[1], "=="),
    "max": (lambda x: np.max(x) * x[0], "numpy.max"),
    "min": (lambda x: np.min(x) * x[0], "numpy.min"),
    "argmax": (lambda x: np.argmax(x) * x[0], "numpy.argmax"),
    "argmin": (lambda x: (np.argmin(x) + 1) * x[0], "numpy.argmin"),
    "sort": (lambda x: np.sort(x)[1] * x[0], "the order of entries"),
    "argsort": (lambda x: x[np.argsort(x)[0]], "the order of entries"),
    "partition": (lambda x: np.partition(x, 1)[0], "the order of entries"),
    "lexsort": (lambda x: x[np.lexsort((np.ones(3), x))[0]], "numpy.lexsort"),
    "median": (np.median, "the order of entries"),
    "quantile": (lambda x: np.quantile(x, 0.3), "the order of entries"),
    "unique": (lambda x: np.unique(x)[0], "numpy.unique"),
    "searchsorted": (
        lambda x: x[1] * np.searchsorted([0.7, 2.0], x[0]),
        "numpy.searchsorted",
    ),
    "digitize": (lambda x: x[1] * np.digitize(x[0], [2.0, 0.7]), "numpy.digitize"),
    "histogram": (
        lambda x: x[0] * np.histogram(x, [-2.0, 0.7, 9.0])[0][0],
        "numpy.histogram",
    ),
    "interp": (
        lambda x: np.interp(x[0], [0.0, 0.7, 9.0], [1.0, 2, 7]),
        "numpy.interp",
    ),
    "all": (lambda x: x[0] * (1 + np.all(x - 1.0)), "numpy.all"),
    "nonzero": (lambda x: x[0] * len(np.nonzero(x - 1.0)[0]), "numpy.nonzero"),
    "logical_and": (lambda x: x[0] + np.sum(np.logical_and(x - 1.0, 1)), "numpy.logical_and"),
    "array_equal": (lambda x: x[0] + np.array_equal(x, [1.0, 1, 1]), "numpy.array_equal"),
    "isin": (lambda x: x[0] + np.sum(np.isin(x, [1.0, 7.0])), "numpy.isin"),
    "signbit": (lambda x: x[0] + np.sum(np.signbit(x - 0.7)), "numpy.signbit"),
    "norm 0": (lambda x: x[0] * np.linalg.norm(x - 1.0, 0), "numpy.linalg.norm"),
    "norm of infinite order": (lambda x: np.linalg.norm(x, np.inf) * x[0], "numpy.max"),
    "trim_zeros": (lambda x: np.sum(np.trim_zeros(x - 1.0) ** 2), "numpy.trim_zeros"),
    "geomspace": (lambda x: np.sum(np.geomspace(x[0] - 0.7, x[0] - 3, 3)[0]), "numpy.geomspace"),
    "isfinite": (lambda x: x[0] + np.isfinite(1 / (x[0] - 1.0)), "numpy.isfinite"),
    "isposinf": (
        lambda x: x[0] + np.isposinf(1 / (x[0] - 1.0) ** 2),
        "numpy.isposinf",
    ),
    "floor_divide": (lambda x: x[0] + (x[1] // 0.5) * x[2], "numpy.floor_divide"),
    "cov": (lambda x: np.cov(x, aweights=2.75 - x), "numpy.cov"),
    "interp with a period": (
        lambda x: np.interp(0.3, x, [1.0, 2, 7], period=4.0),
        "numpy.interp",
    ),
    "logsumexp of weights": (
        lambda x: dnp.logsumexp(x, b=x - 1.0 + 0.0 * x[::-1]),
        "numpy.logsumexp",
    ),
    "asarray_chkfinite": (
        lambda x: x[1] + np.size(dnp.asarray_chkfinite(1 / (x - 1.0))),
        "numpy.asarray_chkfinite",
    ),
    "softmax": (lambda x: dnp.softmax(1900.0 * x)[0] + x[1], "the range of numpy.logsumexp"),
}  # fmt: skip
# The point of recording, and one where decisions come out differently.
HERE, THERE = [0.5, 0.25, 2.5], [1.0, 3.0, 0.25]


@pytest.mark.parametrize("name", FLIPS)
def test_a_decision_that_changes_is_named(name: str) -> None:
    f, decision = FLIPS[name]
    tape, _ = dc.tape_function(f, HERE)
    np.testing.assert_allclose(tape.replay(HERE).vals, tape.vals, rtol=1e-15)
    with pytest.raises(BranchChangedError, match="the decision by") as error:
        tape.replay(THERE)
    assert error.value.decision == decision
    assert error.value.then != error.value.now
    assert isinstance(error.value, ValueError)
    assert not tape.guards.reasons


def test_the_message_has_both_pairs_of_numbers() -> None:
    tape, _ = dc.tape_function(lambda x: x[0] if x[0] * 2 < x[1] else x[1], [1.0, 5.0])
    with pytest.raises(
        BranchChangedError, match=r"by < \(node 2 and node 1\).*2.0"
    ) as e:
        tape.replay([3.0, 5.0])
    assert (e.value.then, e.value.now) == ((2.0, 5.0), (6.0, 5.0))


def test_a_tie_or_nan_at_the_new_point_is_a_change() -> None:
    tape, _ = dc.tape_function(lambda x: x[0] if x[0] <= x[1] else x[1], [1.0, 5.0])
    with pytest.raises(BranchChangedError):
        tape.replay([5.0, 5.0])

    def f(x: Any) -> Any:
        y = np.log(x)
        return x[0] if y[0] < 3.0 and y[0] == y[0] else x[1]

    tape, _ = dc.tape_function(f, [1.0, 5.0])
    with pytest.raises(BranchChangedError, match="nan"):
        tape.replay([-1.0, 5.0])


CAUGHT: list[Callable[[Any], Any]] = [
    lambda x: x[0] < x[1],
    lambda x: bool(np.all(x > x[::-1])),
    lambda x: int(x[0]),
    lambda x: int(np.log(x[0] - 2.0)),
    np.argmax,
    np.argsort,
    lambda x: np.searchsorted([0.0, 2.0], x),
    lambda x: np.trim_zeros(x - 2.0),
]


@pytest.mark.parametrize("ask", CAUGHT)
def test_an_answer_that_was_refused_and_caught_is_a_decision(ask: Any) -> None:
    def f(x: Any) -> Any:
        try:
            ask(x)
        except (NondifferentiableError, DomainError):
            return 2.0 * x[0]
        return x[0] + x[1]

    tape, out = dc.tape_function(f, [2.0, 2.0])
    with pytest.raises(BranchChangedError):
        tape.replay([3.5, 2.25])
    assert tape.replay([2.0, 2.0]).vals[out] == 4.0


def test_missing_entries_stay_missing() -> None:
    def f(x: Any) -> Any:
        return np.nansum(np.log(x)) + np.sum(np.nan_to_num(1.0 / x, posinf=3.0))

    tape, out = dc.tape_function(lambda x: f(x) + x[0], [1.0, 2.0])
    for there in ([3.0, -2.0], [3.0, 0.0]):
        with pytest.raises(BranchChangedError):
            tape.replay(there)
    same_bits(tape.replay([3.0, 4.0]).vals[out], f(np.array([3.0, 4.0])) + 3.0)


def test_kinks_where_a_branch_is_taken_are_noted_anew() -> None:
    def f(x: Any) -> Any:
        low = x[0] if x[0] < x[1] else x[1]
        return low * np.max(x) + abs(x[2])

    tape, out = dc.tape_function(f, [1.0, 1.0, 0.0], kinks="branch")
    replayed = tape.replay([2.0, 2.0, 0.0])
    fresh, _ = dc.tape_function(f, [2.0, 2.0, 0.0], kinks="branch")
    assert replayed.kinks == fresh.kinks
    assert len(fresh.kinks) == 3
    smooth = tape.replay([2.0, 2.0, -1.0])
    assert len(smooth.kinks) == 2
    same_bits(dc.gradient(smooth, out), [2.0, 2.0, -1.0])
    with pytest.raises(BranchChangedError):
        tape.replay([1.0, 2.0, 0.0])


def test_kinks_and_domains_are_those_of_the_new_point() -> None:
    tape, out = dc.tape_function(
        lambda x: np.sum(np.abs(x)) + np.sqrt(x[0]), [1.0, 2.0]
    )
    with pytest.raises(NondifferentiableError):
        dc.gradient(tape.replay([1.0, 0.0]), out)
    with pytest.raises(DomainError):
        tape.replay([-1.0, 1.0])
    assert dc.gradient(tape.replay([4.0, -1.0]), out).tolist() == [1.25, -1.0]


def test_guards_as_columns() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.where(x > [0.0, 3.0], x, 2 * x)) if x[0] != 7 else x[0]

    tape, _ = dc.tape_function(f, [1.0, 2.0])
    table = tape.guards.table(tape)
    assert len(tape.guards) == 3
    rows = sorted(zip(*(c.tolist() for c in table), strict=True))
    assert rows == [
        (_guards.LESS, 1, -1, 0.0, 3.0),
        (_guards.GREATER, 0, -1, 0.0, 0.0),
        (_guards.UNEQUAL, 0, -1, 0.0, 7.0),
    ]
    empty, _ = dc.tape_function(np.sum, [1.0])
    assert all(column.size == 0 for column in empty.guards.table(empty))


def test_a_mask_or_constant_written_to_later_does_not_change_the_guard() -> None:
    def f(x: Any) -> Any:
        limit = np.array([0.0, 1.0])
        y = np.zeros_like(x)
        y[0] = x[0]
        chosen = y < limit
        limit[:] = 9.0
        y[0] = x[1]
        chosen[:] = True
        return np.sum(y[chosen] * 2.0)

    tape, out = dc.tape_function(f, [-1.0, 2.0])
    with pytest.raises(BranchChangedError):
        tape.replay([1.0, 2.0])
    assert tape.replay([-3.0, 5.0]).vals[out] == 10.0


# -- what cannot be replayed -----------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "value": (lambda x: x[0] * dc.value(x[1]), r"value\(\) was used"),
    "solve": (lambda x: np.sum(np.linalg.solve(np.diag(x), x)), "numpy.linalg.solve"),
    "det": (lambda x: np.linalg.det(np.outer(x, x) + np.diag(x)), "numpy.linalg.det"),
    "spectral norm": (lambda x: np.linalg.norm(np.outer(x, x), 2), "ord=2"),
    "unwrap": (lambda x: np.sum(np.unwrap(9 * x)), "numpy.unwrap"),
    "isclose": (lambda x: x[0] + np.isclose(x[0], 1.0), "numpy.isclose"),
    "arange": (lambda x: np.sum(dnp.arange(0.0, x[0])) + x[1], "numpy.arange"),
    "signbit of zero": (lambda x: x[0] + np.signbit(x[0] * 0.0), "signbit"),
    "bins": (lambda x: np.sum(np.histogram(x, "auto")[1]), "numpy.histogram"),
    "isin": (lambda x: x[0] + np.sum(np.isin(x, np.arange(9e4))), "numpy.isin"),
    "whole quotient": (lambda x: x[0] + (x[0] // 0.5) * 0.0, "numpy.floor_divide"),
    "remainder": (dc.with_numpy(lambda x: math.remainder(x[0], 0.7)), "math.remainder"),
    "frexp": (dc.with_numpy(lambda x: math.frexp(x[1] * 1.1)[0]), "math.frexp"),
    "math.isclose": (
        dc.with_numpy(lambda x: x[0] + math.isclose(x[0], 1)),
        "math.isclose",
    ),
    "hypot of large numbers": (
        dc.with_numpy(lambda x: math.hypot(x[0] * 1e150, x[1], 2.0)),
        "math.hypot",
    ),
    "large integer": (lambda x: x[0] if x[0] < 2**53 + 1 else x[1], "integer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_guard_can_hold_is_named(name: str) -> None:
    f, words = REFUSED[name]
    tape, _ = dc.tape_function(f, [1.5, 0.25])
    with pytest.raises(ReplayError, match=words):
        tape.replay([1.5, 0.25])


def test_linear_systems_with_a_constant_matrix_and_stop_gradient_are_replayed() -> None:
    a = np.array([[2.0, 1.0], [0.5, 3.0]])

    def f(x: Any) -> Any:
        return np.sum(np.linalg.solve(a, x) ** 2) * dc.stop_gradient(x[0])

    tape, out = dc.tape_function(f, [1.0, 2.0])
    replayed, there = tape.replay([3.0, -1.0]), [3.0, -1.0]
    np.testing.assert_allclose(replayed.vals[out], f(np.array(there)), rtol=1e-14)
    np.testing.assert_allclose(
        dc.gradient(replayed, out), dc.gradient(f, there), rtol=1e-13
    )


def test_rewritten_math_tells_what_it_decided_by() -> None:
    def f(x: Any) -> Any:
        found = math.hypot(x[0], x[1], 2.0) if not math.isnan(np.sqrt(x[0])) else x[1]
        found = found * 1 if math.isfinite(1 / (x[1] - 3.5)) else found
        text = "%g" % x[0]  # noqa: UP031 - printing decides nothing
        return found * len(text[:1])

    tape, out = dc.tape_function(f, [1.0, 2.0], numpy="rewrite")
    fresh, _ = dc.tape_function(f, [5.0, 3.0], numpy="rewrite")
    same_bits(tape.replay([5.0, 3.0]).vals[out], fresh.vals[out])
    with pytest.raises(BranchChangedError):
        tape.replay([1e150, 1.0])
    with pytest.raises(BranchChangedError, match=r"math\.isnan"):
        tape.replay([-1.0, 1.0])
    with pytest.raises(BranchChangedError, match=r"math\.isfinite"):
        tape.replay([1.0, 3.5])
