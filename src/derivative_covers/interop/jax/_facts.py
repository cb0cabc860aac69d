"""How the facts of nodes pass through operations: liveness, declared scales, marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._context import Context
from ._node import Node, is_zero, where
from ._package import jnp, lax

__all__ = ["absolute", "both", "either", "follow", "through", "times", "zeros"]


def times(d: Any, w: Any, *, absolute: bool = False) -> Any:
    """``d * w`` where a zero ``w`` gives zero however infinite ``d`` is; None is zero."""
    if w is None or is_zero(d):
        return None
    if isinstance(d, (int, float)):
        d = abs(d) if absolute else d
        return w if d == 1 else -w if d == -1 else d * w
    product = (jnp.abs(d) if absolute else d) * w
    return where(w != 0, product)


def absolute(c: Any) -> Any:
    """Magnitude of a partial, which may be a plain number."""
    return abs(c) if isinstance(c, (int, float)) else jnp.abs(c)


def either(x: Any, y: Any) -> Any:
    """Logical or of masks, None being false."""
    if x is None:
        return y
    return x if y is None else jnp.logical_or(x, y)


def both(x: Any, y: Any) -> Any:
    """Logical and of masks, None being true."""
    if x is None:
        return y
    return x if y is None else jnp.logical_and(x, y)


def zeros(node: Node) -> Any:
    """Zeros like a node's values, a declared scale of what does not vary."""
    return jnp.zeros_like(node.value)


def through(
    scaled: bool, operands: Sequence[Node], partials: Sequence[Any]
) -> tuple[Any, Any]:
    """Liveness and scale of an entrywise result, given its first partials."""
    live: Any = None
    scale: Any = None
    everywhere = False
    for x, d in zip(operands, partials, strict=True):
        if not x.varies or is_zero(d):
            continue
        here = both(x.live, None if isinstance(d, (int, float)) else d != 0)
        if here is None:
            everywhere = True
        live = either(live, here)
        if scaled:
            t = times(d, x.scale, absolute=True)
            scale = t if scale is None else scale + t
    return None if everywhere else live, scale


def follow(
    ctx: Context,
    operands: Sequence[Node],
    apply: Callable[[list[Any]], Any],
    value: Any,
    token: int | None = None,
) -> Node:
    """The node of a linear operation with nonnegative coefficients.

    ``apply`` is the operation on arrays in place of the operands that vary; it is
    applied to their facts as well, zero or false for operands that are constants.
    """
    varying = [x for x in operands if x.varies]

    def mask(parts: list[Any], default: bool) -> Any:
        if all(part is None for part in parts):
            return None
        numbers = [
            jnp.full_like(x.value, default)
            if part is None
            else part.astype(x.value.dtype)
            for x, part in zip(varying, parts, strict=True)
        ]
        return apply(numbers) > 0

    live = mask([x.live for x in varying], True)
    mark = mask([x.mark for x in varying], False)
    scale = apply([x.scale for x in varying]) if ctx.scaled else None
    return Node(value, live, scale, mark, True, token)


def summed(x: Any, shape: Sequence[int]) -> Any:
    """An array summed to the shape of an operand that was broadcast; None is zero."""
    if x is None or x.shape == tuple(shape):
        return x
    lead = x.ndim - len(shape)
    axes = [*range(lead)]
    axes += [lead + a for a, n in enumerate(shape) if n == 1 and x.shape[lead + a] != 1]
    return lax.reduce_sum(x, axes=tuple(axes)).reshape(shape)
