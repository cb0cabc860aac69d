"""Calls that write into a recorded array, or into ``out``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests._numpy_calls._call import DIFFERENCES, Table

TABLE = Table()


def call(name: str, shape: tuple[int, ...], write: Callable[..., Any]) -> None:
    """A call that writes into a copy ``y`` of ``x``."""

    def f(xp: Any, x: Any) -> Any:
        y = x * 1.0
        write(y, x)
        return y

    TABLE(name, shape, f, DIFFERENCES)


call("put", (3, 4), lambda y, x: np.put(y, [0, -1], [x[1, 1] * 2.0, 3.0]))
call("put clip", (3, 4), lambda y, x: np.put(y, [0, 40, -7], x[1], mode="clip"))
call("put wrap", (3, 4), lambda y, x: np.put(y, [0, 40, -7], x[1], mode="wrap"))
call("put method", (3, 4), lambda y, x: y.put([0, 5], 7.0))
call("copyto", (3, 4), lambda y, x: np.copyto(y, x[0] ** 2, where=x > 0.0))
call("putmask", (3, 4), lambda y, x: np.putmask(y, x > 0.0, x[:, 1] ** 2))
call("place", (3, 4), lambda y, x: np.place(y, x > 0.0, [x[0, 0], 2.0]))
call("fill_diagonal", (3, 3), lambda y, x: np.fill_diagonal(y, x[0]))
call("fill_diagonal wrap", (5, 2), lambda y, x: np.fill_diagonal(y, 2.0, wrap=True))
call(
    "put_along_axis",
    (3, 4),
    lambda y, x: np.put_along_axis(y, np.array([[0], [1], [2]]), x[:, :1] * 2.0, 1),
)
for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "hypot"):
    call(
        f"{name}.at",
        (4,),
        lambda y, x, n=name: getattr(np, n).at(y, [0, 0, 2], x[1:] + 0.1),
    )
call(
    "add.at pairs", (3, 4), lambda y, x: np.add.at(y, ([0, 0, 2], [1, 1, 3]), x[0, :3])
)
call("power.at", (4,), lambda y, x: np.power.at(y, [0, 0, 2], 2.0))
call("sin.at", (4,), lambda y, x: np.sin.at(y, [0, 0, 2]))
call("negative.at", (4,), lambda y, x: np.negative.at(y, [0, 0, 2]))
call("sort method", (4,), lambda y, x: y.sort())
for name in (
    "sum",
    "mean",
    "prod",
    "std",
    "var",
    "max",
    "min",
    "ptp",
    "median",
    "nansum",
    "nanmean",
):
    call(
        f"{name} out", (3, 4), lambda y, x, n=name: getattr(np, n)(x, axis=0, out=y[1])
    )
for name in ("cumsum", "cumprod", "nancumsum", "round"):
    call(f"{name} out", (3, 4), lambda y, x, n=name: getattr(np, n)(x[0], out=y[1]))
call("take out", (3, 4), lambda y, x: np.take(x, [0, 3, 1, 1], out=y[2], mode="clip"))
call("dot out", (3, 3), lambda y, x: np.dot(x, x[0], out=y[2]))
call("ufunc out where", (3, 4), lambda y, x: np.add(x, 1.0, where=x > 0.0, out=y))
