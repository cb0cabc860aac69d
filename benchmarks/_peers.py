"""Packages that are measured against; a missing one leaves its rows unmeasured."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


def module(name: str) -> Any | None:
    """The module, or None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def autograd_record(f: Callable[[Any], Any], x: np.ndarray) -> Callable[[], Any] | None:
    """HIPS autograd's recording of `f`, with no backward pass."""
    autograd = module("autograd")
    return autograd and (lambda: autograd.make_vjp(f)(x))


def autograd_gradient(
    f: Callable[[Any], Any], x: np.ndarray
) -> Callable[[], Any] | None:
    """HIPS autograd's gradient of `f`: recording and backward pass."""
    autograd = module("autograd")
    return autograd and (lambda: autograd.grad(f)(x))


def casadi_graph(
    terms: Callable[[Any], Any], n: int, *, gradient: bool = False
) -> Callable[[], Any] | None:
    """CasADi's SX graph of a scalar program, and of its gradient where asked."""
    casadi = module("casadi")
    if casadi is None:
        return None

    def build() -> Any:
        x = casadi.SX.sym("x", n)
        out = terms(casadi.vertsplit(x))
        return casadi.gradient(out, x) if gradient else out

    return build


def jax_hessian(f: Callable[[Any], Any], x: np.ndarray) -> Callable[[], Any] | None:
    """JAX's dense float64 Hessian, compiled here, with its input on the device."""
    jax = module("jax")
    if jax is None:
        return None
    jax.config.update("jax_enable_x64", True)
    hessian = jax.jit(jax.hessian(f))
    on_device = jax.numpy.asarray(x)
    hessian(on_device).block_until_ready()
    return lambda: hessian(on_device).block_until_ready()
