"""What a checkpointed sweep adds: time a step, memory, and a long simulation."""

from __future__ import annotations

import json
import time
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from derivative_covers.checkpoint import (
    Chain,
    Revolve,
    StoreAll,
    Transition,
    cover_sweep,
    reverse_sweep,
)

from . import _children
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "checkpointing"
LIMIT = 3.0  # microseconds
H = 1e-5  # covers of chaos grow with time: 1e5 steps are one unit of it
X = np.linspace(0.1, 0.9, 4)

PEAK = """
import json
import sys
import time
from benchmarks.checkpointing import big_chain
from derivative_covers.checkpoint import Revolve, reverse_sweep
import numpy as np

def kilobytes(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key))

kind, steps = sys.argv[1], int(sys.argv[2])
reverse_sweep(big_chain(kind, 12), np.ones(2000), schedule=Revolve(slots=3))
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before, start = kilobytes("VmRSS"), time.perf_counter()
point = np.linspace(0.0, 1.0, 131_072)
result = reverse_sweep(big_chain(kind, steps), point, schedule=Revolve(slots=10))
assert np.all(np.isfinite(result.cotangent))
print(json.dumps([kilobytes("VmHWM") - before, time.perf_counter() - start]))
"""


def _plain(x: Any, k: int) -> Any:
    return x + 1e-6


def _plain_vjp(x: Any, ybar: Any, k: int) -> Any:
    return ybar


def _pair(x: Any, k: int) -> Any:
    return (x[1], x[0])


def _pair_vjp(x: Any, ybar: Any, k: int) -> Any:
    return (ybar[1], ybar[0])


def _first(x: Any, k: int) -> Any:
    return x[0]


def _first_vjp(x: Any, ybar: Any, k: int) -> Any:
    return (
        (ybar, 0.0) if isinstance(x, tuple) else np.append(ybar, np.zeros(x.size - 1))
    )


def _eight(x: Any, k: int) -> Any:
    """Eight array operations."""
    y = np.sin(x)
    y = y * x
    y = y + x
    y = y * 0.5
    y = y - 0.01
    y = np.cos(y)
    y = y * 0.1
    return x - y


def _mean(x: Any, k: int) -> Any:
    return np.mean(x)


def big_chain(kind: str, steps: int) -> Chain:
    """Steps on one large vector, and a number at their end."""
    if kind == "from_vjp":
        step = Transition.from_vjp(_plain, _plain_vjp)
        last = Transition.from_vjp(_first, _first_vjp)
    else:
        step, last = Transition.taped(_eight), Transition.taped(_mean)
    return Chain([Chain.uniform(steps - 1, step), last])


def _loop(f: Any, vjp: Any, x: Any, ybar: Any, evaluations: int, steps: int) -> None:
    """The user's functions, called as often as a sweep calls them."""
    y = x
    for k in range(evaluations):
        y = f(y, k)
    for k in range(steps):
        ybar = vjp(x, ybar, k)


def _processor(
    a: Callable[[], Any], b: Callable[[], Any], rounds: int
) -> list[tuple[float, float]]:
    """Processor seconds of two calls in turn: differences need less noise than ratios."""
    found = []
    for _ in range(rounds + 1):
        start = time.process_time()
        a()
        between = time.process_time()
        b()
        found.append((between - start, time.process_time() - between))
    return found[1:]


def _overhead(scale: int, rounds: int) -> Iterator[Row]:
    """What a sweep adds to the calls of the user's functions.

    An evaluation is a call of the step, recorded or not. A sweep that records all at once
    makes one for every step of the chain, and beside it one of the reverse rule: there
    what is added to a step is twice what is added to a call.
    """
    for what, f, vjp, x, ybar in (
        ("an array of 4", _plain, _plain_vjp, X, np.ones(4)),
        ("a pair of numbers", _pair, _pair_vjp, (0.5, 0.25), (1.0, 0.0)),
    ):
        step = Transition.from_vjp(f, vjp)
        last = Transition.from_vjp(_first, _first_vjp)
        for name, steps, schedule, limit in (
            ("one slot, long advances", 40 * scale, Revolve(slots=1), LIMIT),
            ("ten slots", 1_000 * scale, Revolve(slots=10), LIMIT),
            ("all recorded at once", 1_000 * scale, StoreAll(), None),
        ):
            chain = Chain([Chain.uniform(steps - 1, step), last])
            cost = schedule.plan(steps).cost
            n = cost.unrecorded + cost.recorded
            pairs = _processor(
                partial(reverse_sweep, chain, x, schedule=schedule),
                partial(_loop, f, vjp, x, ybar, n, steps),
                rounds,
            )
            added = [(p - q) / n * 1e6 for p, q in pairs]
            ours, bare = (min(times) / n * 1e6 for times in zip(*pairs, strict=True))
            note = (
                f"{n} evaluations, {bare:.3g} us each in a bare loop; least times, median "
                f"of the rounds {median(added):.3g}, quartiles {spread(added)}"
            )
            what_all = f"added to an evaluation, {what}, {name}"
            yield Row(ITEM, what_all, ours - bare, "us", limit, n=steps, note=note)
            if limit is None:
                share = n / (n + steps)
                note = f"step or rule; median of the rounds {median(added) * share:.3g}"
                what_all = f"added to a call, {what}, {name}"
                value = (ours - bare) * share
                yield Row(ITEM, what_all, value, "us", LIMIT, n=steps, note=note)


def lorenz(x: Any, k: int) -> Any:
    """Lorenz-96 by the classical Runge-Kutta rule."""
    a = _rate(x)
    b = _rate(x + H / 2 * a)
    c = _rate(x + H / 2 * b)
    d = _rate(x + H * c)
    return x + H / 6 * (a + 2.0 * (b + c) + d)


def _rate(x: Any) -> Any:
    around = np.concatenate((x[-2:], x, x[:1]))
    return (around[3:] - around[:-3]) * around[1:-2] - x + 8.0


def lorenz_chain(steps: int) -> Chain:
    """So many steps, the last of which is the mean square."""
    last = Transition.taped(lambda x, _k: np.mean(x**2))
    return Chain([Chain.uniform(steps - 1, Transition.taped(lorenz)), last])


def _forward(steps: int, x: Any) -> float:
    start = time.perf_counter()
    for k in range(steps):
        x = lorenz(x, k)
    return (time.perf_counter() - start) / steps


def _taped(steps: int, rounds: int) -> Iterator[Row]:
    """Recording and reversing a step, where the tape does all of it."""
    for what, f, x in (
        ("eight operations on 4 entries", _eight, X),
        ("eight operations on 1e4 entries", _eight, np.linspace(0.1, 0.9, 10_000)),
        ("Lorenz-96 with 40 entries", lorenz, 8.0 + np.sin(np.arange(40.0))),
    ):
        last = Transition.taped(_mean)
        chain = Chain([Chain.uniform(steps - 1, Transition.taped(f)), last])

        def sweep(chain: Any = chain, x: Any = x) -> None:
            reverse_sweep(chain, x, schedule=Revolve(slots=steps))

        def bare(f: Any = f, x: Any = x) -> None:
            for k in range(steps):
                x = f(x, k)

        a, b = interleaved([sweep, bare], rounds)
        each = [s / steps * 1e6 for s in a.seconds]
        ratios = a.over(b)
        note = f"{median(ratios):.3g} plain steps, quartiles {spread(each)}"
        yield Row(ITEM, f"a taped step, {what}", median(each), "us", n=steps, note=note)


def _memory(sizes: tuple[tuple[str, int], ...]) -> Iterator[Row]:
    for kind, steps in sizes:
        what = f"peak memory above rest, states of 1 MB, ten slots, {kind}"
        try:
            said = _children.output(PEAK, kind, str(steps), timeout=3600)
        except OSError as error:
            yield Row(ITEM, what, None, "MB", 40.0, note=f"needs Linux: {error}")
            continue
        kilobytes, seconds = json.loads(said)
        note = f"{seconds:.3g} s"
        yield Row(ITEM, what, kilobytes / 1024, "MB", 40.0, n=steps, note=note)


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def _simulation(steps: int) -> Iterator[Row]:
    """A gradient and a cover of a long simulation, in times of running it once."""
    x = 8.0 + np.sin(np.arange(40.0))
    chain = lorenz_chain(steps)
    plain = min(_forward(max(steps // 10, 100), x) for _ in range(3)) * steps
    for what, sweep in (("gradient", reverse_sweep), ("cover", cover_sweep)):
        result, seconds = _timed(
            lambda sweep=sweep: sweep(chain, x, schedule=Revolve(10))
        )
        done = result.report.executed
        note = (
            f"{seconds:.3g} s, forward {plain:.3g} s, {done.unrecorded} unrecorded and "
            f"{done.recorded} recorded evaluations"
        )
        what_all = f"{what} of Lorenz-96, ten slots, over running it"
        yield Row(ITEM, what_all, seconds / plain, n=steps, note=note)


def rows(*, quick: bool, full: bool = False) -> Iterator[Row]:
    """Overhead, the cost of recorded steps, peak memory, a simulation."""
    yield from _overhead(1 if quick else 10, 3 if quick else 7)
    yield from _taped(50 if quick else 200, 3 if quick else 7)
    # A sweep peaks within its first hundred steps; ten thousand taped ones take an hour.
    sizes = (10_000, 1_000) if full else (200, 50) if quick else (2_000, 200)
    yield from _memory(tuple(zip(("from_vjp", "taped"), sizes, strict=True)))
    yield from _simulation(100_000 if full else 500 if quick else 2_000)
