"""A better incumbent by a local method of SciPy, which is imported when it is wanted."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._jets import BoxProgram
from ._judge import upper_bounds
from ._search import Search
from ._worker import BoxWorker

__all__ = ["polish"]

Array = NDArray[Any]
FIRST = 512  # boxes: shorter searches do without


def polish(search: Search, worker: BoxWorker) -> None:
    """Descend from the best point once the number of boxes has doubled.

    What bounds the function gives good points as well; this helps long searches, and those
    that end without a proof. Without SciPy nothing is done.
    """
    if search.judged < max(FIRST, 2 * search.polished):
        return
    search.polished = search.judged
    x = search.point
    for part in search.parts:
        if (part[0] <= x).all() and (x <= part[1]).all():
            program = worker.program(part)
            x = _descended(program, part, x)
            top = upper_bounds(program(x[None], x[None], 0))[0]
            if top < search.upper:
                search.upper, search.point = float(top), x
            return


def _descended(program: BoxProgram, part: Array, x: Array) -> Array:
    """Near a local minimum in a box over which the program is recorded."""
    try:
        optimize: Any = import_module("scipy.optimize")
    except ImportError:
        return x

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        at = np.clip(x, *part)[None]
        found = program(at, at, 1)
        assert found.gradient is not None
        slope = np.nan_to_num(_middle(found.gradient)[:, 0], posinf=0.0, neginf=0.0)
        return float(np.nan_to_num(_middle(found.value)[0])), slope

    found = optimize.minimize(
        value_and_gradient, x, jac=True, method="L-BFGS-B", bounds=part.T
    )
    return np.clip(np.asarray(found.x, dtype=np.float64), *part)


def _middle(ends: tuple[Array, Array]) -> Array:
    with np.errstate(all="ignore"):  # infinite ends
        middle: Array = 0.5 * ends[0] + 0.5 * ends[1]
    return middle
