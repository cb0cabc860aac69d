"""Rules of primitives, and their table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InputTypeError, UnsupportedOperationError
from ._context import Context
from ._node import Bar, Node

__all__ = ["Rule", "lookup", "never", "recognise", "refuse", "register", "takes_marks"]


@dataclass(frozen=True)
class Rule:
    """How the covers pass through one primitive.

    Attributes:
        forward: ``forward(ctx, eqn, operands) -> (results, residuals)``. ``eqn`` is the
            equation of the jaxpr (``primitive``, ``params``, ``outvars``), ``operands``
            a :class:`Node` for each of its inputs, of which at least one varies. Results
            are nodes, one for each output, with all facts that a node states.
            Residuals are any pytree of arrays and nodes: all that the reverse needs.
        reverse: ``reverse(ctx, eqn, residuals, bars) -> bars``. One :class:`Bar` for
            each output comes, at least one of which is not ``Bar()``, an exact zero.
            One for each operand goes; None for exact zeros and constants. ``adj``
            follows the partials, ``g`` their absolute values, and the primitive's own
            atoms are added to ``g`` (``ctx.mine`` selects those of the group in work).
            A zero times any partial is zero. Where ``adj`` of a bar is None, it has no
            atoms.
        marks: Whether ``forward`` also takes operands none of which varies, for the
            marks of their booleans.
    """

    forward: Callable[[Context, Any, Sequence[Node]], tuple[list[Node], Any]]
    reverse: Callable[[Context, Any, Any, Sequence[Bar]], Sequence[Bar | None]]
    marks: bool = False


def never(ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]) -> list[None]:
    """The reverse of a rule of which no result varies: nothing comes back."""
    raise AssertionError


_RULES: dict[str, Rule] = {}
_FUNCTIONS: dict[str, Rule] = {}
_REFUSED: dict[str, str] = {}
_COMPLEX = (
    "complex numbers have no rules; compute real and imaginary parts by real operations, "
    "such as products with matrices of cosines and sines in place of a Fourier transform"
)
# Calls that keep the name of a user's function, which may have a rule of its own.
_CALLS = {"custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr"}


def register(primitive: Any, rule: Rule, *, function: bool = False) -> Rule:
    """Give a primitive, or a function with a custom derivative, a rule.

    Args:
        primitive: A JAX primitive or its name; with ``function``, the name of a
            function made by ``jax.custom_jvp`` or ``jax.custom_vjp``.
        rule: Its :class:`Rule`. It replaces one that is there.
        function: Whether a function is meant. It is covered through its primal
            definition unless it has a rule.

    Returns:
        The rule itself.

    Raises:
        InputTypeError: If ``rule`` is no rule, or the primitive no name.

    Guarantee:
        None for the rule: covers are right only if it is.

    Cost:
        None.

    Source:
        The interface of :class:`Rule` is the package's own.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from derivative_covers.interop.jax import cover_hessian, register, elemental
        >>> @jax.custom_jvp
        ... def bell(x):
        ...     return jnp.exp(-x * x)
        >>> bell.defjvps(lambda t, v, x: -2 * x * v * t)
        >>> def partials(xp, x, v):
        ...     return -2 * x * v, (4 * x * x - 2) * v
        >>> _ = register("bell", elemental("bell", partials), function=True)
        >>> h = cover_hessian(lambda x: bell(x).sum())(jnp.zeros(2)).h
        >>> [round(float(part), 3) for part in h]
        [1.414, 1.414]
    """
    name = primitive if isinstance(primitive, str) else getattr(primitive, "name", None)
    if not isinstance(name, str):
        msg = f"register() got {primitive!r}; give a JAX primitive or its name."
        raise InputTypeError(msg)
    if type(rule) is not Rule:
        msg = f"register() got {type(rule).__name__}; give a Rule(forward, reverse)."
        raise InputTypeError(msg)
    (_FUNCTIONS if function else _RULES)[name] = rule
    return rule


def refuse(name: str, reason: str) -> None:
    """Say why a primitive has no rule."""
    _REFUSED[name] = reason


# Functions of JAX that are elementals, by name.
_OWN: dict[str, Rule] = {}
_BODIES = {**_CALLS, "jit": "jaxpr", "pjit": "jaxpr"}


def recognise(function: str, rule: Rule) -> None:
    """Give a function of JAX's own a rule in place of what it calls."""
    _OWN[function] = rule


def _of_function(eqn: Any) -> Rule | None:
    """The rule of the function that a call runs, if that has one of its own."""
    body = eqn.params.get(_BODIES[eqn.primitive.name])
    info = getattr(getattr(body, "jaxpr", body), "debug_info", None)
    name = str(getattr(info, "func_name", "")).rpartition(".")[2]
    if eqn.primitive.name in _CALLS and name in _FUNCTIONS:
        return _FUNCTIONS[name]
    # A user's function may have the same name.
    file = str(getattr(info, "func_src_info", "")).replace("\\", "/")
    return _OWN.get(name) if "/jax/_src/" in file else None


def _is_complex(eqn: Any) -> bool:
    """Whether an operation, calls and loops aside, makes complex numbers of real ones."""
    if any("jaxpr" in key or key == "branches" for key in eqn.params):
        return False
    return any(var.aval.dtype.kind == "c" for var in eqn.outvars)


def takes_marks(eqn: Any) -> bool:
    """Whether the rule of an equation follows the marks of booleans."""
    rule = _RULES.get(eqn.primitive.name)
    return rule is not None and rule.marks


def lookup(eqn: Any) -> Rule:
    """The rule of an equation.

    Raises:
        UnsupportedOperationError: If there is none.
    """
    name = eqn.primitive.name
    if name in _BODIES:
        rule = _of_function(eqn)
        if rule is not None:
            return rule
    rule = _RULES.get(name)
    complex_numbers = _is_complex(eqn)
    if rule is None or complex_numbers:
        reason = _COMPLEX if complex_numbers else _REFUSED.get(name, "it has no rule")
        msg = (
            f"the JAX primitive {name!r} depends on the differentiated inputs, and "
            f"{reason}. Write the function with other operations, cut the dependence "
            "with jax.lax.stop_gradient, or give it a rule: derivative_covers.interop."
            f"jax.register({name!r}, Rule(forward, reverse))."
        )
        raise UnsupportedOperationError(msg)
    return rule
