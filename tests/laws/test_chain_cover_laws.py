"""Laws of covers and Hessian products along chains, on random chains of any kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers import checkpoint as cp
from derivative_covers.checkpoint.steps._transition import Taped
from tests._chain_steps import SCHEDULES

# What an entry of a state may be, from the state before and the parameters. All values
# stay between about -2 and 2.
FRESH: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sine": lambda a, b, p: np.sin(a),
    "square": lambda a, b, p: 0.4 * a**2,
    "product": lambda a, b, p: 0.4 * a * b,
    "quotient": lambda a, b, p: a / (2.0 + b**2),
    "affine": lambda a, b, p: 0.5 * a + 0.25,
    "parameter": lambda a, b, p: 0.3 * a * b * p,
    "exponential": lambda a, b, p: np.exp(-(a**2)) - 0.2 * p,
}
SPECIAL: dict[str, Callable[[Any, Any, Any], Any]] = {
    "same": lambda a, b, p: a,
    "constant": lambda a, b, p: 0.5,
    "zero": lambda a, b, p: (a - a) * b,
    "dead": lambda a, b, p: a * 0.0,
    "the parameter": lambda a, b, p: p,
}
Entry = tuple[str, int, int, int]


@dataclass(frozen=True)
class Mix:
    """A step: every entry of its output is made of two entries of the state."""

    entries: tuple[Entry, ...]

    def __call__(self, x: Any, params: Any, k: int) -> Any:
        made = []
        for name, a, b, c in self.entries:
            f = FRESH.get(name) or SPECIAL[name]
            made.append(f(x[a], x[b], params[c]))
        return np.array(made)


@dataclass(frozen=True)
class Last:
    """The objective."""

    weights: tuple[float, ...]

    def __call__(self, x: Any, params: Any, k: int) -> Any:
        return np.sum(x * np.array(self.weights)) + x[0] * x[-1] + params[0] * x[0] ** 2


@dataclass(frozen=True)
class Case:
    """A chain, a point of it and declared scales."""

    steps: tuple[Any, ...]
    x0: Any
    params: Any
    scales: Any
    params_scales: Any

    @property
    def chain(self) -> cp.Chain:
        return cp.Chain([cp.Transition.taped(f, numpy="rewrite") for f in self.steps])

    def program(self, x: Any, params: Any) -> Any:
        for k, f in enumerate(self.steps):
            x = f(x, params, k)
        return x

    def cover(self, schedule: Any, carry: Any = "auto") -> cp.ChainCover:
        return cp.cover_sweep(
            self.chain,
            self.x0,
            params=self.params,
            scales=self.scales,
            params_scales=self.params_scales,
            schedule=schedule,
            carry=carry,
        )


@st.composite
def cases(
    draw: Any,
    kinds: tuple[str, ...] = (*FRESH, *SPECIAL),
    numbers: tuple[float, ...] = (0.0, 1.0, -1.0, 0.7, 1.3, 1e-9),
) -> Case:
    """Random chains; values and scales are such that nothing overflows."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    nparams = draw(st.integers(1, 2))
    steps: list[Any] = []
    for n, m in pairwise(sizes):
        entry = st.tuples(
            st.sampled_from(kinds),
            st.integers(0, n - 1),
            st.integers(0, n - 1),
            st.integers(0, nparams - 1),
        )
        steps.append(Mix(tuple(draw(st.lists(entry, min_size=m, max_size=m)))))
    weight = st.sampled_from([1.0, -0.7, 0.3])
    steps.append(Last(tuple(draw(weight) for _ in range(sizes[-1]))))
    number = st.sampled_from(numbers)
    power = st.integers(-3, 3).map(lambda k: 2.0**k)

    def vector(of: Any, n: int) -> Any:
        return np.array([draw(of) for _ in range(n)])

    return Case(
        tuple(steps),
        vector(number, sizes[0]),
        vector(number, nparams),
        vector(power, sizes[0]),
        vector(power, nparams),
    )


def assert_equal(found: cp.ChainCover, one: Any) -> None:
    assert found.value == one.value
    assert found.asked == one.asked
    for mine, its in (
        (found.gradient, one.gradient[0]),
        (found.params_gradient, one.gradient[1]),
        (found.h, one.h[0]),
        (found.params_h, one.h[1]),
    ):
        np.testing.assert_array_equal(mine, its)


def constant(case: Case) -> bool:
    """Whether the result depends on nothing, which one tape refuses."""
    try:
        dc.tape_function(case.program, (case.x0, case.params), numpy="rewrite")
    except dc.ConstantProgramError:
        return True
    return False


@settings(max_examples=25)
@given(cases())
def test_every_schedule_gives_the_bits_of_one_tape(case: Case) -> None:
    if constant(case):
        return
    one = dc.cover_hessian(
        case.program,
        (case.x0, case.params),
        scales=(case.scales, case.params_scales),
        numpy="rewrite",
    )
    for schedule in SCHEDULES:
        assert_equal(case.cover(schedule), one)
    assert_equal(case.cover(cp.Revolve(slots=2), "always"), one)


@settings(max_examples=20)
@given(cases(kinds=tuple(FRESH), numbers=(1.0, -1.0, 0.7, 1.3, 0.35)))
def test_the_plain_attempt_gives_the_bits_of_one_tape(case: Case) -> None:
    found = case.cover(cp.Revolve(slots=2))
    one = dc.cover_hessian(
        case.program,
        (case.x0, case.params),
        scales=(case.scales, case.params_scales),
        numpy="rewrite",
    )
    assert_equal(found, one)
    if not found.asked:
        assert not found.report.carried


@settings(max_examples=20)
@given(cases(), st.integers(0, 10**6))
def test_hessian_products_have_the_bits_of_one_tape(case: Case, seed: int) -> None:
    if constant(case):
        return
    rng = np.random.default_rng(seed)
    v, params_v = rng.normal(size=case.x0.size), rng.normal(size=case.params.size)
    point, direction = (case.x0, case.params), (v, params_v)
    expected = dc.hvp(case.program, point, direction, numpy="rewrite")
    for schedule in SCHEDULES:
        found = cp.hvp_sweep(
            case.chain,
            case.x0,
            v,
            params=case.params,
            params_v=params_v,
            schedule=schedule,
        )
        np.testing.assert_array_equal(found.hvp, expected[0])
        np.testing.assert_array_equal(found.params_hvp, expected[1])


@settings(max_examples=25)
@given(cases())
def test_covers_hold_for_hessians_from_products(case: Case) -> None:
    n, m = case.x0.size, case.params.size
    cover = case.cover(cp.Revolve(slots=2))
    h = np.concatenate([cover.h, cover.params_h])
    for a, unit in enumerate(np.eye(n + m)):
        row = cp.hvp_sweep(
            case.chain,
            case.x0,
            unit[:n],
            params=case.params,
            params_v=unit[n:],
            schedule=cp.Revolve(slots=2),
        )
        size = np.abs(np.concatenate([row.hvp, row.params_hvp]))
        assert (size <= h[a] * h * (1 + 1e-12) + 1e-300).all()


@settings(max_examples=25)
@given(cases(), st.lists(st.integers(-6, 6), min_size=5, max_size=5))
def test_covers_follow_powers_of_two_bit_for_bit(case: Case, powers: list[int]) -> None:
    n = case.x0.size
    units = 2.0 ** np.array(powers)
    d, e = units[:n], units[n : n + case.params.size]

    def first(x: Any, params: Any, k: int) -> Any:
        return {"x": x * d, "params": params * e}

    def middle(step: Any) -> Any:
        def moved(s: Any, params: Any, k: int) -> Any:
            return {"x": step(s["x"], s["params"], k), "params": s["params"]}

        return moved

    def last(s: Any, params: Any, k: int) -> Any:
        return case.steps[-1](s["x"], s["params"], k)

    steps = [first, *(middle(f) for f in case.steps[:-1]), last]
    chain = cp.Chain([cp.Transition.taped(f, numpy="rewrite") for f in steps])
    one = case.cover(cp.StoreAll())
    found = cp.cover_sweep(
        chain,
        case.x0 / d,
        params=case.params / e,
        scales=case.scales / d,
        params_scales=case.params_scales / e,
        schedule=cp.Revolve(slots=2),
    )
    assert found.value == one.value
    np.testing.assert_array_equal(found.gradient, one.gradient * d)
    np.testing.assert_array_equal(found.params_gradient, one.params_gradient * e)
    np.testing.assert_array_equal(found.h, one.h * d)
    np.testing.assert_array_equal(found.params_h, one.params_h * e)


# Every schedule, many lengths ----------------------------------------------------------


class Remembered(Taped):
    """A step whose tapes are kept by index and input, so that many sweeps are cheap."""

    def __init__(self, f: Any) -> None:
        super().__init__(f)
        self.kept: dict[Any, Any] = {}

    def step(self, x: Any, params: Any, k: int, ids: Any = None) -> Any:
        key = (k, float(x), None if ids is None else ids.tobytes())
        if key not in self.kept:
            self.kept[key] = super().step(x, params, k, ids)
        return self.kept[key]


LENGTHS = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 14, 15, 16, 20, 21, 34, 35, 36, 55)


def plain(x: Any, k: int) -> Any:
    return 0.9 * x + 0.1 * x**2


def asking(x: Any, k: int) -> Any:
    return (x - 0.5) * x + 0.5 if k % 2 else 0.5 * x + 0.25


@pytest.mark.parametrize("f", [plain, asking])
def test_every_schedule_and_number_of_slots_gives_the_same_bits(f: Any) -> None:
    step = Remembered(f)
    for steps in LENGTHS if f is plain else LENGTHS[::3]:
        chain = cp.Chain.uniform(steps, step)
        expected = cp.cover_sweep(chain, 0.5, schedule=cp.StoreAll())
        for slots in range(1, 13) if steps < 12 else (1, 2, 3, 5, 12):
            for schedule in (
                cp.UniformBlock(slots=slots),
                cp.UniformBlock(slots=slots, record="block"),
                cp.Binomial(slots=slots),
                cp.Revolve(slots=slots),
            ):
                found = cp.cover_sweep(chain, 0.5, schedule=schedule)
                assert found.value == expected.value
                assert found.gradient == expected.gradient
                assert found.h == expected.h
                assert found.report.executed == found.report.predicted
                assert found.report.carried == expected.report.carried
    # Nothing but the states of one trajectory was ever recorded.
    assert len(step.kept) <= 2 * max(LENGTHS)
