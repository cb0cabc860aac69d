"""A heat map of how far a cover lies above each entry of the Hessian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError
from ..results import new_axes
from ._inputs import excesses, named_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cover"]

LARGEST = 2000  # variables; more would be cells smaller than a pixel
NAMED = 40  # variables that are all named at the sides


def cover(h: Any, H: Any, *, names: Any = None, ax: Axes | None = None) -> Axes:
    """Draw ``log10(h_i h_j / |H_ij|)`` for all pairs of variables.

    0 is exact, 1 a factor of ten. Entries that are exactly zero are grey. Entries above
    their bound, which a cover does not have, are red, and the title counts them.

    Args:
        h: A cover: the result of :func:`~derivative_covers.cover_hessian` and its like,
            or a vector, or a nest of dictionaries and tuples.
        H: The Hessian, as :func:`~derivative_covers.iscover` takes it: a matrix, one of
            SciPy's sparse ones, or the nest of blocks that
            :func:`~derivative_covers.hessian` gives.
        names: Names of the variables: a list of strings or a dictionary of parameters.
            None: those that ``h`` carries.
        ax: Axes to draw on, new ones by default.

    Returns:
        The axes.

    Raises:
        ShapeError: If the sizes do not fit, or there are more than 2000 variables.
        OptionError: If ``h`` is negative, or either holds a NaN or an infinity.
        InputTypeError: For what is no cover, matrix, list of names, or axes.
        MissingPackageError: If matplotlib is not installed.

    Cost:
        O(n**2) time and memory.

    Example:
        >>> import derivative_covers as dc
        >>> f = lambda p: p["k_on"] ** 2 * p["k_off"]
        >>> p = {"k_on": 1.0, "k_off": 2.0}
        >>> ax = dc.plot.cover(dc.cover_hessian(f, p), dc.hessian(f, p))
        >>> [label.get_text() for label in ax.get_xticklabels()]
        ['k_on', 'k_off']
    """
    v, names = named_vector(h, names)
    if v.size > LARGEST:
        msg = (
            f"a picture of {v.size} x {v.size} entries shows nothing; at most {LARGEST} "
            "variables are drawn. Take some of them: h[ids] and H[ids][:, ids], or draw "
            "plot.tightness."
        )
        raise ShapeError(msg)
    found, _ = excesses(h, H)
    ax = new_axes(ax)
    some = found < np.inf
    below = int(np.count_nonzero(found < 0))
    top = float(found[some].max(initial=0.0))
    image = ax.imshow(
        np.where(some, np.maximum(found, -1.0), np.nan),
        vmin=0.0,
        vmax=max(top, 1.0),
        interpolation="nearest",
    )
    image.set_cmap(image.get_cmap().with_extremes(bad="lightgrey", under="red"))
    ax.figure.colorbar(
        image,
        ax=ax,
        label="log10(h[i] h[j] / |H[i, j]|)",
        extend="min" if below else "neither",
    )
    _tick(ax, names)
    ax.set_title(_title(found, below), loc="left", fontsize="medium")
    return ax


def _title(found: Any, below: int) -> str:
    if below:
        return f"not a cover: {below:,} entries lie above their bound"
    some = found[found < np.inf]
    if not some.size:
        return "all entries are zero"
    return f"h[i] h[j] over |H[i, j]|: a factor of {10 ** np.median(some):.3g} (median)"


def _tick(ax: Axes, names: Sequence[str]) -> None:
    places = range(0, len(names), -(-len(names) // NAMED))
    texts = [names[k] for k in places]
    upright = max(map(len, texts)) > 3
    ax.set_xticks(places, texts, rotation=90 if upright else 0)
    ax.set_yticks(places, texts)
