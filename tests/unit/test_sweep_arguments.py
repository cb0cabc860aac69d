"""Arguments of a sweep: events, progress, wrong ones, and schedules of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.checkpoint import (
    Action,
    Chain,
    Event,
    MemoryStorage,
    Revolve,
    Schedule,
    StoreAll,
    Transition,
    TwoLevel,
    reverse_sweep,
)
from derivative_covers.errors import (
    InputTypeError,
    MissingPackageError,
    OptionError,
    ScheduleError,
    ShapeError,
    StorageError,
)
from tests._sweep_programs import (
    X0,
    bits,
    chain,
    step,
    sweep,
    whole,
)

# Events ---------------------------------------------------------------------------------


def test_events_count_up_to_the_predicted_total() -> None:
    events: list[Event] = []
    result = sweep(chain(25), X0, on_event=events.append)
    cost = result.report.predicted
    assert {e.total for e in events} == {cost.evaluations}
    assert events[-1].done == cost.evaluations
    assert [e.done for e in events] == sorted(e.done for e in events)
    assert [e.elapsed for e in events] == sorted(e.elapsed for e in events)
    assert sum(e.kind == "reverse" for e in events) == 25
    assert sum(e.kind == "save" for e in events) == cost.saves
    assert events[-1].kind == "reverse"
    assert events[-1].step == 0


def test_a_long_advance_tells_every_thousand_steps() -> None:
    seen: list[int] = []
    step = Transition.from_vjp(lambda x, k: x, lambda x, ybar, k: ybar)

    def listen(event: Event) -> None:
        if event.kind == "advance":
            seen.append(event.step)

    sweep(Chain.uniform(3500, step), 1.0, schedule=Revolve(slots=100), on_event=listen)
    assert max(np.diff([0, *seen[:3]])) <= 1000


def test_a_listener_keeps_the_callers_flags() -> None:
    found = []
    with np.errstate(divide="raise"):
        sweep(chain(4), X0, on_event=lambda e: found.append(np.geterr()["divide"]))
        assert np.geterr()["divide"] == "raise"
    assert set(found) == {"raise"}


def test_progress(capsys: Any) -> None:
    result = sweep(chain(20), X0, progress=True)
    total = result.report.predicted.evaluations
    assert f"{total}/{total}" in capsys.readouterr().out


def test_progress_needs_its_package(monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rich", None)
    with pytest.raises(MissingPackageError, match=r"pip install .\.\[progress\]"):
        sweep(chain(20), X0, progress=True)


# Arguments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"schedule": Revolve(slots=2).plan(9)}, ScheduleError, "9 steps .* has 8"),
        ({"schedule": 3}, InputTypeError, "Revolve"),
        ({"schedule": Revolve}, InputTypeError, "Revolve"),
        ({"schedule": Revolve(slots=0)}, ScheduleError, "slots"),
        ({"verify": True}, OptionError, "fingerprint"),
        ({"verify": "all"}, OptionError, "fingerprint"),
        ({"progress": 1}, OptionError, "progress"),
        ({"on_event": 1}, InputTypeError, "on_event"),
        ({"storage": "folder"}, InputTypeError, "DiskStorage"),
        ({"storage": MemoryStorage}, InputTypeError, "MemoryStorage"),
        ({"seed": np.ones(3)}, ShapeError, "seed is float64 of shape"),
        ({"seed": {"a": 1.0}}, ShapeError, "seed"),
        ({"seed": "1"}, InputTypeError, "seed"),
        ({"seed": np.nan}, dc.errors.DomainError, "seed"),
        ({"params": "theta"}, InputTypeError, "params"),
        ({"params": np.array([np.inf])}, dc.errors.DomainError, "params"),
        ({"schedule": TwoLevel(memory=2, disk=2)}, OptionError, "DiskStorage"),
        (
            {"schedule": TwoLevel(memory=2, disk=2), "storage": MemoryStorage()},
            OptionError,
            "DiskStorage",
        ),
    ],
)
def test_wrong_arguments(options: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        sweep(chain(8), X0, **options)


def test_wrong_points() -> None:
    for x0, error, words in (
        ([1.0, 2.0], InputTypeError, "numpy.array"),
        (np.array([1.0, np.nan]), dc.errors.DomainError, "x0"),
        ("x", InputTypeError, "x0"),
        (np.ones(2, dtype=complex), InputTypeError, "x0"),
        (np.empty(0), ShapeError, "x0"),
    ):
        with pytest.raises(error, match=words):
            sweep(chain(8), x0)
    with pytest.raises(InputTypeError, match="Chain"):
        reverse_sweep([step], X0, schedule=StoreAll())  # type: ignore[arg-type]


def test_a_storage_with_states_is_refused() -> None:
    storage = MemoryStorage()
    storage.put(3, X0)
    with pytest.raises(StorageError, match="holds 1 states already"):
        sweep(chain(8), X0, storage=storage)
    assert len(storage) == 1


def test_two_sweeps_cannot_share_a_storage() -> None:
    storage = MemoryStorage()

    def f(x: Any, k: int) -> Any:
        if k == 1:
            sweep(chain(8), X0, storage=storage)
        return x

    with pytest.raises(StorageError, match="another sweep is using"):
        sweep(
            Chain.uniform(5, Transition.from_vjp(f, lambda x, y, k: y)),
            1.0,
            storage=storage,
        )
    assert len(storage) == 0
    sweep(chain(8), X0, storage=storage)


class Fixed(Schedule):
    """A third party's schedule from a list."""

    def __init__(self, *actions: Any) -> None:
        self.listed = actions

    def actions(self, steps: int) -> Any:
        return iter(self.listed)


def test_a_third_partys_schedule() -> None:
    schedule = Fixed(
        Action("save", 0, 0),
        Action("advance", 0, 1),
        Action("record", 1, 3),
        Action("reverse", 2, 3),
        Action("reverse", 1, 2),
        Action("restore", 0, 0),
        Action("drop", 0, 0),
        Action("record", 0, 1),
        Action("reverse", 0, 1),
    )
    result = reverse_sweep(chain(3), X0, schedule=schedule)
    assert bits(result.cotangent) == bits(dc.gradient(lambda x: whole(x, 3), X0))
    assert result.report.executed.peak_records == 2
