"""Compiled passes over a tape; the only place that knows the compiler."""

from __future__ import annotations

from ._atoms import Allowance
from ._check import check_outputs, kinks_below, not_finite, reached
from ._entrywise import Pair
from ._explicit import Explicit
from ._lower import Program, check_tape, lower
from ._outputs import output_groups, output_quadrature
from ._passes import (
    adjoints,
    any_asks,
    cover_pass,
    cover_state,
    hessian_matrix,
    liveness,
    liveness_from,
    refuse_inexact,
    second_order,
    slot_weights,
    tangents,
)
from ._rows import hybrid_channels, quadrature_rows
from ._second import Entries, hessian_entries, tightened
from ._step import CoverState, Step
from ._tiled import input_adjoints, input_cover
from ._trial import CompilerTrial, try_compiler
from ._wide import Dot, Linear

__all__ = [
    "Allowance",
    "CompilerTrial",
    "CoverState",
    "Dot",
    "Entries",
    "Explicit",
    "Linear",
    "Pair",
    "Program",
    "Step",
    "adjoints",
    "any_asks",
    "check_outputs",
    "check_tape",
    "cover_pass",
    "cover_state",
    "hessian_entries",
    "hessian_matrix",
    "hybrid_channels",
    "input_adjoints",
    "input_cover",
    "kinks_below",
    "liveness",
    "liveness_from",
    "lower",
    "not_finite",
    "output_groups",
    "output_quadrature",
    "quadrature_rows",
    "reached",
    "refuse_inexact",
    "second_order",
    "slot_weights",
    "tangents",
    "tightened",
    "try_compiler",
]
