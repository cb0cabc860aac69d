"""The table of elementals, looked up by name, by ufunc and by opcode."""

from __future__ import annotations

import copyreg
from collections.abc import Callable

from ..errors import UnsupportedOperationError
from ._spec import Elemental

__all__ = ["BY_OPCODE", "by_name", "by_ufunc", "opcode", "register"]

BY_OPCODE: list[Elemental] = []
_BY_NAME: dict[str, int] = {}
_BY_UFUNC: dict[str, Elemental] = {}


def register(elemental: Elemental) -> Elemental:
    """Add an elemental to the table and give it the next opcode.

    Args:
        elemental: Its value, rules and the ufuncs that it answers to.

    Returns:
        The elemental itself.

    Raises:
        ValueError: If its name or one of its ufuncs is taken.

    Example:
        >>> from derivative_covers.extend import Elemental, Rule, register
        >>> mine = Elemental(
        ...     "sin", 1, lambda xp, x: xp.sin(x),
        ...     Rule(lambda xp, x, v: (xp.cos(x), -v)), "elementary calculus",
        ... )
        >>> register(mine)
        Traceback (most recent call last):
        ValueError: elemental 'sin' is registered already; choose another name.
    """
    if elemental.name in _BY_NAME:
        msg = (
            f"elemental {elemental.name!r} is registered already; choose another name."
        )
        raise ValueError(msg)
    taken = [name for name in elemental.ufuncs if name in _BY_UFUNC]
    if taken:
        owner = _BY_UFUNC[taken[0]].name
        msg = f"ufunc {taken[0]!r} already belongs to elemental {owner!r}."
        raise ValueError(msg)
    _BY_NAME[elemental.name] = len(BY_OPCODE)
    BY_OPCODE.append(elemental)
    for name in elemental.ufuncs:
        _BY_UFUNC[name] = elemental
    return elemental


def opcode(elemental: Elemental) -> int:
    """Position of an elemental in the table."""
    return _BY_NAME[elemental.name]


def by_name(name: str) -> Elemental:
    """Elemental of that name.

    Args:
        name: As in the table, such as ``"arctan2"``.

    Returns:
        The elemental.

    Raises:
        UnsupportedOperationError: If there is none.

    Example:
        >>> from derivative_covers.extend import by_name
        >>> by_name("tanh").arity
        1
    """
    try:
        return BY_OPCODE[_BY_NAME[name]]
    except KeyError:
        msg = (
            f"no elemental is called {name!r}; known are {', '.join(sorted(_BY_NAME))}."
        )
        raise UnsupportedOperationError(msg) from None


def by_ufunc(name: str) -> Elemental:
    """Elemental that answers to a ufunc, given by its name.

    Args:
        name: ``__name__`` of a NumPy ufunc; ``"special.erf"`` for one of SciPy.

    Returns:
        The elemental.

    Raises:
        UnsupportedOperationError: If the ufunc has no rule.

    Example:
        >>> from derivative_covers.extend import by_ufunc
        >>> by_ufunc("remainder").name
        'mod'
    """
    try:
        return _BY_UFUNC[name]
    except KeyError:
        msg = (
            f"the ufunc {name!r} has no derivative rule. Write the expression with "
            "supported functions, or add a rule: register(Elemental(name, arity, value, "
            "Rule(partials), source, ufuncs=(name,)))."
        )
        raise UnsupportedOperationError(msg) from None


def _reduce(elemental: Elemental) -> tuple[Callable[[str], Elemental], tuple[str]]:
    return by_name, (elemental.name,)


# A tape refers to elementals by name when it is pickled or copied: rules are functions.
copyreg.pickle(Elemental, _reduce)
