"""Threads that share work with the caller, kept from call to call.

To start a thread takes as long as thousands of points of a small program.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["CORES", "alone", "shared"]

CORES = os.cpu_count() or 1
_here = threading.local()
_pools: dict[int, ThreadPoolExecutor] = {}  # by process: threads do not outlive a fork


def shared(work: Callable[[], None], workers: int) -> None:
    """Run ``work`` here and in other threads at once, ``workers`` times together.

    It takes its share from what is left whenever it runs, and returns where nothing is;
    so a thread that did not come to it is not waited for.

    Raises:
        As ``work``, here or in a thread.
    """
    others: list[Future[None]] = []
    if workers > 1 and not getattr(_here, "alone", False):
        pool = _pool()
        try:
            others = [pool.submit(work) for _ in range(workers - 1)]
        except RuntimeError:  # the interpreter shuts down, and starts no threads
            others = []
    try:
        work()
    finally:
        begun = [other for other in others if not other.cancel()]
        for other in begun:
            other.result()


@contextmanager
def alone() -> Iterator[None]:
    """In it, this thread shares no work: others have the other cores."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = before


def _pool() -> ThreadPoolExecutor:
    process = os.getpid()
    if process not in _pools:
        futures = import_module("concurrent.futures")
        made = futures.ThreadPoolExecutor(max(CORES - 1, 1), "derivative_covers")
        return _pools.setdefault(process, made)
    return _pools[process]
