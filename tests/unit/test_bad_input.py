"""Wrong input raises the documented error, with the remedy in the message."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    DerivativeError,
    InputTypeError,
    ShapeError,
    TapeError,
    UnsupportedOperationError,
)

ENTRIES: dict[str, Callable[[Any, Any], Any]] = {
    "tape_function": dc.tape_function,
    "gradient": dc.gradient,
    "hessian": dc.hessian,
    "hessian_bound": dc.hessian_bound,
    "cover_hessian": dc.cover_hessian,
    "quadrature": lambda f, x0: dc.cover_hessian(f, x0, merge="quadrature"),
    "cover_hybrid": lambda f, x0: dc.cover_hybrid(f, x0, ngroups=2),
}
SCALAR_ENTRIES = {k: v for k, v in ENTRIES.items() if k != "tape_function"}


def quadratic(x: Any) -> Any:
    return np.sum(x * x)


# --- the point ---------------------------------------------------------------------


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("x0", [[], np.zeros((0, 3)), np.zeros((2, 0))])
def test_empty_points(entry: str, x0: Any) -> None:
    with pytest.raises(ShapeError, match=r"(?i)empty|no entries|size|at least one"):
        ENTRIES[entry](quadratic, x0)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_points_that_are_not_finite(entry: str, bad: float) -> None:
    with pytest.raises(ValueError, match=r"(?i)finite|nan|inf") as caught:
        ENTRIES[entry](quadratic, [1.0, bad])
    assert isinstance(caught.value, DerivativeError)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(
    "x0",
    [
        ["a", "b"],
        "text",
        None,
        [1.0, None],
        [object(), 2.0],
        np.array([1.0, {}], dtype=object),
        {"x": None},
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        [[1.0, 2.0], [3.0]],
    ],
)
def test_points_of_the_wrong_type(entry: str, x0: Any) -> None:
    with pytest.raises((InputTypeError, ShapeError), match=r"\w+ \w+"):
        ENTRIES[entry](quadratic, x0)


@pytest.mark.parametrize("entry", SCALAR_ENTRIES)
@pytest.mark.parametrize("f", [3.0, "sin", None, [quadratic]])
def test_programs_that_cannot_be_called(entry: str, f: Any) -> None:
    with pytest.raises((InputTypeError, ShapeError)):
        SCALAR_ENTRIES[entry](f, [1.0])


# --- what the program returns ------------------------------------------------------


class Foreign:
    """An object that has nothing to do with arithmetic."""


RETURNS: dict[str, Callable[[Any], Any]] = {
    "string": lambda x: "result",
    "None": lambda x: None,
    "object": lambda x: Foreign(),
    "dict": lambda x: {"f": x[0]},
    "list with None": lambda x: [x[0], None],
    "list with string": lambda x: [x[0], "b"],
    "foreign in array": lambda x: np.array([x[0], Foreign()], dtype=object),
    "complex": lambda x: [x[0], 1.0 + 2.0j],
    "function": lambda x: lambda y: y,
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("kind", RETURNS)
def test_returns_of_the_wrong_type(entry: str, kind: str) -> None:
    with pytest.raises(
        (InputTypeError, UnsupportedOperationError, ShapeError), match=r"\w+ \w+"
    ):
        ENTRIES[entry](RETURNS[kind], [1.0, 2.0])


CONSTANTS: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: 3.0,
    "integer": lambda x: 3,
    "numpy scalar": lambda x: np.float64(3.0),
    "array": lambda x: np.ones(2),
    "list": lambda x: [1.0, 2.0],
    "typed literal": lambda x: type(x[0])(4.0) * 2.0,
    "value": lambda x: dc.value(x[0]) ** 2,
    "shape": lambda x: x.shape[0],
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("kind", CONSTANTS)
def test_constant_programs(entry: str, kind: str) -> None:
    with pytest.raises(DerivativeError, match=r"(?i)constant|depend|plain") as caught:
        ENTRIES[entry](CONSTANTS[kind], [1.0, 2.0])
    assert isinstance(caught.value, TypeError | ValueError)


@pytest.mark.parametrize("entry", SCALAR_ENTRIES)
@pytest.mark.parametrize(
    "f",
    [lambda x: x**2, lambda x: [x[0], x[1]], lambda x: np.outer(x, x), lambda x: x[:0]],
)
def test_scalar_sweeps_of_vector_programs(entry: str, f: Any) -> None:
    with pytest.raises(ShapeError, match=r"jacobian|scalar|at least one"):
        SCALAR_ENTRIES[entry](f, [1.0, 2.0])


def test_gradient_of_a_vector_program_names_the_jacobian_and_the_shape() -> None:
    with pytest.raises(ShapeError, match=r"jacobian") as caught:
        dc.gradient(lambda x: x**2, [1.0, 2.0, 4.0])
    assert "3" in str(caught.value)


# --- arguments of the sweeps -------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda t, o: dc.hvp(t, o, [1.0, 2.0]),
        lambda t, o: dc.hvp(t, o, np.ones((3, 1))),
        lambda t, o: dc.hvp(t, o, 1.0),
        lambda t, o: dc.abs_forward(np.ones(4), t),
        lambda t, o: dc.abs_forward(np.ones((1, 3)), t),
        lambda t, o: dc.abs_reverse(t, np.array([o, 0]), np.ones(3)),
        lambda t, o: dc.sensitivity_scales(np.ones(2), t),
        lambda t, o: dc.cover_hessian(t, o, scales=[1.0, 2.0]),
        lambda t, o: dc.cover_hybrid(t, o, ngroups=2, scales=np.ones((3, 3))),
        lambda t, o: dc.local_covers(t, o, scales=[1.0]),
        lambda t, o: dc.iscover(np.ones(3), np.ones((2, 2))),
        lambda t, o: dc.iscover(np.ones((2, 3)), np.ones((3, 3))),
        lambda t, o: dc.cover_excess(np.ones(3), np.ones((3, 4))),
    ],
)
def test_arguments_of_the_wrong_shape(call: Any) -> None:
    tape, out = dc.tape_function(quadratic, [1.0, 2.0, 3.0])
    with pytest.raises(ShapeError, match=r"\(|\d"):
        call(tape, out)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, o: dc.hvp(t, o, ["a", "b", "c"]),
        lambda t, o: dc.hvp(t, o, [1.0, 2.0, 1.0j]),
        lambda t, o: dc.hvp(t, o, None),
        lambda t, o: dc.abs_forward(["a", "b", "c"], t),
        lambda t, o: dc.cover_hessian(t, o, scales="units"),
        lambda t, o: dc.gradient(t, "out"),
        lambda t, o: dc.gradient(t, 1.5),
        lambda t, o: dc.gradient(t, None),
    ],
)
def test_arguments_of_the_wrong_type(call: Any) -> None:
    tape, out = dc.tape_function(quadratic, [1.0, 2.0, 3.0])
    with pytest.raises(InputTypeError, match=r"\w+ \w+"):
        call(tape, out)


def test_unknown_merge_and_group_counts() -> None:
    tape, out = dc.tape_function(quadratic, [1.0, 2.0])
    with pytest.raises(ValueError, match="quadrature"):
        dc.cover_hessian(tape, out, merge="max")
    for count in (0, -3):
        with pytest.raises(ValueError, match="ngroups"):
            dc.cover_hybrid(tape, out, ngroups=count)
    wrong: list[Any] = [1.5, "two", None]
    for count in wrong:
        with pytest.raises((TypeError, ValueError), match="ngroups"):
            dc.cover_hybrid(tape, out, ngroups=count)


@pytest.mark.parametrize("index", [-1, 10**6])
def test_node_ids_out_of_range(index: int) -> None:
    tape, _ = dc.tape_function(quadratic, [1.0, 2.0])
    for sweep in (dc.gradient, dc.hessian, dc.cover_hessian):
        with pytest.raises(DerivativeError, match=str(index)):
            sweep(tape, index)


# --- ways to lose a derivative -----------------------------------------------------

MATRIX = np.arange(6.0).reshape(2, 3)


def _store_entry(x: Any) -> Any:
    buffer = np.zeros(3)
    buffer[0] = x[0]
    return np.sum(buffer)


def _store_slice(x: Any) -> Any:
    buffer = np.zeros(3)
    buffer[:] = x
    return np.sum(buffer)


def _add_in_place(x: Any) -> Any:
    buffer = np.zeros(3)
    buffer += x
    return np.sum(buffer)


def _out_argument(x: Any) -> Any:
    buffer = np.zeros(3)
    np.multiply(x, 2.0, out=buffer)
    return np.sum(buffer)


def _copyto(x: Any) -> Any:
    buffer = np.zeros(3)
    np.copyto(buffer, x)
    return np.sum(buffer)


def _add_at(x: Any) -> Any:
    buffer = np.zeros(3)
    np.add.at(buffer, [0, 1, 2], x)
    return np.sum(buffer)


LOSSES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "float": (lambda x: float(x[0]), r"value\("),
    "complex": (lambda x: complex(x[0]), r"value\("),
    "index": (lambda x: [1, 2, 3][x[0]], r"value\("),
    "operator.index": (lambda x: operator.index(x[1]), r"value\("),
    "range": (lambda x: sum(range(x[2])), r"value\("),
    "np.float64": (lambda x: np.float64(x[0]), r"value\("),
    "math.sin": (lambda x: math.sin(x[0]), r"np\.|numpy"),
    "math.exp": (lambda x: math.exp(x[1]) * x[0], r"np\.|numpy"),
    "math.sqrt of array": (lambda x: math.sqrt(x), r"np\.|numpy|value\("),
    "asarray": (lambda x: np.asarray(x).sum(), r"value\(|np\."),
    "array": (lambda x: np.array(x).sum(), r"value\(|np\."),
    "float array": (lambda x: np.asarray(x, dtype=float).sum(), r"value\(|np\."),
    "store entry": (_store_entry, r"zeros_like|stack|copy"),
    "store slice": (_store_slice, r"zeros_like|stack|copy"),
    "in place": (_add_in_place, r"zeros_like|stack|copy|= \w+ \+"),
    "out=": (_out_argument, r"zeros_like|stack|copy"),
    "copyto": (_copyto, r"zeros_like|stack|copy"),
    "add.at": (_add_at, r"at"),
    "dot method": (lambda x: np.sum(MATRIX.dot(x)), r"@|np\.dot"),
}


@pytest.mark.parametrize("kind", LOSSES)
def test_nothing_drops_the_derivative_silently(kind: str) -> None:
    f, remedy = LOSSES[kind]
    with pytest.raises(UnsupportedOperationError, match=remedy):
        dc.gradient(f, [1.0, 2.0, 3.0])


# --- operations without a rule -----------------------------------------------------

UNSUPPORTED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "nextafter": (lambda x: np.nextafter(x, 9.0), "nextafter"),
    "ldexp": (lambda x: np.ldexp(x, 2), "ldexp"),
    "frexp": (lambda x: np.frexp(x)[0], "frexp"),
    "gcd": (lambda x: np.gcd(x, 2), "gcd"),
    "scalar": (lambda x: np.nextafter(x[0], 9.0), "nextafter"),
    "own ufunc": (lambda x: np.frompyfunc(abs, 1, 1)(x), "abs"),
    "fft": (lambda x: np.fft.fft(x), "fft"),
    "eigvals": (lambda x: np.linalg.eigvals(np.outer(x, x)), "eigvals"),
    "roots": (lambda x: np.roots(x), "roots"),
    "complex constant": (lambda x: np.sum(x * 1j), "complex"),
    "complex scalar": (lambda x: x[0] * (1.0 + 2.0j), "complex"),
}


@pytest.mark.parametrize("kind", UNSUPPORTED)
def test_operations_without_a_rule_are_named(kind: str) -> None:
    f, name = UNSUPPORTED[kind]
    with pytest.raises(TypeError, match=name) as caught:
        dc.tape_function(f, [1.0, 2.0, 3.0])
    assert isinstance(caught.value, DerivativeError)


def test_a_missing_ufunc_says_how_to_add_a_rule() -> None:
    with pytest.raises(UnsupportedOperationError, match=r"register|rule"):
        dc.gradient(lambda x: np.sum(np.ldexp(x, 2)), [1.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[0] + "text",
        lambda x: x * "text",
        lambda x: x[0] + None,
        lambda x: np.sin(x) + Foreign(),
        lambda x: x[0] * [1.0, "a"],
    ],
)
def test_foreign_operands_raise_a_type_error(f: Any) -> None:
    with pytest.raises(TypeError):
        dc.gradient(f, [1.0, 2.0])


@pytest.mark.parametrize(
    "f", [lambda x: x["a"], lambda x: x[0.5], lambda x: x[5], lambda x: x[0, 0]]
)
def test_wrong_indices_raise_as_in_numpy(f: Any) -> None:
    with pytest.raises((IndexError, TypeError)):
        dc.gradient(f, [1.0, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x + np.ones(2)),
        lambda x: x @ np.ones(4),
        lambda x: np.dot(x, np.ones((2, 2))),
        lambda x: np.sum(x.reshape(2, 2)),
        lambda x: np.sum(np.concatenate([x, np.ones((2, 2))])),
        lambda x: np.sum(np.stack([x, x[:2]])),
        lambda x: np.einsum("ij->", x),
    ],
)
def test_shapes_that_do_not_fit_raise_as_in_numpy(f: Any) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        dc.gradient(f, [1.0, 2.0, 3.0])


# --- tapes -------------------------------------------------------------------------

MIXTURES: dict[str, Callable[[Any, Any], Any]] = {
    "scalar times scalar": lambda x, y: x[0] * y[0],
    "scalar plus scalar": lambda x, y: y[0] + x[0],
    "array times array": lambda x, y: np.sum(x * y),
    "scalar times array": lambda x, y: np.sum(x[0] * y),
    "array times scalar": lambda x, y: np.sum(x * y[0]),
    "dot": lambda x, y: x @ y,
    "power": lambda x, y: y[0] ** x[0],
    "ufunc": lambda x, y: np.sum(np.hypot(x, y)),
    "comparison": lambda x, y: y[0] if x[0] > y[1] else y[1],
    "where": lambda x, y: np.sum(np.where(y > 2, x, y)),
    "where, own first": lambda x, y: np.sum(np.where(y > 2, y, x) ** 2),
    "concatenate": lambda x, y: np.sum(np.concatenate([x, y])),
    "concatenate, own first": lambda x, y: np.sum(np.concatenate([y, x]) ** 2),
    "stack": lambda x, y: np.sum(np.stack([y[0], x[0]])),
    "stack arrays": lambda x, y: np.sum(np.stack([y, x]) ** 2),
    "full_like": lambda x, y: np.sum(np.full_like(y, x[0]) * y),
    "einsum": lambda x, y: np.einsum("i,i->", y, x),
    "tensordot": lambda x, y: np.tensordot(y, x, axes=1),
    "outer": lambda x, y: np.sum(np.outer(y, x)),
    "clip": lambda x, y: np.sum(np.clip(y, x - 9.0, x + 9.0)),
    "matmul": lambda x, y: np.sum(np.matmul(y, np.stack([x, x]))),
    "maximum": lambda x, y: np.sum(np.maximum(y, x)),
    "assignment": lambda x, y: _assign(y, x),
    "output": lambda x, y: x[0],
    "outputs": lambda x, y: np.sum(np.array([x[0], y[0]])),
}


def _assign(y: Any, x: Any) -> Any:
    z = y.copy()
    z[0] = x[0]
    return np.sum(z)


@pytest.mark.parametrize("kind", MIXTURES)
def test_variables_of_two_tapes_do_not_mix(kind: str) -> None:
    def outer(x: Any) -> Any:
        return dc.gradient(lambda y: MIXTURES[kind](x, y), [1.5, 2.5])

    with pytest.raises(TapeError, match="recording"):
        dc.tape_function(outer, [3.0, 4.0])


def test_a_recording_inside_another_is_fine_when_they_do_not_mix() -> None:
    def f(x: Any) -> Any:
        slope = dc.gradient(lambda y: y[0] ** 3, [2.0])
        return x[0] * slope[0] + x[1] ** 2

    np.testing.assert_array_equal(dc.gradient(f, [1.0, 3.0]), [12.0, 6.0])


STALE: dict[str, Callable[[Any], Any]] = {
    "multiply": lambda x: x * 2.0,
    "entry": lambda x: x[0] + x[1],
    "negate": lambda x: -x[0],
    "ufunc": lambda x: np.sin(x),
    "scalar ufunc": lambda x: np.exp(x[0]),
    "sum": lambda x: np.sum(x),
    "dot": lambda x: x @ x,
}


@pytest.mark.parametrize("kind", STALE)
def test_a_variable_of_a_finished_tape_raises(kind: str) -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x)
        return np.sum(x * x)

    tape, out = dc.tape_function(f, [1.0, 2.0])
    before = dc.nnodes(tape)
    with pytest.raises(TapeError, match="recording"):
        STALE[kind](kept[0])
    assert dc.nnodes(tape) == before
    np.testing.assert_array_equal(dc.gradient(tape, out), [2.0, 4.0])


def test_a_stale_variable_in_a_new_recording_raises() -> None:
    kept: list[Any] = []

    def first(x: Any) -> Any:
        kept.append(x[0])
        return x[0] ** 2

    dc.gradient(first, [1.0])
    with pytest.raises(TapeError, match="recording"):
        dc.gradient(lambda x: x[0] * kept[0], [2.0])


def test_values_of_a_finished_tape_can_still_be_read() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x[0] * 3.0)
        return x[0] ** 2

    dc.gradient(f, [2.0])
    assert dc.value(kept[0]) == 6.0


# --- depth, length and failures in the program -------------------------------------


def descend(t: Any, depth: int) -> Any:
    return t if depth == 0 else descend(t * 1.0001, depth - 1)


def test_recursion_too_deep_is_the_users_recursion_error() -> None:
    with pytest.raises(RecursionError):
        dc.gradient(lambda x: descend(x[0], 10_000), [1.0])
    np.testing.assert_array_equal(dc.gradient(quadratic, [1.0, 2.0]), [2.0, 4.0])


def test_deep_recursion_works_where_the_interpreter_allows_it() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        slope = dc.gradient(lambda x: descend(x[0], 10_000), [1.0])
    finally:
        sys.setrecursionlimit(limit)
    np.testing.assert_allclose(slope, [1.0001**10_000], rtol=1e-10)


def test_twenty_thousand_operations_in_a_row() -> None:
    def f(x: Any) -> Any:
        y = x[0]
        for _ in range(20_000):
            y = y * 0.9999 + 1e-4 * np.sin(y)
        return y

    y, slope, bend = 1.0, 1.0, 0.0
    for _ in range(20_000):
        d = 0.9999 + 1e-4 * math.cos(y)
        bend = d * bend - 1e-4 * math.sin(y) * slope**2
        slope *= d
        y = y * 0.9999 + 1e-4 * math.sin(y)
    tape, out = dc.tape_function(f, [1.0])
    assert tape.vals[out] == pytest.approx(y, rel=1e-12)
    np.testing.assert_allclose(dc.gradient(tape, out), [slope], rtol=1e-10)
    np.testing.assert_allclose(dc.hessian(tape, out), [[bend]], rtol=1e-8)
    for merge in ("sum", "quadrature"):
        assert dc.iscover(dc.cover_hessian(tape, out, merge=merge).h, [[bend]])


def test_a_failing_program_leaves_nothing_behind() -> None:
    def failing(x: Any) -> Any:
        y = x * 2.0
        raise KeyError(str(y.shape))

    with pytest.raises(KeyError, match="2"):
        dc.gradient(failing, [1.0, 2.0])
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(dc.gradient(quadratic, [1.0, 2.0]), [2.0, 4.0])
    with pytest.raises(FloatingPointError), np.errstate(all="raise"):
        np.log(np.array(0.0))


def test_recording_raises_no_floating_point_warnings() -> None:
    """``where`` evaluates both sides; the unselected one must stay silent."""
    with np.errstate(all="raise"):
        g = dc.gradient(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)), [-1.0, 2.0])
    np.testing.assert_array_equal(g, [0.0, 0.5])
