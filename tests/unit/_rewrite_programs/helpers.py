"""A module of helpers that the programs reach in several ways."""

import numpy as np

SCALE = 1.5


def fill(values):
    out = np.zeros(len(values))
    for k, v in enumerate(values):
        out[k] = v
    return out


def scaled(v):
    return SCALE * fill([v])[0]
