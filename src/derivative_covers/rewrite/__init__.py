"""Running an unmodified NumPy function on the namespace that can hold recorded values."""

from __future__ import annotations

from ._with_numpy import with_numpy

__all__ = ["with_numpy"]
