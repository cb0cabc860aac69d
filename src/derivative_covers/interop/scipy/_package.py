"""SciPy itself, or an error that says how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import MissingPackageError, extra

__all__ = ["optimize", "sparse"]


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        msg = (
            "derivative_covers.interop.scipy needs SciPy, which is not installed; "
            f"{extra('scipy')}."
        )
        raise MissingPackageError(msg) from error


optimize = _module("scipy.optimize")
sparse = _module("scipy.sparse")
_module("scipy.sparse.linalg")
