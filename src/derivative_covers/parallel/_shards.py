"""What callers give as the parts of a sum, as items for workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import closing
from typing import Any

import numpy as np

from ..bounds._progress import bar
from ..errors import (
    ConstantProgramError,
    InputTypeError,
    OptionError,
    ShapeError,
)
from ._dask import is_dask
from ._engines import engine
from ._executors import results
from ._tree import Terms, Tree, check_finite, join

__all__ = ["call_with", "is_empty", "listed", "total"]


def total(
    task: Callable[[Any], Terms], parts: Any, data: Any, executor: Any, progress: bool
) -> tuple[Terms, int]:
    """The terms of all shards together, and how many shards there were.

    Raises:
        WorkerError: A shard raised, or the engine failed.
        ConstantProgramError: No shard depends on the inputs.
        ShapeError: There are none.
    """
    items, count = _items(parts, data)
    on = engine(executor, lazy=data is not None and is_dask(data))
    tree = Tree(join)
    done = 0
    with (
        bar(progress, count, "shards", "") as show,
        closing(results(task, items, on)) as found,
    ):
        for done, shard in enumerate(found, 1):
            tree.add(shard.result)
            show(done)
    whole = tree.total()
    if whole is None:
        msg = "there are no shards; at least one is needed."
        raise ShapeError(msg)
    if whole.gradient is None:
        msg = f"none of the {done} shards depends on the inputs: all are empty."
        raise ConstantProgramError(msg)
    check_finite(whole)
    return whole, done


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
