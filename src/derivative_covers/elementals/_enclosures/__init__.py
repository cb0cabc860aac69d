"""Rigorous enclosures of elementals and their partials over intervals.

Rigour comes from IEEE 754 arithmetic rounded outward, from exact facts about monotone and
periodic functions, and from values at points by crival or python-flint.
"""

from __future__ import annotations

from ._backends import using
from ._enclosed import Enclosed
from ._registry import enclose, encloses
from ._ufuncs import enclose_ufunc

__all__ = ["Enclosed", "enclose", "enclose_ufunc", "encloses", "using"]
