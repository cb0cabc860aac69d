"""Sweeps that are killed and resumed, over and over; run as a program of its own.

    python tests/_killed.py random KILLS KIND...    at random moments
    python tests/_killed.py every STEPS KIND...     before and within each call of the disk

The program imports and compiles once, forks a child for each attempt, and prints what
happened as a line of JSON a kind. A child exits with 0 where the result has the bits and
counts of the undisturbed sweep.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from derivative_covers import checkpoint as cp


class Body(NamedTuple):
    position: Any
    speed: Any


@dataclass(frozen=True)
class EveryOther(cp.Schedule):
    """A schedule of a third party: saves each second state, records one at a time."""

    def actions(self, steps):
        for k in range(0, steps, 2):
            yield cp.Action("save", k, k)
            yield cp.Action("advance", k, min(k + 2, steps))
        for k in reversed(range(0, steps, 2)):
            for j in reversed(range(k, min(k + 2, steps))):
                yield cp.Action("restore", k, k)
                if j > k:
                    yield cp.Action("advance", k, j)
                yield cp.Action("record", j, j + 1)
                yield cp.Action("reverse", j, j + 1)
            yield cp.Action("drop", k, k)


# Steps -------------------------------------------------------------------------------


def wave(x, theta, k):
    return x + theta["rate"] * np.sin(np.roll(x, 1) * theta["size"]) + 0.001 * k


def fall(body, k):
    speed = body.speed - 0.01 * np.sin(body.position)
    return Body(position=body.position + 0.01 * speed, speed=speed)


def resting(body, k):
    return Body(position=body.position, speed=np.sin(body.speed) * body.position)


def energy(x, *_):
    return (x * x).sum()


def energy_of_body(body, k):
    return (body.speed**2).sum() - np.cos(body.position).sum()


def decay(x, k):
    return {"u": x["u"] * (1 - 0.1 * x["t"]), "t": x["t"] * 0.99}


def decay_back(x, ybar, k):
    u, t = x["u"], x["t"]
    return {
        "u": ybar["u"] * (1 - 0.1 * t),
        "t": (-0.1 * u * ybar["u"]).sum() + 0.99 * ybar["t"],
    }


def last(x, k):
    return (x["u"] ** 3).sum()


def last_back(x, ybar, k):
    return {"u": 3 * x["u"] ** 2 * ybar, "t": 0.0}


@dataclass(frozen=True)
class Sweep:
    """A sweep that can be started in a folder and resumed from it."""

    chain: cp.Chain
    x0: Any
    schedule: Any
    params: Any = None
    sweep: Any = cp.reverse_sweep
    options: Any = None

    def start(self, folder):
        disk = cp.DiskStorage(folder, journal_seconds=0)
        options = (self.options or {}) | {"params": self.params, "storage": disk}
        return self.sweep(self.chain, self.x0, schedule=self.schedule, **options)

    def resume(self, folder):
        theirs = self.schedule if isinstance(self.schedule, EveryOther) else None
        return cp.resume(folder, self.chain, params=self.params, schedule=theirs)


THETA = {"rate": np.array(0.01), "size": np.linspace(1.0, 2.0, 5)}
POINT = np.linspace(0.3, 1.7, 5)
BODY = Body(np.array([0.5, 1.0]), np.array([0.1, -0.1]))


def waves(steps):
    return cp.Chain([cp.Chain.uniform(steps - 1, wave), energy])


def bodies(steps, step=fall):
    return cp.Chain([cp.Chain.uniform(steps - 1, step), energy_of_body])


def decays(steps):
    step = cp.Transition.from_vjp(decay, decay_back)
    end = cp.Transition.from_vjp(last, last_back)
    return cp.Chain([cp.Chain.uniform(steps - 1, step), end])


def sweep(kind, steps):
    if kind == "taped":
        return Sweep(waves(steps), POINT, cp.Revolve(slots=3), THETA)
    if kind == "namedtuple":
        options = {"verify": "fingerprint", "seed": 0.5}
        return Sweep(bodies(steps), BODY, cp.UniformBlock(slots=3), options=options)
    if kind == "vjp":
        x0 = {"u": np.linspace(0, 1, 7).astype(np.float32), "t": 0.5}
        return Sweep(decays(steps), x0, cp.TwoLevel(memory=2, disk=3))
    if kind == "block":
        schedule = cp.UniformBlock(slots=4, record="block")
        return Sweep(waves(steps), POINT, schedule, THETA)
    if kind == "third party":
        return Sweep(waves(steps), POINT, EveryOther(), THETA)
    if kind == "cover":
        schedule = cp.Binomial(slots=3)
        return Sweep(waves(steps), POINT, schedule, THETA, cp.cover_sweep)
    if kind == "carried cover":  # an entry that no step changes: it begins once more
        schedule = cp.TwoLevel(memory=2, disk=3)
        return Sweep(bodies(steps, resting), BODY, schedule, sweep=cp.cover_sweep)
    if kind == "hvp":
        options = {"v": POINT[::-1].copy(), "params_v": THETA}
        return Sweep(waves(steps), POINT, cp.Revolve(3), THETA, cp.hvp_sweep, options)
    raise ValueError(kind)


class Stop:
    """Interrupts a sweep at an event, as the user does with a key."""

    def __init__(self, at):
        self.left = at

    def __call__(self, event):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def interrupted(task, folder, at, seconds=0):
    """Whether the sweep was interrupted before it ended."""
    disk = cp.DiskStorage(folder, journal_seconds=seconds)
    options = (task.options or {}) | {"params": task.params, "on_event": Stop(at)}
    try:
        task.sweep(task.chain, task.x0, schedule=task.schedule, storage=disk, **options)
    except KeyboardInterrupt:
        return True
    return False


# Attempts ----------------------------------------------------------------------------


def bits(part):
    """Everything of a result that must be the same, as one text."""
    if isinstance(part, (np.ndarray, np.generic)):
        if part.dtype.char == "g":  # bytes of padding are no bits of the number
            return f"{part.dtype}{part.shape}{part.ravel().tolist()!r}"
        return f"{part.dtype}{part.shape}{part.tobytes().hex()}"
    if isinstance(part, dict):
        return str([(key, bits(inner)) for key, inner in part.items()])
    if isinstance(part, (tuple, list)):
        return f"{type(part).__name__}{[bits(inner) for inner in part]}"
    return repr(part)


def told(result):
    parts = {
        name: bits(getattr(result, name))
        for name in result.__dataclass_fields__
        if name != "report"
    }
    report = result.report
    counted = report.executed, report.predicted, report.work, report.space
    return parts, counted, report.abandoned, report.carried


def attempt(action, delay=None):
    """Runs it in a child; whether that was killed. A child that fails ends all."""
    child = os.fork()
    if not child:
        try:
            os._exit(0 if action() else 3)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(4)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.WEXITSTATUS(status):
        code = os.WEXITSTATUS(status)
        sys.exit(f"a child ended with {code} (3: another result, 4: an exception)")
    return False


def further(task, folder, expected):
    """Starts the sweep, or resumes it where a record lies in the folder."""
    if os.path.exists(os.path.join(folder, "journal")):
        found = task.resume(folder)
    else:
        found = task.start(folder)
    return told(found) == expected


def folder_in_memory():
    """A kill loses nothing that was written: no test needs to wait for a real disk."""
    shared = "/dev/shm"
    return tempfile.TemporaryDirectory(dir=shared if os.path.isdir(shared) else None)


def at_random(kills, kind, steps=60):
    task, rng = sweep(kind, steps), random.Random(kind)
    with folder_in_memory() as folder:
        expected = told(task.start(folder))  # compiles
        began = time.perf_counter()
        task.start(folder)
        whole = time.perf_counter() - began
        done = ended = 0
        while True:
            delay = rng.uniform(0, 0.5 * whole) if done < kills else None
            if attempt(lambda: further(task, folder, expected), delay):
                done += 1
                continue
            ended += 1
            left = os.listdir(folder)
            if left:
                sys.exit(f"the finished sweep left {left}")
            if delay is None:
                return {"kills": done, "ended": ended}


class Deadly:
    """Kills its process before call ``number`` of the disk, or within it."""

    def __init__(self, number, halfway):
        self.left, self.halfway = number, halfway

    def arm(self):
        for name in ("open", "write", "fsync", "replace", "unlink", "makedirs"):
            setattr(os, name, self.wrapped(name, getattr(os, name)))

    def wrapped(self, name, real):
        def call(*args, **kwargs):
            if not self.left:
                if self.halfway and name == "write":
                    real(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            self.left -= 1
            return real(*args, **kwargs)

        return call


def at_every_call(steps, kind):
    task, number = sweep(kind, steps), 0
    with folder_in_memory() as folder:
        expected = told(task.start(folder))

        def deadly():
            Deadly(number // 2, halfway=number % 2 == 1).arm()
            return further(task, folder, expected)

        while attempt(deadly):
            if attempt(lambda: further(task, folder, expected)):
                sys.exit("a child was killed by somebody else")
            left = os.listdir(folder)
            if left:
                sys.exit(f"the resumed sweep left {left}")
            number += 1
    return {"kills": number}


if __name__ == "__main__":
    how, count, *kinds = sys.argv[1:]
    run = {"random": at_random, "every": at_every_call}[how]
    for kind in kinds:
        sys.stdout.write(json.dumps({"kind": kind, **run(int(count), kind)}) + "\n")
