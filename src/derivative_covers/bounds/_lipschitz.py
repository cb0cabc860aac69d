"""Lipschitz constants of gradients over a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval
from ..errors import OptionError, ShapeError
from ._bisect import Judgement, bisect, largest_first
from ._boxes import as_interval
from ._curvature import Curvature, Method, check_method
from ._dominance import resolvent, semidefinite
from ._entries import Covered, Entries
from ._options import Options, split_options

__all__ = ["gradient_lipschitz"]

Array = NDArray[Any]


def gradient_lipschitz(
    f: Any,
    box: Any,
    *,
    scales: Any = None,
    method: Method = "auto",
    **options: Unpack[Options],
) -> float:
    """A Lipschitz constant of the gradient over a box, in the Euclidean norm.

    Args:
        f: As in :func:`alphabb`.
        box: As in :func:`alphabb`; ends may be infinite where ``f`` can take them.
        scales: Positive numbers ``s`` of the shape of the box: the constant is then that
            of the gradient of ``y -> f(s * y)``, the function in scaled variables.
        method: As in :func:`alphabb`.
        **options: As in :func:`alphabb`.

    Returns:
        ``L`` such that the spectral norm of the Hessian is at most ``L`` at every point
        of the box. So the gradients of two points differ by at most ``L`` times their
        distance, and gradient steps of length ``1 / L`` that stay in the box descend.

    Raises:
        OptionError: For scales that are not finite and positive; and as :func:`alphabb`.
        ShapeError: If they have another shape than the box; and as :func:`alphabb`.
        DomainError, NondifferentiableError, UndecidedError: As :func:`alphabb`.

    Guarantee:
        Never too small: enclosures and all that follows are rounded outward.

    Cost:
        As :func:`alphabb`.

    Source:
        The least of ``sum(h**2)`` for a cover; of ``max (|H| d)_i / d_i`` with positive
        ``d`` (Collatz and Wielandt), and of the absolute values of eigenvalues, proved by
        definiteness of ``L I - H`` and ``L I + H``.

    Example:
        >>> import numpy as np
        >>> from derivative_covers import bounds
        >>> bounds.gradient_lipschitz(lambda x: np.sum(x**4), [(-1, 2), (0, 1)])
        48.0
    """
    check_method(method)
    recording, bisection = split_options(options)
    where = as_interval(box)
    s = _scales(scales, where)
    widths = np.ravel(where.width)
    units = np.where(np.isfinite(widths), widths, 1.0)

    def judge(parts: list[float]) -> Judgement:
        if not parts:
            return Judgement(None, [])
        return Judgement(max(parts), largest_first(np.array(parts)))

    finding = _Norm(Curvature(f, method, recording), s, units)
    return float(bisect(finding, judge, where, bisection))


def _scales(scales: Any, box: Interval) -> Array | None:
    if scales is None:
        return None
    s = np.asarray(scales, dtype=np.float64)
    if s.shape != box.shape:
        msg = f"scales have shape {s.shape}; the box has shape {box.shape}."
        raise ShapeError(msg)
    if not ((s > 0) & np.isfinite(s)).all():
        msg = "scales must be finite and positive, one for each variable."
        raise OptionError(msg)
    return s.ravel()


@dataclass(frozen=True)
class _Norm:
    """A bound of the spectral norm over a part."""

    curvature: Curvature
    scales: Array | None
    widths: Array

    def __call__(self, lo: Array, hi: Array) -> tuple[float, float]:
        H = self.curvature(lo, hi)
        if self.scales is not None:
            H = H.scaled(self.scales)
        if isinstance(H, Covered):
            norm = float(np.sum(Interval(H.h) ** 2).hi)
        else:
            norm = spectral_norm(H)
        return norm, H.spread(self.widths)


def spectral_norm(H: Entries) -> float:
    """The least bound found of the spectral norms of all symmetric matrices in ``H``."""
    size = H.size
    norm = _weighted(size, np.ones(len(size)))
    if not (0 < norm < np.inf):
        return norm
    try:
        norm = min(norm, _weighted(size, resolvent(size)))
        mid = np.abs(np.linalg.eigvalsh(0.5 * H.lo + 0.5 * H.hi)).max()
        rad = np.linalg.eigvalsh(0.5 * H.hi - 0.5 * H.lo)[-1]
    except np.linalg.LinAlgError:
        return norm
    guess = (mid + rad) * (1 + 1e-9)
    if guess < norm:
        ones = np.ones(len(size))
        up, down = H, Entries(0.0 - H.hi, 0.0 - H.lo)
        if all(semidefinite(M.plus(guess * ones), ones) for M in (up, down)):
            norm = float(guess)
    return norm


def _weighted(size: Array, d: Array) -> float:
    """``max (|H| d)_i / d_i``, rounded upward."""
    if not (np.isfinite(d).all() and (d > 0).all()):
        return float("inf")
    return float(((Interval(size) @ Interval(d)) / Interval(d)).hi.max())
