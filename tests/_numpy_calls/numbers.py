"""Calls that choose, interpolate, differ, round and take parts."""

from __future__ import annotations

import numpy as np

from tests._numpy_calls._call import DIFFERENCES, Table

TABLE = call = Table()
KNOTS = np.array([-2.0, -0.5, 0.1, 1.0, 3.0])
HEIGHTS = np.array([1.0, 2.0, -1.0, 4.0, 0.0])
COORDINATES = np.array([0.0, 1.0, 3.0, 4.0, 7.0])
NAN = np.array(
    [[1.0, np.nan, 1.0, np.inf], [1.0, 1.0, 1.0, 1.0], [np.nan, 1.0, 1.0, 1.0]]
)

call("where", (5,), lambda xp, x: xp.where(x > 0.0, x**2, -x))
call("select", (5,), lambda xp, x: xp.select([x > 0.5, x > 0.0], [x**2, xp.sin(x)], -x))
call(
    "select plain",
    (5,),
    lambda xp, x: xp.select([x > 0.5, x > 0.0], [x**2, 3.0 + 0.0 * x]),
)
call(
    "select broadcast",
    (3, 4),
    lambda xp, x: np.select([x > 0.5, x[0] > 0.0], [x**2, x[0] * 2.0], default=x[1, 1]),
    DIFFERENCES,
)
call(
    "piecewise",
    (5,),
    lambda xp, x: xp.piecewise(x, [x < 0.0, x >= 0.0], [lambda z: -z, lambda z: z**2]),
)
call(
    "piecewise arguments",
    (5,),
    lambda xp, x: xp.piecewise(
        x,
        [x < 0.0],
        [lambda z, a, b=0.0: a * z + b, lambda z, a, b=0.0: z**2 - b],
        2.0,
        b=3.0,
    ),
)
call(
    "piecewise scalars",
    (5,),
    lambda xp, x: np.piecewise(x, x < 0.0, [1.0, lambda z: z]),
    DIFFERENCES,
)
call(
    "piecewise recorded scalars",
    (5,),
    lambda xp, x: np.piecewise(x, [x < 0.0], [x[0], x[1]]),
    DIFFERENCES,
)
call(
    "piecewise of one",
    (),
    lambda xp, x: np.piecewise(
        x, [x < 0.0, x >= 0.0], [lambda z: z**3, lambda z: z * z]
    ),
    DIFFERENCES,
)
call("clip", (3, 4), lambda xp, x: xp.clip(x, -0.5, 0.5))
call("clip method", (3, 4), lambda xp, x: x.clip(min=-0.5))
call(
    "nan_to_num",
    (3, 4),
    lambda xp, x: np.nan_to_num(x * NAN, nan=2.0, posinf=3.0, neginf=4.0),
    DIFFERENCES,
)

call("interp", (6,), lambda xp, x: xp.interp(x, KNOTS, HEIGHTS))
call("interp of one", (), lambda xp, x: xp.interp(x, KNOTS, HEIGHTS))
call(
    "interp ordinates",
    (5,),
    lambda xp, x: xp.interp(np.array([0.2, 0.5, -9.0, 0.1]), KNOTS, x),
)
call("interp ordinates at one", (5,), lambda xp, x: xp.interp(0.3, KNOTS, x))
call(
    "interp knots",
    (5,),
    lambda xp, x: xp.interp(np.array([0.2, 0.5, -9.0, 1.1]), xp.sort(x), HEIGHTS),
)
call(
    "interp all",
    (5,),
    lambda xp, x: xp.interp(x, xp.cumsum(x**2 + 0.1) - 1.0, xp.sin(x)),
)
call(
    "interp ends",
    (5,),
    lambda xp, x: xp.interp(3.0 * x, KNOTS, HEIGHTS, left=x[0], right=7.0),
)
call(
    "interp period", (5,), lambda xp, x: xp.interp(5.0 * x, KNOTS, HEIGHTS, period=4.0)
)
call(
    "interp period ordinates",
    (5,),
    lambda xp, x: np.interp(5.0 * x, KNOTS, x, period=4.0),
    DIFFERENCES,
)

for edge in (1, 2):
    kw = {"edge_order": edge}
    call(
        f"gradient {edge}", (5,), lambda xp, x, kw=kw: np.gradient(x, **kw), DIFFERENCES
    )
    call(
        f"gradient spacing {edge}",
        (5,),
        lambda xp, x, kw=kw: np.gradient(x, 0.5, **kw),
        DIFFERENCES,
    )
    call(
        f"gradient recorded spacing {edge}",
        (5,),
        lambda xp, x, kw=kw: np.gradient(x, x[0] ** 2 + 1.0, **kw),
        DIFFERENCES,
    )
    call(
        f"gradient coordinates {edge}",
        (5,),
        lambda xp, x, kw=kw: np.gradient(x, COORDINATES, **kw),
        DIFFERENCES,
    )
    call(
        f"gradient recorded coordinates {edge}",
        (5,),
        lambda xp, x, kw=kw: np.gradient(np.sin(x), np.cumsum(x**2 + 1.0), **kw),
        DIFFERENCES,
    )
    call(
        f"gradient of plain {edge}",
        (5,),
        lambda xp, x, kw=kw: np.gradient(HEIGHTS, np.cumsum(x**2 + 1.0), **kw),
        DIFFERENCES,
    )
    call(
        f"gradient matrix {edge}",
        (4, 5),
        lambda xp, x, kw=kw: np.gradient(x, **kw)[1],
        DIFFERENCES,
    )
    call(
        f"gradient matrix spacings {edge}",
        (4, 5),
        lambda xp, x, kw=kw: np.gradient(x, 2.0, COORDINATES, **kw)[1],
        DIFFERENCES,
    )
    call(
        f"gradient axis {edge}",
        (4, 5),
        lambda xp, x, kw=kw: np.gradient(x, 2.0, axis=1, **kw),
        DIFFERENCES,
    )
    call(
        f"gradient axes {edge}",
        (4, 5),
        lambda xp, x, kw=kw: np.gradient(x, axis=(1, 0), **kw)[0],
        DIFFERENCES,
    )
call("gradient by JAX", (4, 5), lambda xp, x: xp.gradient(x, axis=0))

call("diff", (5,), lambda xp, x: xp.diff(x, 2))
call("diff ends", (3, 4), lambda xp, x: xp.diff(x, axis=0, prepend=0.0, append=x[:1]))
call("diff of none", (3,), lambda xp, x: xp.diff(x, 0) * x)
call("ediff1d", (5,), lambda xp, x: xp.ediff1d(x))
call(
    "ediff1d ends",
    (2, 3),
    lambda xp, x: xp.ediff1d(x, to_begin=x[0], to_end=np.array([1.0, 2.0])),
)
call("unwrap", (6,), lambda xp, x: xp.unwrap(4.0 * xp.cumsum(x)))
call("unwrap period", (6, 2), lambda xp, x: xp.unwrap(8.0 * x, axis=0, period=4.0))
call("unwrap discont", (6, 2), lambda xp, x: xp.unwrap(8.0 * x, axis=0, discont=5.0))
if hasattr(np, "trapezoid"):
    call("trapezoid", (5,), lambda xp, x: xp.trapezoid(x))
    call("trapezoid abscissae", (5,), lambda xp, x: xp.trapezoid(xp.sin(x), x))
    call("trapezoid dx", (4, 5), lambda xp, x: xp.trapezoid(x, dx=0.3, axis=0))
    call("trapezoid of plain", (5,), lambda xp, x: xp.trapezoid(HEIGHTS, x))
    call("trapezoid rows", (4, 5), lambda xp, x: xp.trapezoid(x, x**2, axis=1))
    call(
        "trapezoid columns",
        (4, 5),
        lambda xp, x: xp.trapezoid(x, np.array([0.0, 1.0, 3.0, 4.0]), axis=0),
    )

call("linspace", (2,), lambda xp, x: xp.linspace(x[0], x[1], 5))
call("linspace open", (2,), lambda xp, x: xp.linspace(0.0, x[1], 5, endpoint=False))
call("linspace arrays", (3,), lambda xp, x: xp.linspace(x, HEIGHTS[:3], 4, axis=1))
call("linspace step", (2,), lambda xp, x: xp.linspace(x[0], x[1], 5, retstep=True)[1])
call("linspace of one", (2,), lambda xp, x: xp.linspace(x[0], x[1], 1))
call("logspace", (2,), lambda xp, x: xp.logspace(x[0], x[1], 5))
call(
    "logspace base",
    (2,),
    lambda xp, x: np.logspace(x[0], 2.0, 5, base=x[1] ** 2 + 1.0),
    DIFFERENCES,
)
call("geomspace", (2,), lambda xp, x: xp.geomspace(x[0] ** 2 + 1.0, x[1] ** 2 + 4.0, 5))
call(
    "geomspace negative",
    (2,),
    lambda xp, x: np.geomspace(-(x[0] ** 2) - 1.0, -9.0, 5),
    DIFFERENCES,
)

for name in ("around", "round", "rint", "fix", "trunc", "floor", "ceil", "sign"):
    call(name, (3, 4), lambda xp, x, n=name: getattr(np, n)(3.0 * x) * x, DIFFERENCES)
call("round decimals", (3, 4), lambda xp, x: np.round(x, 2) * x, DIFFERENCES)
call("round tens", (3, 4), lambda xp, x: np.round(100.0 * x, -1) * x, DIFFERENCES)
call("round method", (3, 4), lambda xp, x: x.round(1) * x, DIFFERENCES)
for name in ("real", "imag", "conj", "conjugate", "angle", "real_if_close"):
    call(name, (3, 4), lambda xp, x, n=name: (1.0 + getattr(np, n)(x)) * x, DIFFERENCES)
call(
    "angle in degrees",
    (3,),
    lambda xp, x: (1.0 + np.angle(x, deg=True)) * x,
    DIFFERENCES,
)
call("modf", (3,), lambda xp, x: xp.modf(3.0 * x)[0])
call("modf whole", (3,), lambda xp, x: np.modf(3.0 * x)[1] * x, DIFFERENCES)
call("divmod", (3,), lambda xp, x: xp.divmod(3.0 * x, 2.0)[1])
call("heaviside", (3, 4), lambda xp, x: xp.heaviside(x, 0.5) * x)
call("float_power", (3, 4), lambda xp, x: xp.float_power(x**2 + 1.0, x))
call("i0", (3,), lambda xp, x: xp.i0(x))
call("kaiser", (), lambda xp, x: np.kaiser(5, x), DIFFERENCES)
call("sinc", (3,), lambda xp, x: xp.sinc(x))
call("spacing", (3,), lambda xp, x: x * (1.0 + np.spacing(x)), lambda x: x)
call(
    "apply_along_axis",
    (3, 4),
    lambda xp, x: xp.apply_along_axis(lambda v: xp.sum(v**2), 1, x),
)
call(
    "apply_along_axis vectors",
    (3, 4),
    lambda xp, x: xp.apply_along_axis(lambda v: xp.sort(v)[:2], 0, x),
)
call(
    "apply_along_axis matrices",
    (3, 4),
    lambda xp, x: xp.apply_along_axis(lambda v: xp.outer(v, v[:2]), 0, x),
)
call("apply_over_axes", (3, 4, 2), lambda xp, x: xp.apply_over_axes(xp.sum, x, [0, 2]))
call("full_like", (3,), lambda xp, x: xp.full_like(x, x[0]))
call("zeros_like shape", (3,), lambda xp, x: x + xp.zeros_like(x, shape=(2, 3)))
