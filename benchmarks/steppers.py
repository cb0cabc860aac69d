"""Long time stepping programs: their gradients against JAX's, and how long they take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from derivative_covers.checkpoint import Revolve, reverse_sweep
from tests.suites._chains import REFERENCE, chain
from tests.suites._steppers import STEPPERS, Stepper

from ._report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def _gradient(stepper: Stepper, steps: int, slots: int) -> Iterator[Row]:
    plain = _forward(stepper, steps)
    start = time.perf_counter()
    result = reverse_sweep(
        chain(stepper, steps),
        stepper.p,
        params=stepper.p,
        schedule=Revolve(slots=slots),
    )
    seconds = time.perf_counter() - start
    expected = REFERENCE[stepper.name, steps]
    value = _error(result.value, expected["value"])
    gradient = result.cotangent + result.params_cotangent
    done = result.report.executed
    note = (
        f"value {value:.2g}; {slots} slots, {done.unrecorded} unrecorded evaluations, "
        f"{seconds:.3g} s, {seconds / plain:.3g} forward runs"
    )
    what = f"gradient of {stepper.name}, relative error against JAX"
    error = max(value, _error(gradient, expected["gradient"]))
    yield Row(ITEM, what, error, "", LIMIT, n=steps, note=note)


def rows(*, quick: bool) -> Iterator[Row]:
    """Relative errors at the longest references; at a hundred steps in a quick run."""
    for stepper in STEPPERS:
        steps = 100 if quick else stepper.steps
        slots = 100 if steps > 100_000 else 10
        yield from _gradient(stepper, steps, slots)
