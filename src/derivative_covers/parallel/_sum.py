"""Covers of functions that are sums over shards of data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Unpack

from numpy.typing import NDArray

from ..covers import (
    RecordingOptions,
    cover_hessian,
    cover_hybrid,
    hessian_bound,
    tape_function,
)
from ..covers._arguments import group_count
from ..covers._structure import vector
from ..errors import ConstantProgramError, OptionError, ShapeError
from ..results import Named, Summary, kinks_note, number, scales_notes, variables
from ..tape import Kink
from ._options import check_recording, merging
from ._shards import call_with, is_empty, listed, total
from ._tree import Terms

__all__ = ["SumCover", "cover_sum"]

ACROSS = ("quadrature", "sum")


@dataclass(frozen=True, eq=False, repr=False)
class SumCover(Named):
    """A cover of the Hessian of a sum over shards, with its value and gradient.

    ``numpy.asarray`` of it is ``h``, as one flat vector where the inputs came in a
    dictionary or tuple. Its ``repr`` is a table of the variables; its method ``named`` gives
    them names.

    Attributes:
        value: Value of the sum.
        gradient: Its gradient, of the shape (or structure) of the inputs.
        h: Nonnegative, likewise, with ``|H_ij| <= h_i h_j``.
        bound: ``B >= |H|`` entrywise, as :func:`derivative_covers.hessian_bound` gives
            it; None unless asked for.
        merge: How the atoms of a shard were merged.
        across: How the covers of shards were merged.
        shards: How many there were.
        asked: Whether some block had to read the declared scales.
        kinks: Where a shard's branch was taken at a kink or tie; always empty unless
            recorded with ``kinks="branch"``. Nodes are those of the shard's own tape.

    Example:
        >>> from derivative_covers import parallel
        >>> found = parallel.cover_sum([lambda x: x**2, lambda x: 4 * x**2], 1.0)
        >>> float(found.value), found.shards
        (5.0, 2)
    """

    value: Any
    gradient: Any
    h: Any
    bound: Any
    merge: str
    across: str
    shards: int
    asked: bool
    kinks: tuple[Kink, ...] = ()

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return vector(self.h, dtype, copy)

    def _variables(self) -> tuple[Any, int]:
        return self.h, 0

    def _summary(self) -> Summary:
        title = (
            f"SumCover: value={number(self.value)}, shards={self.shards}, "
            f"merge={self.merge!r}, across={self.across!r}{kinks_note(self.kinks)}"
        )
        columns = {"gradient": self.gradient, "h": self.h}
        table = variables(self.names, columns, "h")
        return Summary(title, (table,), scales_notes(self.asked))


@dataclass(frozen=True)
class _Shard:
    """What a worker does with a shard, or with one of several functions."""

    f: Callable[..., Any] | None
    x: Any
    options: dict[str, Any]
    ngroups: int | None
    across: str
    bound: bool
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
            tape, out = tape_function(f, self.x, **recording)
        except (ConstantProgramError, ShapeError):
            if self.f is None or not is_empty(item):
                raise
            return Terms(call_with(f, self.x, args, self.recording.get("kwargs")))
        if self.ngroups is None:
            found = cover_hessian(tape, out, **self.options)
        else:
            found = cover_hybrid(tape, out, ngroups=self.ngroups, **self.options)
        bounds = (hessian_bound(tape, out),) if self.bound else ()
        by_sum = self.across == "sum"
        return Terms(
            found.value,
            found.gradient,
            (*bounds, found.h) if by_sum else bounds,
            () if by_sum else (found.h,),
            found.asked,
            tape.box is not None,
            found.kinks,
        )


def cover_sum(
    parts: Any,
    x: Any,
    *,
    data: Any = None,
    merge: Literal["sum", "quadrature", "hybrid", "auto"] = "sum",
    ngroups: int | None = None,
    budget: int | None = None,
    across: Literal["quadrature", "sum"] = "quadrature",
    hessian_bound: bool = False,
    scales: Any = None,
    ratio: float | None = None,
    check: bool = True,
    executor: Any = None,
    progress: bool = False,
    folder: Any = None,
    **recording: Unpack[RecordingOptions],
) -> SumCover:
    """Value, gradient and cover of ``f = sum_s f_s``, a shard at a time, on any executor.

    Args:
        parts: Functions of the inputs, whose sum is ``f``; or one function
            ``f(x, shard)`` of the inputs and a shard of ``data``.
        x: Point, as in :func:`tape_function`; a box as well.
        data: Shards: a list, or an iterator that is asked for a few at a time; or a Dask
            bag, data frame or array (blocks of rows), of which every partition is a
            shard that stays where it is. Shards may be Dask's delayed objects and
            futures. An iterator's shards pass through this process. A shard that holds
            no observation may be constant, and counts by its value alone.
        merge: How the atoms of a shard are merged: ``"sum"``, ``"quadrature"`` and
            ``"auto"`` as in :func:`cover_hessian`, ``"hybrid"`` as in
            :func:`cover_hybrid`.
        ngroups: Number of groups of ``merge="hybrid"``, which needs it.
        budget: Gradients that ``merge="auto"`` may cost, in each shard.
        across: How covers of shards are merged: ``"quadrature"`` takes
            ``h = sqrt(sum_s h_s**2)``; ``"sum"`` takes ``h = sum_s h_s``, which is never
            smaller, and is what the sum merge of one tape of all shards would give.
        hessian_bound: Whether to give the entrywise bound as well. It costs two sweeps
            an input, and n² numbers a shard come back.
        scales: As in :func:`cover_hessian`.
        ratio: As in :func:`cover_hessian`.
        check: As in :func:`cover_hessian`.
        executor: Where shards are computed: None, one after the other here; an executor
            of ``concurrent.futures``, or one that keeps its protocol such as
            ``mpi4py.futures.MPIPoolExecutor``; a client of ``dask.distributed``. For
            processes, functions have to be importable; Dask sends any function.
        progress: Draw a bar (extra ``progress``).
        folder: A folder on disk for the sum of the shards that are done, made where there
            is none. Where it holds that of the same call, this goes on from there, after
            another look at the first and the last shard that it has; ``data`` has to give
            the same shards again. Remove it when the result is no longer needed.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`; ``args`` follow the shard.

    Returns:
        A :class:`SumCover`.

    Raises:
        WorkerError: If a shard raised (its index, its input; the error itself is the
            ``__cause__``), or a worker or the scheduler was lost for good.
        ConstantProgramError: If no shard depends on the inputs.
        DomainError: If shards are finite and their sum is not.
        StorageError: If ``folder`` is in use, is damaged, or holds something else:
            another point, number of shards (where it is known) or options, or a shard
            that gives something else, the first or the last that it has. Functions and
            data that differ between these alone are not noticed: give each sum its own
            folder. Also for exact numbers, which it does not keep.
        ShapeError: If there are no shards, or a Dask array has several blocks a row.
        OptionError: For options that cannot be used.
        InputTypeError: For parts, data or an executor of a wrong type, and for a
            function that cannot be sent to another process.

    Guarantee:
        Covers to rounding; over a box at every point and exactly. Shards are joined in
        pairs by their index, so that the result has the same bits on any executor, with
        any number of workers, whichever shard ends first, whatever was retried, and
        after any interruption.

    Cost:
        A recording and a cover of each shard. Here: as many results as are under way
        and ``log2(shards)`` more. On the wire: 16 n bytes a shard besides its data.

    Source:
        ``|H| <= sum_s h_s h_s'``; Cauchy-Schwarz across shards.

    Example:
        >>> import numpy as np
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> from derivative_covers import parallel
        >>> def f(x, shard):
        ...     return np.sum((x[0] * shard - x[1]) ** 2)
        >>> shards = [np.array([1.0, 2.0]), np.array([3.0])]
        >>> with ThreadPoolExecutor(2) as pool:
        ...     found = parallel.cover_sum(f, [1.0, 2.0], data=shards, executor=pool)
        >>> float(found.value), found.gradient
        (2.0, array([4., 0.]))
    """
    check_recording(recording)
    options = merging(merge, ngroups, budget, ratio)
    if not isinstance(across, str) or across not in ACROSS:
        msg = f"across is {across!r}; it must be 'quadrature' or 'sum'."
        raise OptionError(msg)
    options |= {"scales": scales, "check": check}
    f = parts if callable(parts) else None
    groups = None if ngroups is None else group_count(ngroups)
    task = _Shard(f, x, options, groups, across, hessian_bound, recording)
    found, shards = total(task, parts, data, executor, progress, folder, "cover_sum")
    *bounds, h = (*found.added, *found.covers)
    bound = bounds[0] if bounds else None
    return SumCover(
        found.value,
        found.gradient,
        h,
        bound,
        merge,
        across,
        shards,
        found.asked,
        found.kinks,
    )
