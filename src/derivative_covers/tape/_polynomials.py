"""Polynomials by their coefficients, highest power first, and sliding products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedOperationError
from ._call import plain
from ._convert import tape_of
from ._elementwise import binary, common_tape
from ._exact import valued, values_of
from ._over_box import box_of
from ._products import factors
from ._protocol import as_array, implements
from ._storage import ArrayBase, constant
from ._wide import contract

__all__: list[str] = []


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Horner's rule; at plain points, one linear node an entry in the coefficients."""
    c = _coefficients(p, x)
    tape = tape_of(c, x)
    r = np.polyval(values_of(c, tape), values_of(x, tape))
    if c.ndim > 1:
        y: Any = as_array(x, c) * 0.0
        for row in as_array(c, x):
            y = y * x + row
        return valued(y, r)
    if tape_of(x) is None and box_of(c) is None:
        powers = np.vander(np.ravel(values_of(x, tape)), c.size)
        return contract(powers[None], c.reshape(1, -1, 1), r)
    at = as_array(x, c)
    y = np.zeros_like(at)
    if c.size:
        y[...] = c[0]
    for k in range(1, c.size):
        y = y * at + c[k]
    return valued(y, r)


def _coefficients(p: Any, *others: Any) -> Any:
    """A vector of coefficients, recorded or plain."""
    if isinstance(p, np.poly1d):
        p = p.coeffs
    c = np.asarray(p) if tape_of(p) is None else as_array(p, *others)
    return c.reshape(-1) if c.ndim == 0 else c


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """Every coefficient times its power, ``m`` times over."""
    x = as_array(p)
    r = np.polyder(x.v, m)
    for _ in range(m):
        x = as_array(x[:-1] * np.arange(x.v.size - 1, 0, -1))
    return valued(x, r)


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Every coefficient over its power, and constants of integration."""
    x = as_array(p, k)
    r = np.polyint(x.v, m, values_of(k, x.tape))
    last = np.zeros(m) if k is None else as_array(k, x).ravel()
    for j in range(m):
        power = np.arange(x.v.size, 0, -1)
        end = last[j : j + 1] if last.size > 1 else last
        x = np.concatenate([x / power, end])
    return valued(x, r)


def _sum(function: Any, ufunc: Any) -> None:
    @implements(function)
    def added(a1: Any, a2: Any) -> Any:
        x, y = as_array(a1, a2), as_array(a2, a1)
        x, y = np.atleast_1d(x), np.atleast_1d(y)
        n = max(x.size, y.size)
        x, y = (np.concatenate([np.zeros(n - e.size), e]) for e in (x, y))
        return binary(ufunc, x, y)


_sum(np.polyadd, np.add)
_sum(np.polysub, np.subtract)


def _leading(p: Any, *others: Any) -> Any:
    """Coefficients without constant zeros in front, as NumPy reads a polynomial."""
    c = np.trim_zeros(np.atleast_1d(as_array(p, *others)), "f")
    return c if c.size else np.zeros_like(c, shape=1)


@implements(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials: a convolution."""
    x, y = _leading(a1, a2), _leading(a2, a1)
    return np.convolve(x, y if a2 is not a1 else x)


@implements(np.polydiv)
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Quotient and remainder, by long division as in NumPy."""
    x, y = np.atleast_1d(as_array(u, v)), np.atleast_1d(as_array(v, u))
    tape = common_tape(x, y)
    quotient, remainder = np.polydiv(plain(x, tape.dtype), plain(y, tape.dtype))
    steps = x.size - y.size + 1
    scale = 1.0 / y[0]
    rest = as_array(x, y) * 1.0
    found = []
    for k in range(steps):
        found.append(scale * rest[k])
        rest[k : k + y.size] = rest[k : k + y.size] - found[-1] * y
    q = np.stack([as_array(e, x, y) for e in found] or [np.zeros_like(rest[0])])
    return valued(q, quotient), valued(rest[rest.size - remainder.size :], remainder)


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """Coefficients of the polynomial with given roots.

    Raises:
        UnsupportedOperationError: For a matrix, whose eigenvalues would be needed.
    """
    roots: Any = np.atleast_1d(as_array(seq_of_zeros))
    if roots.v.ndim == 2:
        msg = (
            "np.poly of a recorded matrix needs its eigenvalues. Give it those of a "
            "symmetric one, np.poly(np.linalg.eigvalsh(A))."
        )
        raise UnsupportedOperationError(msg)
    r = np.poly(roots.v)
    found: Any = constant(roots.tape, np.ones(1))
    for k in range(roots.v.size):
        low = np.concatenate([np.zeros(1), found * -roots[k]])
        found = np.concatenate([found, np.zeros(1)]) + low
    return valued(found, r)


@implements(np.polyfit)
def polyfit(
    x: Any,
    y: Any,
    deg: Any,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """Least squares: linear nodes in the ordinates.

    Raises:
        UnsupportedOperationError: For recorded abscissae or weights, and for more than
            the coefficients.
    """
    if tape_of(x, w) is not None or full or cov:
        msg = (
            "np.polyfit has a rule for recorded ordinates and plain abscissae and "
            "weights, without full and cov. Solve np.linalg.lstsq(np.vander(x, deg + 1), "
            "y) for the rest."
        )
        raise UnsupportedOperationError(msg)
    f = as_array(y)
    r = np.polyfit(x, f.v, deg, rcond, w=w)
    unit = np.polyfit(x, np.eye(f.v.shape[0], dtype=f.v.dtype), deg, rcond, w=w)
    return contract(unit[None], f.reshape(1, f.v.shape[0], -1), r)


@implements(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """Powers of the entries: running products along every row."""
    a = as_array(x)
    r = np.vander(a.v, N, increasing)
    n = r.shape[1]
    if not r.size:
        return constant(a.tape, r)
    ones = np.ones((a.v.size, 1))
    if n > 1:
        repeated = np.broadcast_to(a[:, None], (a.v.size, n - 1))
        powers = [ones, np.multiply.accumulate(repeated, axis=1)]
        table = np.concatenate(powers, axis=1)
    else:
        table = constant(a.tape, ones)
    return valued(table if increasing else table[:, ::-1], r)


# -- sliding products ------------------------------------------------------------------


def _sliding(a: Any, v: Any, mode: str, r: Any) -> Any:
    """Inner products of ``v`` with the stretches of ``a``, which is not shorter."""
    n = v.size
    left = {"full": n - 1, "same": n // 2, "valid": 0}[mode]
    right = {"full": n - 1, "same": n - n // 2 - 1, "valid": 0}[mode]
    parts = []
    for k in range(left):
        size = n - left + k
        parts.append(_product(a[:size], v[n - size :], r[k : k + 1]))
    window = np.lib.stride_tricks.sliding_window_view(a, n)
    inside = r[left : r.size - right]
    parts.append(contract(window[None], v.reshape(1, -1, 1), np.array(inside)))
    for k in range(right):
        size = n - 1 - k
        at = r.size - right + k
        parts.append(_product(a[a.size - size :], v[:size], r[at : at + 1]))
    return np.concatenate([as_array(p, a, v) for p in parts])


def _product(a: Any, v: Any, r: Any) -> Any:
    return contract(a.reshape(1, 1, -1), v.reshape(1, -1, 1), np.array(r))


def _mode(mode: Any) -> str:
    names = {0: "valid", 1: "same", 2: "full"}
    if isinstance(mode, (int, np.integer)):
        return names[int(mode)]
    return {"v": "valid", "s": "same", "f": "full"}[mode[0].lower()]


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """One inner product an entry; a plain operand makes it linear."""
    tape, (x, y), (xv, yv) = factors(a, v)
    r = np.convolve(xv, yv, mode)
    if not (isinstance(x, ArrayBase) or isinstance(y, ArrayBase)):
        return constant(tape, r)
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    if y.size > x.size:
        x, y = y, x
    return _sliding(x, y[::-1], _mode(mode), r)


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """One inner product an entry; a plain operand makes it linear."""
    tape, (x, y), (xv, yv) = factors(a, v)
    r = np.correlate(xv, yv, mode)
    if not (isinstance(x, ArrayBase) or isinstance(y, ArrayBase)):
        return constant(tape, r)
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    if y.size > x.size:
        return _sliding(y, x, _mode(mode), r[::-1])[::-1]
    return _sliding(x, y, _mode(mode), r)
