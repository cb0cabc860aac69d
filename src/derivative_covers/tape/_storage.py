"""Arrays of nodes: NumPy views on values, and the node ids behind them.

A storage owns a dense value buffer. As long as nobody writes into it, entry ``k`` in
memory order is node ``start + k`` and no ids exist; the first in-place write gives the
tape a copy of the values, makes the ids explicit and leaves the memory to the views.
NumPy decides what is a view and what a copy: the ids of a view are the same strided
view of the id buffer.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._blocks import Block, Floats, Ids, Operand
from ._tape import Tape
from ._tvar import TVar

__all__ = [
    "ArrayBase",
    "Storage",
    "assembled",
    "constant",
    "entrywise",
    "fresh",
    "from_ids",
    "memory_order",
    "scalar",
    "scalar_or_array",
]


class Storage:
    """A dense value buffer and the nodes behind it."""

    __slots__ = ("block", "ids", "mixed", "numbering", "start", "tape", "v")

    def __init__(
        self, tape: Tape, v: Floats, start: int, block: Block | None, ids: Ids | None
    ) -> None:
        self.tape = tape
        self.v = v  # owns its memory
        self.start = start  # first node; -1: every entry is a constant
        self.block = block  # the block that shares the buffer, until the first write
        self.ids = ids  # explicit ids in memory order; -1 marks a constant
        self.mixed: bool | None = None if ids is not None else False  # None: not known
        self.numbering: Ids | None = None  # implicit ids, written out for reading

    def has_constants(self) -> bool:
        """Whether constants stand among explicit ids."""
        if self.mixed is None:
            self.mixed = self.ids is not None and bool((self.ids < 0).any())
        return self.mixed

    def listed(self) -> Ids:
        """The ids in memory order, for reading; implicit ones stay implicit."""
        if self.ids is not None:
            return self.ids
        if self.numbering is None:
            n = self.v.size
            if self.start < 0:
                self.numbering = np.full(n, -1, dtype=np.int64)
            else:
                self.numbering = np.arange(self.start, self.start + n, dtype=np.int64)
        return self.numbering

    def explicit(self) -> Ids:
        """The ids in memory order, made explicit."""
        if self.ids is None:
            self.numbering = None
            n = self.v.size
            if self.start < 0:
                self.ids = np.full(n, -1, dtype=np.int64)
                self.mixed = True
            else:
                self.ids = np.arange(self.start, self.start + n, dtype=np.int64)
        return self.ids

    def release(self) -> None:
        """Prepare the values for a write: the tape gets a copy."""
        if self.block is not None:
            self.block.values = self.block.values.copy()
            self.block = None

    def own(self) -> Ids:
        """Prepare for a write: the tape gets a copy, the ids become explicit."""
        self.release()
        return self.explicit()

    def renumber(self, start: int) -> None:
        """Let every entry be a node again, in memory order from ``start``."""
        self.release()
        self.start = start
        self.ids = self.numbering = None
        self.mixed = False


class ArrayBase:
    """Values, ids and geometry of an array of nodes; :class:`TArray` adds operations."""

    __slots__ = ("_idview", "_offset", "s", "v")

    concrete: ClassVar[type[ArrayBase]]

    s: Storage
    v: Floats
    _offset: int
    _idview: tuple[Ids, Ids] | None

    def __init_subclass__(cls) -> None:
        ArrayBase.concrete = cls

    @property
    def tape(self) -> Tape:
        """The tape that records this array's operations."""
        return self.s.tape

    @property
    def is_constant(self) -> bool:
        """Whether no entry depends on the inputs, as far as the storage knows."""
        return self.s.start < 0 and self.s.ids is None

    def _position(self) -> int:
        """Position of the first entry in the storage, in entries."""
        found = self._offset
        if found < 0:
            here = self.v.__array_interface__["data"][0]
            base = self.s.v.__array_interface__["data"][0]
            self._offset = found = int(here - base) // self.v.itemsize
        return found

    def node_ids(self) -> Ids:
        """Node ids with the geometry of the array, for reading."""
        s = self.s
        return self._ids() if s.ids is not None else self._geometry(s.listed())

    def _ids(self) -> Ids:
        """Node ids with the geometry of the array: a view of the storage's ids."""
        flat = self.s.explicit()
        cached = self._idview
        if cached is not None and cached[0] is flat:
            return cached[1]
        view = self._geometry(flat)
        self._idview = (flat, view)
        return view

    def _geometry(self, flat: Ids) -> Ids:
        v = self.v
        if v is self.s.v and v.flags.c_contiguous:
            return flat.reshape(v.shape)
        if v.size == 0:
            return np.empty(v.shape, dtype=np.int64)
        scale = 8 // v.itemsize
        strides = tuple(s * scale for s in v.strides)
        return np.ndarray(v.shape, np.int64, flat, self._position() * 8, strides)

    @property
    def _depends(self) -> bool:
        """Whether some entry depends on the inputs."""
        s = self.s
        if s.ids is None:
            return s.start >= 0 and self.v.size > 0
        if not s.has_constants():
            return self.v.size > 0
        return bool((self._ids() >= 0).any())

    def has_constants(self) -> bool:
        """Whether some entry, but not the storage as a whole, is a constant."""
        return self.s.has_constants() and bool((self._ids() < 0).any())

    def _view(self, v: Floats) -> Any:
        """The array whose values are ``v``, a NumPy view of this one's values."""
        tape = self.s.tape
        if tape.finished:
            tape.put(())
        out = _new(ArrayBase.concrete)
        out.s = self.s
        out.v = v
        out._offset = -1
        out._idview = None
        return out

    def _entry(self) -> TVar:
        """The entry of a 0-d array as a scalar variable."""
        s = self.s
        at = self._position()
        node = int(s.ids[at]) if s.ids is not None else s.start + at
        return scalar(s.tape, -1 if s.start < 0 and s.ids is None else node, self.v)

    def _derived(self, v: Any, pick: Any) -> Any:
        """The result of an indexing-like operation that gave values ``v``.

        ``pick(ids)`` does to an id array what was done to the values; it is called only
        where NumPy made a copy.
        """
        if v.__class__ is not np.ndarray:
            ids = int(pick(self.node_ids())) if not self.is_constant else -1
            return scalar(self.s.tape, ids, v)
        base = self.s.v
        owner: Any = v
        while owner is not None:
            if owner is base:
                return self._view(v)
            owner = getattr(owner, "base", None)
        if self.is_constant:
            return fresh(self.s.tape, v, -1, None)
        out = from_ids(self.s.tape, v, pick(self.node_ids()))
        if self.s.mixed is False:
            out.s.mixed = False
        return out


_new = object.__new__


def scalar(tape: Tape, i: int, v: Any) -> TVar:
    """Variable for node ``i`` with value ``v``; a constant where ``i`` is negative."""
    out = _new(TVar)
    if i < 0:
        out.tape = None
        out.i = -1
    else:
        out.tape = tape
        out.i = i
    out.v = tape.scalar(v)
    return out


def constant(tape: Tape, r: Any) -> Any:
    """A recorded array, or scalar variable, whose entries depend on nothing."""
    if isinstance(r, np.ndarray) and r.ndim:
        return fresh(tape, r.astype(tape.dtype, copy=False), -1, None)
    return scalar(tape, -1, r)


def assembled(tape: Tape, v: Any, ids: Any) -> Any:
    """Array of given values and node ids, or scalar variable where they are 0-d."""
    if not (isinstance(v, np.ndarray) and v.ndim):
        return scalar(tape, int(ids), v)
    return from_ids(tape, v.astype(tape.dtype, copy=False), ids)


def fresh(tape: Tape, v: Floats, start: int, block: Block | None) -> Any:
    """Array on a new storage whose entries, in memory order, are nodes from ``start``."""
    if tape.finished:
        tape.put(())
    if v.base is not None and not (v.flags.owndata):
        v = v.copy(order="K")
    out = _new(ArrayBase.concrete)
    out.s = Storage(tape, v, start, block, None)
    out.v = v
    out._offset = 0
    out._idview = None
    return out


def from_ids(tape: Tape, v: Floats, ids: NDArray[Any]) -> Any:
    """Array on a new storage with explicit ids (of the geometry of ``v``)."""
    if tape.finished:
        tape.put(())
    if v.base is not None or not _is_dense(v):
        v = v.copy(order="K")
    flat = memory_order(np.asarray(ids, dtype=np.int64), v)
    if flat.base is not None or not flat.flags.writeable:
        flat = flat.copy()
    out = _new(ArrayBase.concrete)
    out.s = Storage(tape, v, 0, None, flat)
    out.v = v
    out._offset = 0
    out._idview = None
    return out


def _is_dense(v: NDArray[Any]) -> bool:
    return v.flags.c_contiguous or v.flags.f_contiguous or v.ravel("K").base is not None


def memory_order(a: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """Entries of ``a`` (broadcast to ``like``) in the memory order of ``like``, flat."""
    if a.shape != like.shape:
        a = np.broadcast_to(a, like.shape)
    if like.flags.c_contiguous:
        return a.ravel()
    if like.flags.f_contiguous:
        return a.ravel("F")
    order = np.argsort([-s for s in like.strides], kind="stable")
    return a.transpose(order).ravel()


def scalar_or_array(tape: Tape, r: Any, block: Block) -> Any:
    """A scalar variable for a 0-d result, else an array that shares the block's values."""
    if r.__class__ is np.ndarray and r.ndim:
        return fresh(tape, r, block.start, block)
    return scalar(tape, block.start, r)


def entrywise(x: ArrayBase, like: Floats) -> Operand:
    """Operand that lists the entries of ``x`` in the memory order of ``like``."""
    s = x.s
    v = x.v
    if s.ids is not None:
        return Operand(0, (1,), _owned(memory_order(x._ids(), like), s.ids))
    if v.shape == like.shape and v.strides == like.strides:
        return Operand(s.start + x._position(), (1,))
    if like.ndim == 1 and v.shape == like.shape:
        return Operand(s.start + x._position(), (v.strides[0] // v.itemsize,))
    geometry = np.broadcast_to(v, like.shape)
    axes = range(like.ndim)
    if not like.flags.c_contiguous:
        axes = np.argsort([-t for t in like.strides], kind="stable").tolist()
    stride: int | None = None
    block = 1
    for axis in reversed(axes):
        size = like.shape[axis]
        if size == 1:
            continue
        step = geometry.strides[axis] // v.itemsize
        if stride is None:
            stride = step
        elif step != stride * block:
            return Operand(0, (1,), _owned(memory_order(x.node_ids(), like), None))
        block *= size
    return Operand(s.start + x._position(), (stride or 0,))


def _owned(flat: Ids, source: Ids | None) -> Ids:
    if flat.base is not None or flat is source:
        return flat.copy()
    return flat
