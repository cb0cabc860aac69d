"""Recording an array program and sweeping it, against HIPS autograd's gradient."""

from __future__ import annotations

import gc
import tracemalloc
from statistics import median
from typing import TYPE_CHECKING

import derivative_covers as dc

from . import _peers
from ._programs import point, rosenbrock
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

ITEM = "vectorised"


def tape_bytes(x: np.ndarray) -> tuple[float, float, float]:
    """Bytes a node: held after recording, at its peak, and held after a cover."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tape, out = dc.tape_function(rosenbrock, x)
        gc.collect()
        held, peak = tracemalloc.get_traced_memory()
        cover = dc.cover_hessian(tape, out)
        del cover
        gc.collect()
        swept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    nodes = dc.nnodes(tape)
    return (held - before) / nodes, (peak - before) / nodes, (swept - before) / nodes


def rows(*, quick: bool) -> Iterator[Row]:
    """Whole calls on Rosenbrock's function, and the memory of its tape."""
    n = 100_000 if quick else 1_000_000
    x = point(n)
    held, peak, swept = tape_bytes(x)
    yield Row(
        ITEM,
        "bytes a node on the tape",
        held,
        "B",
        target=16,
        n=n,
        note=f"{peak:.3g} at the peak of recording, {swept:.3g} after a cover",
    )
    ours = {
        "record + gradient": (lambda: dc.gradient(rosenbrock, x), 1.3),
        "record + sum cover": (lambda: dc.cover_hessian(rosenbrock, x), 1.7),
        "record": (lambda: dc.tape_function(rosenbrock, x), None),
    }
    theirs = _peers.autograd_gradient(rosenbrock, x)
    if theirs is None:
        for what, (_, target) in ours.items():
            yield Row(
                ITEM, what, None, target=target, n=n, note="autograd not installed"
            )
        return
    autograd, *timed = interleaved([theirs, *(call for call, _ in ours.values())], 11)
    for (what, (_, target)), samples in zip(ours.items(), timed, strict=True):
        ratios = samples.over(autograd)
        yield Row(
            ITEM,
            f"{what} / autograd's gradient",
            median(ratios),
            target=target,
            n=n,
            note=f"{samples.median * 1e3:.3g} ms v. {autograd.median * 1e3:.3g} ms, "
            f"quartiles {spread(ratios)}",
        )
