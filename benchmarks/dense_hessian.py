"""A cover against JAX's compiled dense Hessian."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import derivative_covers as dc

from . import _peers
from ._programs import point, rosenbrock
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "dense_hessian"


def rows(*, quick: bool) -> Iterator[Row]:
    """JAX's time over ours, on a recorded tape and with the recording."""
    n = 4000
    x = point(n)
    tape, out = dc.tape_function(rosenbrock, x)
    ours = {
        "sum cover of a tape": lambda: dc.cover_hessian(tape, out),
        "recording and sum cover": lambda: dc.cover_hessian(rosenbrock, x),
        "recording and quadrature": lambda: dc.cover_hessian(
            rosenbrock, x, merge="quadrature"
        ),
    }
    theirs = _peers.jax_hessian(rosenbrock, x)
    if theirs is None:
        yield Row(ITEM, "jax dense Hessian", None, target=50, note="jax not installed")
        return
    jax, *timed = interleaved([theirs, *ours.values()], 7 if quick else 15)
    for what, samples in zip(ours, timed, strict=True):
        ratios = jax.over(samples)
        yield Row(
            ITEM,
            f"jax dense Hessian / {what}",
            median(ratios),
            target=None if "quadrature" in what else 50,
            at_least=True,
            n=n,
            note=f"{jax.median * 1e3:.3g} ms v. {samples.median * 1e3:.3g} ms, "
            f"quartiles {spread(ratios)}",
        )
