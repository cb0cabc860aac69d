"""The enclosures of elementals, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ...elements._outward import Pair
from .._spec import Elemental
from ._enclosed import Enclosed
from ._shapes import Shape, enclose_shape

__all__ = ["add_shape", "enclose", "encloses"]

Encloser = Callable[..., Enclosed]

_FAMILIES = (
    "_arithmetic",
    "_exponential",
    "_trigonometric",
    "_hyperbolic",
    "_logistic",
    "_power",
    "_pairs",
    "_piecewise",
    "_error_functions",
    "_gamma_family",
    "_beta",
    "_entropy",
    "_bessel",
    "_integrals",
    "_boxcox",
    "_losses",
)
_ENCLOSERS: dict[str, Encloser] = {}
_SHAPES: dict[str, Shape] = {}


def encloses(*names: str) -> Callable[[Encloser], Encloser]:
    """Register the decorated function as the enclosure of the elementals of these names.

    Needed for a user's elemental only where the natural extension of its rule is too wide
    or does not exist.

    Args:
        names: Names of elementals, your own included.

    Returns:
        A decorator. The function is called as ``f(pattern, *operands, order)`` with a
        pair ``(lo, hi)`` of float64 arrays for each operand, of one shape. ``pattern`` is
        0 for one operand, 1 for two, 2 where the second one is a constant, 3 where the
        first one is; ``order`` is the number of derivatives wanted. It gives an
        :class:`Enclosed` with the parts in the order of the elemental's rule for that
        pattern.

    Guarantee:
        That of the function; ends have to be rounded outward there.

    Cost:
        None of its own.

    Example:
        >>> from derivative_covers.extend import Enclosed, elemental, encloses
        >>> @elemental(partials=lambda xp, x, v: (2.0, 0.0))
        ... def doc_double(xp, x):
        ...     return x + x
        >>> @encloses("doc_double")
        ... def doc_double_enclosed(pattern, x, order):
        ...     return Enclosed((2 * x[0], 2 * x[1]), (2.0, 0.0))  # doubling is exact
    """

    def decorate(function: Encloser) -> Encloser:
        for name in names:
            _ENCLOSERS[name] = function
        return function

    return decorate


def add_shape(shape: Shape) -> None:
    """Register a function of one operand that is monotone between turning points."""
    _SHAPES[shape.name] = shape
    _ENCLOSERS[shape.name] = lambda pattern, x, order: enclose_shape(shape, x, order)


def enclose(
    op: Elemental, pattern: int, operands: tuple[Any, ...], *, order: int = 2
) -> Enclosed:
    """Enclosures of an elemental and its partials over intervals, entry by entry.

    Args:
        op: The elemental.
        pattern: 0: one operand; 1: two operands; 2: the second one is constant; 3: the
            first one is.
        operands: A pair ``(lo, hi)`` of float64 arrays each, or a plain float array where
            it is a point. They broadcast.
        order: How many derivatives are wanted: 0, 1 or 2. What is not wanted may be
            missing from the parts.

    Returns:
        An :class:`Enclosed`, the parts in the order of the elemental's rule for that
        pattern.

    Raises:
        UnsupportedOperationError: If nothing encloses the elemental, or not in an operand
            that is not constant.
        MissingPackageError: If it takes a package that is not installed.

    Guarantee:
        Value and partials at every point of the intervals are contained, where they
        exist.

    Cost:
        Tens of nanoseconds an entry for arithmetic, some hundred with crival, microseconds
        with python-flint.

    Example:
        >>> from derivative_covers.elementals import by_name
        >>> from derivative_covers.elementals._enclosures import enclose
        >>> found = enclose(by_name("square"), 0, ((-1.0, 2.0),))
        >>> [float(end) for end in found.value], [float(end) for end in found.parts[0]]
        ([0.0, 4.0], [-2.0, 4.0])
    """
    _load()
    pairs = _aligned(operands)
    encloser = _ENCLOSERS.get(op.name)
    if encloser is None:
        natural = import_module("._natural", __package__)
        found: Enclosed = natural.enclose_naturally(op, pattern, pairs, order)
        return found
    with np.errstate(all="ignore"):
        return encloser(pattern, *pairs, order)


@cache
def _load() -> None:
    for family in _FAMILIES:
        import_module("." + family, __package__)


def _aligned(operands: tuple[Any, ...]) -> list[Pair]:
    """Pairs of float64 arrays of one shape; those of points hold one array twice."""
    pairs = []
    for x in operands:
        given = x if isinstance(x, tuple) else (x, x)
        lo = np.asarray(given[0], dtype=np.float64)
        hi = lo if given[1] is given[0] else np.asarray(given[1], dtype=np.float64)
        pairs.append((lo, hi))
    shape = np.broadcast_shapes(*(end.shape for pair in pairs for end in pair))
    return [_broadcast(pair, shape) for pair in pairs]


def _broadcast(pair: Pair, shape: tuple[int, ...]) -> Pair:
    lo, hi = pair
    if lo.shape == shape and hi.shape == shape:
        return pair
    low = np.broadcast_to(lo, shape)
    return low, low if hi is lo else np.broadcast_to(hi, shape)
