"""A tape that forgets: its operations wait in a window, are propagated, and dropped.

Arrays and scalars are recorded by the very code that serves every tape. When the window
is full, the channels of its nodes are computed in one go, and those nodes that nothing in
the program can reach any more leave nothing behind.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DerivativeError, DomainError, NondifferentiableError, TapeError
from ..local import SplitScale
from ..sweeps import (
    CoverState,
    Program,
    cover_state,
    liveness_from,
    lower,
    not_finite,
    slot_weights,
)
from ..sweeps.kernels import forward as kernels
from ..sweeps.kernels._jit import charge
from ..tape import Block, Guards, Inputs, Tape, reason, spread
from ._channels import ForwardChannels
from ._chunks import chunks
from ._renumber import Renumbering
from ._roots import operation, reachable
from ._scale import ForwardScale
from ._stores import RowStore

__all__ = ["WINDOW", "ForwardTape"]

WINDOW = 1 << 14  # nodes that wait, at least, before they are propagated

Array = NDArray[Any]


class ForwardTape(Tape):
    """Records a window of operations, propagates it, and forgets it.

    Args:
        x0: Values of the inputs.
        scales: Their declared scales, flat.
        store: The store of all rows.
        ratio: Split threshold.
        check: Verify every local cover.

    Attributes:
        asked: Whether some block has read a declared scale.
        windows: How many windows were propagated.
    """

    run_limit = WINDOW

    def __init__(
        self, x0: Array, scales: Array, store: RowStore, ratio: Any, *, check: bool
    ) -> None:
        super().__init__(x0)
        self.guards = Guards(keep=False)
        self.store, self.ratio, self.check = store, ratio, check
        self.asked = False
        self.windows = 0
        n = self.ninputs
        self._held = np.arange(n)  # ids of the nodes known from before the window
        self._values = self.blocks[0].values
        self._sigma = scales
        self._live = np.ones(n, dtype=np.uint8)
        self._fault = np.full(n, -1, dtype=np.int64)
        self._faults: list[DerivativeError] = []
        self._first = n  # first node of the window
        self._work: FrameType | None = None
        self._witness: list[Any] = [self]

    # -- recording ---------------------------------------------------------------------

    def _begin(self) -> int:
        start = super()._begin()
        if self._full(start):
            self._advance()
        return start

    def next_after_flush(self) -> int:
        """First id after the pending operations were turned into columns."""
        self.flush()
        if self._full(self._n):
            self._advance()
        return self.next()

    def finish(self) -> None:
        """End the recording."""
        super().finish()
        self._work = None
        self._witness.clear()  # refers to the tape

    def _full(self, n: int) -> bool:
        # To find out what is reached takes time in proportion to what was held.
        return n - self._first >= max(WINDOW, self._held.size - self.ninputs)

    def _advance(self) -> None:
        """Propagate the window, once the operation that filled it has ended.

        An operation may hold ids of nodes that no variable stands for yet. So the window
        waits for the first node of another one.
        """
        work = operation()
        if self._work is None or self._work is work:
            self._work = work
            return
        self._work = None
        del work
        self.propagate()

    def propagate(self, outs: Array | None = None) -> Array:
        """Compute the channels of the window and forget what cannot be reached.

        Args:
            outs: Ids of the only nodes to be held on to; None: those of all variables.

        Returns:
            For ``outs``, their places among the nodes held.
        """
        self.flush()
        numbering = Renumbering(self._held, self._first)
        if outs is None:
            roots = self._reachable(numbering)
            places = roots
        else:
            roots, places = np.unique(
                numbering.ids(np.ravel(outs)), return_inverse=True
            )
        with np.errstate(all="ignore"):
            state = self._window(numbering, roots)
            if outs is None:  # what comes later may ask for them
                self._sigma = np.asarray(state.source.scales)[roots]
        old = roots < self._held.size
        self._held = np.concatenate(
            [self._held[roots[old]], roots[~old] + numbering.shift]
        )
        self._first = self._n
        self.blocks, self.starts = [], []
        self.windows += 1
        return places.ravel()

    def _reachable(self, numbering: Renumbering) -> Array:
        found = reachable(self, self._witness, numbering)
        return np.union1d(np.arange(self.ninputs), found)

    def _window(self, numbering: Renumbering, roots: Array) -> CoverState:
        local = self._local(numbering)
        charge(local.nnodes * self.store.cost)
        program = lower(local)
        live = liveness_from(program, local, self._live)
        state = cover_state(
            program, local, self._sigma, self.ratio, self.check, live=live
        )
        marks = self._marks(local, program)
        rho, fault = self._weights(local, program, state, marks)
        self.asked = self.asked or state.source.built
        last = np.full(local.nnodes, -1, dtype=np.int64)
        parts = [chunks(step, r) for step, r in zip(program.steps, rho, strict=True)]
        for part in parts:
            for k0, ptr, ids, _, aptr, sptr, sid, _ in part:
                kernels.last_uses(k0, ptr, ids, aptr, sptr, sid, last)
        last[roots] = last.size
        self.store.begin(local.nnodes)
        for part in parts:
            for chunk in part:
                self.store.run(chunk, last)
                if fault.size:
                    kernels.inherit(*chunk, fault)
                    own = chunk[0] + np.arange(chunk[1].size - 1)
                    own = own[marks[own] & (fault[own] < 0)]
                    fault[own] = own
        self.store.keep(roots)
        self._values = local.vals[roots]
        self._live = live[roots] if live.size else np.ones(roots.size, dtype=np.uint8)
        self._keep_faults(local, fault, roots, marks, numbering.shift)
        return state

    def _local(self, numbering: Renumbering) -> Tape:
        """The window as a tape of its own, whose inputs are the nodes held."""
        if self.finished and not self.windows:
            return self
        local = Tape(self._values)
        local.branch = self.branch
        for block in self.blocks:
            if not isinstance(block, Inputs):
                local._add(numbering.block(block))
        local.finish()
        return local

    def _marks(self, local: Tape, program: Program) -> Array:
        """Nodes that lie outside of their domain, at a kink, or hide such a fault."""
        marks = program.marks
        old = self._fault >= 0
        if old.any():
            marks = spread(local, sorted([(0, old), *marks], key=lambda m: m[0]))
        found = np.zeros(local.nnodes, dtype=bool)
        for start, bad in marks:
            found[start : start + bad.size] |= bad
        found[: old.size] = False  # these have been noted
        return found

    def _weights(
        self, local: Tape, program: Program, state: CoverState, marks: Array
    ) -> tuple[list[Any], Array]:
        """Slot weights at weight 1, and what is without a derivative.

        A fault is the id of the node that has none, or, beyond these ids, one from before;
        -1: there is none, as far as is known. Without any fault the array is empty.
        """
        n = local.nnodes
        fault = np.full(n, -1, dtype=np.int64)
        old = self._fault >= 0
        fault[: old.size][old] = n + self._fault[old]
        for start, bad in program.marks:
            k = start + np.flatnonzero(bad)
            fault[k] = k
        while True:
            adj = (~marks & (fault < 0)).astype(local.dtype)
            try:
                rho = slot_weights(program, local, adj, state)
            except DomainError as error:
                self._overflows(program, fault, error)
            else:
                return rho, fault if (fault >= 0).any() else fault[:0]

    def _overflows(self, program: Program, fault: Array, error: DomainError) -> None:
        """Note all nodes whose second partials are not finite."""
        found = False
        for step in program.steps:
            k = step.start + np.flatnonzero(~step.finite())
            k = k[fault[k] < 0]
            fault[k] = k
            found = found or k.size > 0
        if not found:
            if error.node is None or fault[error.node] >= 0:
                raise error
            fault[error.node] = error.node

    def _keep_faults(
        self, local: Tape, fault: Array, roots: Array, marks: Array, shift: int
    ) -> None:
        held = np.full(roots.size, -1, dtype=np.int64)
        faults: list[DerivativeError] = []
        if fault.size:
            for code in np.unique(fault[roots]).tolist():
                if code >= 0:
                    held[fault[roots] == code] = len(faults)
                    if code >= local.nnodes:
                        faults.append(self._faults[code - local.nnodes])
                    else:
                        faults.append(_why(local, code, bool(marks[code]), shift))
        self._fault, self._faults = held, faults

    # -- reading -----------------------------------------------------------------------

    @property
    def held(self) -> int:
        """How many nodes are held beside the window."""
        return int(self._held.size)

    def scale_of(self, node: int) -> SplitScale:
        """The scale references of a node that a variable stands for."""
        at = self._place(node)
        scale = ForwardScale(self._sigma[at], not self._live[at])
        return SplitScale(abs(self._values[at]), scale)

    def block_of(self, k: int) -> Block:
        """The block of a node; of one from before the window, its value alone.

        Raises:
            TapeError: If the node was forgotten.
        """
        if self.finished or k >= self._first:
            return super().block_of(k)
        at = self._held_at(k)
        return Inputs(k, self._values[at : at + 1])

    def channels_of(self, node: int) -> ForwardChannels:
        """The channels of a node that a variable stands for."""
        return self.store.row(self._place(node))

    def _place(self, node: int) -> int:
        if self.finished:
            self.put(())
        if node >= self._first or self.nnodes > self._n:
            self.propagate()
        return self._held_at(node)

    def _held_at(self, node: int) -> int:
        return int(Renumbering(self._held, self._first).ids([node])[0])

    @property
    def vals(self) -> Array:
        """Values of all nodes, as long as all of them are there.

        Raises:
            TapeError: If some have been forgotten.
        """
        if self.windows:
            msg = (
                "a forward propagation keeps no values of all nodes; read those of the "
                "variables: derivative_covers.value(x)."
            )
            raise TapeError(msg)
        return super().vals

    def result(self, outs: Array) -> tuple[Array, list[ForwardChannels]]:
        """Values and channels of the outputs, after the program has ended.

        Raises:
            DomainError: If an output depends on a node outside of its domain.
            NondifferentiableError: If one depends on a node at a kink.
        """
        places = self.propagate(outs)
        for at in self._fault[places].tolist():
            if at >= 0:
                raise self._faults[at]
        return self._values[places], [self.store.row(k) for k in places.tolist()]


def _why(local: Tape, k: int, marked: bool, shift: int) -> DerivativeError:
    """The error of a node, with the number that it has in the whole recording."""
    error: DomainError | NondifferentiableError
    error = reason(local, k) if marked else not_finite(local, k, "the cover")
    if shift and error.node is not None:
        text = str(error).replace(f"node {error.node}", f"node {error.node + shift}", 1)
        error = type(error)(
            text,
            elemental=error.elemental,
            node=error.node + shift,
            values=error.values,
        )
    return error
