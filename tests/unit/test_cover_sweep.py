"""Covers along a chain: inputs, results, carrying, errors, storages."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import checkpoint as cp
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)
from tests._chain_steps import (
    SCHEDULES,
    X0,
    assert_same,
    energy,
    plain_chain,
    step,
    whole,
)

# Equal to one tape ---------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("carry", ["auto", "always"])
def test_it_equals_one_tape_bit_for_bit(schedule: Any, carry: Any) -> None:
    chain = plain_chain()
    found = cp.cover_sweep(chain, X0, schedule=schedule, carry=carry)
    assert_same(found, dc.cover_hessian(whole(chain), X0))
    assert found.report.carried == (carry == "always")
    assert found.report.executed == found.report.predicted
    assert found.report.abandoned is None


def lorenz(x: Any, k: int) -> Any:
    h = 0.01

    def slope(y: Any) -> Any:
        return (np.roll(y, -1) - np.roll(y, 2)) * np.roll(y, 1) - y + 8.0

    k1 = slope(x)
    k2 = slope(x + h / 2 * k1)
    k3 = slope(x + h / 2 * k2)
    k4 = slope(x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@pytest.mark.parametrize(("n", "steps"), [(10, 60), (300, 25)])
def test_lorenz_96_equals_one_tape_bit_for_bit(n: int, steps: int) -> None:
    x0 = 8 + np.random.default_rng(3).normal(size=n)
    chain = cp.Chain([cp.Chain.uniform(steps, lorenz), energy])
    found = cp.cover_sweep(chain, x0, schedule=cp.Revolve(slots=4))
    assert not found.report.carried
    assert_same(found, dc.cover_hessian(whole(chain), x0))


@pytest.mark.parametrize("shuffle", ["roll", "concatenate", "stack"])
def test_states_that_were_put_together_from_many_nodes(shuffle: str) -> None:
    def parts(x: Any, k: int) -> Any:
        y = np.sin(x) + 0.3 * x[::-1]
        if shuffle == "roll":
            return np.roll(y, 7)
        if shuffle == "stack":
            return np.stack([y[1::2], y[::2]]).ravel()
        return np.concatenate([y[300:], y[:300]])

    def overlap(x: Any, k: int) -> Any:
        return np.sum(x[:-1] * x[1:] * x[1:]) + np.sum(x[1:] * x[:-1])

    x0 = np.random.default_rng(4).normal(size=600)
    chain = cp.Chain([parts, parts, overlap])
    found = cp.cover_sweep(chain, x0, schedule=cp.Revolve(slots=1))
    assert not found.report.carried
    assert_same(found, dc.cover_hessian(whole(chain), x0))


def test_a_zero_partial_elsewhere_does_not_change_the_bits_of_long_products() -> None:
    def zero(x: Any, k: int) -> Any:
        return np.exp(x) + 0.0 * np.sum(x)

    def overlap(x: Any, k: int) -> Any:
        return np.concatenate([x[:-1] * x[1:], x[:1]])

    def total(x: Any, k: int) -> Any:
        return np.sum(x[1:] * x[:-1])

    x0 = np.random.default_rng(4).normal(size=400)
    chain = cp.Chain([zero, overlap, overlap, total])
    found = cp.cover_sweep(chain, x0, schedule=cp.Revolve(slots=1))
    assert not found.report.carried
    assert_same(found, dc.cover_hessian(whole(chain), x0))


def test_float32() -> None:
    chain, x0 = plain_chain(), X0.astype(np.float32)
    one = dc.cover_hessian(whole(chain), x0)
    for carry in ("auto", "always"):
        found = cp.cover_sweep(chain, x0, schedule=cp.Revolve(slots=2), carry=carry)  # type: ignore[arg-type]
        assert_same(found, one)
        assert found.h.dtype == found.gradient.dtype == np.float32


def test_long_float32_states() -> None:
    def overlap(x: Any, k: int) -> Any:
        return 0.5 * np.concatenate([x[:-1] * x[1:], x[:1] ** 2]) + np.tanh(x)

    x0 = np.random.default_rng(4).normal(size=400).astype(np.float32)
    chain = cp.Chain([overlap, overlap, overlap, energy])
    found = cp.cover_sweep(chain, x0, schedule=cp.Revolve(slots=1))
    assert_same(found, dc.cover_hessian(whole(chain), x0))


Body = namedtuple("Body", ["at", "speed"])


def test_nested_states_of_any_kind() -> None:
    def move(s: Any, k: int) -> Any:
        at = s["body"].at + 0.1 * s["body"].speed
        pull = -np.sin(at) * s["mass"]
        return {
            "body": Body(at, s["body"].speed + 0.1 * pull),
            "mass": 1.01 * s["mass"],
        }

    def last(s: Any, k: int) -> Any:
        return np.sum(s["body"].at ** 2 * s["mass"]) + np.sum(s["body"].speed)

    x0 = {"body": Body(np.array([1.0, 2.0]), np.array([0.1, 0.2])), "mass": 1.5}
    chain = cp.Chain([cp.Chain.uniform(6, move), last])
    found = cp.cover_sweep(chain, x0, schedule=cp.Revolve(slots=2))
    one = dc.cover_hessian(whole(chain), x0)
    assert isinstance(found.h["body"], Body)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(one))
    np.testing.assert_array_equal(found.h["body"].at, one.h["body"].at)
    np.testing.assert_array_equal(found.gradient["mass"], one.gradient["mass"])


def test_spaces_may_change_from_step_to_step() -> None:
    chain = cp.Chain(
        [
            lambda x, k: np.outer(x, x[:2]),
            lambda m, k: m.T @ m,
            lambda m, k: (np.linalg.inv(m + np.eye(2)), m[0]),
            lambda pair, k: pair[0] @ pair[1],
            lambda v, k: v[0] * v[1],
            lambda s, k: np.exp(s) * s,
        ]
    )
    one = dc.cover_hessian(whole(chain), X0)
    for schedule in SCHEDULES:
        assert_same(cp.cover_sweep(chain, X0, schedule=schedule), one)


def test_parameters_and_ones_that_never_enter() -> None:
    def grow(x: Any, p: Any, k: int) -> Any:
        return x + p["rate"] * x * (1 - x / p["room"])

    def last(x: Any, p: Any, k: int) -> Any:
        return np.sum(x * p["rate"])

    x0 = np.array([0.2, 0.3])
    params = {"rate": 0.1, "room": np.array([2.0, 3.0]), "unused": np.ones(3)}
    chain = cp.Chain([cp.Chain.uniform(9, grow), last])
    one = dc.cover_hessian(whole(chain), (x0, params))
    for schedule in SCHEDULES:
        found = cp.cover_sweep(chain, x0, params=params, schedule=schedule)
        assert not found.report.carried
        np.testing.assert_array_equal(found.h, one.h[0])
        np.testing.assert_array_equal(found.gradient, one.gradient[0])
        for name in params:
            np.testing.assert_array_equal(found.params_h[name], one.h[1][name])
            np.testing.assert_array_equal(
                found.params_gradient[name], one.gradient[1][name]
            )
        assert not found.params_h["unused"].any()
        assert not found.params_gradient["unused"].any()


# No steps, one step --------------------------------------------------------------------


def test_no_steps() -> None:
    found = cp.cover_sweep(cp.Chain([]), 2.0, schedule=cp.Revolve(slots=1), params=X0)
    assert found.value == 2.0
    assert found.gradient == 1
    assert found.h == 0
    np.testing.assert_array_equal(found.params_h, np.zeros(3))
    np.testing.assert_array_equal(found.params_gradient, np.zeros(3))
    assert found.report.executed == cp.PlanCost()
    with pytest.raises(ShapeError, match="no steps"):
        cp.cover_sweep(cp.Chain([]), X0, schedule=cp.StoreAll())


def test_one_step() -> None:
    chain = cp.Chain([energy])
    for schedule in (*SCHEDULES, cp.Revolve(slots=0)):
        found = cp.cover_sweep(chain, X0, schedule=schedule)
        assert_same(found, dc.cover_hessian(whole(chain), X0))


def test_a_number_as_state() -> None:
    chain = cp.Chain([cp.Chain.uniform(4, lambda x, k: x * np.exp(-x))])
    found = cp.cover_sweep(chain, 0.3, schedule=cp.Binomial(slots=2))
    one = dc.cover_hessian(whole(chain), 0.3)
    assert isinstance(found.h, np.float64)
    assert (found.value, found.gradient, found.h) == (one.value, one.gradient, one.h)


# Options -------------------------------------------------------------------------------


def test_scales_and_ratio_reach_every_step() -> None:
    def asks(x: Any, k: int) -> Any:
        return np.stack([(x[0] - 0.4) * x[1], x[1] + x[0], x[2] * x[0]])

    chain = cp.Chain([step, asks, step, asks, energy])
    x0 = np.array([0.4, 1e-6, 2.0])
    for ratio in (None, 0.0, 0.5):
        for scales in (None, np.array([1e-3, 5.0, 0.1])):
            found = cp.cover_sweep(
                chain, x0, schedule=cp.Revolve(slots=1), scales=scales, ratio=ratio
            )
            one = dc.cover_hessian(whole(chain), x0, scales=scales, ratio=ratio)
            assert_same(found, one)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"scales": np.ones(2)}, ShapeError, r"scales .*\(2,\).*\(3,\)"),
        ({"scales": np.array([1.0, 0.0, 1.0])}, OptionError, "positive"),
        ({"scales": np.array([1.0, np.nan, 1.0])}, OptionError, "finite"),
        ({"params_scales": 1.0}, OptionError, "without params"),
        ({"ratio": 1.0}, OptionError, "ratio"),
        ({"carry": "never"}, OptionError, "'auto' or 'always'"),
        ({"check": "yes"}, OptionError, "check"),
        ({"verify": True}, OptionError, "fingerprint"),
        ({"params": np.float32(1.0)}, InputTypeError, "float32 and float64"),
    ],
)
def test_options_that_cannot_be_used(options: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        cp.cover_sweep(plain_chain(), X0, schedule=cp.StoreAll(), **options)


def test_points_that_cannot_be_used() -> None:
    for x0, error in (
        (X0.astype(np.float16), InputTypeError),
        ([1.0, 2.0], InputTypeError),
        (np.array([np.inf, 1.0]), DomainError),
        ("x", InputTypeError),
    ):
        with pytest.raises(error):
            cp.cover_sweep(plain_chain(), x0, schedule=cp.StoreAll())


def test_steps_without_a_tape_are_refused_before_any_is_run() -> None:
    calls: list[int] = []

    def counted(x: Any, k: int) -> Any:
        calls.append(k)
        return x

    rule = cp.Transition.from_vjp(counted, lambda x, ybar, k: ybar)
    chain = cp.Chain([step, rule, rule, energy])
    with pytest.raises(
        UnsupportedOperationError, match=r"steps 1 to 2 .*taped.*submap"
    ):
        cp.cover_sweep(chain, X0, schedule=cp.StoreAll())
    assert not calls


def test_a_submap_with_a_declared_bound_takes_part() -> None:
    def part(x: Any, k: int) -> Any:
        u, w = dc.value(x[0]), dc.value(x[1])
        slopes = [[np.cos(u) * w, np.sin(u)]]
        y = dc.submapnode([x[0], x[1]], [np.sin(u) * w], slopes, [[1.2, 1.0]])[0]
        return np.stack([y + x[0], x[1] * x[2], x[0]])

    chain = cp.Chain([step, part, step, energy])
    found = cp.cover_sweep(chain, X0, schedule=cp.Revolve(slots=1))
    assert_same(found, dc.cover_hessian(whole(chain), X0))


# Errors --------------------------------------------------------------------------------


def test_domain_errors_name_step_and_phase() -> None:
    def sink(x: Any, k: int) -> Any:
        return np.log(x) + 0.5

    chain = cp.Chain([cp.Chain.uniform(9, sink), lambda x, k: np.sum(x)])
    for schedule in (cp.Revolve(slots=2), cp.StoreAll()):
        for carry in ("auto", "always"):
            with pytest.raises(DomainError, match="step") as caught:
                cp.cover_sweep(chain, np.array([0.9]), schedule=schedule, carry=carry)  # type: ignore[arg-type]
            x, k = 0.9, 0
            while x > 0:
                x, k = np.log(x) + 0.5, k + 1
            assert caught.value.step == k
            expected = "record" if schedule == cp.StoreAll() else "advance"
            assert caught.value.phase == expected


def test_an_unselected_fault_is_no_error() -> None:
    def choose(x: Any, k: int) -> Any:
        return np.where(x > 0, np.sqrt(x), x) * 0.9

    chain = cp.Chain([cp.Chain.uniform(5, choose), energy])
    found = cp.cover_sweep(chain, X0, schedule=cp.Revolve(slots=1))
    assert_same(found, dc.cover_hessian(whole(chain), X0))


def test_a_cover_that_overflows_names_the_step() -> None:
    def steep(x: Any, k: int) -> Any:
        return np.sin(1e80 * x)

    chain = cp.Chain([cp.Chain.uniform(5, steep), lambda x, k: np.sum(x**2)])
    with pytest.raises(DomainError, match="not finite") as caught:
        cp.cover_sweep(chain, X0, schedule=cp.Revolve(slots=2))
    assert caught.value.phase == "reverse"
    assert caught.value.step in {0, 1}


def test_kinks() -> None:
    def bend(x: Any, k: int) -> Any:
        return np.maximum(x - 0.4, 0.0) + x

    with pytest.raises(NondifferentiableError) as caught:
        cp.cover_sweep(cp.Chain([bend, step, energy]), X0, schedule=cp.StoreAll())
    assert (caught.value.step, caught.value.phase) == (0, "record")
    chain = cp.Chain([cp.Transition.taped(bend, kinks="branch"), step, energy])
    found = cp.cover_sweep(chain, X0, schedule=cp.StoreAll())
    assert_same(found, dc.cover_hessian(whole(chain), X0, kinks="branch"))


def test_a_result_that_is_no_number() -> None:
    for carry in ("auto", "always"):
        for schedule in (cp.StoreAll(), cp.UniformBlock(slots=1)):
            with pytest.raises(ShapeError, match="last step, step 2"):
                cp.cover_sweep(
                    cp.Chain([step, step, step]),
                    X0,
                    schedule=schedule,
                    carry=carry,  # type: ignore[arg-type]
                )


def test_errors_of_a_step_go_on_as_they_are() -> None:
    def fails(x: Any, k: int) -> Any:
        if k == 2:
            raise KeyError(k)
        return x

    for carry in ("auto", "always"):
        with pytest.raises(KeyError):
            cp.cover_sweep(
                cp.Chain([cp.Chain.uniform(4, fails), energy]),
                X0,
                schedule=cp.Revolve(slots=1),
                carry=carry,  # type: ignore[arg-type]
            )


# The result ----------------------------------------------------------------------------


def test_the_result_prints_and_turns_into_its_cover() -> None:
    found = cp.cover_sweep(plain_chain(), X0, schedule=cp.StoreAll())
    np.testing.assert_array_equal(np.asarray(found), found.h)
    assert np.asarray(found, dtype=np.float32).dtype == np.float32
    assert repr(found).startswith("ChainCover: value=")
    assert dc.iscover(found.h, np.outer(found.h, found.h))
    nested = cp.cover_sweep(
        cp.Chain([lambda s, k: s["a"] * s["b"][0]]),
        {"a": 2.0, "b": np.array([3.0])},
        schedule=cp.StoreAll(),
    )
    assert np.asarray(nested).shape == (2,)
    with pytest.raises(ValueError, match="copy"):
        np.array(nested, copy=False)


def test_x0_and_params_are_left_as_they_are() -> None:
    x0, p = X0.copy(), np.array([1.0, 2.0])

    def scaled(x: Any, q: Any, k: int) -> Any:
        return np.sum(x) * q * 0.5

    chain = cp.Chain([scaled, scaled, lambda x, q, k: x @ q])
    cp.cover_sweep(chain, x0, params=p, schedule=cp.Revolve(slots=1))
    np.testing.assert_array_equal(x0, X0)
    x0[0], p[0] = 1.0, 3.0  # still writable
