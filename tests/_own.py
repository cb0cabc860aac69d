"""The package's own elementals, as they are before any test registers another."""

from __future__ import annotations

from derivative_covers.elementals import BY_OPCODE

__all__ = ["OWN"]

OWN = tuple(BY_OPCODE)
