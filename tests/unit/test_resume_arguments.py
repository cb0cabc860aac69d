"""What resume is given: it must be as in the sweep."""

from __future__ import annotations

import os
from collections import namedtuple
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from derivative_covers import checkpoint as cp
from derivative_covers import errors
from derivative_covers.checkpoint.states import _nests
from tests import _killed
from tests._killed import (
    BODY,
    POINT,
    THETA,
    EveryOther,
    Sweep,
    bodies,
    interrupted,
    told,
    waves,
)


@pytest.fixture
def tmp_path():
    """No test here needs to wait for a real disk."""
    with _killed.folder_in_memory() as folder:
        yield Path(folder)


@pytest.fixture
def half(tmp_path):
    task = Sweep(waves(9), POINT, cp.Revolve(slots=2), THETA)
    assert interrupted(task, tmp_path, 12)
    return tmp_path


@pytest.mark.parametrize(
    ("chain", "options", "kind", "text"),
    [
        (waves(8), {"params": THETA}, errors.ShapeError, "8 steps, and the .* has 9"),
        (waves(9), {}, errors.InputTypeError, "has its params, and resume got none"),
        (
            waves(9),
            {"params": THETA | {"rate": np.array(0.02)}},
            errors.InputTypeError,
            "other values",
        ),
        (
            waves(9),
            {"params": THETA | {"size": np.ones(4)}},
            errors.ShapeError,
            "params",
        ),
        (waves(9), {"params": {"RATE": 0.01}}, errors.ShapeError, "params are"),
        (
            waves(9),
            {"params": THETA, "schedule": cp.Revolve(slots=3)},
            errors.ScheduleError,
            "is not that of the sweep",
        ),
        (
            waves(9),
            {"params": THETA, "schedule": EveryOther()},
            errors.ScheduleError,
            "is not that of the sweep",
        ),
        (waves(9), {"params": THETA, "schedule": 3}, errors.InputTypeError, "schedule"),
        (
            waves(9),
            {"params": THETA, "schedule": cp.Revolve(2).plan(8)},
            errors.ScheduleError,
            "8 steps",
        ),
        (waves(9), {"params": THETA, "verify": "x"}, errors.OptionError, "verify"),
        ([1, 2], {"params": THETA}, errors.InputTypeError, "chain is of type list"),
    ],
)
def test_what_is_not_as_in_the_sweep_is_named_and_nothing_is_lost(
    half, chain, options, kind, text
):
    with pytest.raises(kind, match=text):
        cp.resume(half, chain, **options)
    whole = cp.reverse_sweep(
        waves(9), POINT, schedule=cp.Revolve(slots=2), params=THETA
    )
    found = cp.resume(
        half, waves(9), params=THETA, schedule=cp.Revolve(slots=2).plan(9)
    )
    assert told(found)[0] == told(whole)[0]


def test_params_of_a_sweep_without(tmp_path):
    task = Sweep(bodies(5), BODY, cp.Revolve(slots=2))
    assert interrupted(task, tmp_path, 6)
    with pytest.raises(
        errors.InputTypeError, match="has no params, and resume got some"
    ):
        cp.resume(tmp_path, task.chain, params=1.0)


def test_a_schedule_of_a_third_party_is_asked_for(tmp_path):
    task = Sweep(waves(6), POINT, EveryOther(), THETA)
    assert interrupted(task, tmp_path, 9)
    with pytest.raises(errors.ScheduleError, match="schedule="):
        cp.resume(tmp_path, task.chain, params=THETA)
    with pytest.raises(errors.ScheduleError, match="is not that of the sweep"):
        cp.resume(tmp_path, task.chain, params=THETA, schedule=cp.Revolve(slots=3))
    assert cp.resume(tmp_path, task.chain, params=THETA, schedule=EveryOther()).value


class Plain(cp.Schedule):
    """No dataclass: JSON cannot carry it."""

    def actions(self, steps):
        return EveryOther().actions(steps)


def test_a_schedule_that_json_cannot_carry_is_known_by_its_cost(tmp_path):
    task = Sweep(waves(6), POINT, Plain(), THETA)
    expected = told(task.start(tmp_path))
    assert interrupted(task, tmp_path, 9)
    with pytest.raises(errors.ScheduleError, match="third party"):
        cp.resume(tmp_path, task.chain, params=THETA)
    found = cp.resume(tmp_path, task.chain, params=THETA, schedule=Plain())
    assert told(found) == expected


def test_there_is_no_sweep(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(
            errors.StorageError, match=r"no (unfinished sweep|such folder)"
        ):
            cp.resume(folder, waves(3))
    assert os.listdir(tmp_path) == []


def test_a_sweep_that_is_running_is_not_resumed(tmp_path):
    task = Sweep(waves(5), POINT, cp.Revolve(slots=2), THETA)
    tries = []

    def intrude(event):
        with pytest.raises(errors.StorageError, match="a running sweep"):
            cp.resume(tmp_path, task.chain, params=THETA)
        with pytest.raises(errors.StorageError, match="a running sweep"):
            task.start(tmp_path)
        tries.append(event)

    disk = cp.DiskStorage(tmp_path, journal_seconds=0)
    cp.reverse_sweep(
        task.chain,
        POINT,
        schedule=task.schedule,
        params=THETA,
        storage=disk,
        on_event=intrude,
    )
    assert len(tries) > 10


def test_an_unfinished_sweep_is_not_overwritten_by_another(half):
    with pytest.raises(errors.StorageError, match="unfinished sweep"):
        Sweep(waves(3), POINT, cp.StoreAll(), THETA).start(half)
    assert cp.resume(half, waves(9), params=THETA).value


def test_a_damaged_file_is_found_before_any_step_is_run(half):
    for name in os.listdir(half):
        path = half / name
        data = path.read_bytes()
        for at in range(0, len(data), 13):
            path.write_bytes(data[:at] + bytes([data[at] ^ 64]) + data[at + 1 :])
            with pytest.raises(errors.StorageError, match="cannot be used"):
                cp.resume(half, waves(9), params=THETA)
        path.write_bytes(data)
    assert cp.resume(half, waves(9), params=THETA).value


def test_a_namedtuple_of_a_class_that_is_gone(tmp_path, monkeypatch):
    """As after a kill, when the class is made by a function: a new one is as good."""

    def problem():
        state = namedtuple("state", ["a", "b"])

        def step(s, k):
            return state(a=s.a + 0.1 * np.sin(s.b), b=s.b * s.a)

        chain = cp.Chain([cp.Chain.uniform(6, step), lambda s, k: (s.a * s.b).sum()])
        return Sweep(chain, state(np.ones(2), POINT[:2]), cp.Revolve(slots=2))

    expected = told(problem().start(tmp_path))
    at = 0
    while interrupted(problem(), tmp_path, at := at + 2):
        _nests._SEEN.clear()
        assert told(problem().resume(tmp_path)) == expected
    assert at > 10


def test_a_resumed_sweep_is_verified_if_the_sweep_was(tmp_path):
    wrong = [0.0]

    def step(x, k):
        return np.sin(x) + wrong[0]

    chain = cp.Chain([cp.Chain.uniform(30, step), lambda x, k: x.sum()])
    task = Sweep(chain, POINT, cp.Revolve(slots=2), options={"verify": "fingerprint"})
    assert interrupted(task, tmp_path, 8)
    calls = [0]

    def drift(event):
        calls[0] += 1
        wrong[0] = 1e-9 * calls[0]

    with pytest.raises(errors.NondeterministicStepError):
        cp.resume(tmp_path, chain, on_event=drift)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_other_types_of_floats_go_on_as_they_were(tmp_path, dtype):
    def half_of(x, k):
        return x * dtype(0.75) + dtype(0.1)

    def back(x, ybar, k):
        return ybar * dtype(0.75)

    def total(x, k):
        return (x * x).sum()

    def total_back(x, ybar, k):
        return 2 * x * ybar

    step = cp.Transition.from_vjp(half_of, back)
    end = cp.Transition.from_vjp(total, total_back)
    chain = cp.Chain([cp.Chain.uniform(6, step), end])
    x0 = np.linspace(0, 1, 4).astype(dtype).reshape(2, 2)
    task = Sweep(chain, x0, cp.Revolve(slots=2))
    expected = told(task.start(tmp_path))
    assert interrupted(task, tmp_path, 9)
    found = task.resume(tmp_path)
    assert told(found) == expected
    assert found.cotangent.dtype == dtype


def test_a_capacity_that_was_too_small_can_be_raised(tmp_path):
    task = Sweep(waves(30), POINT, cp.Revolve(slots=6), THETA)
    room = cp.DiskStorage(tmp_path / "measure").put(0, POINT)
    small = cp.DiskStorage(tmp_path / "sweep", capacity=3 * room + 20)
    with pytest.raises(errors.StorageError, match=r"resume\(.*capacity=\.\.\.") as info:
        cp.reverse_sweep(
            task.chain, POINT, schedule=task.schedule, params=THETA, storage=small
        )
    assert repr(small.folder) in str(info.value)
    resume = partial(cp.resume, small.folder, task.chain, params=THETA)
    for storage in (None, cp.DiskStorage(small.folder, capacity=4 * room + 20), small):
        with pytest.raises(errors.StorageError, match="capacity of"):
            resume(storage=storage)
        assert cp.unfinished(small.folder)
    found = resume(storage=cp.DiskStorage(small.folder, capacity=10 * room))
    whole = cp.reverse_sweep(task.chain, POINT, schedule=task.schedule, params=THETA)
    assert np.array_equal(found.cotangent, whole.cotangent)
    assert found.report.executed == whole.report.executed
    assert not cp.unfinished(small.folder)


def test_a_try_that_failed_leaves_a_storage_as_it_was(half):
    storage = cp.DiskStorage(half, capacity=2000)
    resume = partial(cp.resume, half, waves(9), params=THETA, storage=storage)
    (half / "foreign").touch()
    with pytest.raises(errors.StorageError, match="not of this sweep"):
        resume()
    assert (len(storage), storage.nbytes) == (0, 0)
    (half / "foreign").unlink()
    assert resume().value
    assert (len(storage), storage.nbytes) == (0, 0)


def test_a_storage_to_resume_with_is_one_of_that_folder(half, tmp_path):
    resume = partial(cp.resume, half, waves(9), params=THETA)
    with pytest.raises(errors.OptionError, match="storage is one of the folder"):
        resume(storage=cp.DiskStorage(tmp_path / "other"))
    with pytest.raises(errors.InputTypeError, match="a DiskStorage of"):
        resume(storage=cp.MemoryStorage())
    (half.parent / "link").symlink_to(half)
    try:
        assert resume(storage=cp.DiskStorage(half.parent / "link")).value
    finally:
        (half.parent / "link").unlink()


def test_whether_a_sweep_is_unfinished(half, tmp_path):
    assert cp.unfinished(half)
    assert not cp.unfinished(half / "nowhere")
    with pytest.raises(errors.OptionError, match="path of a folder"):
        cp.unfinished(3)
    with pytest.raises(errors.StorageError, match=r"checkpoint\.resume goes on"):
        Sweep(waves(9), POINT, cp.Revolve(slots=2), THETA).start(half)
    cp.resume(half, waves(9), params=THETA)
    assert not cp.unfinished(half)
    with pytest.raises(errors.StorageError, match="start it again"):
        cp.resume(half, waves(9), params=THETA)
