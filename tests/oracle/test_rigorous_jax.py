"""Bounds over a box against JAX's Hessians at points of it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import Interval

jax.config.update("jax_enable_x64", True)
N = 6


def waves(xp, x):
    return xp.sum(xp.sin(x[1:] * x[:-1]) * xp.exp(-x[1:])) + xp.sqrt(1 + xp.sum(x**2))


def losses(xp, x):
    y = xp.tanh(x[:3] * 0.5) + xp.log(1 + x[3:] ** 2)
    return xp.sum(y**3 / (1 + y * y)) + xp.prod(x[:3])


@pytest.mark.parametrize("f", [waves, losses], ids=lambda f: f.__name__)
def test_points_of_a_box_keep_within_its_bounds(f):
    rng = np.random.default_rng(7)
    lo = rng.uniform(0.2, 1.0, N)
    hessian = jax.jit(jax.hessian(lambda x: f(jnp, x)))
    gradient = jax.jit(jax.grad(lambda x: f(jnp, x)))
    for width in (0.0, 1e-3, 0.3):
        box = Interval(lo, lo + width)
        tape, out = dc.tape_function(lambda x: f(np, x), box)
        covers = [
            dc.cover_hessian(tape, out, merge=m) for m in ("sum", "quadrature", "auto")
        ]
        H, B, g = dc.hessian(tape, out), dc.hessian_bound(tape, out), covers[0].gradient
        for x in (box.lo, box.hi, *rng.uniform(box.lo, box.hi, (4, N))):
            exact = np.asarray(hessian(x))
            slope = np.asarray(gradient(x))
            slack = 1e-13 * (1 + np.abs(exact).max() + np.abs(slope).max())
            assert ((H.lo - slack <= exact) & (exact <= H.hi + slack)).all()
            assert (np.abs(exact) <= B + slack).all()
            assert ((g.lo - slack <= slope) & (slope <= g.hi + slack)).all()
            assert all(dc.iscover(cover, exact) for cover in covers)
