"""The numbers a tape can hold, and what the sweeps ask of them."""

from __future__ import annotations

from derivative_covers.elements import _float as _float
from derivative_covers.elements import _interval_contract as _interval_contract
from derivative_covers.elements import _interval_functions as _interval_functions
from derivative_covers.elements._contract import (
    boundtype,
    decided_one,
    decided_sign,
    decided_zero,
    magnitude,
    magtype,
    separation,
)
from derivative_covers.elements._convert import as_element, element_type
from derivative_covers.elements._interval import Interval
from derivative_covers.elements._upward import Upward

__all__ = [
    "Interval",
    "Upward",
    "as_element",
    "boundtype",
    "decided_one",
    "decided_sign",
    "decided_zero",
    "element_type",
    "magnitude",
    "magtype",
    "separation",
]
