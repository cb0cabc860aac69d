"""Programs that workers import: the kinetics of an enzyme in shards, and predators."""

from __future__ import annotations

import os
import signal
from hashlib import blake2b
from typing import Any

import numpy as np

POINT = np.array([200.0, 0.05])
STEPS = 500


def measured(seed: int, size: int) -> list[Any]:
    """Concentrations and rates as `examples.enzyme` has them, with noise."""
    rng = np.random.default_rng(seed)
    concentration = rng.uniform(0.02, 1.1, size)
    rate = 212.7 * concentration / (0.0641 + concentration)
    rate += rng.normal(scale=10.0, size=size)
    return [concentration, rate]


def fatal(seed: int, size: int, victim: int, flag: str) -> list[Any]:
    """The same; the worker that comes to one of them first is killed."""
    if seed == victim and not os.path.exists(flag):
        with open(flag, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return measured(seed, size)


def residuals(p: Any, shard: Any) -> Any:
    """Of the model of Michaelis and Menten."""
    concentration, rate = shard
    return p[0] * concentration / (p[1] + concentration) - rate


def predators(p: Any) -> Any:
    """The distance that Lotka and Volterra's populations end from a state."""
    prey, predator = 1.0, 0.5
    for _ in range(STEPS):
        meetings = prey * predator
        prey = prey + 0.01 * (p[0] * prey - p[1] * meetings)
        predator = predator + 0.01 * (p[2] * meetings - p[3] * predator)
    return (prey - 1.2) ** 2 + (predator - 0.7) ** 2


def digest(found: Any) -> str:
    """The bits of a cover of least squares."""
    parts = (found.value, found.gradient, found.h, found.h_gn, found.h_curv)
    return blake2b(b"".join(np.asarray(p).tobytes() for p in parts)).hexdigest()[:16]
