"""Second derivatives and covers against differences of gradients and of values."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..covers import cover_hessian, hvp
from ..errors import DomainError, UnsupportedOperationError
from ..sweeps import adjoints, second_order, tangents
from ._differences import LARGEST, Estimate, Line
from ._first import FirstOrder, verdict_of
from ._reasons import wrong_rule
from ._report import CheckRow

__all__ = ["SecondOrder"]

Array = NDArray[Any]

DISAGREE = (
    "disagree with second derivatives: wrong second partials, a dependence that was lost, "
    "or a kink near."
)
OUTPUTS = 3  # outputs whose second derivatives are compared
COLUMNS = 8  # columns of the Hessian that covers are compared with
HIDDEN = 1e-60  # of the value: changes that small are not compared
SECOND_LOOKS = 100  # entries of a Hessian product that are looked at again
SMALL = 100  # inputs up to which the quadrature merge is tried, too


def _again(e: Estimate, k: int, found: float, slack: float) -> tuple[float, ...]:
    """A second look at a number that disagrees: estimate, its error, and excess."""
    value, error = e.table.settled(k, found, slack)
    if not np.isfinite(error):
        return value, error, 0.0
    return value, error, abs(found - value) / (8 * error + slack)


class SecondOrder:
    """Comparisons of second order in the directions of those of first order."""

    def __init__(self, first: FirstOrder) -> None:
        self.first, self.program, self.tape = first, first.program, first.tape

    def rows(self) -> list[CheckRow]:
        """All of them, for a few outputs."""
        if self.tape.kinks:
            reason = "at a kink, differences say nothing about second derivatives."
            return [self._skipped(f"{len(self.tape.kinks)} kinks", reason)]
        m = self.first.ids.size
        chosen = sorted({0, m // 2, m - 1})[:OUTPUTS]
        return [row for k in chosen for row in self._rows(k)]

    def _rows(self, k: int) -> list[CheckRow]:
        try:
            return self._output(k)
        except DomainError as error:
            return [self._skipped(self.first.where("x0", k), str(error))]

    @staticmethod
    def _skipped(where: str, reason: str) -> CheckRow:
        nan = float("nan")
        return CheckRow("Hessian product", where, nan, nan, nan, "skipped", reason)

    @cached_property
    def _rule(self) -> str:
        return wrong_rule(self.tape)

    def _output(self, k: int) -> list[CheckRow]:
        covers = [("sum", self._cover(k, "sum"))]
        if self.program.x.size <= SMALL:
            covers.append(("quadrature", self._cover(k, "quadrature")))
        rows = []
        for n, line in enumerate(self.first.lines[:2]):
            place = self.first.where(f"direction {n}", k)
            curvature = line.curvature()
            product = self._product(k, line.d)
            if product is not None:
                rows.append(self._against_gradients(k, line, product, place))
                rows.append(self._against_values(k, line, product, curvature, place))
            for merge, h in covers:
                rows.append(self._covered(k, line, h, curvature, merge, place))
        for merge, h in covers:
            rows += self._columns(k, h, merge)
        return rows

    def _cover(self, k: int, merge: str) -> Array:
        found = cover_hessian(self.tape, int(self.first.ids[k]), merge=merge)
        return self.program.flat(found.h).astype(np.float64)

    def _hvp(self, k: int, d: Array) -> Array:
        v = self.program.structured(d.astype(self.tape.dtype))
        found = hvp(self.tape, int(self.first.ids[k]), v)
        return self.program.flat(found).astype(np.float64)

    def _product(self, k: int, d: Array) -> tuple[Array, Array] | None:
        """Hessian times direction, and the size of what adds up to it; None: not exact."""
        try:
            found = self._hvp(k, d)
        except UnsupportedOperationError:
            return None
        o = int(self.first.ids[k])
        w = np.abs(d).astype(self.tape.dtype)
        vbar = np.abs(adjoints(self.first.lowered, self.tape, 1.0, o))
        dot = tangents(self.first.lowered, self.tape, w, absolute=True)
        size = second_order(self.first.lowered, self.tape, vbar, dot, o, absolute=True)
        size = size[: self.tape.ninputs].astype(np.float64)
        return found, np.where(np.isfinite(size), size, np.abs(found))

    def _against_gradients(
        self, k: int, line: Line, product: Any, place: str
    ) -> CheckRow:
        found, size = product
        o = int(self.first.ids[k])
        x = self.program.x
        g0 = self.first.row(k)
        terms = adjoints(self.first.lowered, self.tape, 1.0, o, absolute=True)
        noise = 4 * self.first.eps * np.abs(terms[: x.size].astype(np.float64))
        noise += 0.5 * self.first.eps * np.abs(x) * size / np.abs(line.d).max()

        def near(y: Array) -> Array:
            return self.program.gradient_near(y, k)

        along = Line(near, x, line.d, g0, noise)
        e = along.slope()
        largest = np.fmax(np.abs(found), np.abs(e.value))
        allowed = 8 * e.error + self.first.slack * largest + 64 * self.first.eps * size
        with np.errstate(divide="ignore"):  # far below the value, partials underflow
            hidden = HIDDEN * abs(self.first.f0[k]) / np.abs(line.d)
        allowed = np.fmax(allowed, np.fmax(hidden, np.finfo(np.float64).tiny))
        with np.errstate(invalid="ignore"):
            excess = np.abs(found - e.value) / allowed
        excess = np.where(np.isfinite(e.error), excess, 0.0)
        value, error = e.value.copy(), e.error.copy()
        for i in map(int, np.argsort(-excess)[:SECOND_LOOKS]):
            if excess[i] <= 1:
                break
            slack = float(allowed[i] - 8 * error[i])
            value[i], error[i], excess[i] = _again(e, i, float(found[i]), slack)
            if excess[i] > 1:
                break
        i = int(np.argmax(excess))
        return self._row(
            "Hessian product",
            f"{self.program.label(i)}, {place}",
            (float(found[i]), float(value[i]), float(error[i])),
            float(excess[i]),
            f"differences of gradients {DISAGREE}",
            1e-6 * float(along.variation().max()) / LARGEST,
        )

    def _against_values(
        self, k: int, line: Line, product: Any, e: Estimate, place: str
    ) -> CheckRow:
        found, size = float(product[0] @ line.d), float(product[1] @ np.abs(line.d))
        value, error = float(e.value[k]), float(e.error[k])
        allowed = 8 * error + 10 * self.first.slack * max(abs(found), abs(value))
        allowed = max(allowed + 64 * self.first.eps * size, np.finfo(np.float64).tiny)
        excess = abs(found - value) / allowed if np.isfinite(error) else 0.0
        if excess > 1:
            value, error, excess = _again(e, k, found, allowed - 8 * error)
        return self._row(
            "second difference",
            place,
            (found, value, error),
            excess,
            f"second differences of values {DISAGREE}",
            1e-6 * float(line.variation()[k]) / LARGEST**2,
        )

    def _covered(
        self, k: int, line: Line, h: Array, e: Estimate, merge: str, place: str
    ) -> CheckRow:
        bound = float(np.square(h @ np.abs(line.d)))
        value, error = float(e.value[k]), float(e.error[k])
        allowed = bound * (1 + 10 * self.first.slack) + 8 * error
        excess = abs(value) / allowed if np.isfinite(error) and allowed > 0 else 0.0
        if excess > 1:
            edge = float(np.clip(value, -bound, bound))
            value, error, _ = _again(e, k, edge, allowed - bound - 8 * error)
            allowed = bound * (1 + 10 * self.first.slack) + 8 * error
            excess = abs(value) / allowed if np.isfinite(error) else 0.0
        return self._row(
            f"cover ({merge})",
            place,
            (bound, abs(value), error),
            excess,
            "the second derivative along the direction exceeds what the cover allows.",
        )

    def _columns(self, k: int, h: Array, merge: str) -> list[CheckRow]:
        n = h.size
        rng = np.random.default_rng(n)
        chosen = rng.choice(n, min(n, COLUMNS), replace=False)
        rows = []
        for i in map(int, np.sort(chosen)):
            e = np.zeros(n)
            e[i] = 1.0
            try:
                column = np.abs(self._hvp(k, e))
            except UnsupportedOperationError:
                return []
            bound = h[i] * h
            slack = (16 * self.first.eps + 1e-12) * bound + np.finfo(
                self.tape.dtype
            ).tiny
            excess = column / (bound + slack)
            j = int(np.argmax(excess))
            names = (self.program.label(i), self.program.label(j))
            rows.append(
                self._row(
                    f"cover ({merge})",
                    self.first.where("{}, {}".format(*names), k),
                    (float(bound[j]), float(column[j]), 0.0),
                    float(excess[j]),
                    "an entry of the Hessian exceeds the product of the two covers.",
                )
            )
        return rows

    def _row(
        self,
        what: str,
        where: str,
        numbers: tuple[float, float, float],
        excess: float,
        reason: str,
        visible: float = -1.0,
    ) -> CheckRow:
        computed, reference, error = numbers
        largest = max(abs(computed), abs(reference), visible)
        verdict = verdict_of(excess, error, 0.0 if visible < 0 else largest)
        if verdict == "undecided":
            reason = "differences do not settle: the plain program is noisy here, or a jump or kink is near."
        elif verdict == "wrong":
            reason = self._rule or reason
        return CheckRow(
            what,
            where,
            computed,
            reference,
            error,
            verdict,
            "" if verdict == "ok" else reason,
            excess,
        )
