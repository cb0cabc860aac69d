"""Entries that are put in the place of others, and the largest entries of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ._context import Context
from ._interpret import bind
from ._node import Bar, Node, constant
from ._package import jax, jnp, lax
from ._rewritten import rewritten
from ._rule import Rule, refuse, register
from ._status import KINK

__all__: list[str] = []


# -- what stays as it is ---------------------------------------------------------------


def _kept(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    """One result for each operand, the same."""
    values = bind(eqn, [x.value for x in operands])
    return [replace(x, value=v) for x, v in zip(operands, values, strict=True)], ()


def _returned(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> Sequence[Bar]:
    return bars


# -- scatter ---------------------------------------------------------------------------


def _placed(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    """Updates in the place of entries: a choice between both by where they land."""
    x, indices, y = operands
    v = bind(eqn, [x.value, indices.value, y.value])[0]
    p = eqn.params
    number = jnp.arange(1, y.value.size + 1, dtype=jnp.int32)
    # Which update an entry holds in the end, 0 for none; of several, one is the last.
    holds = lax.scatter(
        jnp.zeros_like(v, dtype=jnp.int32),
        indices.value,
        number.reshape(y.value.shape),
        dimension_numbers=p["dimension_numbers"],
        indices_are_sorted=p["indices_are_sorted"],
        unique_indices=p["unique_indices"],
        mode=p["mode"],
    )

    def chosen(old: Any, new: Any) -> Any:
        spread = jnp.ravel(new)[jnp.maximum(holds - 1, 0)] if new.size else old
        return jnp.where(holds > 0, spread, old)

    def fact(of: Callable[[Node], Any], default: Any) -> Any:
        old, new = of(x), of(y)
        if old is None and new is None:
            return None
        old = jnp.full_like(x.value, default(x), dtype=bool) if old is None else old
        return chosen(
            old, jnp.full_like(y.value, default(y), dtype=bool) if new is None else new
        )

    live = fact(
        lambda n: n.live if n.varies else jnp.zeros_like(n.value, dtype=bool),
        lambda n: True,
    )
    mark = fact(lambda n: n.mark if n.varies else None, lambda n: False)
    scale = None
    if ctx.scaled:
        scale = chosen(
            *(n.scale if n.varies else jnp.zeros_like(n.value) for n in (x, y))
        )
    varies = [() if n.varies else None for n in (x, y)]
    return [Node(v, live, scale, mark, True)], (holds, varies)


def _unplaced(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    holds, (old, new) = residuals
    (bar,) = bars
    shape = eqn.invars[2].aval.shape

    def kept(part: Any) -> Any:
        return None if part is None else jnp.where(holds > 0, 0, part)

    def moved(part: Any) -> Any:
        if part is None:
            return None
        n = eqn.invars[2].aval.size
        found = jnp.zeros(n + 1, part.dtype).at[jnp.ravel(holds)].add(jnp.ravel(part))
        return found[1:].reshape(shape)

    return [
        None if old is None else Bar(kept(bar.adj), kept(bar.g)),
        None,
        None if new is None else Bar(moved(bar.adj), moved(bar.g)),
    ]


def _subtracting(eqn: Any) -> Callable[..., list[Any]]:
    p = eqn.params

    def f(x: Any, indices: Any, y: Any) -> list[Any]:
        found = lax.scatter_add(
            x,
            indices,
            -y,
            dimension_numbers=p["dimension_numbers"],
            indices_are_sorted=p["indices_are_sorted"],
            unique_indices=p["unique_indices"],
            mode=p["mode"],
        )
        return [found]

    return f


# -- the largest entries ---------------------------------------------------------------


def _largest(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    (x,) = operands
    axis = eqn.params.get("axis", -1)
    v, order = bind(eqn, [x.value])
    count = v.shape[axis]

    def taken(part: Any) -> Any:
        return None if part is None else jnp.take_along_axis(part, order, axis)

    out = Node(v, taken(x.live), taken(x.scale), taken(x.mark), True)
    tied = _tied(x.value, v, axis, count)
    return [out, constant(order, mark=tied)], (order, tied)


def _tied(x: Any, v: Any, axis: int, count: int) -> Any:
    """Which of the largest entries equal another entry."""
    if not count:
        return jnp.zeros_like(v, dtype=bool)
    last = lax.slice_in_dim(v, count - 1, count, axis=axis)
    every, mine = (jnp.sum(a == last, axis=axis, keepdims=True) for a in (x, v))
    left_out = (v == last) & (every > mine)
    before, after = (lax.slice_in_dim(v, k, count - 1 + k, axis=axis) for k in (0, 1))
    step, no = before == after, jnp.zeros_like(last, dtype=bool)
    behind = lax.concatenate([no, step], axis % v.ndim)
    ahead = lax.concatenate([step, no], axis % v.ndim)
    return left_out | behind | ahead


def _from_largest(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    order, tied = residuals
    bar = bars[0]
    axis = eqn.params.get("axis", -1)
    aval = eqn.invars[0].aval
    ctx.reached(bar, tied, KINK, eqn.primitive.name)

    def taken(x: Any) -> Any:
        return jnp.take_along_axis(x, order, axis)

    def moved(part: Any) -> Any:
        if part is None:
            return None
        like = jax.ShapeDtypeStruct(aval.shape, aval.dtype)
        return jax.linear_transpose(taken, like)(part)[0]

    return [Bar(moved(bar.adj), moved(bar.g))]


for _name in ("device_put", "optimization_barrier"):
    register(_name, Rule(_kept, _returned, marks=True))
register("scatter", Rule(_placed, _unplaced))
register("scatter-sub", rewritten(_subtracting))
register("scatter_sub", rewritten(_subtracting))
register("top_k", Rule(_largest, _from_largest))
for _name, _method in (("mul", "multiply"), ("min", "min"), ("max", "max")):
    for _joint in "-_":
        refuse(
            f"scatter{_joint}{_name}",
            f"x.at[i].{_method}(y) may meet an entry many times; gather the entries, "
            "combine them with y and put them back with x.at[i].set",
        )
