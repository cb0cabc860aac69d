"""Reductions and running results that are not sums: extrema, products, sorting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...elementals import Elemental, by_name
from ._context import Context
from ._elementwise import partials_of
from ._facts import times
from ._interpret import bind, evaluate
from ._node import Bar, Node, constant, is_discrete
from ._package import jnp, lax
from ._rule import Rule, never, register
from ._split import split
from ._status import DOMAIN, KINK

__all__: list[str] = []


# -- the largest or the smallest -------------------------------------------------------


def _extreme(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    (x,) = operands
    (v,) = bind(eqn, [x.value])
    axes = tuple(eqn.params["axes"])
    here = x.value == jnp.expand_dims(v, axes)
    live = mark = scale = None
    if x.live is not None:
        live = jnp.any(here & x.live, axis=axes)
    if x.mark is not None:
        mark = jnp.any(x.mark, axis=axes)
    if ctx.scaled:
        scale = jnp.max(jnp.where(here, x.scale, 0), axis=axes)
    count = jnp.sum(here, axis=axes, dtype=v.dtype)
    return [Node(v, live, scale, mark, True)], (here, count, mark)


def _from_extreme(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    here, count, mark = residuals
    (bar,) = bars
    name = eqn.primitive.name
    ctx.reached(bar, count > 1, KINK, name)
    if mark is not None:
        ctx.reached(bar, mark, DOMAIN, name)
    axes = tuple(eqn.params["axes"])

    def spread(part: Any) -> Any:
        return None if part is None else jnp.where(here, jnp.expand_dims(part, axes), 0)

    return [Bar(spread(bar.adj), spread(bar.g))]


# -- running results: one elemental, its first operand runs through the axis -----------

_ACCUMULATED = {
    "cumprod": "multiply",
    "cumlogsumexp": "logaddexp",
    "cummax": "maximum",
    "cummin": "minimum",
}


def _lanes(eqn: Any, x: Any) -> Any:
    """The axis first, in the order in which it runs."""
    moved = jnp.moveaxis(x, eqn.params["axis"], 0)
    return moved[::-1] if eqn.params["reverse"] else moved


def _unlanes(eqn: Any, x: Any) -> Any:
    x = x[::-1] if eqn.params["reverse"] else x
    return jnp.moveaxis(x, 0, eqn.params["axis"])


def _laned(eqn: Any, x: Node) -> Node:
    def moved(part: Any) -> Any:
        return None if part is None else _lanes(eqn, part)

    return Node(
        moved(x.value), moved(x.live), moved(x.scale), moved(x.mark), x.varies, x.token
    )


def accumulation(op: Elemental) -> Rule:
    """The rule of a running result along ``axis``, in the order of the tape's chain."""

    def forward(
        ctx: Context, eqn: Any, operands: Sequence[Node]
    ) -> tuple[list[Node], Any]:
        (x,) = operands
        v = bind(eqn, [x.value])[0]
        out, kept = run_forward(ctx, op, _laned(eqn, x), _lanes(eqn, v))
        value, live, scale, mark = (
            None if part is None else _unlanes(eqn, part)
            for part in (out.value, out.live, out.scale, out.mark)
        )
        return [Node(value, live, scale, mark, True)], kept

    def reverse(
        ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
    ) -> list[Bar | None]:
        (bar,) = bars
        moved = Bar(*(None if p is None else _lanes(eqn, p) for p in (bar.adj, bar.g)))
        found = run_reverse(ctx, op, residuals, moved)
        return [
            Bar(
                *(None if p is None else _unlanes(eqn, p) for p in (found.adj, found.g))
            )
        ]

    return Rule(forward, reverse)


def _pairs(x: Node, running: Node) -> tuple[Node, Node]:
    """Both operands of all steps but the first: what ran so far, and the next entry."""

    def cut(node: Node, part: slice) -> Node:
        def of(a: Any) -> Any:
            return None if a is None else a[part]

        return Node(of(node.value), of(node.live), of(node.scale), of(node.mark), True)

    return cut(running, slice(None, -1)), cut(x, slice(1, None))


def run_forward(
    ctx: Context, op: Elemental, x: Node, v: Any
) -> tuple[Node, tuple[Node, Node]]:
    """Facts of the running results ``v`` of an elemental along the first axis."""
    length = v.shape[0]
    live = scale = None
    mark = None if x.mark is None else lax.cummax(x.mark.astype(jnp.int8), axis=0) > 0
    if length > 1:
        before, entry = _pairs(x, Node(v, varies=True))
        (d1, d2), _ = partials_of(op, (before, entry), v[1:])
        d1, d2 = (jnp.broadcast_to(d, v[1:].shape) for d in (d1, d2))
        first = jnp.ones_like(v[0], dtype=bool) if x.live is None else x.live[0]
        rest = jnp.ones_like(v[1:], dtype=bool) if x.live is None else x.live[1:]

        def alive(a: Any, step: Any) -> Any:
            p, q, here = step
            a = (a & (p != 0)) | (here & (q != 0))
            return a, a

        _, tail = lax.scan(alive, first, (d1, d2, rest))
        live = jnp.concatenate([first[None], tail])
        if ctx.scaled:

            def tangent(s: Any, step: Any) -> Any:
                p, q, t = step
                s = times(p, s, absolute=True) + times(q, t, absolute=True)
                return s, s

            _, tail = lax.scan(tangent, x.scale[0], (d1, d2, x.scale[1:]))
            scale = jnp.concatenate([x.scale[:1], tail])
    else:
        live, scale = x.live, x.scale
    out = Node(v, live, scale, mark, True)
    return out, (x, out)


def run_reverse(
    ctx: Context, op: Elemental, residuals: tuple[Node, Node], bar: Bar
) -> Bar:
    """Cotangents of the entries, given those of the running results."""
    x, running = residuals
    bar = bar.filled(running.value)
    if running.value.shape[0] < 2:
        return bar
    before, entry = _pairs(x, running)
    v = running.value[1:]
    d, c = partials_of(op, (before, entry), v)
    d1, d2 = (jnp.broadcast_to(p, v.shape) for p in d)

    def back(carry: Any, step: Any) -> Any:
        p, arriving = step
        total = arriving + carry
        return times(p, total), total

    zero = jnp.zeros_like(v[0])
    last, adj = lax.scan(back, zero, (d1, bar.adj[1:]), reverse=True)
    if all(isinstance(e, (int, float)) and e == 0 for e in c):
        r1 = r2 = jnp.zeros_like(v)
    else:
        found = split(ctx, op.name, adj, (c[0], c[1], c[2]), before, entry)
        r1, r2 = ctx.mine(found)

    def back_g(carry: Any, step: Any) -> Any:
        p, r, arriving = step
        total = arriving + carry
        return times(p, total, absolute=True) + r, total

    last_g, g = lax.scan(back_g, zero, (jnp.abs(d1), r1, bar.g[1:]), reverse=True)
    here = Bar(adj, g)
    rule = op.rule
    if rule.kink is not None:
        ctx.reached(here, rule.kink(jnp, before.value, entry.value), KINK, op.name)
    if x.mark is not None:
        ctx.reached(here, running.mark[1:], DOMAIN, op.name)
    first = Bar(bar.adj[0] + last, bar.g[0] + last_g)
    adj_x = jnp.concatenate([first.adj[None], times(d2, adj)])
    g_x = jnp.concatenate([first.g[None], times(d2, g, absolute=True) + r2])
    return Bar(adj_x, g_x)


def _product(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    (x,) = operands
    axes = tuple(eqn.params["axes"])
    v = bind(eqn, [x.value])[0]
    if not x.value.size:
        return [constant(v)], None
    lanes = _folded(x, axes)
    running = lax.cumprod(lanes.value, axis=0)
    out, kept = run_forward(ctx, by_name("multiply"), lanes, running)

    def last(part: Any) -> Any:
        return None if part is None else part[-1].reshape(v.shape)

    return [Node(v, last(out.live), last(out.scale), last(out.mark), True)], kept


def _folded(x: Node, axes: tuple[int, ...]) -> Node:
    """The reduced axes as the first one, all others flat."""

    def moved(part: Any) -> Any:
        if part is None:
            return None
        front = jnp.moveaxis(part, axes, range(len(axes)))
        n = 1
        for size in front.shape[: len(axes)]:
            n *= size
        return front.reshape(n, -1)

    return Node(moved(x.value), moved(x.live), moved(x.scale), moved(x.mark), True)


def _from_product(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    axes = tuple(eqn.params["axes"])
    (bar,) = bars
    lanes = residuals[0].value

    def at_end(part: Any) -> Any:
        if part is None:
            return None
        return jnp.zeros_like(lanes).at[-1].set(part.reshape(-1))

    found = run_reverse(
        ctx, by_name("multiply"), residuals, Bar(at_end(bar.adj), at_end(bar.g))
    )
    shape = eqn.invars[0].aval.shape
    front = [shape[a] for a in axes] + [s for a, s in enumerate(shape) if a not in axes]

    def unfolded(part: Any) -> Any:
        return jnp.moveaxis(part.reshape(front), range(len(axes)), axes)

    return [Bar(unfolded(found.adj), unfolded(found.g))]


# -- orders ----------------------------------------------------------------------------


def _argument(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    """The place of an extreme entry: an integer, undecided at a tie."""
    (x,) = operands
    (out,) = evaluate(eqn, [x.value])
    axes = tuple(eqn.params["axes"])
    best = (jnp.max if eqn.primitive.name == "argmax" else jnp.min)(
        x.value, axis=axes, keepdims=True
    )
    ties = jnp.sum(x.value == best, axis=axes) > 1
    return [constant(out.value, mark=ties)], None


def _sort(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    """A permutation of all operands by the keys among them."""
    axis, num_keys = eqn.params["dimension"], eqn.params["num_keys"]
    values = [x.value for x in operands]
    place = lax.broadcasted_iota(jnp.int32, values[0].shape, axis)
    *found, order = lax.sort(
        (*values, place),
        dimension=axis,
        is_stable=eqn.params["is_stable"],
        num_keys=num_keys,
    )
    tied = _equal_neighbours(found[:num_keys], axis)
    decided = any(x.varies for x in operands[:num_keys])

    def placed(part: Any) -> Any:
        return None if part is None else jnp.take_along_axis(part, order, axis)

    nodes = []
    for x, v in zip(operands, found, strict=True):
        if x.varies:
            nodes.append(Node(v, placed(x.live), placed(x.scale), placed(x.mark), True))
            continue
        chosen = decided and x is not operands[0]
        if chosen and not is_discrete(v):
            ctx.flag(KINK, tied, "sort")
        nodes.append(constant(v, mark=tied if chosen and is_discrete(v) else None))
    kept = [() if x.varies else None for x in operands]
    return nodes, (order, tied if decided else None, kept)


def _equal_neighbours(keys: Sequence[Any], axis: int) -> Any:
    """Which entries of sorted keys equal the one before or behind them."""
    n = keys[0].shape[axis]
    step = jnp.ones((), bool)
    for k in keys:
        before = lax.slice_in_dim(k, 0, max(n - 1, 0), axis=axis)
        step = step & (before == lax.slice_in_dim(k, min(1, n), n, axis=axis))
    no = jnp.zeros_like(lax.slice_in_dim(keys[0], 0, min(1, n), axis=axis), dtype=bool)
    behind, ahead = (jnp.concatenate(p, axis) for p in ([no, step], [step, no]))
    return behind | ahead


def _unsort(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    order, tied, varying = residuals
    axis = eqn.params["dimension"]
    back = jnp.argsort(order, axis=axis)
    found: list[Bar | None] = []
    for bar, varies in zip(bars, varying, strict=True):
        if varies is None:
            found.append(None)
            continue
        if tied is not None:
            ctx.reached(bar, tied, KINK, "sort")

        def placed(part: Any) -> Any:
            return None if part is None else jnp.take_along_axis(part, back, axis)

        found.append(Bar(placed(bar.adj), placed(bar.g)))
    return found


for _name in ("reduce_max", "reduce_min"):
    register(_name, Rule(_extreme, _from_extreme))
for _name, _op in _ACCUMULATED.items():
    register(_name, accumulation(by_name(_op)))
register("reduce_prod", Rule(_product, _from_product))
for _name in ("argmax", "argmin"):
    register(_name, Rule(_argument, never))
register("sort", Rule(_sort, _unsort))
