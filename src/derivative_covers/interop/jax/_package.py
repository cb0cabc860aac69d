"""JAX itself, or an error that says how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import MissingPackageError, extra

__all__ = ["checkify", "core", "jax", "jnp", "lax", "tree"]


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        msg = (
            "derivative_covers.interop.jax needs JAX 0.6 or newer, which is not "
            f"installed; {extra('jax')}."
        )
        raise MissingPackageError(msg) from error


jax = _module("jax")
jnp = _module("jax.numpy")
lax = _module("jax.lax")
checkify = _module("jax.experimental.checkify")
core = _module("jax.extend.core")
tree = _module("jax.tree_util")
