"""The two sweeps over a jaxpr: values and facts forward, cotangents in reverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from ._context import Context
from ._node import Bar, Node, add_bars, constant, is_discrete
from ._package import core, jnp
from ._rule import lookup, takes_marks
from ._status import KINK

__all__ = ["forward", "reverse"]

# Of whole numbers that were chosen, such as the place of the largest entry.
_ENTRYWISE = frozenset(
    [
        "add",
        "clamp",
        "eq",
        "ge",
        "gt",
        "le",
        "lt",
        "max",
        "min",
        "mul",
        "ne",
        "neg",
        "rem",
        "sign",
        "sub",
    ]
)


def forward(
    ctx: Context, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Node]
) -> tuple[list[Node], list[Any]]:
    """Evaluate a jaxpr on nodes.

    Args:
        ctx: The context of the sweep.
        jaxpr: An open jaxpr, such as ``closed.jaxpr``.
        consts: Its constants, such as ``closed.consts``, arrays or nodes.
        inputs: A node for each input.

    Returns:
        ``(results, residuals)``: a node for each output, and one pytree for each
        equation: None where no differentiated input enters, which is then evaluated as
        it stands.

    Raises:
        UnsupportedOperationError: If a primitive has no rule.
    """
    env: dict[Any, Node] = dict(zip(jaxpr.invars, inputs, strict=True))

    def read(atom: Any) -> Node:
        return constant(atom.val) if isinstance(atom, core.Literal) else env[atom]

    for var, given in zip(jaxpr.constvars, consts, strict=True):
        env[var] = given if isinstance(given, Node) else constant(given)
    residuals: list[Any] = []
    for eqn in jaxpr.eqns:
        operands = [read(atom) for atom in eqn.invars]
        results, kept = _step(ctx, eqn, operands)
        residuals.append(kept)
        env.update(zip(eqn.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars], residuals


def _step(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    name, follows = eqn.primitive.name, takes_marks(eqn)
    varies = any(x.varies for x in operands)
    ties = [x.mark for x in operands if not x.varies and x.mark is not None]
    if varies or (ties and follows):
        for tie in ties if not follows else ():
            ctx.flag(KINK, tie, name)
        results, kept = lookup(eqn).forward(ctx, eqn, operands)
        if any(y.varies for y in results):
            return [_named(ctx, y) for y in results], () if kept is None else kept
        return results, None
    results = evaluate(eqn, [x.value for x in operands])
    discrete = len(results) == 1 and is_discrete(results[0].value)
    if discrete:
        # So that entries taken twice by the same index are known to be the same.
        results = [replace(results[0], token=ctx.token_of(eqn, operands))]
    if ties and discrete and name in _ENTRYWISE:
        tie = jnp.broadcast_to(reduce(jnp.logical_or, ties), results[0].value.shape)
        return [replace(results[0], mark=tie)], None
    for tie in ties:  # the choice of a tie goes where nobody can follow it
        ctx.flag(KINK, tie, name)
    return results, None


def _named(ctx: Context, node: Node) -> Node:
    """The node with a token of its own, if it varies and has none."""
    if node.varies and node.token is None:
        return replace(node, token=ctx.fresh())
    return node


def evaluate(eqn: Any, values: Sequence[Any]) -> list[Node]:
    """The results of an equation as constants."""
    return [constant(v) for v in bind(eqn, values)]


def bind(eqn: Any, values: Sequence[Any]) -> list[Any]:
    """Apply an equation's primitive to values; a list also of one result."""
    given = eqn.primitive.get_bind_params(eqn.params)
    # Older versions of JAX keep functions apart.
    functions, params = given if isinstance(given, tuple) else ((), given)
    found = eqn.primitive.bind(*functions, *values, **params)
    return list(found) if eqn.primitive.multiple_results else [found]


def reverse(
    ctx: Context, jaxpr: Any, residuals: Sequence[Any], bars: Sequence[Bar | None]
) -> list[Bar | None]:
    """Sweep cotangents of a jaxpr's outputs back to its inputs.

    Args:
        ctx: The context of the sweep.
        jaxpr: The jaxpr that :func:`forward` evaluated.
        residuals: What it gave.
        bars: A cotangent for each output; None is zero.

    Returns:
        A cotangent for each input, then for each constant; None is zero.
    """
    env: dict[Any, Bar | None] = {}

    def add(atom: Any, bar: Bar | None) -> None:
        if bar is None or isinstance(atom, core.Literal):
            return
        env[atom] = add_bars(env.get(atom), bar)

    for atom, bar in zip(jaxpr.outvars, bars, strict=True):
        add(atom, bar)
    for eqn, kept in zip(reversed(jaxpr.eqns), reversed(residuals), strict=True):
        if kept is None:
            continue
        found = [env.pop(var, None) for var in eqn.outvars]
        given = [bar or Bar() for bar in found]
        if all(bar.adj is None and bar.g is None for bar in given):
            continue
        for atom, bar in zip(
            eqn.invars, lookup(eqn).reverse(ctx, eqn, kept, given), strict=True
        ):
            add(atom, bar)
    return [env.get(var) for var in (*jaxpr.invars, *jaxpr.constvars)]
