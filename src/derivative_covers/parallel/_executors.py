"""Items through a task on an executor: bounded, in order, with errors that name the item.

Callers see the items' indices alone, never the engine.
"""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import WorkerError
from ._engines import Engine
from ._texts import short

__all__ = ["Done", "Located", "results"]


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
) -> Generator[Done, None, None]:
    """The task's results for all items, of which few are under way at any time.

    Args:
        task: Function of an item. It is sent with every item, so it should be small.
        items: Asked for one by one, when there is room for it; may be a generator that
            depends on results that were yielded.
        on: See :func:`engine`.
        what: What an item is called in messages.
        ordered: Whether results come in the order of the items, or as they come in.

    Yields:
        :class:`Done` for every item.

    Raises:
        WorkerError: An item raised, and which; or the engine failed.

    Guarantee:
        No more than ``on.window`` results are held. However it ends, nothing that has
        not begun is begun afterwards.
    """
    source = enumerate(items)
    pending: dict[Any, int] = {}
    held: dict[int, Any] = {}
    upcoming, exhausted = 0, False
    try:
        while True:
            while not exhausted and len(pending) + len(held) < on.window:
                index, item = next(source, (-1, None))
                if index < 0:
                    exhausted = True
                    break
                handle = on.submit(_call, task, index, item)
                pending[_Key(handle)] = index
            if not pending and not held:
                return
            if pending and upcoming not in held:
                for handle in on.wait([key.handle for key in pending]):
                    index = pending.pop(_Key(handle))
                    held[index] = _checked(on, handle, index, what)
            if ordered:
                while upcoming in held:
                    yield held.pop(upcoming)
                    upcoming += 1
            else:
                ready, held = held, {}
                yield from ready.values()
    finally:
        on.cancel([key.handle for key in pending])


class _Key:
    """A handle by identity: those of some engines are equal, or have no hash."""

    __slots__ = ("handle",)

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __hash__(self) -> int:
        return id(self.handle)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.handle is other.handle


def _call(task: Callable[[Any], Any], index: int, item: Any) -> Done | _Failed:
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


def _checked(on: Engine, handle: Any, index: int, what: str) -> Done:
    try:
        found = on.result(handle)
    except WorkerError as error:
        error.shard = index
        error.add_note(f"It was waiting for {what} {index}.")
        raise
    except Exception as error:  # the item could not be sent, or its result not returned
        msg = f"{what} {index} never got to a worker, or its result not back: {error}"
        raise WorkerError(msg, index) from error
    if isinstance(found, _Failed):
        msg = (
            f"{what} {found.index} raised {type(found.error).__name__}: {found.error}\n"
            f"Its input: {found.input}"
        )
        raise WorkerError(msg, found.index, found.input) from found.error
    done: Done = found
    return done
