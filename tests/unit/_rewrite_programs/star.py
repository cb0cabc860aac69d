"""All of NumPy under its own names: `sum`, `max` and others hide builtins."""

from numpy import *  # noqa: F403


def star_import(x):
    r = full(2, 0.5)  # noqa: F405
    r[0] = x[0] * x[1]
    return prod(r) * x[2]  # noqa: F405


def star_builtins(x):
    r = zeros(3)  # noqa: F405
    r[:] = x
    return sum(r * r) + max(r) * min(r)
