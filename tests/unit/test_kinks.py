"""Kinks and ties on tapes that take the branch of the value."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import DomainError, NondifferentiableError

Z = [0.0, 0.0]

# name: (program, point, gradient where the value's branch is taken, elemental noted)
CASES: dict[str, tuple[Callable[[Any], Any], list[float], list[float], str]] = {
    "abs": (lambda x: abs(x[0]) + x[1], Z, [0.0, 1.0], "absolute"),
    "abs array": (lambda x: np.sum(np.abs(x)), [0.0, -2.0], [0.0, -1.0], "absolute"),
    "sign": (lambda x: np.sign(x[0]) + x[1], Z, [0.0, 1.0], "sign"),
    "floor": (lambda x: np.floor(x[0]) * x[1], [2.0, 3.0], [0.0, 2.0], "floor"),
    "round": (lambda x: np.round(x[0]) * x[1], [2.5, 3.0], [0.0, 2.0], "rint"),
    "mod": (lambda x: x[0] % 2.0 + x[1], [4.0, 1.0], [1.0, 1.0], "mod"),
    "maximum": (lambda x: np.maximum(x[0], x[1]), [3.0, 3.0], [1.0, 0.0], "maximum"),
    "minimum": (lambda x: np.minimum(x[0], x[1]), [3.0, 3.0], [1.0, 0.0], "minimum"),
    "relu": (lambda x: np.maximum(x[0], 0.0) + x[1], Z, [1.0, 1.0], "maximum"),
    "relu reversed": (lambda x: np.maximum(0.0, x[0]) + x[1], Z, [0.0, 1.0], "maximum"),
    "max": (lambda x: np.max(x), [3.0, 3.0], [1.0, 0.0], "tie"),
    "min": (lambda x: np.min(x[::-1]), [3.0, 3.0], [0.0, 1.0], "tie"),
    "sort": (
        lambda x: np.sort(x)[1] + 2 * np.sort(x)[0],
        [3.0, 3.0],
        [2.0, 1.0],
        "tie",
    ),
    "median": (lambda x: np.median(x), [3.0, 3.0], [0.5, 0.5], "tie"),
    "clip low": (
        lambda x: np.clip(x[0], 1.0, 2.0) + x[1],
        [1.0, 0.0],
        [1.0, 1.0],
        "maximum",
    ),
    "clip high": (
        lambda x: np.clip(x[0], 1.0, 2.0) + x[1],
        [2.0, 0.0],
        [1.0, 1.0],
        "minimum",
    ),
    "norm": (lambda x: np.linalg.norm(x), Z, [0.0, 0.0], "norm"),
    "norm axis": (
        lambda x: np.sum(np.linalg.norm(np.stack([x, 2 * x]), axis=0)),
        [0.0, 3.0],
        [0.0, 5**0.5],
        "norm",
    ),
    "frobenius": (lambda x: np.linalg.norm(np.outer(x, [1.0, 1.0])), Z, Z, "norm"),
    "std": (lambda x: np.std(x) + x[0], [3.0, 3.0], [1.0, 0.0], "norm"),
    "hypot": (lambda x: np.hypot(x[0], x[1]) + x[0], Z, [1.0, 0.0], "hypot"),
    "hypot constant": (lambda x: np.hypot(x[0], 0.0) + x[1], Z, [0.0, 1.0], "hypot"),
    "heaviside": (lambda x: np.heaviside(x[0], 0.5) + x[1], Z, [0.0, 1.0], "heaviside"),
    "copysign": (lambda x: np.copysign(x[0], 1.0) + x[1], Z, [0.0, 1.0], "copysign"),
    "branch": (
        lambda x: x[0] if x[0] > 1.0 else x[1] ** 2,
        [1.0, 3.0],
        [0.0, 6.0],
        ">",
    ),
    "python max": (lambda x: max(x[0], x[1]), [3.0, 3.0], [1.0, 0.0], ">"),
    "where": (
        lambda x: np.sum(np.where(x >= 1, 2 * x, x)),
        [1.0, 0.0],
        [2.0, 1.0],
        ">=",
    ),
    "equality": (
        lambda x: x[0] if x[0] == x[1] else 2 * x[1],
        [3.0, 3.0],
        [1.0, 0.0],
        "==",
    ),
    "argmax": (lambda x: x[np.argmax(x)], [3.0, 3.0], [1.0, 0.0], "argmax"),
    "argsort": (lambda x: x[np.argsort(x)][1], [3.0, 3.0], [0.0, 1.0], "argsort"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_branch_of_the_value(name: str) -> None:
    f, x0, expected, elemental = CASES[name]
    tape, out = dc.tape_function(f, x0, kinks="branch")
    np.testing.assert_allclose(dc.gradient(tape, out), expected, rtol=1e-15)
    assert (
        dc.gradient(f, x0, kinks="branch").tolist() == dc.gradient(tape, out).tolist()
    )
    assert np.isfinite(dc.hessian(tape, out)).all()
    with np.errstate(all="ignore"):
        assert tape.vals[out] == f(np.array(x0))
    assert tape.kinks
    assert {kink.elemental for kink in tape.kinks} == {elemental}
    cover = dc.cover_hessian(tape, out)
    assert cover.kinks == tape.kinks
    assert dc.iscover(cover, dc.hessian(tape, out))
    assert "kinks" in repr(cover)


@pytest.mark.parametrize("name", CASES)
def test_refused_otherwise(name: str) -> None:
    f, x0, _, _ = CASES[name]
    with pytest.raises((NondifferentiableError, DomainError)):
        dc.gradient(f, x0)


@pytest.mark.parametrize("name", CASES)
def test_in_single_precision(name: str) -> None:
    f, x0, expected, elemental = CASES[name]
    x = np.array(x0, dtype=np.float32)
    found = dc.cover_hessian(f, x, kinks="branch")
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-6)
    assert {kink.elemental for kink in found.kinks} == {elemental}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.log(x[0]) + x[1],
        lambda x: np.sqrt(x[0]) + x[1],
        lambda x: 1 / (x[0] + 0.0) + x[1],
        lambda x: np.sqrt(np.sum(x**2)),
        lambda x: np.arctan2(x[0], x[1]),
        lambda x: (x[0] - 1) % x[1],
    ],
)
def test_ends_of_domains_still_raise(f: Any) -> None:
    with pytest.raises(DomainError):
        dc.gradient(f, Z, kinks="branch")


def test_a_comparison_with_nan_still_raises() -> None:
    with pytest.raises(DomainError):
        dc.gradient(
            lambda x: x[0] if np.log(x[0]) > 0 else x[1], [-1.0, 1.0], kinks="branch"
        )


def test_only_kinks_that_matter_are_listed() -> None:
    def f(x: Any) -> Any:
        unused = abs(x[0])
        hidden = 0.0 * np.sign(x[1])
        return [x[0] + 0.0 * unused.v + 0.0 * dc.value(hidden), abs(x[1])]

    tape, outs = dc.tape_function(f, Z, kinks="branch")
    assert [kink.elemental for kink in tape.kinks] == ["absolute"]
    assert dc.cover_hessian(tape, outs[0]).kinks == ()
    assert len(dc.cover_hessian(tape, outs[1]).kinks) == 1


def test_comparisons_are_always_listed() -> None:
    def f(x: Any) -> Any:
        assert x[0] >= 1.0
        assert not (x < 1.0).any()
        assert x[0] == 1.0  # a guard: equality with a constant is no branch
        return x[0] * x[1]

    tape, _ = dc.tape_function(f, [1.0, 1.0], kinks="branch")
    assert [kink.elemental for kink in tape.kinks] == [">=", "<", "<"]
    assert [kink.values for kink in tape.kinks] == [(1.0, 1.0)] * 3


def test_no_kinks_by_default_and_where_there_is_none() -> None:
    f = lambda x: np.sum(np.abs(x)) + np.max(x)  # noqa: E731
    assert dc.tape_function(f, [1.0, 2.0])[0].kinks == ()
    cover = dc.cover_hessian(f, [1.0, 2.0], kinks="branch")
    assert cover.kinks == ()
    assert "kink" not in repr(cover)
    assert (cover.gradient == dc.gradient(f, [1.0, 2.0])).all()


def test_the_first_of_tied_maxima_along_axes() -> None:
    x0 = np.array([[1.0, 1.0, 0.0], [2.0, 3.0, 3.0]])
    found = dc.gradient(lambda x: np.sum(np.max(x, axis=1)), x0, kinks="branch")
    assert found.tolist() == [[1, 0, 0], [0, 1, 0]]
    found = dc.gradient(lambda x: np.max(x, initial=3.0), x0, kinks="branch")
    assert found.tolist() == [[0, 0, 0], [0, 1, 0]]


def test_a_constant_may_be_the_first_of_tied_maxima() -> None:
    tape, out = dc.tape_function(
        lambda x: np.max(np.stack([1.0, x[0]])) + x[1], [1.0, 0.0], kinks="branch"
    )
    assert dc.gradient(tape, out).tolist() == [0.0, 1.0]
    assert [kink.elemental for kink in tape.kinks] == ["max"]


def test_kinks_say_what_they_are() -> None:
    tape, _ = dc.tape_function(
        lambda x: np.hypot(x[0], x[1]) if x[0] < x[1] else abs(x[0]), Z, kinks="branch"
    )
    assert [repr(kink) for kink in tape.kinks] == [
        "<Kink at node 0: 0.0 < 0.0>",
        "<Kink at node 2: absolute(0.0)>",
    ]
    kink = tape.kinks[1]
    assert (kink.node, kink.elemental, kink.values) == (2, "absolute", (0.0,))
    with pytest.raises(AttributeError):
        kink.node = 3  # type: ignore[misc]


def test_kinks_survive_copies() -> None:
    tape, out = dc.tape_function(lambda x: abs(x[0]) * x[1], [0.0, 1.0], kinks="branch")
    for other in (copy.deepcopy(tape), pickle.loads(pickle.dumps(tape))):
        assert other.kinks == tape.kinks
        assert dc.cover_hessian(other, out).kinks == tape.kinks


def test_many_ties_at_once() -> None:
    n = 20000
    tape, out = dc.tape_function(
        lambda x: np.sum(np.where(x > 0, x, 2 * x)), np.zeros(n), kinks="branch"
    )
    assert len(tape.kinks) == n
    assert (dc.gradient(tape, out) == 2).all()


def test_second_order_of_a_norm_at_zero() -> None:
    f = lambda x: np.linalg.norm(x) + np.sum(x**2)  # noqa: E731
    assert dc.hessian(f, Z, kinks="branch").tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert dc.hvp(f, Z, [1.0, 2.0], kinks="branch").tolist() == [2.0, 4.0]
    assert (
        dc.cover_hessian(f, Z, merge="quadrature", kinks="branch").h.tolist()
        == [2**0.5] * 2
    )


def test_covers_of_residuals_and_jacobians_tell_kinks():
    def f(x):
        return [abs(x[0]), x[1] ** 2]

    nls = dc.cover_nls(f, [0.0, 1.0], kinks="branch")
    jac = dc.cover_jacobian(f, [0.0, 1.0], kinks="branch")
    assert [k.elemental for k in nls.kinks] == ["absolute"]
    assert [k.elemental for k in jac.kinks] == ["absolute"]
    assert "kinks" in repr(nls)
    assert "kinks" in repr(jac)
    assert dc.cover_nls(f, [1.0, 1.0]).kinks == ()


def test_sizes_that_underflow_are_refused():
    with pytest.raises(DomainError, match="underflows"):
        dc.cover_jacobian(
            lambda x: [x[0] * 1e-160, x[1]], [1.0, 1.0], scales=[1e-170, 1.0]
        )
    a, b = dc.cover_jacobian(lambda x: [x[0] * 1e-160, x[1]], [1.0, 1.0])
    assert a[0] * b[0] >= 1e-160 * (1 - 1e-15)
