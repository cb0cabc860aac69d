"""How tight covers are: the share of entries within a factor of their bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..covers import that_count
from ..errors import OptionError
from ..results import new_axes
from ._inputs import excesses, named_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["tightness"]

POINTS = 2000  # of a curve; more would share pixels


def tightness(
    covers: Any, H: Any, *, threshold: float = 1e-12, ax: Axes | None = None
) -> Axes:
    """Draw for which share of the entries ``h_i h_j`` is within a factor of ``|H_ij|``.

    A cover that is exact everywhere jumps to 1 at the factor 1; the farther to the right
    its curve, the looser it is. The legend gives the median factor.

    Args:
        covers: One cover, as :func:`~derivative_covers.plot.cover` takes it; or a
            dictionary of several, by the label that the legend gives them. (So wrap a
            cover that is itself a dictionary of arrays: ``{"sum": h}``.)
        H: The Hessian, as in :func:`~derivative_covers.plot.cover`.
        threshold: Which entries count as zero, as in
            :func:`~derivative_covers.cover_excess`; zeros are not counted.
        ax: Axes to draw on, new ones by default.

    Returns:
        The axes.

    Raises:
        ShapeError: If the sizes do not fit.
        OptionError: If a cover is negative, either holds a NaN or an infinity, there is
            no cover, or ``H`` has no entry that counts.
        InputTypeError: For what is no cover, matrix, or axes.
        MissingPackageError: If matplotlib is not installed.

    Cost:
        O(n**2 log n) for each cover.

    Example:
        >>> import derivative_covers as dc
        >>> f = lambda x: (x[0] + x[1]) ** 2 + (x[0] - x[1]) ** 2
        >>> x = [1.0, 2.0]
        >>> covers = {m: dc.cover_hessian(f, x, merge=m) for m in ("sum", "quadrature")}
        >>> ax = dc.plot.tightness(covers, dc.hessian(f, x))
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['sum: median factor 2', 'quadrature: median factor 1']
    """
    several = covers if isinstance(covers, Mapping) else {_label(covers): covers}
    if not several:
        msg = "covers is an empty dictionary; at least one cover is needed."
        raise OptionError(msg)
    curves = {label: _counted(h, H, threshold) for label, h in several.items()}
    ax = new_axes(ax)
    for label, found in curves.items():
        below = int(np.count_nonzero(found < 0))
        note = f", NOT a cover of {below:,} entries" if below else ""
        factor = 10 ** float(np.median(found))
        text = f"{label}: median factor {factor:.3g}{note}"
        at = np.unique(np.linspace(0, found.size - 1, POINTS).astype(int))
        with np.errstate(over="ignore"):
            # From the left, and on to where the last curve ends.
            ax.step(10 ** found[at], (at + 1) / found.size, where="post", label=text)
    ax.set_xscale("log")
    ax.axvline(1.0, color="grey", linewidth=0.8)
    ax.set_ylim(0.0, 1.02)
    ax.set_xlabel("factor h[i] h[j] / |H[i, j]|")
    ax.set_ylabel("share of entries at most")
    ax.legend(loc="lower right")
    return ax


def _label(h: Any) -> str:
    return str(getattr(h, "merge", "cover"))


def _counted(h: Any, H: Any, threshold: float) -> NDArray[Any]:
    """Excesses of the entries that count, from small to large."""
    named_vector(h, None)
    found, _ = excesses(h, H)
    counted = that_count(h, H.toarray() if hasattr(H, "toarray") else H, threshold)
    if not counted.any():
        msg = "all entries of H are zero; there is nothing to compare."
        raise OptionError(msg)
    return np.sort(found[counted])
