"""Arithmetic of the split of a 2x2 block: pure functions of numbers.

Compiled sweeps compile these functions as they stand and uncompiled ones call them, so
each is self-contained, takes positional numbers and never divides by zero. Every
argument is a magnitude: ``e11, e12, e22`` are the entries ``|adjoint| * |C_ij|`` of a
block, ``z1, z2`` the scale references of its two slots. Arithmetic runs in double
precision whatever came, so that compiled and uncompiled calls give the same bits; the
caller rounds the results to its own type. Uncompiled callers silence NumPy's
floating-point warnings (``numpy.errstate(all="ignore")``), since an overflow here only
selects another form of the same number.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

__all__ = ["balanced_split", "declared_pair", "needs_scale", "value_bounds_split"]

Number: TypeAlias = Any

_ONE = np.float64(1.0)


def value_bounds_split(
    ratio: Number, e11: Number, e22: Number, z1: Number, z2: Number
) -> bool:
    """Whether a pair of parent values carries a usable scale for a block.

    A pair is unusable when the point with ``rho1 * z1 == rho2 * z2`` runs to an end of
    the feasible segment that is zero or infinite: ``z1 <= ratio * z2`` where ``e22`` is
    zero, or ``z2 <= ratio * z1`` where ``e11`` is zero. A pair that cannot be ordered
    (NaN) is unusable in the same places.

    Args:
        ratio: Threshold in ``[0, 1)``; see :func:`split_ratio`.
        e11: First diagonal entry of the block.
        e22: Second diagonal entry.
        z1: Magnitude of the first parent's value.
        z2: Magnitude of the second parent's value.

    Returns:
        True where the values fix the split.

    Example:
        >>> value_bounds_split(1e-8, 0.0, 0.0, 0.0, 1.0)
        False
        >>> value_bounds_split(1e-8, 0.0, 4.0, 0.0, 1.0)
        True
    """
    wide = ratio * _ONE
    return bool((e22 > 0 or z1 > wide * z2) and (e11 > 0 or z2 > wide * z1))


def needs_scale(
    ratio: Number, e11: Number, e12: Number, e22: Number, z1: Number, z2: Number
) -> bool:
    """Whether the split of a block reads the declared scales of its slots.

    It does where the off-diagonal entry is active and the pair of values is unusable;
    a zero diagonal entry is needed for the second, and makes any ``e12 > 0`` active.

    Args:
        ratio: Threshold in ``[0, 1)``; see :func:`split_ratio`.
        e11: First diagonal entry of the block.
        e12: Off-diagonal entry.
        e22: Second diagonal entry.
        z1: Magnitude of the first parent's value.
        z2: Magnitude of the second parent's value.

    Returns:
        True where the values of :func:`declared_pair` must stand in for ``z1, z2``.

    Example:
        >>> needs_scale(1e-8, 0.0, 1.0, 0.0, 0.0, 1.0)
        True
        >>> needs_scale(1e-8, 0.0, 0.0, 0.0, 0.0, 1.0)
        False
    """
    wide = ratio * _ONE
    return bool(
        e12 > 0 and not ((e22 > 0 or z1 > wide * z2) and (e11 > 0 or z2 > wide * z1))
    )


def declared_pair(s1: Number, s2: Number) -> tuple[Number, Number]:
    """The pair of declared scales that a block may divide by.

    Args:
        s1: Declared scale of the first slot.
        s2: Declared scale of the second slot.

    Returns:
        ``(s1, s2)`` where both are finite and positive, else ``(1.0, 1.0)``: a declared
        scale may overflow or underflow while its slot is live.

    Example:
        >>> [float(s) for s in declared_pair(2.0, float("inf"))]
        [1.0, 1.0]
    """
    if s1 > 0 and s2 > 0 and s1 < math.inf and s2 < math.inf:
        return s1 * _ONE, s2 * _ONE
    return _ONE, _ONE


def balanced_split(
    e11: Number,
    e12: Number,
    e22: Number,
    z1: Number,
    z2: Number,
    limit: float = 2.0**1022,
) -> tuple[Number, Number]:
    """The point of a block's feasible segment with ``rho1 * z1 == rho2 * z2``.

    Where ``e12 <= sqrt(e11) * sqrt(e22)`` the roots of the diagonal entries cover the
    block. Elsewhere every ``rho1`` in ``[sqrt(e11), e12 / sqrt(e22)]`` does, together
    with ``rho2 = e12 / rho1``, and the equalising point ``sqrt(e12 * z2 / z1)`` is
    clipped to that segment. Without a pair of finite positive references the result is
    the end to which the equalising point runs, the geometric mean of the ends where
    it runs nowhere, and ``sqrt(e12)`` where the end is zero or infinite.

    To rounding, ``rho1**2 >= e11``, ``rho1 * rho2 >= e12`` and ``rho2**2 >= e22``, for
    finite entries of every size. If the references are multiplied by ``2**p`` and
    ``2**q`` and the entries by ``2**(-2p)``, ``2**(-p-q)``, ``2**(-2q)``, the results
    are those before times ``2**-p`` and ``2**-q``, bit for bit, as long as these and
    the arguments stay normal numbers.

    Args:
        e11: First diagonal entry, nonnegative.
        e12: Off-diagonal entry, nonnegative.
        e22: Second diagonal entry, nonnegative.
        z1: Scale reference of the first slot, nonnegative.
        z2: Scale reference of the second slot, nonnegative.
        limit: Both results of the off-diagonal case lie in ``[1/limit, limit]``, the
            normal range of the type that will hold them: ``2.0**126`` for float32.

    Returns:
        ``(rho1, rho2)``.

    Example:
        >>> rho1, rho2 = balanced_split(0.0, 1.0, 0.0, 4.0, 1.0)
        >>> float(rho1), float(rho2)
        (0.5, 2.0)
    """
    least = 1.0 / limit
    e12 = e12 * _ONE
    z1 = z1 * _ONE
    z2 = z2 * _ONE
    quotient = z2 / z1 if z1 > 0 else 0.0
    square = e12 * quotient
    normal = (
        quotient >= 2.2250738585072014e-308
        and square >= 2.2250738585072014e-308
        and square <= 1.7976931348623157e308
    )
    if normal and e11 == 0 and e22 == 0:
        # A product, by far the most frequent block: what follows comes to this.
        rho1 = np.sqrt(square)
        rho2 = e12 / rho1
        if least <= rho1 <= limit and least <= rho2 <= limit:
            return rho1, rho2
    r11 = np.sqrt(e11 * _ONE)
    r22 = np.sqrt(e22 * _ONE)
    if e12 <= r11 * r22:
        return r11, r22
    if normal:
        # Not a product of roots: sqrt(2) is inexact, so only the root of a quantity
        # that scales by even powers of two keeps its bits under a rescaling.
        rho1 = np.sqrt(square)
    elif z1 > 0 and z2 > 0 and z1 < math.inf and z2 < math.inf:
        # The same number with exponents kept apart.
        m1, k1 = math.frexp(z1)
        m2, k2 = math.frexp(z2)
        m12, k12 = math.frexp(e12)
        k = k12 + k2 - k1
        odd = k % 2
        rho1 = np.sqrt(m12 * (m2 / m1) * (1 + odd))
        rho1 = math.ldexp(rho1, min((k - odd) // 2, 1022)) * _ONE
    elif r22 > 0 and z2 > z1:
        rho1 = e12 / r22
    elif r11 > 0 and z1 > z2:
        rho1 = r11
    elif r11 > 0 and r22 > 0:
        rho1 = r11 * np.sqrt(min(min(e12 / r22, limit) / r11, limit))
    else:
        rho1 = np.sqrt(e12)
    # The segment's far end and the range of the result, then what may only raise it.
    # (Branches, since the builtin max is slow when compiled.)
    if r22 > 0 and rho1 > e12 / r22:
        rho1 = e12 / r22
    if rho1 > limit:
        rho1 = limit * _ONE
    if rho1 < r11:
        rho1 = r11
    if rho1 < least:
        rho1 = least * _ONE
    rho2 = e12 / rho1
    if rho2 > limit:
        rho1 = e12 * least
        rho2 = limit * _ONE
    if rho2 < r22:
        rho2 = r22
    if rho2 < least:
        rho2 = least * _ONE
    return rho1, rho2
