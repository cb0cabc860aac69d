"""Covers of matrices that are at hand: dense arrays, and SciPy's sparse ones.

A cover of a symmetric matrix ``A`` is a vector ``h`` with ``|A_ij| <= h_i h_j``; one of any
matrix is a pair ``a, b`` with ``|A_ij| <= a_i b_j``. A name with ``sym`` is for symmetric
matrices, ``_min`` stands for the tightest cover, and ``soft_`` for one that does not hold
for every entry.
"""

from __future__ import annotations

from ._gram import gramcover
from ._heuristics import cover, symcover
from ._measures import cover_objective, iscover
from ._minimal import cover_min, symcover_min
from ._results import MatrixCover
from ._soft import soft_cover, soft_symcover

__all__ = [
    "MatrixCover",
    "cover",
    "cover_min",
    "cover_objective",
    "gramcover",
    "iscover",
    "soft_cover",
    "soft_symcover",
    "symcover",
    "symcover_min",
]
