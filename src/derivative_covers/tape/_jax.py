"""Errors that come of recording a function of JAX."""

from __future__ import annotations

from traceback import walk_tb

__all__ = ["JAX_NOTE", "comes_from_jax"]

_OF_JAX = ("JAX", "ArrayImpl")  # what its errors say, and how its arrays are called
JAX_NOTE = (
    "JAX met a variable that derivative_covers records. Of functions of jax.numpy, "
    "cover_hessian and cover_hybrid give covers, as do the transformations of "
    "derivative_covers.interop.jax; jax.grad gives gradients. All else needs a function "
    "of NumPy."
)


def comes_from_jax(error: Exception) -> bool:
    """Whether an error comes from JAX, which may hide its frames, or from its arrays."""
    said = (str(error), *getattr(error, "__notes__", ()))
    frames = walk_tb(error.__traceback__)
    names = (frame.f_globals.get("__name__", "") for frame, _ in frames)
    return any(name in text for name in _OF_JAX for text in said) or any(
        name.partition(".")[0] == "jax" for name in names
    )
