"""Many steps of a chain in one call."""

from __future__ import annotations

import math

from ...sweeps.kernels._jit import kernel
from ._kinds import GRADIENT
from .single import changed, reverse, values


@kernel
def load(p, index, k, data, row):
    """Write the step's number and its row of data among the inputs."""
    if index >= 0:
        p[index] = k
    for i in range(data.shape[1]):
        p[row + i] = data[k, i]


@kernel
def advance(
    code, count, vl, vg, wide, ids, guards, p, outs, carry, index, data, row, work,
    states, start, stop,
):  # fmt: skip
    """Runs steps; the state stands at ``carry`` in ``p``, and in ``states`` a row a step.

    Gives the first step that was not done: its input is in place. ``states`` with no rows
    keeps nothing.
    """
    n = outs.size
    for k in range(start, stop):
        load(p, index, k, data, row)
        if states.shape[0] > 0:
            for i in range(n):
                states[k - start, i] = p[carry + i]
        _, bad = values(code, count, vl, vg, wide, ids, p, 0)
        for i in range(n):
            w = p[outs[i]]
            work[i] = w
            bad += 0 if abs(w) < math.inf else 1
        if bad > 0 or changed(guards, p) >= 0:
            return k
        for i in range(n):
            p[carry + i] = work[i]
    return stop


@kernel
def retreat(
    code, count, vl, vg, tl, fl, fg, wide, ids, guards, p, q, outs, carry,
    index, data, row, work, states, start, stop, held,
):  # fmt: skip
    """Reverses steps ``stop-1 .. start``, whose inputs are rows of ``states``.

    ``work`` is the cotangent of the state behind them and becomes that of the state
    before; ``held`` is that of the inputs before ``carry``, to which steps add. Gives the
    last step that was not reversed (``start - 1`` when all were).
    """
    n = outs.size
    for k in range(stop - 1, start - 1, -1):
        load(p, index, k, data, row)
        for i in range(n):
            p[carry + i] = states[k - start, i]
        _, bad = values(code, count, vl, vg, wide, ids, p, 0)
        if bad > 0 or changed(guards, p) >= 0:
            return k
        q[:] = 0.0
        for i in range(carry):
            q[i] = held[i]
        for i in range(n):
            q[outs[i]] += work[i]
        reverse(
            code, vl, tl, fl, fg, fl, fg, wide, ids, p, q, p, p, GRADIENT, count - 1
        )
        for i in range(n):
            work[i] = q[carry + i]
        for i in range(carry):
            held[i] = q[i]
    return start - 1
