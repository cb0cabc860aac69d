"""Programs that other processes import."""

from __future__ import annotations

import os
import signal
import time

import numpy as np


def rate(p, shard):
    """Residuals of the kinetics of an enzyme."""
    concentration, measured = shard
    return p[0] * concentration / (p[1] + concentration) - measured


def squares(p, shard):
    return np.sum(rate(p, shard) ** 2)


def branching(x):
    """A loop with a branch that some points take."""
    total = 0.0
    for k in range(x.size - 1):
        total = total + 100 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2
        if x[k] > 1:
            total = total + np.exp(x[k])
    return total


def fails_at_three(k):
    if k == 3:
        msg = "three"
        raise ValueError(msg)
    return k


def dies_at_three(k):
    if k == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return k


def dies_once(path):
    """Kills its process, unless that was done before."""
    if not os.path.exists(path):
        with open(path, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


class Sum:
    """Squares of a shard, by a function that may do something else first."""

    def __init__(self, before=None):
        self.before = before

    def __call__(self, p, shard):
        index, *shard = shard
        if self.before is not None:
            self.before(index)
        return squares(p, shard)


def sleeps(k):
    time.sleep(0.02 * (k % 3))


def data(shards=7, size=9):
    """Shards of concentrations and rates."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(shards):
        c = rng.uniform(0.02, 1.1, size)
        found.append((c, 200 * c / (0.06 + c) + rng.normal(size=size)))
    return found
