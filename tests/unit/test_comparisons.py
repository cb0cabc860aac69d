"""Comparisons, ties, kinks and ends of domains."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import DomainError, NondifferentiableError


def observe(read: Callable[[Any], Any], x0: Any) -> Any:
    """What ``read`` sees inside a program."""
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append(read(x))
        return np.sum(x)

    dc.tape_function(f, x0)
    return seen[0]


SCALAR_COMPARISONS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "greater": (lambda x: x[0] > x[1], False),
    "less": (lambda x: x[0] < x[1], True),
    "at least": (lambda x: x[0] >= 0.5, True),
    "at most": (lambda x: x[0] <= 0.5, False),
    "reflected": (lambda x: operator.lt(0, x[0]), True),
    "reflected numpy": (lambda x: bool(np.float64(0.5) > x[0]), False),
    "chained": (lambda x: 0 < x[0] < 1.5, True),
    "integer": (lambda x: x[1] > 1, True),
    "equal": (lambda x: x[0] == 1.0, True),
    "not equal": (lambda x: x[0] != 1.0, False),
    "equal another": (lambda x: x[0] == x[1], False),
    "equal text": (lambda x: x[0] == "a", False),
    "itself": (lambda x: x[0] >= x[0], True),
    "itself strictly": (lambda x: x[0] < x[0], False),
    "builtin max": (lambda x: dc.value(max(x[0], x[1], 0.3)) == 2.0, True),
    "builtin min": (lambda x: dc.value(min(x[0], x[1])) == 1.0, True),
    "membership": (lambda x: 2.0 in list(x), True),
}


@pytest.mark.parametrize("kind", SCALAR_COMPARISONS)
def test_scalar_comparisons_give_plain_booleans(kind: str) -> None:
    read, expected = SCALAR_COMPARISONS[kind]
    result = observe(read, [1.0, 2.0])
    assert isinstance(result, bool | np.bool_)
    assert bool(result) is expected


ARRAY_COMPARISONS: dict[str, tuple[Callable[[Any], Any], list[bool]]] = {
    "greater": (lambda x: x > 0, [True, False, True]),
    "reflected": (lambda x: operator.le(0.5, x), [True, False, True]),
    "arrays": (lambda x: x < x[::-1] + 0.5, [True, True, False]),
    "plain array left": (lambda x: np.array([0.0, 0.0, 9.0]) < x, [True, False, False]),
    "ufunc": (lambda x: np.less_equal(x, 1.5), [True, True, False]),
    "equal": (lambda x: x == 1.0, [True, False, False]),
    "not equal": (lambda x: x != 1.0, [False, True, True]),
    "combined": (lambda x: (x > 0) & (x < 2), [True, False, False]),
    "itself": (lambda x: x >= x, [True, True, True]),
    "isnan": (np.isnan, [False, False, False]),
    "isfinite": (np.isfinite, [True, True, True]),
    "isinf": (np.isinf, [False, False, False]),
    "signbit": (np.signbit, [False, True, False]),
}


@pytest.mark.parametrize("kind", ARRAY_COMPARISONS)
def test_array_comparisons_give_plain_arrays(kind: str) -> None:
    read, expected = ARRAY_COMPARISONS[kind]
    result = observe(read, [1.0, -2.0, 3.0])
    assert type(result) is np.ndarray
    assert result.dtype == bool
    np.testing.assert_array_equal(result, expected)


TIES: dict[str, Callable[[Any], Any]] = {
    "greater than zero": lambda x: x[0] if x[2] > 0 else x[1],
    "at least zero": lambda x: x[0] if x[2] >= 0 else x[1],
    "less than zero": lambda x: x[0] if x[2] < 0 else x[1],
    "at most, reflected": lambda x: x[0] if operator.le(0, x[2]) else x[1],
    "two variables": lambda x: x[0] if x[0] > x[1] else x[1],
    "variable and constant": lambda x: x[0] if x[1] < 1.0 else x[2],
    "array and constant": lambda x: np.sum(x[x > 0]),
    "one entry of an array": lambda x: np.sum(np.where(x > 0, x, 2.0 * x)),
    "two arrays": lambda x: np.sum(np.where(x[:2] < x[1::-1], x[:2], 0.0)),
    "unused result": lambda x: (x[2] > 0, x[0])[1],
    "builtin max": lambda x: max(x[0], x[1]),
    "builtin min": lambda x: min(x),
    "sorted": lambda x: sorted(x)[2],
    "computed": lambda x: x[0] if 2.0 * x[0] - 2.0 > 0 else x[1],
    "ufunc": lambda x: np.sum(x[np.greater(x, 0.0)]),
}


@pytest.mark.parametrize("kind", TIES)
def test_a_comparison_at_a_tie_raises_when_made(kind: str) -> None:
    with pytest.raises(NondifferentiableError, match=r"\w+ \w+") as caught:
        dc.tape_function(TIES[kind], [1.0, 1.0, 0.0])
    assert caught.value.status == "NONDIFFERENTIABLE"
    assert isinstance(caught.value, ValueError)


def test_equality_with_a_constant_never_raises() -> None:
    def f(x: Any) -> Any:
        y = np.where(x == 0.0, 1.0, x)
        total: Any = np.prod(y)
        if x[0] == 0.0:
            total = total + 5.0 * x[1]
        if x[1] != 0.0:
            total = total * 2.0
        return total

    np.testing.assert_array_equal(dc.gradient(f, [0.0, 3.0]), [0.0, 12.0])


def test_constants_compare_without_a_tie() -> None:
    def f(x: Any) -> Any:
        zero = type(x[0])(0.0)
        blank = np.zeros_like(x)
        assert zero >= 0
        assert bool(np.all(blank >= 0.0))
        return x[0] + zero

    np.testing.assert_array_equal(dc.gradient(f, [0.0, 1.0]), [1.0, 0.0])


def test_a_branch_is_the_one_taken() -> None:
    def f(x: Any) -> Any:
        if x[0] > x[1]:
            return x[0] ** 2 * x[1]
        return x[1] ** 3

    np.testing.assert_array_equal(dc.gradient(f, [2.0, 1.0]), [4.0, 4.0])
    np.testing.assert_array_equal(dc.hessian(f, [2.0, 1.0]), [[2.0, 4.0], [4.0, 0.0]])
    np.testing.assert_array_equal(dc.gradient(f, [1.0, 2.0]), [0.0, 12.0])


# --- kinks and ends of domains count only where an output depends on them ----------

KINKS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "abs": (lambda x: np.abs(x[0]), "abs"),
    "builtin abs": (lambda x: abs(x[0] * x[1]), "abs"),
    "array abs": (lambda x: np.sum(np.abs(x)), "abs"),
    "sign": (lambda x: np.sign(x[0]) + x[1], "sign"),
    "floor": (lambda x: np.floor(x[1]), "floor"),
    "ceil": (lambda x: np.ceil(2.0 * x[1]), "ceil"),
    "round": (lambda x: np.round(x[1] + 0.5), "r"),
    "mod": (lambda x: np.mod(x[1], 0.5), "mod|remainder"),
    "heaviside": (lambda x: np.heaviside(x[0], 0.5) * x[1], "heaviside"),
    "maximum constant": (lambda x: np.sum(np.maximum(x, 1.0)), "max"),
    "maximum": (lambda x: np.maximum(x[1], x[2]), "max"),
    "minimum": (lambda x: np.sum(np.minimum(x[1:], x[:0:-1])), "min"),
    "fmax": (lambda x: np.fmax(x[1], x[2]), "max"),
    "fmin": (lambda x: np.fmin(x[1], 1.0), "min"),
    "max": (lambda x: np.max(x), "max"),
    "min": (lambda x: (-x).min(), "min"),
    "max over rows": (
        lambda x: np.sum(np.max(np.stack([x, x[[0, 2, 1]]]), axis=0)),
        "max",
    ),
    "clip": (lambda x: np.sum(np.clip(x, 0.0, 5.0)), "maximum|minimum"),
    "clip above": (lambda x: np.sum(np.clip(x, -1.0, 1.0)), "maximum|minimum"),
    "copysign": (lambda x: np.copysign(x[1], x[0]), "copysign"),
}


@pytest.mark.parametrize("kind", KINKS)
@pytest.mark.parametrize(
    "sweep", [dc.gradient, dc.hessian, dc.cover_hessian, dc.hessian_bound]
)
def test_kinks_raise_where_an_output_depends_on_them(kind: str, sweep: Any) -> None:
    f, name = KINKS[kind]
    with pytest.raises(NondifferentiableError, match=name) as caught:
        sweep(f, [0.0, 1.0, 1.0])
    assert caught.value.status == "NONDIFFERENTIABLE"
    assert caught.value.step is None
    assert caught.value.elemental


DOMAINS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sqrt at zero": (lambda x: np.sqrt(x[0]), "sqrt"),
    "sqrt of negative": (lambda x: np.sqrt(x[1]), "sqrt"),
    "cbrt at zero": (lambda x: np.cbrt(x[0]), "cbrt"),
    "fraction at zero": (lambda x: x[0] ** 0.5, "power|sqrt"),
    "1.5 at zero": (lambda x: np.sum(x[:1] ** 1.5), "power"),
    "fraction of negative": (lambda x: x[1] ** 0.5, "power"),
    "negative power at zero": (lambda x: x[0] ** -1, "power|reciprocal"),
    "reciprocal": (lambda x: 1.0 / x[0], "divide|reciprocal"),
    "divide": (lambda x: x[1] / x[0], "divide"),
    "log at zero": (lambda x: np.log(x[0]), "log"),
    "log of negative": (lambda x: np.sum(np.log(x)), "log"),
    "log2": (lambda x: np.log2(x[1]), "log2"),
    "log10": (lambda x: np.log10(x[1]), "log10"),
    "log1p": (lambda x: np.log1p(x[1]), "log1p"),
    "arcsin at one": (lambda x: np.arcsin(x[2]), "arcsin"),
    "arccos beyond": (lambda x: np.arccos(2.0 * x[2]), "arccos"),
    "arccosh at one": (lambda x: np.arccosh(x[2]), "arccosh"),
    "arctanh at one": (lambda x: np.arctanh(x[2]), "arctanh"),
    "arctan2 at origin": (lambda x: np.arctan2(x[0], 2.0 * x[0]), "arctan2"),
    "hypot at origin": (lambda x: np.hypot(x[0], x[0]), "hypot"),
    "norm at origin": (lambda x: np.linalg.norm(x[:1]), "norm|sqrt"),
    "variable exponent": (lambda x: x[1] ** x[2], "power"),
    "mod zero": (lambda x: np.mod(x[2], x[0]), "mod|remainder"),
}


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize(
    "sweep", [dc.gradient, dc.hessian, dc.cover_hessian, dc.hessian_bound]
)
def test_ends_of_domains_raise_where_an_output_depends_on_them(
    kind: str, sweep: Any
) -> None:
    f, name = DOMAINS[kind]
    with pytest.raises((DomainError, NondifferentiableError), match=name) as caught:
        sweep(f, [0.0, -1.0, 1.0])
    assert caught.value.status in {"DOMAIN_ERROR", "NONDIFFERENTIABLE"}


def test_a_domain_error_says_where() -> None:
    with pytest.raises(DomainError, match="log") as caught:
        dc.gradient(lambda x: np.log(x[0]) * 2.0, [-1.5])
    error = caught.value
    assert error.status == "DOMAIN_ERROR"
    assert error.elemental == "log"
    assert isinstance(error.node, int)
    assert -1.5 in [float(v) for v in error.values]  # type: ignore[arg-type]
    assert "-1.5" in str(error)


UNUSED: dict[str, Callable[[Any], Any]] = {
    "dropped": lambda x: (np.log(x[0]), np.sqrt(x[0]), x[1] ** 2)[2],
    "dropped array": lambda x: (np.log(x), x[1] ** 2)[1],
    "where": lambda x: np.sum(np.where(x > -2.0, x, np.log(x))[1:] ** 2),
    "selected": lambda x: np.log(x)[1] * 0.0 + x[1] ** 2,
    "kink": lambda x: (np.abs(x[0] + 1.0), np.maximum(x, -1.0), x[1] ** 2)[2],
    "overwritten": lambda x: _overwritten(x),
}


def _overwritten(x: Any) -> Any:
    y = np.log(x)
    y[0] = 0.0
    return y[0] + x[1] ** 2


@pytest.mark.parametrize("kind", UNUSED)
def test_what_no_output_depends_on_does_not_count(kind: str) -> None:
    tape, out = dc.tape_function(UNUSED[kind], [-1.0, 3.0])
    assert tape.vals[out] == 9.0
    np.testing.assert_array_equal(dc.gradient(tape, out), [0.0, 6.0])
    np.testing.assert_array_equal(dc.hessian(tape, out), [[0.0, 0.0], [0.0, 2.0]])
    for merge in ("sum", "quadrature"):
        h = dc.cover_hessian(tape, out, merge=merge).h
        np.testing.assert_allclose(h, [0.0, 2.0**0.5], rtol=1e-15)


def test_one_output_may_be_bad_where_another_is_asked_for() -> None:
    tape, outs = dc.tape_function(lambda x: [x[0] ** 2, x[1] ** 2], [0.0, 1.0])
    np.testing.assert_array_equal(dc.gradient(tape, int(outs[0])), [0.0, 0.0])
    with pytest.raises(DomainError):
        dc.jacobian(lambda x: [np.log(x[0]), x[1] ** 2], [0.0, 1.0])


def test_never_a_wrong_number_near_a_kink() -> None:
    """The next floating-point number on either side is differentiable."""
    for x0, slope in (
        (math.nextafter(0.0, 1.0), 1.0),
        (math.nextafter(0.0, -1.0), -1.0),
    ):
        np.testing.assert_array_equal(
            dc.gradient(lambda x: np.abs(x[0]), [x0]), [slope]
        )
