"""Items through a task on an executor: bounded, in order, with errors that name the item.

Callers see the items' indices alone, never the engine.
"""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import WorkerError
from ._engines import Engine, Group
from ._texts import short

__all__ = ["Done", "Located", "results"]

SHORT = 0.05  # seconds: what takes less goes with others, where calls are dear


class Located(Exception):
    """Raised by a task from the error of one entry of its item, to name that entry."""

    def __init__(self, index: int, input: Any) -> None:
        super().__init__(index)
        self.index, self.input = index, input


@dataclass(frozen=True)
class Done:
    """What became of an item.

    Attributes:
        index: Which item it was.
        result: What the task returned.
        seconds: How long it took on its worker.
    """

    index: int
    result: Any
    seconds: float


@dataclass(frozen=True)
class _Failed:
    """An error in a form that every process can read."""

    index: int
    error: Exception
    input: str


def results(
    task: Callable[[Any], Any],
    items: Iterable[Any],
    on: Engine,
    *,
    what: str = "shard",
    ordered: bool = True,
    first: int = 0,
) -> Generator[Done, None, None]:
    """The task's results for all items, of which few are under way at any time.

    Args:
        task: Function of an item. It is sent with every item, so it should be small.
        items: Asked for one by one, when there is room for it; may be a generator that
            depends on results that were yielded.
        on: See :func:`engine`.
        what: What an item is called in messages.
        ordered: Whether results come in the order of the items, or as they come in.
        first: Index of the first item.

    Yields:
        :class:`Done` for every item.

    Raises:
        WorkerError: An item raised, and which; or the engine failed.

    Guarantee:
        No more than ``on.window`` calls are under way or held, and no call is given more
        items than take some hundredths of a second, or one. However it ends, nothing
        that has not begun is begun afterwards.
    """
    source = enumerate(items, first)
    pending: dict[_Key, int] = {}  # the first index of each call
    held: dict[int, list[Done]] = {}
    upcoming, size, exhausted = first, 1, False
    try:
        while True:
            while not exhausted and len(pending) + len(held) < on.window:
                room = on.window - len(pending) - len(held)
                groups = _taken(source, room, min(size, on.bundle))
                exhausted = not groups
                if groups:
                    made = on.submit(_call, task, groups)
                    for (start, _), handle in zip(groups, made, strict=True):
                        pending[_Key(handle)] = start
            if not pending and not held:
                return
            if pending and upcoming not in held:
                for start, found in _finished(on, pending, what):
                    held[start] = found
                    size = _size(size, found)
            if ordered:
                while upcoming in held:
                    found = held.pop(upcoming)
                    upcoming += len(found)
                    yield from found
            else:
                ready, held = held, {}
                for found in ready.values():
                    yield from found
    finally:
        on.cancel([key.handle for key in pending])


def _taken(source: Iterator[tuple[int, Any]], calls: int, size: int) -> list[Group]:
    """Items for so many calls of so many, or for fewer where they do not come at once."""
    groups: list[Group] = []
    until = time.monotonic() + SHORT
    for index, item in source:
        if groups and len(groups[-1][1]) < size:
            groups[-1][1].append(item)
        else:
            groups.append((index, [item]))
        full = len(groups) == calls and len(groups[-1][1]) == size
        if full or time.monotonic() > until:
            break
    return groups


def _size(size: int, found: list[Done]) -> int:
    """How many items the next calls get, by what one took."""
    seconds = max(sum(done.seconds for done in found), 1e-9)
    return max(1, min(2 * size, int(SHORT * len(found) / seconds)))


class _Key:
    """A handle by identity: those of some engines are equal, or have no hash."""

    __slots__ = ("handle",)

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __hash__(self) -> int:
        return id(self.handle)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.handle is other.handle


def _call(
    task: Callable[[Any], Any], first: int, items: list[Any]
) -> list[Done | _Failed]:
    """What became of some items, up to the first that raised."""
    every: list[Done | _Failed] = []
    for index, item in enumerate(items, first):
        every.append(_one(task, index, item))
        if isinstance(every[-1], _Failed):
            break
    return every


def _one(task: Callable[[Any], Any], index: int, item: Any) -> Done | _Failed:
    start = time.perf_counter()
    try:
        found = task(item)
    except Exception as error:
        cause = error.__cause__
        if isinstance(error, Located) and isinstance(cause, Exception):
            return _Failed(error.index, _portable(cause), short(error.input))
        return _Failed(index, _portable(error), short(item))
    return Done(index, found, time.perf_counter() - start)


def _portable(error: Exception) -> Exception:
    """The error with its traceback as a note; another one where it cannot be sent."""
    text = "".join(traceback.format_exception(error)).rstrip()
    try:
        copy = pickle.loads(pickle.dumps(error))
        same = type(copy) is type(error)
    except Exception:  # whatever its own methods raise
        same = False
    sent = error if same else RuntimeError(f"{type(error).__name__}: {error}")
    sent.add_note(f"On the worker:\n{text}")
    return sent


def _finished(
    on: Engine, pending: dict[_Key, int], what: str
) -> Iterator[tuple[int, list[Done]]]:
    """Calls that are done, out of those pending: their first indices, what became of them."""
    handles = list(on.wait([key.handle for key in pending]))
    every = on.results(handles)
    for handle in handles:
        first = pending.pop(_Key(handle))
        try:
            found = next(every)
        except WorkerError as error:
            error.shard = first
            error.add_note(f"It was waiting for {what} {first}.")
            raise
        except Exception as error:  # what could not be sent, or sent back
            msg = (
                f"{what} {first} never got to a worker, or its result not back: {error}"
            )
            raise WorkerError(msg, first) from error
        yield first, [_checked(one, what) for one in found]


def _checked(found: Done | _Failed, what: str) -> Done:
    if isinstance(found, Done):
        return found
    msg = (
        f"{what} {found.index} raised {type(found.error).__name__}: {found.error}\n"
        f"Its input: {found.input}"
    )
    raise WorkerError(msg, found.index, found.input) from found.error
