"""What is Dask's, and its client as an engine; Dask is imported when it is met."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from functools import partial
from importlib import import_module
from typing import Any, NoReturn
from weakref import WeakSet

from ..errors import (
    InputTypeError,
    MissingPackageError,
    OptionError,
    WorkerError,
    extra,
)

__all__ = [
    "Group",
    "OnDask",
    "computed_here",
    "current_client",
    "is_dask",
    "is_lazy",
    "refuse_dask",
]

Group = tuple[int, list[Any]]  # the items of a call, and the index of the first
BUNDLE = 16  # items of a call at most, since a call costs Dask some milliseconds
MESSAGE = 1 << 23  # bytes, about: of items that are larger, each goes by itself
LOOK = 5.0  # seconds after which Dask is asked what it waits for
PATIENCE = 60.0  # seconds without workers


class OnDask:
    """A client of ``dask.distributed``.

    Calls go out many in a graph, and results come back many in a request: a graph or a
    request costs the scheduler about as much as a call does.
    """

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            msg = "the Dask client is asynchronous; make it with asynchronous=False."
            raise OptionError(msg)
        self._client = client
        self._wait = import_module("distributed").wait
        try:
            self.workers = max(sum(client.nthreads().values()), 1)
        except Exception as error:  # a closed client fails in ways of its own
            self._gone(error)
        self.window, self.bundle = 4 * self.workers, BUNDLE
        self._open = WeakSet[Any]()

    def submit(
        self,
        call: Callable[..., Any],
        task: Any,
        groups: Sequence[Group],
    ) -> Iterator[Any]:
        if any(_holds(is_dask, items) for _, items in groups):
            self.bundle = 1  # what Dask holds stays where it is
        for message in _messages(groups):
            yield from self._sent(call, task, message)

    def _sent(
        self, call: Callable[..., Any], task: Any, groups: Sequence[Group]
    ) -> list[Any]:
        try:
            if any(is_lazy(items) for _, items in groups):
                calls = [_delayed(call, task, *group) for group in groups]
                made: list[Any] = self._client.compute(calls)
            else:
                firsts, every = zip(*groups, strict=True)
                made = self._client.map(partial(call, task), firsts, every, pure=False)
            self._open.update(made)
            return made
        except Exception as error:
            if not isinstance(error, TypeError) or not self._is_there():
                self._gone(error)
            msg = (
                "the function or its data cannot be sent to a worker: "
                f"{error.__cause__ or error}. Open files, locks and connections stay "
                "where they are; make them inside of the function."
            )
            raise InputTypeError(msg) from error

    def wait(self, handles: Collection[Any]) -> Collection[Any]:
        every = list(handles)
        found = self._asked(
            lambda: self._wait(every, timeout=LOOK, return_when="FIRST_COMPLETED"),
            every,
        )
        done: Collection[Any] = found.done
        return done

    def results(self, handles: Sequence[Any]) -> Iterator[Any]:
        if all(handle.status == "finished" for handle in handles):
            yield from self._gathered(handles)
        else:  # one by one, so that an error comes up at its place
            for handle in handles:
                yield from self._gathered([handle])

    def _gathered(self, handles: Sequence[Any]) -> list[Any]:
        """Results in one request; a slow one goes on while Dask is asked what it does."""
        try:
            request = asyncio.run_coroutine_threadsafe(
                self._client.gather(list(handles), asynchronous=True),
                self._client.loop.asyncio_loop,
            )
        except RuntimeError as error:  # the loop is closed
            self._gone(error)
        try:
            found: list[Any] = self._asked(lambda: _answer(request), self._open)
        finally:
            request.cancel()
        return found

    def _asked(self, ask: Callable[[], Any], handles: Collection[Any]) -> Any:
        """What Dask answers; it may wait for workers that never come."""
        since = None
        while True:
            try:
                return ask()
            except TimeoutError:
                self._raise_what_failed(handles)
            except Exception as error:
                self._raise(error)
            try:
                empty = not self._client.nthreads()
            except Exception as error:
                self._gone(error)
            since = (since or time.monotonic()) if empty else None
            if since is not None and time.monotonic() - since > PATIENCE:
                msg = (
                    f"Dask has had no workers for {PATIENCE:g} seconds. Start some and "
                    "call again; where workers die, give them more memory or make "
                    "shards smaller."
                )
                raise WorkerError(msg)

    def _raise_what_failed(self, handles: Collection[Any]) -> None:
        """While one result is waited for, another may have been given up."""
        for handle in handles:
            if handle.status == "error":
                self._raise(handle.exception())

    def _raise(self, error: Exception) -> NoReturn:
        if type(error).__name__ == "KilledWorker":
            msg = (
                "Dask gave a shard up after several workers died with it; most often one "
                "that needs more memory than a worker has. Make shards smaller, or give "
                "workers more memory."
            )
            raise WorkerError(msg) from error
        if isinstance(error, (CancelledError, OSError)) or not self._is_there():
            self._gone(error)
        raise error

    def cancel(self, handles: Collection[Any]) -> None:
        if handles and self._is_there():
            self._client.cancel(list(handles))
        self._open.clear()

    def _is_there(self) -> bool:
        return bool(self._client.status == "running")

    def _gone(self, error: Exception) -> NoReturn:
        msg = (
            "the Dask scheduler is gone, the client closed, or the work was cancelled "
            f"from elsewhere (client {self._client.status}). Connect anew and call again."
        )
        raise WorkerError(msg) from error


def is_dask(thing: Any) -> bool:
    """Whether Dask made it; nothing is imported to find out."""
    name = type(thing).__module__.partition(".")[0]
    return name in ("dask", "distributed", "dask_expr")


def is_lazy(item: Any) -> bool:
    """Whether an item is one that Dask has yet to compute, or holds one."""
    return _holds(lambda part: is_dask(part) and hasattr(part, "__dask_graph__"), item)


def _holds(test: Callable[[Any], bool], item: Any) -> bool:
    """Whether an item passes a test, or holds one that does."""
    if isinstance(item, (tuple, list)):
        return any(_holds(test, part) for part in item)
    return test(item)


def _messages(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Groups that are sent together."""
    size_of = import_module("dask.sizeof").sizeof
    message: list[Group] = []
    room = MESSAGE
    for group in groups:
        room -= size_of(group[1])
        if message and room < 0:
            yield message
            message, room = [], MESSAGE - size_of(group[1])
        message.append(group)
    yield message


def _answer(request: Future[Any]) -> Any:
    """What a request gave.

    Raises:
        TimeoutError: It is under way.
        OSError: It ran into a timeout of Dask's.
    """
    if not wait([request], LOOK).done:
        raise TimeoutError
    try:
        return request.result()
    except TimeoutError as error:
        raise OSError(*error.args) from error


def current_client() -> Any:
    try:
        distributed = import_module("distributed")
    except ImportError:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def computed_here(call: Callable[..., Any], *args: Any) -> Any:
    try:
        dask = import_module("dask")
    except ImportError as error:  # its items came from somewhere
        msg = f"the data are a Dask collection; {extra('dask')}."
        raise MissingPackageError(msg) from error
    (found,) = dask.compute(_delayed(call, *args), scheduler="synchronous")
    return found


def _delayed(call: Callable[..., Any], task: Any, first: int, items: list[Any]) -> Any:
    """The call as Dask's, with items that are; the rest is hidden from Dask's search."""
    return import_module("dask").delayed(partial(call, task, first), pure=False)(items)


def refuse_dask(items: list[Any], executor: str) -> None:
    """Refuse items that are Dask's where no client is.

    Raises:
        OptionError: There is one.
    """
    if any(map(is_dask, items)):
        msg = (
            f"the data are Dask's, and the executor is {executor}; partitions and futures "
            "are used where Dask keeps them. Pass executor=Client(...) of "
            "dask.distributed, the one that made them."
        )
        raise OptionError(msg)
