"""Steps that are recorded once and replayed: results, fallbacks and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Action,
    Chain,
    Revolve,
    Schedule,
    StoreAll,
    Transition,
    UniformBlock,
    cover_sweep,
    hvp_sweep,
    reverse_sweep,
)
from derivative_covers.checkpoint.steps import _machines
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    ReplayError,
    ShapeError,
)
from tests._step_machines import machines
from tests._sweep_programs import SCHEDULES, X0, sweep, total

compiled, taped = Transition.compiled, Transition.taped
T = 11
DATA = np.linspace(-1.0, 1.0, T)
NEST = {"u": np.array([0.4, -0.3]), "t": 0.2}
P = np.array([0.7, 0.1])
BLOCKS = UniformBlock(slots=3, record="block")


def wave(x: Any, k: int) -> Any:
    return x + 0.1 * np.sin(x) * (1.0 + 0.5 * k)


def pulled(x: Any, p: Any, k: int) -> Any:
    return {"u": x["u"] * np.cos(p[0] * x["t"]) + p[1], "t": x["t"] + 0.1 * k}


def forced(x: Any, k: int, d: Any) -> Any:
    return 0.9 * x + d * x[::-1]


def norm(x: Any, p: Any, k: int) -> Any:
    return np.sum(x["u"] ** 2) + x["t"]


def halve(x: Any, k: int) -> Any:
    return 0.5 * np.tanh(x)


def reset(x: Any, k: int) -> Any:
    """One entry is a constant, two are one node."""
    return np.stack([x[0] * x[1], x[0] * x[1], np.zeros(3)[0]])


def uniform(step: Any, last: Any = total) -> Chain:
    return Chain([Chain.uniform(T, step), last])


def plain_row(x: Any, k: int) -> Any:
    return forced(x, k, DATA[k])


CASES: list[tuple[Any, Any, Any, Any]] = [
    (uniform(compiled(wave)), uniform(wave), X0, None),
    (uniform(compiled(pulled), norm), uniform(pulled, norm), NEST, P),
    (uniform(compiled(forced, data=DATA)), uniform(plain_row), X0, None),
    (
        Chain([compiled(wave), compiled(wave), halve, compiled(reset), total]),
        Chain([wave, wave, halve, reset, total]),
        X0,
        None,
    ),
]


def numbers(result: Any) -> Any:
    """Value and cotangents as one vector."""
    x = result.cotangent
    parts = [result.value, *(x.values() if isinstance(x, dict) else [x])]
    if result.params_cotangent is not None:
        parts.append(result.params_cotangent)
    return np.concatenate([np.ravel(part) for part in parts])


def same(results: list[Any]) -> bool:
    return len({numbers(result).tobytes() for result in results}) == 1


@pytest.fixture(autouse=True)
def no_maker() -> Iterator[None]:
    """Each test says itself what runs compiled steps."""
    before = list(_machines._chosen)
    _machines.use(None)
    yield
    _machines._chosen[:] = before


@pytest.mark.parametrize("case", CASES)
def test_schedules_give_the_same_bits_and_taped_numbers(case: Any) -> None:
    chain, plain, x0, params = case
    expected = reverse_sweep(plain, x0, schedule=Revolve(slots=3), params=params)
    with machines() as made:
        for options in ({}, {"verify": "fingerprint"}, {"on_event": lambda e: None}):
            found = [
                reverse_sweep(chain, x0, schedule=s, params=params, **options)
                for s in SCHEDULES
            ]
            assert same(found)
            np.testing.assert_allclose(numbers(found[0]), numbers(expected), rtol=1e-12)
    assert sum(map(sum, (m.runs for m in made))) > 0
    assert sum(map(sum, (m.reversals for m in made))) > 0


@pytest.mark.parametrize("case", CASES)
def test_without_a_machine_steps_are_taped_ones(case: Any) -> None:
    chain, plain, x0, params = case
    found = [
        reverse_sweep(c, x0, schedule=BLOCKS, params=params) for c in (chain, plain)
    ]
    assert same(found)


def test_a_run_of_steps_is_one_call() -> None:
    with machines() as made:
        result = sweep(
            uniform(compiled(wave)), schedule=UniformBlock(3, record="block")
        )
        (machine,) = made
        assert machine.runs == [4, 4, 3, 4, 4]
        assert machine.reversals == [3, 4, 4]
        assert result.report.executed.recorded == T + 1
        tape = machine.tape
        assert result.report.work.forward == T * (tape.nnodes - tape.ninputs) + _last()
        sweep(uniform(compiled(wave)), schedule=StoreAll())
        assert [made[1].runs, made[1].reversals] == [[T], [T]]


def _last() -> int:
    step = taped(total).step(X0, None, T)
    return step.tape.nnodes - step.tape.ninputs


class Partly(Schedule):
    """Records all, and reverses a few steps at a time."""

    def actions(self, steps: int) -> Iterator[Any]:
        yield Action("record", 0, steps)
        for stop in range(steps, 0, -5):
            yield Action("reverse", max(stop - 5, 0), stop)


def test_a_block_is_reversed_in_parts() -> None:
    with machines() as made:
        chain = uniform(compiled(wave))
        assert same([sweep(chain, schedule=s) for s in (Partly(), StoreAll())])
    assert made[0].reversals == [4, 5, 2, T]


# Branches, and steps that no machine can do -------------------------------------------------


def test_a_branch_is_recorded_where_it_is_taken() -> None:
    def f(x: Any, k: int) -> Any:
        scale = 1.0
        for bound in range(12):
            if k > bound - 0.5:
                scale += 0.01 * bound
        return scale * np.sin(x)

    chain, plain = (Chain([Chain.uniform(14, s), total]) for s in (compiled(f), f))
    expected = sweep(plain, schedule=Revolve(slots=3))
    with machines(lambda x: min(x[-1], 12.0)) as made:
        found = [sweep(chain, schedule=s) for s in SCHEDULES]
        assert same(found)
        np.testing.assert_allclose(numbers(found[0]), numbers(expected), rtol=1e-12)
        step = chain[0]
        assert [len(kept) for kept in step._branches.values()] == [8]  # type: ignore[attr-defined]
    assert len(made) > 13


def test_a_step_that_no_machine_can_do_is_taped() -> None:
    def f(x: Any, k: int) -> Any:
        return 0.5 * np.where(x > 0.0, np.sqrt(np.abs(x) + 0.1), np.sin(x)) - 0.02 * k

    chain, plain = uniform(compiled(f)), uniform(f)
    expected = sweep(plain)
    # A machine for each pattern of signs, and none at all at every third step.
    with machines(lambda x: (x[3] % 3 == 0 or object(), tuple(x[:3] > 0))) as made:
        found = [sweep(chain, schedule=s) for s in SCHEDULES]
    assert made
    assert same(found)
    np.testing.assert_allclose(numbers(found[0]), numbers(expected), rtol=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_errors_name_the_step_as_those_of_taped_steps(schedule: Any) -> None:
    def f(x: Any, k: int) -> Any:
        return np.sqrt(x) - 0.3

    caught = []
    for step in (f, compiled(f)):
        with machines(), pytest.raises(DomainError) as error:
            sweep(uniform(step), np.array([1.0, 4.0]), schedule=schedule)
        caught.append(error.value)
    assert caught[0].step == caught[1].step
    assert caught[0].phase == caught[1].phase
    assert str(caught[0]) == str(caught[1])


def test_other_kinds_of_sweeps_and_types_are_taped() -> None:
    schedule, v = Revolve(slots=3), np.ones(3)
    with machines() as made:
        chain, plain = uniform(compiled(forced, data=DATA)), uniform(plain_row)
        covers = [cover_sweep(c, X0, schedule=schedule) for c in (chain, plain)]
        assert covers[0].h.tobytes() == covers[1].h.tobytes()
        products = [hvp_sweep(c, X0, v, schedule=schedule) for c in (chain, plain)]
        assert products[0].hvp.tobytes() == products[1].hvp.tobytes()
        x = X0.astype(np.float32)
        small = [sweep(uniform(s), x) for s in (compiled(halve), halve)]
        assert same(small)
        assert small[0].cotangent.dtype == np.float32
        assert not made


def test_a_state_that_changes_its_shape() -> None:
    def grow(x: Any, k: int) -> Any:
        return np.concatenate((x, x[:1] * x[1:2]))

    with machines() as made:
        step = compiled(grow)
        found = [sweep([step, step, step, total], schedule=s) for s in SCHEDULES]
        assert not made
    assert same([*found, sweep([grow] * 3 + [total])])


def test_a_compiled_last_step() -> None:
    with machines() as made:
        found = [sweep(uniform(halve, compiled(total)), schedule=s) for s in SCHEDULES]
        assert same([*found, sweep(uniform(halve))])
        assert not made


# What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("with_machines", [False, True])
def test_an_index_taken_for_an_integer(with_machines: bool) -> None:
    table = [0.5] * T

    steps: list[Any] = [
        lambda x, k: x * table[k],
        lambda x, k: x * DATA[k],
        lambda x, k: x * float(np.random.default_rng([3, k]).random()),
        lambda x, k: x * sum(0.1 for _ in range(k)),
    ]
    for f in steps:
        with (
            machines() if with_machines else nullcontext(),
            pytest.raises(ReplayError, match="data=array"),
        ):
            sweep(uniform(compiled(f)))


def test_a_constant_that_depends_on_the_step() -> None:
    calls = [0]

    def f(x: Any, k: int) -> Any:
        calls[0] += 1
        return x * (1.0 + calls[0])

    with pytest.raises(ReplayError, match="at step 0 and at step 1"):
        sweep(uniform(compiled(f)))


def test_errors_of_the_step_are_its_own() -> None:
    def wrong(x: Any, k: int) -> Any:
        msg = "pressure"
        raise KeyError(msg)

    with pytest.raises(KeyError, match="pressure"), machines():
        sweep(uniform(compiled(wrong)))
    with pytest.raises(InputTypeError, match=r"f\(x, k, d\)"):
        sweep(uniform(compiled(wave, data=DATA)))
    with pytest.raises(InputTypeError, match="params"):
        sweep(uniform(compiled(wave)), params=P)


def test_wrong_data() -> None:
    for data in (1.0, (DATA, DATA[:-1]), {"a": 2.0}):
        with pytest.raises(ShapeError, match="first axis"):
            compiled(forced, data=data)
    with pytest.raises(InputTypeError):
        compiled(forced, data=["a"])
    with pytest.raises(ShapeError, match="makes it one array"):
        compiled(forced, data=[1.0, 2.0])
    with machines(), pytest.raises(ShapeError, match="data has 5 rows"):
        sweep(uniform(compiled(forced, data=DATA[:5])))


def test_a_transition_can_be_pickled() -> None:
    with machines() as made:
        step = compiled(forced, data=DATA)
        before = sweep(uniform(step))
        assert same([before, sweep(uniform(pickle.loads(pickle.dumps(step))))])
    assert len(made) == 2


def test_data_may_be_a_nest_and_is_frozen() -> None:
    data = {"a": np.arange(T), "b": np.ones((T, 3))}

    def f(x: Any, k: int, d: Any) -> Any:
        return x * d["b"] + 0.1 * d["a"]

    step = compiled(f, data=data)
    with machines():
        before = sweep(uniform(step))
        data["b"][:] = 2.0
        assert same([before, sweep(uniform(step), schedule=BLOCKS)])
    assert repr(step) == "Transition.compiled(f)"


@pytest.mark.slow  # compiles
def test_the_compiler_s_own_machine() -> None:
    """Arithmetic alone, so that all bits are those of NumPy."""

    def f(x: Any, p: Any, k: int, d: Any) -> Any:
        y = x * p[0] + d * x[::-1]
        return y * 0.5 + 0.01 * k if k < 7.5 else y - x[0] * p[1]

    _machines._chosen.clear()
    assert _machines.maker() is not None
    step = compiled(f, data=DATA)
    plain = uniform(lambda x, p, k: f(x, p, k, DATA[k]), _sum)
    expected = reverse_sweep(plain, X0, schedule=StoreAll(), params=P)
    found = [
        reverse_sweep(uniform(step, _sum), X0, schedule=s, params=P) for s in SCHEDULES
    ]
    assert same(found)
    np.testing.assert_allclose(numbers(found[0]), numbers(expected), rtol=1e-14)
    assert step.refused is None  # type: ignore[attr-defined]


def _sum(x: Any, p: Any, k: int) -> Any:
    return np.sum(x * x)
