"""Further arguments, options of recordings, and stop_gradient."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    ConstantProgramError,
    InputTypeError,
    NondifferentiableError,
    OptionError,
)


def model(x: Any, data: Any, *, power: int = 2) -> Any:
    return np.sum((x - data) ** power)


DATA = np.array([1.0, 4.0])
X = [2.0, 2.0]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gradient": dc.gradient,
    "jacobian": dc.jacobian,
    "hessian": dc.hessian,
    "hessian_bound": dc.hessian_bound,
    "hvp": lambda *a, **kw: dc.hvp(*a, [1.0, 0.0], **kw),
    "abs_reverse": lambda *a, **kw: dc.abs_reverse(*a, 1.0, **kw),
    "cover_hessian": lambda *a, **kw: dc.cover_hessian(*a, **kw).h,
    "cover_hybrid": lambda *a, **kw: dc.cover_hybrid(*a, ngroups=2, **kw).h,
    "local_covers": lambda *a, **kw: [
        r for r in dc.local_covers(*a, **kw) if r is not None
    ],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_further_arguments(name: str) -> None:
    function = FUNCTIONS[name]
    found = function(model, X, args=(DATA,), kwargs={"power": 3})
    expected = function(lambda x: model(x, DATA, power=3), X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "option",
    [{"args": (DATA,)}, {"kwargs": {}}, {"kinks": "branch"}, {"numpy": "rewrite"}],
)
def test_a_tape_takes_no_options(name: str, option: dict[str, Any]) -> None:
    tape, out = dc.tape_function(model, X, args=(DATA,))
    with pytest.raises(OptionError, match=rf"{next(iter(option))} came with a tape"):
        FUNCTIONS[name](tape, out, **option)


@pytest.mark.parametrize(
    ("option", "kind", "match"),
    [
        (
            {"args": 3.0},
            InputTypeError,
            r"args is of type float; a tuple.*args=\(data,\)",
        ),
        ({"args": DATA}, InputTypeError, "args is of type ndarray"),
        ({"kwargs": [1]}, InputTypeError, "kwargs is of type list; a dictionary"),
        ({"kinks": "smooth"}, OptionError, "kinks is 'smooth'; it must be 'raise' or"),
        ({"kinks": []}, OptionError, "kinks is"),
        ({"numpy": True}, OptionError, "numpy is True"),
        ({"surprise": 1}, TypeError, "surprise"),
    ],
)
def test_options_that_cannot_be_used(option: Any, kind: Any, match: str) -> None:
    with pytest.raises(kind, match=match):
        dc.gradient(model, X, **option)


def test_tuples_and_further_arguments_together() -> None:
    a, b = dc.gradient(lambda a, b, c, d=0.0: a * b**c + d, (2.0, 3.0), args=(2,))
    assert (float(a), float(b)) == (9.0, 12.0)


# -- stop_gradient ------------------------------------------------------------------------


def test_no_derivative_flows() -> None:
    def f(x: Any) -> Any:
        y = dc.stop_gradient(x)
        assert isinstance(y, dc.TArray)
        return np.sum(x * y) + dc.stop_gradient(x[0]) ** 3

    assert dc.gradient(f, [2.0, 3.0]).tolist() == [2.0, 3.0]
    assert (dc.hessian(f, [2.0, 3.0]) == 0).all()
    assert (dc.cover_hessian(f, [2.0, 3.0]).h == 0).all()


def test_values_keep_their_bits_and_memory() -> None:
    def f(x: Any) -> Any:
        y = dc.stop_gradient(x)
        assert (dc.value(y) == dc.value(x)).all()
        y[0] = x[1] ** 2  # a copy: x stays as it was
        return np.sum(y) + 0 * x[0]

    assert dc.gradient(f, [2.0, 3.0]).tolist() == [0.0, 6.0]


def test_nests_and_plain_values_pass() -> None:
    seen = {}

    def f(p: Any) -> Any:
        q = dc.stop_gradient(p)
        seen.update(dc.value(q))
        boxed = np.empty(2, dtype=object)
        boxed[:] = [p["a"], 2.0]
        held = dc.stop_gradient(boxed)
        assert held.dtype == object
        return q["a"] * p["a"] + np.sum(q["b"][0] * p["b"][0]) + held[0]

    x0 = {"a": 2.0, "b": (np.array([1.0, 5.0]),)}
    found = dc.gradient(f, x0)
    assert float(found["a"]) == 2.0
    assert found["b"][0].tolist() == [1.0, 5.0]
    assert seen["a"] == 2.0
    plain = {"a": 1.0, "b": [np.ones(2), "text"], "c": None}
    assert dc.stop_gradient(plain)["b"][1] == "text"
    assert dc.stop_gradient(3.0) == 3.0
    assert dc.value({"a": (1, [2.0])}) == {"a": (1, [2.0])}
    assert dc.isconstant(dc.stop_gradient(dc.TVar(2.0)))


def test_detached_views_transposes_and_single_precision() -> None:
    x0 = np.arange(6, dtype=np.float32).reshape(2, 3)

    def f(x: Any) -> Any:
        part = dc.stop_gradient(x.T[1:])
        assert part.dtype == np.float32
        assert part.shape == (2, 2)
        return np.sum(part * x.T[1:])

    expected = x0.copy()
    expected[:, 0] = 0
    assert (dc.gradient(f, x0) == expected).all()


def test_domains_behind_a_detached_value_do_not_count() -> None:
    f = lambda x: x[0] + dc.stop_gradient(np.sqrt(x[1]))  # noqa: E731
    assert dc.gradient(f, [1.0, 0.0]).tolist() == [1.0, 0.0]


def test_detached_values_tie_without_complaint() -> None:
    def f(x: Any) -> Any:
        y = dc.stop_gradient(x)
        assert bool(y[0] >= 1.0)
        assert (y >= 1.0).all()
        assert not bool(y[0] < y[1])
        return x[0] if y[0] > 1.0 else 2 * x[1]

    assert dc.gradient(f, [1.0, 1.0]).tolist() == [0.0, 2.0]
    tape, _ = dc.tape_function(f, [1.0, 1.0], kinks="branch")
    assert tape.kinks == ()
    with pytest.raises(NondifferentiableError):
        dc.gradient(
            lambda x: x[0] if dc.stop_gradient(x[0]) > x[1] else x[1], [1.0, 1.0]
        )


@pytest.mark.parametrize(
    "f",
    [
        dc.stop_gradient,
        lambda x: dc.stop_gradient(np.sum(x)),
        lambda x: [dc.stop_gradient(x[0] * x[1]), 3.0],
    ],
)
def test_nothing_but_detached_outputs(f: Any) -> None:
    with pytest.raises(ConstantProgramError, match="stop_gradient"):
        dc.jacobian(f, [1.0, 2.0])


def test_some_detached_outputs() -> None:
    J = dc.jacobian(lambda x: [dc.stop_gradient(x[0]), x[0] * x[1]], [2.0, 3.0])
    assert J.tolist() == [[0.0, 0.0], [3.0, 2.0]]


def test_detached_nodes_survive_copies() -> None:
    tape, out = dc.tape_function(lambda x: x[0] * dc.stop_gradient(x[0]), [3.0])
    for other in (copy.deepcopy(tape), pickle.loads(pickle.dumps(tape))):
        assert dc.gradient(other, out).tolist() == [3.0]
