"""Covers propagated without a tape: time beside JAX's dense Hessian, and memory."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import derivative_covers as dc

from . import _children, _peers, _replay
from ._programs import point, rosenbrock
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "forward"

_LARGE = """
import resource, sys, time
import derivative_covers as dc
from benchmarks._programs import point, rosenbrock
n = int(sys.argv[1])
dc.forward_cover(rosenbrock, point(3000), storage="sparse")
start = time.perf_counter()
dc.forward_cover(rosenbrock, point(n), storage="sparse")
seconds = time.perf_counter() - start
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""

_LOOP = """
import resource, sys
import numpy as np, derivative_covers as dc
def f(x):
    y, z = x[0], x[-1]
    for _ in range(int(sys.argv[1])):
        y, z = y + 1e-3 * z, z - 1e-3 * np.sin(y)
    return y * z
dc.forward_cover(f, np.ones(200), storage=sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
"""


def rows(*, quick: bool) -> Iterator[Row]:
    """Both storages beside JAX; a large program; a long one."""
    for n in (200,) if quick else (200, 1000):
        x = point(n)
        theirs = _peers.jax_hessian(rosenbrock, x)
        # Those of compiled programs, since JAX's compilation is not counted either.
        targets = {"sparse": 1.0, "dense": 4.0}
        if theirs is None:
            yield Row(ITEM, "jax dense Hessian", None, target=1, note="no jax")
            break
        programs = {"of a compiled program": _replay.compiled(rosenbrock, x)}
        for _ in range(20):  # the first calls work out the structure
            dc.forward_cover(programs["of a compiled program"], x)
        programs["of the function itself"] = rosenbrock
        ours = {
            (what, storage): lambda f=f, s=storage, x=x: dc.forward_cover(
                f, x, storage=s
            )
            for what, f in programs.items()
            for storage in targets
        }
        jax, *timed = interleaved([theirs, *ours.values()], 7 if quick else 15)
        for (what, storage), samples in zip(ours, timed, strict=True):
            ratios = samples.over(jax)
            yield Row(
                ITEM,
                f"forward cover {what}, {storage} / jax dense Hessian",
                median(ratios),
                target=targets[storage] if what == "of a compiled program" else None,
                n=n,
                note=f"{samples.median * 1e3:.3g} ms v. {jax.median * 1e3:.3g} ms, "
                f"quartiles {spread(ratios)}",
            )
    n = 10_000 if quick else 100_000
    seconds, size = map(float, _children.output(_LARGE, str(n), timeout=120).split())
    yield Row(ITEM, "sparse storage", seconds, "s", target=60, n=n)
    yield Row(ITEM, "its process at its peak", size, "GB", target=2, n=n)
    for storage in ("dense", "sparse"):
        steps = (10_000, 30_000) if quick else (10_000, 100_000)
        short, long = (
            float(_children.output(_LOOP, str(k), storage, timeout=120)) for k in steps
        )
        yield Row(
            ITEM,
            f"peak memory of {5 * steps[1]:.0e} / {5 * steps[0]:.0e} operations, {storage}",
            long / short,
            target=1.05,
            n=200,
            note=f"{long:.0f} MB v. {short:.0f} MB",
        )
