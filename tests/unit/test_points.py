"""A recording at many points: what `tape.replay(X)` gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import BranchChangedError, DomainError, ReplayError
from derivative_covers.replay import _batch
from derivative_covers.replay._batch import Batch
from derivative_covers.replay._machine import addresses
from derivative_covers.replay._workers import shared
from derivative_covers.replay.kernels._kinds import (
    GATHER,
    GRADIENT,
    KIND,
    LANES,
    LINEAR,
)

RNG = np.random.default_rng(11)


def f(x: Any) -> Any:
    return np.sum(np.sqrt(x) * x[::-1]) + (x[0] ** 2 if x[0] > 1.0 else x[1])


def test_many_points_are_those_of_single_replays() -> None:
    tape, out = dc.tape_function(f, [2.0, 3.0, 4.0])
    X = RNG.uniform(1.1, 2.0, size=(40, 3))
    points = tape.replay(X)
    assert len(points) == 40
    values, gradients, h = points.values(out), points.gradients(out), points.covers(out)
    for k in (0, 17, 39):
        there = tape.replay(X[k])
        np.testing.assert_allclose(values[k], there.vals[out], rtol=1e-14)
        np.testing.assert_allclose(gradients[k], dc.gradient(there, out), rtol=1e-13)
        np.testing.assert_allclose(h[k], dc.cover_hessian(there, out).h, rtol=1e-13)


def test_several_outputs_and_shapes() -> None:
    tape, outs = dc.tape_function(lambda x: x @ x, np.eye(2))
    X = RNG.normal(size=(5, 2, 2))
    found = tape.replay(X).values(outs)
    np.testing.assert_allclose(found, X @ X, rtol=1e-13)
    one = int(outs[0, 1])
    assert tape.replay(X).gradients(one).shape == (5, 2, 2)
    assert tape.replay(X[:0]).values(outs).shape == (0, 2, 2)


def every_instruction(x: Any) -> Any:
    """Contiguous, strided, listed and single operands; sums; two slots; a dead node."""
    y = x[:17]
    flat = np.sum(-0.0 * np.logaddexp(y[:9], y[8:]))
    pairs = np.sum(np.logaddexp(y[:9], y[8:]) * (y[1:10] - y[:9] ** 2))
    apart = np.sum(y[:9] * y[::-2]) + np.mean(y[[3, 1, 4, 0, 5, 9, 2, 6, 16, 13]] ** 2)
    loop = sum(y[i] * y[i + 1] for i in range(4)) - (y[0] - y[16])
    return flat + pairs + apart + (y @ y) + loop + np.sum(y[5:14])


def test_the_first_to_reach_an_operand_writes_the_bits_of_an_addition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_batch, "MANY", 10_000)  # instructions stay what they are
    X = RNG.uniform(0.5, 2.0, size=(1100, 18))  # points for two threads
    tape, out = dc.tape_function(every_instruction, X[0])
    batch = Batch(tape, out)
    _, g, _, failed = batch.sweep(X, GRADIENT)
    assert not failed.any()
    vl, _, f2, marks, ranges = batch._found[GRADIENT, True]
    kinds = batch.tables.code[: marks.size, KIND]
    for some in (LANES, GATHER, LINEAR):
        assert marks[kinds == some].any()
    assert not marks.all()
    assert np.diff(ranges).sum() < batch.tables.size
    whole = np.array([[0, batch.tables.size]])
    fl = addresses(batch.tables, "adjoint", None)
    batch._found[GRADIENT, True] = vl, fl, f2, np.zeros_like(marks), whole
    assert batch.sweep(X, GRADIENT)[1].tobytes() == g.tobytes()
    for k in (0, 600, 1099):
        expected = dc.gradient(every_instruction, X[k])
        np.testing.assert_allclose(g[k], expected, rtol=1e-12)


def test_work_is_shared_with_threads_whose_errors_arrive() -> None:
    left = iter(range(40))
    done: list[int] = []

    def work() -> None:
        for k in left:
            done.append(k)
            if k == 30:
                msg = "of a thread or of the caller"
                raise ReplayError(msg)

    with pytest.raises(ReplayError, match="of a thread"):
        shared(work, 4)
    shared(work, 4)
    assert sorted(done) == list(range(40))


def test_a_point_on_another_branch_raises() -> None:
    tape, out = dc.tape_function(f, [2.0, 3.0, 4.0])
    X = np.full((3, 3), 1.5)
    X[1, 0] = 0.5
    with pytest.raises(BranchChangedError):
        tape.replay(X).gradients(out)
    X[1] = [1.5, -1.0, 2.0]
    with pytest.raises(DomainError, match="sqrt"):
        tape.replay(X).gradients(out)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_other_types_are_evaluated_one_by_one(dtype: Any) -> None:
    tape, out = dc.tape_function(lambda x: np.sum(x**3), np.ones(2, dtype=dtype))
    X = np.array([[1.0, 2.0], [0.5, -1.0]], dtype=dtype)
    points = tape.replay(X)
    np.testing.assert_allclose(points.gradients(out), 3 * X**2, rtol=1e-6)
    assert points.gradients(out).dtype == dtype


def test_what_cannot_be_replayed_is_refused() -> None:
    tape, _ = dc.tape_function(lambda x: x[0] * dc.value(x[1]), [2.0, 3.0])
    with pytest.raises(ReplayError, match="value"):
        tape.replay([[1.0, 2.0], [2.0, 3.0]])


def test_a_point_that_is_not_finite_is_named() -> None:
    compiled = dc.compile(lambda x: np.sum(1 / x), np.ones(3))  # 1 / inf is finite
    X = np.ones((5, 3))
    X[3, 1] = np.inf
    for many in (compiled.values, compiled.gradients, compiled.covers):
        with pytest.raises(DomainError, match=r"x\[1\] is inf") as error:
            many(X)
        assert error.value.__notes__ == ["The point is X[3]."]
