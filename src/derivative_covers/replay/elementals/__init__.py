"""Compiled elementals: from a derivative rule to machine code by address.

A rule is called with symbols (:mod:`._trace`), which leaves the graph of its operations.
Its text (:mod:`._source`) is compiled pass by pass (:mod:`._compile`). Every pass has the
signature ``int64 f(double* p, double* q, double* r, double* s, int64* ids, int64 o,
int64 x, int64 y, int64 n)`` for ``n`` nodes at ``o + i``. In the shape ``"lanes"`` their
operands are at ``x + i`` and ``y + i``, neither range meets that of the nodes, and two
recorded operands start apart. In the shape ``"gather"`` they are at ``ids[x + i]`` and
``ids[y + i]``, and nodes go strictly in order, so that one may be the operand of a later
one. A constant operand is at ``p[y]`` (lanes), ``p[ids[y + i]]`` (gather), or ``p[y + i]``
where each entry has its own.

=========  ==========================================================================
value      ``p[node] = f``; returns how many nodes are outside of their domain, at a
           kink, or at a tie
adjoint    reverse: ``q[operand] += d q[node]``
fresh      the same where all of these are zero, so that it need not read them and they
           need not be there; no operand may stand twice
tangent    ``r[node] = sum of d r[operand]``
second     reverse, ``q`` holding adjoints and ``r`` tangents:
           ``s[operand] += d s[node] + q[node] * sum of c r[operands]``
cover      reverse: ``q`` as adjoint, ``s[operand] += |d| s[node] + rho`` with the slot
           weights of the sum merge; ``r`` holds ratio, limit and check of the split.
           Returns how many nodes have no finite weight, or ask for declared scales;
           where that is not 0, nothing of it is to be used
zeros      returns how many nodes have a first partial that is exactly zero
=========  ==========================================================================

A zero adjoint, tangent or ``s`` times any partial is zero.
"""

from __future__ import annotations

from ._functions import Functions, functions, literal
from ._fused import Fused, Part
from ._symbols import TraceError

__all__ = [
    "Functions",
    "Fused",
    "Part",
    "TraceError",
    "functions",
    "literal",
]
