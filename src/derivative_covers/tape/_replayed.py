"""Which NumPy functions a replay can follow; every other one forbids it by name.

A function is listed where its rule computes with nodes, or moves them, alike at every
point, or tells the tape by which relations of values it decided.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._convert import holds_nodes, tape_of
from ._hints import public_name
from ._over_box import SAFE

__all__ = ["REPLAYED", "refuse_function"]

REPLAYED: set[Any] = set()


def _listed(names: str) -> None:
    REPLAYED.update(vars(np)[n] for n in names.split() if n in vars(np))


# What never looks at values, or decides through comparisons, over a box does not at a point.
REPLAYED.update(SAFE)
# Questions; `_questions` says what of them a replay checks.
_listed(
    "all allclose any argwhere array2string array_equal array_equiv array_repr array_str "
    "count_nonzero flatnonzero isclose isneginf isposinf logical_and logical_not "
    "logical_or logical_xor min_scalar_type nonzero spacing"
)
# Orders, positions and missing entries, each with guards of its own.
_listed(
    "argpartition partition lexsort quantile percentile searchsorted digitize histogram "
    "histogram_bin_edges trim_zeros unique union1d setdiff1d isin in1d nan_to_num "
    "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin "
    "nanpercentile nanprod nanquantile nanstd nansum nanvar"
)
_listed("cov geomspace polyfit")

_PLAIN_MATRIX = frozenset((np.linalg.solve, np.linalg.lstsq, np.linalg.tensorsolve))
"""Linear in the right-hand side, with a constant matrix."""


def refuse_function(function: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> None:
    """Note a function that a replay cannot follow, where recorded entries go into it."""
    if not holds_nodes(args, kw.values()):
        return
    if function in _PLAIN_MATRIX and not holds_nodes(args[:1]):
        return
    if function is np.linalg.matrix_power and _power(args, kw) >= 0:
        return
    tape = tape_of(*args, *kw.values())
    assert tape is not None
    tape.guards.refuse(public_name(function))


def _power(args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    return args[1] if len(args) > 1 else kw.get("n", -1)
