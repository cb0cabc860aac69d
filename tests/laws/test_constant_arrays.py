"""Constant arrays: NumPy's behaviour until a node is stored, across recordings too."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import derivative_covers as dc
import derivative_covers.numpy as dnp
from derivative_covers import TArray
from derivative_covers.errors import TapeError, UnsupportedOperationError

POINT = np.array([0.7, 1.3, 2.1])


def made(*shape: int) -> Any:
    """A constant array of some numbers, made while recording."""
    found: list[Any] = []

    def f(x: Any) -> Any:
        found.append(dnp.array(np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)))
        return x[0]

    dc.tape_function(f, POINT)
    return found[0]


STEPS = st.sampled_from(
    [
        "y[1:] = 2.0",
        "y[0] = s",
        "y[-1] = s * s",
        "y[1:-1] = y[2:] - y[:-2]",
        "y *= 1.5",
        "y += y[::-1]",
        "z = y[1:4]; z[0] = s; y[2] = z[0] + z[1]",
        "z = y.reshape(2, 3); z[1] = z[0] * 2.0; z[0, 0] = s",
        "z = y.reshape(2, 3).T; z[1, 1] = s; z[0] = 1.0",
        "y[[0, 2]] = y[[2, 0]]",
        "y[y > 1.0] = 0.5",
        "y[:] = 1.0",
        "y[...] = m.arange(6.0) * s",
        "y[:] = m.linspace(0.0, 1.0, 6)",
        "y = y.copy(); y[3] = 4",
        "m.copyto(y[:3], y[3:])",
        "y[2:4] = [s, 1.0]",
        "y.fill(s)",
        "y[5] = y[4] @ y[4] if y[4].ndim else y[4] * 2",
        "y = m.concatenate([y[3:], y[:3]])",
        "y = m.where(m.arange(6) % 2 == 0, y, 1.0)",
        "y[1], y[2] = y[2], y[1]",
    ]
)


@settings(max_examples=120, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=8))
def test_programs_of_stores_agree_with_numpy_and_differences(steps: list[str]) -> None:
    code = compile("\n".join(steps), "steps", "exec")

    def run(m: Any, s: Any) -> Any:
        scope = {"m": m, "s": s, "y": m.ones(6)}
        exec(code, scope)
        return scope["y"]

    s = 1.7
    plain = run(np, s)
    slope = (run(np, s + 1e-5) - run(np, s - 1e-5)) / 2e-5
    weights = np.arange(1.0, 7.0)
    seen: list[Any] = []

    def f(x: Any) -> Any:
        y = run(dnp, x[0])
        seen.append(dc.value(y))
        return np.sum(weights * y) + x[0]

    found = dc.gradient(f, [s])[0]
    assert seen[0].tobytes() == plain.tobytes()
    assert found == pytest.approx(weights @ slope + 1.0, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize(
    "step",
    [
        "y[1]",
        "y[-1]",
        "y[1:]",
        "y[::2]",
        "y[[2, 0]]",
        "y[y > 2.0]",
        "y[None, 1]",
        "y.T",
        "y.reshape(2, -1)",
        "y * y",
        "y + 1",
        "2.0 / y",
        "y @ y",
        "y // 2",
        "y % 2.0",
        "y**2",
        "2.0**y",
        "-y",
        "+y",
        "abs(y)",
        "y > 2",
        "y == 1.0",
        "m.maximum(y, 2.5) if m else 0",
        "y.sum()",
        "y.mean()",
        "y.std()",
        "y.max()",
        "y.argmax()",
        "y.cumsum()",
        "y.clip(1.5, 2.5)",
        "y.round()",
        "y.dot(y)",
        "y.all()",
        "y.nonzero()[0]",
        "y.astype(int)",
        "y.astype(np.float32)",
        "y.astype(float)",
        "y.copy()",
        "y.item(1)",
        "y.tolist()",
        "list(y)",
        "y.flat[1]",
        "divmod(y, 2.0)[1]",
        "np.sin(y)",
        "np.sum(y)",
        "np.sum(y, axis=0)",
        "np.add.reduce(y)",
        "np.add.outer(y, y)",
        "np.linalg.norm(y)",
        "np.interp(1.5, y, y)",
        "np.histogram(y)[0]",
        "np.linalg.eigvals(np.outer(y, y) + np.eye(4))",
        "np.isfinite(y)",
        "np.array2string(y)",
        "np.multiply(y, y[::-1])",
        "np.ones(4) * y",
        "np.float64(2.0) * y",
    ],
)
def test_reads_agree_with_numpy(step: str) -> None:
    """In a recording, in a later one and after all of them."""
    y = made(4)
    plain = eval(step, {"np": np, "m": np, "y": np.arange(1.0, 5.0)})

    def check() -> None:
        r = eval(step, {"np": np, "m": dnp, "y": y})
        assert np.shape(r) == np.shape(plain)
        if isinstance(plain, (np.ndarray, np.generic)):
            assert r.dtype == plain.dtype
            assert np.asarray(r).tobytes() == plain.tobytes()
        else:
            assert r == plain

    def f(x: Any) -> Any:
        check()
        return x[0]

    check()
    dc.tape_function(f, POINT)


@cache
def table(n: int) -> Any:
    return dnp.linspace(0.0, 1.0, n) ** 2


def test_cached_tables_are_constants_in_every_recording() -> None:
    table.cache_clear()

    def f(x: Any) -> Any:
        t = table(3)
        y = dnp.zeros(3)
        y[:] = t * x + t[1]
        return dnp.sum(y * t) + dnp.dot(t, x) + dnp.sum(dnp.concatenate([t, x]))

    expected = np.linspace(0.0, 1.0, 3) ** 2
    for _ in range(3):
        np.testing.assert_allclose(dc.gradient(f, POINT), expected**2 + expected + 1.0)
        assert type(table(3)) is TArray
        assert table(3).is_constant
    single = dc.gradient(f, POINT.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected**2 + expected + 1.0, rtol=1e-6)
    assert np.sum(table(3)) == np.sum(expected)
    np.testing.assert_array_equal(table(3) @ np.eye(3), expected)


def test_nodes_of_a_finished_recording_are_refused() -> None:
    kept: dict[str, Any] = {}

    def f(x: Any) -> Any:
        kept["buffer"] = dnp.zeros(3)
        kept["view"] = kept["buffer"][1:]
        kept["buffer"][0] = x[0]
        return x[0] * x[1]

    def again(x: Any) -> Any:
        return dnp.sum(kept["view"] * x[0])

    dc.tape_function(f, POINT)
    for use in (
        lambda: kept["buffer"][0] + 1.0,
        lambda: kept["buffer"] * 2.0,
        lambda: dnp.sum(kept["view"]),
        lambda: dc.gradient(again, POINT),
    ):
        with pytest.raises(TapeError):
            use()


def test_a_table_of_another_type_says_so_when_nodes_are_stored() -> None:
    wide = made(3)

    def f(x: Any) -> Any:
        with pytest.raises(UnsupportedOperationError, match="float32"):
            wide[0] = x[0]
        return dnp.sum(wide * x)

    found = dc.gradient(f, POINT.astype(np.float32))
    np.testing.assert_array_equal(found, np.float32([1.0, 2.0, 3.0]))
    assert wide.is_constant


def test_overwritten_arrays_are_constants_again() -> None:
    def f(x: Any) -> Any:
        y = dnp.zeros(3)
        view = y[1:]
        y[:] = x * x
        total = dnp.sum(view)
        y[:] = 3.0
        assert y.is_constant
        assert view.is_constant
        assert view[0] == 3.0
        with pytest.raises(ValueError, match="broadcast"):
            view[:] = np.zeros(5)
        view[0] = x[0]
        return total + y[1] * y[2]

    np.testing.assert_allclose(dc.gradient(f, POINT), [3.0, 2.6, 4.2])


def test_a_failed_store_keeps_the_nodes() -> None:
    def f(x: Any) -> Any:
        y = dnp.zeros(3)
        y[:] = x
        with pytest.raises(ValueError, match="broadcast"):
            y[:] = np.zeros(5)
        return dnp.sum(y * y)

    np.testing.assert_allclose(dc.gradient(f, POINT), 2.0 * POINT)


def test_recorded_indices_are_refused() -> None:
    def f(x: Any) -> Any:
        y = dnp.zeros(3)
        for key in (x[0], x, (x[0],)):
            with pytest.raises(UnsupportedOperationError):
                y[key]
            with pytest.raises(UnsupportedOperationError):
                y[key] = 1.0
        assert y[dnp.array([1.0, 2.0])].shape == (2,)
        with pytest.raises(IndexError):
            y[3]
        return x[0]

    dc.tape_function(f, POINT)


def test_copies_and_pickles_of_constants() -> None:
    y = made(2, 3)
    for twin in (copy.copy(y), copy.deepcopy(y), pickle.loads(pickle.dumps(y.T)).T):
        assert type(twin) is TArray
        np.testing.assert_array_equal(np.asarray(twin), np.asarray(y))
        twin[0, 0] = -1.0
        assert y[0, 0] == 1.0


def test_threads_have_recordings_of_their_own() -> None:
    table.cache_clear()

    def f(x: Any) -> Any:
        y = dnp.zeros(40)
        for k in range(40):
            y[k] = x[k % 3] * k
        return dnp.sum(y * table(40)) + dnp.sum([x[0], x[1]])

    def work(k: int) -> Any:
        if k % 3 == 0:  # a thread without a recording
            plain = dnp.zeros(5)
            return type(plain) is np.ndarray
        return dc.gradient(f, POINT + k)

    weights = np.arange(40) * np.linspace(0.0, 1.0, 40) ** 2
    expected = [weights[k::3].sum() + (k < 2) for k in range(3)]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(96)):
            if found is not True:
                np.testing.assert_allclose(found, expected)
