"""Which package evaluates functions rigorously: crival where it can, else python-flint.

Neither is imported before a function asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any

from ...errors import MissingPackageError, extra

__all__ = ["ball_package", "fast_package", "has_balls", "using"]

_allowed: ContextVar[frozenset[str]] = ContextVar(
    "allowed", default=frozenset({"ival", "flint"})
)


@cache
def _loaded(name: str) -> Any:
    # OSError: the wheel's library does not load on this machine.
    try:
        return import_module(name)
    except (ImportError, OSError):
        return None


def fast_package() -> Any:
    """The module ``ival`` of crival, which evaluates arrays, or None."""
    return _loaded("ival") if "ival" in _allowed.get() else None


def ball_package(function: str = "") -> Any:
    """The module ``flint`` of python-flint, which has every function.

    Raises:
        MissingPackageError: If it is not installed.
    """
    found = _loaded("flint") if "flint" in _allowed.get() else None
    if found is None:
        what = f"the enclosure of {function}" if function else "a rigorous enclosure"
        msg = (
            f"{what} needs python-flint, which cannot be imported here; "
            f"{extra('intervals')}."
        )
        raise MissingPackageError(msg)
    return found


def has_balls() -> bool:
    """Whether python-flint may be used."""
    return "flint" in _allowed.get() and _loaded("flint") is not None


@contextmanager
def using(*packages: str) -> Iterator[None]:
    """Allow these packages alone, of ``"ival"`` and ``"flint"``: for tests."""
    token = _allowed.set(frozenset(packages))
    try:
        yield
    finally:
        _allowed.reset(token)
