"""Compiles what replays need, once, so that no process that tests does it anew."""

from __future__ import annotations

from typing import Any

import numpy as np

import derivative_covers as dc
from derivative_covers.checkpoint import (
    Chain,
    Transition,
    UniformBlock,
    reverse_sweep,
)


def _f(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def main() -> None:
    """Run each interpreter once."""
    for n in (4, 40, 10_000):
        compiled = dc.compile(_f, np.full(n, 0.5))
        x = np.linspace(0.1, 0.9, n)
        compiled.hvp(x, x)
        compiled.cover(x)
    compiled = dc.compile(_f, np.full(4, 0.5))
    compiled.covers(np.linspace(0.1, 0.9, 40).reshape(10, 4))
    step = Transition.compiled(lambda x, k: x * 0.5 + 0.25)
    last = Transition.taped(lambda x, k: np.sum(x))
    chain = Chain([Chain.uniform(8, step), last])
    reverse_sweep(chain, np.ones(9), schedule=UniformBlock(3, record="block"))


if __name__ == "__main__":
    main()
