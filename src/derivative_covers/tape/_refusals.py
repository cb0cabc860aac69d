"""What tapes, scalars and arrays refuse: ties, NaN, rounding, and use after the end."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    TapeError,
    UnsupportedOperationError,
)

__all__ = [
    "is_foreign",
    "refuse_finished",
    "refuse_huge",
    "refuse_imaginary",
    "refuse_nan",
    "refuse_rounding",
    "refuse_tie",
    "refuse_two_tapes",
]


def refuse_huge() -> NoReturn:
    """Raise for an integer that no float can hold.

    Raises:
        InputTypeError: Always.
    """
    msg = (
        "an integer beyond the largest floating-point number met a recorded variable; "
        "scale the program so that its constants are finite floats."
    )
    raise InputTypeError(msg) from None


def refuse_imaginary() -> NoReturn:
    """Raise for a complex number among real variables.

    Raises:
        UnsupportedOperationError: Always.
    """
    msg = (
        "a complex number met a variable of a real program; only real ones can. Write "
        "the real and the imaginary part apart, or record at complex inputs where the "
        "whole program is holomorphic."
    )
    raise UnsupportedOperationError(msg)


def is_foreign(x: Any) -> bool:
    """Whether ``x`` is of a kind that equals no number: None, text, a type."""
    return x is None or isinstance(x, (str, type))


def refuse_nan(what: str, node: int | None, values: tuple[Any, Any]) -> NoReturn:
    """Raise for a comparison of a recorded NaN.

    Raises:
        DomainError: Always.
    """
    msg = (
        f"{what}: a recorded value is NaN, so an operation before the comparison left "
        "its domain, and NaN would choose the branch. Evaluate at another point, or "
        "ask np.isnan first."
    )
    raise DomainError(msg, elemental="comparison", node=node, values=values)


def refuse_tie(what: str, node: int | None, values: tuple[Any, Any]) -> NoReturn:
    """Raise for a comparison of two recorded values that are equal.

    Raises:
        NondifferentiableError: Always.
    """
    msg = (
        f"{what}: a comparison at an exact tie is a branch boundary, where the program "
        "has no derivative. Evaluate at a point off the tie."
    )
    raise NondifferentiableError(msg, elemental="comparison", node=node, values=values)


def refuse_two_tapes() -> NoReturn:
    """Raise for variables of two tapes in one operation.

    Raises:
        TapeError: Always.
    """
    msg = (
        "variables of two recordings met in one operation. Record one function of all "
        "variables, or take derivative_covers.value(x) of one of them."
    )
    raise TapeError(msg)


def refuse_finished(*_: object) -> NoReturn:
    """Raise for a variable that is used after its recording.

    Raises:
        TapeError: Always.
    """
    msg = (
        "this variable belongs to a finished recording and cannot be used any more. "
        "Return everything you need from the recorded function, or record again."
    )
    raise TapeError(msg)


def refuse_rounding(a: Any) -> None:
    """Raise where a constant among exact numbers is no float.

    Raises:
        UnsupportedOperationError: If an entry of the array would be rounded.
    """
    with np.errstate(all="ignore"):
        kept = np.asarray(a, dtype=np.float64)
    pairs = zip(kept.ravel().tolist(), a.ravel().tolist(), strict=True)
    same = [f == e or f != f for f, e in pairs]
    if not all(same):
        msg = (
            f"the constant {a.ravel()[same.index(False)]!r} is no float, and would be "
            "rounded; give it as a number of the type of the inputs."
        )
        raise UnsupportedOperationError(msg)
