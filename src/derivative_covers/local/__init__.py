"""What one node contributes: forms of curvature, splits, local covers."""

from __future__ import annotations

from derivative_covers.local._block import split_block, split_limit
from derivative_covers.local._checks import check_finite_partials
from derivative_covers.local._curvature import Curvature
from derivative_covers.local._declared import DeclaredCurvature
from derivative_covers.local._forms import (
    BinaryCurvature,
    DenseCurvature,
    NoCurvature,
    PairedCurvature,
    UnaryCurvature,
)
from derivative_covers.local._functions import (
    atom_slots,
    bound_contribution,
    cover_slots,
    cover_slots_into,
    curvature_apply,
    has_exact_partials,
)
from derivative_covers.local._ratio import split_ratio
from derivative_covers.local._scales import (
    DeferredScale,
    ScaleReference,
    ScaleSource,
    SplitScale,
    dead_slot,
    declared_scale,
)
from derivative_covers.local._site import (
    CoverSite,
    check_values,
    site_label,
    site_values,
)
from derivative_covers.local._slots import SlotScales
from derivative_covers.local._split import (
    balanced_split,
    declared_pair,
    needs_scale,
    value_bounds_split,
)

__all__ = [
    "BinaryCurvature",
    "CoverSite",
    "Curvature",
    "DeclaredCurvature",
    "DeferredScale",
    "DenseCurvature",
    "NoCurvature",
    "PairedCurvature",
    "ScaleReference",
    "ScaleSource",
    "SlotScales",
    "SplitScale",
    "UnaryCurvature",
    "atom_slots",
    "balanced_split",
    "bound_contribution",
    "check_finite_partials",
    "check_values",
    "cover_slots",
    "cover_slots_into",
    "curvature_apply",
    "dead_slot",
    "declared_pair",
    "declared_scale",
    "has_exact_partials",
    "needs_scale",
    "site_label",
    "site_values",
    "split_block",
    "split_limit",
    "split_ratio",
    "value_bounds_split",
]
