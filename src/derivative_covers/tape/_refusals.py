"""What scalars and arrays refuse alike: ties, NaN and integers beyond all floats."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    UnsupportedOperationError,
)

__all__ = [
    "is_foreign",
    "refuse_huge",
    "refuse_imaginary",
    "refuse_nan",
    "refuse_tie",
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
