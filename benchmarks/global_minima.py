"""Global minima over boxes: time and boxes until they are proved, beside discopt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from derivative_covers.parallel import minimize_box
from tests.oracle._box_proof import check_minimum
from tests.suites._global_functions import CASES

from . import _peers, _timing
from ._report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "global_minima"
TOL = 1e-6
LIMIT = 60.0  # seconds that a peer gets for a function


def rows(*, quick: bool, full: bool = False) -> Iterator[Row]:
    """For every function the proved gap, boxes and seconds; then the same by discopt.

    In a full run every proof is replayed in balls.
    """
    discopt = _peers.module("discopt")
    for case in CASES:
        if quick and not case.quick:
            continue
        start = _timing.CLOCK()
        found = minimize_box(case.f, case.box, TOL)
        seconds = _timing.CLOCK() - start
        wrong = found.lower > case.least + 5e-10 or found.upper < case.least - 5e-10
        gap = found.upper - found.lower if found.proved and not wrong else np.inf
        yield Row(ITEM, f"{case.name}: proved gap", gap, "", target=TOL)
        yield Row(ITEM, f"{case.name}: boxes", found.boxes, "", n=len(case.box))
        yield Row(ITEM, f"{case.name}: time", seconds, "s", LIMIT, n=len(case.box))
        if discopt is not None:
            yield from _discopt(discopt, case, seconds)
        if full:
            parts = check_minimum(case.f, case.box, found)
            note = f"{len(found.leaves)} parts of the box"
            what = f"{case.name}: parts on which the proof was replayed in balls"
            yield Row(ITEM, what, parts, "", note=note)


class _Peer:
    """An expression of discopt under NumPy's arithmetic of objects."""

    def __init__(self, of: Any, discopt: Any) -> None:
        self.of, self.discopt = of, discopt

    def _with(self, other: Any, operation: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        plain = other.of if isinstance(other, _Peer) else float(other)
        return _Peer(operation(self.of, plain), self.discopt)

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    def __pow__(self, n: int) -> _Peer:
        return _Peer(self.of**n, self.discopt)

    def __neg__(self) -> _Peer:
        return _Peer(-self.of, self.discopt)

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> _Peer:
        """By discopt; NumPy asks for it."""
        return _Peer(self.discopt.modeling.core.exp(self.of), self.discopt)

    def sin(self) -> _Peer:
        """By discopt."""
        return _Peer(self.discopt.modeling.core.sin(self.of), self.discopt)

    def cos(self) -> _Peer:
        """By discopt."""
        return _Peer(self.discopt.modeling.core.cos(self.of), self.discopt)


def _discopt(discopt: Any, case: Any, ours: float) -> Iterator[Row]:
    """The same function and tolerance, by discopt's own branch and bound."""
    model = discopt.Model("box")
    x = np.empty(len(case.box), dtype=object)
    for k, (lo, hi) in enumerate(case.box):
        x[k] = _Peer(model.continuous(f"x{k}", lb=lo, ub=hi), discopt)
    model.minimize(case.f(x).of)
    start = _timing.CLOCK()
    found = model.solve(time_limit=LIMIT, gap_tolerance=TOL)
    seconds = _timing.CLOCK() - start
    proved = found.status == "optimal"
    what = f"{case.name}: time of discopt over ours"
    what += "" if proved else f", {LIMIT:g} s without a proof"
    note = f"{seconds:.3g} s, {found.status}, {found.objective - case.least:.1e} off"
    yield Row(ITEM, what, seconds / ours, n=len(case.box), note=note)
    what = f"{case.name}: nodes of discopt"
    yield Row(ITEM, what, found.node_count, "", n=len(case.box))
