"""Arrays of nodes: NumPy views on values, and the node ids behind them.

A storage owns a dense value buffer. As long as nobody writes into it, entry ``k`` in
memory order is node ``start + k`` and no ids exist; the first in-place write gives the
tape a copy of the values, makes the ids explicit and leaves the memory to the views.
NumPy decides what is a view and what a copy: the ids of a view are the same strided
view of the id buffer.

A constant belongs to no tape until a node is stored into it, so that a table kept between
recordings is a constant in each of them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedOperationError
from ._active import active
from ._blocks import Block, Floats, Ids, Operand
from ._refusals import refuse_imaginary
from ._tape import Tape
from ._tvar import TVar

__all__ = [
    "PLAIN",
    "ArrayBase",
    "ConstantStorage",
    "Storage",
    "assembled",
    "constant",
    "entrywise",
    "fresh",
    "from_ids",
    "held",
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
        self.tape: Any = tape  # None: a constant, see below
        self.v = v  # owns its memory
        self.start = start  # first node; -1: constants only
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

    def forget(self) -> None:
        """Become a constant again: every entry was overwritten by a number."""
        self.tape = None
        self.__class__ = ConstantStorage


class ConstantStorage(Storage):
    """A buffer without nodes; it becomes a :class:`Storage` when the first is stored.

    What is the same for every constant stands in the class, so that making one costs
    little.
    """

    __slots__ = ()

    start = -1
    block = None
    ids = None
    mixed = False
    numbering = None

    def __init__(self, v: Any) -> None:
        self.tape = None
        self.v = v

    def join(self, tape: Tape) -> None:
        """Belong to a tape from now on.

        Raises:
            UnsupportedOperationError: If the tape's nodes are of another type.
        """
        v = self.v
        if v.dtype != tape.dtype:
            msg = (
                f"a recorded value of type {tape.dtype} was to be stored into a constant "
                f"array of type {v.dtype}; a recording keeps one type. Make the array "
                "without a dtype while recording, or record at a point of that type."
            )
            raise UnsupportedOperationError(msg)
        self.__class__ = Storage  # type: ignore[assignment]
        Storage.__init__(self, tape, v, -1, None, None)


PLAIN = ConstantStorage(None)
"""Stands for the storage of a constant that nobody has viewed or written nodes into."""


class ArrayBase:
    """Values, ids and geometry of an array of nodes; :class:`TArray` adds operations."""

    __slots__ = ("_idview", "_offset", "s", "v")

    concrete: ClassVar[type[ArrayBase]]

    s: Storage
    v: Floats
    # Left unset in constants, which saves time. (A __getattr__ in their place would make
    # every attribute slow.)
    _offset: int
    _idview: tuple[Ids, Ids] | None

    def __init_subclass__(cls) -> None:
        ArrayBase.concrete = cls

    @property
    def tape(self) -> Any:
        """The tape that records this array's operations.

        A constant belongs to the recording in progress, and to none outside of one.
        """
        return self.s.tape or active()

    @property
    def is_constant(self) -> bool:
        """Whether no entry depends on the inputs, as far as the storage knows."""
        return self.s.tape is None

    def _home(self) -> Storage:
        """The storage of this array alone and its views, made now where it is lacking."""
        s = self.s
        if s is PLAIN:
            self.s = s = ConstantStorage(self.v)
        return s

    def _position(self) -> int:
        """Position of the first entry in the storage, in entries."""
        try:
            found = self._offset
        except AttributeError:
            found = -1
        if found < 0:
            here = self.v.__array_interface__["data"][0]
            base = self.s.v.__array_interface__["data"][0]
            self._offset = found = int(here - base) // self.v.itemsize
        return found

    def node_ids(self) -> Ids:
        """Node ids with the geometry of the array, for reading."""
        s = self.s
        if s.tape is None:
            return np.full(self.v.shape, -1, dtype=np.int64)
        return self._ids() if s.ids is not None else self._geometry(s.listed())

    def _ids(self) -> Ids:
        """Node ids with the geometry of the array: a view of the storage's ids."""
        flat = self.s.explicit()
        try:
            cached = self._idview
        except AttributeError:
            cached = None
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
        strides = tuple(s // v.itemsize * 8 for s in v.strides)
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
        s = self._home()
        tape = s.tape
        if tape is not None and tape.finished:
            tape.put(())
        out = _new(ArrayBase.concrete)
        out.s = s
        out.v = v
        out._offset = -1
        out._idview = None
        return out

    def _entry(self) -> TVar:
        """The entry of a 0-d array as a scalar variable."""
        s = self.s
        at = self._position()
        node = int(s.ids[at]) if s.ids is not None else s.start + at
        return scalar(s.tape, node, self.v)

    def _derived(self, v: Any, pick: Any, *, fills: bool = False) -> Any:
        """The result of an indexing-like operation that gave values ``v``.

        ``pick(ids)`` does to an id array what was done to the values; it is called only
        where NumPy made a copy. ``fills`` says that it may put constants among them.
        """
        tape = self.s.tape
        if v.__class__ is not np.ndarray:
            return v if tape is None else scalar(tape, int(pick(self.node_ids())), v)
        base = self._home().v
        owner: Any = v
        while owner is not None:
            if owner is base:
                return self._view(v)
            owner = getattr(owner, "base", None)
        if tape is None:
            return held(v)
        out = from_ids(tape, v, pick(self.node_ids()))
        if self.s.mixed is False and not fills:
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


def held(r: Any) -> Any:
    """A float array as a constant that nodes can be stored into; anything else as it is.

    Complex arrays become one in a recording at complex inputs. Memory that is not the
    array's own is copied.
    """
    if type(r) is not np.ndarray or (r.dtype.kind != "f" and not _holds_complex(r)):
        return r
    out = _new(ArrayBase.concrete)
    out.s = PLAIN
    out.v = r if r.base is None else r.copy(order="K")
    return out


def _holds_complex(r: Any) -> bool:
    tape = active() if r.dtype.kind == "c" else None
    return tape is not None and tape.is_complex


def constant(tape: Tape | None, r: Any) -> Any:
    """An array, or scalar variable, whose entries depend on nothing."""
    if tape is None:
        return held(r)
    if isinstance(r, np.ndarray) and r.ndim:
        return held(r.astype(tape.dtype, copy=False))
    return scalar(tape, -1, r)


def assembled(tape: Tape, v: Any, ids: Any) -> Any:
    """Array of given values and node ids, or scalar variable where they are 0-d."""
    if not (isinstance(v, np.ndarray) and v.ndim):
        return scalar(tape, int(ids), v)
    if v.dtype is not tape.dtype:
        if v.dtype.kind == "c" and not tape.is_complex:
            refuse_imaginary()
        v = v.astype(tape.dtype)
    return from_ids(tape, v, ids)


def fresh(tape: Tape, v: Floats, start: int, block: Block | None) -> Any:
    """Array on a new storage whose entries, in memory order, are nodes from ``start``.

    They are constants where ``start`` is negative.
    """
    if start < 0:
        return held(v)
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
    new = like.ndim - v.ndim
    axes = range(like.ndim)
    if not like.flags.c_contiguous:
        axes = np.argsort([-t for t in like.strides], kind="stable").tolist()
    stride: int | None = None
    block = 1
    for axis in reversed(axes):
        size = like.shape[axis]
        if size == 1:
            continue
        at = axis - new
        step = v.strides[at] // v.itemsize if at >= 0 and v.shape[at] > 1 else 0
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
