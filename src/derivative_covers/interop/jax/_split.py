"""Local covers of whole arrays of nodes with one or two slots.

The arithmetic is that of ``local.balanced_split`` and of the kernels of entrywise blocks,
without their branches: here every entry takes all of them and selects.
"""

from __future__ import annotations

from typing import Any

from ._context import Context
from ._facts import absolute
from ._node import Node, is_zero, size, where
from ._package import jnp, lax
from ._status import GUARDED

__all__ = ["declared_quotient", "moderate", "root", "split"]


def root(w: Any, c: Any) -> Any:
    """``sqrt(w |c|)`` for magnitudes ``w``; None where ``c`` is a plain zero."""
    if is_zero(c):
        return None
    if isinstance(c, (int, float)):
        return jnp.sqrt(w) if abs(c) == 1 else jnp.sqrt(w) * abs(c) ** 0.5
    # The roots apart: the product may leave the range of numbers, and 0 * inf is 0.
    return where(w != 0, lax.sqrt(w) * jnp.sqrt(jnp.abs(c)))


def moderate(w: Any) -> tuple[Any, Any]:
    """``w`` brought near 1 by a power of four where it is extreme, and the root of that."""
    half = 2.0 ** (int(jnp.finfo(w.dtype).maxexp) // 4)
    square = half * half
    small, large = w < 1 / square, w > square
    factor = jnp.where(small, square, jnp.where(large, 1 / square, 1.0))
    back = jnp.where(small, 1 / half, jnp.where(large, half, 1.0))
    return w * factor.astype(w.dtype), back.astype(w.dtype)


def declared_quotient(s1: Any, s2: Any) -> Any:
    """``s2 / s1`` of declared scales, 1 where one is not finite and positive."""
    proper = (s1 > 0) & (s2 > 0) & jnp.isfinite(s1) & jnp.isfinite(s2)
    return jnp.where(proper, s2 / s1, 1.0).astype(s1.dtype)


def split(
    ctx: Context, name: str, adj: Any, c: tuple[Any, Any, Any], x: Node, y: Node
) -> tuple[Any, Any]:
    """Slot weights of nodes with two slots: ``rho_i rho_j >= |adj| |c_ij|``.

    Args:
        ctx: The context; it learns where values carry no scale and none is declared.
        name: The operation, for that finding.
        adj: Adjoints.
        c: Second partials ``(c11, c12, c22)``, arrays or plain numbers.
        x: First operand.
        y: Second operand.

    Returns:
        Slot weights, zero wherever ``adj`` is; None is an exact zero.
    """
    c11, c12, c22 = map(absolute, c)
    w = jnp.abs(adj)
    if is_zero(c12):
        return root(w, c11), root(w, c22)
    w, back = moderate(w)
    live = None
    if x.live is not None:
        live = x.live
        c11 = c11 if is_zero(c11) else jnp.where(x.live, c11, 0)
    if y.live is not None:
        live = y.live if live is None else live & y.live
        c22 = c22 if is_zero(c22) else jnp.where(y.live, c22, 0)
    if live is not None:
        c12 = jnp.where(live, c12, 0)
    e12 = w * c12
    ratio = ctx.threshold(w.dtype)
    z1, z2 = size(x), size(y)
    wide1, wide2 = z1 > ratio * z2, z2 > ratio * z1
    plain = is_zero(c11) and is_zero(c22)
    if plain:
        usable = wide1 & wide2
    else:
        e11, e22 = w * c11, w * c22
        usable = (wide1 | (e22 > 0)) & (wide2 | (e11 > 0))
    if ctx.scaled:
        stand_in = declared_quotient(_scale(x), _scale(y))
    else:
        stand_in = jnp.ones_like(z1)
        ctx.flag(GUARDED, ~usable & (e12 > 0), name)
    quotient = jnp.where(usable, z2 / z1, stand_in)
    rho1 = jnp.sqrt(e12 * quotient)
    if plain:
        rho2 = where(rho1 > 0, e12 / rho1)
    else:
        rho1, rho2 = _clipped(e11, e12, e22, rho1)
    rho1, rho2 = rho1 * back, rho2 * back
    here = adj != 0
    return where(here, rho1), where(here, rho2)


def _scale(x: Node) -> Any:
    return jnp.zeros_like(x.value) if x.scale is None else x.scale


def _clipped(e11: Any, e12: Any, e22: Any, rho1: Any) -> tuple[Any, Any]:
    """The equalising point clipped to the feasible segment of a full block."""
    r11, r22 = jnp.sqrt(e11), jnp.sqrt(e22)
    end = jnp.where(r22 > 0, e12 / r22, jnp.inf)
    # Two vanishing values, which are usable only where both ends are proper.
    rho1 = jnp.where(jnp.isnan(rho1), jnp.sqrt(r11) * jnp.sqrt(end), rho1)
    rho1 = jnp.maximum(jnp.minimum(rho1, end), r11)
    rho2 = jnp.maximum(jnp.where(rho1 > 0, e12 / rho1, 0), r22)
    diagonal = e12 <= r11 * r22
    return jnp.where(diagonal, r11, rho1), jnp.where(diagonal, r22, rho2)
