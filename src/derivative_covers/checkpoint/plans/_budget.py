"""Which schedule fits a memory and evaluates least."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import isqrt

from ...errors import ScheduleError
from ._integers import count, nbytes
from ._revolve import Revolve
from ._schedule import Schedule
from ._store_all import StoreAll
from ._two_level import TwoLevel
from ._uniform import UniformBlock, block_length, blocks

__all__ = ["for_budget"]

# Block lengths that are tried; only chains beyond 1e15 steps have more good ones.
_TRIED = 1 << 15
# Each costs some 10 us.
_TRIED_ON_DISK = 1 << 9


def for_budget(
    steps: int,
    state_bytes: float,
    tape_bytes: float,
    memory_bytes: float,
    *,
    disk_bytes: float | None = None,
) -> Schedule:
    """The schedule with the least evaluations that fits a memory.

    Counted are the slots, the live state and the records at their peak, as
    :meth:`PlanCost.memory` does; what a step needs while it runs comes on top.
    Candidates are :class:`StoreAll`, ``UniformBlock(record="block")``, :class:`Revolve`
    and, with ``disk_bytes``, :class:`TwoLevel`; at equal evaluations the first of them.

    Args:
        steps: Number of steps, ``T``.
        state_bytes: Bytes of one state. Bytes are whole numbers, floats such as ``8e6``
            too.
        tape_bytes: Bytes of the record of one step.
        memory_bytes: Bytes that may be used.
        disk_bytes: Bytes on disk that may be used; None uses no disk.

    Returns:
        The schedule; ``schedule.plan(steps)`` succeeds. Among uniform blocks the best
        number of them is found for chains up to some 1e15 steps; on disk, the best of the
        512 shortest block lengths that fit.

    Raises:
        InputTypeError: If an argument is no whole number.
        ScheduleError: If one is negative, or nothing fits; the message says the least
            memory that would do.

    Cost:
        Some tenths of a second at most, for any number of steps.

    Example:
        >>> from derivative_covers.checkpoint import for_budget
        >>> for_budget(10_000, state_bytes=10**6, tape_bytes=10**6, memory_bytes=10**10)
        UniformBlock(slots=2, record='block')
        >>> for_budget(10_000, state_bytes=1e6, tape_bytes=1e7, memory_bytes=1e8)
        Revolve(slots=89)
    """
    T = count("steps", steps)
    state = nbytes("state_bytes", state_bytes)
    tape = nbytes("tape_bytes", tape_bytes)
    memory = nbytes("memory_bytes", memory_bytes)
    disk = None if disk_bytes is None else nbytes("disk_bytes", disk_bytes)
    if state + T * tape <= memory:
        return StoreAll()
    found: list[Schedule] = []
    if number := _number_of_blocks(T, state, tape, memory):
        found.append(UniformBlock(number, record="block"))
    free = memory - tape - state  # beside a record and the live state
    slots = -1 if free < 0 else min(T - 1, free // state if state else T)
    if slots > 0:
        found.append(Revolve(slots))
    if disk is not None and slots >= 0 and T:
        most = min(T, disk // state + 1 if state else T)
        if slots or most == T:
            found.append(_on_disk(T, slots, most))
    if not found:
        raise ScheduleError(_too_little(T, state, tape, memory, disk))
    return min(found, key=lambda schedule: schedule.cost(T).unrecorded)


def _number_of_blocks(T: int, state: int, tape: int, memory: int) -> int:
    """Blocks with the longest last one, as each other step is replayed; 0: none fit."""
    best = longest = 0
    for s, q in islice(_blocks_from(T, _fewest(T, state, tape, memory)), _TRIED):
        if q <= longest or s * state + tape > memory:
            break
        last = T - (s - 1) * q
        if last > longest and s * state + q * tape <= memory:
            best, longest = s, last
    return best


def _blocks_from(T: int, s: int) -> Iterator[tuple[int, int]]:
    """Numbers of blocks from ``s`` on, with their lengths, all distinct."""
    while 0 < s <= T:
        q = block_length(T, s)
        yield blocks(T, q), q
        if q == 1:
            return
        s = blocks(T, q - 1)


def _fewest(T: int, state: int, tape: int, memory: int) -> int:
    """Least ``s`` with ``s * state + ceil(T / s) * tape <= memory``; 0: there is none."""
    s = 1
    if state:
        # s * state + T / s * tape <= memory lies between two roots.
        square = memory * memory - 4 * state * T * tape
        if square < 0:
            return 0
        s = max(1, (memory - isqrt(square)) // (2 * state) - 1)
    # No block number below s fits; each round makes blocks shorter or ends.
    while (room := memory - s * state) >= tape:
        more = blocks(T, room // tape)
        if more <= s:
            return s
        s = more
    return 0


def _on_disk(T: int, slots: int, most: int) -> Schedule:
    """The best of the shortest blocks."""
    lengths = islice(_lengths_from(T, block_length(T, most)), _TRIED_ON_DISK)
    tried = [TwoLevel(slots, blocks(T, q)) for q in lengths if slots or q == 1]
    return min(tried, key=lambda schedule: schedule.cost(T).unrecorded)


def _lengths_from(T: int, q: int) -> Iterator[int]:
    """Lengths of blocks from ``q`` on that some number of blocks has."""
    while True:
        yield q
        if q == T:
            return
        q = block_length(T, blocks(T, q + 1))


def _too_little(T: int, state: int, tape: int, memory: int, disk: int | None) -> str:
    """What would do."""
    needs = {state + T * tape: "StoreAll()"}
    if T > 1:
        needs.setdefault(2 * state + tape, "Revolve(slots=1)")
        if disk is not None and disk >= (T - 1) * state:
            needs.setdefault(state + tape, f"TwoLevel(memory=0, disk={T})")
    least = min(needs)
    return (
        f"no schedule for {T} steps with states of {state} bytes and records of {tape} "
        f"bytes fits in memory_bytes={memory}; the least that would do is {least} bytes, "
        f"for {needs[least]}."
    )
