"""What a check found, as a table and as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import CheckError
from ..results import page
from ..tape import Kink

__all__ = ["CheckReport", "CheckRow", "Verdict"]

FIRST = frozenset(("value", "continuity", "gradient", "Jacobian"))
Verdict = Literal["ok", "wrong", "undecided", "skipped"]


@dataclass(frozen=True)
class CheckRow:
    """One comparison of a check.

    Attributes:
        what: What was compared: ``"value"``, ``"gradient"``, ``"Hessian product"``, ...
        where: The entry of the inputs, or the direction, and the output.
        computed: What the recorded program gives; for ``"continuity"`` the plain program
            at the point.
        reference: What differences of the plain program give; for ``"continuity"`` its
            value beside the point.
        error: How far the differences may be off; for ``"continuity"`` how far apart the
            two may be in a continuous program, by how the change shrinks with the step.
        verdict: ``"ok"``, ``"wrong"``, ``"undecided"`` where the differences are too
            noisy to tell, or ``"skipped"``.
        reason: The likely reason of a verdict other than ok.
        excess: Deviation over what is allowed; above 1 is wrong.
    """

    what: str
    where: str
    computed: float
    reference: float
    error: float
    verdict: Verdict
    reason: str = ""
    excess: float = 0.0


@dataclass(frozen=True, repr=False)
class CheckReport:
    """What :func:`check` found; its ``repr`` is a table.

    Attributes:
        rows: Every comparison.
        kinks: Where the value's branch was taken at a kink or tie.

    Example:
        >>> import derivative_covers as dc
        >>> report = dc.check(lambda x: x[0] ** 2 * x[1], [1.0, 2.0])
        >>> report.ok, report.worst.verdict
        (True, 'ok')
    """

    rows: tuple[CheckRow, ...]
    kinks: tuple[Kink, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no comparison is wrong."""
        return not self.failures

    @property
    def failures(self) -> tuple[CheckRow, ...]:
        """The comparisons that are wrong; what the others follow from comes first."""
        wrong = [row for row in self.rows if row.verdict == "wrong"]
        order = list(dict.fromkeys(row.what for row in self.rows))

        def rank(row: CheckRow) -> tuple[int, bool, float]:
            return order.index(row.what), "direction" in row.where, -row.excess

        return tuple(sorted(wrong, key=rank))

    @property
    def worst(self) -> CheckRow:
        """The first failure, or the comparison that comes nearest to one."""
        failures = self.failures
        return failures[0] if failures else max(self.rows, key=lambda row: row.excess)

    def raise_if_failed(self) -> None:
        """Raise if a comparison is wrong.

        Raises:
            CheckError: (an AssertionError) with the table, if some comparison is wrong.
        """
        if not self.ok:
            raise CheckError(str(self))

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [self._title()]
        text += [
            "  ".join(e.ljust(w) for e, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        text += self._remarks()
        return "\n".join(text)

    def _repr_html_(self) -> str:
        return page(self._title(), [self._lines()], self._remarks())

    def _title(self) -> str:
        n, wrong = len(self.rows), len(self.failures)
        if wrong:
            return f"check: {wrong} of {n} comparisons FAILED"
        return f"check: all of {n} comparisons agree"

    def _lines(self) -> list[tuple[str, ...]]:
        kinds = dict.fromkeys(row.what for row in self.rows)
        head = ("", "compared", "worst at", "computed", "differences", "+-", "")
        return [head, *(self._line(kind) for kind in kinds)]

    def _line(self, kind: str) -> tuple[str, ...]:
        rows = [row for row in self.rows if row.what == kind]
        worst = next((row for row in self.failures if row.what == kind), None)
        worst = worst or max(rows, key=lambda row: row.excess)
        found = [row.verdict for row in rows]
        verdict = next(
            (
                f"{found.count(v)} {v}"
                for v in ("wrong", "undecided", "skipped")
                if v in found
            ),
            "ok",
        )
        numbers = (worst.computed, worst.reference, worst.error)
        if worst.verdict == "skipped":
            return (kind, "0", worst.where, "", "", "", "skipped")
        shown = (f"{numbers[0]:.7g}", f"{numbers[1]:.7g}", f"{numbers[2]:.1e}")
        return (kind, str(len(rows)), worst.where, *shown, verdict)

    def _remarks(self) -> list[str]:
        found = []
        reasons: dict[str, CheckRow] = {}
        failures = self.failures
        basic = [row for row in failures if row.what in FIRST]
        for row in (*(basic or failures), *self.rows):
            if row.reason and (row.verdict != "wrong" or not basic or row in basic):
                reasons.setdefault(row.reason, row)
        for reason, row in reasons.items():
            found.append(f"* {row.what} at {row.where}: {reason}")
        if self.kinks:
            shown = ", ".join(map(repr, self.kinks[:3]))
            more = ", ..." if len(self.kinks) > 3 else ""
            found.append(
                f"* branches were taken at {len(self.kinks)} kinks: {shown}{more}"
            )
        return found
