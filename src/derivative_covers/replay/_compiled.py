"""A program that is recorded once and replayed in compiled code: what optimisers call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..covers import (
    HessianCover,
    cover_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
)
from ..covers._arguments import (
    RecordingOptions,
    declared,
    inputs_like,
    scalar_output,
)
from ..covers._structure import flat, shaped
from ..forward import ForwardCover, Replayable
from ..local import split_ratio
from ..tape import Tape
from ..tape._structure import Structure
from ._again import forward_options, forward_result, holds_recorded, recorded_as
from ._recordings import Recordings
from ._rows import sweep_rows
from .kernels._kinds import COVER, GRADIENT

__all__ = ["Compiled"]

Array = NDArray[Any]


class Compiled(Replayable):
    """A program that is recorded once and replayed in compiled code.

    Made by :func:`compile`. Safe to use from several threads at once.

    Attributes:
        f: The program.

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
        self._kept = Recordings(f, x0, branches, options)
        self._inputs = self._kept.inputs
        self._like, self._out = self._inputs.like, self._kept.out

    @property
    def recordings(self) -> int:
        """How often the program has been recorded."""
        return self._kept.made

    @property
    def replays(self) -> int:
        """How often a recording was replayed."""
        return self._kept.replays

    # -- one point ---------------------------------------------------------------------

    def __call__(self, *x: Any) -> Any:
        """Value of the program, as :meth:`value`; of recorded values, the program itself.

        So it can stand where its function can: in another program, or as that of
        :func:`derivative_covers.check`.

        Args:
            *x: Point; its parts one by one where ``x0`` was a tuple.
        """
        point = x[0] if len(x) == 1 else x
        if not holds_recorded(point):
            return self.value(point)
        options = self._kept.options
        f = recorded_as(self.f, options)
        several = isinstance(point, tuple) and self._like.structure is not None
        given = point if several else (point,)
        return f(*given, *options.get("args", ()), **(options.get("kwargs") or {}))

    def value(self, x: Any) -> Any:
        """Value of the program: a number, or an array in the shape of the outputs.

        Args:
            x: Point, of the shape (or structure) of ``x0``.

        Raises:
            ShapeError: If ``x`` has another shape.
            DomainError: As in recording, for the result is that of a recording at ``x``.
            ReplayError: As :meth:`gradient`.
        """
        at = self._inputs.flat(x)
        tape, out, found = self._kept.replay(x, at, lambda m: m.values(at))
        if found is None:
            found = tape.values_at(np.ravel(out))
        return found.reshape(np.shape(out)) if np.ndim(out) else found[0]

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
        at = self._inputs.flat(x)
        self._one_output("gradient")
        tape, out, found = self._kept.replay(x, at, lambda m: m.gradient(at))
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
        at = self._inputs.flat(x)
        self._one_output("hvp")
        w = inputs_like(self._like, v, "v", None)
        tape, out, found = self._kept.replay(x, at, lambda m: m.hvp(at, w))
        if found is not None:
            return shaped(tape, found[2])
        return hvp(tape, out, v)

    def hessian(self, x: Any) -> Any:
        """Hessian of a scalar program, as :func:`derivative_covers.hessian`.

        Args:
            x: Point, of the shape (or structure) of ``x0``.

        Raises:
            As :meth:`gradient`.

        Cost:
            That of :func:`derivative_covers.hessian` on a tape, without recording it.
        """
        self._one_output("hessian")
        return hessian(*self._kept.at(x))

    def jacobian(self, x: Any) -> Any:
        """Jacobian of all outputs.

        Args:
            x: Point, of the shape (or structure) of ``x0``.

        Returns:
            What :func:`derivative_covers.jacobian` gives, to rounding.

        Raises:
            As :meth:`gradient`.

        Cost:
            A few nanoseconds an operation of the program and entry of a column, or of a
            row where there are no more outputs than inputs. The first call works out the
            structure, in the time of some recordings.
        """
        at = self._inputs.flat(x)
        found = self._kept.forward(at, lambda made: made.jacobian(at))
        if found is None:
            return jacobian(*self._kept.at(x))
        return shaped(self._like, found.reshape(*np.shape(self._out), at.size))

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
        at = self._inputs.flat(x)
        self._one_output("cover_hessian")
        threshold = float(split_ratio(ratio, self._like.dtype.type))
        declared(self._like, scales)  # refuses what is none, read or not
        if merge == "sum" and budget is None:
            tape, out, found = self._kept.replay(
                x, at, lambda m: None if m.ties else m.cover(at, threshold)
            )
            if found is not None:
                y, grad, h = found
                grad, h = shaped(tape, grad), shaped(tape, h)
                return HessianCover(y[0], grad, h, "sum", False)
        else:
            tape, out = self._kept.at(x)
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
            DerivativeError: As :meth:`gradient` and :func:`forward_cover`.

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
            self.f, self._like, self._kept.options, scales, ratio, storage
        )
        at = self._inputs.flat(x)
        found = self._kept.forward(at, lambda made: made.cover(at, options.ratio))
        if found is None:
            self._kept.at(x)  # so that a new branch is kept for the next point
            return options(x)
        return forward_result(self._like, self._out, found)

    def replays_at(self, structure: Structure | None, x0: Array) -> bool:
        """Whether :meth:`forward_cover` takes points of this structure, shape and type."""
        like = self._like
        if structure is None or like.structure is None:
            same = structure is like.structure and x0.shape == like.shape
        else:
            same = structure.tree == like.structure.tree
        smooth = self._kept.options.get("kinks", "raise") == "raise"
        return same and x0.dtype == like.dtype and smooth

    def tape_at(self, x: Any) -> tuple[Tape, Any]:
        """A finished tape at a point, for whatever else is to be asked there.

        Args:
            x: Point, of the shape (or structure) of ``x0``.

        Returns:
            ``(tape, out)`` as :func:`tape_function` gives them: a replay of a recording
            that is kept, where comparisons allow it.

        Raises:
            As :meth:`gradient`.

        Example:
            >>> import derivative_covers as dc
            >>> f = dc.compile(lambda x: x[0] * x[1] ** 2, [1.0, 1.0])
            >>> dc.gradient(*f.tape_at([3.0, 2.0]))
            array([ 4., 12.])
        """
        self._inputs.flat(x)  # refuses what has another shape
        return self._kept.at(x)

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
        Y, *_ = sweep_rows(
            self._kept,
            self._inputs.rows(X),
            -1,
            0.0,
            lambda x: (np.ravel(self.value(x)),),
        )
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

        def one(x: Any) -> tuple[Any, ...]:
            value, g = self.value_and_gradient(x)
            return value, flat(g)

        Y, G, _ = sweep_rows(self._kept, self._inputs.rows(X), GRADIENT, 0.0, one)
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
            A few nanoseconds an operation of the program and point. A point where the
            program branches otherwise, or cannot be replayed, is computed by itself, and
            so are its neighbours, up to 256 rows; so sort rows by branch where you can.
        """
        self._one_output("cover_hessian")
        threshold = float(split_ratio(ratio, self._like.dtype.type))

        def one(x: Any) -> tuple[Any, ...]:
            cover = self.cover(x, ratio=ratio)
            return cover.value, flat(cover.gradient), flat(cover.h)

        Y, G, H = sweep_rows(self._kept, self._inputs.rows(X), COVER, threshold, one)
        return Y[:, 0], G.reshape(np.shape(X)), H.reshape(np.shape(X))

    def _with_first_alone(self) -> Compiled:
        """A copy that shares the first recording, and what is compiled of it."""
        other = object.__new__(Compiled)
        other.__dict__.update(self.__dict__)
        other._kept = self._kept.with_first_alone()
        return other

    def _one_output(self, what: str) -> None:
        scalar_output(self._out, what)

    def __reduce__(self) -> Any:
        """A copy is compiled anew, from a recording at the first point."""
        point = self._like.vals[: self._like.ninputs]
        x0 = self._inputs.nested(np.array(point))
        return Compiled, (self.f, x0, self._kept.limit, self._kept.options)

    def __repr__(self) -> str:
        name = getattr(self.f, "__name__", type(self.f).__name__)
        return (
            f"<compiled {name}: {self._like.ninputs} inputs, {self._like.nnodes} nodes, "
            f"{self.recordings} recordings, {self.replays} replays>"
        )
