"""Lists, ranges and brackets with recorded entries, against JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
import derivative_covers.numpy as dnp
from derivative_covers import TArray, TVar
from derivative_covers.errors import UnsupportedOperationError
from derivative_covers.tape import Linear
from tests._oracle import FAST

POINT = np.array([0.7, 1.3, 2.1, -0.4])

# One text for both packages: m is the namespace, x the point.
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda m, x: m.sum(m.array([x[0] * x[1], x[2], 1.0])),
    "array-2d": lambda m, x: m.linalg.det(m.array([[x[0], 1.0], [x[1] ** 2, x[2]]])),
    "array-rows": lambda m, x: m.sum(m.array([x, 2.0 * x, m.ones(4)]) ** 2),
    "full": lambda m, x: m.sum(m.full(3, x[0]) ** 2),
    "full-row": lambda m, x: m.sum(m.full((2, 4), x) ** 3),
    "linspace": lambda m, x: m.sum(m.linspace(0.0, x[2], 5) ** 2),
    "linspace-both": lambda m, x: m.sum(m.linspace(x[0], x[2], 5, endpoint=False) ** 2),
    "logspace": lambda m, x: m.sum(m.logspace(x[0], x[1], 4)),
    "geomspace": lambda m, x: m.sum(m.geomspace(x[0], x[2], 4) ** 2),
    "stack": lambda m, x: m.sum(m.stack([x[:2], x[2:] * x[0]]) ** 2),
    "meshgrid": lambda m, x: m.sum(m.meshgrid(x[:2], x[2:])[1] ** 2),
    "diag": lambda m, x: m.sum(m.diag(m.array([x[0], x[1]])) @ m.array([x[2], 1.0])),
    "outer": lambda m, x: m.sum(m.outer(m.array([x[0], 2.0]), x) ** 2),
    "where": lambda m, x: m.sum(
        m.where(m.array([True, False]), x[0] * x[1], x[2] ** 2)
    ),
}
# With lists as operands, which jax.numpy does not take.
LISTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum": (lambda x: dnp.sum([x[0] * x[1], x[2], 1.0]), lambda x: x[0] * x[1] + x[2]),
    "sum-rows": (
        lambda x: dnp.sum([[x[0], x[1]], [x[2], 3.0]], axis=0) @ [2.0, 5.0],
        lambda x: 2 * (x[0] + x[2]) + 5 * x[1],
    ),
    "prod": (lambda x: dnp.prod([x[0], x[1], 3.0]), lambda x: 3 * x[0] * x[1]),
    "max": (lambda x: dnp.max([x[0], x[1] * x[2], 0.1]), lambda x: x[1] * x[2]),
    "min": (lambda x: dnp.min([x[0] * x[1], 5.0]), lambda x: x[0] * x[1]),
    "mean": (lambda x: dnp.mean((x[0], x[1] ** 2)), lambda x: (x[0] + x[1] ** 2) / 2),
    "std": (
        lambda x: dnp.std([x[0], x[1], 2.0]),
        lambda x: jnp.std(jnp.array([x[0], x[1], 2.0])),
    ),
    "dot": (
        lambda x: dnp.dot([x[0], x[1]], [x[2], 3.0]),
        lambda x: x[0] * x[2] + 3 * x[1],
    ),
    "dot-plain": (
        lambda x: dnp.dot([1.0, 2.0], [x[2], x[0]]),
        lambda x: x[2] + 2 * x[0],
    ),
    "norm": (
        lambda x: dnp.linalg.norm([x[0], x[1], 2.0]),
        lambda x: jnp.sqrt(x[0] ** 2 + x[1] ** 2 + 4),
    ),
    "solve": (
        lambda x: dnp.sum(dnp.linalg.solve([[x[0], 1.0], [0.0, x[1]]], [1.0, x[2]])),
        lambda x: (1 - x[2] / x[1]) / x[0] + x[2] / x[1],
    ),
    "sin": (
        lambda x: dnp.sin([x[0], x[1]]) @ [1.0, 2.0],
        lambda x: jnp.sin(x[0]) + 2 * jnp.sin(x[1]),
    ),
    "maximum": (
        lambda x: dnp.sum(dnp.maximum([x[0], x[3]], 0)),
        lambda x: x[0],
    ),
    "add": (
        lambda x: dnp.add([x[0], x[1]], [x[2], 1.0]) @ x[:2],
        lambda x: (x[0] + x[2]) * x[0] + (x[1] + 1) * x[1],
    ),
    "cumsum": (
        lambda x: dnp.cumsum([x[0], x[1]]) @ [1.0, 3.0],
        lambda x: 4 * x[0] + 3 * x[1],
    ),
    "concatenate": (
        lambda x: dnp.sum(dnp.concatenate([[x[0], 1.0], [2.0, x[1]]]) ** 2),
        lambda x: x[0] ** 2 + x[1] ** 2,
    ),
    "r_": (
        lambda x: dnp.r_[x[:2], x[2], 1.0, 0:3] @ dnp.arange(7.0),
        lambda x: x[1] + 2 * x[2],
    ),
    "r_-directive": (
        lambda x: dnp.r_["0,2", x[:2], [x[2], 1.0]][1, 0] ** 2,
        lambda x: x[2] ** 2,
    ),
    "r_-ends": (
        lambda x: dnp.sum(dnp.r_[0 : x[2] : 3j] ** 2) + dnp.r_[x[0] : 9 : x[1]][1],
        lambda x: 1.25 * x[2] ** 2 + x[0] + x[1],
    ),
    "c_": (
        lambda x: dnp.sum(dnp.c_[x, [1.0, x[0], 2.0, 3.0]] ** 2),
        lambda x: jnp.sum(x**2) + x[0] ** 2,
    ),
    "arange": (
        lambda x: dnp.sum(dnp.arange(x[0], 2.0, x[1]) ** 2),
        lambda x: x[0] ** 2,
    ),
    "arange-steps": (
        lambda x: dnp.arange(1.0, 5.0, x[0]) @ dnp.arange(6.0),
        lambda x: 15.0 + x[0] * 55.0,
    ),
    "mgrid": (
        lambda x: dnp.sum(dnp.mgrid[0 : x[0] : 3j, 0:1:2j][0] ** 2),
        lambda x: 2 * (x[0] ** 2 + x[0] ** 2 / 4),
    ),
    "mgrid-line": (
        lambda x: dnp.sum(dnp.mgrid[0 : x[0] : 3j] ** 2),
        lambda x: 1.25 * x[0] ** 2,
    ),
    "ogrid": (
        lambda x: dnp.sum(dnp.ogrid[0 : x[0] : 3j, 0:1:2j][0] ** 2),
        lambda x: 1.25 * x[0] ** 2,
    ),
    "fromiter": (
        lambda x: dnp.sum(dnp.fromiter((e**2 for e in x), float)),
        lambda x: jnp.sum(x**2),
    ),
    "full_like": (
        lambda x: dnp.sum(dnp.full_like(np.zeros(3), x[0]) ** 2),
        lambda x: 3 * x[0] ** 2,
    ),
    "atleast_1d": (
        lambda x: dnp.atleast_1d(x[0]) @ dnp.atleast_1d([x[1]]),
        lambda x: x[0] * x[1],
    ),
    "object-array": (
        lambda x: dnp.asarray(np.array([x[0], x[1]], dtype=object), float) @ x[:2],
        lambda x: x[0] ** 2 + x[1] ** 2,
    ),
}


def jax_pair(f: Callable[[Any], Any]) -> tuple[Any, Any]:
    with jax.enable_x64(True):
        x = jnp.asarray(POINT)
        v = jnp.arange(1.0, 5.0)
        g = jax.grad(lambda y: f(y) + 0.0 * y[0])
        both = jax.jit(lambda y, w: jax.jvp(g, (y,), (w,)), compiler_options=FAST)
        gradient, product = both(x, v)
        return np.asarray(gradient), np.asarray(product)


def check(f: Callable[[Any], Any], oracle: Callable[[Any], Any]) -> None:
    gradient, product = jax_pair(oracle)
    np.testing.assert_allclose(dc.gradient(f, POINT), gradient, rtol=1e-12, atol=1e-13)
    found = dc.hvp(f, POINT, np.arange(1.0, 5.0))
    np.testing.assert_allclose(found, product, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_program_as_jax(name: str) -> None:
    f = PROGRAMS[name]
    check(lambda x: f(dnp, x), lambda x: f(jnp, x))


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_recorded_values(name: str) -> None:
    check(*LISTS[name])


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace", "full"])
def test_values_have_numpys_bits(name: str) -> None:
    f = PROGRAMS[name]
    tape, out = dc.tape_function(lambda x: f(dnp, x), POINT)
    assert float(tape.vals[out]) == float(f(np, POINT))


def test_arange_has_numpys_bits() -> None:
    found: list[Any] = []
    dc.tape_function(
        lambda x: found.append(dnp.arange(x[3], x[2], x[0])) or x[0], POINT
    )
    plain = np.arange(POINT[3], POINT[2], POINT[0])
    assert dc.value(found[0]).tobytes() == plain.tobytes()


def test_sum_of_a_list_is_one_wide_node() -> None:
    tape, out = dc.tape_function(lambda x: dnp.sum([x[k] for k in range(4)]), POINT)
    assert tape.nnodes == 5
    assert isinstance(tape.block_of(out), Linear)
    assert list(tape.parents[out]) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "name", ["sum", "mean", "max", "prod", "var", "cumsum", "sin", "exp"]
)
def test_plain_lists_give_numpys_bits(name: str) -> None:
    data = [0.1 * k for k in range(1, 40)]
    plain = np.asarray(getattr(np, name)(data))
    assert np.asarray(getattr(dnp, name)(data)).tobytes() == plain.tobytes()

    def f(x: Any) -> Any:
        inner = getattr(dnp, name)(data)
        assert np.asarray(inner).tobytes() == plain.tobytes()
        return x[0] ** 2

    dc.gradient(f, POINT)


def test_ragged_and_foreign_lists_are_refused() -> None:
    def f(x: Any) -> Any:
        with pytest.raises(ValueError, match="shapes"):
            dnp.array([[x[0], x[1]], [x[2]]])
        with pytest.raises(TypeError, match="str"):
            dnp.array([x[0], "a"])
        with pytest.raises(UnsupportedOperationError, match="matrix"):
            _ = dnp.r_["r", x, x]
        with pytest.raises(UnsupportedOperationError, match="fft"):
            dnp.fft.fft([x[0], x[1]])
        return x @ x

    np.testing.assert_allclose(dc.gradient(f, POINT), 2 * POINT)


def test_out_and_where_behave_as_for_recorded_arrays() -> None:
    def f(x: Any) -> Any:
        target = dnp.zeros(2)
        assert dnp.sin([x[0], x[1]], out=target) is target
        with pytest.raises(UnsupportedOperationError, match="plain array"):
            dnp.sum([x[0], x[1]], out=np.zeros(()))
        masked = dnp.sum([x[0], x[1], x[2]], where=[True, False, True])
        return target[0] + masked

    np.testing.assert_allclose(dc.gradient(f, POINT), [np.cos(0.7) + 1, 0.0, 1.0, 0.0])


def test_empty_lists() -> None:
    def f(x: Any) -> Any:
        assert dnp.sum([]) == 0.0
        assert dnp.array([]).shape == (0,)
        assert dnp.concatenate([x, []]).shape == (4,)
        return dnp.sum(dnp.r_[x, dnp.zeros(0)])

    np.testing.assert_array_equal(dc.gradient(f, POINT), np.ones(4))


# -- functions that call functions -----------------------------------------------------


def test_vectorize() -> None:
    @dnp.vectorize
    def g(a: Any, b: Any) -> Any:
        return a * b if a > 1.0 else b

    pair = dnp.vectorize(lambda a: (a * a, 2.0), otypes=[float, float])

    def f(x: Any) -> Any:
        first, second = pair(x)
        assert first.__class__ is TArray
        assert (second == 2.0).all()
        return dnp.sum(g(x[:, None], x[:2])) + dnp.sum(first * second)

    def oracle(x: Any) -> Any:
        b = x[:2]
        return jnp.sum(b) * (2 + x[1] + x[2]) + 2 * jnp.sum(x**2)

    check(f, oracle)
    np.testing.assert_array_equal(g(np.array([0.5, 2.0]), 3.0), [3.0, 6.0])
    option = dnp.vectorize(otypes=[float])(lambda a: a + 1)
    assert option(np.array([1, 2])).dtype == np.float64
    assert g.pyfunc(2.0, 3.0) == 6.0


def test_vectorize_excluded_names_and_closures() -> None:
    def f(x: Any) -> Any:
        poly = dnp.vectorize(
            lambda p, t: sum(c * t**k for k, c in enumerate(p)), excluded=[0]
        )
        closed = dnp.vectorize(lambda t: t * x[0])
        return dnp.sum(poly([1.0, x[0]], t=x)) + dnp.sum(closed([1.0, 2.0]))

    check(f, lambda x: x[0] * jnp.sum(x) + 4 + 3 * x[0])


def test_vectorize_with_a_signature_refuses() -> None:
    g = dnp.vectorize(lambda r: r.sum(), signature="(n)->()")
    assert g(np.ones((2, 3))).tolist() == [3.0, 3.0]
    with pytest.raises(UnsupportedOperationError, match="signature"):
        dc.gradient(g, POINT)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_apply_along_axis(axis: int) -> None:
    def f(m: Any, x: Any) -> Any:
        a = m.outer(x, x[:3])
        r = m.apply_along_axis(lambda r: r[:2] * m.sum(r**2), axis, a)
        return m.sum(r**2 * m.arange(r.size * 1.0).reshape(r.shape))

    check(lambda x: f(dnp, x), lambda x: f(jnp, x))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("inner", [np.sum, lambda r: np.outer(r, r)])
def test_apply_along_axis_of_plain_arrays(inner: Any, axis: int) -> None:
    a = np.arange(12.0).reshape(3, 4)
    found: list[Any] = []

    def f(x: Any) -> Any:
        found.append(dnp.apply_along_axis(inner, axis, a))
        return x[0]

    dc.tape_function(f, POINT)
    assert type(found[0]) is TArray
    np.testing.assert_array_equal(
        np.asarray(found[0]), np.apply_along_axis(inner, axis, a)
    )


def test_other_callers_of_functions() -> None:
    def f(x: Any) -> Any:
        square = dnp.frompyfunc(lambda a: a * a, 1, 1)(x)
        pair = dnp.frompyfunc(lambda a, b: (a + b, a * b), 2, 2)(x, x[0])
        grid = dnp.fromfunction(lambda i, j: i * x[0] + j, (2, 3))
        over = dnp.apply_over_axes(dnp.sum, x.reshape(2, 2), [0, 1])
        total = sum(e * k for (k,), e in dnp.ndenumerate(x))
        entries = [a * b for a, b in dnp.broadcast(x, x[:1])]
        assert dnp.broadcast(x, x[:1]).shape == (4,)
        return (
            dnp.sum(square)
            + dnp.sum(pair[1])
            + dnp.sum(grid)
            + over[0, 0]
            + total
            + dnp.sum(entries)
        )

    def oracle(x: Any) -> Any:
        s = jnp.sum(x)
        return jnp.sum(x**2) + 2 * s * x[0] + 3 * x[0] + s + x @ jnp.arange(4.0)

    check(f, oracle)
    assert [k for k, _ in dnp.ndenumerate(np.zeros((1, 2)))] == [(0, 0), (0, 1)]
    assert dnp.frompyfunc(abs, 1, 1)([-1, 2]).tolist() == [1, 2]


def test_nditer_refuses_recorded_arrays_only() -> None:
    def f(x: Any) -> Any:
        with pytest.raises(UnsupportedOperationError, match="ndindex"):
            dnp.nditer(x)
        table = dnp.ones(2)
        with dnp.nditer(table, op_flags=["readwrite"]) as it:
            for e in it:
                e[...] = 2.0
        return x[0] * table[0]

    assert dc.gradient(f, POINT)[0] == 2.0
    assert sum(float(e) for e in dnp.nditer(np.ones(3))) == 3.0


def test_a_scalar_keeps_its_trace_and_float_still_refuses() -> None:
    def f(x: Any) -> Any:
        assert type(dnp.sin(x[0])) is TVar
        with pytest.raises(UnsupportedOperationError):
            float(x[0])
        return dnp.float64(dnp.sin(x[0]))

    np.testing.assert_allclose(dc.gradient(f, POINT)[0], np.cos(0.7))
