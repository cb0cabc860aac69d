"""The command line: ``derivative-covers``, or ``python -m derivative_covers``.

A file for each command. Exit status 0; 1 where a check failed; 2 with one sentence on the
error stream for what cannot be done.
"""

from __future__ import annotations

from ._main import main

__all__ = ["main"]
