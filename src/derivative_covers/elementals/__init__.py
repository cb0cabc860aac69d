"""The table of elementals: one rule each, usable in every array namespace."""

from __future__ import annotations

from . import (
    _arithmetic,
    _exponential,
    _hyperbolic,
    _piecewise,
    _power,
    _trigonometric,
)
from ._registry import BY_OPCODE, add, answers, by_name, by_ufunc, opcode, register
from ._spec import Elemental, Rule

__all__ = [
    "BY_OPCODE",
    "Elemental",
    "Rule",
    "add",
    "answers",
    "by_name",
    "by_ufunc",
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
):
    for _elemental in _module.ELEMENTALS:
        add(_elemental)
