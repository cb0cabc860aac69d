"""Programs on which the recording once gave a wrong number or an unclear error."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    ConstantProgramError,
    DerivativeError,
    DomainError,
    InputTypeError,
    NondifferentiableError,
    RecursionDepthError,
    ShapeError,
    TapeError,
    UnsupportedOperationError,
)
from derivative_covers.extend import (
    BinaryCurvature,
    NoCurvature,
    PairedCurvature,
    UnaryCurvature,
    constantnode,
    noderef,
    pushnode,
)
from derivative_covers.tape import columns

# --- a result that is written into leaves the tape alone -----------------------------

RESULTS: dict[str, Callable[[Any], Any]] = {
    "cumprod": np.cumprod,
    "cumsum": np.cumsum,
    "maximum.accumulate": np.maximum.accumulate,
    "logaddexp.accumulate": np.logaddexp.accumulate,
    "prod": lambda x: np.prod(np.stack([x, x + 1.0, x + 2.0]), axis=0),
    "einsum": lambda x: np.einsum("ij,jk->ki", x.reshape(1, 3), np.eye(3))[:, 0],
    "exp": np.exp,
    "matmul": lambda x: np.ones((3, 3)) @ x,
    "sum": lambda x: np.sum(np.outer(x, x), axis=0),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_writing_into_a_result_does_not_change_the_tape(kind: str) -> None:
    def read(x: Any) -> Any:
        y = RESULTS[kind](x)
        return y[2] ** 2 * y[1]

    def read_and_write(x: Any) -> Any:
        y = RESULTS[kind](x)
        z = y[2] ** 2 * y[1]
        y[1:] = 100.0
        return z

    x0 = [2.0, 3.0, 4.0]
    np.testing.assert_array_equal(
        dc.gradient(read_and_write, x0), dc.gradient(read, x0)
    )


def test_cumprod_written_into_by_hand() -> None:
    def f(x: Any) -> Any:
        y = np.cumprod(x)
        z = y[2]
        y[1] = 100.0
        return z

    np.testing.assert_array_equal(dc.gradient(f, [2.0, 3.0, 4.0]), [12.0, 8.0, 6.0])


def test_a_masked_reduction_into_a_target() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        np.add.reduce(np.outer(x, x), axis=0, where=np.eye(3, dtype=bool), out=y)
        return np.sum(y)

    np.testing.assert_array_equal(dc.gradient(f, [2.0, 3.0, 4.0]), [4.0, 6.0, 8.0])


# --- explicit nodes ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parents", "form"),
    [
        ([0], BinaryCurvature(1.0, 1.0, 1.0)),
        ([0, 1], UnaryCurvature(1.0)),
        ([0, 1], PairedCurvature(3)),
        ([], UnaryCurvature(1.0)),
    ],
)
def test_a_curvature_has_a_slot_a_parent(parents: Any, form: Any) -> None:
    def f(x: Any) -> Any:
        tape, _ = noderef(x[0])
        return pushnode(tape, 1.0, parents, np.ones(len(parents)), form)

    with pytest.raises(ShapeError, match="slots"):
        dc.tape_function(f, [1.0, 2.0])


@pytest.mark.parametrize("parents", [[0.7], [True], ["0"], [None]])
def test_parents_are_integers(parents: Any) -> None:
    def f(x: Any) -> Any:
        return pushnode(noderef(x[0])[0], 1.0, parents, [1.0], NoCurvature())

    with pytest.raises(InputTypeError, match="integers"):
        dc.tape_function(f, [1.0, 2.0])


@pytest.mark.parametrize(
    "push",
    [
        lambda x: pushnode(x, 1.0, [0], [1.0], NoCurvature()),
        lambda x: pushnode(None, 1.0, [0], [1.0], NoCurvature()),  # type: ignore[arg-type]
        lambda x: constantnode(x, 1.0),
    ],
)
def test_a_node_needs_a_tape(push: Any) -> None:
    with pytest.raises(InputTypeError, match="noderef"):
        dc.tape_function(push, [1.0, 2.0])


# --- views ---------------------------------------------------------------------------


def test_view_is_a_view() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y[1:].view()[0] = 5.0
        return np.sum(y * y)

    np.testing.assert_array_equal(dc.gradient(f, [2.0, 3.0, 4.0]), [4.0, 0.0, 8.0])


@pytest.mark.parametrize("kind", [float, np.int64, np.ndarray])
def test_view_in_another_type_is_refused(kind: Any) -> None:
    with pytest.raises(UnsupportedOperationError, match=r"view\(\)"):
        dc.gradient(lambda x: np.sum(x.view(kind)), [1.0, 2.0])


def test_no_internal_name_is_one_of_numpys() -> None:
    """What users know from NumPy means the same here."""
    shared = [n for n in dir(np.ndarray) if n in dir(dc.TArray) and n[0] != "_"]
    for name in shared:
        theirs, ours = getattr(np.ndarray, name), getattr(dc.TArray, name)
        assert callable(theirs) == callable(ours), name
    assert not {"entry", "ids", "derived", "offset", "depends"} & set(dir(dc.TArray))


# --- one node met twice --------------------------------------------------------------


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.fmax, np.fmin])
@pytest.mark.parametrize("pick", [lambda x: x, lambda x: x[0], lambda x: x[::-1]])
def test_the_larger_of_a_node_and_itself_is_no_kink(ufunc: Any, pick: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(ufunc(pick(x), pick(x)) ** 2)

    def plain(x: Any) -> Any:
        return np.sum(pick(x) ** 2)

    x0 = [0.0, -3.0]
    np.testing.assert_array_equal(dc.gradient(f, x0), dc.gradient(plain, x0))
    np.testing.assert_array_equal(dc.hessian(f, x0), dc.hessian(plain, x0))


def test_a_node_and_another_are_still_a_kink() -> None:
    for f in (
        lambda x: np.maximum(x[0], x[0]) + np.maximum(x[0], x[1]),
        lambda x: np.sum(np.maximum(x, x[[0, 2, 1]])),
        lambda x: np.heaviside(x[0] - 1.0, x[0] - 1.0),
    ):
        with pytest.raises(NondifferentiableError):
            dc.gradient(f, [1.0, 1.0, 1.0])


# --- NaN decides no branch -----------------------------------------------------------

LOST: dict[str, Callable[[Any], Any]] = {
    "<": lambda y: y < 0.0,
    "<=": lambda y: y <= 0.0,
    ">": lambda y: y > 0.0,
    ">=": lambda y: y >= 0.0,
    "==": lambda y: y == 0.0,
    "!=": lambda y: y != 0.0,
    "itself": lambda y: y <= y,
    "ufunc": lambda y: np.greater(y, 0.0),
    "where": lambda y: np.where(y, 1.0, 2.0),
}


@pytest.mark.parametrize("sign", LOST)
@pytest.mark.parametrize("pick", [lambda y: y, lambda y: y[1]])
def test_a_recorded_nan_decides_no_comparison(sign: str, pick: Any) -> None:
    def f(x: Any) -> Any:
        LOST[sign](pick(np.log(x)))
        return x[0]

    with pytest.raises(DomainError, match="NaN") as caught:
        dc.gradient(f, [2.0, -1.0])
    assert caught.value.node == 3
    assert caught.value.elemental == "comparison"


def test_a_branch_on_nan() -> None:
    with pytest.raises(DomainError, match="before the comparison"):
        dc.gradient(lambda x: x[0] ** 2 if np.log(x[0]) > 0 else x[0], [-1.0])


def test_asking_for_nan_is_fine() -> None:
    def f(x: Any) -> Any:
        y = np.log(x)
        assert y[1] != y[1]
        assert not y[1] == y[1]  # noqa: SIM201
        assert y[0] == y[0]
        np.testing.assert_array_equal(y != y, [False, True])
        np.testing.assert_array_equal(np.isnan(y), [False, True])
        assert not (x > np.nan).any()
        kept = np.where(np.isnan(y), 0.0, y)
        return np.sum(kept) + np.sum(np.where(x > 0, y, 0.0))

    np.testing.assert_array_equal(dc.gradient(f, [2.0, -1.0]), [1.0, 0.0])


# --- after the recording -------------------------------------------------------------

LATE: dict[str, Callable[[Any], Any]] = {
    "max": np.max,
    "argmax": np.argmax,
    "entry": lambda x: x[0],
    "last": lambda x: x[-1],
    "slice": lambda x: x[1:],
    "chosen": lambda x: x[[1, 0]],
    "item": lambda x: x.item(0),
    "iteration": list,
    "reshape": lambda x: x.reshape(2, 1),
    "transpose": lambda x: x.T,
    "copy": lambda x: x.copy(),
    "np.copy": np.copy,
    "view": lambda x: x.view(),
    "stack": lambda x: np.stack([x, x]),
    "zeros_like": np.zeros_like,
}


@pytest.mark.parametrize("kind", LATE)
@pytest.mark.parametrize("make", [lambda x: x, lambda x: x * x, lambda x: x[::-1]])
def test_an_array_of_a_finished_recording_is_refused(kind: str, make: Any) -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(make(x))
        return np.sum(x)

    dc.gradient(f, [1.0, 2.0])
    with pytest.raises(TapeError, match="finished"):
        LATE[kind](kept[0])
    assert np.sum(dc.value(kept[0])) > 0.0


# --- types ---------------------------------------------------------------------------

TYPED: dict[str, Callable[[Any, Any], Any]] = {
    "astype": lambda x, t: x.astype(t),
    "sum": lambda x, t: np.sum(x, dtype=t),
    "mean": lambda x, t: x.mean(dtype=t),
    "std": lambda x, t: np.std(x, dtype=t),
    "cumsum": lambda x, t: np.cumsum(x, dtype=t),
    "prod": lambda x, t: np.prod(x, dtype=t),
    "exp": lambda x, t: np.exp(x, dtype=t),
    "add": lambda x, t: np.add(x, 1.0, dtype=t),
    "scalar": lambda x, t: np.exp(x[0], dtype=t),
    "reduce": lambda x, t: np.maximum.reduce(x, dtype=t),
    "stack": lambda x, t: np.stack([x, x], dtype=t),
    "zeros_like": lambda x, t: x + np.zeros_like(x, dtype=t),
    "full_like": lambda x, t: np.full_like(x, x[0], dtype=t),
}


@pytest.mark.parametrize("kind", TYPED)
def test_a_recording_has_one_type(kind: str) -> None:
    x0 = np.array([1.0, 2.0])
    for held, other in ((np.float64, np.float32), (np.float32, np.float64)):
        at = x0.astype(held)
        with pytest.raises(UnsupportedOperationError, match="dtype float"):
            dc.tape_function(lambda x, t=other: TYPED[kind](x, t), at)
        tape, _ = dc.tape_function(lambda x, t=held: TYPED[kind](x, t), at)
        assert tape.vals.dtype == held


# --- numbers and objects that NumPy takes --------------------------------------------

HUGE = 10**400

LARGE: dict[str, Callable[[Any], Any]] = {
    "scalar": lambda x: x[0] + HUGE,
    "reflected": lambda x: HUGE / x[0],
    "power": lambda x: x[0] ** HUGE,
    "array": lambda x: x * HUGE,
    "array power": lambda x: x**HUGE,
    "ufunc": lambda x: np.power(x, HUGE),
    "list": lambda x: np.sum(np.stack([x[0], HUGE])),
    "store": lambda x: x.fill(HUGE),
    "constant": lambda x: x[0] + type(x[0])(HUGE),
    "comparison": lambda x: (x < HUGE).all(),
}


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("held", [np.float64, np.float32])
def test_an_integer_that_no_float_holds(kind: str, held: Any) -> None:
    with pytest.raises(InputTypeError, match="largest"):
        dc.gradient(LARGE[kind], np.array([1.0, 2.0], dtype=held))


@pytest.mark.parametrize("stranger", [None, "a", float])
def test_a_variable_equals_no_stranger(stranger: Any) -> None:
    def f(x: Any) -> Any:
        assert not x[0] == stranger  # noqa: SIM201
        assert x[0] != stranger
        np.testing.assert_array_equal(x == stranger, [False, False])
        np.testing.assert_array_equal(stranger != x, [True, True])
        assert (x.reshape(2, 1) == stranger).shape == (2, 1)
        assert not np.equal(x[0], stranger)
        return x[0]

    np.testing.assert_array_equal(dc.gradient(f, [1.0, 2.0]), [1.0, 0.0])


def test_plain_results_go_into_recorded_targets() -> None:
    def f(x: Any) -> Any:
        y, z, w = x * 1.0, x * 1.0, x * 1.0
        np.eye(2).sum(axis=0, out=y)
        np.sum(np.eye(2), axis=0, out=z)
        np.add(np.ones(2), 1.0, out=w, where=np.array([True, False]))
        return np.sum(x * (y + z + w))

    np.testing.assert_array_equal(dc.gradient(f, [3.0, 5.0]), [4.0, 12.0])


def test_item_counts_from_either_end() -> None:
    def f(x: Any) -> Any:
        a = x.reshape(2, 2)
        assert a.item(-1).i == a.item(3).i == a.item((1, -1)).i == a.item(1, 1).i
        with pytest.raises(IndexError):
            a.item(4)
        with pytest.raises(IndexError):
            a.item(-5)
        return a.item(-2)

    np.testing.assert_array_equal(
        dc.gradient(f, [1.0, 2.0, 3.0, 4.0]), [0.0, 0.0, 1.0, 0.0]
    )


def test_handles_of_one_node_have_one_hash() -> None:
    def f(x: Any) -> Any:
        assert hash(x[0]) == hash(x[0])
        assert len({x[0], x[0], x[1]}) == 2
        assert hash(type(x[0])(2.5)) == hash(2.5)
        return x[0]

    np.testing.assert_array_equal(dc.gradient(f, [1.0, 2.0]), [1.0, 0.0])


# --- messages ------------------------------------------------------------------------


def _descend(t: Any, depth: int) -> Any:
    return t if depth == 0 else _descend(t * 1.0001, depth - 1)


def _nested(x: Any) -> Any:
    result = [x[0]]
    for _ in range(10_000):
        result = [result]
    return result


@pytest.mark.parametrize("f", [lambda x: _descend(x[0], 10_000), _nested])
def test_a_program_too_deep_says_what_to_do(f: Any) -> None:
    with pytest.raises(RecursionDepthError, match="setrecursionlimit") as caught:
        dc.gradient(f, [1.0])
    assert isinstance(caught.value, DerivativeError)
    assert isinstance(caught.value, RecursionError)
    assert isinstance(caught.value.__cause__, RecursionError)


def test_a_ufunc_is_called_by_its_own_name() -> None:
    special = pytest.importorskip("scipy.special")
    for make in (lambda x: x, lambda x: x[0]):
        with pytest.raises(UnsupportedOperationError, match=r"ufunc '_descend \(vec"):
            dc.gradient(lambda x, m=make: np.frompyfunc(_descend, 1, 1)(m(x)), [1.0])
        with pytest.raises(UnsupportedOperationError, match=r"ufunc 'special\.jv'"):
            dc.gradient(lambda x, m=make: special.jv(m(x), m(x)), [1.0])


def test_a_constant_program_is_one_on_the_branch_taken() -> None:
    with pytest.raises(ConstantProgramError, match="branch taken at this point"):
        dc.gradient(lambda x: x[0] if x[0] > 0 else 3.0, [-1.0])


# --- bits and memory -----------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes", [(3, 4), (3, 30, 1), (3, 2, 8), (3, 4, 5, 2), (3, 7, 2, 9, 4)]
)
def test_multi_dot_has_the_bits_of_numpy(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    rest = [rng.normal(size=pair) for pair in pairwise(sizes)]
    last = rng.normal(size=sizes[-1])
    for x0 in (rng.normal(size=3), rng.normal(size=(6, 3))):
        for chain in (rest, [*rest, last]):
            tape, out = dc.tape_function(
                lambda x, chain=chain: np.linalg.multi_dot([x, *chain]), x0
            )
            expected = np.linalg.multi_dot([x0, *chain])
            np.testing.assert_array_equal(tape.vals[out], expected)
            assert np.shape(out) == np.shape(expected)


def test_multi_dot_needs_two_arrays() -> None:
    with pytest.raises(ShapeError, match="two"):
        dc.gradient(lambda x: np.linalg.multi_dot([x]), [1.0])


@pytest.mark.parametrize("held", [np.float64, np.float32])
@pytest.mark.parametrize("turn", [lambda a: a, np.transpose])
def test_a_constant_matrix_is_kept_once(held: Any, turn: Any) -> None:
    n, steps = 64, 50
    a = np.random.default_rng(1).normal(size=(n, n)).astype(held) / n

    def f(x: Any) -> Any:
        for _ in range(steps):
            x = np.tanh(turn(a) @ x)
        return np.sum(x)

    tape, out = dc.tape_function(f, np.ones(n, dtype=held))
    assert tape.nbytes < 3 * steps * n * a.itemsize + 2 * a.nbytes
    held_bytes = {id(b.coef): b.coef.nbytes for b in tape.blocks if hasattr(b, "coef")}
    assert sum(held_bytes.values()) <= a.nbytes + a.itemsize

    def copied(x: Any) -> Any:
        for _ in range(steps):
            x = np.tanh(turn(a.copy()) @ x)
        return np.sum(x)

    expected = dc.gradient(copied, np.ones(n, dtype=held))
    np.testing.assert_array_equal(dc.gradient(tape, out), expected)


def test_a_constant_matrix_that_changes_is_kept_twice() -> None:
    def f(x: Any) -> Any:
        a = np.eye(20)
        y = a @ x
        a[0, 0] = 5.0
        return np.sum(y * y) + np.sum(a @ x)

    expected = np.full(20, 3.0)
    expected[0] = 7.0
    np.testing.assert_array_equal(dc.gradient(f, np.ones(20)), expected)


def test_partials_that_are_the_value_are_not_stored() -> None:
    tape, _ = dc.tape_function(np.exp, np.linspace(0.0, 1.0, 20_000))
    d, _, c, _, _ = columns(tape, tape.blocks[1])
    assert d is tape.blocks[1].values
    assert c is tape.blocks[1].values


def test_constants_that_a_move_puts_among_nodes_stay_constants() -> None:
    """Their id, -1, was read as the last node, whose value decided about domains."""
    fixed = np.full(3, 4.0)
    found = dc.gradient(
        lambda x: -np.sum(np.sqrt(np.choose([0, 1, 0], [x, fixed]))), [1.0, 2, 4]
    )
    np.testing.assert_allclose(found, [-0.5, 0.0, -0.25])
    tape, _ = dc.tape_function(
        lambda x: np.sum(np.exp(2.0 * np.tril(x))), np.ones((2, 2))
    )
    assert all(
        (b.x.flat((b.size,)) >= 0).all() for b in tape.blocks if hasattr(b, "op")
    )
