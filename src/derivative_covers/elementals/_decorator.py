"""A function of the user's own as an elemental: a decorator suffices."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from ..errors import InputTypeError, OptionError
from ._registry import register
from ._spec import Elemental, Rule

__all__ = ["ElementalFunction", "elemental"]


class ElementalFunction:
    """What :func:`elemental` gives: an elemental that is called like a NumPy ufunc.

    Attributes:
        elemental: The registered :class:`Elemental`.

    Example:
        >>> from derivative_covers.extend import elemental
        >>> @elemental(partials=lambda xp, x, v: (1 - v * v, -2 * v * (1 - v * v)))
        ... def doc_tanh(xp, x):
        ...     return xp.tanh(x)
        >>> doc_tanh
        <elemental doc_tanh>
        >>> doc_tanh.elemental.arity
        1
    """

    __name__: str
    __qualname__: str

    def __init__(self, made: Elemental, value: Callable[..., Any]) -> None:
        self.elemental = made
        update_wrapper(self, value)

    def __call__(self, *operands: Any) -> Any:
        """The elemental of recorded scalars, arrays and numbers, entry by entry."""
        op = self.elemental
        if len(operands) != op.arity:
            msg = (
                f"{op.name}() takes {op.arity} operand(s); got {len(operands)}. Bind "
                "other parameters with a function around it."
            )
            raise InputTypeError(msg)
        best = None
        for x in operands:
            if hasattr(x, "__elemental__") and (best is None or np.ndim(x)):
                best = x
        if best is not None:
            return best.__elemental__(op, operands)
        arrays = [x if isinstance(x, np.ndarray) else np.asarray(x) for x in operands]
        nested = any(a.dtype == object and a.ndim for a in arrays)
        if nested:
            return np.frompyfunc(self, op.arity, 1)(*arrays)
        allowed = "fiubc" if op.holomorphic else "fiub"
        for x, a in zip(operands, arrays, strict=True):
            if a.dtype == object:
                msg = (
                    f"{op.name}() got an operand of type {type(x).__name__}; real "
                    "numbers, arrays of them and variables are needed."
                )
                raise InputTypeError(msg)
            if a.dtype.kind not in allowed:
                msg = f"{op.name}() got values of type {a.dtype}; give real numbers."
                raise InputTypeError(msg)
        floats = [a if a.dtype.kind in "fc" else a.astype(np.float64) for a in arrays]
        return op.value(np, *(a[()] for a in floats))

    def __repr__(self) -> str:
        return f"<elemental {self.elemental.name}>"

    def __reduce__(self) -> str:
        return self.__qualname__


def elemental(
    *,
    partials: Callable[..., tuple[Any, ...]],
    first: Callable[..., tuple[Any, Any]] | None = None,
    second: Callable[..., tuple[Any, Any]] | None = None,
    domain: Callable[..., Any] | None = None,
    kink: Callable[..., Any] | None = None,
    holomorphic: Rule | bool = False,
    ufuncs: tuple[str, ...] = (),
    name: str | None = None,
    source: str = "",
) -> Callable[[Callable[..., Any]], ElementalFunction]:
    """Register the decorated function of one or two operands as an elemental.

    The function is written for any array namespace, ``value(xp, x)`` or
    ``value(xp, x, y)``, as are the rules. The result is called without ``xp``, on
    recorded scalars and arrays (a node an entry), on variables of every other backend,
    and on plain numbers, where it is the function itself.

    Args:
        partials: ``partials(xp, x, v)`` gives ``(d, c)``, the first and second
            derivative; ``partials(xp, x, y, v)`` gives ``(d1, d2, c11, c12, c22)``. ``v``
            is the value already computed.
        first: For two operands: ``(d, c)`` in the first one, the second held constant;
            only needed where more is permitted then. None: from ``partials``.
        second: The same with the roles exchanged.
        domain: ``domain(xp, *operands)``: true inside the open set where the function is
            twice continuously differentiable. None: everywhere.
        kink: ``kink(xp, *operands)``: true exactly at kinks, jumps and ties. None: none.
        holomorphic: Whether function and rules hold for complex operands, too; or the
            :class:`Rule` that does, with its own domain. False: programs of complex
            inputs refuse it.
        ufuncs: Names of ufuncs that the elemental answers to, such as
            ``("special.spence",)``: these may be called on recorded variables as well.
        name: Unique name for messages; the function's own by default.
        source: Where the formulas come from.

    Returns:
        A decorator, which gives an :class:`ElementalFunction`.

    Raises:
        OptionError: If the name or a ufunc is taken, the function takes another number
            of operands than one or two, or the rules give another number of entries.

    Guarantee:
        None for the rules: ``derivative_covers.testing.check_elemental`` checks them.

    Cost:
        That of a built-in elemental.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import elemental
        >>> @elemental(partials=lambda xp, x, v: (xp.exp(-x * x), -2 * x * xp.exp(-x * x)))
        ... def bell_integral(xp, x):
        ...     return x - x**3 / 3 + x**5 / 10
        >>> dc.gradient(lambda x: bell_integral(x).sum(), [0.0, 0.0])
        array([1., 1.])
        >>> bell_integral(0.0)
        np.float64(0.0)
    """

    def decorate(value: Callable[..., Any]) -> ElementalFunction:
        arity = len(inspect.signature(value).parameters) - 1
        if arity not in {1, 2}:
            msg = (
                f"{value.__name__} takes {arity + 1} arguments; an elemental is a function "
                "(xp, x) or (xp, x, y). Use blackbox for more operands."
            )
            raise OptionError(msg)
        if arity == 1 and (first or second):
            msg = f"{value.__name__} has one operand; leave out first and second."
            raise OptionError(msg)
        made = Elemental(
            name or value.__name__,
            arity,
            value,
            Rule(partials, domain, kink, holomorphic),
            source,
            ufuncs,
            first and Rule(first, domain, kink, holomorphic is True),
            second and Rule(second, domain, kink, holomorphic is True),
        )
        return ElementalFunction(register(made), value)

    return decorate
