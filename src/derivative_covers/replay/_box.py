"""A program that is recorded over one box and evaluated over others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ..covers import (
    HessianCover,
    cover_hessian,
    gradient,
    hessian,
    hessian_bound,
    hvp,
    jacobian,
    tape_function,
)
from ..covers._arguments import RecordingOptions, declared, scalar_output
from ..covers._structure import shaped
from ..elements import Interval, all_finite
from ..errors import InputTypeError, ReplayError, ShapeError
from ..local import split_ratio
from ..sweeps import cover_state, input_cover, lower
from ..tape import Node, Tape, check_range
from ..tape._replay import over_box
from ._again import holds_recorded, recorded_as
from ._same import difference

__all__ = ["CompiledBox"]


class _Recording:
    """A recording over a box, and how it is enclosed over others.

    Attributes:
        tape: The tape.
        out: Ids of its outputs.
        box: What was recorded over.
        anywhere: Whether it holds over every box, since the program asked for no values;
            else it does over parts of its own.
        again: Fills a tape of the same blocks; None without the compiler.
        checked: Whether it was held against another recording.
    """

    def __init__(self, tape: Tape, out: Any, box: Interval) -> None:
        self.tape, self.out, self.box = tape, out, box
        self.anywhere = not tape.enclosures.asked
        self.checked = False
        self.again: Callable[[Tape], bool] | None = None

    def prepare(self) -> None:
        """Find out what does not depend on the box; on first use."""
        numba = import_module("numba")
        if self.again is None and not numba.config.DISABLE_JIT:
            rigorous = import_module("derivative_covers.sweeps.rigorous._again")
            self.again = rigorous.Again(self.tape)

    def can_serve(self) -> bool:
        """Whether all of its nodes follow from their parents."""
        explicit = any(isinstance(block, Node) for block in self.tape.blocks)
        # Intervals that the program took from values would be those of this box.
        return not explicit and (self.anywhere or len(self.tape.sets) == 1)

    def holds(self, box: Interval) -> bool:
        """Whether the program would record the same over a box."""
        mine = self.box
        return self.anywhere or bool(
            (mine.lo <= box.lo).all() and (box.hi <= mine.hi).all()
        )

    def differs(self, other: _Recording) -> str | None:
        """What is not the same in another recording."""
        found = difference(self.tape, other.tape)
        if found is None and not np.array_equal(self.out, other.out):
            found = "the outputs are other nodes"
        if found is None:
            mine, theirs = self.tape.sets, other.tape.sets
            for start in mine.keys() - {0}:
                if not np.array_equal(mine[start], theirs[start]):
                    found = f"node {start} holds other intervals"
        return found


class CompiledBox:
    """A program that is recorded over a box and evaluated over others in compiled code.

    Made by :func:`compile` of an :class:`Interval`. Safe to use from several threads.

    A program that asks for no values (comparisons, orders, roundings to ``int``) is
    recorded once. One that does is evaluated over parts of a box of a recording, where all
    that it decided holds; elsewhere it is recorded again, and raises what a recording
    raises. So are, each time, programs that record nodes explicitly or compute with
    :func:`value`.

    Attributes:
        f: The program.

    Guarantee:
        That of a recording over the same box. Array operations have its bits; scalar
        ones and whole powers may end a float nearer, or further.

    Cost:
        A compiled pass over arithmetic, sums and products, some ten nanoseconds an
        operation; other functions are enclosed as in a recording. The second box is
        recorded too, to be compared; the first use on a machine compiles for some ten
        seconds. Boxes with infinite ends, faults that no output needs and a process
        without the compiler take the sweeps of a recording, without its function.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> box = dc.Interval([0.0, 0.0], [1.0, 1.0])
        >>> f = dc.compile(lambda x: np.sum(x**2) * x[0], box)
        >>> f.value(dc.Interval([1.0, 2.0], [1.5, 2.5]))
        Interval(5., 12.75)
    """

    def __init__(
        self,
        f: Callable[..., Any],
        box: Interval,
        branches: int,
        options: RecordingOptions,
    ) -> None:
        self.f = f
        self._options = options
        self._limit = branches
        self._lock = threading.Lock()
        self._kept: list[_Recording] = []
        self._made = self._replays = 0
        self._again = True
        first = self._record(box)
        self._like, self._out, self._first = first.tape, first.out, first.box
        self._keep(first)

    @property
    def recordings(self) -> int:
        """How often the program has been recorded."""
        return self._made

    @property
    def replays(self) -> int:
        """How often a recording was evaluated over another box."""
        return self._replays

    # -- results -------------------------------------------------------------------------

    def __call__(self, *x: Any) -> Any:
        """What the program ranges over; of recorded values, the program itself.

        So it can stand where its function can.

        Args:
            *x: The box.
        """
        if len(x) == 1 and not holds_recorded(x[0]) and isinstance(x[0], Interval):
            return self.value(x[0])
        f, options = recorded_as(self.f, self._options), self._options
        return f(*x, *options.get("args", ()), **(options.get("kwargs") or {}))

    def value(self, box: Any) -> Any:
        """An :class:`Interval` that contains the program's values over a box.

        Args:
            box: An :class:`Interval` of the shape of the first one.

        Raises:
            InputTypeError, ShapeError: If ``box`` is none, or of another shape.
            DerivativeError: As a recording over the box.
        """
        tape, out, _ = self._at(box)
        found = tape.values_at(np.ravel(out))
        return found.reshape(np.shape(out)) if np.ndim(out) else found[0]

    def gradient(self, box: Any) -> Any:
        """As :func:`derivative_covers.gradient`: an :class:`Interval`.

        Args:
            box: As in :meth:`value`.

        Raises:
            DerivativeError: As :meth:`value`, and :func:`derivative_covers.gradient`.
        """
        return gradient(*self.tape_at(box))

    def jacobian(self, box: Any) -> Any:
        """As :func:`derivative_covers.jacobian`: an :class:`Interval`.

        Args:
            box: As in :meth:`value`.

        Raises:
            DerivativeError: As :meth:`value`, and :func:`derivative_covers.jacobian`.
        """
        return jacobian(*self.tape_at(box))

    def hvp(self, box: Any, v: Any) -> Any:
        """As :func:`derivative_covers.hvp`: an :class:`Interval`.

        Args:
            box: As in :meth:`value`.
            v: Direction, of the shape of the box.

        Raises:
            DerivativeError: As :meth:`value`, and :func:`derivative_covers.hvp`.
        """
        return hvp(*self.tape_at(box), v)

    def hessian(self, box: Any) -> Any:
        """As :func:`derivative_covers.hessian`: an :class:`Interval`.

        Args:
            box: As in :meth:`value`.

        Raises:
            DerivativeError: As :meth:`value`, and :func:`derivative_covers.hessian`.
        """
        return hessian(*self.tape_at(box))

    def hessian_bound(self, box: Any) -> Any:
        """As :func:`derivative_covers.hessian_bound`.

        Args:
            box: As in :meth:`value`.

        Raises:
            DerivativeError: As :meth:`value`, and
                :func:`derivative_covers.hessian_bound`.
        """
        return hessian_bound(*self.tape_at(box))

    def cover(
        self,
        box: Any,
        *,
        merge: str = "sum",
        budget: int | None = None,
        scales: Any = None,
        ratio: float | None = None,
    ) -> HessianCover:
        """A cover of the Hessian that holds at every point of a box, exactly.

        Args:
            box: As in :meth:`value`.
            merge: As in :func:`cover_hessian`, and so the others.
            budget: See there.
            scales: See there.
            ratio: See there.

        Returns:
            What :func:`derivative_covers.cover_hessian` gives over the box.

        Raises:
            DerivativeError: As :meth:`value`, and
                :func:`derivative_covers.cover_hessian`.
        """
        tape, out, known = self._at(box)
        if known and merge == "sum" and budget is None:
            o = scalar_output(out, "cover_hessian")
            found = _sum_cover(tape, o, scales, ratio)
            if found is not None:
                tape.cache.clear()  # refers to the tape, and would outlive this call
                return found
        return cover_hessian(
            tape, out, merge=merge, budget=budget, scales=scales, ratio=ratio
        )

    def tape_at(self, box: Any) -> tuple[Tape, Any]:
        """A finished tape over a box, for whatever else is to be asked there.

        Args:
            box: As in :meth:`value`.

        Returns:
            ``(tape, out)`` as :func:`tape_function` gives them.

        Raises:
            DerivativeError: As :meth:`value`.

        Example:
            >>> import derivative_covers as dc
            >>> f = dc.compile(lambda x: x[0] * x[1], dc.Interval([0, 0], [1, 1]))
            >>> box = dc.Interval([1, 2], [2, 3])
            >>> dc.gradient(*f.tape_at(box))
            Interval([2., 1.], [3., 2.])
        """
        tape, out, _ = self._at(box)
        return tape, out

    # -- recordings ----------------------------------------------------------------------

    def _at(self, box: Any) -> tuple[Tape, Any, bool]:
        """A tape over a box, its outputs, and whether all of it is known to be smooth."""
        x = self._checked(box)
        for kept in tuple(self._kept) if self._again else ():
            if kept.holds(x) and self._check(kept, x):
                tape = over_box(kept.tape, x)
                kept.prepare()
                known = kept.again is not None and kept.again(tape)
                if not known:
                    check_range(tape, kept.out)
                self._served(kept)
                return tape, kept.out, known
        made = self._record(x)
        self._keep(made)
        return made.tape, made.out, False

    def _checked(self, box: Any) -> Interval:
        if not isinstance(box, Interval):
            msg = (
                f"the box is of type {type(box).__name__}; the program was compiled over "
                "a box, so an Interval is needed: Interval(lo, hi), Interval.box(pairs) "
                "for a list of (lo, hi) pairs, or Interval(x) for the point x."
            )
            raise InputTypeError(msg)
        if box.shape != self._like.shape:
            msg = (
                f"the box has shape {box.shape}; the program was compiled for "
                f"{self._like.shape}."
            )
            raise ShapeError(msg)
        return box

    def _record(self, box: Interval) -> _Recording:
        self._made += 1
        mine = Interval(box.lo, box.hi)  # the caller may write to the other one
        return _Recording(*tape_function(self.f, mine, **self._options), mine)

    def _keep(self, made: _Recording) -> None:
        if not made.can_serve():
            self._again = False
            return
        with self._lock:
            self._kept.insert(0, made)
            del self._kept[self._limit :]

    def _served(self, kept: _Recording) -> None:
        self._replays += 1
        if self._kept and self._kept[0] is not kept:
            with self._lock:
                if kept in self._kept:
                    self._kept.remove(kept)
                    self._kept.insert(0, kept)

    def _check(self, kept: _Recording, box: Interval) -> bool:
        """Hold a recording once against one over another box; False: it cannot serve."""
        if kept.checked or _same_box(box, kept.box):
            return True
        found = kept.differs(self._record(box))
        if found is None:
            kept.checked = True
            return True
        if not kept.anywhere:  # numbers that it read depend on the box
            self._again = False
            return False
        msg = (
            f"the program cannot be evaluated again: of two recordings, {found}. It "
            "computes with something outside that has changed. Pass that as an argument, "
            "or call cover_hessian with the function, which records it each time."
        )
        raise ReplayError(msg)

    def __reduce__(self) -> Any:
        """A copy is compiled anew, over the first box."""
        return CompiledBox, (self.f, self._first, self._limit, self._options)

    def __repr__(self) -> str:
        name = getattr(self.f, "__name__", type(self.f).__name__)
        return (
            f"<compiled {name} over boxes: {self._like.ninputs} inputs, "
            f"{self._like.nnodes} nodes, {self.recordings} recordings, "
            f"{self.replays} replays>"
        )


def _same_box(x: Interval, y: Interval) -> bool:
    return np.array_equal(x.lo, y.lo) and np.array_equal(x.hi, y.hi)


def _sum_cover(tape: Tape, out: int, scales: Any, ratio: Any) -> HessianCover | None:
    """The sum cover of a tape whose nodes have no faults; None where it is not finite."""
    threshold = split_ratio(ratio, tape.dtype.type)
    w: Any = partial(declared, tape, None) if scales is None else declared(tape, scales)
    program = lower(tape)
    state = cover_state(program, tape, w, threshold, True)
    adj, h = input_cover(program, tape, out, state)
    if not (all_finite(adj) and all_finite(h)):
        return None
    value = Interval._wrap(tape.enclosures.of(out))
    grad, h = shaped(tape, adj, sole=True), shaped(tape, h, sole=True)
    return HessianCover(value, grad, h, "sum", state.source.built)
