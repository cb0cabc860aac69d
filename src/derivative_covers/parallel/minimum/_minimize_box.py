"""The global minimum of a function over a box, proved."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...bounds._boxes import finite_box
from ...bounds._options import split_options
from ...bounds._progress import bar
from ...elements import Interval
from ...errors import InputTypeError, OptionError
from .._engines import engine
from .._executors import results
from .._store import digest
from ._judge import KINDS
from ._local import polish
from ._result import BoxLeaves, BoxMinimum
from ._search import Search, Spawn
from ._state import load, save
from ._worker import UNDECIDED, BoxWorker, Task

__all__ = ["minimize_box"]

Array = NDArray[Any]


def minimize_box(
    f: Any,
    box: Any,
    tol: float = 1e-6,
    *,
    max_boxes: int = 100_000,
    executor: Any = None,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = False,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    numpy: Literal["rewrite"] | None = None,
) -> BoxMinimum:
    """The least value of a function over a box, proved up to a tolerance.

    The box is cut into parts until each of them is known to hold nothing that lies more
    than ``tol`` below the best point found. A part is bounded by an interval evaluation,
    by the mean value form and by a convex underestimator (the second-order Taylor form,
    with the diagonal shift of alphaBB); a gradient that has one sign all over it leaves a
    face or nothing. The function is recorded once, and evaluated over many parts in a
    pass.

    Args:
        f: Function of one array (or of one number) with a scalar result; of few
            variables, since the number of parts may grow exponentially with them.
        box: As in :func:`derivative_covers.bounds.alphabb`; all ends are finite. A
            variable whose ends agree is fixed.
        tol: The gap that is wanted between the bounds of the minimum, in the units of
            ``f``.
        max_boxes: Look at no more boxes than so many.
        executor: Judges batches of boxes: None (here), an executor of
            ``concurrent.futures`` or a client of ``dask.distributed``. With processes,
            ``f`` has to be one that can be sent there. It does not change the result.
        folder: Where the state is kept, written after every round. A search that was
            killed goes on from there when it is called again, and ends with the same
            bits; one that was out of boxes goes on with a larger ``max_boxes``.
        progress: Draw a bar of the boxes looked at.
        args: Further positional arguments of ``f``.
        kwargs: Further keyword arguments of ``f``.
        numpy: As in :func:`derivative_covers.tape_function`.

    Returns:
        A :class:`BoxMinimum`: bounds of the minimum, a point, whether the gap is proved,
        and the parts of the box with what is known of each, so that others can check it.

    Raises:
        OptionError: For a box with an end that is NaN or infinite or with ``lo > hi``; if
            ``tol`` is no positive number; for an option that is none.
        ShapeError: If the result of ``f`` is no scalar, or the box is empty.
        InputTypeError: For a box, an executor or a folder of a type that cannot be used.
        ConstantProgramError: If ``f`` does not depend on its argument.
        DomainError: If ``f`` leaves its domain at a point of the box that was looked at.
        UndecidedError: If it takes different branches, and cutting the box does not tell
            them apart, or not with ``max_boxes``. Write ``np.maximum`` and ``abs`` in place of branches.
        UnsupportedOperationError: If it has no enclosure, or only one over the whole box,
            as a black box has.
        WorkerError: If the executor loses its work, or the program raises over a part of
            the box and not over the whole (the error itself is the ``__cause__``).
        StorageError: If the folder cannot be used, or holds the state of another search:
            another box, ``tol`` or program. (Programs are told apart over the box; of one
            that the box does not decide, by what it does at three points.)

    Guarantee:
        ``lower`` and ``upper`` are rounded outward: the minimum of the program as real
        arithmetic has it lies between them. ``proved`` is False where ``max_boxes`` did
        not suffice, or rounding leaves a wider gap than ``tol``. SciPy, where it is installed, improves the best point of long searches,
        and takes no part in proofs. Kinks are allowed; parts that hold one are bounded by their values
        alone. The result is the same bits with any executor.

    Cost:
        For a program of tens of operations about a tenth of a millisecond to a
        millisecond a box, in batches; in proportion to the operations for longer ones,
        such as sums over data. How many boxes it
        takes depends on the function: tens to thousands for those of two to four
        variables, many more where a minimum is flat in several directions.

    Source:
        Hansen and Walster 2004, "Global Optimization Using Interval Analysis", chapters 12
        and 13. Adjiman, Dallwig, Floudas, Neumaier 1998, "A global optimization method,
        alphaBB, for general twice-differentiable constrained NLPs: I", Computers and
        Chemical Engineering 22.

    Example:
        >>> from derivative_covers.parallel import minimize_box
        >>> def camel(x):
        ...     a, b = x[0], x[1]
        ...     return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2
        >>> found = minimize_box(camel, [(-3, 3), (-2, 2)])
        >>> found.proved, round(found.lower, 5), round(found.upper, 5)
        (True, -1.03163, -1.03163)
    """
    recording, options = split_options(
        {
            "args": args,
            "kwargs": kwargs,
            "numpy": numpy,
            "max_boxes": max_boxes,
            "progress": progress,
        }
    )
    _check_tol(tol)
    where = finite_box(box, "minimize_box")
    domain = np.stack([np.ravel(where.lo), np.ravel(where.hi)])
    worker = BoxWorker(f, recording, where.shape, domain)
    mark = _mark(worker, domain, tol)
    search = Search.over(domain, float(tol))
    place = None if folder is None else _folder(folder)
    if place is not None:
        search = load(place, search, mark)
    spawn = _spawning(worker, executor)
    with bar(options.progress, max_boxes, instead="") as show:
        while True:
            search.close()
            show(search.judged)
            room = max_boxes - search.judged
            if not len(search.waiting) or room < 1:
                break
            search.round(spawn, room)
            polish(search, worker)
            if place is not None:
                save(search, place, mark)
    _check_recorded(worker, search)
    return _result(search, where)


def _spawning(worker: BoxWorker, executor: Any) -> Spawn:
    """Who judges batches, in their order."""
    on = engine(executor)

    def spawn(tasks: list[Task]) -> Iterator[Any]:
        with closing(results(worker, tasks, on, what="batch of boxes")) as found:
            for done in found:
                yield done.result

    return spawn


def _result(search: Search, box: Interval) -> BoxMinimum:
    every = search.leaves + search.waiting + search.stuck
    leaves = BoxLeaves(
        every.lo,
        every.hi,
        every.bound,
        np.array(KINDS)[every.kind],
        every.variable,
        every.sign,
    )
    open_ = len(search.waiting) + len(search.stuck)
    return BoxMinimum(
        search.point.reshape(box.shape)[()],
        search.lower,
        search.upper,
        search.tol,
        not open_,
        box,
        search.judged,
        leaves,
    )


def _mark(worker: BoxWorker, domain: Array, tol: float) -> str:
    """What tells a search from others: box, tolerance, and the program over the box.

    Where the box does not decide the program's branches, it is that at some points. Errors
    that no smaller box avoids come up here.
    """
    parts = [domain]
    for share in (0.5, 0.31, 0.77):
        point = np.clip(domain[0] + share * (domain[1] - domain[0]), *domain)
        parts.append(np.stack([point, point]))
    programs = []
    for part in parts:
        try:
            programs.append(worker.program(part).digest())
        except UNDECIDED:
            continue
        if part is domain:
            break
    return digest(domain, tol, programs)


def _check_recorded(worker: BoxWorker, search: Search) -> None:
    """Raise what keeps the function from being recorded over a box that is left."""
    for boxes in (search.waiting, search.stuck):
        for k in np.flatnonzero(boxes.part < 0)[:1]:
            try:
                worker.program(np.stack([boxes.lo[k], boxes.hi[k]]))
            except UNDECIDED as error:
                error.add_note(
                    f"over the part from {boxes.lo[k]} to {boxes.hi[k]}, after "
                    f"{search.judged} boxes"
                )
                raise


def _check_tol(tol: Any) -> None:
    number = isinstance(tol, int | float | np.number) and not isinstance(tol, bool)
    if not number or not 0 < tol < np.inf:
        msg = f"tol is {tol!r}; a positive number is needed: the gap that is wanted."
        raise OptionError(msg)


def _folder(folder: Any) -> str:
    if not isinstance(folder, str | os.PathLike) or isinstance(folder, bytes):
        msg = f"folder is of type {type(folder).__name__}; a path is needed."
        raise InputTypeError(msg)
    return os.fspath(folder)
