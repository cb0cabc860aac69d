"""Replay of a recorded program at another point: values, guards, and what forbids it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    BranchChangedError,
    DomainError,
    ReplayError,
    ShapeError,
)
from derivative_covers.extend import (
    UnaryCurvature,
    blackbox,
    noderef,
    pushnode,
    unarynode,
)
from derivative_covers.tape._replay import HOOKS
from tests._programs import PROGRAMS

FEW_ULP = ("einsum_forms", "norms_over_axes")  # another order of additions


def same_bits(a: Any, b: Any) -> None:
    assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_replay_has_the_bits_of_a_recording_there(program: Any) -> None:
    x0 = np.asarray(program.x0)
    there = x0 * 1.0003 + 1e-5
    tape, out = dc.tape_function(program, x0)
    replayed, (fresh, _) = tape.replay(there), dc.tape_function(program, there)
    if program.name in FEW_ULP:
        np.testing.assert_allclose(replayed.vals, fresh.vals, rtol=1e-14)
        return
    same_bits(replayed.vals, fresh.vals)
    same_bits(dc.gradient(replayed, out), dc.gradient(fresh, out))
    if not program.name.startswith(("s", "h")):  # a few are enough
        return
    v = np.cos(np.arange(x0.size)).reshape(x0.shape)
    same_bits(dc.hvp(replayed, out, v), dc.hvp(fresh, out, v))
    for merge in ("sum", "quadrature"):
        covers = [dc.cover_hessian(t, out, merge=merge).h for t in (replayed, fresh)]
        same_bits(*covers)


# -- explicit nodes --------------------------------------------------------------------


def test_explicit_nodes_need_a_rule() -> None:
    tape, _ = dc.tape_function(lambda x: unarynode(x[0], 1.0, 2.0, 3.0), [1.0])
    with pytest.raises(ReplayError, match="node 1 was recorded explicitly"):
        tape.replay([2.0])

    def rule(values: Any) -> Any:
        (v,) = values
        return v**3, [3 * v * v], UnaryCurvature(6 * v)

    def cube(x: Any) -> Any:
        tape, k = noderef(x)
        return pushnode(tape, None, [k], None, None, replay=rule)

    tape, out = dc.tape_function(lambda x: cube(x[0] * 2) * x[1], [1.0, 2.0])
    replayed = tape.replay([0.5, 4.0])
    assert replayed.vals[out] == 4.0
    assert dc.hessian(replayed, out).tolist() == [[96.0, 6.0], [6.0, 0.0]]
    loaded = pickle.loads(pickle.dumps(replayed))
    assert dc.gradient(loaded, out).tolist() == [24.0, 1.0]
    with pytest.raises(ReplayError, match="explicitly"):  # functions are not pickled
        loaded.replay([0.5, 4.0])


def test_black_boxes_are_called_again() -> None:
    a = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 4.0]])

    def energy(x: Any) -> Any:
        x[2] *= 2.0  # a copy of the user's own
        return x @ a @ x / 2

    box = blackbox(
        lambda x: energy(x.copy()), lambda x: a @ x * [1, 1, 4], lambda x: a * 1.0
    )
    tape, out = dc.tape_function(lambda x: box([x[0], 7.0, x[1]]) + x[0], [1.0, 2.0])
    fresh, _ = dc.tape_function(lambda x: box([x[0], 7.0, x[1]]) + x[0], [3.0, -2.0])
    replayed = tape.replay([3.0, -2.0])
    same_bits(replayed.vals, fresh.vals)
    same_bits(dc.gradient(replayed, out), dc.gradient(fresh, out))
    scalar = blackbox(np.sin, np.cos, lambda x: -np.sin(x))
    tape, out = dc.tape_function(lambda x: scalar(x), 1.0)
    assert dc.gradient(tape.replay(2.0), out) == np.cos(2.0)


# -- kinds of tapes --------------------------------------------------------------------


def test_structured_complex_and_single_inputs() -> None:
    def f(p: Any) -> Any:
        return p["a"] * np.sum(p["b"] ** 2)

    tape, out = dc.tape_function(f, {"a": 2.0, "b": [3.0, 1.0]})
    found = dc.gradient(tape.replay({"a": 1.0, "b": [0.5, 2.0]}), out)
    assert found["a"] == 4.25
    assert found["b"].tolist() == [1.0, 4.0]
    z = np.array([1.0 + 2.0j, 0.5j])
    tape, out = dc.tape_function(lambda x: np.sum(np.exp(x) * x[0]), z)
    fresh, _ = dc.tape_function(lambda x: np.sum(np.exp(x) * x[0]), 2 * z)
    same_bits(tape.replay(2 * z).vals, fresh.vals)
    single = np.array([1.0, 2.0], dtype=np.float32)
    tape, out = dc.tape_function(lambda x: x[0] * 0.1 if x[0] < 3.1 else x[1], single)
    replayed = tape.replay(2 * single)
    assert replayed.vals.dtype == np.float32
    assert replayed.vals[out] == np.float32(2.0) * np.float32(0.1)


def test_a_replay_can_be_replayed_and_pickled_and_leaves_the_first_alone() -> None:
    def f(x: Any) -> Any:
        y = x[0]
        for _ in range(100):  # each needs the one before
            y = np.sin(y) * x[1] + (y if y > 0 else 1 / y)
        return y

    tape, out = dc.tape_function(f, [1.0, 0.5])
    before = tape.vals.copy()
    second = pickle.loads(pickle.dumps(tape.replay([1.25, 0.5]))).replay([1.5, 0.75])
    fresh, _ = dc.tape_function(f, [1.5, 0.75])
    same_bits(second.vals, fresh.vals)
    same_bits(dc.gradient(second, out), dc.gradient(fresh, out))
    same_bits(tape.vals, before)


def test_long_runs_are_compacted_while_recording() -> None:
    def f(x: Any) -> Any:
        total = x[0]
        for _ in range(70_000):
            if total > 0.0:
                total = total * 1.0001
        return np.sum(np.stack([total, x[0]]))

    tape, _ = dc.tape_function(f, [1.0])
    assert len(tape.guards.scalars) < 5 * 70_000
    assert len(tape.guards) == 70_000
    with pytest.raises(BranchChangedError):
        tape.replay([-1.0])


def test_a_propagation_without_a_tape_keeps_no_guards() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append(x.tape)
        return np.sum(np.sort(x) * x) if x[0] > 0 else x[0]

    dc.forward_cover(f, [1.0, 3.0, 2.0])
    assert len(seen[0].guards) == 0


def test_compiled_values_and_batches_come_through_hooks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tape, out = dc.tape_function(lambda x: np.sum(x * x), [1.0, 2.0])
    monkeypatch.setattr(HOOKS, "values", lambda tape, x: np.append([*x, *x * x], 7.0))
    monkeypatch.setattr(HOOKS, "batch", lambda tape, X: X.shape)
    assert tape.replay([3.0, 4.0]).vals.tolist() == [3.0, 4.0, 9.0, 16.0, 7.0]
    assert dc.gradient(tape.replay([3.0, 4.0]), out).tolist() == [6.0, 8.0]
    assert tape.replay(np.ones((5, 2))) == (5, 2)
    monkeypatch.setattr(HOOKS, "values", lambda tape, x: None)
    assert tape.replay([3.0, 4.0]).vals[out] == 25.0


def test_a_tape_over_a_box_is_refused() -> None:
    tape, _ = dc.tape_function(np.sum, dc.Interval([1.0, 2.0], [2.0, 3.0]))
    with pytest.raises(ReplayError, match="box"):
        tape.replay([1.0, 2.0])


def test_points_that_do_not_fit() -> None:
    tape, _ = dc.tape_function(np.sum, [1.0, 2.0])
    with pytest.raises(ShapeError, match="shape"):
        tape.replay([1.0, 2.0, 3.0])
    with pytest.raises(ShapeError, match="shape"):
        tape.replay(np.ones((5, 2, 2)))
    with pytest.raises(DomainError):
        tape.replay([1.0, np.nan])
    tape.discard()
    with pytest.raises(ReplayError, match="discarded"):
        tape.replay([1.0, 2.0])
