"""Covers of nonlinear least squares whose residuals lie in shards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ..covers import NLSCover, RecordingOptions, tape_function
from ..covers import cover_nls as cover_of_shard
from ..covers._arguments import group_count
from ..errors import ConstantProgramError, ShapeError
from ._options import check_ratio, check_recording
from ._shards import is_empty, listed, total
from ._tree import Terms, merged

__all__ = ["cover_nls"]


@dataclass(frozen=True)
class _Residuals:
    """What a worker does with a shard, or with one of several functions."""

    f: Callable[..., Any] | None
    x: Any
    options: dict[str, Any]
    recording: RecordingOptions

    def __call__(self, item: Any) -> Terms:
        f, args = self.f, tuple(self.recording.get("args", ()))
        if f is None:
            f = item
        else:
            item = listed(item)
            args = (item, *args)
        recording: Any = {**self.recording, "args": args}
        try:
            tape, outs = tape_function(f, self.x, **recording)
        except (ConstantProgramError, ShapeError):
            if self.f is None or not is_empty(item):
                raise
            return Terms(0.0)
        found = cover_of_shard(tape, outs, **self.options)
        return Terms(
            found.value,
            found.gradient,
            covers=(found.h_gn, found.h_curv),
            upward=tape.box is not None,
            kinks=found.kinks,
        )


def cover_nls(
    residuals: Any,
    x: Any,
    *,
    data: Any = None,
    ngroups: int | None = None,
    scales: Any = None,
    ratio: float | None = None,
    check: bool = True,
    executor: Any = None,
    progress: bool = False,
    folder: Any = None,
    **recording: Unpack[RecordingOptions],
) -> NLSCover:
    """Cover of the Hessian of half a sum of squares whose residuals lie in shards.

    No process ever holds all residuals: a worker records those of one shard, and what
    comes back is as long as the inputs.

    Args:
        residuals: A function ``f(x, shard)`` that gives the residuals of a shard of
            ``data``; or functions of the inputs, of which each gives some.
        x: Point, as in :func:`tape_function`; a box as well.
        data: Shards, as in :func:`cover_sum`.
        ngroups: As in :func:`derivative_covers.cover_nls`, in each shard; but None, the
            tightest, is the default here: the sum merge over a shard of a million
            residuals is a thousand times above it.
        scales: As in :func:`cover_hessian`.
        ratio: As in :func:`cover_hessian`.
        check: As in :func:`cover_hessian`.
        executor: As in :func:`cover_sum`.
        progress: As in :func:`cover_sum`.
        folder: As in :func:`cover_sum`.
        **recording: As in :func:`cover_sum`.

    Returns:
        A :class:`derivative_covers.NLSCover`. Weights of residuals are factors that the
        function applies, the root of each.

    Raises:
        DerivativeError: As :func:`cover_sum`.

    Guarantee:
        Each of the three covers its matrix, to rounding; over a box at every point,
        exactly. With ``ngroups=None``, ``h_gn`` is the root of the diagonal of ``J' J``
        over all shards, the least that any cover can be. The same bits on any executor,
        as in :func:`cover_sum`.

    Cost:
        As :func:`derivative_covers.cover_nls` of each shard. On the wire: 24 n bytes a
        shard besides its data.

    Source:
        ``J' J = sum_s J_s' J_s``; Cauchy-Schwarz across shards.

    Example:
        >>> import numpy as np
        >>> from derivative_covers import parallel
        >>> def rate(p, shard):
        ...     concentration, measured = shard
        ...     return p[0] * concentration / (p[1] + concentration) - measured
        >>> first = np.array([0.02, 0.06]), np.array([76.0, 97.0])
        >>> second = np.array([0.56, 1.10]), np.array([191.0, 207.0])
        >>> found = parallel.cover_nls(rate, [200.0, 0.05], data=[first, second])
        >>> found.h_gn.round(2)
        array([   1.46, 1329.74])
    """
    check_recording(recording)
    check_ratio(ratio)
    groups = None if ngroups is None else group_count(ngroups)
    options = {"ngroups": groups, "scales": scales, "ratio": ratio, "check": check}
    f = residuals if callable(residuals) else None
    task = _Residuals(f, x, options, recording)
    found, _ = total(task, residuals, data, executor, progress, folder, "cover_nls")
    h_gn, h_curv = found.covers
    with np.errstate(all="ignore"):
        h = merged(h_gn, h_curv, upward=found.upward)
    return NLSCover(found.value, found.gradient, h, h_gn, h_curv, found.kinks)
