"""Fills the table of NumPy functions: importing this module registers every rule."""

from __future__ import annotations

from . import (
    _cumulative,
    _einsum,
    _extrema,
    _joins,
    _norms,
    _products,
    _questions,
    _reductions,
    _select,
    _shapes,
    _targets,
)

__all__ = ["MODULES"]

MODULES = (
    _cumulative,
    _einsum,
    _extrema,
    _joins,
    _norms,
    _products,
    _questions,
    _reductions,
    _select,
    _shapes,
    _targets,
)
