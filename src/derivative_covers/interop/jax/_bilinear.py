"""Products of arrays and convolutions: linear in each operand, with paired curvature.

An output entry is a sum of products ``x y``, each an atom of weight ``|adj|``, whose split
is ``rho_x = sqrt(|adj| |y| / |x|)``. So the slot weights of all entries are one more product
of roots for each operand. Where declared scales are given, pairs of values that carry no
scale take them, by further products that run only where such a pair is found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._context import Context
from ._facts import either, times
from ._interpret import bind
from ._linear import transposed
from ._node import Bar, Node, size, some, where
from ._package import jax, jnp, lax
from ._places import meetings, same
from ._rule import Rule, register
from ._status import DOMAIN, GUARDED

__all__: list[str] = []

Extremes = Callable[[Any, int, Any], Any]


def _full(node: Node, part: str) -> Any:
    found = getattr(node, part)
    return jnp.zeros_like(node.value) if found is None else found


def _forward(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    x, y = operands
    v = bind(eqn, [x.value, y.value])[0]
    scale = mark = live = None

    def product(a: Any, b: Any) -> Any:
        return bind(eqn, [a, b])[0]

    if ctx.scaled:
        for one, (a, b) in (
            (x, (_full(x, "scale"), size(y))),
            (y, (size(x), _full(y, "scale"))),
        ):
            if one.varies:
                part = product(a, b)
                scale = part if scale is None else scale + part
    if v.ndim == 0:
        live = _scalar_live(x, y)
    for one in (x, y):
        if one.varies and one.mark is not None:
            # Its value is no number, and neither is that of a sum that it enters.
            mark = either(mark, ~jnp.isfinite(v))
    return [Node(v, live, scale, mark, True)], (x, y)


def _scalar_live(x: Node, y: Node) -> Any:
    """Whether a scalar result depends on the inputs to first order."""
    found = jnp.zeros((), bool)
    for one, other in ((x, y), (y, x)):
        if one.varies:
            live = some(other.value != 0)
            if one.live is not None:
                live = live & some(one.live)
            found = found | live
    return found


def _reverse(extremes: Extremes) -> Callable[..., list[Bar | None]]:
    def reverse(
        ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
    ) -> list[Bar | None]:
        x, y = residuals
        (bar,) = bars
        for one in (x, y):
            if one.varies and one.mark is not None:
                ctx.flag(DOMAIN, _depends(bar) & some(one.mark), eqn.primitive.name)
        if same(x, y) and _paired(eqn):
            return [_squares(ctx, eqn, x, bar), None]
        rho: tuple[Any, Any] = (None, None)
        if bar.adj is not None and x.varies and y.varies:
            rho = _weights(ctx, eqn, x, y, bar.adj, extremes)
        found: list[Bar | None] = []
        for k, (one, other) in enumerate(((x, y), (y, x))):
            if not one.varies:
                found.append(None)
                continue
            adj = _back(eqn, k, other.value, bar.adj)
            g = _back(eqn, k, _size(ctx, other), bar.g)
            r = rho[k]
            found.append(Bar(adj, r if g is None else g if r is None else g + r))
        return found

    return reverse


def _depends(bar: Bar) -> Any:
    parts = [some(part != 0) for part in (bar.adj, bar.g) if part is not None]
    return parts[0] if len(parts) == 1 else parts[0] | parts[1]


def _size(ctx: Context, node: Node) -> Any:
    """Magnitudes of values; of a constant in the host's memory, found now and once.

    XLA would fold them into the program, which takes it longer than to compile a product.
    """
    value = node.value
    if node.varies or isinstance(value, jax.core.Tracer) or not _on_host(value):
        return size(node)
    return ctx.known(("size", id(value)), value, lambda: np.abs(np.asarray(value)))


def _on_host(value: Any) -> bool:
    if not isinstance(value, jax.Array):
        return isinstance(value, np.ndarray)
    return [device.platform for device in value.devices()] == ["cpu"]


def _back(eqn: Any, k: int, other: Any, bar: Any) -> Any:
    """The transpose in operand ``k`` at the other one's value, applied to ``bar``."""
    if bar is None:
        return None
    values = [None, other] if k == 0 else [other, None]
    return transposed(eqn, values, [k], [bar])[0]


def _paired(eqn: Any) -> bool:
    """Whether entries of one operand meet those at the same place of the other alone."""
    if eqn.primitive.name != "dot_general":
        return False
    (cx, cy), (bx, by) = eqn.params["dimension_numbers"]
    pairs = list(zip((*cx, *bx), (*cy, *by), strict=True))
    return len(pairs) == eqn.invars[0].aval.ndim and all(i == j for i, j in pairs)


def _squares(ctx: Context, eqn: Any, x: Node, bar: Bar) -> Bar:
    """A product of an array with itself, entry by entry: a sum of squares."""
    (_, _), (batch, _) = eqn.params["dimension_numbers"]

    def spread(part: Any) -> Any:
        if part is None:
            return None
        return lax.broadcast_in_dim(part, x.value.shape, tuple(batch))

    adj, g = spread(bar.adj), spread(bar.g)
    twice = 2.0 * x.value
    rho = None
    if bar.adj is not None:
        (rho,) = ctx.mine((jnp.sqrt(jnp.abs(adj)) * 2.0**0.5,))
    g = times(twice, g, absolute=True)
    return Bar(
        times(twice, adj), rho if g is None else g + rho if rho is not None else g
    )


def _weights(
    ctx: Context, eqn: Any, x: Node, y: Node, adj: Any, extremes: Extremes
) -> tuple[Any, Any]:
    """Slot weights of both operands, summed over the pairs of each entry."""
    (w,) = ctx.mine((jnp.sqrt(jnp.abs(adj)),))
    ratio = ctx.threshold(adj.dtype)
    zx, zy = _live(x, size(x)), _live(y, size(y))
    top_x, top_y = extremes(eqn, 1, zx), extremes(eqn, 0, zy)
    # Small are values with which some pair could carry no scale; dead ones are dropped.
    small_x = (zx <= ratio * top_y) & _alive(x)
    small_y = (zy <= ratio * top_x) & _alive(y)
    if ctx.scaled:
        rho = _declared_weights(eqn, x, y, w, (zx, small_x), (zy, small_y))
        return _merged(ctx, eqn, x, y, w, rho, None)
    # Any references cover. Of small values they are the largest that they meet.
    root_x = jnp.sqrt(jnp.where(small_x, jnp.where(top_y > 0, top_y, 1), zx))
    root_y = jnp.sqrt(jnp.where(small_y, jnp.where(top_x > 0, top_x, 1), zy))
    total_x, total_y = _back(eqn, 0, root_y, w), _back(eqn, 1, root_x, w)
    for small, total in ((small_x, total_x), (small_y, total_y)):
        ctx.flag(GUARDED, small & (total > 0), eqn.primitive.name)
    rho = _over(total_x, root_x), _over(total_y, root_y)
    return _merged(ctx, eqn, x, y, w, rho, (root_x, root_y))


def _merged(
    ctx: Context,
    eqn: Any,
    x: Node,
    y: Node,
    w: Any,
    rho: tuple[Any, Any],
    roots: tuple[Any, Any] | None,
) -> tuple[Any, Any]:
    """Slot weights where both factors of some products are one entry, as in ``A.T @ A``.

    Such a product is a square of weight 2 and has one slot. ``roots`` are the references
    that its two slots had before; None: equal ones.
    """
    if eqn.primitive.name != "dot_general":
        return rho
    found = meetings(ctx, x, y, eqn.params["dimension_numbers"])
    if found is None:
        return rho
    into, at_x, at_y = found
    here = w.reshape(-1)[into]
    part = 1.0 if roots is None else roots[1].reshape(-1)[at_y]
    if roots is not None:
        part = _over(part, roots[0].reshape(-1)[at_x])
    back = _over(jnp.ones_like(here), jnp.broadcast_to(part, here.shape))
    live = _alive(x).reshape(-1)[at_x]
    gain = jnp.where(live, here * (2.0**0.5 - part), 0)
    loss = jnp.where(live, here * back, 0)
    rho_x = rho[0].reshape(-1).at[at_x].add(gain).reshape(rho[0].shape)
    rho_y = rho[1].reshape(-1).at[at_y].add(-loss).reshape(rho[1].shape)
    return jnp.maximum(rho_x, 0), jnp.maximum(rho_y, 0)


def _over(total: Any, root: Any) -> Any:
    here = root > 0
    return where(here, total / where(here, root, 1))


def _declared_weights(
    eqn: Any,
    x: Node,
    y: Node,
    w: Any,
    of_x: tuple[Any, Any],
    of_y: tuple[Any, Any],
) -> tuple[Any, Any]:
    """The same where small values have declared scales, of magnitudes and small ones."""
    (zx, small_x), (zy, small_y) = of_x, of_y
    large_x = jnp.sqrt(jnp.where(small_x, 0, zx))
    large_y = jnp.sqrt(jnp.where(small_y, 0, zy))
    plain_x = _over(_back(eqn, 0, large_y, w), large_x)
    plain_y = _over(_back(eqn, 1, large_x, w), large_y)

    def stand_in() -> tuple[Any, Any]:
        sx, sy = _declared(x), _declared(y)
        here_x, here_y = jnp.where(small_x, sx, 0), jnp.where(small_y, sy, 0)
        # Of a pair one or both are small: all of a small one's, and the others' small.
        first = _back(eqn, 0, jnp.where(_alive(y), sy, 0), w)
        second = _back(eqn, 1, jnp.where(_alive(x), sx, 0), w)
        rho_x = jnp.where(small_x, first, _back(eqn, 0, here_y, w)) / sx
        rho_y = jnp.where(small_y, second, _back(eqn, 1, here_x, w)) / sy
        return _live(x, rho_x), _live(y, rho_y)

    def none() -> tuple[Any, Any]:
        return jnp.zeros_like(plain_x), jnp.zeros_like(plain_y)

    more_x, more_y = lax.cond(some(small_x) | some(small_y), stand_in, none)
    return plain_x + more_x, plain_y + more_y


def _live(x: Node, part: Any) -> Any:
    return part if x.live is None else where(x.live, part)


def _alive(x: Node) -> Any:
    return jnp.ones_like(x.value, bool) if x.live is None else x.live


def _declared(x: Node) -> Any:
    """Roots of declared scales; 1 where one is not finite and positive."""
    proper = (x.scale > 0) & jnp.isfinite(x.scale)
    return jnp.sqrt(jnp.where(proper, x.scale, 1))


def _of_dot(eqn: Any, k: int, z: Any) -> Any:
    """For operand ``k``, the largest value of the other one that each entry can meet."""
    contract, batch = eqn.params["dimension_numbers"]
    mine = (*contract[k], *batch[k])
    theirs = (*contract[1 - k], *batch[1 - k])
    free = tuple(a for a in range(z.ndim) if a not in theirs)
    top = jnp.max(z, axis=free, initial=0) if free else z
    # What is left of the other's axes, in its order; bring it into mine.
    left = sorted(theirs)
    order = sorted(range(len(mine)), key=lambda n: mine[n])
    top = jnp.transpose(top, [left.index(theirs[n]) for n in order])
    shape = eqn.invars[k].aval.shape
    return lax.broadcast_in_dim(top, shape, tuple(sorted(mine)))


def _of_any(eqn: Any, k: int, z: Any) -> Any:
    return jnp.max(z, initial=0)


register("dot_general", Rule(_forward, _reverse(_of_dot)))
register("conv_general_dilated", Rule(_forward, _reverse(_of_any)))
