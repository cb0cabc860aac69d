"""What the two sweeps carry: nodes forward, cotangents in reverse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._package import jax, jnp, lax, tree

__all__ = [
    "Bar",
    "Node",
    "add_bars",
    "constant",
    "differentiable",
    "is_discrete",
    "is_sharded",
    "is_zero",
    "size",
    "some",
    "total",
    "where",
]


@dataclass(frozen=True)
class Node:
    """The value of a variable of a jaxpr, and the facts that go forward with it.

    A registered pytree: ``varies`` and ``token`` are static, all else are its leaves.

    Attributes:
        value: The array.
        live: Where its gradient is not exactly zero; None: everywhere.
        scale: Declared scale of every entry; None where no scales are declared.
        mark: Of floats, where the value comes from an operation outside of its domain;
            of booleans and integers, where it comes from a choice at a tie. None:
            nowhere.
        varies: Whether it depends on the differentiated inputs to first order. What
            does not is a constant, and the other facts say nothing.
        token: Equal for nodes that are the same entries in the same order, whose
            slots are merged; None: unlike any other.
    """

    value: Any
    live: Any = None
    scale: Any = None
    mark: Any = None
    varies: bool = False
    token: int | None = None


tree.register_dataclass(
    Node,
    data_fields=["value", "live", "scale", "mark"],
    meta_fields=["varies", "token"],
)


@dataclass(frozen=True)
class Bar:
    """What the reverse sweep carries to a variable, in its shape and type.

    A registered pytree. None is an exact zero.

    Attributes:
        adj: Adjoint: the derivative of the output. In sweeps of absolute values it is
            None throughout.
        g: The sum merge so far: absolute sensitivities of what was injected.
    """

    adj: Any = None
    g: Any = None

    def filled(self, like: Any) -> Bar:
        """The same with arrays of zeros for exact zeros, in the shape of ``like``."""
        zero = jnp.zeros_like(like)
        return Bar(
            zero if self.adj is None else self.adj, zero if self.g is None else self.g
        )


tree.register_dataclass(Bar, data_fields=["adj", "g"], meta_fields=[])


def constant(value: Any, *, mark: Any = None) -> Node:
    """A node that depends on no differentiated input."""
    return Node(value, mark=mark)


def forget(node: Node) -> Node:
    """The node without its token."""
    return replace(node, token=None)


def _plus(x: Any, y: Any) -> Any:
    if x is None:
        return y
    return x if y is None else x + y


def add_bars(x: Bar | None, y: Bar | None) -> Bar | None:
    """Sum of two cotangents of one variable."""
    if x is None:
        return y
    return x if y is None else Bar(_plus(x.adj, y.adj), _plus(x.g, y.g))


def is_zero(c: Any) -> bool:
    """Whether a partial is a plain zero, the same for all entries."""
    return isinstance(c, (int, float)) and c == 0


def differentiable(aval: Any) -> bool:
    """Whether derivatives can flow through a variable of that type."""
    return bool(jnp.issubdtype(aval.dtype, np.floating))


def is_discrete(value: Any) -> bool:
    """Whether an array holds booleans or integers."""
    return not jnp.issubdtype(value.dtype, np.inexact)


def size(node: Node) -> Any:
    """Magnitudes of a node's values."""
    return jnp.abs(node.value)


def where(here: Any, x: Any, y: Any = 0) -> Any:
    """``x`` in some places, ``y`` in the others.

    Traced in less time than ``jnp.where`` where shapes and types agree already.
    """
    if isinstance(y, (int, float)) and jnp.shape(here) == jnp.shape(x):
        return lax.select(here, x, lax.full_like(x, y))
    return jnp.where(here, x, y)


def is_sharded(x: Any) -> bool:
    """Whether the type of an array says that it is spread over devices."""
    sharding = getattr(jax.typeof(x), "sharding", None)
    return any(part is not None for part in getattr(sharding, "spec", ()))


def some(mask: Any) -> Any:
    """Whether any entry of a mask is true."""
    mask = jnp.asarray(mask)
    if mask.ndim == 0:
        return mask
    # On CPUs, XLA compiles a sum in half the time of a disjunction, and runs it faster.
    return total(mask.astype(np.float32)) > 0


def total(x: Any) -> Any:
    """The sum of all entries."""
    return lax.reduce_sum(x, axes=tuple(range(x.ndim)))
