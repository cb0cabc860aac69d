"""Rules of primitives that are rewritten as programs of other ones.

A program has the first and second derivatives of its primitive at the point, not its
values, which are the primitive's own. So it may hold what the primitive found as constants
and correct it to second order, as the NumPy package does. Two primitives of the package's
own serve such corrections: products and squares of deviations from the values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ...elementals import Elemental
from ...elementals import Rule as Partials
from ...errors import UnsupportedOperationError
from ._bilinear import _of_dot, _weights
from ._context import Context
from ._elementwise import entrywise
from ._interpret import bind, forward, reverse
from ._node import Bar, Node, constant, differentiable
from ._package import core, jax, jnp, lax
from ._rule import Rule, register
from ._status import KINK

__all__ = ["centred", "centred_square", "product", "rewritten"]

Write = Callable[[Any], Callable[..., Sequence[Any]]]
Found = Callable[[Any, Sequence[Any], Sequence[Any]], Sequence[Any]]


def _nothing(eqn: Any, values: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    return []


def rewritten(
    write: Write,
    found: Found = _nothing,
    *,
    outputs: Sequence[int] = (0,),
    ties: Callable[[Any, Sequence[Any]], Any] | None = None,
    refused: str = "",
) -> Rule:
    """The rule of a primitive by a program.

    Args:
        write: ``write(eqn)`` is a function of the operands and what ``found`` gives; it
            returns the results that are differentiated.
        found: ``found(eqn, values, results)``: constants of the program.
        outputs: Which results these are. Other ones must not be reached.
        ties: ``ties(eqn, results)``: where the first of them is at a kink.
        refused: What to say if another one is reached.
    """

    def written(ctx: Context, eqn: Any, operands: Sequence[Any]) -> Any:
        # Of the values themselves, which know the axes of devices they vary over.
        return ctx.known(
            ("written", id(eqn)), eqn, lambda: jax.make_jaxpr(write(eqn))(*operands)
        )

    def through(
        ctx: Context, eqn: Any, operands: Sequence[Node]
    ) -> tuple[list[Node], Any]:
        values = [
            jnp.asarray(x.value, var.aval.dtype)
            for x, var in zip(operands, eqn.invars, strict=True)
        ]
        results = bind(eqn, values)
        constants = list(found(eqn, values, results))
        closed = written(ctx, eqn, [*values, *constants])
        nodes = [
            *(replace(x, value=v) for x, v in zip(operands, values, strict=True)),
            *map(constant, constants),
        ]
        given, kept = forward(ctx, closed.jaxpr, closed.consts, nodes)
        nodes = [_refused(ctx, v) for v in results]
        for k, node in zip(outputs, given, strict=True):
            nodes[k] = replace(node, value=results[k])
        tied = None if ties is None else ties(eqn, results)
        return nodes, (kept, tied)

    def back(
        ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
    ) -> list[Bar | None]:
        kept, tied = residuals
        for k, bar in enumerate(bars):
            if k not in outputs and not (bar.adj is None and bar.g is None):
                raise UnsupportedOperationError(refused)
        given = [bars[k] for k in outputs]
        first = given[0]
        if tied is not None and not (first.adj is None and first.g is None):
            ctx.reached(first, tied, KINK, eqn.primitive.name)
        closed = ctx.known(("written", id(eqn)), eqn, _missing)
        return reverse(ctx, closed.jaxpr, kept, given)[: len(eqn.invars)]

    return Rule(through, back)


def _missing() -> Any:
    raise AssertionError  # the forward sweep has written the program


def _refused(ctx: Context, value: Any) -> Node:
    """A result that has no program."""
    if not differentiable(value):
        return constant(value)
    return Node(value, scale=jnp.zeros_like(value) if ctx.scaled else None, varies=True)


# -- products and squares of deviations ------------------------------------------------

_CENTRED = core.Primitive("product_of_deviations")
_SQUARE = core.Primitive("square_of_deviation")
STACKS = (((2,), (1,)), ((0,), (0,)))


def product(x: Any, y: Any, dims: Any = STACKS) -> Any:
    """``x @ y`` of stacks of matrices."""
    return lax.dot_general(x, y, dims, precision=lax.Precision.HIGHEST)


def centred(x: Any, y: Any) -> Any:
    """``dx @ dy`` of stacks of matrices, whose value is zero."""
    eqn = jax.make_jaxpr(product)(x, y).eqns[-1]
    return _CENTRED.bind(x, y, **eqn.params)


def centred_like(eqn: Any, x: Any, y: Any) -> Any:
    """The product that an equation makes, of deviations."""
    return _CENTRED.bind(x, y, **eqn.params)


def centred_square(x: Any) -> Any:
    """``dx**2`` entry by entry, whose value is zero."""
    return _SQUARE.bind(x)


def _shape_of_product(x: Any, y: Any, **params: Any) -> Any:
    def plain(x: Any, y: Any) -> Any:
        return lax.dot_general_p.bind(x, y, **params)

    out = jax.eval_shape(
        plain, *(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in (x, y))
    )
    return x.update(shape=out.shape, dtype=out.dtype)


def _shape_of_square(x: Any) -> Any:
    return x


def _flat(ctx: Context, value: Any) -> Node:
    """A node whose first derivatives vanish."""
    scale = jnp.zeros_like(value) if ctx.scaled else None
    return Node(value, jnp.zeros_like(value, dtype=bool), scale, varies=True)


def _centred(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    aval = eqn.outvars[0].aval
    # It varies over the axes of devices that an operand varies over.
    zero, more = (jnp.zeros_like(x.value, aval.dtype, aval.shape) for x in operands)
    zero = zero + more
    if not all(x.varies for x in operands):
        return [constant(zero)], None
    return [_flat(ctx, zero)], tuple(operands)


def _from_centred(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    x, y = residuals
    (bar,) = bars
    if bar.adj is None:
        return [None, None]
    plain = eqn.replace(primitive=lax.dot_general_p)
    rho = _weights(ctx, plain, x, y, bar.adj, _of_dot)
    return [Bar(None, r) for r in rho]


def _no_deviation(x: Any) -> Any:
    return jnp.zeros_like(x)


def _square_partials(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return 0.0, 2.0


_CENTRED.def_abstract_eval(_shape_of_product)
_SQUARE.def_abstract_eval(_shape_of_square)
register(_CENTRED, Rule(_centred, _from_centred))
register(
    _SQUARE,
    entrywise(
        Elemental("square", 1, _no_deviation, Partials(_square_partials), ""),
        _no_deviation,
    ),
)
