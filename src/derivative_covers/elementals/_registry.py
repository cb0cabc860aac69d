"""The table of elementals, looked up by name, by ufunc and by opcode."""

from __future__ import annotations

import copyreg
from collections.abc import Callable

import numpy as np

from ..errors import OptionError, UnsupportedOperationError
from ._spec import Elemental

__all__ = ["BY_OPCODE", "add", "answers", "by_name", "by_ufunc", "opcode", "register"]

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
        OptionError: (a ValueError) if its name or one of its ufuncs is taken, or its
            rules cannot be called.

    Example:
        >>> from derivative_covers.extend import Elemental, Rule, register
        >>> mine = Elemental(
        ...     "sin", 1, lambda xp, x: xp.sin(x),
        ...     Rule(lambda xp, x, v: (xp.cos(x), -v)), "elementary calculus",
        ... )
        >>> register(mine)
        Traceback (most recent call last):
        derivative_covers.errors.OptionError: elemental 'sin' is registered already; choose another name. Tapes may refer to the old one, so a new version needs a name of its own.
    """
    _check(elemental)
    return add(elemental)


def add(elemental: Elemental) -> Elemental:
    """Add an elemental without a check of its rules; see :func:`register`."""
    if elemental.name in _BY_NAME:
        msg = (
            f"elemental {elemental.name!r} is registered already; choose another name."
            " Tapes may refer to the old one, so a new version needs a name of its own."
        )
        raise OptionError(msg)
    taken = [name for name in elemental.ufuncs if name in _BY_UFUNC]
    if taken:
        owner = _BY_UFUNC[taken[0]].name
        msg = f"ufunc {taken[0]!r} already belongs to elemental {owner!r}."
        raise OptionError(msg)
    _BY_NAME[elemental.name] = len(BY_OPCODE)
    BY_OPCODE.append(elemental)
    for name in elemental.ufuncs:
        _BY_UFUNC[name] = elemental
    return elemental


def _check(elemental: Elemental) -> None:
    """Refuse an elemental whose rules cannot be called as the tape calls them."""
    if elemental.arity not in {1, 2}:
        msg = (
            f"elemental {elemental.name!r} has arity {elemental.arity}; 1 or 2 is needed. "
            "Record a node of more operands with pushnode."
        )
        raise OptionError(msg)
    for name in elemental.ufuncs:
        if not (
            name.startswith("special.")
            or isinstance(getattr(np, name.partition("[")[0], None), np.ufunc)
        ):
            msg = (
                f"{name!r} is no NumPy ufunc; name one, or write 'special.{name}' for a "
                "ufunc of scipy.special."
            )
            raise OptionError(msg)
    x = (np.float64(0.5), np.float64(0.25))[: elemental.arity]
    rules = [(elemental.rule, 5 if elemental.arity == 2 else 2)]
    rules += [(rule, 2) for rule in (elemental.first, elemental.second) if rule]
    with np.errstate(all="ignore"):
        try:
            v = elemental.value(np, *x)
            given = [rule.partials(np, *x, v) for rule, _ in rules]
            found = [len(d) if isinstance(d, (tuple, list)) else 1 for d in given]
        except TypeError as error:
            msg = (
                f"elemental {elemental.name!r} cannot be evaluated: {error}. Its value is "
                "called as value(xp, *operands), its partials as partials(xp, *operands, v)."
            )
            raise OptionError(msg) from None
    if found != [size for _, size in rules]:
        msg = (
            f"the partials of elemental {elemental.name!r} give {found} entries; (d, c) is "
            "needed for one differentiated operand, (d1, d2, c11, c12, c22) for two."
        )
        raise OptionError(msg)


def answers(ufunc: str) -> bool:
    """Whether some elemental answers to a ufunc, given by its name."""
    return ufunc in _BY_UFUNC


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
