"""A bound of a function over many boxes by its second-order Taylor form, proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...elements import _outward as ow

__all__ = ["Model", "model_of"]

Array = NDArray[Any]
Pair = tuple[Any, Any]
_ACTIVE, _SWEEPS = 6, 8


@dataclass(frozen=True)
class Model:
    """What bounds a function from below over boxes, whose expansion point is free.

    In units of the widths, ``s = widths * z``, the Hessian over a box is ``C'C`` and what
    is left of it: ``|C z|**2 - sum(rest * z**2)`` bounds its quadratic form from below. So
    ``rest`` is the diagonal shift of alphaBB, twice ``alpha * widths**2``.

    Attributes:
        lo: Lower ends of the boxes, of shape ``(boxes, n)``.
        hi: Upper ends.
        widths: Units, zero where a box is a point.
        factor: ``C``, of shape ``(boxes, n, n)``.
        rest: Of shape ``(boxes, n)``; zero but for rounding where the function is proved
            to be convex and its Hessian to be constant.
    """

    lo: Array
    hi: Array
    widths: Array
    factor: Array
    rest: Array

    def part(self, rows: Any) -> Model:
        """The model over some of the boxes."""
        every = (self.lo, self.hi, self.widths, self.factor, self.rest)
        return Model(*(a[rows] for a in every))

    def bound(self, at: Array, value: Pair, gradient: Pair) -> tuple[Array, Array]:
        """Lower bounds of the function, and where their tangent planes touch.

        Args:
            at: Points of the boxes, of shape ``(boxes, n)``.
            value: Ends of the values there.
            gradient: Ends of the gradients there, of shape ``(boxes, n)``.

        Returns:
            The bounds, rounded downward, and points of the boxes near the minimum of what
            bounds the function.

        Source:
            Adjiman, Dallwig, Floudas, Neumaier 1998, "A global optimization method,
            alphaBB, for general twice-differentiable constrained NLPs: I", Computers and
            Chemical Engineering 22, on the Taylor form of the function. A tangent plane of
            what is convex bounds it.
        """
        zero = (np.zeros_like(at),) * 2
        left = self._units(ow.subtract((self.lo, self.lo), (at, at)))[0]
        right = self._units(ow.subtract((self.hi, self.hi), (at, at)))[1]
        slope = ow.multiply(gradient, (self.widths, self.widths))
        # -rest z**2 / 2 lies above its secant between the ends.
        half = (0.5 * self.rest,) * 2
        ends = ow.add((left, left), (right, right))
        slope = ow.subtract(slope, ow.multiply(half, ends))
        # left and right have opposite signs: their product pushes the bound down.
        secant = ow.multiply(half, ow.multiply((left, left), (right, right)))
        value = ow.add(value, ow.total(secant, axis=-1))

        centre = 0.5 * slope[0] + 0.5 * slope[1]
        z = _minimiser(centre, self.factor, left, right)
        touch = np.einsum("bij,bj->bi", self.factor, z)
        factor = (self.factor, self.factor)
        # |C z|**2 / 2 >= u'Cz - u'u / 2 for every u.
        u = (touch, touch)
        columns = (touch[:, :, None], touch[:, :, None])
        tilt = ow.total(ow.multiply(factor, columns), axis=-2)
        slope = ow.add(slope, tilt)
        value = ow.subtract(value, ow.total(_halved(ow.square(u)), axis=-1))
        falls = ow.minimum(
            ow.multiply(slope, (left, left)), ow.multiply(slope, (right, right))
        )
        value = ow.add(value, ow.total(ow.minimum(falls, zero), axis=-1))
        low = np.where(np.isnan(value[0]), -np.inf, value[0])
        return low, np.clip(at + self.widths * z, self.lo, self.hi)

    def _units(self, x: Pair) -> Pair:
        """In units of the widths; zero where there is none."""
        units = np.where(self.widths > 0, self.widths, 1.0)
        return ow.divide(x, (units, units))


def model_of(lo: Array, hi: Array, hessian: Pair) -> Model:
    """The model over boxes from enclosures of the Hessian, of shape ``(boxes, n, n)``.

    Two choices of ``C``: the positive part of the middle, or the middle raised by its
    least eigenvalue. The one that leaves less is taken.
    """
    widths = ow.subtract((hi, hi), (lo, lo))[1]
    units = ow.multiply(
        (widths[:, :, None], widths[:, :, None]),
        (widths[:, None, :], widths[:, None, :]),
    )
    scaled = ow.multiply(hessian, units)
    middle = 0.5 * scaled[0] + 0.5 * scaled[1]
    values, vectors = np.linalg.eigh(middle)
    least = np.maximum(-values[:, :1], 0.0)
    best: tuple[Array, Array] | None = None
    for kept in (np.maximum(values, 0.0), np.maximum(values + least, 0.0)):
        factor = np.sqrt(kept)[:, :, None] * np.swapaxes(vectors, 1, 2)
        rest = _rest(scaled, factor)
        if best is None:
            best = factor, rest
        else:
            less = rest.sum(axis=1) < best[1].sum(axis=1)
            best = (
                np.where(less[:, None, None], factor, best[0]),
                np.where(less[:, None], rest, best[1]),
            )
    assert best is not None
    return Model(lo, hi, widths, *best)


def _rest(scaled: Pair, factor: Array) -> Array:
    """Row sums that make ``scaled - C'C`` and their diagonal semidefinite, upward.

    ``2 |z_i z_j| <= z_i**2 + z_j**2`` for entries off the diagonal; on it only what is
    negative counts.
    """
    square = ow.total(
        ow.multiply(
            (factor[:, :, :, None],) * 2,
            (factor[:, :, None, :],) * 2,
        ),
        axis=1,
    )
    left = ow.subtract(scaled, square)
    sizes = np.maximum(np.abs(left[0]), np.abs(left[1]))
    n = sizes.shape[1]
    k = np.arange(n)
    sizes[:, k, k] = np.maximum(0.0 - left[0][:, k, k], 0.0)
    rest: Array = ow.total((sizes, sizes), axis=-1)[1]
    return rest


def _halved(x: Pair) -> Pair:
    return ow.multiply(x, ow.point(0.5))


def _minimiser(b: Array, factor: Array, left: Array, right: Array) -> Array:
    """Near the minimum of ``b z + |C z|**2 / 2`` between ends, in plain arithmetic.

    Newton steps on the variables that are free, then steps along one variable at a time,
    which never go up. Any point gives a bound; a better one a better bound.
    """
    P = np.swapaxes(factor, 1, 2) @ factor
    n = b.shape[1]
    diagonal = np.einsum("bii->bi", P)
    small = 1e-14 * diagonal.sum(axis=1, keepdims=True) + 1e-300
    z = np.zeros_like(b)
    best, least = z, np.zeros(len(b))
    with np.errstate(all="ignore"):
        for _ in range(_ACTIVE):
            slope = b + np.einsum("bij,bj->bi", P, z)
            free = ~(((z <= left) & (slope > 0)) | ((z >= right) & (slope < 0)))
            both = free[:, :, None] & free[:, None, :]
            A = np.where(both, P, 0.0)
            A[:, np.arange(n), np.arange(n)] = np.where(free, diagonal + small, 1.0)
            step = np.linalg.solve(A, np.where(free, -slope, 0.0)[..., None])[..., 0]
            z = np.clip(np.where(np.isfinite(step), z + step, z), left, right)
            height = _height(b, factor, z)
            down = height < least
            best, least = (
                np.where(down[:, None], z, best),
                np.where(down, height, least),
            )
        z = best
        for k in np.tile(np.arange(n), _SWEEPS):
            slope = b[:, k] + np.einsum("bj,bj->b", P[:, k], z)
            curved = diagonal[:, k] > 0
            to = z[:, k] - slope / np.where(curved, diagonal[:, k], 1.0)
            edge = np.where(slope > 0, left[:, k], right[:, k])
            to = np.where(curved, to, np.where(slope == 0, z[:, k], edge))
            z[:, k] = np.clip(to, left[:, k], right[:, k])
    return np.where(np.isfinite(z), z, 0.0)


def _height(b: Array, factor: Array, z: Array) -> Array:
    bent = np.einsum("bij,bj->bi", factor, z)
    found: Array = np.einsum("bi,bi->b", b, z) + 0.5 * np.einsum("bi,bi->b", bent, bent)
    return found
