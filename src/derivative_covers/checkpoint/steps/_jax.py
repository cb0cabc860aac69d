"""Steps that JAX compiles and reverses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ...errors import extra

__all__ = ["compiled_pair"]


def compiled_pair(
    f: Callable[..., Any],
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A step and its reverse rule, both compiled, as functions of NumPy's arrays.

    Raises:
        ImportError: If JAX is not installed.
    """
    try:
        jax: Any = import_module("jax")
    except ImportError as error:
        msg = f"Transition.from_jax needs JAX: {extra('jax')}."
        raise ImportError(msg) from error
    tree = jax.tree_util

    def pull(x: Any, *rest: Any) -> Any:
        *params, ybar, k = rest
        y, back = jax.vjp(lambda *a: f(*a, k), x, *params)
        typed = tree.tree_map(lambda a, b: jax.numpy.asarray(b, a.dtype), y, ybar)
        found = back(typed)
        return found if params else found[0]

    step, rule = jax.jit(f), jax.jit(pull)
    home = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")

    def numpy_of(y: Any) -> Any:
        # Copies: the memory of the first belongs to JAX.
        if isinstance(y, jax.Array):
            return np.array(y)
        return tree.tree_map(np.array, y)

    def call(compiled: Any, args: tuple[Any, ...]) -> Any:
        # Without the flag, JAX would round a state in double precision to single.
        if jax.config.jax_enable_x64 or not _in_double(args[:-1], tree):
            return numpy_of(compiled(*args))
        with home.enable_x64(True):
            return numpy_of(compiled(*args))

    @functools.wraps(f)
    def forward(*args: Any) -> Any:
        return call(step, args)

    def vjp(*args: Any) -> Any:
        return call(rule, args)

    return forward, vjp


def _in_double(args: tuple[Any, ...], tree: Any) -> bool:
    return any(np.asarray(a).dtype.itemsize > 4 for a in tree.tree_leaves(args))
