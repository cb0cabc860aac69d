"""Functions that put several arrays together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import check_dtype, stored
from ._convert import tape_of
from ._elementwise import common_tape
from ._protocol import as_array, implements
from ._storage import ArrayBase, assembled, constant

__all__ = ["joined"]


def joined(parts: list[Any], join: Any) -> Any:
    """``join`` done to the values and to the ids of recorded arrays."""
    tape = common_tape(*parts)
    r = join([x.v for x in parts])
    if not any(x._depends for x in parts):
        return constant(tape, r)
    return assembled(tape, r, join([x.node_ids() for x in parts]))


def _sequence(function: Any) -> None:
    @implements(function)
    def join(
        arrays: Any, *args: Any, out: Any = None, dtype: Any = None, **kw: Any
    ) -> Any:
        kw.pop("casting", None)
        arrays = list(arrays)
        check_dtype(dtype, tape_of(arrays))
        parts = [as_array(a, *arrays) for a in arrays]
        return stored(joined(parts, lambda things: function(things, *args, **kw)), out)


for _function in (
    np.concatenate,
    np.stack,
    np.hstack,
    np.vstack,
    np.dstack,
    np.column_stack,
):
    _sequence(_function)


@implements(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """The entries of ``values`` after those of ``arr``."""
    parts = [as_array(arr, values), as_array(values, arr)]
    return joined(parts, lambda two: np.append(two[0], two[1], axis))


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The entries of ``values`` among those of ``arr``."""
    parts = [as_array(arr, values), as_array(values, arr)]
    return joined(parts, lambda two: np.insert(two[0], obj, two[1], axis))


@implements(np.block)
def block(arrays: Any) -> Any:
    """Nested lists of blocks."""
    parts: list[Any] = []

    def collect(nested: Any) -> Any:
        if isinstance(nested, list):
            return [collect(e) for e in nested]
        parts.append(as_array(nested, arrays))
        return len(parts) - 1

    def build(nested: Any, things: list[Any]) -> Any:
        if isinstance(nested, list):
            return [build(e, things) for e in nested]
        return things[nested]

    plan = collect(arrays)
    return joined(parts, lambda things: np.block(build(plan, things)))


@implements(np.meshgrid)
def meshgrid(*xi: Any, **kw: Any) -> Any:
    """Coordinate arrays; plain ones stay plain."""
    plain = [np.zeros(np.size(x)) if _is_recorded(x, xi) else np.asarray(x) for x in xi]
    grids = list(np.meshgrid(*plain, **kw))
    for k, x in enumerate(xi):
        if _is_recorded(x, xi):
            row = as_array(x).ravel()
            here = [*plain]

            def spread(entries: Any, k: int = k, here: Any = here) -> Any:
                here[k] = entries
                grid = np.meshgrid(*here, **kw)[k]
                return grid if kw.get("copy") is False else np.array(grid)

            grids[k] = row._derived(spread(row.v), spread)
    return tuple(grids)


def _is_recorded(x: Any, others: Any) -> bool:
    return not isinstance(x, np.ndarray) and isinstance(as_array(x), ArrayBase)
