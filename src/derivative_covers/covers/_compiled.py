"""Programs that numba compiled: what is recorded is their Python source."""

from __future__ import annotations

from types import FunctionType
from typing import Any

__all__ = ["explain_compiled", "is_compiled"]


def _is_numbas(thing: Any) -> bool:
    return type(thing).__module__.partition(".")[0] == "numba"


def is_compiled(f: Any) -> bool:
    """Whether numba compiled a function; it cannot run on recorded variables then."""
    return _is_numbas(f) and isinstance(getattr(f, "py_func", None), FunctionType)


def explain_compiled(error: Exception) -> None:
    """Add to an error of numba that the program's source could be recorded instead."""
    if _is_numbas(error):
        error.add_note(
            "the program calls a function that numba compiled, which cannot take recorded "
            "variables; pass numpy='rewrite', or decorate the program with "
            "derivative_covers.with_numpy, to record its Python source."
        )
