"""A program that is recorded once and replayed in compiled code: what optimisers call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..covers import HessianCover, cover_hessian, gradient, hvp, tape_function
from ..covers._arguments import (
    RecordingOptions,
    declared,
    inputs_like,
    scalar_output,
)
from ..covers._structure import flat, shaped
from ..errors import (
    BranchChangedError,
    DerivativeError,
    InputTypeError,
    OptionError,
    ReplayError,
    ShapeError,
)
from ..forward import ForwardCover
from ..local import split_ratio
from ..tape import Tape, input_array
from ._again import forward_options, forward_result
from ._batch import Batch
from ._forward import Forward
from ._machine import Machine
from ._same import difference
from .kernels._kinds import COVER, GRADIENT

__all__ = ["Compiled", "compile"]

Array = NDArray[Any]


class _Branch:
    """One recording of the program: it holds where its comparisons have their answers."""

    def __init__(self, tape: Tape, out: Any) -> None:
        self.tape, self.out = tape, out
        self.checked = False
        self.point = np.array(tape.vals[: tape.ninputs])
        self._batch: Batch | None = None
        self._asked = False
        self._forward: Forward | None = None
        self._forward_asked = False
        try:
            self.machine: Machine | None = Machine(tape, out)
        except ReplayError:
            self.machine = None

    def many(self) -> Batch | None:
        """The program at many points; None where it cannot be had."""
        if not self._asked:
            if self.machine is not None:
                try:
                    self._batch = Batch(self.tape, self.out)
                except ReplayError:
                    self._batch = None
            self._asked = True
        return self._batch

    def forward(self) -> Forward | None:
        """The program's forward covers; None where they cannot be had."""
        if not self._forward_asked:
            if self.machine is not None:
                try:
                    self._forward = Forward(self.machine, self.tape, self.out)
                except ReplayError:
                    self._forward = None
            self._forward_asked = True
        return self._forward


class Compiled:
    """A program that is recorded once and replayed in compiled code.

    Made by :func:`compile`. Safe to use from several threads at once.

    Attributes:
        f: The program.
        recordings: How often it has been recorded.
        replays: How often a recording was replayed.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> f = dc.compile(lambda x: np.sum(x**2), [1.0, 2.0])
        >>> float(f.value([3.0, 4.0])), f.gradient([3.0, 4.0])
        (25.0, array([6., 8.]))
    """

    def __init__(
        self, f: Callable[..., Any], x0: Any, branches: int, options: RecordingOptions
    ) -> None:
        self.f = f
        self.recordings = 0
        self.replays = 0
        self._limit = branches
        self._options = options
        self._lock = threading.Lock()
        self._branches: list[_Branch] = []
        tape, out = self._record(x0)
        if tape.box is not None:
            msg = "x0 is a box, or of numbers that are objects; compile takes floats."
            raise InputTypeError(msg)
        self._like, self._out = tape, out
        self._scalar = np.ndim(out) == 0
        self._keep(_Branch(tape, out))

    # -- what is called ----------------------------------------------------------------

    def value(self, x: Any) -> Any:
        """Value of the program: a number, or an array in the shape of the outputs.

        Args:
            x: Point, of the shape (or structure) of ``x0``.

        Raises:
            ShapeError: If ``x`` has another shape.
            DomainError: As in recording, for the result is that of a recording at ``x``.
            ReplayError: As :meth:`gradient`.
        """
        flat = self._flat(x)
        tape, out, found = self._replay(x, flat, lambda m: m.values(flat))
        if found is None:
            found = tape.values_at(np.ravel(out))
        return found[0] if self._scalar else found.reshape(np.shape(out))

    def gradient(self, x: Any) -> Any:
        """Gradient of a scalar program.

        Args:
            x: Point, of the shape (or structure) of ``x0``.

        Returns:
            What :func:`derivative_covers.gradient` gives, to rounding of sums.

        Raises:
            ShapeError: If ``x`` has another shape, or the program several outputs.
            DomainError: If the output depends on a node outside of its domain.
            NondifferentiableError: If it depends on a node at a kink, jump or tie.
            ReplayError: If the program computes with numbers that depend on its argument,
                or on something outside, but were not recorded, so that a replay would be
                wrong. It is found by recording once more, at the second point.

        Cost:
            One compiled forward and reverse pass; a recording where a comparison has
            another answer than in all recordings that are kept.
        """
        return self.value_and_gradient(x)[1]

    def value_and_gradient(self, x: Any) -> tuple[Any, Any]:
        """Value and gradient of a scalar program, as :meth:`gradient`."""
        flat = self._flat(x)
        self._one_output("gradient")
        tape, out, found = self._replay(x, flat, lambda m: m.gradient(flat))
        if found is not None:
            return found[0][0], shaped(tape, found[1])
        return tape.values_at(np.array([out]))[0], gradient(tape, out)

    def hvp(self, x: Any, v: Any) -> Any:
        """Product of the Hessian of a scalar program with ``v``.

        Args:
            x: Point, of the shape (or structure) of ``x0``.
            v: Direction, likewise.

        Returns:
            What :func:`derivative_covers.hvp` gives, to rounding of sums.

        Raises:
            As :meth:`gradient`.
        """
        flat = self._flat(x)
        self._one_output("hvp")
        w = inputs_like(self._like, v, "v", None)
        tape, out, found = self._replay(x, flat, lambda m: m.hvp(flat, w))
        if found is not None:
            return shaped(tape, found[2])
        return hvp(tape, out, v)

    def cover(
        self,
        x: Any,
        *,
        merge: str = "sum",
        budget: int | None = None,
        scales: Any = None,
        ratio: float | None = None,
    ) -> HessianCover:
        """Cover of the Hessian of a scalar program.

        Args:
            x: Point, of the shape (or structure) of ``x0``.
            merge: As in :func:`cover_hessian`; ``"sum"`` is compiled.
            budget: As in :func:`cover_hessian`.
            scales: As in :func:`cover_hessian`.
            ratio: As in :func:`cover_hessian`.

        Returns:
            What :func:`derivative_covers.cover_hessian` gives, to rounding of sums.

        Raises:
            As :meth:`gradient`, and OptionError for the options.
        """
        flat = self._flat(x)
        self._one_output("cover_hessian")
        threshold = float(split_ratio(ratio, self._like.dtype.type))
        declared(self._like, scales)  # refuses what is none, read or not
        if merge == "sum" and budget is None:
            tape, out, found = self._replay(
                x, flat, lambda m: None if m.ties else m.cover(flat, threshold)
            )
            if found is not None:
                y, grad, h = found
                grad, h = shaped(tape, grad), shaped(tape, h)
                return HessianCover(y[0], grad, h, "sum", False)
        else:
            tape, out = self._at(x)
        return cover_hessian(
            tape, out, merge=merge, budget=budget, scales=scales, ratio=ratio
        )

    def forward_cover(
        self,
        x: Any,
        *,
        scales: Any = None,
        ratio: float | None = None,
        storage: str = "sparse",
    ) -> ForwardCover:
        """Values, gradients and covers of all outputs, as if carried along.

        Args:
            x: Point, of the shape (or structure) of ``x0``.
            scales: As in :func:`forward_cover`.
            ratio: As in :func:`forward_cover`.
            storage: As in :func:`forward_cover`, which is called where the program
                cannot be replayed. In a replay, rows hold what can be nonzero.

        Returns:
            What :func:`derivative_covers.forward_cover` gives, to rounding.

        Raises:
            OptionError: For scales, a ratio or a storage that cannot be used, and for a
                program compiled with ``kinks="branch"``, which has no forward covers.
            As :meth:`gradient`, and :func:`forward_cover`.

        Cost:
            The first call works out the structure, in the time of some recordings.
            Another one takes a few nanoseconds an operation, and an entry of the
            gradients of those intermediate results that enter nonlinearly, and as much
            for each output.

        Example:
            >>> import derivative_covers as dc
            >>> f = dc.compile(lambda x: 8 * x[0] ** 2 + x[1] ** 2 / 2, [1.0, 1.0])
            >>> f.forward_cover([3.0, 1.0]).h
            array([4., 1.])
        """
        options = forward_options(
            self.f, self._like, self._options, scales, ratio, storage
        )
        flat = self._flat(x)
        found = self._forward(x, flat, options.ratio)
        if found is None:
            self._at(x)  # so that a new branch is kept for the next point
            return options(x)
        return forward_result(self._like, self._out, found)

    def _forward(self, x: Any, at: Array, ratio: float) -> Any:
        """A forward cover of a recording that can be replayed; else None."""
        for branch in tuple(self._branches):
            made = branch.forward()
            found = None if made is None else made.cover(at, ratio)
            if found is not None:
                if not branch.checked:
                    self._check(branch, at)
                self._use(branch)
                return found
        return None

    # -- many points -------------------------------------------------------------------

    def values(self, X: Any) -> Array:
        """Values at many points, on all cores.

        Args:
            X: Points, a row each: of shape ``(npoints, *x0.shape)``, or flat vectors
                where ``x0`` was a dictionary or tuple.

        Returns:
            Array of shape ``(npoints, *outputs)``.

        Raises:
            As :meth:`value`, for the first point where it would.
        """
        Y, _, _ = self._sweep(X, -1, 0.0)
        return Y.reshape(Y.shape[0], *np.shape(self._out))

    def gradients(self, X: Any) -> tuple[Array, Array]:
        """Values and gradients of a scalar program at many points, on all cores.

        Args:
            X: As in :meth:`values`.

        Returns:
            ``(values, gradients)`` of shapes ``(npoints,)`` and that of ``X``.

        Raises:
            As :meth:`gradient`, for the first point where it would.
        """
        self._one_output("gradient")
        Y, G, _ = self._sweep(X, GRADIENT, 0.0)
        return Y[:, 0], G.reshape(np.shape(X))

    def covers(
        self, X: Any, *, ratio: float | None = None
    ) -> tuple[Array, Array, Array]:
        """Values, gradients and sum covers of a scalar program at many points.

        Args:
            X: As in :meth:`values`.
            ratio: As in :func:`cover_hessian`.

        Returns:
            ``(values, gradients, h)``, the last two of the shape of ``X``.

        Raises:
            As :meth:`cover`, for the first point where it would.

        Cost:
            A few nanoseconds an operation of the program and point; points where the
            program branches otherwise are computed one by one.
        """
        self._one_output("cover_hessian")
        threshold = float(split_ratio(ratio, self._like.dtype.type))
        Y, G, H = self._sweep(X, COVER, threshold)
        return Y[:, 0], G.reshape(np.shape(X)), H.reshape(np.shape(X))

    def _sweep(self, X: Any, mode: int, ratio: float) -> tuple[Array, Array, Array]:
        points = self._points(X)
        left = np.arange(points.shape[0])
        Y = G = H = np.empty((0, 0))
        whole = True
        for branch in tuple(self._branches):
            batch = branch.many()
            if batch is None:
                continue
            if not left.size and not whole:
                break
            *found, failed = batch.sweep(points if whole else points[left], mode, ratio)
            done = left[~failed]
            if not branch.checked:
                others = done[(points[done] != branch.point).any(axis=1)]
                if others.size:
                    self._check(branch, points[others[0]])
            if whole:
                Y, G, H = found
            else:
                for all_, part in zip((Y, G, H), found, strict=True):
                    if part.size:
                        all_[done] = part[~failed]
            self.replays += int(done.size)
            left, whole = left[failed], False
        if whole:  # nothing is compiled
            like = self._like
            Y = np.empty((left.size, int(np.size(self._out))), dtype=like.dtype)
            G = np.empty(points.shape, dtype=like.dtype)
            H = np.empty(points.shape, dtype=like.magtype)
        for k in left.tolist():
            x = self._unflat(points[k])
            try:
                if mode < GRADIENT:
                    Y[k] = np.ravel(self.value(x))
                elif mode == GRADIENT:
                    Y[k], g = self.value_and_gradient(x)
                    G[k] = flat(g)
                else:
                    cover = self.cover(x, ratio=ratio)
                    Y[k], G[k], H[k] = cover.value, flat(cover.gradient), flat(cover.h)
            except DerivativeError as error:
                error.add_note(f"The point is X[{k}].")
                raise
        return Y, G, H

    # -- recordings --------------------------------------------------------------------

    def _replay(
        self, x: Any, at: Array, ask: Callable[[Machine], Any]
    ) -> tuple[Tape, Any, Any]:
        """What a compiled recording gives; else a tape at ``x``, and None."""
        for branch in tuple(self._branches):
            found = None if branch.machine is None else ask(branch.machine)
            if found is not None:
                self._check(branch, at)
                self._use(branch)
                return branch.tape, branch.out, found
        return (*self._at(x), None)

    def _at(self, x: Any) -> tuple[Tape, Any]:
        """A tape at ``x``: replayed where comparisons allow it, else recorded."""
        for branch in tuple(self._branches):
            try:
                tape = branch.tape.replay(x)
            except (BranchChangedError, ReplayError):
                continue
            self._check(branch, self._flat(x))
            self._use(branch)
            return tape, branch.out
        tape, out = self._record(x)
        self._keep(_Branch(tape, out))
        return tape, out

    def _record(self, x: Any) -> tuple[Tape, Any]:
        self.recordings += 1
        return tape_function(self.f, x, **self._options)

    def _keep(self, branch: _Branch) -> None:
        with self._lock:
            self._branches.insert(0, branch)
            del self._branches[self._limit :]

    def _use(self, branch: _Branch) -> None:
        """Note that a recording served; those that served last are asked first."""
        self.replays += 1
        if self._branches[0] is not branch:
            with self._lock:
                if branch in self._branches:
                    self._branches.remove(branch)
                    self._branches.insert(0, branch)

    def _check(self, branch: _Branch, at: Array) -> None:
        """Hold a recording at another point, once, against the one that is replayed."""
        if branch.checked or np.array_equal(at, branch.point):
            return
        tape, out = self._record(self._unflat(at))
        found = difference(branch.tape, tape)
        if found is None and not np.array_equal(branch.out, out):
            found = "the outputs are other nodes"
        if found is not None:
            msg = (
                f"the program cannot be replayed: of two recordings of the same branch, "
                f"{found}. It computes with numbers that depend on its argument but were "
                "not recorded, or on something outside that has changed. Compute them "
                "from the argument with NumPy's functions (stop_gradient keeps what is "
                "not to be differentiated), or call gradient and cover_hessian with the "
                "function, which record it each time."
            )
            raise ReplayError(msg)
        branch.checked = True

    # -- points ------------------------------------------------------------------------

    def _flat(self, x: Any) -> Array:
        like = self._like
        if like.structure is not None:
            return like.structure.flatten(x, "x", like.dtype)
        a = input_array(x, "x")
        if a.shape != like.shape:
            msg = f"x has shape {a.shape}; the program was compiled for {like.shape}."
            raise ShapeError(msg)
        self._of_type(a, "x")
        return a.ravel()

    def _unflat(self, point: Array) -> Any:
        return shaped(self._like, point)

    def _points(self, X: Any) -> Array:
        like = self._like
        if like.structure is not None and isinstance(X, (Mapping, tuple, list)):
            X = self._rows(X)
        X = input_array(X, "X") if np.size(X) else np.asarray(X, dtype=like.dtype)
        shape = like.shape
        if X.ndim != len(shape) + 1 or X.shape[1:] != shape:
            msg = (
                f"X has shape {X.shape}; a point a row is needed, "
                f"{('npoints', *shape)}.".replace("'", "")
            )
            raise ShapeError(msg)
        self._of_type(X, "X")
        return np.ascontiguousarray(X.reshape(X.shape[0], like.ninputs))

    def _rows(self, X: Any) -> Any:
        """A list of flat points; a nest might have the points along its inner axes."""
        if isinstance(X, list) and not any(isinstance(x, Mapping) for x in X):
            return X
        msg = (
            f"X is a {type(X).__name__} of parts; many points of a program whose inputs "
            "are a dictionary or tuple are given flat, as an array of shape (npoints, "
            f"{self._like.ninputs}): a row holds the numbers of one point in the order "
            "of the inputs."
        )
        raise InputTypeError(msg)

    def _of_type(self, x: Array, name: str) -> None:
        if x.dtype != self._like.dtype:
            msg = (
                f"{name} is {x.dtype}; the program was compiled for {self._like.dtype}."
            )
            raise InputTypeError(msg)

    def _one_output(self, what: str) -> None:
        scalar_output(self._out, what)

    def __reduce__(self) -> Any:
        """A copy is compiled anew, from a recording at the first point."""
        point = self._like.vals[: self._like.ninputs]
        x0 = self._unflat(np.array(point))
        return Compiled, (self.f, x0, self._limit, self._options)

    def __repr__(self) -> str:
        name = getattr(self.f, "__name__", type(self.f).__name__)
        return (
            f"<compiled {name}: {self._like.ninputs} inputs, {self._like.nnodes} nodes, "
            f"{self.recordings} recordings, {self.replays} replays>"
        )


def compile(
    f: Callable[..., Any],
    x0: Any,
    *,
    branches: int = 8,
    **recording: Unpack[RecordingOptions],
) -> Compiled:
    """Record a program once, to replay it in compiled code wherever it is called.

    It is what an optimiser calls thousands of times. Comparisons of recorded values, and
    whatever else decides what the program does, are checked at every point: where one has
    another answer, the program is recorded again, and some recordings are kept.

    What the program takes from outside (data, options, parameters) is frozen: it is read
    when the program is recorded. Compile again after a change.

    Args:
        f: Function as in :func:`tape_function`.
        x0: Point of the first recording, in the shape or structure of all others.
        branches: How many recordings are kept; those that served last.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`.

    Returns:
        A :class:`Compiled`, with ``value(x)``, ``gradient(x)``,
        ``value_and_gradient(x)``, ``hvp(x, v)``, ``cover(x)``, ``forward_cover(x)``, and
        at many points ``values(X)``, ``gradients(X)``, which gives values as well, and
        ``covers(X)``, which gives both and the covers.

    Raises:
        OptionError: If ``branches`` is not a positive integer.
        As :func:`tape_function`.

    Guarantee:
        Results are those of a recording at the same point: to rounding of sums, and a few
        units in the last place for each function such as ``exp``. Programs that cannot
        be replayed (linear solves, functions with no compiled form of their own, other
        types than float64) are recorded or evaluated by NumPy each time, and stay exact.

    Cost:
        A compiled pass over the program: a few nanoseconds an operation. The first use of
        an elemental on a machine compiles it, in about a tenth of a second, and that of
        each kind of pass (gradients, covers, many points) takes some ten seconds; both
        are kept on disk.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> rosenbrock = lambda x: np.sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)
        >>> f = dc.compile(rosenbrock, [0.0, 0.0])
        >>> f.gradient([-1.0, 2.0])
        array([396., 200.])
        >>> f.cover([-1.0, 2.0]).h.shape
        (2,)
    """
    if not isinstance(branches, int) or isinstance(branches, bool) or branches < 1:
        msg = f"branches is {branches!r}; a positive integer is needed."
        raise OptionError(msg)
    return Compiled(f, x0, branches, recording)
