"""Derivatives of the program set by JAX in double precision."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests._programs import BY_NAME

__all__ = ["jax_derivatives"]

# Compiling takes all the time here, so the compiler is told not to optimise.
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


@cache
def jax_derivatives(name: str) -> tuple[Any, Any, Any]:
    """Value, gradient and Hessian of a program at its point, as float64 arrays."""
    program = BY_NAME[name]

    def f(x: Any) -> Any:
        return program.pure(jnp, x)

    def derivatives(x: Any) -> tuple[Any, Any, Any]:
        value, gradient = jax.value_and_grad(f)(x)
        return value, gradient, jax.jacfwd(jax.grad(f))(x)

    with jax.enable_x64(True):
        compiled = jax.jit(derivatives, compiler_options=FAST)
        results = compiled(jnp.asarray(program.x0, dtype=jnp.float64))
        value, gradient, hessian = (np.asarray(r) for r in results)
    return value, gradient, hessian
