"""Comparisons, logic and selections: what they choose is a constant, but for ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ._context import Context
from ._facts import either
from ._interpret import bind, evaluate
from ._node import Bar, Node, constant, is_discrete, where
from ._package import jnp, lax
from ._rule import Rule, never, register
from ._status import KINK

__all__: list[str] = []


def _ordered(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    """An order comparison: equal operands are a tie."""
    x, y = operands
    (out,) = evaluate(eqn, [x.value, y.value])
    if x is y or (x.varies and x.token is not None and x.token == y.token):
        return [out], None  # of a value with itself
    return [constant(out.value, mark=x.value == y.value)], None


def _equal(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    """A test for equality: with a constant it is deliberate."""
    x, y = operands
    if x.varies and y.varies:
        return _ordered(ctx, eqn, operands)
    return evaluate(eqn, [x.value, y.value]), None


def _logic(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    (out,) = evaluate(eqn, [x.value for x in operands])
    mark = None
    for x in operands:
        mark = either(mark, x.mark)
    if mark is None:
        return [out], None
    if "axes" in eqn.params:
        mark = jnp.any(mark, axis=eqn.params["axes"])
    return [constant(out.value, mark=jnp.broadcast_to(mark, out.value.shape))], None


def _plain(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    """Piecewise constant, and no tie is a surprise: tests for NaN and infinity."""
    return evaluate(eqn, [x.value for x in operands]), None


def _select(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    which, *cases = operands
    if not any(x.varies for x in cases):
        values = [x.value for x in cases]
        (out,) = evaluate(eqn, [which.value, *values])
        masks = [which.mark, *(x.mark for x in cases)]
        if all(m is None for m in masks):
            return [out], None
        if is_discrete(out.value):
            no = jnp.zeros_like(out.value, dtype=bool)
            marks = [no if x.mark is None else x.mark for x in cases]
            mark = either(lax.select_n(which.value, *marks), which.mark)
            return [constant(out.value, mark=mark)], None
        for m in masks:
            if m is not None:
                ctx.flag(KINK, m, "select")
        return [out], None
    out = bind(eqn, [x.value for x in operands])[0]

    def chosen(parts: list[Any]) -> Any:
        return lax.select_n(which.value, *parts)

    live = mark = scale = None
    if any(not x.varies or x.live is not None for x in cases):
        live = chosen(
            [
                jnp.full_like(out, x.varies, dtype=bool)
                if x.live is None or not x.varies
                else x.live
                for x in cases
            ]
        )
    if any(x.varies and x.mark is not None for x in cases):
        no = jnp.zeros_like(out, dtype=bool)
        mark = chosen(
            [x.mark if x.varies and x.mark is not None else no for x in cases]
        )
    if ctx.scaled:
        zero = jnp.zeros_like(out)
        scale = chosen([x.scale if x.varies else zero for x in cases])
    varying = [() if x.varies else None for x in cases]
    return [Node(out, live, scale, mark, True)], (which, varying)


def _selected(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    which, varying = residuals
    (bar,) = bars
    if which.mark is not None:
        shape = (bar.adj if bar.adj is not None else bar.g).shape
        ctx.reached(bar, jnp.broadcast_to(which.mark, shape), KINK, "select")
    found: list[Bar | None] = [None]
    boolean = which.value.dtype == bool
    for k, varies in enumerate(varying):
        if varies is None:
            found.append(None)
            continue
        if boolean:
            here = which.value if k else jnp.logical_not(which.value)
        else:
            here = which.value == k
        found.append(Bar(_where(here, bar.adj), _where(here, bar.g)))
    return found


def _where(here: Any, part: Any) -> Any:
    return None if part is None else where(here, part)


def _clamp(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    low, x, high = operands
    v = bind(eqn, [low.value, x.value, high.value])[0]
    below, above = x.value < low.value, x.value > high.value
    which = jnp.where(below, 0, jnp.where(above, 2, 1)).astype(jnp.int32)
    tie = (x.value == low.value) | (x.value == high.value)
    chosen = Node(which, mark=tie)
    cases = [_spread(part, v.shape) for part in (low, x, high)]
    return _select(ctx, _Chosen(), [chosen, *cases])


class _Chosen:
    """The equation of a selection among the three operands of a clamp."""

    class primitive:
        """As much of a primitive as is read."""

        name = "clamp"
        multiple_results = False

        @staticmethod
        def get_bind_params(params: Any) -> dict[str, Any]:
            """No parameters."""
            return {}

        @staticmethod
        def bind(*values: Any) -> Any:
            """The selection."""
            return lax.select_n(*values)

    params: ClassVar[dict[str, Any]] = {}


def _spread(x: Node, shape: Any) -> Node:
    """A scalar bound in the shape of the result."""

    def wide(part: Any) -> Any:
        return None if part is None else jnp.broadcast_to(part, shape)

    return Node(wide(x.value), wide(x.live), wide(x.scale), wide(x.mark), x.varies)


def _clamped(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    return _selected(ctx, eqn, residuals, bars)[1:]


for _name in ("lt", "le", "gt", "ge", "lt_to", "le_to"):
    register(_name, Rule(_ordered, never))
for _name in ("eq", "ne"):
    register(_name, Rule(_equal, never))
for _name in ("and", "or", "not", "xor", "reduce_and", "reduce_or"):
    register(_name, Rule(_logic, never, marks=True))
register("is_finite", Rule(_plain, never))
register("select_n", Rule(_select, _selected, marks=True))
register("clamp", Rule(_clamp, _clamped))
