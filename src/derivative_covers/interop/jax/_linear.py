"""Linear primitives that select, copy and add up: they transpose themselves.

Their coefficients are 0 and 1, so that the absolute value of the operation is the operation
itself, for values, declared scales and cotangents alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ._context import Context
from ._facts import follow
from ._interpret import bind, evaluate
from ._node import Bar, Node, constant, differentiable, is_discrete, is_sharded, some
from ._package import jax, jnp, lax
from ._places import remember
from ._rule import Rule, register
from ._status import KINK

__all__ = ["selection", "transposed"]

# Those of which every result entry is one operand entry; equal ones are merged.
PLACING = [
    "broadcast_in_dim",
    "copy",
    "copy_p",
    "dynamic_slice",
    "expand_dims",
    "gather",
    "layout_constraint",
    "name",
    "pbroadcast",
    "pvary",
    "reshape",
    "reshard",
    "rev",
    "sharding_constraint",
    "slice",
    "split",
    "squeeze",
    "tile",
    "transpose",
    "unstack",
    "reduce_precision",
    "convert_element_type",
]
ADDING = [
    "concatenate",
    "cumsum",
    "pad",
    "psum",
    "psum_invariant",
    "reduce_sum",
    "reduce_window_sum",
    "scatter-add",
    "stack",
    "dynamic_update_slice",
]

# Sums of many short rows are slow in XLA on CPUs, and their products with ones are not.
_SHORT = 32


def transposed(
    eqn: Any, values: Sequence[Any], at: Sequence[int], bars: Sequence[Any]
) -> Any:
    """The transpose of an equation, linear in the operands ``at``, at cotangents.

    Values at those places are not read. A cotangent of None is zero; all None give None
    for every operand.
    """
    if all(bar is None for bar in bars):
        return [None] * len(at)

    full = [
        jnp.zeros(var.aval.shape, var.aval.dtype) if bar is None else bar
        for bar, var in zip(bars, eqn.outvars, strict=True)
    ]
    # Types as they were traced: with shardings, and axes of devices that they vary over.
    like = tuple(eqn.invars[k].aval for k in at)
    rest = [None if k in at else v for k, v in enumerate(values)]
    what = _Transpose(eqn.primitive, eqn.params, tuple(at), like)
    try:
        hash(what)
    except TypeError:
        return what(rest, full)
    return _once(what, rest, full)


@dataclass(frozen=True)
class _Transpose:
    """The transpose of a primitive with its parameters, for operands of some types."""

    primitive: Any
    params: Any
    at: tuple[int, ...]
    like: tuple[Any, ...]

    def __hash__(self) -> int:
        items = tuple(sorted(self.params.items()))
        return hash((self.primitive, items, self.at, self.like))

    def __call__(self, rest: Sequence[Any], bars: Sequence[Any]) -> Any:
        def apply(*parts: Any) -> Any:
            full = list(rest)
            for k, part in zip(self.at, parts, strict=True):
                full[k] = part
            return bind(self, full)

        return jax.linear_transpose(apply, *self.like)(list(bars))


# Equal operations of equal shapes are transposed once.
_once = jax.jit(_Transpose.__call__, static_argnums=0)


def selection(placing: bool) -> Rule:
    """The rule of a linear primitive whose coefficients are 0 and 1.

    Args:
        placing: Whether its results are the operand's entries in some order.
    """

    def forward(
        ctx: Context, eqn: Any, operands: Sequence[Node]
    ) -> tuple[list[Node], Any]:
        values = [x.value for x in operands]
        if not any(x.varies for x in operands):
            return _marked(ctx, eqn, operands), None
        found = _applied(eqn, values)
        if not differentiable(found[0]):
            return [_truncated(operands[0], v) for v in found], None
        token = ctx.token_of(eqn, operands) if placing else None
        at = [k for k, x in enumerate(operands) if x.varies]
        rest = [
            jnp.zeros_like(v) if differentiable(v) and k not in at else v
            for k, v in enumerate(values)
        ]

        def part(n: int) -> Callable[[list[Any]], Any]:
            def apply(parts: list[Any]) -> Any:
                full = list(rest)
                for k, given in zip(at, parts, strict=True):
                    full[k] = given
                return bind(eqn, full)[n]

            return apply

        results = []
        for n, v in enumerate(found):
            own = None if token is None else ctx.token((token, n))
            if own is not None and len(operands) == 1:
                remember(ctx, own, operands[0], eqn)
            results.append(follow(ctx, operands, part(n), v, own))
        values = [None if x.varies else x.value for x in operands]
        return results, (values, [None if x.varies else x.mark for x in operands])

    def reverse(
        ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
    ) -> list[Bar | None]:
        values, ties = residuals
        for tie in ties:
            for bar in bars if tie is not None else ():
                ctx.reached(bar, _placed(eqn, tie), KINK, eqn.primitive.name)
        at = [k for k, v in enumerate(values) if v is None]
        adj = transposed(eqn, values, at, [bar.adj for bar in bars])
        g = transposed(eqn, values, at, [bar.g for bar in bars])
        back: list[Bar | None] = [None] * len(values)
        for k, one, other in zip(at, adj, g, strict=True):
            back[k] = Bar(one, other)
        return back

    return Rule(forward, reverse, marks=placing)


def _applied(eqn: Any, values: Sequence[Any]) -> list[Any]:
    """The results of the primitive."""
    if eqn.primitive.name != "reduce_sum":
        return bind(eqn, values)
    (x,), axes = values, eqn.params["axes"]
    shape = [x.shape[a] for a in axes]
    if prod(shape) > _SHORT or not differentiable(x) or is_sharded(x):
        return bind(eqn, values)
    contracted = (axes, range(len(axes))), ((), ())
    ones = np.ones(shape, x.dtype)
    return [lax.dot_general(x, ones, contracted, precision=lax.Precision.HIGHEST)]


def _marked(ctx: Context, eqn: Any, operands: Sequence[Node]) -> list[Node]:
    """Constants, with the marks of booleans and integers moved along."""
    out = evaluate(eqn, [x.value for x in operands])
    first, *places = operands
    discrete = is_discrete(out[0].value)
    for x in places if discrete else operands:
        if x.mark is not None:
            ctx.flag(KINK, x.mark, eqn.primitive.name)
    if first.mark is None or not discrete:
        return out
    marks = bind(eqn, [first.mark, *(x.value for x in places)])
    pairs = zip(out, marks, strict=True)
    return [constant(x.value, mark=mark.astype(bool)) for x, mark in pairs]


def _placed(eqn: Any, tie: Any) -> Any:
    """Which results lie at places that were chosen at a tie."""
    if eqn.primitive.name != "gather":
        return some(tie)
    offsets = eqn.params["dimension_numbers"].offset_dims
    return lax.expand_dims(jnp.any(tie, axis=-1), offsets)


def _truncated(x: Node, v: Any) -> Node:
    """An integer part: a jump wherever the number is whole, but for zero."""
    if v.dtype == bool:
        return constant(v)
    jump = (x.value == jnp.trunc(x.value)) & (x.value != 0)
    return constant(v, mark=jump if x.live is None else jump & x.live)


for _name in PLACING:
    register(_name, selection(True))
for _name in ADDING:
    register(_name, selection(False))
