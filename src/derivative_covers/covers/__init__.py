"""Sweeps and covers for users: every function takes a tape or a program."""

from __future__ import annotations

from ._arguments import tape_function
from ._first_order import (
    abs_forward,
    abs_reverse,
    gradient,
    jacobian,
    sensitivity_scales,
)
from ._hessian import (
    LocalCovers,
    cover_hessian,
    cover_hybrid,
    guards_any_block,
    local_covers,
    natoms,
)
from ._predicates import cover_excess, iscover
from ._results import HessianCover
from ._scales import SplitScales, local_cover_slots, split_scales
from ._second_order import hessian, hessian_bound, hvp

__all__ = [
    "HessianCover",
    "LocalCovers",
    "SplitScales",
    "abs_forward",
    "abs_reverse",
    "cover_excess",
    "cover_hessian",
    "cover_hybrid",
    "gradient",
    "guards_any_block",
    "hessian",
    "hessian_bound",
    "hvp",
    "iscover",
    "jacobian",
    "local_cover_slots",
    "local_covers",
    "natoms",
    "sensitivity_scales",
    "split_scales",
    "tape_function",
]
