"""Sweeps that were interrupted, killed or short of disk, and go on."""

from __future__ import annotations

import errno
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from derivative_covers import checkpoint as cp
from derivative_covers import errors
from tests import _killed
from tests._killed import (
    POINT,
    THETA,
    EveryOther,
    Stop,
    Sweep,
    interrupted,
    told,
    waves,
)

ROOT = Path(__file__).parents[2]
KINDS = (
    "taped",
    "namedtuple",
    "vjp",
    "block",
    "third party",
    "cover",
    "carried cover",
    "hvp",
)
SCHEDULES = [
    cp.Revolve(slots=1),
    cp.Revolve(slots=3),
    cp.Binomial(slots=2),
    cp.UniformBlock(slots=3),
    cp.UniformBlock(slots=3, record="block"),
    cp.TwoLevel(memory=1, disk=2),
    cp.StoreAll(),
    EveryOther(),
]


def killed(*words):
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    program = [sys.executable, str(ROOT / "tests" / "_killed.py"), *words]
    done = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sweeps_that_are_killed_at_random_moments_a_hundred_times():
    found = killed("random", "13", *KINDS)
    assert [line["kind"] for line in found] == list(KINDS)
    assert sum(line["kills"] for line in found) == 104


def test_a_sweep_that_is_killed_at_every_call_of_the_disk():
    [found] = killed("every", "6", "vjp")
    assert found["kills"] > 100


@pytest.fixture
def tmp_path():
    """No test here needs to wait for a real disk."""
    with _killed.folder_in_memory() as folder:
        yield Path(folder)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize(("seconds", "stride"), [(0, 1), (math.inf, 5)])
def test_an_interrupt_at_every_event(tmp_path, schedule, seconds, stride):
    task = Sweep(waves(6), POINT, schedule, THETA)
    expected = told(task.start(tmp_path))
    at = 1
    while interrupted(task, tmp_path, at, seconds):
        assert told(task.resume(tmp_path)) == expected
        assert os.listdir(tmp_path) == []
        at += stride
    assert at > 10


@pytest.mark.parametrize("kind", ["cover", "carried cover", "hvp", "namedtuple", "vjp"])
def test_an_interrupt_of_every_kind_of_sweep(tmp_path, kind):
    task = _killed.sweep(kind, 5)
    expected = told(task.start(tmp_path))
    at = 0
    while interrupted(task, tmp_path, at := at + 2):
        assert told(task.resume(tmp_path)) == expected
        assert os.listdir(tmp_path) == []
    assert at > 10


def test_an_interrupt_of_what_was_resumed(tmp_path):
    task = Sweep(waves(9), POINT, cp.Revolve(slots=2), THETA)
    expected = told(task.start(tmp_path))
    assert interrupted(task, tmp_path, 3)
    found = None
    for times in range(3, 100):
        try:
            found = cp.resume(tmp_path, task.chain, params=THETA, on_event=Stop(times))
        except KeyboardInterrupt:
            continue
        break
    assert found is not None
    assert told(found) == expected
    assert times > 7


def test_progress_is_told_from_where_it_stands(tmp_path):
    task = Sweep(waves(40), POINT, cp.Revolve(slots=3), THETA)
    assert interrupted(task, tmp_path, 30)
    events = []
    found = cp.resume(tmp_path, task.chain, params=THETA, on_event=events.append)
    total = found.report.predicted.evaluations
    assert events[0].done > 1
    assert events[-1].done == total
    assert {event.total for event in events} == {total}


def test_a_sweep_that_ended_and_was_killed_before_it_returned(tmp_path, monkeypatch):
    task = Sweep(waves(5), POINT, cp.Revolve(slots=2), THETA)
    expected = told(task.start(tmp_path))

    def interrupt(self):
        self.close()  # as the kernel does for a process that is killed
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cp.DiskStorage, "end", interrupt)
        with pytest.raises(KeyboardInterrupt):
            task.start(tmp_path)
    calls = []

    def never(x, theta, k):
        calls.append(k)
        return x

    found = cp.resume(tmp_path, cp.Chain.uniform(5, never), params=THETA)
    assert told(found) == expected
    assert calls == []
    assert os.listdir(tmp_path) == []


def test_no_step_is_run_again_that_a_record_makes_needless(tmp_path):
    ran = []

    def step(x, k):
        ran.append(k)
        return np.sin(x)

    chain = cp.Chain([cp.Chain.uniform(30, step), lambda x, k: x.sum()])
    task = Sweep(chain, POINT, cp.UniformBlock(slots=3, record="block"))
    assert not interrupted(task, tmp_path, 10**9)
    whole = len(ran)
    for at in (20, 40, 60):
        ran.clear()
        assert interrupted(task, tmp_path, at)
        before = len(ran)
        cp.resume(tmp_path, chain)
        assert whole <= len(ran) <= whole + 31
        assert len(ran) - before < whole


def test_a_full_disk_in_the_middle_of_a_sweep(tmp_path, monkeypatch):
    """The user makes room, and goes on."""
    task = Sweep(waves(9), POINT, cp.Revolve(slots=3), THETA)
    expected = told(task.start(tmp_path))
    write, count = os.write, 0
    for limit in range(1, 400, 17):
        left = [limit]

        def full(handle, data, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(handle, data)

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            try:
                task.start(tmp_path)
            except errors.StorageError as error:
                fault = error
            else:
                break
        assert "No space left" in str(fault)
        assert fault.key == "journal" or type(fault.key) is int
        if not os.listdir(tmp_path):  # not even a first record
            continue
        count += 1
        assert told(task.resume(tmp_path)) == expected
        assert os.listdir(tmp_path) == []
    assert count > 5


def test_an_error_of_a_step_leaves_nothing(tmp_path):
    def step(x, k):
        if k == 3:
            message = "mine"
            raise RuntimeError(message)
        return x

    chain = cp.Chain([cp.Chain.uniform(6, step), lambda x, k: x.sum()])
    disk = cp.DiskStorage(tmp_path, journal_seconds=0)
    with pytest.raises(RuntimeError, match="mine"):
        cp.reverse_sweep(chain, POINT, schedule=cp.Revolve(slots=2), storage=disk)
    assert os.listdir(tmp_path) == []
    found = cp.reverse_sweep(waves(3), POINT, schedule=cp.StoreAll(), params=THETA)
    again = cp.reverse_sweep(
        waves(3), POINT, schedule=cp.StoreAll(), params=THETA, storage=disk
    )
    assert told(found)[0] == told(again)[0]


class AddsInPlace(cp.Transition):
    """Its pullback adds to the parameters' cotangent where that lies."""

    def forward(self, x, params, k):
        return x * params

    def record(self, x, params, k):
        def pullback(ybar, params_bar):
            params_bar += x * ybar
            return ybar * params, params_bar

        return x * params, pullback


def test_a_pullback_that_adds_in_place(tmp_path):
    def back(x, params, ybar, k):
        return np.full_like(x, ybar), np.zeros_like(params)

    end = cp.Transition.from_vjp(lambda x, params, k: x.sum(), back)
    chain = cp.Chain([cp.Chain.uniform(6, AddsInPlace()), end])
    task = Sweep(chain, POINT, cp.Revolve(slots=2), np.linspace(0.9, 1.1, 5))
    expected = told(task.start(tmp_path))
    at = 0
    while interrupted(task, tmp_path, at := at + 3):
        assert told(task.resume(tmp_path)) == expected
    assert at > 10
