"""The step of one explicit node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import DerivativeError
from ..local import NoCurvature, ScaleSource, SlotScales
from ..tape import Tape, TapeSite
from ._step import Array, CoverState, Expanded, Step

__all__ = ["Explicit"]


class Explicit(Step):
    """One node given explicitly; its curvature form takes part through its methods."""

    __slots__ = ("curvature", "d", "dtype", "parents", "tape")

    cross = True

    def __init__(
        self, tape: Tape, k: int, parents: Array, d: Array, curvature: Any
    ) -> None:
        self.tape, self.start, self.stop = tape, k, k + 1
        self.parents, self.d, self.curvature = parents, d, curvature

    @property
    def curved(self) -> bool:  # type: ignore[override]
        """Whether there is a second-order term."""
        return not isinstance(self.curvature, NoCurvature)

    @property
    def deferred(self) -> bool:
        """Whether absolute second-order sweeps leave its term to the form."""
        return self.curved

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        w = v[self.start]
        if w != 0:
            d = np.abs(self.d) if absolute else self.d
            np.add.at(v, self.parents, d * w)

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward sweep."""
        d = np.abs(self.d) if absolute else self.d
        x = s[self.parents]
        on = x != 0
        s[self.start] = np.sum(d[on] * x[on])

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep (its absolute twin goes through ``bound_contribution``)."""
        self.adjoint(b, absolute)
        av = vbar[self.start]
        if av != 0 and not absolute:
            self.curvature.curvature_apply(b, self.parents, av, dot)

    def rho(self, av: Any, state: CoverState) -> Array | None:
        """Slot weights of the node, or None without a second-order term."""
        if av == 0 or not self.curved:
            return None
        values = np.abs(self.tape.vals[self.parents])
        sl = SlotScales(values, self.parents, state.source)
        found: list[Any] = []
        site = TapeSite(self.tape, self.start)
        if not self.curvature.cover_slots_into(
            found, state.ratio, site, av, sl, check=state.check
        ):
            return None
        return np.asarray(found, dtype=values.dtype)

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep."""
        rho = self.rho(abs(adj[self.start]), state)
        self.adjoint(adj, False)
        self.adjoint(g, True)
        if rho is not None:
            np.add.at(g, self.parents, rho)
        return 0, 0

    def weights(self, adj: Array, state: CoverState) -> tuple[Any, int, int]:
        """Slot weights, one array."""
        return self.rho(abs(adj[self.start]), state), 0, 0

    def atoms(self) -> tuple[tuple[int, ...], ...]:
        """Slot groups that the quadrature merge combines separately."""
        return tuple(tuple(a) for a in self.curvature.atom_slots(self.parents.size))

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel; a group an atom."""
        self.adjoint(g, True)
        if rho is not None:
            for atom, slots in enumerate(self.atoms()):
                if group[atom] == want:
                    at = list(slots)
                    np.add.at(g, self.parents[at], rho[at])

    def asks(self, ratio: Any) -> bool:
        """Whether building its cover with unit weight consults a declared scale."""
        asked = False

        def scales() -> Any:
            nonlocal asked
            asked = True
            return np.ones(self.start + 1, dtype=self.d.real.dtype)

        nothing = np.zeros(self.start + 1, dtype=bool)
        state = CoverState(
            ScaleSource(scales, lambda: nothing), ratio, False, np.empty(0), 2.0**1022
        )
        try:
            self.rho(self.d.real.dtype.type(1), state)
        except DerivativeError:
            return True  # such a node has no cover, whatever the scales
        return asked

    def has_zero(self) -> bool:
        """Scan the partials."""
        return bool((self.d == 0).any())

    def finite(self) -> Array:
        """Scan first partials, and second ones where the form shows its entries."""
        entries: Any = getattr(self.curvature, "entries", tuple)()
        found = np.isfinite(self.d).all() and all(np.isfinite(c) for *_, c in entries)
        return np.array([found])

    def alive(self, live: Array) -> None:
        """Liveness."""
        live[self.start] = bool((live[self.parents].astype(bool) & (self.d != 0)).any())

    def reach(self, mark: Array, mode: int) -> None:
        """Dependence."""
        if mark[self.start]:
            every = mode == 2 or (mode == 1 and self.curved)
            mark[self.parents if every else self.parents[self.d != 0]] = 1

    def natoms(self) -> int:
        """Number of slot groups."""
        return len(self.atoms()) if self.curved else 0

    def rho_of(self, k: int, rho: Any) -> Array | None:
        """Slot weights."""
        return rho  # type: ignore[no-any-return]

    def expanded(self) -> Iterator[Expanded]:
        """The node itself."""
        yield self.start, np.array([0, self.parents.size]), self.parents, self.d
