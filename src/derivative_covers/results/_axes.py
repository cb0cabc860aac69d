"""The one place that knows matplotlib: axes to draw on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputTypeError, MissingPackageError, extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["new_axes"]


def new_axes(
    given: Any, *, size: tuple[float, float] = (6.0, 4.5), instead: str = ""
) -> Axes:
    """The axes that were given, or new ones.

    Args:
        given: Axes of matplotlib, or None.
        size: Width and height of a new figure in inches.
        instead: What serves without matplotlib, for the message where it is missing.

    Raises:
        MissingPackageError: If matplotlib is not installed.
        InputTypeError: If ``given`` is something else.
    """
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415
        from matplotlib.axes import Axes  # noqa: PLC0415
    except ImportError as error:
        msg = (
            "drawing needs matplotlib, which is not installed; "
            f"{extra('plot')}{instead}"
        )
        raise MissingPackageError(msg) from error
    if given is None:
        return plt.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(given, Axes):
        msg = (
            f"ax must be one of matplotlib's Axes, as plt.subplots() gives them, or "
            f"None; got {type(given).__name__}"
        )
        raise InputTypeError(msg)
    return given
