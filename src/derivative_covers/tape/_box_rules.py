"""Rules over a box for functions whose ordinary ones look at values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._convert import holds_nodes
from ._decide import refuse_over_box, refuse_undecided, settled_order, shown
from ._over_box import answers_over_box, bounds, centre
from ._protocol import FUNCTIONS, as_array
from ._select import truth
from ._storage import ArrayBase, assembled, from_ids
from ._tvar import TVar

__all__: list[str] = []


# -- truth: recorded entries are compared with zero ------------------------------------


def _by_truth(*functions: Any) -> None:
    for function in functions:

        def answer(*args: Any, function: Any = function, **kw: Any) -> Any:
            named = {k: _truth(v) for k, v in kw.items()}
            return function(*map(_truth, args), **named)

        answers_over_box(function)(answer)


def _truth(x: Any) -> Any:
    if not holds_nodes((x,)):
        return x.v if isinstance(x, (ArrayBase, TVar)) else x
    return truth(x)


_by_truth(
    np.all,
    np.any,
    np.argwhere,
    np.count_nonzero,
    np.flatnonzero,
    np.nonzero,
    np.logical_and,
    np.logical_not,
    np.logical_or,
    np.logical_xor,
)


@answers_over_box(np.array_equal)
def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    x, y = as_array(a1, a2), as_array(a2, a1)
    return x.shape == y.shape and bool(np.all(x == y))


@answers_over_box(np.isneginf, np.isposinf)
def _infinite(x: Any, out: Any = None) -> Any:
    if out is not None:
        refuse_over_box("numpy.isposinf with out=")
    return np.isinf(x)


# -- order: every answer is the same all over the box ----------------------------------


@answers_over_box(np.searchsorted)
def _searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    if sorter is not None:
        refuse_over_box("numpy.searchsorted with a sorter", "Sort the edges first.")
    return _placed("searchsorted", bounds(a), bounds(v), side)


@answers_over_box(np.digitize)
def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    side = "left" if right else "right"
    lo, hi = bounds(bins)
    if (hi[:-1] <= lo[1:]).all():
        return _placed("digitize", (lo, hi), bounds(x), side)
    back = (lo[::-1], hi[::-1])
    return len(lo) - _placed("digitize", back, bounds(x), side)


def _placed(name: str, edges: Any, points: Any, side: Any) -> Any:
    """How many edges are below every point: at least, and at most, in the box."""
    lo, hi = edges
    if not (hi[:-1] <= lo[1:]).all():
        refuse_undecided(f"the order of the edges in np.{name}")
    sure = np.searchsorted(hi, points[0], side)
    _same(name, sure, np.searchsorted(lo, points[1], side), points)
    return sure


def _same(name: str, sure: Any, possible: Any, points: Any) -> None:
    open_ = np.asarray(sure != possible)
    if open_.any():
        at = tuple(np.argwhere(open_)[0])
        lo, hi = (np.asarray(e)[at] for e in points)
        refuse_undecided(f"the bin of {shown(lo, hi)} in np.{name}")


def _represented(x: Any) -> Any:
    """The array with a number inside of every interval for its values, for a while.

    Wherever the order of the entries is the same all over the box, these have it.
    """
    return from_ids(x.tape, np.array(centre(x)), x.node_ids())


def _emptied(x: Any) -> Any:
    """A result with NaN for the values of its nodes again."""
    if isinstance(x, ArrayBase) and x.s.tape is not None:
        x.v[x.node_ids() >= 0] = np.nan
    return x


@answers_over_box(np.partition)
def _partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect") -> Any:
    return _emptied(FUNCTIONS[np.partition](*_ordered("partition", a, axis, kth, kind)))


@answers_over_box(np.argpartition)
def _argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect") -> Any:
    return FUNCTIONS[np.argpartition](*_ordered("argpartition", a, axis, kth, kind))


def _ordered(name: str, a: Any, axis: Any, kth: Any, kind: Any) -> tuple[Any, ...]:
    x = as_array(a)
    if axis is None:
        x, axis = x.flatten(), -1
    lo, hi, ids = (np.moveaxis(e, axis, -1) for e in (*bounds(x), x.node_ids()))
    settled_order(name, (lo, hi), ids)
    return _represented(x), kth, axis, kind


@answers_over_box(np.histogram)
def _histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    if holds_nodes((bins, range)) or (
        holds_nodes((a,)) and range is None and np.ndim(bins) == 0
    ):
        refuse_over_box(
            "numpy.histogram with edges that follow from the variables",
            "Give the edges.",
        )
    if holds_nodes((a,)):
        x = as_array(a).ravel()
        lo, hi = bounds(x)
        edges = np.histogram_bin_edges(centre(x), bins, range)
        _placed("histogram", (edges, edges), (lo, hi), "right")
        a = centre(x)
        if not holds_nodes((weights,)):
            return np.histogram(a, bins, range, density, weights)
    return FUNCTIONS[np.histogram](a, bins, range, density, weights)


# -- closeness -------------------------------------------------------------------------


@answers_over_box(np.isclose)
def _isclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Any:
    x, y = as_array(a, b), as_array(b, a)
    return np.abs(x - y) <= atol + rtol * np.abs(y)


@answers_over_box(np.allclose)
def _allclose(*args: Any, **kw: Any) -> bool:
    return bool(np.all(_isclose(*args, **kw)))


@answers_over_box(np.array_equiv)
def _array_equiv(a1: Any, a2: Any) -> bool:
    return bool(np.all(as_array(a1, a2) == as_array(a2, a1)))


@answers_over_box(np.trim_zeros)
def _trim_zeros(filt: Any, trim: Any = "fb", **kw: Any) -> Any:
    x = as_array(filt)
    if kw or x.ndim != 1:
        refuse_over_box("numpy.trim_zeros of more than a vector")
    first, last = 0, x.size
    if "f" in trim.lower():
        while first < last and bool(x[first] == 0.0):
            first += 1
    if "b" in trim.lower():
        while last > first and bool(x[last - 1] == 0.0):
            last -= 1
    return x[first:last]


# -- NaN: no recorded entry is one -----------------------------------------------------


def _without_nan(function: Any, plain: Any) -> None:
    """A recorded NaN is a fault of its own; only a constant could be passed over."""

    @answers_over_box(function)
    def answer(a: Any, *args: Any, **kw: Any) -> Any:
        x = as_array(a)
        if isinstance(x, ArrayBase) and np.isnan(bounds(x)[0]).any():
            refuse_over_box(
                f"numpy.{function.__name__} of an array with a constant NaN",
                "Leave the entry out.",
            )
        given = {k: v for k, v in kw.items() if v is not np._NoValue}
        return FUNCTIONS[plain](x, *args, **given)


for _with, _plain in (
    (np.nansum, np.sum),
    (np.nanprod, np.prod),
    (np.nanmax, np.max),
    (np.nanmin, np.min),
    (np.nanargmax, np.argmax),
    (np.nanargmin, np.argmin),
    (np.nancumsum, np.cumsum),
    (np.nancumprod, np.cumprod),
    (np.nanmean, np.mean),
    (np.nanvar, np.var),
    (np.nanstd, np.std),
    (np.nanmedian, np.median),
    (np.nanquantile, np.quantile),
    (np.nanpercentile, np.percentile),
):
    _without_nan(_with, _plain)


# -- functions some of whose arguments ask for values ----------------------------------


def _restricted(function: Any, refuses: Any, why: str) -> None:
    """A rule that holds but for some arguments."""

    @answers_over_box(function)
    def answer(*args: Any, **kw: Any) -> Any:
        if refuses(*args, **kw):
            refuse_over_box(why)
        return FUNCTIONS[function](*args, **kw)


_restricted(
    np.linalg.matrix_power,
    lambda a, n: n < 0,
    "numpy.linalg.matrix_power with a negative power",
)
_restricted(
    np.cov,
    lambda m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, **kw: (
        holds_nodes((aweights,))
    ),
    "numpy.cov with recorded weights",
)
_restricted(
    np.geomspace,
    lambda start, stop, *args, **kw: holds_nodes((start,)),
    "numpy.geomspace from a recorded start",
)


@answers_over_box(np.nan_to_num)
def _nan_to_num(x: Any, *args: Any, **kw: Any) -> Any:
    """Recorded entries stay: a NaN or an infinity there is a fault of its own."""
    a = as_array(x)
    if (
        holds_nodes((args, list(kw.values())))
        or kw.get("copy", not args or args[0]) is False
    ):
        refuse_over_box("numpy.nan_to_num with recorded numbers, or in place,")
    live = a.node_ids() >= 0
    r = np.nan_to_num(np.where(live, 0.0, a.v), *args, **kw)
    return assembled(a.tape, np.where(live, np.nan, r), a.node_ids())


for _function in (np.quantile, np.percentile):
    _restricted(
        _function,
        lambda *args, **kw: kw.get("weights") is not None,
        "numpy.quantile with weights",
    )


def _text(function: Any) -> None:
    @answers_over_box(function)
    def answer(a: Any, *args: Any, **kw: Any) -> str:
        return repr(a)


for _printer in (np.array2string, np.array_repr, np.array_str):
    _text(_printer)
