"""Variables counted in natural steps, and the function in units of a decrease."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ...covers._arguments import RecordingOptions
from ...errors import InputTypeError, OptionError, ShapeError
from ...replay import Compiled, compile
from ._form import Form, formed
from ._keywords import check_keywords
from ._point import Point

__all__ = ["Scaling", "from_steps", "natural", "scaling", "start_of", "typical_sizes"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Scaling:
    """A program in scaled variables: ``y = x / step``, and its values over ``unit``.

    All methods take and return arrays of shape ``(n,)``; where the start was a
    dictionary, ``to_units`` returns, and ``to_scaled`` takes, one with its keys. At ``y0`` no entry of the
    scaled Hessian exceeds 1, and the gradient has norm ``n``: a unit step against it is
    the longest one of which the cover says that it descends.

    Attributes:
        program: The compiled program, in the units of ``x``, of a flat vector.
        step: Natural step of each variable, in its units: ``sqrt(unit) / h``.
        unit: What values are divided by, in units of the function: about the decrease
            that a natural step promises at the start.
        y0: Where the scale was estimated, in scaled variables.
        unscaled: Indices of variables without a curvature there (they enter linearly,
            or not at all), whose step is their typical size instead.
        asked: Whether the cover read typical sizes; see
            :func:`derivative_covers.guards_any_block`.
        form: What points look like at the border; its ``names`` are those of the
            variables of a dictionary.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.interop.scipy import scaling
        >>> s = scaling(lambda x: (1e6 * x[0] - 1) ** 2 + x[1] ** 2, [3e-6, 1.0])
        >>> print(f"{s.step[0] / s.step[1]:.1e}")
        1.0e-06
        >>> s.to_units(s.y0).tolist() == [3e-6, 1.0]
        True
    """

    program: Compiled
    step: Array
    unit: float
    y0: Array
    unscaled: tuple[int, ...] = ()
    asked: bool = False
    form: Form = field(default_factory=Form)

    def to_scaled(self, x: Any) -> Array:
        """Scaled variables of a point, or of bounds."""
        flat = np.asarray(self.form.flat(x, "x"), dtype=float)
        return np.asarray(flat / self.step)

    def to_units(self, y: Any) -> Any:
        """The point in the units, and in the form, of the start."""
        return self.form.nested(self._flat(y))

    def _flat(self, y: Any) -> Array:
        return np.asarray(self.step * np.asarray(y, dtype=float))

    def value(self, y: Any) -> float:
        """Scaled value."""
        return float(np.ravel(self.program.value(self._flat(y)))[0] / self.unit)

    def gradient(self, y: Any) -> Array:
        """Scaled gradient."""
        return self.value_and_gradient(y)[1]

    def value_and_gradient(self, y: Any) -> tuple[float, Array]:
        """Scaled value and gradient, for the price of the gradient."""
        value, gradient = self.program.value_and_gradient(self._flat(y))
        scaled = np.ravel(value)[0] / self.unit
        return float(scaled), self.slope(gradient)

    def hvp(self, y: Any, v: Any) -> Array:
        """Product of the scaled Hessian and ``v``."""
        return self.slope(self.program.hvp(self._flat(y), self._flat(v)))

    def slope(self, gradient: Any) -> Array:
        """A flat gradient, or Hessian product, of the program in scaled variables."""
        return np.asarray(gradient * self.step / self.unit)

    def note(self, form: Form) -> str:
        """What a message says of variables without a curvature."""
        if not self.unscaled:
            return ""
        return (
            f" Variables {form.named(self.unscaled)} had no curvature where the scale was "
            "estimated; their steps are typical sizes."
        )


def scaling(
    f: Callable[..., Any],
    x0: Any,
    *,
    scales: Any = None,
    budget: int | None = None,
    **recording: Unpack[RecordingOptions],
) -> Scaling:
    """The scaled variables of :func:`minimize`, for any other optimiser.

    Args:
        f: Program as in :func:`derivative_covers.compile`, with one scalar output.
        x0: Start, shape ``(n,)``, or a dictionary of numbers and arrays, which ``f``
            takes then.
        scales: Typical sizes of the variables, positive, in their units. They serve
            products with a vanishing factor, and variables without a curvature; None:
            ``abs(x0)``, and 1 for a variable that starts at zero.
        budget: About how many gradients the cover may cost, as in
            :func:`derivative_covers.cover_hessian`.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`derivative_covers.tape_function`.

    Returns:
        A :class:`Scaling`: scaled ``value``, ``gradient``, ``value_and_gradient`` and
        ``hvp``, the start ``y0``, and ``to_units(y)`` for the way back.

    Raises:
        ShapeError: If ``x0`` is not one-dimensional, or the program has several outputs.
        InputTypeError: If ``x0`` is a function.
        OptionError: For scales or a budget that cannot be used, and unknown arguments.
        DomainError: If the function or its cover is not finite at ``x0``.
        DerivativeError: As :func:`derivative_covers.compile`.

    Guarantee:
        With units of the variables that are powers of two, and of ``f`` that are powers
        of four, the scaled program is the same bit for bit; with other units up to
        rounding. Only a variable that starts at zero counts as 1 in all units, where
        its size is read (``asked``, ``unscaled``): give ``scales`` then.

    Cost:
        Recording the program, and one cover.

    Source:
        ``|H_ij| <= h_i h_j``, so that ``step = sqrt(unit) / h`` makes all entries of
        the scaled Hessian at most 1 and its eigenvalues at most ``n``.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.interop.scipy import scaling
        >>> s = scaling(lambda x: np.sum((x * [1e9, 1e-3] - 1) ** 2), [2e-9, 3e3])
        >>> y = s.y0
        >>> for _ in range(50):  # gradient descent, which needs no step length here
        ...     y = y - s.gradient(y) / y.size
        >>> s.to_units(y).round(12)
        array([1.e-09, 1.e+03])
    """
    check_keywords(recording, "scaling")
    form, x0 = formed(x0)
    x, scales = start_of(x0), form.flat(scales, "scales")
    program = compile(form.taking(f, recording.get("numpy")), x, **recording)
    found = natural(program, x, typical_sizes(x, scales), budget)
    return replace(found, form=form)


def start_of(x0: Any) -> Array:
    """The start as an array of floats.

    Raises:
        InputTypeError: If it is a function.
        ShapeError: If it is not one-dimensional, or empty.
    """
    if callable(x0):
        msg = "x0 is a function; the function comes first, and then the start."
        raise InputTypeError(msg)
    x = np.atleast_1d(np.asarray(x0))
    if x.ndim != 1 or x.dtype.kind not in "biuf" or not x.size:
        msg = (
            f"x0 has shape {np.shape(x0)} and type {x.dtype}; a vector of real numbers "
            "is needed. Flatten what has another shape."
        )
        raise ShapeError(msg)
    return x.astype(np.float64)


def typical_sizes(x: Array, scales: Any, lb: Any = -np.inf, ub: Any = np.inf) -> Array:
    """A size for each variable: declared, that of the start, of its bounds, or 1.

    Raises:
        OptionError: If declared sizes are not positive and finite.
        ShapeError: If they have another shape.
    """
    if scales is not None:
        size = np.asarray(scales, dtype=float)
        if size.shape != x.shape:
            msg = f"scales have shape {size.shape}; x0 has {x.shape}."
            raise ShapeError(msg)
        if not (np.isfinite(size).all() and (size > 0).all()):
            msg = "scales must be positive and finite, one for each variable."
            raise OptionError(msg)
        return size
    with np.errstate(invalid="ignore"):
        width = np.broadcast_to(np.asarray(ub) - np.asarray(lb), x.shape)
    size = np.where(np.isfinite(width) & (width > 0), width, 1.0)
    return np.where(x != 0, np.abs(x), size)


def natural(program: Compiled, x: Array, typical: Array, budget: int | None) -> Scaling:
    """The scale of a cover at ``x``; typical sizes where it gives none, or asks."""
    cover = program.cover(x, merge="auto", budget=budget, scales=typical)
    point = Point(x, np.ravel(cover.value)[0], cover.gradient)
    return from_steps(program, point, cover.h, typical, cover.asked)


def from_steps(
    program: Compiled, point: Point, h: Array, typical: Array, asked: bool = False
) -> Scaling:
    """A scaling from ``h``, which is zero where nothing is known, and typical sizes."""
    x, g, n = point.x, point.gradient, point.x.size
    with np.errstate(all="ignore"):
        known = (h > 0) & np.isfinite(g / h) & np.isfinite(1 / h)
        # The step against a slope without curvature, g / h**2, is the typical size.
        h = np.where(known, h, np.sqrt(np.abs(g) / typical))
        slopes = np.divide(g, h, out=np.zeros(n), where=h > 0)
        root = float(np.linalg.norm(slopes)) / n
        if not (np.isfinite(root) and root**2 > 0):
            root = float(np.sqrt(abs(point.value))) or 1.0
        step = root / h
        step = np.where(np.isfinite(step) & (step > 0), step, typical)
    unknown = tuple(np.flatnonzero(~known).tolist())
    return Scaling(program, step, root**2, x / step, unknown, asked)
