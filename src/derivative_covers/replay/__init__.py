"""Recorded programs, evaluated again in compiled code."""

from __future__ import annotations

from ._box import CompiledBox
from ._compile import compile
from ._compiled import Compiled
from ._points import Points

__all__ = ["Compiled", "CompiledBox", "Points", "compile"]
