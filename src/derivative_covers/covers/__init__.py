"""Sweeps and covers for users: every function takes a tape or a program."""

from __future__ import annotations

from ._arguments import RecordingOptions, check_options, tape_function
from ._compose import (
    ComposedHessianCover,
    compose_hessian_cover,
    compose_jacobian_cover,
)
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
from ._jacobian import cover_jacobian
from ._jacobian_result import JacobianCover
from ._nls import NLSCover, cover_nls, gramcover
from ._predicates import cover_excess, iscover, log_sizes, rounding, that_count
from ._results import HessianCover
from ._scales import SplitScales, local_cover_slots, split_scales
from ._second_order import hessian, hessian_bound, hvp
from ._sparse import hessian_sparsity
from ._submap import SubmapDeclaration, declare_submap, submap, submapnode

__all__ = [
    "ComposedHessianCover",
    "HessianCover",
    "JacobianCover",
    "LocalCovers",
    "NLSCover",
    "RecordingOptions",
    "SplitScales",
    "SubmapDeclaration",
    "abs_forward",
    "abs_reverse",
    "check_options",
    "compose_hessian_cover",
    "compose_jacobian_cover",
    "cover_excess",
    "cover_hessian",
    "cover_hybrid",
    "cover_jacobian",
    "cover_nls",
    "declare_submap",
    "gradient",
    "gramcover",
    "guards_any_block",
    "hessian",
    "hessian_bound",
    "hessian_sparsity",
    "hvp",
    "iscover",
    "jacobian",
    "local_cover_slots",
    "local_covers",
    "log_sizes",
    "natoms",
    "rounding",
    "sensitivity_scales",
    "split_scales",
    "submap",
    "submapnode",
    "tape_function",
    "that_count",
]
