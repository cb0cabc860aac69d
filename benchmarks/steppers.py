"""Long time stepping programs: their derivatives against JAX's, and how long they take."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from derivative_covers.checkpoint import Revolve, hvp_sweep, reverse_sweep
from tests.suites._chains import REFERENCE, chain
from tests.suites._steppers import STEPPERS, Stepper, direction

from ._report import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "steppers"
LIMIT = 1e-9


def _error(found: Any, expected: Any) -> float:
    found, expected = np.asarray(found), np.asarray(expected)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def _forward(stepper: Stepper, steps: int) -> float:
    """Seconds of the plain program, from a run of at most two thousand steps."""
    some = min(steps, 2_000)
    start = time.perf_counter()
    stepper.run(stepper.p, some)
    return (time.perf_counter() - start) / some * steps


def _timed(call: Callable[[], Any], stepper: Stepper, steps: int) -> tuple[Any, str]:
    """A result, and what it took."""
    plain = _forward(stepper, steps)
    start = time.perf_counter()
    found = call()
    seconds = time.perf_counter() - start
    done = found.report.executed
    note = (
        f"{done.unrecorded} unrecorded evaluations, {seconds:.3g} s, "
        f"{seconds / plain:.3g} forward runs"
    )
    return found, note


def _gradient(stepper: Stepper, steps: int, slots: int) -> Iterator[Row]:
    p, expected = stepper.p, REFERENCE[stepper.name, steps]
    sweep = partial(reverse_sweep, chain(stepper, steps), p, params=p)
    schedule = Revolve(slots=slots)
    found, note = _timed(lambda: sweep(schedule=schedule), stepper, steps)
    errors = (
        _error(found.value, expected["value"]),
        _error(found.cotangent + found.params_cotangent, expected["gradient"]),
    )
    what = f"gradient of {stepper.name}, relative error against JAX"
    note = f"value {errors[0]:.2g}; {slots} slots, {note}"
    yield Row(ITEM, what, max(errors), "", LIMIT, n=steps, note=note)


def _product(stepper: Stepper, steps: int, slots: int) -> Iterator[Row]:
    p, v = stepper.p, direction(stepper.p.size)
    sweep = partial(hvp_sweep, chain(stepper, steps), p, v, params=p, params_v=v)
    schedule = Revolve(slots=slots)
    found, note = _timed(lambda: sweep(schedule=schedule), stepper, steps)
    expected = REFERENCE[stepper.name, steps]["product"]
    error = _error(found.hvp + found.params_hvp, expected)
    what = f"Hessian product of {stepper.name}, relative error against JAX"
    note = f"{slots} slots, {note}"
    yield Row(ITEM, what, error, "", LIMIT, n=steps, note=note)


def rows(*, quick: bool, full: bool = False) -> Iterator[Row]:
    """Relative errors at a hundred steps; at the longest references in a full run."""
    del quick
    for stepper in STEPPERS:
        steps = stepper.steps if full else 100
        longest = steps > 100_000
        yield from _gradient(stepper, steps, 100 if longest else 10)
        if not longest:
            yield from _product(stepper, steps, 100)
