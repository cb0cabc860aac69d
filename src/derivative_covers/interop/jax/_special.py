"""Special functions of which the package has no elementals, and moving windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import UnsupportedOperationError
from ._context import Context
from ._elementwise import elemental
from ._node import Node
from ._package import jnp, lax
from ._rewritten import rewritten
from ._rule import Rule, refuse, register

__all__: list[str] = []

_NAN = float("nan")


def _second(primitive: str, partials: Callable[..., tuple[Any, Any]]) -> Rule:
    """The rule in the second operand of two; the first must be a constant."""

    def both(xp: Any, a: Any, x: Any, v: Any) -> tuple[Any, ...]:
        d, c = partials(jnp.asarray(a, x.dtype), x)
        return _NAN, d, _NAN, _NAN, c

    rule = elemental(primitive, both, domain=lambda xp, a, x: x > 0, arity=2)

    def forward(ctx: Context, eqn: Any, operands: Sequence[Node]) -> Any:
        if operands[0].varies:
            msg = (
                f"the JAX primitive {primitive!r} has a rule in its second operand alone, "
                "and its first one depends on the differentiated inputs; cut that "
                "dependence with jax.lax.stop_gradient."
            )
            raise UnsupportedOperationError(msg)
        return rule.forward(ctx, eqn, operands)

    return Rule(forward, rule.reverse)


def _gamma(sign: float) -> Callable[..., tuple[Any, Any]]:
    def partials(a: Any, x: Any) -> tuple[Any, Any]:
        d = sign * jnp.exp((a - 1) * jnp.log(x) - x - lax.lgamma(a))
        return d, d * ((a - 1) / x - 1)

    return partials


def _polygamma(n: Any, x: Any) -> tuple[Any, Any]:
    return lax.polygamma(n + 1, x), lax.polygamma(n + 2, x)


def _zeta(s: Any, q: Any) -> tuple[Any, Any]:
    return -s * lax.zeta(s + 1, q), s * (s + 1) * lax.zeta(s + 2, q)


def _window(largest: bool) -> Callable[[Any], Callable[..., list[Any]]]:
    """The extreme entry of each window, one array for each place in a window."""
    reduce = jnp.max if largest else jnp.min
    outside = -jnp.inf if largest else jnp.inf

    def write(eqn: Any) -> Callable[..., list[Any]]:
        p = eqn.params

        def f(x: Any) -> list[Any]:
            base = p["base_dilation"]
            config = [
                (low, high, step - 1)
                for (low, high), step in zip(p["padding"], base, strict=True)
            ]
            x = lax.pad(x, jnp.asarray(outside, x.dtype), config)
            parts = []
            for place in np.ndindex(*p["window_dimensions"]):
                start = [
                    k * d for k, d in zip(place, p["window_dilation"], strict=True)
                ]
                last = [
                    s + (n - 1) * step + 1
                    for s, n, step in zip(
                        start,
                        eqn.outvars[0].aval.shape,
                        p["window_strides"],
                        strict=True,
                    )
                ]
                parts.append(lax.slice(x, start, last, p["window_strides"]))
            return [reduce(jnp.stack(parts), axis=0)]

        return f

    return write


register("igamma", _second("igamma", _gamma(1.0)))
register("igammac", _second("igammac", _gamma(-1.0)))
register("polygamma", _second("polygamma", _polygamma))
register("zeta", _second("zeta", _zeta))
register("reduce_window_max", rewritten(_window(True)))
register("reduce_window_min", rewritten(_window(False)))
refuse("reduce_window", "only windows of sums and of extrema have rules")
refuse("nextafter", "neighbours of floating-point numbers have no derivatives")
for _name in ("igamma_grad_a", "regularized_incomplete_beta"):
    refuse(_name, "its derivatives are not known in closed form to the package")
for _name in ("shard_map", "xla_pmap"):
    refuse(
        _name,
        "its parts lie on several devices; put it around the cover, as in "
        "jax.shard_map(cover_hessian(f), ...), or leave it to jax.jit and shardings",
    )
for _name in ("pure_callback", "io_callback", "custom_vmap_call", "pallas_call"):
    refuse(_name, "what it computes cannot be looked into")
