"""Checks of small programs against differences."""

from __future__ import annotations

from typing import Any

import numpy as np

import derivative_covers as dc

__all__ = ["agrees", "differences", "matrix"]


def matrix(*shape: int, seed: int = 0) -> Any:
    """A matrix, or a stack of them, without coincidences."""
    return np.random.default_rng(seed).normal(size=shape)


def differences(f: Any, x0: Any, step: float = 1e-5) -> tuple[Any, Any]:
    """Gradient by differences of values, Hessian by differences of gradients."""
    x0 = np.asarray(x0, dtype=float)
    gradient, hessian = [], []
    for k in range(x0.size):
        e = np.zeros(x0.size)
        e[k] = step
        up, down = (x0 + s * e.reshape(x0.shape) for s in (1, -1))
        gradient.append((float(f(up)) - float(f(down))) / (2 * step))
        change = dc.gradient(f, up) - dc.gradient(f, down)
        hessian.append(change.ravel() / (2 * step))
    return np.array(gradient), np.array(hessian)


def agrees(f: Any, x0: Any, tol: float = 1e-6) -> None:
    """Value, gradient, Hessian and covers of ``f`` are right to difference accuracy."""
    tape, out = dc.tape_function(f, x0)
    assert tape.vals[out] == f(np.asarray(x0))
    gradient, hessian = differences(f, x0)
    found = dc.hessian(tape, out).reshape(hessian.shape)
    size = 1 + np.abs(gradient).max()
    np.testing.assert_allclose(
        dc.gradient(tape, out).ravel(), gradient, rtol=tol, atol=tol * size
    )
    np.testing.assert_allclose(
        found, hessian, rtol=tol, atol=tol * (1 + np.abs(hessian).max())
    )
    for merge in ("sum", "quadrature"):
        h = dc.cover_hessian(tape, out, merge=merge).h.ravel()
        assert np.all(np.outer(h, h) >= np.abs(found) - 1e-9 * np.abs(found).max())
