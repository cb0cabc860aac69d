"""Sets of entries, each the node that it was; equal entries of two nodes tie."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedOperationError
from ._call import real_values
from ._decisions import by_order, by_pairs, refuse_replay
from ._extrema import with_ties
from ._protocol import as_array, implements

__all__: list[str] = []

PAIRS = 1 << 16  # so many equalities of isin are kept for a replay


@implements(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **kw: Any,
) -> Any:
    """Different entries in order; the positions and counts are plain integers.

    Raises:
        UnsupportedOperationError: For rows in the place of entries.
    """
    x = as_array(ar)
    if axis is not None and x.v.ndim > 1:
        msg = (
            "np.unique of recorded rows (axis) has no rule. Find them with "
            "np.unique(derivative_covers.value(x), axis=0, return_index=True), and index "
            "x with what it returns."
        )
        raise UnsupportedOperationError(msg)
    r, index, inverse, counts = np.unique(
        x.v,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        **kw,
    )
    flat = x.ravel()
    by_order("numpy.unique", flat, np.argsort(flat.v, kind="stable"))
    ids = x.node_ids().ravel()
    chosen = ids[index]
    tied = np.zeros(r.shape, dtype=bool)
    flat = np.reshape(inverse, -1)
    np.logical_or.at(tied, flat, ids != chosen[flat])
    if tied.any() and not x.tape.branch:
        highest = np.full(r.shape, -1)
        np.maximum.at(highest, flat, ids)
        chosen = np.where(tied, highest, chosen)
    found = [with_ties(x.tape, r, chosen, tied)]
    asked = (
        (return_index, index),
        (return_inverse, inverse),
        (return_counts, counts),
    )
    found += [answer for wanted, answer in asked if wanted]
    return found[0] if len(found) == 1 else tuple(found)


@implements(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    """Different entries of both."""
    return unique(np.concatenate([as_array(ar1, ar2), as_array(ar2, ar1)], axis=None))


@implements(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Entries of the first that equal none of the second."""
    x = as_array(ar1, ar2)
    x = x.ravel() if assume_unique else unique(x)
    return x[isin(x, ar2, invert=True)]


@implements(np.isin)
def isin(element: Any, test_elements: Any, *args: Any, **kw: Any) -> Any:
    """Plain booleans: equality is a guard, never a kink."""
    if np.size(element) * np.size(test_elements) <= PAIRS:
        x, y = as_array(element, test_elements), as_array(test_elements, element)
        by_pairs("numpy.isin", x.reshape(-1, 1), y.reshape(-1), equality=True)
    else:
        refuse_replay("numpy.isin of many entries", "", element, test_elements)
    return np.isin(real_values(element), real_values(test_elements), *args, **kw)


if "in1d" in vars(np):
    implements(vars(np)["in1d"])(isin)
