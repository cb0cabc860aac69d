"""Calls that reduce or accumulate, with all of their arguments."""

from __future__ import annotations

import numpy as np

from tests._numpy_calls._call import DIFFERENCES, Table

TABLE = call = Table()
SOME = np.arange(12).reshape(3, 4) != 5
WEIGHTS = np.arange(12.0).reshape(3, 4) + 1.0
NAN = np.array([[1.0, np.nan, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [np.nan, 1.0, 1.0, 1.0]])

for name in ("sum", "mean", "prod", "std", "var"):
    call(name, (3, 4), lambda xp, x, n=name: getattr(xp, n)(x))
    call(
        f"{name} axis",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, axis=0, keepdims=True),
    )
    call(
        f"{name} axes", (3, 4, 2), lambda xp, x, n=name: getattr(xp, n)(x, axis=(0, 2))
    )
    call(
        f"{name} where",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, axis=1, where=SOME),
    )
    call(
        f"{name} where broadcast",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, where=SOME[1]),
    )
    call(
        f"{name} dtype", (3, 4), lambda xp, x, n=name: getattr(xp, n)(x, dtype=x.dtype)
    )
    call(f"{name} method", (3, 4), lambda xp, x, n=name: getattr(x, n)(1))
for name in ("sum", "prod"):
    call(
        f"{name} initial",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, axis=1, initial=2.0),
    )
    call(
        f"{name} recorded initial",
        (3, 4),
        lambda xp, x, n=name: getattr(np, n)(x, axis=1, initial=x[0, 0]),
        DIFFERENCES,
    )
    call(
        f"{name} initial where",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, initial=2.0, where=SOME[1]),
    )
for name in ("std", "var"):
    call(
        f"{name} ddof",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, axis=1, ddof=1, keepdims=True),
    )
    call(
        f"{name} ddof where",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, axis=1, ddof=1, where=SOME),
    )
    if hasattr(np, "unstack"):
        call(
            f"{name} correction",
            (3, 4),
            lambda xp, x, n=name: getattr(xp, n)(x, axis=1, correction=1),
        )
        call(
            f"{name} mean",
            (3, 4),
            lambda xp, x, n=name: getattr(xp, n)(
                x, axis=1, mean=xp.mean(x, axis=1, keepdims=True)
            ),
        )
for name in ("amax", "amin", "max", "min", "ptp"):
    call(name, (3, 4), lambda xp, x, n=name: getattr(xp, n)(x))
    call(
        f"{name} axis",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, axis=1, keepdims=True),
    )
    call(
        f"{name} axes", (3, 4, 2), lambda xp, x, n=name: getattr(xp, n)(x, axis=(0, 2))
    )
for name in ("max", "min"):
    call(
        f"{name} initial",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, axis=0, initial=0.1),
    )
    call(
        f"{name} recorded initial",
        (3, 4),
        lambda xp, x, n=name: getattr(np, n)(x, axis=0, initial=x[0, 0] * 3.0),
        DIFFERENCES,
    )
    call(
        f"{name} where",
        (3, 4),
        lambda xp, x, n=name: getattr(xp, n)(x, axis=1, where=SOME, initial=-0.2),
    )

call("average", (3, 4), lambda xp, x: xp.average(x))
call("average weights", (3, 4), lambda xp, x: xp.average(x, 0, weights=x**2))
call(
    "average plain weights",
    (3, 4),
    lambda xp, x: xp.average(x, 1, weights=np.arange(4.0) + 1.0),
)
call(
    "average of plain", (3, 4), lambda xp, x: xp.average(WEIGHTS, weights=x**2, axis=1)
)
call(
    "average returned",
    (3, 4),
    lambda xp, x: xp.average(x, 0, weights=x**2, returned=True)[1],
)
call(
    "average returned plain",
    (3, 4),
    lambda xp, x: x * xp.average(x, 0, returned=True)[1],
)
call(
    "average keepdims",
    (3, 4),
    lambda xp, x: xp.average(x, axis=0, weights=x**2, keepdims=True),
)
if hasattr(np, "unstack"):
    call(
        "average axes",
        (3, 4, 2),
        lambda xp, x: np.average(x, axis=(0, 1), weights=WEIGHTS),
        lambda x: (x * WEIGHTS[..., None]).sum((0, 1)) / WEIGHTS.sum(),
    )
call("cov", (3, 5), lambda xp, x: xp.cov(x))
call("cov of two", (5,), lambda xp, x: xp.cov(x, xp.sin(3.0 * x), ddof=0))
call("cov bias", (3, 5), lambda xp, x: xp.cov(x, bias=True))
call("cov of one", (5,), lambda xp, x: xp.cov(x))
call("cov columns", (5, 3), lambda xp, x: xp.cov(x, rowvar=False))
call(
    "cov frequencies",
    (3, 5),
    lambda xp, x: xp.cov(x, fweights=np.array([1, 2, 1, 1, 3])),
)
call("cov weights", (3, 5), lambda xp, x: np.cov(x, aweights=x[0] ** 2), DIFFERENCES)
call("corrcoef", (3, 5), lambda xp, x: xp.corrcoef(x))
call("corrcoef of two", (5,), lambda xp, x: xp.corrcoef(x, np.arange(5.0) ** 2))
call("corrcoef columns", (5, 3), lambda xp, x: xp.corrcoef(x, rowvar=False))

for name in ("cumsum", "cumprod"):
    call(name, (3, 4), lambda xp, x, n=name: getattr(xp, n)(x))
    call(f"{name} axis", (3, 4), lambda xp, x, n=name: getattr(xp, n)(x, axis=-2))
    call(f"{name} method", (3, 4), lambda xp, x, n=name: getattr(x, n)(1))
if hasattr(np, "cumulative_sum"):
    for name in ("cumulative_sum", "cumulative_prod"):
        call(name, (4,), lambda xp, x, n=name: getattr(xp, n)(x))
        call(
            f"{name} initial",
            (3, 4),
            lambda xp, x, n=name: getattr(xp, n)(x, axis=1, include_initial=True),
        )

for name in ("add", "multiply", "maximum", "minimum", "logaddexp", "hypot"):
    ufunc = getattr(np, name)
    call(f"{name}.reduce", (3, 4), lambda xp, x, u=ufunc: u.reduce(x), DIFFERENCES)
    call(
        f"{name}.reduce axis",
        (3, 4),
        lambda xp, x, u=ufunc: u.reduce(x, axis=1, keepdims=True),
        DIFFERENCES,
    )
    call(
        f"{name}.reduce initial",
        (3, 4),
        lambda xp, x, u=ufunc: u.reduce(x, axis=1, initial=0.7),
        DIFFERENCES,
    )
    call(
        f"{name}.reduce all",
        (3, 4),
        lambda xp, x, u=ufunc: u.reduce(x, axis=None),
        DIFFERENCES,
    )
    call(
        f"{name}.reduceat",
        (6,),
        lambda xp, x, u=ufunc: u.reduceat(x, [0, 3, 1, 5]),
        DIFFERENCES,
    )
    call(
        f"{name}.reduceat axis",
        (6, 3),
        lambda xp, x, u=ufunc: u.reduceat(x, [0, 2], axis=1),
        DIFFERENCES,
    )
for name in ("add", "multiply", "maximum", "minimum"):
    ufunc = getattr(np, name)
    call(
        f"{name}.reduce where",
        (3, 4),
        lambda xp, x, u=ufunc: u.reduce(x, axis=1, initial=0.7, where=SOME),
        DIFFERENCES,
    )
for name in (
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "fmin",
    "logaddexp2",
    "power",
    "arctan2",
):
    ufunc = getattr(np, name)
    call(
        f"{name}.accumulate",
        (3, 4),
        lambda xp, x, u=ufunc: u.accumulate(x**2 + 1.0),
        DIFFERENCES,
    )
    call(
        f"{name}.outer",
        (3,),
        lambda xp, x, u=ufunc: u.outer(x**2 + 1.0, np.array([0.5, 2.0])),
        DIFFERENCES,
    )
for name in ("subtract", "divide", "power", "fmax"):
    ufunc = getattr(np, name)
    call(
        f"{name}.reduce",
        (3, 4),
        lambda xp, x, u=ufunc: u.reduce(x**2 + 1.0),
        DIFFERENCES,
    )
call("logical_or.reduce", (3,), lambda xp, x: x * np.logical_or.reduce(x), lambda x: x)

for name in (
    "nansum",
    "nanmean",
    "nanmax",
    "nanmin",
    "nanprod",
    "nanstd",
    "nanvar",
    "nanmedian",
):
    call(name, (3, 4), lambda xp, x, n=name: getattr(np, n)(x * NAN), DIFFERENCES)
    call(
        f"{name} axis",
        (3, 4),
        lambda xp, x, n=name: getattr(np, n)(x * NAN, axis=1),
        DIFFERENCES,
    )
    call(
        f"{name} keepdims",
        (3, 4),
        lambda xp, x, n=name: getattr(np, n)(x * NAN, axis=0, keepdims=True),
        DIFFERENCES,
    )
for name in ("nancumsum", "nancumprod"):
    call(name, (3, 4), lambda xp, x, n=name: getattr(np, n)(x * NAN), DIFFERENCES)
    call(
        f"{name} axis",
        (3, 4),
        lambda xp, x, n=name: getattr(np, n)(x * NAN, axis=1),
        DIFFERENCES,
    )
call(
    "nanstd ddof", (3, 4), lambda xp, x: np.nanstd(x * NAN, axis=1, ddof=1), DIFFERENCES
)
call(
    "nansum where",
    (3, 4),
    lambda xp, x: np.nansum(x * NAN, axis=1, where=SOME),
    DIFFERENCES,
)
call(
    "nanvar where",
    (3, 4),
    lambda xp, x: np.nanvar(x * NAN, axis=1, where=SOME),
    DIFFERENCES,
)
call(
    "nanmax initial",
    (3, 4),
    lambda xp, x: np.nanmax(x * NAN, axis=1, initial=0.1),
    DIFFERENCES,
)
call(
    "nanmin where",
    (3, 4),
    lambda xp, x: np.nanmin(x * NAN, axis=1, initial=0.1, where=SOME),
    DIFFERENCES,
)
call("nanargmax", (3, 4), lambda xp, x: x.ravel()[np.nanargmax(x * NAN)], DIFFERENCES)
call(
    "nanargmin",
    (3, 4),
    lambda xp, x: x[np.arange(3), np.nanargmin(x * NAN, axis=1)],
    DIFFERENCES,
)
call(
    "nanpercentile",
    (3, 4),
    lambda xp, x: np.nanpercentile(x * NAN, 30, axis=1),
    DIFFERENCES,
)
call(
    "nanquantile",
    (3, 4),
    lambda xp, x: np.nanquantile(x * NAN, [0.3, 0.5]),
    DIFFERENCES,
)
call(
    "nanquantile axis",
    (3, 4),
    lambda xp, x: np.nanquantile(x * NAN, [0.3, 0.5], axis=0, keepdims=True),
    DIFFERENCES,
)
