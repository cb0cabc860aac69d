"""Every program of the suite: recording, derivatives, covers, and other packages.

A number is the time of one call over that of the program in plain NumPy, measured in
turn. The text of a row is ``program | who | column``.
"""

from __future__ import annotations

import math
import time
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc

from . import _limits, _replay, _rivals
from ._report import Row
from ._suite import Program, programs
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "table"
OURS = "this package"
SLOW = 10.0  # seconds: what lasts longer is measured once
GROUPS = 8
SMALLEST_PEAK = 1 << 21  # bytes; less drowns in pages that are there already
AGREE = 1e-9
PEERS = {
    "autograd": "HIPS autograd",
    "torch": "PyTorch",
    "jax": "JAX",
    "SX": "CasADi SX",
    "MX": "CasADi MX",
}
GROWING = ("record", "cover sum", "cover quadrature")

Calls = dict[tuple[str, str], "Callable[[], Any]"]


def _ours(program: Program, v: np.ndarray) -> Calls:
    """Whole calls, calls of a recorded tape, and replay where there is one."""
    f, x = program.plain, program.x
    tape, out = dc.tape_function(f, x)
    calls: dict[str, Callable[[], Any]] = {
        "record": lambda: dc.tape_function(f, x),
        "record + gradient": lambda: dc.gradient(f, x),
        "gradient": lambda: dc.gradient(tape, out),
        "hvp": lambda: dc.hvp(tape, out, v),
        "cover sum": lambda: dc.cover_hessian(tape, out),
        "cover quadrature": lambda: dc.cover_hessian(tape, out, merge="quadrature"),
        "hybrid": lambda: dc.cover_hybrid(tape, out, ngroups=GROUPS),
    }
    replayed = _replay.compiled(f, x)
    if replayed is not None:
        calls["replayed value"] = lambda: replayed.value(x)
        calls["replayed gradient"] = lambda: replayed.gradient(x)
        calls["replayed hvp"] = lambda: replayed.hvp(x, v)
        calls["replayed cover sum"] = lambda: replayed.cover(x)
    return {(OURS, column): call for column, call in calls.items()}


def _smaller(program: Program) -> tuple[Calls, float]:
    """What grows, at a smaller size, and the logarithm of the ratio of the nodes."""
    assert program.smaller is not None
    small = program.smaller()
    found = _ours(small, np.ones(small.n))
    large, less = (dc.tape_function(p.plain, p.x)[0].nnodes for p in (program, small))
    kept = {("smaller", column): found[OURS, column] for column in GROWING}
    return kept, math.log(large / less)


def _peak(program: Program) -> Row:
    """Bytes a node at the peak of recording and a sum cover, where that can be told."""
    what = f"{program.name} | {OURS} | peak bytes a node"
    try:
        _, _, peak, nodes = _limits.peaks(*program.made)
    except OSError as error:
        return Row(ITEM, what, None, "B", n=program.n, note=f"needs Linux: {error}")
    note = f"{nodes:.0f} nodes, recording and a sum cover"
    if peak * nodes < SMALLEST_PEAK:
        peak, note = None, f"{note}: too few to tell"
    return Row(ITEM, what, peak, "B", n=program.n, note=note)


def _disagreement(program: Program, v: np.ndarray, peers: dict[str, Any]) -> Row:
    """How far the numbers of any two packages lie apart."""
    tape, out = dc.tape_function(program.plain, program.x)
    ours = {
        "value": np.asarray(program.plain(program.x)),
        "gradient": dc.gradient(tape, out),
        "hvp": dc.hvp(tape, out, v),
    }
    worst, who = 0.0, "no peer"
    for peer, calls in peers.items():
        for column, call in calls.items():
            expected = ours[column]
            apart = np.abs(np.ravel(np.asarray(call())) - expected).max()
            error = float(apart / np.abs(expected).max())
            if error >= worst:
                worst, who = error, f"{PEERS[peer]}'s {column}"
    what = f"{program.name} | all | largest relative difference"
    return Row(ITEM, what, worst, "", AGREE, n=program.n, note=who)


def _quick_ones(calls: Calls) -> tuple[Calls, dict[tuple[str, str], float]]:
    """The calls that can be repeated, and the seconds of those that last too long."""
    fast, slow = {}, {}
    for key, call in calls.items():
        start = time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        if seconds > SLOW:  # the first call may have compiled kernels
            start = time.perf_counter()
            call()
            seconds = time.perf_counter() - start
        if seconds > SLOW:
            slow[key] = seconds
        else:
            fast[key] = call
    return fast, slow


def _measured(program: Program, rounds: int) -> Iterator[Row]:
    v = np.cos(np.arange(program.n, dtype=float))
    peers = _rivals.all_of(program, v)
    yield _disagreement(program, v, peers)
    calls: Calls = {("plain NumPy", "value"): partial(program.plain, program.x)}
    calls |= _ours(program, v)
    for peer, made in peers.items():
        calls |= {(PEERS[peer], column): call for column, call in made.items()}
    growth = 0.0
    if program.smaller is not None:
        smaller, growth = _smaller(program)
        calls |= smaller
    fast, slow = _quick_ones(calls)
    samples = interleaved(list(fast.values()), rounds)
    times = dict(zip(fast, samples, strict=True))
    plain = times["plain NumPy", "value"]
    for key in calls:
        who, column = key
        if who in ("smaller", "plain NumPy"):
            continue
        what = f"{program.name} | {who} | {column}"
        if key in slow:
            value, note = slow[key] / plain.median, f"{slow[key]:.3g} s, once"
        else:
            ratios = times[key].over(plain)
            value = median(ratios)
            note = f"{times[key].median * 1e3:.3g} ms, quartiles {spread(ratios)}"
        yield Row(ITEM, what, value, n=program.n, note=note)
    for column in GROWING:
        small, large = ("smaller", column), (OURS, column)
        if small in times and large in times:
            logs = [math.log(r) / growth for r in times[large].over(times[small])]
            what = f"{program.name} | {OURS} | exponent, {column}"
            yield Row(ITEM, what, median(logs), "", n=program.n)
    yield _peak(program)


def rows(*, quick: bool) -> Iterator[Row]:
    """All programs, one after another."""
    for program in programs(quick=quick):
        yield from _measured(program, 3 if quick else 7)
