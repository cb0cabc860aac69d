"""A bound of the absolute value of every entry of a Hessian over a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ._bisect import Judgement, bisect, largest_first
from ._boxes import as_interval
from ._curvature import Curvature, Method, check_method
from ._options import Options, split_options

__all__ = ["hessian_bound"]

Array = NDArray[Any]


@dataclass(frozen=True)
class _Sizes:
    """Bounds of the absolute values over a part."""

    curvature: Curvature
    widths: Array

    def __call__(self, lo: Array, hi: Array) -> tuple[Array, float]:
        found = self.curvature(lo, hi)
        return found.size, found.spread(self.widths)


def hessian_bound(
    f: Any, box: Any, *, method: Method = "auto", **options: Unpack[Options]
) -> Array:
    """Entrywise bound of the Hessian all over a box.

    Args:
        f: As in :func:`alphabb`.
        box: As in :func:`alphabb`; ends may be infinite where ``f`` can take them.
        method: As in :func:`alphabb`.
        **options: As in :func:`alphabb`.

    Returns:
        ``B`` of shape ``box.shape + box.shape``, symmetric, with ``|H_ij| <= B_ij`` at
        every point of the box, exactly.

    Raises:
        As :func:`alphabb`.

    Guarantee:
        Never too small: enclosures and all that follows are rounded outward.

    Cost:
        As :func:`alphabb`.

    Example:
        >>> from derivative_covers import bounds
        >>> bounds.hessian_bound(lambda x: x[0] ** 2 * x[1], [(-1, 1), (0, 3)])
        array([[6., 2.],
               [2., 0.]])
    """
    check_method(method)
    recording, bisection = split_options(options)
    where = as_interval(box)
    widths = np.ravel(where.width)
    units = np.where(np.isfinite(widths), widths, 1.0)

    def judge(parts: list[Array]) -> Judgement:
        if not parts:
            return Judgement(None, [])
        sizes = np.stack(parts)
        most = sizes.max(axis=0)
        attained = (sizes == most) & (most > 0)
        worst = largest_first(attained.sum(axis=(1, 2)))
        return Judgement(most.reshape(where.shape + where.shape), worst)

    finding = _Sizes(Curvature(f, method, recording), units)
    found: Array = bisect(finding, judge, where, bisection)
    return found
