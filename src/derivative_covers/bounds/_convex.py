"""Whether a function is convex over a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval
from ..errors import DomainError, NondifferentiableError, UndecidedError
from ._bisect import Judgement, bisect, largest_first
from ._boxes import around, as_interval
from ._curvature import Curvature
from ._dominance import semidefinite
from ._entries import Entries
from ._options import Options, split_options

__all__ = ["convex_on"]

Array = NDArray[Any]


def convex_on(f: Any, box: Any, **options: Unpack[Options]) -> bool | None:
    """Whether a function is convex over a box; both answers are proofs.

    Args:
        f: As in :func:`alphabb`.
        box: As in :func:`alphabb`; ends may be infinite where ``f`` can take them.
            Variables that the box fixes are left out of the question.
        **options: As in :func:`alphabb`. Bisection ends as soon as the answer is known.

    Returns:
        True if the Hessian is positive semidefinite at every point of the box; False if
        at some points a direction has negative curvature; None if neither was shown with
        ``max_boxes`` parts. A Hessian that is singular somewhere, such as that of
        ``(x + 2 * y)**4``, often leaves None.

    Raises:
        OptionError, ShapeError: As :func:`alphabb`.
        DomainError, NondifferentiableError, UndecidedError: As :func:`alphabb`, unless
            the answer is False.

    Guarantee:
        Proved in outward arithmetic: True by diagonal dominance of the interval Hessian,
        or of a congruent matrix, on every part; False by a quadratic form below zero at
        a point.

    Cost:
        For each part two interval Hessians (a sweep an input) and some products of
        matrices.

    Source:
        Sylvester's law of inertia. Rump 2010, "Verification methods: Rigorous results
        using floating-point arithmetic", Acta Numerica 19, for the method.

    Example:
        >>> import numpy as np
        >>> from derivative_covers import bounds
        >>> f = lambda x: np.exp(x[0]) + x[0] * x[1] + x[1] ** 2
        >>> bounds.convex_on(f, [(0, 1), (-5, 5)])
        True
        >>> bounds.convex_on(lambda x: x[0] * x[1], [(-1, 1), (0, 2)])
        False
    """
    recording, bisection = split_options(options)
    where = as_interval(box)
    widths = np.ravel(where.width)
    free = widths > 0
    units = np.where(np.isfinite(widths), widths, 1.0)[free]

    def judge(parts: list[bool | None]) -> Judgement:
        if False in parts:
            return Judgement(False, [], settled=True)
        open_ = np.array([answer is None for answer in parts], dtype=float)
        return Judgement(None if open_.any() else True, largest_first(open_))

    finding = _Convex(Curvature(f, "hessian", recording), free, units)
    found: bool | None = bisect(finding, judge, where, bisection)
    return found


@dataclass(frozen=True)
class _Convex:
    """The answer over a part."""

    curvature: Curvature
    free: Array
    widths: Array

    def __call__(self, lo: Array, hi: Array) -> tuple[bool | None, float]:
        # A point that shows the contrary counts even where the part meets a fault.
        ends = [around(a, b) for a, b in zip(lo.flat, hi.flat, strict=True)]
        below, above = np.transpose(ends).reshape(2, *lo.shape)
        if self._bends_down(np.maximum(below, lo), np.minimum(above, hi)):
            return False, 0.0
        H = self._hessian(lo, hi)
        answer = True if semidefinite(H, self.widths) else None
        return answer, H.spread(self.widths)

    def _hessian(self, lo: Array, hi: Array) -> Entries:
        found = self.curvature(lo, hi)
        assert isinstance(found, Entries)
        return found.among(self.free)

    def _bends_down(self, lo: Array, hi: Array) -> bool:
        """Whether some direction has negative curvature all over a tiny box.

        At a point alone, a tie could have gone to a branch that holds nowhere else.
        """
        if not self.free.any():
            return False
        try:
            H = self._hessian(lo, hi)
            direction = np.linalg.eigh(0.5 * H.lo + 0.5 * H.hi)[1][:, 0]
        except (DomainError, NondifferentiableError, UndecidedError):
            return False
        except np.linalg.LinAlgError:
            return False
        v = Interval(direction)
        return bool((v @ (H.interval @ v)).hi < 0)
