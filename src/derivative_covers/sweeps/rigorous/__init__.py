"""Sweeps over a box: enclosures of derivatives, and bounds that hold exactly.

The passes have the names, the arguments and the results of those at a point, with
intervals for numbers and upper bounds for magnitudes.
"""

from __future__ import annotations

from ._check import check_outputs, not_finite
from ._passes import (
    adjoints,
    cover_pass,
    hessian_matrix,
    second_order,
    slot_weights,
    tangents,
)
from ._program import lowered
from ._rows import (
    hybrid_channels,
    output_quadrature,
    quadrature_rows,
)
from ._tighten import hessian_entries, tightened

__all__ = [
    "adjoints",
    "check_outputs",
    "cover_pass",
    "hessian_entries",
    "hessian_matrix",
    "hybrid_channels",
    "lowered",
    "not_finite",
    "output_quadrature",
    "quadrature_rows",
    "second_order",
    "slot_weights",
    "tangents",
    "tightened",
]
