"""Load the compiled kernels on first use, so that importing the package stays light."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

__all__ = ["line", "pair", "rows", "wide"]


@cache
def line() -> Any:
    """Kernels of consecutive operands."""
    return importlib.import_module("derivative_covers.sweeps.kernels.line")


@cache
def pair() -> Any:
    """Kernels of entrywise blocks."""
    return importlib.import_module("derivative_covers.sweeps.kernels.pair")


@cache
def wide() -> Any:
    """Kernels of linear nodes and inner products."""
    return importlib.import_module("derivative_covers.sweeps.kernels.wide")


@cache
def rows() -> Any:
    """Kernels of sparse rows."""
    return importlib.import_module("derivative_covers.sweeps.kernels.rows")
