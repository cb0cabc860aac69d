"""Second-order forward duals over any numbers: the independent evaluation of Hessians.

The numbers are arrays of ``flint.arb`` (one entry a point, so that one pass serves many
points) or one :class:`Interval`. NumPy's functions do the rest.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import flint
import numpy as np

__all__ = ["arb_hessian", "hessian_of", "interval_hessian", "to_fraction"]


class Dual:
    """A value with its gradient and Hessian; None stands for zero."""

    def __init__(self, v: Any, g: list[Any], H: dict[tuple[int, int], Any]) -> None:
        self.v, self.g, self.H = v, g, H

    def chain(self, v: Any, d: Any, c: Any) -> Dual:
        """A function of it with first and second derivative ``d`` and ``c``."""
        g = [_times(d, a) for a in self.g]
        H = {k: d * h for k, h in self.H.items()}
        there = [k for k, a in enumerate(g) if a is not None]
        for i, j in combinations_with_replacement(there, 2):
            H[i, j] = _plus(c * (self.g[i] * self.g[j]), H.get((i, j)))
        return Dual(v, g, H)

    def __add__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented  # it takes us entry by entry
        if not isinstance(other, Dual):
            return Dual(self.v + _exact(other), self.g, self.H)
        g = [_plus(a, b) for a, b in zip(self.g, other.g, strict=True)]
        keys = self.H.keys() | other.H.keys()
        H = {k: _plus(self.H.get(k), other.H.get(k)) for k in keys}
        return Dual(self.v + other.v, g, H)

    __radd__ = __add__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else -self + other

    def __mul__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented  # it takes us entry by entry
        if other is self:
            return self**2
        if not isinstance(other, Dual):
            c = _exact(other)
            return Dual(
                self.v * c,
                [_times(a, c) for a in self.g],
                {k: h * c for k, h in self.H.items()},
            )
        g = [
            _plus(_times(a, other.v), _times(b, self.v))
            for a, b in zip(self.g, other.g, strict=True)
        ]
        H = {k: h * other.v for k, h in self.H.items()}
        for k, h in other.H.items():
            H[k] = _plus(h * self.v, H.get(k))
        there = [k for k, a in enumerate(g) if a is not None]
        for i, j in combinations_with_replacement(there, 2):
            cross = _plus(_times(self.g[i], other.g[j]), _times(self.g[j], other.g[i]))
            if cross is not None:
                H[i, j] = _plus(cross, H.get((i, j)))
        return Dual(self.v * other.v, g, H)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented  # it takes us entry by entry
        if isinstance(other, Dual):
            return self * other**-1
        c = _exact(other)
        return Dual(
            self.v / c,
            [None if a is None else a / c for a in self.g],
            {k: h / c for k, h in self.H.items()},
        )

    def __rtruediv__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else self**-1 * other

    def __pow__(self, n):
        assert isinstance(n, int)
        d = n * self.v ** (n - 1) if n != 1 else _exact(1)
        c = n * (n - 1) * (self.v ** (n - 2) if n != 2 else _exact(1))
        return self.chain(self.v**n, d, c)

    def exp(self):
        v = np.exp(self.v)
        return self.chain(v, v, v)

    def log(self):
        return self.chain(np.log(self.v), 1 / self.v, -1 / self.v**2)

    def sqrt(self):
        v = np.sqrt(self.v)
        d = 1 / (2 * v)
        return self.chain(v, d, -d / (2 * self.v))

    def sin(self):
        v = np.sin(self.v)
        return self.chain(v, np.cos(self.v), -v)

    def cos(self):
        v = np.cos(self.v)
        return self.chain(v, -np.sin(self.v), -v)

    def tanh(self):
        v = np.tanh(self.v)
        d = 1 - v**2
        return self.chain(v, d, -2 * v * d)


def _exact(c: Any) -> Any:
    """A constant: floats are the numbers that they are."""
    return c.item() if isinstance(c, np.generic) else c


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _times(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a * b


def hessian_of(f: Any, values: list[Any]) -> dict[tuple[int, int], Any]:
    """Upper triangle of the Hessian at values of any kind; what is absent is zero."""
    n = len(values)
    x = np.empty(n, dtype=object)
    for k, v in enumerate(values):
        x[k] = Dual(v, [1 if j == k else None for j in range(n)], {})
    return f(x).H


def arb_hessian(f: Any, points: Any, bits: int = 128) -> dict[tuple[int, int], Any]:
    """The same at points, an array of shape (number of points, n)."""
    old, flint.ctx.prec = flint.ctx.prec, bits
    try:
        lifted = np.frompyfunc(lambda a: flint.arb(float(a)), 1, 1)(points)
        return hessian_of(f, list(lifted.T))
    finally:
        flint.ctx.prec = old


def interval_hessian(f: Any, box: Any) -> Any:
    """The natural interval extension over a box: bounds of absolute values."""
    n = len(box)
    size = np.zeros((n, n))
    for (i, j), h in hessian_of(f, [box[k] for k in range(n)]).items():
        ends = (
            (abs(h), abs(h)) if isinstance(h, int | float) else (abs(h.lo), abs(h.hi))
        )
        size[i, j] = size[j, i] = max(ends)
    return size


def to_fraction(x: Any) -> Fraction:
    """An exact ball, such as an end of one, as a fraction."""
    assert x.is_exact()
    mantissa, exponent = (int(part) for part in x.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
