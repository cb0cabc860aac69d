"""A global minimum over a box, with what proves it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ...elements import Interval
from ...results import Named, Summary, number, variables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BoxLeaves", "BoxMinimum"]

Array = NDArray[Any]


@dataclass(frozen=True)
class BoxLeaves:
    """The parts into which a box was cut, and what is proved of each.

    All arrays have a row a part, of which there are ``m``; ``n`` is the number of
    variables. The parts cover the box.

    Attributes:
        lo: Lower ends, of shape ``(m, n)``.
        hi: Upper ends.
        bound: The function is nowhere below it in the part.
        kind: How that was found: ``"value"``, ``"mean value"``, ``"second order"``, or
            ``"none"`` (the bound is then minus infinity). ``"gradient"``: a component of
            the gradient has one sign all over the part, so that no minimiser lies there
            but on a face that lies on the boundary of the box, or of a part over which
            the function was recorded anew; such a face is a part of its own.
        variable: The component of the gradient; -1 for other kinds.
        sign: Its sign; 0 for other kinds.
    """

    lo: Array
    hi: Array
    bound: Array
    kind: Array
    variable: Array
    sign: Array

    def __len__(self) -> int:
        return len(self.bound)


@dataclass(frozen=True, eq=False, repr=False)
class BoxMinimum(Named):
    """Bounds of the least value of a function over a box.

    Attributes:
        x: A point of the box where the function is at most ``upper``, of the shape of the
            box. It need not be near a minimiser where the function is flat.
        lower: The function is nowhere below it in the box.
        upper: The function is not above it at ``x``.
        tol: The gap that was asked for.
        proved: Whether ``upper - lower <= tol``.
        box: The box.
        boxes: The number of boxes that were looked at.
        leaves: The parts of the box with their bounds, :class:`BoxLeaves`. Where
            ``proved`` is false, some have bounds below ``upper - tol``.
    """

    x: Array
    lower: float
    upper: float
    tol: float
    proved: bool
    box: Interval
    boxes: int
    leaves: BoxLeaves

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the parts of a box of two variables with matplotlib, by kind of proof.

        Args:
            ax: Axes to draw on, new ones by default.

        Returns:
            The axes.

        Raises:
            ShapeError: If there are not just two variables that the box leaves free.
            MissingPackageError: If matplotlib is not installed.
            InputTypeError: If ``ax`` is something else than matplotlib's axes.
        """
        axes: Axes = import_module("._picture", __package__).plot(self, ax)
        return axes

    def _variables(self) -> tuple[Any, int]:
        return self.x, 0

    def _summary(self) -> Summary:
        title = (
            f"BoxMinimum: {number(self.lower)} <= minimum <= {number(self.upper)}, "
            f"proved={self.proved}, boxes={self.boxes}"
        )
        columns = {"x": self.x, "box": self.box}
        return Summary(title, (variables(self.names, columns, "x"),))
