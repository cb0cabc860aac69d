"""All schedules give the same bits, and do what they predict."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers.checkpoint import (
    Binomial,
    Chain,
    DiskStorage,
    Revolve,
    StoreAll,
    Transition,
    TwoLevel,
    UniformBlock,
    capacity,
    reverse_sweep,
)

# Steps from a state of one kind to a state of another; every state is a vector, a matrix, a
# number or a pair. Each is written once, for NumPy and JAX.

STEPS: dict[tuple[str, str], list[Any]] = {
    ("vector", "vector"): [
        lambda np, x, a: x + 0.1 * a * np.sin(x),
        lambda np, x, a: np.concatenate([x[1:], x[:1]]) * (0.5 + 0.1 * a),
        lambda np, x, a: np.concatenate([x, x[:1] * x[-1:]])[1:],
        lambda np, x, a: np.tanh(x) * a + x,
    ],
    ("vector", "matrix"): [
        lambda np, x, a: np.outer(x, np.cos(x)) * 0.5,
        lambda np, x, a: np.stack([x, a * x * x]),
    ],
    ("matrix", "vector"): [
        lambda np, m, a: np.sum(m * m, axis=0) * 0.3 + a,
        lambda np, m, a: m[0] * 1.5 - np.sin(m[-1]),
    ],
    ("matrix", "matrix"): [
        lambda np, m, a: np.exp(-m * m) + 0.1 * m,
        lambda np, m, a: np.transpose(m) * (1.0 + 0.1 * a),
    ],
    ("vector", "pair"): [
        lambda np, x, a: (x * 0.9, a * np.sum(x)),
        lambda np, x, a: (np.sin(x), x[0] * x[-1]),
    ],
    ("pair", "vector"): [lambda np, p, a: p[0] + 0.1 * p[1]],
    ("pair", "pair"): [
        lambda np, p, a: (p[0] * np.cos(p[1]), p[1] + 0.1 * a),
        lambda np, p, a: (p[0] + p[1], np.sin(np.sum(p[0]))),
    ],
    ("number", "vector"): [lambda np, s, a: s * np.asarray([1.0, a, -0.5])],
    ("vector", "number"): [lambda np, x, a: np.sum(x * x) * 0.1 + a],
    ("matrix", "number"): [lambda np, m, a: np.sum(np.sin(m))],
    ("pair", "number"): [lambda np, p, a: np.sum(p[0] * p[0]) + p[1]],
    ("number", "number"): [lambda np, s, a: np.sin(s) + a * s],
}
POINTS: dict[str, Any] = {
    "vector": np.array([0.3, -0.7, 1.1]),
    "matrix": np.array([[0.2, -0.4], [0.9, 0.5]]),
    "pair": (np.array([0.4, 0.8]), 0.25),
    "number": 0.6,
}


@st.composite
def programs(draw: Any) -> tuple[str, list[tuple[Any, float]]]:
    """The kind of the point, and the steps with a constant each."""
    start = kind = draw(st.sampled_from(sorted(POINTS)))
    steps = []
    for _ in range(draw(st.integers(0, 14))):
        ends = [end for first, end in STEPS if first == kind]
        end = draw(st.sampled_from(ends))
        steps.append(
            (
                draw(st.sampled_from(STEPS[kind, end])),
                draw(st.sampled_from([0.5, 1.0, -1.5])),
            )
        )
        kind = end
    steps.append((draw(st.sampled_from(STEPS[kind, "number"])), 0.75))
    return start, steps


def links(steps: Any, kinds: Any) -> list[Transition]:
    """Each step as a tape or with a reverse rule (which records, but on its own)."""
    made = []
    for (f, a), kind in zip(steps, kinds, strict=True):

        def step(x: Any, k: int, f: Any = f, a: float = a) -> Any:
            return f(np, x, a)

        if kind:
            made.append(Transition.taped(step))
        else:

            def rule(x: Any, ybar: Any, k: int, step: Any = step) -> Any:
                return Transition.taped(step).record(x, None, k)[1](ybar, None)[0]

            made.append(Transition.from_vjp(step, rule))
    return made


def bits(nest: Any) -> Any:
    if isinstance(nest, tuple):
        return tuple(map(bits, nest))
    return np.asarray(nest).tobytes(), np.shape(nest)


schedules = st.one_of(
    st.builds(UniformBlock, slots=st.integers(1, 6)),
    st.builds(UniformBlock, slots=st.integers(1, 6), record=st.just("block")),
    st.builds(Revolve, slots=st.integers(1, 6)),
    st.builds(Binomial, slots=st.integers(1, 6), replays=st.none()),
    st.builds(TwoLevel, memory=st.integers(1, 3), disk=st.integers(1, 5)),
)
QUICK = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@QUICK
@given(programs(), schedules, st.data())
def test_every_schedule_equals_store_all(
    tmp_path: Any, program: Any, schedule: Any, data: Any
) -> None:
    start, steps = program
    kinds = data.draw(st.lists(st.booleans(), min_size=len(steps), max_size=len(steps)))
    chain = Chain(links(steps, kinds))
    whole = reverse_sweep(chain, POINTS[start], schedule=StoreAll(), seed=1.25)
    storage = DiskStorage(tmp_path) if isinstance(schedule, TwoLevel) else None
    parts = reverse_sweep(
        chain,
        POINTS[start],
        schedule=schedule,
        storage=storage,
        seed=1.25,
        verify=data.draw(st.sampled_from([None, "fingerprint"])),
    )
    assert bits(parts.value) == bits(whole.value)
    assert bits(parts.cotangent) == bits(whole.cotangent)
    assert parts.report.executed == schedule.plan(len(chain)).cost


@QUICK
@given(programs(), st.data())
def test_one_tape_of_the_whole_program(program: Any, data: Any) -> None:
    start, steps = program
    kinds = data.draw(st.lists(st.booleans(), min_size=len(steps), max_size=len(steps)))
    result = reverse_sweep(
        Chain(links(steps, kinds)), POINTS[start], schedule=Revolve(slots=2)
    )

    def whole(x: Any) -> Any:
        for f, a in steps:
            x = f(np, x, a)
        return x

    point = POINTS[start]
    tupled = isinstance(point, tuple)  # whose entries are arguments of a function
    expected = dc.gradient((lambda *p: whole(p)) if tupled else whole, point)
    for a, b in zip(_flat(result.cotangent), _flat(expected), strict=True):
        np.testing.assert_allclose(
            a, b, rtol=1e-9, atol=1e-12 * (1 + np.max(np.abs(b)))
        )


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(programs())
def test_jax(program: Any) -> None:
    start, steps = program
    result = reverse_sweep(
        Chain(links(steps, [True] * len(steps))),
        POINTS[start],
        schedule=Revolve(slots=2),
    )

    def whole(x: Any) -> Any:
        for f, a in steps:
            x = f(jnp, x, a)
        return x

    with jax.enable_x64(True):
        x0 = jax.tree.map(jnp.asarray, POINTS[start])
        value, expected = jax.jit(jax.value_and_grad(whole))(x0)
    np.testing.assert_allclose(result.value, value, rtol=1e-11, atol=1e-13)
    for a, b in zip(_flat(result.cotangent), _flat(expected), strict=True):
        np.testing.assert_allclose(
            a, b, rtol=1e-9, atol=1e-12 * (1 + np.max(np.abs(b)))
        )


def _flat(nest: Any) -> list[Any]:
    return list(nest) if isinstance(nest, tuple) else [nest]


# The grid ---------------------------------------------------------------------------------


def _grid_chain(steps: int) -> Chain:
    """Cheap steps whose results depend on their order and number."""
    one = Transition.from_vjp(
        lambda x, k: x * 0.99 + 0.01 * k, lambda x, ybar, k: ybar * 0.99 + 1e-3 * x
    )
    return Chain.uniform(steps, one)


@pytest.fixture(scope="module")
def stored() -> dict[int, Any]:
    """The sweeps that keep everything."""
    return {
        steps: reverse_sweep(_grid_chain(steps), 0.7, schedule=StoreAll())
        for steps in range(201)
    }


def _sizes(slots: int) -> list[int]:
    """A ninth of all numbers of steps, other ones for other slots, and those at the edges of what the slots can do."""
    edges = {capacity(slots, t) + e for t in range(1, 7) for e in (-1, 0, 1)}
    return sorted(
        {
            *range(slots % 9, 201, 9),
            slots + 1,
            slots + 2,
            *(t for t in edges if t <= 200),
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("slots", range(1, 13))
def test_the_grid(slots: int, stored: dict[int, Any]) -> None:
    for steps in _sizes(slots):
        chain = _grid_chain(steps)
        for schedule in (
            UniformBlock(slots=slots),
            UniformBlock(slots=slots, record="block"),
            Binomial(slots=slots, replays=None),
            Revolve(slots=slots),
        ):
            if slots == 1 and steps > 60:
                continue  # quadratic many evaluations
            result = reverse_sweep(chain, 0.7, schedule=schedule)
            assert bits(result.value) == bits(stored[steps].value)
            assert bits(result.cotangent) == bits(stored[steps].cotangent)
            cost = result.report.executed
            assert cost == schedule.plan(steps).cost
            assert cost.peak_slots <= slots
