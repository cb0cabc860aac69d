"""Tapes are shared, copied and pickled; recordings run side by side; nothing leaks."""

from __future__ import annotations

import copy
import operator
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import TapeError
from derivative_covers.extend import (
    DenseCurvature,
    binarynode,
    dotnode,
    linearnode,
    noderef,
    pushnode,
    unarynode,
)

X = np.linspace(0.4, 1.9, 6)
V = np.cos(np.arange(6.0))


def scalars(x: Any) -> Any:
    s = x[0] * x[1] + x[2] / x[3]
    for k in range(40):
        s = s * 0.5 + np.sin(x[k % 6]) * x[(k + 1) % 6] ** 2
    return s


def arrays(x: Any) -> Any:
    y = np.exp(-x) * x[::-1] + np.cumsum(x) ** 2
    y[1:] += y[:-1] * 0.5
    z = np.outer(y, x) @ np.sin(x)
    return np.sum(z) + np.linalg.norm(y) + np.sum(y * y) + np.prod(x) + np.max(y)


def explicit(x: Any) -> Any:
    a, b = dc.value(x[0]), dc.value(x[1])
    p = binarynode(x[0], x[1], a * b, b, a, 0.0, 1.0, 0.0)
    q = unarynode(p, np.exp(a * b), np.exp(a * b), np.exp(a * b))
    tape, k = noderef(q)
    v = dc.value(q)
    r = pushnode(tape, v * v, [k], [2 * v], DenseCurvature([[2.0]]))
    return linearnode([1.0, 2.0], [r, dotnode([x[2], x[3]], [x[4], x[5]])])


def several(x: Any) -> Any:
    return np.stack([np.sum(x**3), 4.0 + 0.0 * x[0], x[2], x[2]])


PROGRAMS = {"scalars": scalars, "arrays": arrays, "explicit": explicit}


def everything(tape: dc.Tape, out: Any) -> list[bytes]:
    """The bits of all that can be asked of a tape with one output."""
    covers = [dc.cover_hessian(tape, out, merge=m) for m in ("sum", "quadrature")]
    covers.append(dc.cover_hybrid(tape, out, ngroups=3))
    found = [
        dc.gradient(tape, out),
        dc.hvp(tape, out, V),
        dc.hessian(tape, out),
        dc.hessian_bound(tape, out),
        dc.abs_forward(np.ones(6), tape),
        dc.sensitivity_scales(None, tape),
        tape.vals,
        *(c.h for c in covers),
    ]
    nodes = [np.concatenate([tape.ds[k], tape.parents[k]]) for k in range(len(tape.ds))]
    return [np.asarray(a).tobytes() for a in (*found, *nodes)]


def in_memory(tape: Any) -> Any:
    return pickle.loads(pickle.dumps(tape, protocol=pickle.HIGHEST_PROTOCOL))


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": in_memory,
    "pickle protocol 2": lambda tape: pickle.loads(pickle.dumps(tape, protocol=2)),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("used", [False, True])
def test_copies_of_a_tape_give_the_same_bits(name: str, how: str, used: bool) -> None:
    expected = everything(*dc.tape_function(PROGRAMS[name], X))
    tape, out = dc.tape_function(PROGRAMS[name], X)
    if used:
        assert everything(tape, out) == expected
    twin = COPIES[how](tape)
    assert everything(twin, out) == expected
    assert everything(tape, out) == expected
    assert twin.shape == tape.shape
    assert twin.dtype == tape.dtype
    assert repr(twin) == repr(tape)


def test_a_deep_copy_owns_its_memory() -> None:
    tape, _ = dc.tape_function(arrays, X)
    twin = copy.deepcopy(tape)
    for mine, its in zip(tape.blocks, twin.blocks, strict=True):
        assert not np.shares_memory(mine.values, its.values)


def test_a_tape_of_several_outputs_survives_pickling() -> None:
    tape, outs = dc.tape_function(several, X)
    twin, ids = pickle.loads(pickle.dumps((tape, outs)))
    np.testing.assert_array_equal(dc.jacobian(twin, ids), dc.jacobian(tape, outs))


def test_results_are_picklable() -> None:
    found = dc.cover_hessian(arrays, X, merge="quadrature")
    twin = in_memory(found)
    assert twin.h.tobytes() == found.h.tobytes()
    assert twin.gradient.tobytes() == found.gradient.tobytes()


def gradient_elsewhere(pair: tuple[bytes, int]) -> bytes:
    tape = pickle.loads(pair[0])
    return dc.gradient(tape, pair[1]).tobytes()


@pytest.mark.slow
def test_a_tape_travels_to_another_process() -> None:
    tape, out = dc.tape_function(arrays, X)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(gradient_elsewhere, (pickle.dumps(tape), out)).result()
    assert there == dc.gradient(tape, out).tobytes()


@pytest.mark.parametrize("how", COPIES)
def test_a_recording_in_progress_cannot_be_copied(how: str) -> None:
    def f(x: Any) -> Any:
        with pytest.raises(TapeError, match="still recording"):
            COPIES[how](noderef(x[0])[0])
        return x[0] * x[1]

    dc.gradient(f, [1.0, 2.0])


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_fresh_tape_is_read_from_several_threads(name: str) -> None:
    expected = everything(*dc.tape_function(PROGRAMS[name], X))
    for _ in range(5):  # every time a tape whose caches are still to be built
        tape, out = dc.tape_function(PROGRAMS[name], X)
        start = threading.Barrier(6)

        def read(
            _: int, start: Any = start, tape: Any = tape, out: Any = out
        ) -> list[bytes]:
            start.wait()
            return everything(tape, out)

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(read, range(6))) == [expected] * 6


@pytest.mark.slow
def test_eight_threads_record_a_thousand_times_each() -> None:
    points = [X + 0.01 * k for k in range(8)]
    programs = [scalars, arrays, explicit]

    def task(k: int) -> bytes:
        f = programs[k % 3]
        tape, out = dc.tape_function(f, points[k])
        return dc.gradient(tape, out).tobytes()

    alone = [task(k) for k in range(8)]
    start = threading.Barrier(8)
    wrong = [0] * 8

    def work(k: int) -> None:
        start.wait()
        for _ in range(1000):
            wrong[k] += task(k) != alone[k]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert wrong == [0] * 8


def test_recordings_inside_a_recording_are_apart() -> None:
    def outer(x: Any) -> Any:
        inner = dc.gradient(lambda y: np.sum(y**3), dc.value(x))
        return np.sum(inner * x)

    np.testing.assert_array_equal(dc.gradient(outer, [1.0, 2.0]), [3.0, 12.0])

    def confused(x: Any) -> Any:
        return x * dc.gradient(lambda y: x * y, 1.0)

    with pytest.raises(TapeError, match="two recordings"):
        dc.gradient(confused, 4.0)


# -- a variable that outlives its recording -------------------------------------------

USES: dict[str, Callable[[Any], Any]] = {
    "x + 1": lambda x: x + 1.0,
    "1 - x": lambda x: 1.0 - x,
    "x * x": lambda x: x * x,
    "x / 2": lambda x: x / 2.0,
    "x ** 2": lambda x: x**2,
    "x ** x": lambda x: x**x,
    "2 ** x": lambda x: 2.0**x,
    "-x": operator.neg,
    "abs": abs,
    "np.sin": np.sin,
    "np.maximum": lambda x: np.maximum(x, 0.1),
    "np.float64 on the left": lambda x: np.float64(2.0) * x,
    "array on the left": lambda x: np.ones(2) * x,
    "x > 0": lambda x: x > 0.0,
    "x == 1": lambda x: x == 1.0,
    "np.sum": np.sum,
    "np.where": lambda x: np.where(True, x, 0.0),
    "np.stack": lambda x: np.stack([x, x]),
}
ARRAY_USES: dict[str, Callable[[Any], Any]] = {
    **USES,
    "x[0]": lambda x: x[0] * 1.0,
    "x[1:]": lambda x: x[1:] + 1.0,
    "x[0] = 1": lambda x: operator.setitem(x, 0, 1.0),
    "x += 1": lambda x: operator.iadd(x, 1.0),
    "x @ x": lambda x: x @ x,
    "x.reshape": lambda x: np.sin(x.reshape(1, 2)),
    "x.T": lambda x: x.T * 2.0,
    "x.sum()": lambda x: x.sum(),
    "x.copy()": lambda x: x.copy() + 0.0,
}


def leaked(x0: Any) -> Any:
    kept = []
    dc.tape_function(lambda x: kept.append(x * 1.0) or np.sum(x), x0)
    return kept[0]


@pytest.mark.parametrize("use", USES)
def test_a_leaked_scalar_raises_when_used(use: str) -> None:
    with pytest.raises(TapeError, match="finished recording"):
        USES[use](leaked(1.5))


@pytest.mark.parametrize("use", ARRAY_USES)
def test_a_leaked_array_raises_when_used(use: str) -> None:
    with pytest.raises(TapeError, match="finished recording"):
        ARRAY_USES[use](leaked([1.5, 2.5]))


def test_a_leaked_variable_in_another_recording_raises() -> None:
    old = leaked(1.5)
    with pytest.raises(TapeError):
        dc.gradient(lambda x: x * old, 2.0)
    row = leaked([1.5, 2.5])
    with pytest.raises(TapeError):
        dc.gradient(lambda x: np.sum(x * row), [2.0, 1.0])
    with pytest.raises(TapeError):
        dc.gradient(lambda x: old, 2.0)


def test_a_leaked_variable_still_shows_its_value() -> None:
    assert dc.value(leaked(1.5)) == 1.5
    np.testing.assert_array_equal(dc.value(leaked([1.5, 2.5])), [1.5, 2.5])
    assert "1.5" in repr(leaked(1.5))
    assert "2.5" in repr(leaked([1.5, 2.5]))
