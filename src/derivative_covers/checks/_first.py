"""Values, continuity and first derivatives against the plain program."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sweeps import adjoints, check_outputs, tangents
from ._differences import LARGEST, Estimate, Line, noise_of
from ._program import Program
from ._reasons import near_kink, why
from ._report import CheckRow, Verdict

__all__ = ["FirstOrder", "verdict_of"]

Array = NDArray[Any]

REVERSE = 32  # outputs up to which the Jacobian is formed by reverse sweeps


def verdict_of(excess: float, error: float, visible: float) -> Verdict:
    """What a deviation means, given the smallest derivative that would be noticed."""
    if excess > 1:
        return "wrong"
    return "undecided" if 8 * error > visible > 0 or np.isnan(visible) else "ok"


class FirstOrder:
    """What is known about a program at its point, and comparisons of first order.

    Args:
        program: The program.
        tape: Its tape.
        outs: Ids of its outputs.
        slack: Relative deviation that is forgiven.
        rng: Source of directions.
        directions: Number of them.
    """

    def __init__(
        self,
        program: Program,
        tape: Any,
        outs: Any,
        slack: float,
        rng: np.random.Generator,
        directions: int,
    ) -> None:
        self.program, self.tape, self.slack = program, tape, slack
        self.shape = np.shape(outs)
        self.ids = np.ravel(np.asarray(outs))
        self.lowered = check_outputs(tape, self.ids)
        self.eps = float(np.finfo(tape.dtype).eps)
        self.f0 = program.plain(program.x)
        self.again = program.plain(program.x)
        program.outputs = self.f0.size
        self.fits = self.f0.size == self.ids.size
        self.lines: list[Line] = []
        self._rows: dict[int, Array] = {}
        if self.fits:
            signs = [rng.choice([-1.0, 1.0], program.x.size) for _ in range(directions)]
            scales = program.scales()
            sizes = [rng.uniform(0.5, 1.0, program.x.size) for _ in range(directions)]
            self.noise = noise_of(program.near, program.x, scales * signs[0])
            self.noise = np.fmax(self.noise, self._rounding())
            self.lines = [
                self.line(s * u * scales) for s, u in zip(signs, sizes, strict=True)
            ]

    def _rounding(self) -> Array:
        """What rounding of intermediate results may do to the outputs, by their adjoints.

        A large result that cancels later hides small changes altogether, so that nearby
        values look free of noise.
        """
        if self.ids.size > REVERSE:
            return np.zeros(self.ids.size)
        sizes = self.tape.values_at(np.arange(self.tape.nnodes)).astype(np.float64)
        half = 0.5 * float(np.finfo(np.float64).eps)
        found = []
        for k in self.ids:
            terms = half * adjoints(self.lowered, self.tape, 1.0, int(k)) * sizes
            terms = np.nan_to_num(terms)
            largest = float(np.abs(terms).max()) or 1.0  # squares would overflow
            found.append(largest * float(np.linalg.norm(terms / largest)))
        return np.array(found)

    def line(self, d: Array) -> Line:
        """The plain program along a direction."""
        return Line(self.program.near, self.program.x, d, self.f0, self.noise)

    def values(self) -> list[CheckRow]:
        """Whether the recorded program and the plain one give the same values, twice."""
        if not self.fits:
            reason = (
                f"the recorded program has {self.ids.size} outputs, the plain one "
                f"{self.f0.size}: does it branch on the type of its argument?"
            )
            sizes = (float(self.ids.size), float(self.f0.size))
            return [
                CheckRow(
                    "value", "number of outputs", *sizes, 0.0, "wrong", reason, np.inf
                )
            ]
        recorded = self.tape.vals[self.ids].astype(np.float64)
        loose = self.slack if self.eps > 1e-10 else 1e-10
        allowed = 64 * np.fmax(self.noise, self.eps * np.abs(self.f0)) + loose * abs(
            self.f0
        )
        rows = []
        for other, reason in (
            (
                self.again,
                "the plain program gave two values at the same point: it keeps state or "
                "draws random numbers.",
            ),
            (
                recorded,
                "the plain program gives another value than the recorded one: does it "
                "branch on the type of its argument, keep state, or compute in another "
                "precision?",
            ),
        ):
            off = np.abs(other - self.f0)
            off = np.where(np.isnan(off), np.inf, off)
            limit = allowed if other is recorded else 1e-9 * np.abs(self.f0)
            k = int(np.argmax(off / np.where(limit > 0, limit, np.finfo(float).tiny)))
            excess = (
                float(off[k] / limit[k]) if limit[k] else float(off[k] > 0) * np.inf
            )
            excess = 0.0 if np.isnan(excess) else excess
            wrong = bool(off[k] > limit[k])
            rows.append(
                CheckRow(
                    "value",
                    self.output(k) or "x0",
                    float(other[k]),
                    float(self.f0[k]),
                    float(self.noise[k]),
                    "wrong" if wrong else "ok",
                    reason if wrong else "",
                    excess,
                )
            )
        wrong_rows = [row for row in rows if row.verdict == "wrong"]
        return wrong_rows[:1] or rows[1:]

    def output(self, k: int) -> str:
        """Which output, in words; nothing where there is one."""
        if not self.shape:
            return ""
        at = ", ".join(str(int(i)) for i in np.unravel_index(k, self.shape))
        return f"output [{at}]"

    def where(self, place: str, k: int) -> str:
        """Place among the inputs, and output."""
        output = self.output(k)
        return f"{place}, {output}" if output else place

    def continuity(self) -> list[CheckRow]:
        """Whether values close to the point tend to that at the point."""
        rows = []
        for n, line in enumerate(self.lines):
            near, allowed, excess = line.jumps()
            k = int(np.argmax(excess))
            jump = bool(excess[k] > 1)
            reason = (
                "the plain program jumps at this point: a branch that the recording did "
                "not see (value(x) in a condition), or a kink where a branch was taken."
            )
            rows.append(
                CheckRow(
                    "continuity",
                    self.where(f"direction {n}", k),
                    float(self.f0[k]),
                    float(near[k]),
                    float(allowed[k]),
                    "wrong" if jump else "ok",
                    reason if jump else "",
                    float(excess[k]),
                )
            )
        return rows

    # -- slopes ------------------------------------------------------------------

    def slopes(self, entries: int) -> list[CheckRow]:
        """First derivatives by entry and in random directions."""
        n, x = self.program.x.size, self.program.x
        name = "Jacobian" if self.shape else "gradient"
        rows = []
        if n <= entries:
            scales = self.program.scales()
            for i in range(n):
                e = np.zeros(n)
                e[i] = scales[i]
                row = self._compare(name, self.program.label(i), self.line(e))
                if row.verdict != "ok" and scales[i] != 1.0:
                    e[i] = 1.0
                    other = self._compare(name, self.program.label(i), self.line(e))
                    usable = other.verdict == "ok" or row.verdict == "undecided"
                    row = other if usable and other.error <= row.error else row
                rows.append(row)
        for k, line in enumerate(self.lines):
            row = self._compare(name, f"direction {k}", line)
            if row.verdict == "wrong" and n > entries:
                row = self._narrowed(name, line, x.size) or row
            rows.append(row)
        return rows

    def predicted(self, d: Array) -> tuple[Array, Array]:
        """Derivative of every output along ``d``, and the size of what adds up to it."""
        direction = d.astype(self.tape.dtype)
        size = tangents(self.lowered, self.tape, np.abs(direction), absolute=True)
        size = size[self.ids].astype(np.float64)
        if self.ids.size <= REVERSE:
            found = np.array([self.row(k) @ d for k in range(self.ids.size)])
        else:
            forward = tangents(self.lowered, self.tape, direction)
            found = forward[self.ids].astype(np.float64)
        return found, np.where(np.isfinite(size), size, np.abs(found))

    def row(self, k: int) -> Array:
        """Gradient of one output by a reverse sweep, kept for the next use."""
        if k not in self._rows:
            found = adjoints(self.lowered, self.tape, 1.0, int(self.ids[k]))
            self._rows[k] = found[: self.tape.ninputs].astype(np.float64)
        return self._rows[k]

    def _compare(self, name: str, place: str, line: Line) -> CheckRow:
        estimate = line.slope()
        found, size = self.predicted(line.d)
        allowed = self._allowed(found, estimate, size)
        off = np.abs(found - estimate.value)
        excess = np.where(np.isfinite(estimate.error), off / allowed, 0.0)
        excess = np.where(np.isnan(excess), 0.0, excess)
        values, errors = estimate.value.copy(), estimate.error.copy()
        for i in map(int, np.flatnonzero(excess > 1)):
            if self._between(float(found[i]), line, i):
                excess[i] = 1.0
                continue
            slack = float(allowed[i] - 8 * errors[i])
            values[i], errors[i] = estimate.table.settled(i, float(found[i]), slack)
            with np.errstate(invalid="ignore"):
                excess[i] = abs(found[i] - values[i]) / (8 * errors[i] + slack)
        excess = np.where(np.isfinite(errors), excess, 0.0)
        k = int(np.argmax(np.where(np.isfinite(errors), excess, 0.5)))
        scale = float(np.abs(line.d).max())  # an entry in its own units
        single = np.count_nonzero(line.d) == 1
        unit = scale * float(np.sign(line.d[np.argmax(abs(line.d))])) if single else 1.0
        visible = 1e-6 * float(line.variation()[k]) / LARGEST
        visible = float(np.fmax(np.fmax(abs(found[k]), abs(values[k])), visible))
        verdict = verdict_of(float(excess[k]), float(errors[k]), visible)
        reason = ""
        if verdict == "wrong":
            reason = self._reason(line, k, float(found[k]), float(values[k]))
        elif verdict == "undecided":
            reason = "differences do not settle: the plain program is noisy here, or a jump or kink is near."
        return CheckRow(
            name,
            self.where(place, k),
            float(found[k] / unit),
            float(values[k] / unit),
            float(errors[k] / abs(unit)),
            verdict,
            reason,
            float(excess[k]),
        )

    def _allowed(self, found: Array, estimate: Estimate, size: Array) -> Array:
        largest = np.fmax(np.abs(found), np.abs(estimate.value))
        allowed = 8 * estimate.error + self.slack * largest + 64 * self.eps * size
        return np.fmax(allowed, np.finfo(np.float64).tiny)

    def _between(self, found: float, line: Line, k: int) -> bool:
        """Whether it lies between the slopes to both sides of a kink that was taken."""
        if not self.tape.kinks:
            return False
        low, high, noise = (a[k] for a in line.one_sided())
        return bool(low - noise <= found <= high + noise)

    def _reason(self, line: Line, k: int, found: float, reference: float) -> str:
        if near_kink(line, k):
            return "a kink lies at the point or very near: the slopes to both sides differ."
        return why(self.tape, found, reference)

    def _off(self, line: Line, part: Array) -> float:
        """Deviation along a part of a direction, by a plain central difference."""
        d, t = np.zeros(line.d.size), 2.0**-12
        d[part] = line.d[part]
        other = self.line(d)
        slopes = (other.at(t) - other.at(-t)) / (2 * t)
        return float(np.nanmax(abs(self.predicted(d)[0] - slopes), initial=0.0))

    def _narrowed(self, name: str, line: Line, n: int) -> CheckRow | None:
        """The single input behind a wrong directional derivative, by bisection."""
        part = np.arange(n)
        while part.size > 1:
            halves = np.array_split(part, 2)
            part = halves[int(self._off(line, halves[1]) > self._off(line, halves[0]))]
        d = np.zeros(n)
        d[part] = line.d[part]
        row = self._compare(name, self.program.label(int(part[0])), self.line(d))
        return row if row.verdict == "wrong" else None
