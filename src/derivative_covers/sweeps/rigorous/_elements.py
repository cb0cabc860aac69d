"""Steps of tapes whose numbers are objects.

Signed numbers are swept in the type of the tape. Magnitudes come from it and are rounded
up to floats, so that covers hold exactly; they also stay in the type of magnitudes, for
what is exact there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tape as tp
from ...elements import upper_magnitudes
from ...tape import Tape
from .._entrywise import Pair
from .._lower import slots, walk, where
from .._step import Array, Leaves
from .._wide import Dot, Linear
from ..kernels import objects, upward
from . import _steps as steps
from ._lower import BoxProgram
from ._numbers import sizes_of

__all__ = ["element_program"]


def element_program(tape: Tape) -> BoxProgram:
    """The program of a tape of elements."""
    found = BoxProgram([], [])
    tape.elements.all()
    for block in tape.blocks:
        if not block.size:
            continue
        bad = tape.elements.marks(block)
        if bad is not None:
            found.marks.append((block.start, bad))
        step, signed, up, plain = _step(tape, block)
        found.steps.append(step)
        found.signed.append(signed)
        found.upward.append(up)
        found.plain.append(plain)
    return found


def _step(tape: Tape, block: Any) -> tuple[Any, Any, Any, Any]:
    start, stop = block.start, block.stop
    if isinstance(block, (tp.Inputs, tp.Constants)):
        return Leaves(start, stop, isinstance(block, tp.Inputs)), None, None, None
    if isinstance(block, tp.Linear):
        return _linear(tape, block)
    if isinstance(block, tp.Dot):
        return _dot(tape, block)
    return _entrywise(tape, block)


def _linear(tape: Tape, block: Any) -> tuple[Any, Any, Any, Any]:
    coef = tape.elements.coefficients(block)
    ids = steps.NO_IDS if block.x.ids is None else block.x.ids
    shape, x, strides = (
        (block.start, *block.shape),
        walk(ids, block.x),
        block.coef_strides,
    )
    size = sizes_of(coef)
    up = upper_magnitudes(size)
    return (
        Linear(shape, x, (up, 0, *strides)),
        steps.Linear(objects, shape, x, [(coef, 0, *strides)]),
        steps.Linear(upward, shape, x, [(up, 0, *strides)]),
        steps.Linear(objects, shape, x, [(size, 0, *strides)]),
    )


def _dot(tape: Tape, block: Any) -> tuple[Any, Any, Any, Any]:
    shape = (block.start, *block.shape)
    v = tape.elements.numbers()
    size = sizes_of(v)
    up = upper_magnitudes(size)
    walks, arrays = [], []
    for operand in (block.x, block.y):
        ids = operand.ids
        walks.append(walk(steps.NO_IDS if ids is None else ids, operand))
        arrays.append([a if ids is None else a[ids] for a in (v, size, up)])
    x, y = walks
    (xv, xs, xu), (yv, ys, yu) = arrays

    def product(kernels: Any, a: Array, b: Array) -> steps.Product:
        return steps.Product(kernels, shape, x, y, [(a, *x[1:])], [(b, *y[1:])])

    return (
        Dot(shape, x, y, (xu, 0, yu, 0), block.merge),
        product(objects, xv, yv),
        product(upward, xu, yu),
        product(objects, xs, ys),
    )


def _entrywise(tape: Tape, block: Any) -> tuple[Any, Any, Any, Any]:
    n = block.size
    x, y = slots(block)
    parts = tape.elements.partials(block)
    a, b = x.flat((n,)), (x if y is None else y).flat((n,))
    if y is not None:
        for k in np.flatnonzero(a == b).tolist():
            d1, d2, c11, c12, c22 = (column[k] for column in parts)
            merged = d1 + d2, 0, c11 + c12 + c12 + c22, 0, 0
            for column, part in zip(parts, merged, strict=True):
                column[k] = part
    none = (steps.NO_IDS, 0, 0)
    topo = (block.start, n, y is not None, *where(x, n), *(where(y, n) if y else none))
    size = [sizes_of(column) for column in parts]
    up = [upper_magnitudes(column) for column in size]
    curved = any(u.any() for u in up[2:])
    cross = bool(up[3].any())
    one = (np.ones(1), 0)
    refs: tuple[Any, ...] = (*one, *one)
    if cross:
        z = upper_magnitudes(tape.elements.numbers(np.stack([a, b])))
        refs = (z[0], 1, z[1], 1)
    flat: list[Any] = [entry for u in up for entry in (u, 1)]

    def made(kernels: Any, columns: list[Array]) -> steps.Entrywise:
        pairs: list[Any] = [((c,), 1) for c in columns]
        c = tuple(pairs[2:]) if curved else None
        return steps.Entrywise(kernels, topo, (pairs[0], pairs[1]), c)

    return (
        Pair(topo, tuple(flat[:4]), tuple(flat[4:]), refs, curved, cross),
        made(objects, parts),
        made(upward, up),
        made(objects, size),
    )
