"""Executors under one face: this process, those of ``concurrent.futures``, Dask."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from typing import Any, NoReturn, Protocol

from ..errors import InputTypeError, WorkerError
from ._dask import (
    Group,
    OnDask,
    computed_here,
    current_client,
    is_dask,
    is_lazy,
    refuse_dask,
)

__all__ = ["Engine", "Group", "Here", "engine"]


class Engine(Protocol):
    """Where calls run. A handle stands for a call that was submitted.

    Attributes:
        workers: How many calls run at once.
        window: How many calls may be submitted and not yet used.
        bundle: How many items a call may have. It may fall while calls are submitted.
    """

    workers: int
    window: int
    bundle: int

    def submit(
        self, call: Callable[..., Any], task: Any, groups: Sequence[Group]
    ) -> Iterable[Any]:
        """Starts ``call(task, first, items)`` for each group, now or later; the handles."""

    def wait(self, handles: Collection[Any]) -> Collection[Any]:
        """Waits until some calls are done; which."""

    def results(self, handles: Sequence[Any]) -> Iterator[Any]:
        """What calls that are done returned, one after the other.

        Raises:
            WorkerError: The engine lost the next one.
        """

    def cancel(self, handles: Collection[Any]) -> None:
        """Gives up what has not begun."""


class Here:
    """One call after the other, in this thread."""

    workers = window = bundle = 1

    def submit(
        self, call: Callable[..., Any], task: Any, groups: Sequence[Group]
    ) -> Iterator[Any]:
        for first, items in groups:
            if is_lazy(items):
                yield [computed_here(call, task, first, items)]
            else:
                refuse_dask(items, "None")
                yield [call(task, first, items)]

    def wait(self, handles: Collection[Any]) -> Collection[Any]:
        return handles

    def results(self, handles: Sequence[Any]) -> Iterator[Any]:
        return (found for (found,) in handles)

    def cancel(self, handles: Collection[Any]) -> None:
        pass


class _Pool:
    """An executor that keeps the protocol of ``concurrent.futures``."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        counts = (getattr(executor, n, None) for n in ("num_workers", "_max_workers"))
        known = [count for count in counts if isinstance(count, int) and count > 0]
        self.workers = known[0] if known else os.cpu_count() or 1
        self.window, self.bundle = 4 * self.workers, 1
        self._spawns = isinstance(executor, ProcessPoolExecutor) or (
            type(executor).__module__.partition(".")[0] == "mpi4py"
        )
        self._pickled: set[int] = set()

    def submit(
        self, call: Callable[..., Any], task: Any, groups: Sequence[Group]
    ) -> Iterator[Any]:
        if self._spawns and id(task) not in self._pickled:
            _check_pickles(task)
            self._pickled.add(id(task))
        for first, items in groups:
            refuse_dask(items, f"a {type(self._executor).__name__}")
            try:
                yield self._executor.submit(call, task, first, items)
            except RuntimeError as error:  # shut down, or broken by a call before
                _lost(error)

    def wait(self, handles: Collection[Any]) -> Collection[Any]:
        return wait(handles, return_when=FIRST_COMPLETED).done

    def results(self, handles: Sequence[Future[Any]]) -> Iterator[Any]:
        for handle in handles:
            try:
                found = handle.result()
            except (BrokenExecutor, CancelledError) as error:
                _lost(error)
            yield found

    def cancel(self, handles: Collection[Any]) -> None:
        for handle in handles:
            handle.cancel()


def engine(executor: Any, *, lazy: bool = False) -> Engine:
    """The engine that an ``executor=`` stands for.

    Args:
        executor: None, an executor of ``concurrent.futures`` or one that keeps its
            protocol (``mpi4py.futures.MPIPoolExecutor``), or a client of Dask.
        lazy: Whether the items are Dask's. Then None stands for the current client,
            where there is one.

    Raises:
        InputTypeError: If it is something else.
        OptionError: For an asynchronous Dask client.
        WorkerError: If the Dask client has lost its scheduler.
    """
    if executor is None:
        client = current_client() if lazy else None
        return Here() if client is None else OnDask(client)
    if is_dask(executor) and hasattr(executor, "scheduler_info"):
        return OnDask(executor)
    if isinstance(executor, Executor) and not isinstance(executor, type):
        return _Pool(executor)
    msg = (
        f"executor is {executor!r:.80}; None, an executor of concurrent.futures (or one "
        "that keeps its protocol) or a client of dask.distributed is needed."
    )
    raise InputTypeError(msg)


def _check_pickles(task: Any) -> None:
    """Refuse a function that no other process can have.

    Raises:
        InputTypeError: It cannot be pickled.
    """
    try:
        pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        msg = (
            f"the function cannot be sent to another process ({error}). Define it at the "
            "top level of a module (a lambda, or a function in a function, has no name "
            "there; functools.partial binds arguments); or use threads or Dask, which "
            "takes any function."
        )
        raise InputTypeError(msg) from error


def _lost(error: BaseException) -> NoReturn:
    msg = (
        f"the executor lost its work ({type(error).__name__}: {error}). Either a process "
        "died (killed, or out of memory), or could not start: it has to import the "
        "function, and a script needs `if __name__ == '__main__':` around its work. "
        "Executors of concurrent.futures start nothing again: make a new one; Dask does."
    )
    raise WorkerError(msg) from error
