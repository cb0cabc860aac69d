"""The picture of a plan, beside the other pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..checkpoint import Plan
from ..errors import InputTypeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["schedule"]


def schedule(plan: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a plan of a checkpoint schedule; the same as ``plan.plot(ax)``.

    Args:
        plan: A plan, as ``Revolve(slots=10).plan(1000)`` gives it.
        ax: Axes to draw on, new ones by default.

    Returns:
        The axes: steps on the vertical one, time on the other.

    Raises:
        InputTypeError: If it is no plan, or ``ax`` no axes.
        ScheduleError: If the plan is too long for a picture.
        MissingPackageError: If matplotlib is not installed.

    Cost:
        One pass over the actions of the plan.

    Example:
        >>> import derivative_covers as dc
        >>> plan = dc.checkpoint.Revolve(slots=3).plan(12)
        >>> dc.plot.schedule(plan).get_ylabel()
        'step'
    """
    if not isinstance(plan, Plan):
        msg = (
            f"a Plan is needed, such as Revolve(slots=10).plan(1000); got "
            f"{type(plan).__name__}."
        )
        raise InputTypeError(msg)
    return plan.plot(ax)
