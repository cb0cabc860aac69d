"""What a tape is made of: blocks of nodes recorded by one operation.

Node ids run through the blocks in order. A block stores its values and what is needed
to derive everything else; nothing that can be derived is stored an entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import Elemental

__all__ = [
    "Accumulate",
    "Binary",
    "Block",
    "Constants",
    "Dot",
    "Fixed",
    "Floats",
    "Ids",
    "Inputs",
    "Linear",
    "Node",
    "Operand",
    "Run",
    "Unary",
]

Floats = NDArray[Any]
Ids = NDArray[np.int64]


@dataclass(slots=True, repr=False, eq=False)
class Operand:
    """The parents of a block in one of its slots.

    Entry ``(i, j, ...)`` sits at position ``p = start + i*strides[0] + j*strides[1] ...``
    and is node ``p``, or node ``ids[p]`` where the ids are explicit.
    """

    start: int
    strides: tuple[int, ...] = (1,)
    ids: Ids | None = None

    def flat(self, shape: tuple[int, ...]) -> Ids:
        """Node ids of all entries, in C order of ``shape``, to be read only."""
        start, ids = self.start, self.ids
        if len(shape) == 1:
            stride = self.strides[0]
            if ids is None and stride:
                stop = start + stride * shape[0]
                return np.arange(start, stop, stride, dtype=np.int64)
            if ids is not None and (start, stride, ids.size) == (0, 1, shape[0]):
                return ids
        position = np.full(shape, start, dtype=np.int64)
        for axis, stride in enumerate(self.strides):
            if stride:
                steps = np.arange(shape[axis], dtype=np.int64) * stride
                position += steps.reshape((-1,) + (1,) * (len(shape) - axis - 1))
        position = position.ravel()
        return position if ids is None else ids[position]

    def read(self, vals: Floats, n: int) -> Any:
        """The ``n`` entries of an entrywise operand, or the one that they all are.

        ``vals`` holds the values of all nodes.
        """
        start, stride, ids = self.start, self.strides[0], self.ids
        if ids is not None:
            plain = (start, stride, ids.size) == (0, 1, n)
            return vals[ids if plain else self.flat((n,))]
        if not stride:
            return vals[start]
        stop = start + stride * (n - 1) + (1 if stride > 0 else -1)
        return vals[start : stop if stop >= 0 else None : stride]

    def walk(self, vals: Floats, shape: tuple[int, ...]) -> Floats:
        """The entries of a wide operand, a view where the ids are not explicit."""
        base = vals if self.ids is None else vals[self.ids]
        step = base.itemsize
        strides = tuple(s * step for s in self.strides)
        return np.ndarray(shape, base.dtype, base, self.start * step, strides)

    @property
    def nbytes(self) -> int:
        """Bytes of the explicit ids."""
        return 0 if self.ids is None else self.ids.nbytes


@dataclass(slots=True, repr=False, eq=False)
class Block:
    """Nodes ``start .. start + len(values)``; subclasses say how they came about."""

    start: int
    values: Floats

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.values.size)

    @property
    def stop(self) -> int:
        """One past the last node."""
        return self.start + int(self.values.size)

    @property
    def nbytes(self) -> int:
        """Bytes that the block holds."""
        return self.values.nbytes


@dataclass(slots=True, repr=False, eq=False)
class Inputs(Block):
    """The inputs of the program."""


@dataclass(slots=True, repr=False, eq=False)
class Constants(Block):
    """Nodes that depend on nothing."""


@dataclass(slots=True, repr=False, eq=False)
class Unary(Block):
    """An elemental of one operand, entry by entry."""

    op: Elemental
    x: Operand

    @property
    def nbytes(self) -> int:
        """Bytes that the block holds."""
        return self.values.nbytes + self.x.nbytes


@dataclass(slots=True, repr=False, eq=False)
class Fixed(Block):
    """An elemental of two operands, one of them constant (one entry, or one a node)."""

    op: Elemental
    x: Operand
    slot: int
    const: Floats

    @property
    def nbytes(self) -> int:
        """Bytes that the block holds."""
        return self.values.nbytes + self.x.nbytes + self.const.nbytes


@dataclass(slots=True, repr=False, eq=False)
class Binary(Block):
    """An elemental of two operands, entry by entry."""

    op: Elemental
    x: Operand
    y: Operand

    @property
    def nbytes(self) -> int:
        """Bytes that the block holds."""
        return self.values.nbytes + self.x.nbytes + self.y.nbytes


@dataclass(slots=True, repr=False, eq=False)
class Accumulate(Binary):
    """A binary block whose first operand runs through the block itself (cumulative)."""


@dataclass(slots=True, repr=False, eq=False)
class Linear(Block):
    """Linear nodes ``y[o] = sum_k coef[o, k] x[o, k]`` with constant coefficients.

    ``shape`` is ``(n0, n1, n2, k)``: three levels of nodes (C order) and the summands.
    """

    shape: tuple[int, int, int, int]
    x: Operand
    coef: Floats
    coef_strides: tuple[int, int, int, int]

    @property
    def nbytes(self) -> int:
        """Bytes that the block holds."""
        return self.values.nbytes + self.x.nbytes + self.coef.nbytes


@dataclass(slots=True, repr=False, eq=False)
class Dot(Block):
    """Inner products ``y[o] = sum_k x[o, k] y[o, k]`` of recorded entries.

    ``merge`` says whether a pair whose two slots share their parent is a square. A
    ``centred`` block sums products of the operands' deviations from their recorded
    values: values and first partials are zero, curvature is that of the product. It is
    the second-order remainder of a function whose linear part stands on other nodes.
    """

    shape: tuple[int, int, int, int]
    x: Operand
    y: Operand
    merge: bool = True
    centred: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes that the block holds."""
        return self.values.nbytes + self.x.nbytes + self.y.nbytes


@dataclass(slots=True, repr=False, eq=False)
class Run(Block):
    """A run of scalar operations, a row a node.

    ``code`` is four times the opcode plus the pattern: 0 one operand, 1 two recorded
    operands, 2 the second one constant, 3 the first one constant. ``a`` is the (first)
    recorded parent, ``other`` the second parent or the constant (:attr:`b` reads it as
    the parent).
    """

    code: NDArray[np.int16]
    a: Ids
    other: Floats

    @property
    def b(self) -> Ids:
        """Second parents, where the pattern says that there is one."""
        two = (self.code & 3) == 1
        return np.where(two, self.other.real, self.a).astype(np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes that the block holds."""
        return self.values.nbytes + self.code.nbytes + self.a.nbytes + self.other.nbytes


@dataclass(slots=True, repr=False, eq=False)
class Node(Block):
    """One node given explicitly: parents, partials and a curvature form.

    ``rule(values)`` gives value, partials and curvature form at other values of the
    parents; None where nobody has given one. It is not pickled: it may hold functions
    that cannot be.
    """

    parents: Ids
    d: Any  # over a box, an Interval
    curvature: Any
    rule: Any = None

    def __reduce__(self) -> Any:
        return Node, (self.start, self.values, self.parents, self.d, self.curvature)

    @property
    def nbytes(self) -> int:
        """Bytes that the block holds."""
        partials = getattr(self.d, "nbytes", 16 * self.d.size)
        return self.values.nbytes + self.parents.nbytes + int(partials)
