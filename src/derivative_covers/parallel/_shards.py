"""What callers give as the parts of a sum, as items for workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import closing
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np

from ..bounds._progress import bar
from ..elements import Interval
from ..errors import (
    ConstantProgramError,
    InputTypeError,
    OptionError,
    ShapeError,
    StorageError,
)
from ._dask import is_dask
from ._engines import Engine, engine
from ._executors import results
from ._sums import NAME, Sums, fingerprint
from ._tree import Terms, Tree, check_finite, join

__all__ = ["call_with", "is_empty", "listed", "total"]


def total(
    task: Any,
    parts: Any,
    data: Any,
    executor: Any,
    progress: bool,
    folder: Any,
    kind: str,
) -> tuple[Terms, int]:
    """The terms of all shards together, and how many shards there were.

    Args:
        task: Function that gives the :class:`Terms` of a shard; a dataclass.
        parts: Functions, or one.
        data: Shards for one function.
        executor: Where.
        progress: Whether to draw a bar.
        folder: Where the sum is kept, or None.
        kind: What it is called there.

    Raises:
        StorageError: The folder cannot be used, or is that of another call.
        WorkerError: A shard raised, or the engine failed.
        ConstantProgramError: No shard depends on the inputs.
        ShapeError: There are none.
    """
    items, count = _items(parts, data)
    on = engine(executor, lazy=data is not None and is_dask(data))
    store = None if folder is None else Sums(folder, _header(task, kind, count))
    tree = Tree(join) if store is None else store.tree
    source = iter(items)
    try:
        if store is not None and len(tree):
            _check(store, task, source, on)
        with (
            bar(progress, count, "shards", "") as show,
            closing(results(task, source, on, first=len(tree))) as found,
        ):
            show(len(tree))
            for shard in found:
                tree.add(shard.result)
                if store is not None:
                    store.keep(tree, shard.result)
                show(len(tree))
    finally:
        if store is not None:
            store.close()
    whole, done = tree.total(), len(tree)
    if whole is None:
        msg = "there are no shards; at least one is needed."
        raise ShapeError(msg)
    if whole.gradient is None:
        msg = f"none of the {done} shards depends on the inputs: all are empty."
        raise ConstantProgramError(msg)
    check_finite(whole)
    return whole, done


def _header(task: Any, kind: str, count: int | None) -> dict[str, Any]:
    """What tells this sum from others, for JSON."""
    options = {f.name: repr(getattr(task, f.name)) for f in fields(task)}
    for name in ("f", "x", "recording"):
        options.pop(name)
    options["kinks"] = repr(task.recording.get("kinks", "raise"))
    x = task.x if isinstance(task.x, (Interval, Mapping, tuple)) else np.asarray(task.x)
    try:
        point = fingerprint(x)
    except StorageError as error:
        msg = (
            "the point holds numbers or types that a folder does not keep; give floats "
            f"in arrays, dictionaries or tuples, or no folder. ({error})"
        )
        raise StorageError(msg, error.key) from error
    return {
        "kind": kind,
        "point": point,
        "options": options,
        "number of shards": count,
    }


def _check(store: Sums, task: Any, source: Iterator[Any], on: Engine) -> None:
    """Holds the first and the last finished shard against the store; passes all finished.

    Raises:
        StorageError: One is another one, or there are fewer.
    """
    done = len(store.tree)
    after, missing = 0, object()
    for index in sorted({0, done - 1}):
        item = next(islice(source, index - after, None), missing)
        if item is missing:
            msg = (
                f"the folder holds the sum of {done} shards, and there are fewer. Call "
                "as it was called, or give another folder."
            )
            raise StorageError(msg, NAME)
        (found,) = results(task, [item], on, first=index)
        store.check(index, found.result)
        after = index + 1


def _items(parts: Any, data: Any) -> tuple[Iterable[Any], int | None]:
    if callable(parts):
        if data is None:
            msg = (
                "one function needs data, a shard for each term; give data=shards, or a "
                "list of functions."
            )
            raise InputTypeError(msg)
        return _shards(data)
    functions = list(parts) if isinstance(parts, Iterable) else [parts]
    for k, f in enumerate(functions):
        if not callable(f):
            msg = f"part {k} is of type {type(f).__name__}; functions are needed."
            raise InputTypeError(msg)
    if data is not None:
        msg = "data goes with one function of a point and a shard, not with several."
        raise OptionError(msg)
    return functions, len(functions)


def _shards(data: Any) -> tuple[Iterable[Any], int | None]:
    if is_dask(data) and hasattr(data, "to_delayed"):
        return _partitions(data)
    if isinstance(data, (np.ndarray, str, bytes, Mapping)) or is_dask(data):
        msg = (
            f"data is one {type(data).__name__}; a list (or an iterator) of shards is "
            "needed, such as np.array_split(data, 8) for an array."
        )
        raise InputTypeError(msg)
    if not isinstance(data, Iterable):
        msg = f"data is of type {type(data).__name__}; a list of shards is needed."
        raise InputTypeError(msg)
    return data, len(data) if isinstance(data, Sized) else None


def _partitions(data: Any) -> tuple[Iterable[Any], int | None]:
    """Partitions of a Dask bag or data frame, or blocks of rows of an array."""
    blocks = getattr(data, "numblocks", (1,))
    if any(count != 1 for count in blocks[1:]):
        msg = (
            f"the Dask array has {blocks} blocks; a shard is a block of whole rows. "
            "Rechunk it first: data.rechunk({1: -1})."
        )
        raise ShapeError(msg)
    found = np.ravel(np.array(data.to_delayed(), dtype=object)).tolist()
    return found, len(found)


def call_with(f: Callable[..., Any], x: Any, args: Any, kwargs: Any) -> Any:
    """The plain function at a point, called as it is recorded."""
    given = x if isinstance(x, tuple) else (x,)
    return f(*given, *args, **(kwargs or {}))


def is_empty(shard: Any) -> bool:
    """Whether a shard holds no observation."""
    if isinstance(shard, np.ndarray):
        return shard.size == 0
    if isinstance(shard, (tuple, list)) and shard:
        return all(map(is_empty, shard))
    if isinstance(shard, Mapping) and shard:
        return all(map(is_empty, shard.values()))
    return isinstance(shard, Sized) and not isinstance(shard, str) and not len(shard)


def listed(shard: Any) -> Any:
    """A partition of a bag may come as an iterator."""
    return list(shard) if isinstance(shard, Iterator) else shard
