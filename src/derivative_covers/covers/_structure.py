"""Results in the shape, or the nest of dictionaries and tuples, of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval, magnitude
from ..errors import ShapeError
from ..tape import Tape

__all__ = ["blocks", "flat", "flat_matrix", "shaped", "vector"]


def shaped(tape: Tape, found: NDArray[Any], *, sole: bool = False) -> Any:
    """A result whose last axis runs through the inputs, as a copy in their shape.

    ``sole`` says that nobody else refers to it: no copy is made of memory of its own.
    """
    if tape.structure is not None:
        return tape.structure.split(found)
    shape = found.shape[:-1] + tape.shape
    if sole and isinstance(found, np.ndarray) and found.base is None:
        return found.reshape(shape) if found.shape != shape else found
    return found.copy() if found.shape == shape else found.reshape(shape).copy()


def blocks(tape: Tape, matrix: NDArray[Any]) -> Any:
    """A square matrix over the inputs in their shape, twice."""
    if tape.structure is not None:
        return tape.structure.blocks(matrix)
    return matrix.reshape(tape.shape + tape.shape)


def _entries(tree: Any) -> list[Any] | None:
    """What stands directly in a dictionary or tuple; None for a leaf."""
    if isinstance(tree, Mapping):
        return list(tree.values())
    return list(tree) if isinstance(tree, tuple) else None


def flat(tree: Any) -> NDArray[Any]:
    """The numbers of a result in the order of the inputs, as one vector."""
    entries = _entries(tree)
    if entries is None:
        return tree.ravel() if isinstance(tree, Interval) else np.asarray(tree).ravel()
    return np.concatenate([flat(e) for e in entries]) if entries else np.empty(0)


def flat_matrix(h: Any, H: Any) -> NDArray[Any]:
    """A nest of nests of blocks as one matrix; ``h`` has the structure of the inputs.

    Blocks of intervals give their largest absolute values.

    Raises:
        ShapeError: If ``H`` lacks that structure.
    """
    found: NDArray[Any] = _stacked(
        h, H, lambda row, block: _columns(h, block, np.size(row)), 0
    )
    return found


def _columns(h: Any, H: Any, rows: int) -> NDArray[Any]:
    def cut(column: Any, block: Any) -> NDArray[Any]:
        found = magnitude(block) if isinstance(block, Interval) else np.asarray(block)
        if found.size != rows * np.size(column):
            _refuse()
        return found.reshape(rows, -1)

    found: NDArray[Any] = _stacked(h, H, cut, 1)
    return found


def _stacked(h: Any, H: Any, leaf: Callable[[Any, Any], Any], axis: int) -> Any:
    """What ``leaf`` makes of every leaf of ``h`` and what stands for it in ``H``."""
    mine = _entries(h)
    if mine is None:
        return leaf(h, H)
    parts = _entries(H)
    if isinstance(h, Mapping):
        matching = isinstance(H, Mapping) and set(h) == set(H)
        parts = [H[key] for key in h] if matching else None
    if parts is None or len(parts) != len(mine):
        _refuse()
    found = [_stacked(a, b, leaf, axis) for a, b in zip(mine, parts, strict=True)]
    return np.concatenate(found, axis=axis)


def _refuse() -> NoReturn:
    msg = (
        "h and H differ in their structure; H needs the blocks that hessian gives, or "
        "pass both flat: numpy.asarray(cover) and a matrix."
    )
    raise ShapeError(msg)


def vector(part: Any, dtype: Any, copy: Any) -> NDArray[Any]:
    """What ``__array__`` gives: an array itself, or one flat vector of a structure."""
    if not isinstance(part, (dict, tuple)):
        return np.array(part, dtype=dtype, copy=copy)
    if copy is False:
        msg = "the cover lies in several arrays; one vector of it is always a copy."
        raise ValueError(msg)
    return flat(part).astype(dtype or None, copy=False)
