"""Derivative information that stays cheap when a program is large.

A *cover* is a vector ``h`` with ``|Hessian| <= h h'`` entrywise, for about the price of a
gradient; see :func:`cover_hessian`.
"""

from __future__ import annotations

from .covers import (
    HessianCover,
    LocalCovers,
    abs_forward,
    abs_reverse,
    cover_excess,
    cover_hessian,
    cover_hybrid,
    gradient,
    guards_any_block,
    hessian,
    hessian_bound,
    hvp,
    iscover,
    jacobian,
    local_covers,
    natoms,
    sensitivity_scales,
    tape_function,
)
from .tape import CoverVar, Tape, TArray, TVar, isconstant, nnodes, value

__version__ = "0.1.0"

__all__ = [
    "CoverVar",
    "HessianCover",
    "LocalCovers",
    "TArray",
    "TVar",
    "Tape",
    "__version__",
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
    "isconstant",
    "iscover",
    "jacobian",
    "local_covers",
    "natoms",
    "nnodes",
    "sensitivity_scales",
    "tape_function",
    "value",
]
