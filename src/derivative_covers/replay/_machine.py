"""A recorded program that is evaluated again in compiled code, at other points."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..local import split_limit
from ..tape import Tape
from . import _outside
from ._lower import lower
from ._tables import Tables
from .kernels import single
from .kernels._kinds import COVER, GATHER, GRADIENT, KIND, LANES, SECOND, F

__all__ = ["Machine", "addresses", "cover_options"]

Array = NDArray[np.float64]
_NONE = np.zeros(1, dtype=np.int64)


class Machine:
    """Values, gradients, Hessian products and sum covers of one recorded program.

    What it gives is None where the program has to be recorded again, or looked at more
    closely: a guard does not hold, a node leaves its domain or meets a kink, a result is
    not finite, or a cover needs declared scales or liveness.

    Args:
        tape: A finished float64 tape, recorded at a point.
        outs: Nodes that are the outputs; negative for constants.
        constants: Values of the outputs, where some are constants.
        tiles: Whether large programs may be computed by tiles, without memory for all.

    Attributes:
        ties: Whether a branch was taken at a tie, which results have to tell.

    Raises:
        ReplayError: If the program cannot be replayed in compiled code.
    """

    def __init__(
        self, tape: Tape, outs: Any, constants: Any = None, *, tiles: bool = True
    ) -> None:
        self.tables = lower(tape, outs, constants=constants, tiles=tiles)
        self.ties = bool(tape.ties)
        self.ninputs = tape.ninputs
        self._free: list[tuple[Array, Array, Array, Array]] = []
        self._lock = threading.Lock()
        self._functions: dict[Any, Any] = {}
        self._template: Array | None = None

    # -- what is called ----------------------------------------------------------------

    def values(self, x: Any) -> Array | None:
        """Values of the outputs, flat."""
        with self.buffers() as (p, *_):
            return self._outputs(p) if self._forward(p, x) else None

    def gradient(
        self, x: Any, seeds: Any = 1.0, held: Any = None
    ) -> tuple[Array, Array] | None:
        """Values, and the adjoints of the inputs for seeds on the outputs.

        ``held`` are adjoints that the first inputs have already.
        """
        with self.buffers() as (p, q, r, s):
            if not self._forward(p, x):
                return None
            self._seed(q, seeds, held)
            self._reverse(p, q, r, s, GRADIENT)
            return self._given(p, q)

    def hvp(
        self, x: Any, v: Any, seeds: Any = 1.0
    ) -> tuple[Array, Array, Array] | None:
        """Values, gradient and the product of the Hessian with ``v``."""
        with self.buffers() as (p, q, r, s):
            if not self._forward(p, x):
                return None
            self._seed(q, seeds)
            s[: self.tables.size] = 0.0
            r[: self.ninputs] = np.ravel(v)
            self._tangents(p, r)
            self._reverse(p, q, r, s, SECOND)
            given = self._given(p, q)
            product = s[: self.ninputs].copy()
            if given is None or not np.isfinite(product).all():
                return None
            return (*given, product)

    def cover(
        self, x: Any, ratio: float, seeds: Any = 1.0
    ) -> tuple[Array, Array, Array] | None:
        """Values, gradient and the sum merge."""
        with self.buffers() as (p, q, _, s):
            if self.tables.dead or not self._forward(p, x):
                return None
            self._seed(q, seeds)
            s[: self.tables.size] = 0.0
            if self._reverse(p, q, cover_options(ratio), s, COVER):
                return None
            given = self._given(p, q)
            h = s[: self.ninputs].copy()
            if given is None or not np.isfinite(h).all():
                return None
            return (*given, h)

    def evaluate(self, p: Array, x: Any) -> bool:
        """Fill a buffer with the values of all nodes; False where a replay has to end."""
        return self._forward(p, x)

    # -- passes ------------------------------------------------------------------------

    def _forward(self, p: Array, x: Any) -> bool:
        t = self.tables
        p[: self.ninputs] = np.ravel(x)
        vl, vg = self.addresses("value")
        run = single.values.compiled()
        k = 0
        while k < t.count:
            k, bad = run(t.code, t.count, vl, vg, t.wide, t.ids, p, k)
            if bad:
                return False
            if k < t.count:
                if not _outside.value(t, k, p):
                    return False
                k += 1
        return bool(single.changed.compiled()(t.guards, p) < 0)

    def _tangents(self, p: Array, r: Array) -> None:
        t = self.tables
        vl, _ = self.addresses("value")
        tl, tg = self.addresses("tangent")
        run = single.tangents.compiled()
        k = 0
        while k < t.count:
            k = run(t.code, t.count, vl, tl, tg, t.wide, t.ids, p, r, k)
            if k < t.count:
                _outside.tangent(t, k, p, r)
                k += 1

    def _reverse(self, p: Array, q: Array, r: Array, s: Array, mode: int) -> bool:
        """Runs a reverse pass; says whether something had no ordinary split."""
        t = self.tables
        vl, _ = self.addresses("value")
        tl, _ = self.addresses("tangent") if mode == SECOND else (_NONE, _NONE)
        fl, fg = self.addresses("cover" if mode == COVER else "adjoint")
        f2l = f2g = fl
        if mode == SECOND:
            f2l, f2g = self.addresses("second")
        elif mode == COVER:
            f2l, f2g = self._zero_counts()
        run = single.reverse.compiled()
        k = t.count - 1
        while k >= 0:
            k, bad = run(
                t.code, vl, tl, fl, fg, f2l, f2g, t.wide, t.ids, p, q, r, s, mode, k
            )
            if bad:
                return True
            if k >= 0:
                if not _outside.reverse(t, k, p, q, r, s, mode):
                    return True
                k -= 1
        return False

    def _seed(self, q: Array, seeds: Any, held: Any = None) -> None:
        t = self.tables
        q[: t.size] = 0.0
        if held is not None:
            q[: held.size] = held
        if t.outs.size == 1:
            q[t.outs[0]] += np.ravel(seeds)[0]
        else:
            np.add.at(q, t.outs, np.ravel(seeds))

    def _outputs(self, p: Array) -> Array | None:
        found = p[self.tables.outs]
        return found if np.isfinite(found).all() else None

    def _given(self, p: Array, q: Array) -> tuple[Array, Array] | None:
        y, found = self._outputs(p), q[: self.ninputs].copy()
        return None if y is None or not np.isfinite(found).all() else (y, found)

    # -- what the passes need ----------------------------------------------------------

    def addresses(self, name: str) -> tuple[Any, Any]:
        """Addresses of a pass of all elementals, contiguous and by positions."""
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = tuple(
                addresses(self.tables, name, kind) for kind in (LANES, GATHER)
            )
        return found

    def _zero_counts(self) -> tuple[Any, Any]:
        """Those that count zero partials; zeros where no split could ask for them."""
        if self.tables.crosses:
            return self.addresses("zeros")
        none = np.zeros(max(len(self.tables.functions), 1), dtype=np.int64)
        return none, none

    @contextmanager
    def buffers(self) -> Iterator[tuple[Array, Array, Array, Array]]:
        """Buffers of this call alone."""
        try:
            buffers = self._free.pop()
        except IndexError:
            if self._template is None:
                self._template = self.tables.template()
            n = self.tables.total
            # Tangents of constants stay zero: no pass writes them.
            q, r, s = np.empty(n), np.zeros(n), np.empty(n)
            buffers = (self._template.copy(), q, r, s)
        try:
            yield buffers
        finally:
            self._free.append(buffers)


def cover_options(ratio: float) -> Array:
    """What a cover pass gets in the place of tangents: options of the split."""
    return np.array([ratio, float(split_limit(np.float64)), 1.0])


def addresses(t: Tables, name: str, kind: int | None, calls: Any = True) -> Any:
    """Addresses of a pass of the elementals that instructions of a kind call.

    None stands for both kinds, and functions of contiguous operands for either.
    ``calls`` marks the instructions of the program that call this pass.
    """
    found = np.zeros(max(len(t.functions), 1), dtype=np.int64)
    shape = "gather" if kind == GATHER else "lanes"
    kinds = (LANES, GATHER) if kind is None else (kind,)
    chosen = np.isin(t.code[:, KIND], kinds)
    chosen[: t.count] &= calls
    for f in np.unique(t.code[chosen, F]).tolist():
        each = t.functions[f]
        if name != "zeros" or not each.never_zero:
            found[f] = each.address(name, shape)
    return found
