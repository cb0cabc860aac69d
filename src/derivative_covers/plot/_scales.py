"""The natural step of every variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..results import new_axes
from ._inputs import named_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scales"]

NAMED = 60  # variables that get a line with a name


def scales(h: Any, names: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the natural step ``1 / h_i`` of every variable, on a logarithmic axis.

    Up to 60 variables have a line each, with its name; more are drawn as one curve, from
    the smallest step to the largest. A variable with ``h_i = 0`` has no natural step:
    its name says so, and a curve counts them in its title.

    Args:
        h: A cover: the result of :func:`~derivative_covers.cover_hessian` and its like,
            or a vector, or a nest of dictionaries and tuples.
        names: Names of the variables: a list of strings or a dictionary of parameters.
            None: those that ``h`` carries.
        ax: Axes to draw on, new ones by default.

    Returns:
        The axes.

    Raises:
        ShapeError: If ``h`` is empty, or there are more or fewer names.
        OptionError: If an entry is negative, infinite or NaN.
        InputTypeError: For what is no cover, list of names, or axes.
        MissingPackageError: If matplotlib is not installed.

    Cost:
        O(n log n).

    Example:
        >>> import derivative_covers as dc
        >>> ax = dc.plot.scales([1e3, 0.0], ["length", "offset"])
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['length', 'offset (none)']
    """
    v, names = named_vector(h, names)
    n = v.size
    few = n <= NAMED
    ax = new_axes(ax, size=(6.0, max(2.0, 0.25 * n + 1)) if few else (6.0, 4.5))
    some = np.flatnonzero(v)
    with np.errstate(all="ignore"):
        steps = 1 / v[some]
    ax.set_xscale("log")
    ax.set_xlabel("natural step 1 / h[i]")
    if some.size:
        _span_decades(ax, steps)
    if few:
        texts = [f"{names[i]}{'' if v[i] else ' (none)'}" for i in range(n)]
        ax.plot(steps, some, "o", clip_on=False, zorder=3)
        ax.set_title("natural step of each variable", loc="left", fontsize="medium")
        ax.set_yticks(range(n), texts)
        ax.set_ylim(n - 0.5, -0.5)
        ax.grid(visible=True, axis="both", linewidth=0.4)
        return ax
    ax.plot(np.sort(steps), np.arange(some.size))
    ax.set_ylabel("variables, by their step")
    title = f"{n:,} variables"
    if some.size < n:
        title += f", {n - some.size:,} of them without a natural step"
    ax.set_title(title, loc="left", fontsize="medium")
    return ax


def _span_decades(ax: Axes, steps: NDArray[Any]) -> None:
    """Limits at powers of ten, so that there are numbers to read at both ends."""
    with np.errstate(over="ignore"):
        low = 10.0 ** np.floor(np.log10(steps.min()))
        high = 10.0 ** np.ceil(np.log10(steps.max()))
    if 0 < low < high < np.inf:
        ax.set_xlim(low, high)
