"""A sign of life on long work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["working"]


@contextmanager
def working(what: str) -> Iterator[None]:
    """Says what is being done, where people look and the package rich is there."""
    if not sys.stderr.isatty():
        yield
        return
    try:
        from rich.console import Console  # noqa: PLC0415 - optional
    except ImportError:
        yield
        return
    with Console(stderr=True).status(what):
        yield
