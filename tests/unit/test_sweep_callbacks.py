"""Callbacks that raise, and steps that are no functions of their arguments."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Chain,
    DiskStorage,
    MemoryStorage,
    StoreAll,
    Transition,
)
from derivative_covers.errors import (
    NondeterministicStepError,
    StateMutationError,
)
from tests._sweep_programs import (
    SCHEDULES,
    X0,
    at,
    keep,
    sweep,
    total,
    vjp,
)


@pytest.fixture(params=SCHEDULES, ids=repr)
def schedule(request: Any) -> Any:
    return request.param


# Errors of callbacks -----------------------------------------------------------------------


class Trouble(Exception):
    pass


@pytest.mark.parametrize("where", ["forward", "rule", "listener"])
def test_exceptions_go_on_as_they_are(where: str, schedule: Any, tmp_path: Any) -> None:
    x0 = X0.copy()
    trouble = Trouble("the disk of the simulation is full")

    def fail(x: Any) -> Any:
        raise trouble

    rule = (
        (lambda x, ybar, k: fail(x)) if where == "rule" else (lambda x, ybar, k: ybar)
    )
    step = vjp(at(4, fail) if where == "forward" else keep, rule)

    def listen(event: Any) -> None:
        if where == "listener" and event.kind == "reverse":
            raise trouble

    links = Chain([step] * 9 + [total])
    for storage in (None, MemoryStorage(), DiskStorage(tmp_path)):
        with pytest.raises(Trouble) as caught:
            sweep(links, x0, schedule=schedule, storage=storage, on_event=listen)
        assert caught.value is trouble
        assert storage is None or len(storage) == 0
        assert not list(tmp_path.iterdir())
        assert x0.flags.writeable
        assert np.geterr()["divide"] == "warn"
        sweep(Chain([keep] * 9 + [total]), x0, schedule=schedule, storage=storage)
    notes = " ".join(getattr(trouble, "__notes__", []))
    assert where == "listener" or "step" in notes


def test_arrays_of_the_caller_stay_writable_after_an_error() -> None:
    kept = [np.ones(3) * 0.5 for _ in range(9)]
    params = np.ones(2)

    def f(x: Any, p: Any, k: int) -> Any:
        if k == 7:
            raise Trouble
        return kept[k]

    step = Transition.from_vjp(f, lambda x, p, ybar, k: (ybar, 0.0 * p))
    for schedule in SCHEDULES:
        with pytest.raises(Trouble):
            sweep([step] * 9, X0, params=params, schedule=schedule)
        assert all(a.flags.writeable for a in [*kept, params])


def test_cotangents_of_the_caller_stay_writable_after_an_error() -> None:
    kept = np.ones(3)

    def rule(x: Any, ybar: Any, k: int) -> Any:
        if k == 2:
            raise Trouble
        return kept

    with pytest.raises(Trouble):
        sweep([vjp(keep, rule)] * 5 + [total])
    assert kept.flags.writeable


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_leaves_nothing_half_done(stop: Any) -> None:
    storage = MemoryStorage()
    x0 = X0.copy()

    def halt(x: Any) -> Any:
        raise stop

    with pytest.raises(stop):
        sweep([vjp(at(6, halt))] * 9 + [total], x0, storage=storage)
    assert len(storage) == 0
    assert x0.flags.writeable
    sweep([keep] * 9 + [total], x0, storage=storage)


# Steps that are not functions ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["taped", "from_vjp"])
def test_a_step_that_draws_random_numbers(kind: str) -> None:
    rng = np.random.default_rng(3)

    def f(x: Any, k: int) -> Any:
        return x + rng.normal() if k == 5 else x * 1.0

    one = Transition.taped(f) if kind == "taped" else vjp(f)
    links = Chain([Chain.uniform(12, one), total])
    for schedule in SCHEDULES[1:]:
        with pytest.raises(NondeterministicStepError, match="step 5 ") as caught:
            sweep(links, schedule=schedule, verify="fingerprint")
        assert caught.value.step == 5
    sweep(links, schedule=StoreAll(), verify="fingerprint")  # each step runs once


def test_a_step_that_remembers() -> None:
    seen: set[int] = set()

    def f(x: Any, k: int) -> Any:
        if k in seen:
            return x * (1.0 + 2.0**-52)
        seen.add(k)
        return x * 1.0

    with pytest.raises(NondeterministicStepError):
        sweep([vjp(f)] * 9 + [total], verify="fingerprint")


def test_another_shape_at_the_second_time_is_found_without_fingerprints() -> None:
    calls: dict[int, int] = {}

    def f(x: Any, k: int) -> Any:
        calls[k] = calls.get(k, 0) + 1
        return x[:2].copy() if k == 3 and calls[k] > 1 else x.copy()

    step = vjp(f, lambda x, ybar, k: np.resize(ybar, x.shape))
    with pytest.raises(
        NondeterministicStepError, match="or a step before it"
    ) as caught:
        sweep([step] * 9 + [total])
    assert caught.value.step is not None
    assert caught.value.step >= 3


def test_fingerprints_change_no_bit(schedule: Any) -> None:
    links = Chain([lambda x, k: x + 0.1 * np.sin(x)] * 9 + [total])
    a = sweep(links, schedule=schedule)
    b = sweep(links, schedule=schedule, verify="fingerprint")
    assert a.cotangent.tobytes() == b.cotangent.tobytes()


@pytest.mark.parametrize("kind", ["taped", "from_vjp"])
def test_a_step_that_writes_into_its_input(kind: str, schedule: Any) -> None:
    def change(x: Any) -> Any:
        x += 1.0
        return x

    f = at(4, change)
    one = Transition.taped(f) if kind == "taped" else vjp(f)
    x0 = X0.copy()
    with pytest.raises(StateMutationError, match=r"step 4 .*copy\(\)"):
        sweep(Chain([Chain.uniform(9, one), total]), x0, schedule=schedule)
    assert x0.tobytes() == X0.tobytes()


def test_writing_into_x0_parameters_parts_and_cotangents(schedule: Any) -> None:
    def write(x: Any) -> Any:
        x[0] = 3.0
        return x

    def into_params(x: Any, p: Any, k: int) -> Any:
        p[0] = 3.0
        return x

    params = np.ones(2)
    x0 = X0.copy()
    with pytest.raises(StateMutationError, match="step 0 "):
        sweep([vjp(at(0, write))] * 3 + [total], x0, schedule=schedule)
    two = Transition.from_vjp(into_params, lambda x, p, ybar, k: (ybar, p))
    with pytest.raises(StateMutationError, match="step 0 "):
        sweep([two] * 3, x0, params=params, schedule=schedule)
    f = at(2, lambda s: (write(s[0]), s[1]), lambda s, k: (s[0] * 1.0, s[1]))
    with pytest.raises(StateMutationError, match="step 2 "):
        sweep([vjp(f)] * 4 + [vjp(lambda s, k: s[1])], (x0, 1.0), schedule=schedule)
    rule = at(1, lambda y: write(y))
    step = vjp(keep, lambda x, ybar, k: rule(ybar, k))
    with pytest.raises(StateMutationError, match="step 1 "):
        sweep([step] * 4 + [total], x0, schedule=schedule)
    assert x0.tobytes() == X0.tobytes()
    assert params.tolist() == [1.0, 1.0]


def test_memory_shared_by_a_step_and_a_rule_is_found() -> None:
    """The cotangent lies in memory that an earlier step would write to."""
    shared = np.empty(3)

    def f(x: Any, k: int) -> Any:
        np.multiply(x, 2.0, out=shared)
        return shared.copy()

    def rule(x: Any, ybar: Any, k: int) -> Any:
        return np.multiply(2.0, ybar.copy(), out=shared)

    with pytest.raises(StateMutationError):
        sweep([vjp(f, rule)] * 5 + [total])
    assert shared.flags.writeable


def test_fingerprints_find_writing_past_the_protection() -> None:
    def f(x: Any, k: int) -> Any:
        if k == 3:
            address = x.ctypes.data
            ctypes.c_double.from_address(address).value += 1.0
        return x * 1.0

    with pytest.raises(StateMutationError, match="step 3 "):
        sweep([vjp(f)] * 9 + [total], verify="fingerprint")
