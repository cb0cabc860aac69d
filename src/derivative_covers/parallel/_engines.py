"""Executors under one face: this process, those of ``concurrent.futures``, Dask."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Collection
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from functools import partial
from importlib import import_module
from typing import Any, NoReturn, Protocol
from weakref import WeakSet

from ..errors import (
    InputTypeError,
    MissingPackageError,
    OptionError,
    WorkerError,
    extra,
)

__all__ = ["Engine", "Here", "engine", "is_dask", "is_lazy"]

LOOK = 5.0  # seconds after which Dask is asked what it waits for
PATIENCE = 60.0  # seconds without workers


class Engine(Protocol):
    """Where calls run. A handle stands for a call that was submitted.

    Attributes:
        workers: How many calls run at once.
        window: How many calls may be submitted and not yet used.
    """

    workers: int
    window: int

    def submit(self, call: Callable[..., Any], *args: Any) -> Any:
        """Starts a call, now or later; the handle."""

    def wait(self, handles: Collection[Any]) -> Collection[Any]:
        """Waits until some calls are done; which."""

    def result(self, handle: Any) -> Any:
        """What the call returned.

        Raises:
            WorkerError: The engine lost it.
        """

    def cancel(self, handles: Collection[Any]) -> None:
        """Gives up what has not begun."""


class Here:
    """One call after the other, in this thread."""

    workers = window = 1

    def submit(self, call: Callable[..., Any], *args: Any) -> Any:
        if any(map(is_lazy, args)):
            return [_computed_here(call, args)]
        _refuse_dask(args, "None")
        return [call(*args)]

    def wait(self, handles: Collection[Any]) -> Collection[Any]:
        return handles

    def result(self, handle: Any) -> Any:
        return handle[0]

    def cancel(self, handles: Collection[Any]) -> None:
        pass


class _Pool:
    """An executor that keeps the protocol of ``concurrent.futures``."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        counts = (getattr(executor, n, None) for n in ("num_workers", "_max_workers"))
        known = [count for count in counts if isinstance(count, int) and count > 0]
        self.workers = known[0] if known else os.cpu_count() or 1
        self.window = 4 * self.workers
        self._spawns = isinstance(executor, ProcessPoolExecutor) or (
            type(executor).__module__.partition(".")[0] == "mpi4py"
        )
        self._pickled: set[int] = set()

    def submit(self, call: Callable[..., Any], *args: Any) -> Any:
        _refuse_dask(args, f"a {type(self._executor).__name__}")
        if self._spawns and id(args[0]) not in self._pickled:
            _check_pickles(args[0])
            self._pickled.add(id(args[0]))
        try:
            return self._executor.submit(call, *args)
        except RuntimeError as error:  # shut down, or broken by a call before
            _lost(error)

    def wait(self, handles: Collection[Any]) -> Collection[Any]:
        return wait(handles, return_when=FIRST_COMPLETED).done

    def result(self, handle: Future[Any]) -> Any:
        try:
            return handle.result()
        except (BrokenExecutor, CancelledError) as error:
            _lost(error)

    def cancel(self, handles: Collection[Any]) -> None:
        for handle in handles:
            handle.cancel()


class _Dask:
    """A client of ``dask.distributed``."""

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
        self.window = 4 * self.workers
        self._open = WeakSet[Any]()

    def submit(self, call: Callable[..., Any], *args: Any) -> Any:
        try:
            if any(map(is_lazy, args)):
                made = self._client.compute(_delayed(call, args))
            else:
                made = self._client.submit(call, *args, pure=False)
            self._open.add(made)
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

    def result(self, handle: Any) -> Any:
        return self._asked(lambda: handle.result(timeout=LOOK), self._open)

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
        client = _current_client() if lazy else None
        return Here() if client is None else _Dask(client)
    if is_dask(executor) and hasattr(executor, "scheduler_info"):
        return _Dask(executor)
    if isinstance(executor, Executor) and not isinstance(executor, type):
        return _Pool(executor)
    msg = (
        f"executor is {executor!r:.80}; None, an executor of concurrent.futures (or one "
        "that keeps its protocol) or a client of dask.distributed is needed."
    )
    raise InputTypeError(msg)


def is_dask(thing: Any) -> bool:
    """Whether Dask made it; nothing is imported to find out."""
    name = type(thing).__module__.partition(".")[0]
    return name in ("dask", "distributed", "dask_expr")


def is_lazy(item: Any) -> bool:
    """Whether an item is one that Dask has yet to compute, or holds one."""
    if isinstance(item, (tuple, list)):
        return any(map(is_lazy, item))
    return is_dask(item) and hasattr(item, "__dask_graph__")


def _current_client() -> Any:
    try:
        distributed = import_module("distributed")
    except ImportError:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def _computed_here(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        dask = import_module("dask")
    except ImportError as error:  # its items came from somewhere
        msg = f"the data are a Dask collection; {extra('dask')}."
        raise MissingPackageError(msg) from error
    (found,) = dask.compute(_delayed(call, args), scheduler="synchronous")
    return found


def _delayed(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The call as Dask's, with an item that is; the rest is hidden from Dask's search."""
    *others, item = args
    return import_module("dask").delayed(partial(call, *others), pure=False)(item)


def _refuse_dask(args: tuple[Any, ...], executor: str) -> None:
    """Refuse items that are Dask's where no client is.

    Raises:
        OptionError: There is one.
    """
    if any(map(is_dask, args)):
        msg = (
            f"the data are Dask's, and the executor is {executor}; partitions and futures "
            "are used where Dask keeps them. Pass executor=Client(...) of "
            "dask.distributed, the one that made them."
        )
        raise OptionError(msg)


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
