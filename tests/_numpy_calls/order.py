"""Calls that order, find and count entries."""

from __future__ import annotations

import numpy as np

from tests._numpy_calls._call import DIFFERENCES, Table

TABLE = call = Table()
EDGES = np.array([-2.0, -0.5, 0.1, 1.0, 3.0])
PLACES = np.array([0.0, 1.0, 2.0, 3.0, 2.5])

call(
    "argmax", (3, 4), lambda xp, x: x[np.arange(3), np.argmax(x, 1)], lambda x: x.max(1)
)
call("argmin method", (3, 4), lambda xp, x: x.ravel()[x.argmin()], lambda x: x.min())
call(
    "argmax keepdims",
    (3, 4),
    lambda xp, x: np.take_along_axis(x, np.argmax(x, 1, keepdims=True), 1),
    lambda x: x.max(1),
)
call("sort", (3, 4), lambda xp, x: xp.sort(x))
call("sort axis", (3, 4), lambda xp, x: xp.sort(x, axis=0))
call("sort flat", (3, 4), lambda xp, x: xp.sort(x, axis=None))
call("sort kind", (3, 4), lambda xp, x: np.sort(x, kind="mergesort"), DIFFERENCES)
call(
    "argsort",
    (3, 4),
    lambda xp, x: np.take_along_axis(x, np.argsort(x, 1), 1),
    DIFFERENCES,
)
call("argsort method", (5,), lambda xp, x: x[x.argsort()], DIFFERENCES)
if hasattr(np, "unstack"):
    call("sort stable", (3, 4), lambda xp, x: np.sort(x, stable=True), DIFFERENCES)
    call(
        "argsort stable", (5,), lambda xp, x: x[np.argsort(x, stable=True)], DIFFERENCES
    )
call("partition", (3, 4), lambda xp, x: np.partition(x, 2), DIFFERENCES)
call(
    "partition flat",
    (3, 4),
    lambda xp, x: np.partition(x, (2, 3), axis=None),
    DIFFERENCES,
)
call(
    "argpartition",
    (3, 4),
    lambda xp, x: np.take_along_axis(x, np.argpartition(x, 2, axis=1), 1),
    DIFFERENCES,
)
call("argpartition method", (5,), lambda xp, x: x[x.argpartition(2)], DIFFERENCES)
call("lexsort", (4,), lambda xp, x: x[np.lexsort((np.arange(4), x))], DIFFERENCES)
call("median", (3, 4), lambda xp, x: xp.median(x))
call("median axis", (3, 5), lambda xp, x: xp.median(x, axis=1, keepdims=True))
METHODS = [
    "linear",
    "lower",
    "higher",
    "nearest",
    "midpoint",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "hazen",
    "weibull",
    "closest_observation",
    "interpolated_inverted_cdf",
    "median_unbiased",
    "normal_unbiased",
]
for method in METHODS:
    call(
        f"percentile {method}",
        (3, 5),
        lambda xp, x, m=method: np.percentile(x, 30, axis=1, method=m),
        DIFFERENCES,
    )
    call(
        f"percentile {method} list",
        (5,),
        lambda xp, x, m=method: np.percentile(x, [0, 55, 100], method=m),
        DIFFERENCES,
    )
call("quantile", (3, 5), lambda xp, x: xp.quantile(x, 0.4))
call(
    "quantile keepdims",
    (3, 5),
    lambda xp, x: xp.quantile(x, np.array([0.4, 0.5]), axis=0, keepdims=True),
)
call(
    "quantile table",
    (3, 5),
    lambda xp, x: np.quantile(x, [[0.4, 0.5], [0.1, 0.2]], axis=(0, 1)),
    DIFFERENCES,
)
if hasattr(np, "unstack"):
    call(
        "quantile weights",
        (5,),
        lambda xp, x: np.quantile(
            x, 0.4, weights=[1, 2, 3, 4, 5], method="inverted_cdf"
        ),
        DIFFERENCES,
    )

call("searchsorted", (5,), lambda xp, x: np.searchsorted(EDGES, x) * x, DIFFERENCES)
call(
    "searchsorted recorded",
    (5,),
    lambda xp, x: np.searchsorted(np.sort(x), 0.3) * x,
    DIFFERENCES,
)
call(
    "searchsorted sorter",
    (5,),
    lambda xp, x: x.searchsorted(0.3, sorter=np.argsort(x)) * x,
    DIFFERENCES,
)
call("digitize", (5,), lambda xp, x: np.digitize(x, EDGES) * x, DIFFERENCES)
call("unique", (5,), lambda xp, x: np.unique(x), DIFFERENCES)
call(
    "unique of more",
    (5,),
    lambda xp, x: np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )[0],
    DIFFERENCES,
)
call(
    "unique index",
    (5,),
    lambda xp, x: x[np.unique(x, return_index=True)[1]],
    DIFFERENCES,
)
call("union1d", (3,), lambda xp, x: np.union1d(x, [0.25, 0.5]), DIFFERENCES)
call("setdiff1d", (3,), lambda xp, x: np.setdiff1d(x, [0.25, 0.5]), DIFFERENCES)
call("isin", (3,), lambda xp, x: x * (1.0 + np.isin(x, [0.25, 0.5])), lambda x: x)
call("histogram weights", (5,), lambda xp, x: xp.histogram(PLACES, 3, weights=x)[0])
call(
    "histogram density",
    (5,),
    lambda xp, x: xp.histogram(PLACES, 3, weights=x**2, density=True)[0],
)
call("histogram counts", (5,), lambda xp, x: np.histogram(x, 3)[0] * x[:3], DIFFERENCES)
call("histogram edges", (5,), lambda xp, x: np.histogram(x, 3)[1], DIFFERENCES)
call(
    "histogram given edges",
    (5,),
    lambda xp, x: np.histogram(x, EDGES, weights=x)[0],
    DIFFERENCES,
)
call(
    "histogram range",
    (5,),
    lambda xp, x: np.histogram(x, 3, range=(-1, 1), weights=x)[0],
    DIFFERENCES,
)
call(
    "histogram recorded density",
    (5,),
    lambda xp, x: np.histogram(x, 3, density=True)[0],
    DIFFERENCES,
)
call(
    "histogram_bin_edges", (5,), lambda xp, x: np.histogram_bin_edges(x, 4), DIFFERENCES
)
call(
    "bincount",
    (5,),
    lambda xp, x: np.bincount([0, 1, 1, 3, 0], weights=x, minlength=6),
    DIFFERENCES,
)

call("nonzero", (3,), lambda xp, x: x[np.nonzero(x)], lambda x: x)
call("nonzero method", (3,), lambda xp, x: x[x.nonzero()], lambda x: x)
call("argwhere", (3,), lambda xp, x: x[np.argwhere(x)[:, 0]], lambda x: x)
call("flatnonzero", (5,), lambda xp, x: x[np.flatnonzero(x > 0.0)], DIFFERENCES)
call("count_nonzero", (3,), lambda xp, x: x * np.count_nonzero(x), lambda x: 3.0 * x)
for name in (
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "isneginf",
    "isposinf",
    "isreal",
    "iscomplex",
):
    call(
        name,
        (3, 4),
        lambda xp, x, n=name: x * (1.0 + getattr(np, n)(x)),
        lambda x, n=name: (
            x * (1.0 + (x < 0 if n == "signbit" else n in ("isfinite", "isreal")))
        ),
    )
call("allclose", (3,), lambda xp, x: x * np.allclose(x, x + 1e-12), lambda x: x)
call("isclose", (3,), lambda xp, x: x * (1.0 + np.isclose(x, 9.0)), lambda x: x)
call("array_equal", (3,), lambda xp, x: x * np.array_equal(x, x), lambda x: x)
call("array_equiv", (3,), lambda xp, x: x * np.array_equiv(x, x), lambda x: x)
