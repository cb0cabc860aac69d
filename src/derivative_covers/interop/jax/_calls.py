"""Calls of functions: the covers pass through their primal definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._context import Context
from ._interpret import evaluate, forward, reverse
from ._node import Bar, Node, constant
from ._package import lax
from ._rule import Rule, never, register

__all__ = ["call"]

BODIES = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
}


def _body(eqn: Any, key: str) -> tuple[Any, Sequence[Any]]:
    """The jaxpr that is called, open, and its constants."""
    body = eqn.params[key]
    return (body.jaxpr, body.consts) if hasattr(body, "jaxpr") else (body, ())


def call(key: str) -> Rule:
    """The rule of a primitive that runs the jaxpr among its parameters under ``key``."""

    def through(
        ctx: Context, eqn: Any, operands: Sequence[Node]
    ) -> tuple[list[Node], Any]:
        jaxpr, consts = _body(eqn, key)
        return forward(ctx, jaxpr, consts, operands)

    def back(
        ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
    ) -> Sequence[Bar | None]:
        jaxpr, _ = _body(eqn, key)
        return reverse(ctx, jaxpr, residuals, bars)[: len(jaxpr.invars)]

    return Rule(through, back, marks=True)


def _stopped(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    return [constant(lax.stop_gradient(operands[0].value))], None


def _shown(ctx: Context, eqn: Any, operands: Sequence[Node]) -> tuple[list[Node], Any]:
    """What looks at values and returns nothing, such as ``jax.debug.print``."""
    return evaluate(eqn, [x.value for x in operands]), None


for _name, _key in BODIES.items():
    register(_name, call(_key))
register("stop_gradient", Rule(_stopped, never))
for _name in ("debug_callback", "debug_print"):
    register(_name, Rule(_shown, never))
