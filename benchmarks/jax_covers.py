"""Covers in JAX, in times of JAX's own compiled gradients; all of it compiled."""

from __future__ import annotations

import time
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _peers, _timing
from ._jax_programs import Program, programs, rosenbrock
from ._report import Row
from ._timing import Samples, compared, interleaved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "jax"
LIMITS = (3.0, 4.0, 5.0, 3.5, 5.0)  # in the order of `programs`
GROUPS = 8
COMPILED = FEWEST = 3


def rows(*, quick: bool) -> Iterator[Row]:
    """All ratios in double precision on the device that JAX takes."""
    jax = _peers.module("jax")
    if jax is None:
        yield Row(ITEM, "covers in JAX", None, target=LIMITS[0], note="no JAX")
        return
    jax.config.update("jax_enable_x64", True)
    yield from measured(jax, np.float64, quick=quick)


def measured(
    jax: Any,
    dtype: Any,
    *,
    quick: bool,
    repetitions: int = 11,
    seconds: float = inf,
) -> Iterator[Row]:
    """The rows at one precision; one of them takes hardly more than so many seconds."""
    *short, scan = zip(programs(jax, dtype, quick=quick), LIMITS, strict=True)
    for program, limit in short:
        yield from _sweeps(jax, program, limit, repetitions, seconds)
    yield _mapped(jax, dtype, 1_000 if quick else 10_000, repetitions)
    yield _hessian(jax, dtype, 500 if quick else 2_000, repetitions)
    for program, _ in short:
        yield _compilation(jax, program)
    # Last, since devices that take long to begin an operation take long over a scan.
    yield from _sweeps(jax, *scan, repetitions, seconds)
    yield _compilation(jax, scan[0])


def _sweeps(
    jax: Any, program: Program, limit: float, repetitions: int, seconds: float
) -> Iterator[Row]:
    """The sum merge in gradients, and groups in sums where there is time for them."""
    from derivative_covers.interop import jax as dcj  # noqa: PLC0415 - needs JAX

    x, f = program.x, program.f
    calls = [
        _call(jax, jax.value_and_grad(f), x),
        _call(jax, dcj.cover_hessian(f), x),
        _call(jax, dcj.cover_hessian(f, GROUPS), x),
    ]
    what = f"{program.name}: sum cover / value and gradient"
    whole = f"{program.name}: {GROUPS} groups / sum cover"
    once = sum(map(_once, calls[:2]))
    grouped = once * GROUPS * FEWEST < seconds
    if not grouped:
        del calls[2]
        once /= GROUPS
    fitting = int(min(repetitions, max(FEWEST, seconds / (once * GROUPS))))
    gradient, single, *rest = interleaved(calls, fitting)
    yield compared(ITEM, what, single, gradient, limit, n=program.n)
    for samples in rest:
        yield compared(ITEM, whole, samples, single, GROUPS + 1, n=program.n)
    if not grouped:
        note = "left out: it takes too long here"
        yield Row(ITEM, whole, None, target=GROUPS + 1, n=program.n, note=note)


def _once(call: Callable[[], Any]) -> float:
    call()  # compiles
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _call(jax: Any, f: Callable[[Any], Any], x: Any) -> Callable[[], Any]:
    compiled = jax.jit(f)
    return lambda: jax.block_until_ready(compiled(x))


def _compilation(jax: Any, program: Program) -> Row:
    """Tracing and compiling, each time anew, in turn."""
    from derivative_covers.interop import jax as dcj  # noqa: PLC0415 - needs JAX

    def seconds(transform: Callable[[Any], Any]) -> float:
        jax.clear_caches()
        f = partial(lambda g, x: g(x), program.f)  # a function that no cache knows
        start = _timing.CLOCK()
        jax.jit(transform(f)).lower(program.x).compile()
        return _timing.CLOCK() - start

    rounds = [
        (seconds(dcj.cover_hessian), seconds(jax.grad)) for _ in range(COMPILED + 1)
    ]
    ours, theirs = (Samples(side) for side in zip(*rounds[1:], strict=True))
    what = f"{program.name}: compiling the sum cover / the gradient"
    return compared(ITEM, what, ours, theirs, 3.0, n=program.n)


def _mapped(jax: Any, dtype: Any, points: int, repetitions: int) -> Row:
    """Rosenbrock's function of twenty variables at many points."""
    from derivative_covers.interop import jax as dcj  # noqa: PLC0415 - needs JAX

    f = rosenbrock(jax, dtype, 20).f
    rng = np.random.default_rng(4)
    x = jax.numpy.asarray(rng.normal(size=(points, 20)), dtype)
    theirs, ours = interleaved(
        [
            _call(jax, jax.vmap(jax.grad(f)), x),
            _call(jax, jax.vmap(dcj.cover_hessian(f)), x),
        ],
        repetitions,
    )
    what = "Rosenbrock, 20 variables: mapped sum cover / mapped gradient"
    return compared(ITEM, what, ours, theirs, 3.0, n=points)


def _hessian(jax: Any, dtype: Any, n: int, repetitions: int) -> Row:
    """JAX's dense Hessian and a cover of that matrix, over our sum cover."""
    from derivative_covers.interop import jax as dcj  # noqa: PLC0415 - needs JAX
    from derivative_covers.matrix import symcover  # noqa: PLC0415 - after JAX

    program = rosenbrock(jax, dtype, n)
    dense = jax.jit(jax.hessian(program.f))
    theirs, ours = interleaved(
        [
            lambda: symcover(np.asarray(dense(program.x))),
            _call(jax, dcj.cover_hessian(program.f), program.x),
        ],
        repetitions,
    )
    what = "Rosenbrock: JAX's Hessian and the cover of that matrix / sum cover"
    return compared(ITEM, what, theirs, ours, 200.0, n=n, at_least=True)
