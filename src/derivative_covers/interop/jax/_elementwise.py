"""Elementwise primitives: the rules of the elementals, with ``xp = jax.numpy``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ...elementals import Elemental, by_name
from ...elementals import Rule as Partials
from ...errors import OptionError
from ._context import Context
from ._facts import either, summed, through, times
from ._interpret import bind
from ._names import LINEAR, NAMES, PLAIN, STEEP
from ._node import Bar, Node, constant, differentiable, is_zero
from ._package import core, jax, jnp
from ._places import alike
from ._rule import Rule, recognise, register
from ._split import root, split
from ._status import DOMAIN, KINK

__all__ = ["elemental", "entrywise", "partials_of"]


def _given(op: Elemental, operands: Sequence[Node]) -> list[Any]:
    """Operands as a rule takes them: constants of no dimension as plain numbers.

    A power looks at numbers, and has none to look at if they get a dimension.
    """
    found = [x.value if x.varies else _number(x.value) for x in operands]
    if op.arity == 1 or op.name != "power":
        return found
    return [
        v if isinstance(v, (int, float)) or jnp.ndim(v) else jnp.reshape(v, 1)
        for v in found
    ]


def _number(value: Any) -> Any:
    """A literal as a Python number, which rules may look at; else the value."""
    # Of a traced one, asking for its number costs JAX a search for an error message.
    if isinstance(value, (jax.core.Tracer, int, float)):
        return value
    return jnp.asarray(value) if jnp.ndim(value) else value.item()


def _rule(op: Elemental, operands: Sequence[Node]) -> Partials:
    """The rule in those operands that vary."""
    if op.arity == 1 or all(x.varies for x in operands):
        return op.rule
    return op.rule_first() if operands[0].varies else op.rule_second()


def partials_of(
    op: Elemental, operands: Sequence[Node], value: Any, merged: Any = None
) -> tuple[list[Any], tuple[Any, Any, Any]]:
    """First partials, one an operand, and second partials ``(c11, c12, c22)``.

    Those of a constant operand are plain zeros. First partials are merged into the
    first slot where both are the same entry, as :func:`alike` says; second ones only
    where that is everywhere.
    """
    shape = jnp.shape(value)
    found = tuple(
        p.reshape(shape) if jnp.ndim(p) > len(shape) else p
        for p in _rule(op, operands).partials(jnp, *_given(op, operands), value)
    )
    if op.arity == 1:
        return [found[0]], (found[1], 0.0, 0.0)
    if len(found) == 2:
        d, c = found
        if operands[0].varies:
            return [d, 0.0], (c, 0.0, 0.0)
        return [0.0, d], (0.0, 0.0, c)
    d1, d2, c11, c12, c22 = found
    alike_anyway = isinstance(d1, float) and isinstance(d2, float) and d1 == d2
    if merged is None or alike_anyway:
        return [d1, d2], (c11, c12, c22)
    if merged is True:
        return [d1 + d2, 0.0], (_merged(found[2:]), 0.0, 0.0)
    d1, d2 = jnp.where(merged, d1 + d2, d1), jnp.where(merged, 0, d2)
    return [d1, d2], (c11, c12, c22)


def _merged(c: Sequence[Any]) -> Any:
    """Second partial of two slots that are one."""
    c11, c12, c22 = c
    return c11 + (c12 + c12) + c22


def _faults(op: Elemental, operands: Sequence[Node]) -> tuple[Any, Any]:
    """Where operands are out of the domain and at a kink; None: nowhere."""
    rule, given = _rule(op, operands), _given(op, operands)
    outside = None
    if rule.domain is not None and op.name not in PLAIN:
        outside = jnp.logical_not(_fitting(rule.domain(jnp, *given), operands))
    kink = None if rule.kink is None else _fitting(rule.kink(jnp, *given), operands)
    return outside, kink


def _fitting(mask: Any, operands: Sequence[Node]) -> Any:
    """A mask without the dimension that :func:`_given` may have added."""
    scalar = all(jnp.ndim(x.value) == 0 for x in operands)
    return mask.reshape(()) if scalar and jnp.ndim(mask) else mask


def _apart(eqn: Any, operands: Sequence[Node]) -> tuple[Any, list[Node | None]]:
    """Numbers among the operands, and all others, without what tells them apart.

    So equal operations of equal shapes are traced once.
    """
    found = [None if x.varies else _number(x.value) for x in operands]
    numbers = tuple(v if isinstance(v, (int, float)) else None for v in found)
    kept = [
        replace(x, token=None) if n is None else None
        for x, n in zip(operands, numbers, strict=True)
    ]
    return numbers, kept


def _together(numbers: Any, kept: Sequence[Node | None]) -> list[Node]:
    return [constant(n) if x is None else x for n, x in zip(numbers, kept, strict=True)]


def _split_up(merged: Any) -> tuple[bool | None, Any]:
    """Whether all slots are merged, or a mask of where they are."""
    return (merged, None) if merged is None or merged is True else (None, merged)


def facts(
    op: Elemental, numbers: Any, merged: Any, scaled: bool, kept: Any, v: Any, mask: Any
) -> Node:
    """A node without its value: liveness, scale and mark of an entrywise result."""
    operands = _together(numbers, kept)
    if op.name in STEEP and not scaled and op.arity == 1:
        live, scale = operands[0].live, None
    else:
        d, _ = partials_of(op, operands, v, merged if mask is None else mask)
        live, scale = through(scaled, operands, d)
        if all(is_zero(p) for p in d):
            live = jnp.zeros_like(v, dtype=bool)
        if scaled and scale is None:
            scale = jnp.zeros_like(v)
        live = None if live is None else jnp.broadcast_to(live, v.shape)
        scale = None if scale is None else jnp.broadcast_to(scale, v.shape)
    outside, _ = _faults(op, operands)
    mark = None if outside is None else jnp.broadcast_to(outside, v.shape)
    for x in operands:
        if x.varies and x.mark is not None:
            mark = either(mark, jnp.broadcast_to(x.mark, v.shape))
    return Node(None, live, scale, mark, True)


def swept(
    op: Elemental,
    numbers: Any,
    merged: Any,
    ratio: float | None,
    scaled: bool,
    kept: Any,
    v: Any,
    bar: Bar,
    mask: Any,
) -> tuple[list[Bar], list[Any], dict[int, Any]]:
    """Bars of the operands, their slot weights, and faults by status."""
    operands = _together(numbers, kept)
    ctx = Context(ratio, scaled)
    same = merged if mask is None else mask
    d, c = partials_of(op, operands, v, same)
    outside, kink = _faults(op, operands)
    linear = all(is_zero(e) for e in c)
    if not linear:
        for x in operands:
            if x.varies:
                outside = either(outside, x.mark)
    if outside is not None:
        ctx.reached(bar, outside, DOMAIN, op.name)
    if kink is not None:
        ctx.reached(bar, kink, KINK, op.name)
    rho: Sequence[Any] = [None] * len(operands)
    if bar.adj is not None and not linear:
        weights = _weights(ctx, op.name, bar.adj, c, operands, same)
        rho = [r if x.varies else None for x, r in zip(operands, weights, strict=False)]
    found = [
        Bar(times(p, bar.adj), times(p, bar.g, absolute=True)) if x.varies else Bar()
        for x, p in zip(operands, d, strict=True)
    ]
    return found, list(rho), {mark.code: mark.where for mark in ctx.marks}


_ONCE = ("op", "numbers", "merged", "scaled")
_facts_once = jax.jit(facts, static_argnames=_ONCE)
_swept_once = jax.jit(swept, static_argnames=(*_ONCE, "ratio"))


def entrywise(op: Elemental, value: Callable[..., Any] | None = None) -> Rule:
    """The rule of a primitive that is an elemental; ``value(eqn, values)`` binds it."""

    def forward(
        ctx: Context, eqn: Any, operands: Sequence[Node]
    ) -> tuple[list[Node], Any]:
        values = [x.value for x in operands]
        v = bind(eqn, values)[0] if value is None else value(*values)
        if not differentiable(v):
            return [Node(v)], None
        numbers, kept = _apart(eqn, operands)
        merged, mask = _split_up(alike(ctx, operands))
        find = facts if op.name in LINEAR else _facts_once
        out = find(op, numbers, merged, ctx.scaled, kept, v, mask)
        # A loop would make arrays of literals, and rules like to see numbers.
        kept = [
            None if isinstance(atom, core.Literal) else x
            for atom, x in zip(eqn.invars, operands, strict=True)
        ]
        return [replace(out, value=v)], (kept, v)

    def reverse(
        ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
    ) -> list[Bar | None]:
        kept, v = residuals
        operands = [
            constant(atom.val) if x is None else x
            for atom, x in zip(eqn.invars, kept, strict=True)
        ]
        numbers, kept = _apart(eqn, operands)
        merged, mask = _split_up(alike(ctx, operands))
        back = swept if op.name in LINEAR else _swept_once
        options = (op, numbers, merged, ctx.ratio, ctx.scaled)
        found, rho, faults = back(*options, kept, v, bars[0], mask)
        for code, where in faults.items():
            ctx.flag(code, where, op.name)
        if any(r is not None for r in rho):
            rho = ctx.mine(tuple(rho))
        back_to: list[Bar | None] = []
        for x, bar, r in zip(operands, found, rho, strict=True):
            if not x.varies or (bar == Bar() and r is None):
                back_to.append(None)
                continue
            g = r if bar.g is None else bar.g if r is None else bar.g + r
            back_to.append(Bar(_fitted(bar.adj, x.value), _fitted(g, x.value)))
        return back_to

    return Rule(forward, reverse)


def _fitted(part: Any, value: Any) -> Any:
    """A cotangent in the shape and type of an operand; functions promote theirs."""
    part = summed(part, jnp.shape(value))
    return (
        part if part is None or part.dtype == value.dtype else part.astype(value.dtype)
    )


def _weights(
    ctx: Context,
    name: str,
    adj: Any,
    c: tuple[Any, ...],
    operands: Sequence[Node],
    merged: Any,
) -> tuple[Any, ...]:
    """Slot weights of the entries."""
    if is_zero(c[1]):
        w = jnp.abs(adj)
        rho: tuple[Any, ...] = (root(w, c[0]), root(w, c[2]))
    else:
        x, y = operands
        apart = adj if merged is None else jnp.where(merged, 0, adj)
        rho = split(ctx, name, apart, (c[0], c[1], c[2]), x, y)
        if merged is not None:
            one = root(jnp.abs(adj), _merged(c))
            rho = jnp.where(merged, one, rho[0]), rho[1]
    return rho


def elemental(
    name: str,
    partials: Callable[..., tuple[Any, ...]],
    *,
    domain: Callable[..., Any] | None = None,
    kink: Callable[..., Any] | None = None,
    arity: int = 1,
) -> Rule:
    """A rule for an elementwise primitive or function, from its derivatives.

    Args:
        name: For messages.
        partials: ``partials(xp, x, v)`` gives the first and second derivative
            ``(d, c)``, given operand and value; ``partials(xp, x, y, v)`` of two
            operands gives ``(d1, d2, c11, c12, c22)``. ``xp`` is ``jax.numpy``.
        domain: ``domain(xp, *operands)``: true inside the open set where it is twice
            continuously differentiable; None: everywhere.
        kink: ``kink(xp, *operands)``: true exactly at kinks, jumps and ties.
        arity: Number of operands, 1 or 2.

    Returns:
        The rule, for :func:`register`.

    Raises:
        OptionError: If the arity is neither 1 nor 2.

    Guarantee:
        None for the derivatives: covers are right only if they are.

    Cost:
        That of a built-in elemental.

    Source:
        As :func:`derivative_covers.extend.elemental`.

    Example:
        >>> rule = elemental("bend", lambda xp, x, v: (3 * x**2, 6 * x))
        >>> type(rule).__name__
        'Rule'
    """
    if arity not in {1, 2}:
        msg = f"elemental {name!r} has arity {arity!r}; 1 or 2 is needed."
        raise OptionError(msg)

    return entrywise(
        Elemental(name, arity, _by_primitive, Partials(partials, domain, kink), "")
    )


def _by_primitive(*operands: Any) -> Any:
    """Stands for the value of an elemental that a primitive evaluates; never called."""
    msg = "a primitive evaluates itself; this rule states its derivatives alone."
    raise AssertionError(msg)


def _of_power(exponent: float) -> Rule:
    """The power with a constant exponent."""
    power = by_name("power").rule_first()
    n = float(exponent)
    everywhere = n >= 0 and n == int(n)

    def partials(xp: Any, x: Any, v: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = power.partials(xp, x, n, v)
        return found

    def domain(xp: Any, x: Any) -> Any:
        assert power.domain is not None
        return power.domain(xp, x, n)

    return elemental("power", partials, domain=None if everywhere else domain)


def _integer_power() -> Rule:
    of = cache(_of_power)

    def forward(ctx: Context, eqn: Any, operands: Sequence[Node]) -> Any:
        return of(eqn.params["y"]).forward(ctx, eqn, operands)

    def reverse(ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]) -> Any:
        return of(eqn.params["y"]).reverse(ctx, eqn, residuals, bars)

    return Rule(forward, reverse)


for _primitive, _name in NAMES.items():
    register(_primitive, entrywise(by_name(_name)))
register("integer_pow", _integer_power())
register("rsqrt", _of_power(-0.5))
for _name in ("hypot", "logaddexp", "logaddexp2", "logit", "sinc", "xlog1py", "xlogy"):
    recognise(_name, entrywise(by_name(_name)))
