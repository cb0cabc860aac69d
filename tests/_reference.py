"""A plain twin of the compiled sweeps: exact first derivatives, one block after another.

Written from what a block means, without the package's sweeps, for tests to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from derivative_covers.elementals import BY_OPCODE
from derivative_covers.tape import (
    Accumulate,
    Binary,
    Constants,
    Dot,
    Fixed,
    Inputs,
    Linear,
    Node,
    Run,
    Tape,
    Unary,
    record,
)

__all__ = ["differences", "edges", "node_jacobian", "recorded"]


def _full(d: Any, n: int) -> Any:
    return np.broadcast_to(np.asarray(d, dtype=float), (n,))


def edges(tape: Tape, block: Any) -> list[tuple[Any, Any]]:
    """Parents and partials of every node of a block, as pairs of (n, width) arrays."""
    vals = tape.vals
    n = block.size
    v = block.values
    if isinstance(block, (Inputs, Constants)):
        return []
    with np.errstate(all="ignore"):
        if isinstance(block, Unary):
            p = block.x.flat((n,))
            return [(p, _full(block.op.rule.partials(np, vals[p], v)[0], n))]
        if isinstance(block, Fixed):
            p = block.x.flat((n,))
            c = np.broadcast_to(block.const, (n,))
            if block.slot == 0:
                d = block.op.rule_first().partials(np, vals[p], c, v)[0]
            else:
                d = block.op.rule_second().partials(np, c, vals[p], v)[0]
            return [(p, _full(d, n))]
        if isinstance(block, Binary):
            p, q = block.x.flat((n,)), block.y.flat((n,))
            d1, d2, *_ = block.op.rule.partials(np, vals[p], vals[q], v)
            return [(p, _full(d1, n)), (q, _full(d2, n))]
        if isinstance(block, Linear):
            width = block.shape[-1]
            p = block.x.flat(block.shape).reshape(n, width)
            places = type(block.x)(0, block.coef_strides).flat(block.shape)
            d = block.coef[places].reshape(n, width)
            return [(p[:, k], d[:, k]) for k in range(width)]
        if isinstance(block, Dot):
            width = block.shape[-1]
            p = block.x.flat(block.shape).reshape(n, width)
            q = block.y.flat(block.shape).reshape(n, width)
            pairs = [(p[:, k], vals[q[:, k]]) for k in range(width)]
            return pairs + [(q[:, k], vals[p[:, k]]) for k in range(width)]
        assert isinstance(block, Node)
        return [
            (np.full(1, p), np.full(1, d))
            for p, d in zip(block.parents, block.d, strict=True)
        ]


def _run_rows(tape: Tape, block: Run, rows: Any) -> None:
    vals = tape.vals
    with np.errstate(all="ignore"):
        for k in range(block.size):
            op, pattern = BY_OPCODE[block.code[k] // 4], block.code[k] % 4
            a, other, v = block.a[k], block.other[k], block.values[k]
            x = np.float64(vals[a])
            if pattern == 0:
                terms = [(a, op.rule.partials(np, x, v)[0])]
            elif pattern == 1:
                b = int(other)
                d1, d2, *_ = op.rule.partials(np, x, np.float64(vals[b]), v)
                terms = [(a, d1), (b, d2)]
            elif pattern == 2:
                terms = [(a, op.rule_first().partials(np, x, other, v)[0])]
            else:
                terms = [(a, op.rule_second().partials(np, other, x, v)[0])]
            for p, d in terms:
                rows[block.start + k] += _times(np.float64(d), rows[p])


def _times(d: Any, row: Any) -> Any:
    """The product that is zero where the row is, however infinite the partial."""
    with np.errstate(all="ignore"):
        return np.where(row == 0.0, 0.0, np.multiply(d, row))


def node_jacobian(tape: Tape) -> Any:
    """Derivatives of every node in every input, shape ``(nnodes, ninputs)``."""
    rows = np.zeros((tape.nnodes, tape.ninputs))
    rows[: tape.ninputs] = np.eye(tape.ninputs)
    for block in tape.blocks:
        if isinstance(block, Run):
            _run_rows(tape, block, rows)
            continue
        terms = edges(tape, block)
        if isinstance(block, Accumulate):
            for k in range(block.size):
                for p, d in terms:
                    rows[block.start + k] += _times(d[k], rows[p[k]])
            continue
        for p, d in terms:
            rows[block.start : block.stop] += _times(d[:, None], rows[p])
    return rows


def recorded(f: Callable[..., Any], x0: Any) -> tuple[Tape, Any, Any]:
    """Tape, values and Jacobian of the outputs, shape ``outputs + inputs``."""
    tape, out = record(f, x0)
    out = np.asarray(out)
    jacobian = node_jacobian(tape)[out].reshape(out.shape + np.shape(x0))
    return tape, tape.vals[out], jacobian


def differences(f: Callable[..., Any], x0: Any, step: float = 1e-5) -> Any:
    """Central differences of fourth order, shape ``outputs + inputs``."""
    x0 = np.asarray(x0, dtype=float)
    columns = []
    for k in range(x0.size):
        e = np.zeros(x0.size)
        e[k] = step
        e = e.reshape(x0.shape)
        near = np.asarray(f(x0 + e)) - np.asarray(f(x0 - e))
        far = np.asarray(f(x0 + 2 * e)) - np.asarray(f(x0 - 2 * e))
        columns.append((8.0 * near - far) / (12.0 * step))
    shape = np.shape(columns[0])
    return np.stack(columns, axis=-1).reshape(shape + x0.shape)
