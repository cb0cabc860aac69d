"""The table of elementals: one rule each, usable in every array namespace."""

from __future__ import annotations

from ..elements._interval_ufuncs import set_elementary
from . import (
    _arithmetic,
    _bessel,
    _beta,
    _boxcox,
    _entropy,
    _error_functions,
    _exponential,
    _gamma_family,
    _hyperbolic,
    _integrals,
    _logistic,
    _losses,
    _piecewise,
    _power,
    _trigonometric,
)
from ._decorator import ElementalFunction, elemental
from ._enclosures import Enclosed, enclose_ufunc, encloses
from ._registry import BY_OPCODE, add, answers, by_name, by_ufunc, opcode, register
from ._spec import Elemental, Rule

__all__ = [
    "BY_OPCODE",
    "Elemental",
    "ElementalFunction",
    "Enclosed",
    "Rule",
    "add",
    "answers",
    "by_name",
    "by_ufunc",
    "elemental",
    "encloses",
    "opcode",
    "register",
]

for _module in (
    _arithmetic,
    _power,
    _exponential,
    _trigonometric,
    _hyperbolic,
    _piecewise,
    _error_functions,
    _logistic,
    _gamma_family,
    _beta,
    _entropy,
    _bessel,
    _integrals,
    _boxcox,
    _losses,
):
    for _elemental in _module.ELEMENTALS:
        add(_elemental)

set_elementary(enclose_ufunc)
