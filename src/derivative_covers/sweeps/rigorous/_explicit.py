"""Explicit nodes over a box: forms of curvature as entries, or as a declared bound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ... import tape as tp
from ...elements import magnitude
from ...elements._interval import pair
from ...errors import CoverError, DomainError, UnsupportedOperationError
from ...local import (
    DeclaredCurvature,
    NoCurvature,
    PairedCurvature,
    SlotScales,
)
from ...tape import Tape, TapeSite
from .._explicit import Explicit
from .._step import Array, CoverState
from ..kernels import interval, upward
from . import _steps as steps

__all__ = ["BoxNode", "small_parts"]

ROOM = 1 + 2.0**-40  # what makes weights in nearest rounding safe ones


def small_parts(block: tp.Node) -> list[Any]:
    """Ends of ``d1, d2, c11, c12, c22`` of a node of one or two parents."""
    d = [pair(x) for x in block.d]
    second = d[1] if len(d) == 2 else (0.0, 0.0)
    found = {(0, 0): (0.0, 0.0), (0, 1): (0.0, 0.0), (1, 1): (0.0, 0.0)}
    if not isinstance(block.curvature, NoCurvature):
        for i, j, c in block.curvature.entries():
            found[i, j] = pair(c)
    return [d[0], second, *found.values()]


class BoxNode(Explicit):
    """One explicit node of many parents, or of a form that no column holds.

    Attributes:
        signed: Its arithmetic with signs.
        upward: That of magnitudes.
    """

    __slots__ = ("bound", "entries", "signed", "upward")

    deferred = False

    def __init__(self, tape: Tape, block: tp.Node) -> None:
        lo, hi = pair(block.d)
        lo, hi = (np.array(e, dtype=np.float64) for e in (lo, hi))
        size = np.maximum(np.abs(lo), np.abs(hi))
        super().__init__(tape, block.start, block.parents, size, block.curvature)
        self.entries, self.bound = _entries(block.curvature, block.start)
        i, j, lo2, hi2 = self.entries
        off = i != j
        both = (np.concatenate([i, j[off]]), np.concatenate([j, i[off]]))
        ends = [np.concatenate([e, e[off]]) for e in (lo2, hi2)]
        largest = np.maximum(np.abs(ends[0]), np.abs(ends[1]))
        args = block.start, block.parents
        self.signed = steps.Explicit(
            interval, *args, (lo, hi), (*both, tuple(ends)), None
        )
        self.upward = steps.Explicit(
            upward, *args, (size,), (*both, (largest,)), self.bound
        )

    def rho(self, av: Any, state: CoverState) -> Array | None:
        """Slot weights of the node, or None without a second-order term."""
        if av == 0 or not self.curved:
            return None
        if not np.isfinite(av):
            raise _infinite(self.start)
        if self.bound is not None:
            root = np.full(self.bound.size, upward.root_above.plain(av))
            return _live(self, _products(root, self.bound), state)
        if isinstance(self.curvature, PairedCurvature):
            return _pairs(self, av, state)
        return self._checked(av, state)

    def _checked(self, av: Any, state: CoverState) -> Array | None:
        """Weights of a form of its own rule, with room for its rounding."""
        lo, hi = self.tape.enclosures.of(self.parents)
        sl = SlotScales(np.maximum(np.abs(lo), np.abs(hi)), self.parents, state.source)
        site = TapeSite(self.tape, self.start)
        found: list[Any] = []
        with np.errstate(all="ignore"):
            if not self.curvature.cover_slots_into(
                found, state.ratio, site, av, sl, check=False
            ):
                return None
            rho = np.asarray([magnitude(r) for r in found], dtype=np.float64) * ROOM
        dead = state.source.dead
        i, j, clo, chi = self.entries
        for p, q, c in zip(i, j, np.maximum(np.abs(clo), np.abs(chi)), strict=True):
            if dead[self.parents[p]] or dead[self.parents[q]]:
                continue
            if not (np.isfinite(c) and np.isfinite(rho[[p, q]]).all()):
                raise _infinite(self.start)
            if Fraction(rho[p]) * Fraction(rho[q]) < Fraction(av) * Fraction(c):
                msg = (
                    f"{site.site_label()}: weights {rho[p]} and {rho[q]} of slots {p} "
                    f"and {q} do not cover the entry {av * c}; this is a bug of the "
                    "curvature or of the split: please report it"
                )
                raise CoverError(msg)
        return rho


def _infinite(k: int) -> DomainError:
    msg = (
        f"node {k} has no finite cover over this box: the enclosure of its adjoint or of "
        "its second partials is unbounded. Take a smaller box."
    )
    return DomainError(msg, node=k)


def _products(x: Array, y: Array) -> Array:
    found = np.empty(x.size)
    upward.scaled(found, x, 1, y, steps.NO_IDS, 0, 1)
    return found


def _live(node: BoxNode, rho: Array, state: CoverState) -> Array | None:
    rho = np.where(state.source.dead[node.parents], 0, rho)
    return rho if rho.any() else None


def _pairs(node: BoxNode, av: Any, state: CoverState) -> Array | None:
    """Weights of an inner product of slots that stay apart."""
    q = node.curvature.q
    ids = node.parents
    lo, hi = node.tape.enclosures.of(ids)
    z = np.maximum(np.abs(lo), np.abs(hi))
    topo = (0, q, True, ids[:q].copy(), 0, 0, ids[q:].copy(), 0, 0)
    zero, one = np.zeros(1), np.ones(1)
    twice = (zero, 0, one, 0, zero, 0)
    refs = (z[:q].copy(), 1, z[q:].copy(), 1)
    rho = np.empty(2 * q)
    size = np.full(1, av, dtype=np.float64)
    for _ in range(2):
        status, _ = upward.weights(
            rho[:q], rho[q:], size, q, topo, twice, refs, False, state.options
        )
        if status:
            state.ask()
    return rho if rho.any() else None


def _entries(form: Any, start: int) -> tuple[Any, Any]:
    """Slots and ends of the second partials with ``i <= j``; or a bound of rank one."""
    if isinstance(form, DeclaredCurvature):
        return _table([]), np.array(form.s, dtype=np.float64)
    entries = getattr(form, "entries", tuple if isinstance(form, NoCurvature) else None)
    if entries is not None:
        return _table([(i, j, *pair(c)) for i, j, c in entries()]), None
    msg = (
        f"node {start} has a curvature of type {type(form).__name__}, which shows no "
        "entries: over a box, give it a method entries(), or declare a bound "
        "(DeclaredCurvature)."
    )
    raise UnsupportedOperationError(msg)


def _table(rows: list[Any]) -> tuple[Array, Array, Array, Array]:
    i, j, lo, hi = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return i.astype(np.int64), j.astype(np.int64), lo.copy(), hi.copy()
