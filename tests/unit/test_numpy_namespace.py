"""The namespace: constructors inside and outside of a recording, types, forwarding."""

from __future__ import annotations

import importlib
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
import derivative_covers.numpy as dnp
from derivative_covers import TArray, TVar
from derivative_covers.errors import UnsupportedOperationError

POINT = np.array([0.7, 1.3, 2.1])

FLOATS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda m: m.zeros(3),
    "zeros-2d": lambda m: m.zeros((2, 3), order="F"),
    "zeros-0d": lambda m: m.zeros(()),
    "zeros-float": lambda m: m.zeros(3, dtype=float),
    "zeros-name": lambda m: m.zeros(3, dtype="float64"),
    "ones": lambda m: m.ones(3),
    "full": lambda m: m.full(3, 2.5),
    "full-row": lambda m: m.full((2, 3), [1.0, 2.0, 3.0]),
    "eye": lambda m: m.eye(3, k=1),
    "identity": lambda m: m.identity(2),
    "tri": lambda m: m.tri(3),
    "diag": lambda m: m.diag([1.0, 2.0]),
    "diagflat": lambda m: m.diagflat([1.0, 2.0], 1),
    "vander": lambda m: m.vander([1.0, 2.0, 3.0]),
    "linspace": lambda m: m.linspace(0, 1, 7),
    "logspace": lambda m: m.logspace(0, 1, 4),
    "geomspace": lambda m: m.geomspace(1, 8, 4),
    "arange": lambda m: m.arange(0.0, 1.0, 0.3),
    "arange-dtype": lambda m: m.arange(4, dtype=float),
    "array": lambda m: m.array([1.0, 2.0]),
    "array-nested": lambda m: m.array([[1.0, 2], [3, 4]], ndmin=3),
    "array-copy": lambda m: m.array(POINT),
    "array-cast": lambda m: m.array([1, 2], dtype=float),
    "asarray": lambda m: m.asarray([1.0, 2.0]),
    "asanyarray": lambda m: m.asanyarray((1.0, 2.0)),
    "ascontiguousarray": lambda m: m.ascontiguousarray([1.0, 2.0]),
    "asfortranarray": lambda m: m.asfortranarray([[1.0, 2.0]]),
    "asarray_chkfinite": lambda m: m.asarray_chkfinite([1.0, 2.0]),
    "copy": lambda m: m.copy(POINT),
    "fromiter": lambda m: m.fromiter((k / 2 for k in range(4)), float),
    "fromfunction": lambda m: m.fromfunction(lambda i, j: i + 0.5 * j, (2, 3)),
    "zeros_like": lambda m: m.zeros_like(POINT),
    "ones_like": lambda m: m.ones_like(POINT),
    "full_like": lambda m: m.full_like(POINT, 4.0),
    "meshgrid": lambda m: m.meshgrid(POINT, POINT[:2])[0],
    "stack": lambda m: m.stack([POINT, POINT]),
    "concatenate": lambda m: m.concatenate([POINT, POINT]),
    "hstack": lambda m: m.hstack([POINT, 1.0]),
    "vstack": lambda m: m.vstack([POINT, POINT]),
    "column_stack": lambda m: m.column_stack([POINT, POINT]),
    "block": lambda m: m.block([[POINT, POINT]]),
    "append": lambda m: m.append(POINT, 1.0),
    "tile": lambda m: m.tile(POINT, 2),
    "repeat": lambda m: m.repeat(POINT, 2),
    "r_": lambda m: m.r_[POINT, 1.0, 0:3],
    "r_-directive": lambda m: m.r_["0,2", POINT, POINT],
    "c_": lambda m: m.c_[POINT, POINT],
    "mgrid": lambda m: m.mgrid[0:1:3j, 0:2:2j],
    "ogrid": lambda m: m.ogrid[0:1:3j, 0:2:2j][1],
    "atleast_2d": lambda m: m.atleast_2d([1.0, 2.0]),
    "vectorize": lambda m: m.vectorize(lambda a: a * 2.0)(POINT),
    "apply_along_axis": lambda m: m.apply_along_axis(lambda r: r / 2.0, 0, POINT),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda m: m.zeros(3, dtype=int),
    "bool": lambda m: m.ones(3, dtype=bool),
    "complex": lambda m: m.zeros(3, dtype=complex),
    "object": lambda m: m.full(2, None, dtype=object),
    "text": lambda m: m.array(["a", "b"]),
    "float32": lambda m: m.zeros(3, dtype=np.float32),
    "full-int": lambda m: m.full(3, 2),
    "arange-int": lambda m: m.arange(5),
    "array-int": lambda m: m.array([1, 2, 3]),
    "array-bool": lambda m: m.array([True, False]),
    "eye-int": lambda m: m.eye(2, dtype=int),
    "linspace-int": lambda m: m.linspace(0, 4, 3, dtype=int),
    "indices": lambda m: m.indices((2, 2)),
    "mgrid-int": lambda m: m.mgrid[0:2, 0:3],
    "r_-int": lambda m: m.r_[0:3, 5],
    "ones_like-int": lambda m: m.ones_like([1, 2]),
    "asarray-plain": lambda m: m.asarray(POINT),
    "frombuffer": lambda m: m.frombuffer(POINT.tobytes()),
}


def inside(make: Callable[[], Any], x0: Any = POINT) -> Any:
    """What a constructor gives while a recording is active."""
    found: list[Any] = []

    def f(x: Any) -> Any:
        found.append(make())
        return x[0] * x[1]

    dc.tape_function(f, x0)
    return found[0]


@pytest.mark.parametrize("name", FLOATS)
def test_floats_become_constants_while_recording(name: str) -> None:
    plain = FLOATS[name](np)
    made = inside(lambda: FLOATS[name](dnp))
    assert type(made) is TArray
    assert made.is_constant
    assert made.dtype == plain.dtype == np.float64
    assert made.shape == plain.shape
    assert np.asarray(made).tobytes() == plain.tobytes()


@pytest.mark.parametrize("name", [*FLOATS, *OTHERS])
def test_plain_outside_of_a_recording(name: str) -> None:
    make = FLOATS.get(name) or OTHERS[name]
    plain, made = make(np), make(dnp)
    assert type(made) is type(plain)
    assert made.dtype == plain.dtype
    np.testing.assert_array_equal(made, plain)


@pytest.mark.parametrize("name", OTHERS)
def test_other_kinds_stay_plain_while_recording(name: str) -> None:
    plain = OTHERS[name](np)
    made = inside(lambda: OTHERS[name](dnp))
    assert type(made) is np.ndarray
    assert made.dtype == plain.dtype
    np.testing.assert_array_equal(made, plain)


@pytest.mark.parametrize("name", FLOATS)
def test_each_takes_a_recorded_value(name: str) -> None:
    def f(x: Any) -> Any:
        y = FLOATS[name](dnp)
        y[...] = 1.0
        y.flat[0] = x[0] * x[1]
        y *= 3.0
        return dnp.sum(y)

    np.testing.assert_allclose(dc.gradient(f, POINT), [3.9, 2.1, 0.0], rtol=1e-15)


def test_empty_has_shape_and_takes_values() -> None:
    def f(x: Any) -> Any:
        y = dnp.empty((2, 3))
        y[0] = x
        y[1] = y[0] ** 2
        return dnp.sum(y)

    np.testing.assert_allclose(dc.gradient(f, POINT), 1.0 + 2.0 * POINT)
    assert type(dnp.empty(3)) is np.ndarray
    assert type(inside(lambda: dnp.empty_like(POINT))) is TArray


def test_asarray_shares_and_array_copies() -> None:
    def f(x: Any) -> Any:
        assert dnp.asarray(x) is x
        assert dnp.asanyarray(x) is x
        assert dnp.ascontiguousarray(x) is x
        assert dnp.array(x, copy=False) is x
        y = dnp.array(x)
        assert y is not x
        y[0] = 5.0
        assert dnp.asfortranarray(x.reshape(1, 3).T).shape == (3, 1)
        return x @ x + 0.0 * y[1]

    np.testing.assert_allclose(dc.gradient(f, POINT), 2.0 * POINT)


def test_plain_memory_is_not_taken_over() -> None:
    buffer = np.zeros(3)

    def f(x: Any) -> Any:
        view = dnp.asarray(buffer)
        assert view is buffer
        with pytest.raises(UnsupportedOperationError):
            view[0] = x[0]
        return dnp.sum(x)

    dc.gradient(f, POINT)
    assert (buffer == 0.0).all()


def test_types_of_a_float32_recording() -> None:
    x0 = POINT.astype(np.float32)
    for make in (
        lambda: dnp.zeros(3),
        lambda: dnp.array([1.0, 2.0]),
        lambda: dnp.linspace(0, 1, 3),
        lambda: dnp.zeros(3, dtype=np.float32),
        lambda: dnp.array(POINT),
        lambda: dnp.r_[1.0, 2.0],
    ):
        made = inside(make, x0)
        assert type(made) is TArray
        assert made.dtype == np.float32
    assert type(inside(lambda: dnp.zeros(3, dtype=np.float64), x0)) is np.ndarray

    def f(x: Any) -> Any:
        y = dnp.zeros(4)
        y[1:] = x * x
        z = dnp.array([x[0], 2.0])
        assert z.dtype == np.float32
        assert dnp.float32(z[0]) is not None
        with pytest.raises(UnsupportedOperationError, match="float64"):
            dnp.float64(x[0])
        return dnp.sum(y) + z[0]

    found = dc.gradient(f, x0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2 * x0 + np.float32([1, 0, 0]), rtol=1e-6)


def test_a_wrong_dtype_for_recorded_entries_says_so() -> None:
    def f(x: Any) -> Any:
        for dtype in (int, complex, np.float32, bool):
            with pytest.raises(UnsupportedOperationError, match="dtype"):
                dnp.array([x[0], 1.0], dtype=dtype)
        kept = dnp.array([x[0], 1.0], dtype=object)
        assert type(kept) is np.ndarray
        assert type(kept[0]) is TVar
        return dnp.array([x[0], 1.0], dtype=float) @ dnp.array(kept, dtype=float)

    np.testing.assert_allclose(dc.gradient(f, POINT), [1.4, 0.0, 0.0])


def test_types_behave_as_numpys() -> None:
    def f(x: Any) -> Any:
        assert isinstance(x, dnp.ndarray)
        assert isinstance(x[0], dnp.float64)
        assert isinstance(x[0], dnp.floating)
        assert not isinstance(x[0], dnp.float32)
        first = x[0]
        assert dnp.float64(first) is first
        assert dnp.isscalar(first)
        assert isinstance(dnp.ndarray((2, 2)), dnp.ndarray)
        return dnp.float64(first) * dnp.float64(2.0) + dnp.float64(x)[1]

    np.testing.assert_allclose(dc.gradient(f, POINT), [2.0, 1.0, 0.0])
    assert isinstance(POINT, dnp.ndarray)
    assert isinstance(dnp.ndarray((2,)), np.ndarray)
    assert type(dnp.float64(3)) is np.float64
    assert np.dtype(dnp.float64) == np.float64
    assert np.zeros(1, dtype=dnp.float32).dtype == np.float32
    assert POINT.dtype == dnp.float64
    assert POINT.dtype.type == dnp.float64
    assert {dnp.float64: 1}[np.float64] == 1
    assert np.issubdtype(POINT.dtype, dnp.floating)
    assert issubclass(np.float64, dnp.float64)
    assert not isinstance(3, dnp.float64)
    assert dnp.finfo(dnp.float64).eps == np.finfo(float).eps
    assert isinstance(dnp.sin, dnp.ufunc)
    assert isinstance(np.sin, dnp.ufunc)
    assert not isinstance(dnp.sum, dnp.ufunc)

    class Mine(dnp.ndarray):  # type: ignore[misc]
        pass

    assert issubclass(Mine, np.ndarray)
    assert isinstance(np.zeros(2).view(Mine), Mine)
    assert not isinstance(np.zeros(2), Mine)


def test_the_rest_is_numpys() -> None:
    assert dnp.pi == np.pi
    assert dnp.random is np.random
    assert dnp.testing is np.testing
    assert dnp.int64 is np.int64
    assert dnp.errstate is np.errstate
    assert set(np.__all__) <= set(dir(dnp))
    assert set(dnp.__all__) - set(np.__all__) == {"logsumexp", "softmax", "log_softmax"}
    for name in dnp.__all__:
        assert hasattr(dnp, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dnp.nothing
    with pytest.raises(AttributeError, match=r"numpy\.linalg.* no attribute 'nothing'"):
        _ = dnp.linalg.nothing
    assert importlib.import_module("derivative_covers.numpy.linalg") is dnp.linalg
    assert dnp.linalg.LinAlgError is np.linalg.LinAlgError


@pytest.mark.parametrize(
    "name", ["zeros", "array", "sum", "sin", "full", "linalg.norm"]
)
def test_functions_keep_name_text_and_pickle_by_reference(name: str) -> None:
    mine: Any = dnp
    original: Any = np
    for part in name.split("."):
        mine, original = getattr(mine, part), getattr(original, part)
    assert mine.__name__ == original.__name__
    assert mine.__doc__[:200] == original.__doc__[:200]
    assert ">>>" not in mine.__doc__
    assert inspect.signature(mine) == inspect.signature(original)
    assert pickle.loads(pickle.dumps(mine)) is mine


def test_ufuncs_keep_attributes_and_methods() -> None:
    assert dnp.add.nin == 2
    assert dnp.add.identity == 0
    assert dnp.sin.types == np.sin.types
    assert dnp.add.reduce([1.0, 2.0]) == 3.0
    np.testing.assert_array_equal(dnp.add.outer([1, 2], [3, 4]), [[4, 5], [5, 6]])
    target = np.zeros(2)
    dnp.add.at(target, [0, 0, 1], 1.0)
    np.testing.assert_array_equal(target, [2.0, 1.0])
    out = np.zeros(3)
    assert dnp.sin(POINT, out) is out
    assert dnp.sin(POINT, out=out).tobytes() == np.sin(POINT).tobytes()

    def f(x: Any) -> Any:
        total = dnp.zeros(2)
        dnp.add.at(total, [0, 0, 1], x)
        return (
            dnp.add.reduce([x[0], x[1]])
            + dnp.multiply.outer([x[0], 1.0], x).sum()
            + total[0]
        )

    g = dc.gradient(f, POINT)
    s = POINT.sum()
    np.testing.assert_allclose(
        g, [1 + s + POINT[0] + 1 + 1, 1 + POINT[0] + 2, 1 + POINT[0]]
    )
