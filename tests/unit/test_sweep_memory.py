"""The memory of a process that sweeps over large states."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, resource, sys
import numpy as np
from derivative_covers.checkpoint import Chain, Revolve, Transition, reverse_sweep

def eight(x, k):
    y = np.sin(x)
    y = y * x
    y = y + x
    y = y * 0.5
    y = y - 0.01
    y = np.cos(y)
    y = y * 0.1
    return x - y

def sweep(n, steps):
    if sys.argv[1] == "taped":
        one = Transition.taped(eight)
        last = Transition.taped(lambda x, k: np.mean(x * x))
    else:
        one = Transition.from_vjp(lambda x, k: x * 0.999, lambda x, y, k: y * 0.999)
        last = Transition.from_vjp(lambda x, k: x @ x, lambda x, y, k: 2 * y * x)
    chain = Chain([Chain.uniform(steps - 1, one), last])
    reverse_sweep(chain, np.full(n, 0.3), schedule=Revolve(slots=10))

def peak():
    if os.path.exists("/proc/self/status"):  # the other number is inherited
        with open("/proc/self/status") as status:
            lines = dict(line.split(":") for line in status)
        return int(lines["VmHWM"].split()[0]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20

sweep(200, 150)  # compiles, where it does
rest = peak()
sweep(131072, 80)
print(peak() - rest)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["from_vjp", "taped"])
def test_ten_slots_of_a_megabyte(kind: str) -> None:
    """Slots, live state and point are twelve; a tape of eight operations is the rest."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind],
        capture_output=True,
        text=True,
        check=True,
    )
    assert 10.0 < float(ran.stdout) < (20.0 if kind == "from_vjp" else 40.0)
