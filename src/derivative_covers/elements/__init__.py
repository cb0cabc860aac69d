"""The numbers a tape can hold, and what the sweeps ask of them."""

from __future__ import annotations

from derivative_covers.elements import _float as _float
from derivative_covers.elements import _fraction as _fraction
from derivative_covers.elements import _interval_contract as _interval_contract
from derivative_covers.elements import _interval_functions as _interval_functions
from derivative_covers.elements._contract import (
    boundtype,
    converted,
    decided_one,
    decided_sign,
    decided_zero,
    is_defined,
    magnitude,
    magtype,
    namespace,
    separation,
)
from derivative_covers.elements._convert import as_element, element_type
from derivative_covers.elements._interval import Interval
from derivative_covers.elements._objects import (
    all_finite,
    as_elements,
    element_class,
    ends_of,
    exact_float,
    is_element,
    upper,
    upper_magnitudes,
)
from derivative_covers.elements._upward import Upward

__all__ = [
    "Interval",
    "Upward",
    "all_finite",
    "as_element",
    "as_elements",
    "boundtype",
    "converted",
    "decided_one",
    "decided_sign",
    "decided_zero",
    "element_class",
    "element_type",
    "ends_of",
    "exact_float",
    "is_defined",
    "is_element",
    "magnitude",
    "magtype",
    "namespace",
    "separation",
    "upper",
    "upper_magnitudes",
]
