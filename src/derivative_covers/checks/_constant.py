"""The report on a program whose recorded result does not depend on its inputs."""

from __future__ import annotations

import numpy as np

from ._differences import LARGEST
from ._program import Program
from ._report import CheckReport, CheckRow

__all__ = ["constant_report"]


def constant_report(program: Program, message: str, seed: int) -> CheckReport:
    """Say whether the plain program is constant, too, or its dependence was lost."""
    f0 = program.plain(program.x)
    program.outputs = f0.size
    d = program.scales() * np.random.default_rng(seed).choice(
        [-1.0, 1.0], program.x.size
    )
    moved = program.near(program.x + LARGEST * d)
    with np.errstate(invalid="ignore"):
        change = np.abs(moved - f0)
    change = np.where(np.isnan(change), 0.0, change)
    k = int(np.argmax(change)) if change.size else 0
    slope = float((moved - f0)[k] / LARGEST) if change.size else 0.0
    if change.size and change[k] > 1e3 * np.finfo(np.float64).eps * abs(f0[k]):
        reason = (
            "the recorded result does not depend on the inputs, but the plain program "
            "does: the dependence was lost through value(x), stop_gradient or plain "
            "numbers."
        )
    else:
        reason = f"the program is constant near this point. {message}"
    row = CheckRow(
        "gradient", "direction 0", 0.0, slope, 0.0, "wrong", reason, float("inf")
    )
    return CheckReport((row,))
