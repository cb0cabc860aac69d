"""The mode of covers: adjoint and sum merge of the live end of the chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...sweeps import (
    Program,
    cover_pass,
    cover_state,
    liveness_from,
    not_finite,
    tangents,
)
from ..states._states import copy, space
from ..steps._blame import blame
from ..steps._chain import Chain
from ..steps._taped import StepRecord
from ._carry import (
    NeedsCarry,
    at_outputs,
    distinct,
    fresh_pattern,
    inputs_of,
    pattern_of,
)
from ._gradient import check_scalar
from ._local import LocalSteps
from ._modes import Record, Seen

__all__ = ["CoverMode"]

Array = NDArray[Any]


class _Held(NamedTuple):
    """A recorded step.

    Attributes:
        step: Its tape and outputs.
        program: Behind the outputs; None if all of them are constants.
        live: Liveness of all nodes; empty if all are live.
        scales: Declared scales of the tape's inputs as they are carried, or None.
    """

    step: StepRecord
    program: Program | None
    live: NDArray[np.uint8]
    scales: Array | None


class CoverMode:
    """Carries the adjoint ``v`` and the sum merge ``g`` from the last state to x0.

    Without ``carried`` a state is the user's, and the first step that needs to know more
    of its inputs than their values raises NeedsCarry. With it, forward evaluations are
    recorded ones, and a state is a dict: ``x``, the user's; ``ids``, its pattern (see
    :mod:`._carry`); ``live``, one byte an entry, 0 where its gradient is identically
    zero; ``scales``, the declared ones. The last are kept as integers of the same bits,
    since they may overflow where no one asks for them, and a state must be finite.

    Attributes:
        value: The last state, a NumPy scalar; None before the last step was recorded.
        scales: Declared scales of x0 and of the parameters, flat.
        asked: Whether some block has asked for declared scales.
        v: Adjoint of the state that the reverse pass has reached, flat.
        g: Its sum merge.
        params_v: Adjoint of the parameters so far, flat; empty without parameters.
        params_g: Their sum merge.
    """

    def __init__(
        self,
        chain: Chain,
        params: Any,
        scales: tuple[Array, Array],
        ratio: Any,
        check: bool,
        *,
        carried: bool,
    ) -> None:
        """Takes canonical parameters, and the scales of x0 and of params, flat."""
        self._steps = LocalSteps(chain, params, blind=not carried)
        self._length = len(chain)
        self.scales = scales
        self._ratio, self._check = ratio, check
        self.recorded_forward = carried
        self.asked = False
        self.value: Any = None
        self._x0: Any = None
        dtype = scales[0].dtype
        self._bits = np.dtype(f"i{dtype.itemsize}")
        self._nparams = scales[1].size
        self.v, self.g = np.ones(1, dtype), np.zeros(1, dtype)
        self.params_v, self.params_g = np.zeros((2, self._nparams), dtype)

    @property
    def rechecked(self) -> int:
        """Steps that were recorded because of a flag."""
        return self._steps.rechecked

    def start(self, x0: Any) -> Any:
        """The point, with what is carried."""
        self._x0 = x = copy(x0)
        if not self.recorded_forward:
            return x
        n = space(x0).size
        return {
            "x": x,
            "ids": fresh_pattern(n, self._nparams),
            "live": np.ones(n, dtype=np.uint8),
            "scales": self.scales[0].view(self._bits),
        }

    def advance(self, state: Any, start: int, stop: int, seen: Seen | None) -> Any:
        """Runs steps, and records them where something is carried."""
        if self.recorded_forward:
            for k in range(start, stop):
                state, _ = self._carry(state, k, "advance")
                if seen is not None:
                    seen(k + 1, state)
        else:
            state = self._steps.advance(state, start, stop, seen)
        if stop == self._length:
            check_scalar(state["x"] if self.recorded_forward else state, stop - 1)
        return state

    def record(self, state: Any, k: int) -> tuple[Any, Record]:
        """Records step ``k``."""
        if self.recorded_forward:
            after, held = self._carry(state, k, "record")
        else:
            held = self._blind(state, k)
            after = held.step.y
        tape = held.step.tape
        if k + 1 == self._length:
            self.value = check_scalar(held.step.y, k)
        work = tape.nnodes
        nbytes = tape.nbytes + held.step.outs.nbytes + held.live.nbytes
        return after, Record(held, work, 2 * work, nbytes)

    def _blind(self, x: Any, k: int) -> _Held:
        """Step ``k`` on inputs that are taken for live and distinct variables.

        Raises:
            NeedsCarry: If its outputs are not, and so the inputs of the next step.
        """
        step, program = self._steps.local(x, k, None, "record")
        last = k + 1 == self._length
        if last:
            step.refuse_constant(k)
        if program is None:
            raise NeedsCarry(k)
        live = liveness_from(program, step.tape)
        if not last and (
            not distinct(step.outs, self._nparams)
            or (live.size and not live[step.outs].all())
        ):
            raise NeedsCarry(k)
        scales = np.concatenate(self.scales[::-1]) if k == 0 else None
        return _Held(step, program, live, scales)

    def _carry(self, state: Any, k: int, phase: str) -> tuple[Any, _Held]:
        """The state after step ``k``, which is recorded."""
        n = self._nparams
        ids = inputs_of(state["ids"], n)
        step, program = self._steps.local(state["x"], k, ids, phase)
        if k + 1 == self._length:
            step.refuse_constant(k)
        outs = step.outs
        live = np.ones(n + state["live"].size, dtype=np.uint8)
        live[n:] = state["live"]
        scales = np.concatenate(
            [self.scales[1], state["scales"].view(self.scales[0].dtype)]
        )
        if program is None:
            nothing = np.zeros(outs.size, dtype=scales.dtype).view(self._bits)
            after = {"live": np.ones(outs.size, dtype=np.uint8), "scales": nothing}
            live = live[:0]
        else:
            live = liveness_from(program, step.tape, live)
            sigma = tangents(program, step.tape, scales, absolute=True)
            after = {
                "live": at_outputs(live, outs, 1)
                if live.size
                else np.ones(outs.size, dtype=np.uint8),
                "scales": at_outputs(sigma, outs, 0).view(self._bits),
            }
        after = {"x": step.y, "ids": pattern_of(outs, n), **after}
        return after, _Held(step, program, live, scales)

    def reverse(self, record: Record, k: int) -> None:
        """Takes adjoint and sum merge over step ``k``."""
        step, program, live, scales = record.held
        n, tape = self._nparams, step.tape
        if program is None:
            self.v, self.g = np.zeros((2, tape.ninputs - n), tape.dtype)
            return
        outs, v, g = step.outs, self.v, self.g
        recorded = outs >= 0
        if not recorded.all():
            outs, v, g = outs[recorded], v[recorded], g[recorded]
        state = cover_state(
            program, tape, _given(scales, k), self._ratio, self._check, live=live
        )
        try:
            adj, total = cover_pass(
                program,
                tape,
                outs,
                v,
                state,
                above=g,
                held=(self.params_v, self.params_g),
            )
            for found, what in ((adj, "the gradient"), (total, "the cover")):
                if not np.isfinite(found[: tape.ninputs]).all():
                    raise not_finite(tape, outs, what)
        except BaseException as error:
            blame(error, k, "reverse")
            raise
        self.asked = self.asked or state.source.built
        self.params_v, self.v = adj[:n].copy(), adj[n : tape.ninputs].copy()
        self.params_g, self.g = total[:n].copy(), total[n : tape.ninputs].copy()

    @property
    def nbytes(self) -> int:
        """Bytes of adjoints and sum merges."""
        return sum(a.nbytes for a in (self.v, self.g, self.params_v, self.params_g))

    def export(self) -> dict[str, Any]:
        """Value, cotangents, and what a new begin needs."""
        found = {name: getattr(self, name) for name in _BUFFERS}
        found["x0"] = self._x0
        found["scales"], found["params_scales"] = self.scales
        found["asked"] = np.array(self.asked)
        if self.value is not None:
            found["value"] = np.asarray(self.value)
        return found

    def load(self, nest: dict[str, Any]) -> None:
        """Goes on from what :meth:`export` gave."""
        for name in _BUFFERS:
            setattr(self, name, nest[name])
        self._x0 = nest["x0"]
        self.scales = nest["scales"], nest["params_scales"]
        self.asked = bool(nest["asked"])
        self.value = nest["value"][()] if "value" in nest else None


_BUFFERS = ("v", "g", "params_v", "params_g")


def _given(scales: Array | None, k: int) -> Callable[[], Array]:
    def given() -> Array:
        if scales is None:
            raise NeedsCarry(k)
        return scales

    return given
