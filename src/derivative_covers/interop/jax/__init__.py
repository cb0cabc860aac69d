"""Covers as transformations of JAX functions, under ``jit``, ``vmap`` and on any device.

:func:`cover_hessian` and its relatives take a function and return a function of the same
arguments, as ``jax.grad`` does. The function is traced to a jaxpr. A forward sweep
evaluates it on *nodes*, a reverse sweep carries *bars* back: the adjoint and the sum merge of
the cover. Both are JAX operations, so that results work under every transformation, in
float32 and float64; nothing calls back to the host. Outside of ``jit`` the sweeps are
compiled on first use, and what goes wrong raises; inside, it is the result's ``status``.

A primitive has a :class:`Rule` of two functions. A square root, say, would be::

    def forward(ctx, eqn, operands):
        (x,) = operands                          # a Node: value, live, scale, mark
        v = jnp.sqrt(x.value)
        d = 0.5 / v                              # needed only if nodes carry scales
        scale = d * x.scale if ctx.scaled else None
        out = Node(v, x.live, scale, mark=x.value <= 0, varies=True)
        return [out], (x.value, v)               # residuals: any pytree of arrays

    def reverse(ctx, eqn, residuals, bars):
        x, v = residuals
        (bar,) = bars                            # adj and g, either may be None: zero
        ctx.reached(bar, x <= 0, DOMAIN, "sqrt")
        d, c = 0.5 / v, -0.25 / (v * x)
        g = times(d, bar.g, absolute=True)       # zero times infinity is zero
        if bar.adj is not None:
            (rho,) = ctx.mine((root(jnp.abs(bar.adj), c),))
            g = rho if g is None else g + rho
        return [Bar(times(d, bar.adj), g)]

- All that the reverse needs goes through ``residuals``, never through a closure over traced
  values: a loop stacks them.
- ``ctx.mine`` keeps the slot weights of the group of atoms in work (hybrid merge); call it
  once an operation.
- A rule that runs a jaxpr calls ``forward`` and ``reverse`` of ``_interpret`` on it; one that
  does so within a loop gives it ``ctx.child()``, returns ``child.codes()`` from the loop and
  hands them to ``ctx.flag_codes``. :class:`Node` and :class:`Bar` are registered pytrees, so
  they may be carried; ``Bar.filled`` gives all bars one structure.
- A live mask of None means live everywhere, a mark of None nowhere, a scale of None that no
  scales are declared, or that the node is a constant.
- For elementwise primitives, :func:`elemental` makes the rule from partials.
"""

from __future__ import annotations

from . import (  # noqa: F401
    _bilinear,
    _calls,
    _choices,
    _control,
    _linalg,
    _linear,
    _placing,
    _reductions,
    _special,
    _spectra,
)
from ._elementwise import elemental
from ._first_order import abs_forward, abs_reverse, cover_jacobian, gramcover
from ._results import HessianCover, JacobianCover, NLSCover, Sensitivities, checked
from ._rule import Rule, register
from ._second_order import cover_hessian, cover_nls

__all__ = [
    "HessianCover",
    "JacobianCover",
    "NLSCover",
    "Rule",
    "Sensitivities",
    "abs_forward",
    "abs_reverse",
    "checked",
    "cover_hessian",
    "cover_jacobian",
    "cover_nls",
    "elemental",
    "gramcover",
    "register",
]
