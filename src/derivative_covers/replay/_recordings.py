"""Recordings of one program, one a branch: replayed while comparisons keep their answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..covers import tape_function
from ..covers._arguments import RecordingOptions
from ..errors import BranchChangedError, ReplayError
from ..tape import Tape
from ._batch import Batch
from ._forward import Forward
from ._inputs import Inputs
from ._machine import Machine
from ._same import difference

__all__ = ["Branch", "Recordings"]

Array = NDArray[Any]


class Branch:
    """One recording of the program: it holds where its comparisons have their answers."""

    def __init__(self, tape: Tape, out: Any) -> None:
        self.tape, self.out = tape, out
        self.checked = False
        self.point = np.array(tape.vals[: tape.ninputs])
        self._batch: Batch | None = None
        self._asked = False
        self._forward: Forward | None = None
        self._forward_asked = False
        try:
            self.machine: Machine | None = Machine(tape, out)
        except ReplayError:
            self.machine = None

    def many(self) -> Batch | None:
        """The program at many points; None where it cannot be had."""
        if not self._asked:
            if self.machine is not None:
                try:
                    self._batch = Batch(self.tape, self.out)
                except ReplayError:
                    self._batch = None
            self._asked = True
        return self._batch

    def forward(self) -> Forward | None:
        """The program's forward covers; None where they cannot be had."""
        if not self._forward_asked:
            if self.machine is not None:
                try:
                    self._forward = Forward(self.machine, self.tape, self.out)
                except ReplayError:
                    self._forward = None
            self._forward_asked = True
        return self._forward


class Recordings:
    """A bounded number of recordings; those that served last are asked first.

    Attributes:
        f: The program.
        options: How it is recorded.
        limit: How many recordings are kept.
        made: How often the program has been recorded.
        replays: How often a recording was replayed.
        inputs: Form of its points.
        out: Ids of its outputs in the first recording.
    """

    def __init__(
        self, f: Callable[..., Any], x0: Any, limit: int, options: RecordingOptions
    ) -> None:
        self.f, self.limit, self.options = f, limit, options
        self.made = self.replays = 0
        self._lock = threading.Lock()
        self._branches: list[Branch] = []
        tape, self.out = self._record(x0)
        self.inputs = Inputs(tape)
        self._keep(Branch(tape, self.out))

    def with_first_alone(self) -> Recordings:
        """The same program, as if nothing but its last used recording had been made."""
        other = object.__new__(Recordings)
        other.__dict__.update(self.__dict__)
        other.made = other.replays = 0
        other._lock = threading.Lock()
        other._branches = [copy(self._branches[0])]
        return other

    def branches(self) -> tuple[Branch, ...]:
        """The recordings of this moment, other threads may change them."""
        return tuple(self._branches)

    def replay(
        self, x: Any, at: Array, ask: Callable[[Machine], Any]
    ) -> tuple[Tape, Any, Any]:
        """What a compiled recording gives; else a tape at ``x``, and None."""
        for branch in self.branches():
            found = None if branch.machine is None else ask(branch.machine)
            if found is not None:
                self.served(branch, at)
                return branch.tape, branch.out, found
        return (*self.at(x), None)

    def forward(self, at: Array, ask: Callable[[Forward], Any]) -> Any:
        """A forward cover, or Jacobian, of a compiled recording; else None."""
        for branch in self.branches():
            made = branch.forward()
            found = None if made is None else ask(made)
            if found is not None:
                self.served(branch, at)
                return found
        return None

    def at(self, x: Any) -> tuple[Tape, Any]:
        """A tape at ``x``: replayed where comparisons allow it, else recorded."""
        for branch in self.branches():
            try:
                tape = branch.tape.replay(x)
            except (BranchChangedError, ReplayError):
                continue
            self.served(branch, self.inputs.flat(x))
            return tape, branch.out
        tape, out = self._record(x)
        self._keep(Branch(tape, out))
        return tape, out

    def served(self, branch: Branch, at: Array) -> None:
        """Note that a recording was replayed at a point, once it is known to be right."""
        self.check(branch, at)
        self.replays += 1
        if self._branches[0] is not branch:
            with self._lock:
                if branch in self._branches:
                    self._branches.remove(branch)
                    self._branches.insert(0, branch)

    def check(self, branch: Branch, at: Array) -> None:
        """Hold a recording at another point, once, against the one that is replayed."""
        if branch.checked or np.array_equal(at, branch.point):
            return
        tape, out = self._record(self.inputs.nested(at))
        found = difference(branch.tape, tape)
        if found is None and not np.array_equal(branch.out, out):
            found = "the outputs are other nodes"
        if found is not None:
            msg = (
                f"the program cannot be replayed: of two recordings of the same branch, "
                f"{found}. It computes with numbers that depend on its argument but were "
                "not recorded, or on something outside that has changed. Compute them "
                "from the argument with NumPy's functions (stop_gradient keeps what is "
                "not to be differentiated), or call gradient and cover_hessian with the "
                "function, which record it each time."
            )
            raise ReplayError(msg)
        branch.checked = True

    def _record(self, x: Any) -> tuple[Tape, Any]:
        self.made += 1
        return tape_function(self.f, x, **self.options)

    def _keep(self, branch: Branch) -> None:
        with self._lock:
            self._branches.insert(0, branch)
            del self._branches[self.limit :]
