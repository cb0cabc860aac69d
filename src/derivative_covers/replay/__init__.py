"""Recorded programs, evaluated again in compiled code."""

from __future__ import annotations

from ._compiled import Compiled, compile
from ._points import Points

__all__ = ["Compiled", "Points", "compile"]
