"""What a sweep did, beside what its plan predicted."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from ...errors import ScheduleError
from ...results import Result, Summary
from ..plans._cost import PlanCost
from ._tables import summary

__all__ = [
    "Seconds",
    "SpaceUse",
    "SweepReport",
    "SweepResult",
    "Work",
    "check_costs",
    "nothing_done",
]


class Seconds(NamedTuple):
    """Seconds of a sweep.

    Attributes:
        advance: In steps that were not recorded.
        record: In steps that were recorded.
        reverse: In reverse rules.
        storage: In saving, restoring and dropping states, and in the journal.
    """

    advance: float
    record: float
    reverse: float
    storage: float


class Work(NamedTuple):
    """Operations of a sweep, and the bound that theory gives for them.

    An operation is a recorded node where a tape tells how many a step has, and else the
    whole step. Steps that were recorded once more because of a floating-point flag are
    not in it (see :attr:`SweepReport.rechecked`).

    Attributes:
        forward: Of all steps, each counted once: those that were recorded.
        reverse: Of the reverse rules.
        unrecorded: Of steps that were run without recording.
        bound: ``forward + reverse + t * forward``, with ``t`` the most unrecorded
            evaluations of one step that the plan predicts.
    """

    forward: int
    reverse: int
    unrecorded: int
    bound: int

    @property
    def total(self) -> int:
        """All of it; at most the bound."""
        return self.forward + self.reverse + self.unrecorded


class SpaceUse(NamedTuple):
    """Bytes that a sweep held, and the bound that theory gives for them.

    Attributes:
        peak: Most bytes at once in slots (of both levels), the live state, records
            and cotangents, after any action.
        fixed: ``G``: most bytes at once in records and cotangents.
        state: ``R_s``: bytes of the largest state.
        bound: ``G + (d + 1) R_s``, with ``d`` the most slots that the plan predicts.
    """

    peak: int
    fixed: int
    state: int
    bound: int


@dataclass(frozen=True)
class SweepReport:
    """Counts, bytes and seconds of a sweep.

    A sweep counts what it does. It raises ScheduleError where that differs from what the
    plan predicted, so the two costs of a report are equal.

    Attributes:
        executed: What was done.
        predicted: What the plan had predicted.
        seconds: Seconds by phase.
        work: Operations, and their bound.
        space: Bytes held, and their bound.
        peak_slot_bytes: Most bytes of saved states at once, as the storage counts them.
        bytes_written: Bytes of all saved states, as the storage counts them.
        bytes_read: Bytes of all restored states, as the storage counts them.
        tape_bytes: Bytes of the largest record of one step, so far as they are known.
        rechecked: Steps that were recorded once more because of a floating-point flag,
            and found to be without fault.
        carried: Whether unrecorded evaluations were recorded ones, since the forward
            pass carried something beside the state (see :func:`cover_sweep`).
        abandoned: What a first attempt did before it was given up, or None.
    """

    executed: PlanCost
    predicted: PlanCost
    seconds: Seconds
    work: Work
    space: SpaceUse
    peak_slot_bytes: int
    bytes_written: int
    bytes_read: int
    tape_bytes: int
    rechecked: int = 0
    carried: bool = False
    abandoned: PlanCost | None = None

    @property
    def state_bytes(self) -> int:
        """Bytes of the largest state."""
        return self.space.state

    def __str__(self) -> str:
        """A few lines for people."""
        cost, work, space = self.executed, self.work, self.space
        slots = f"{cost.peak_slots} slots"
        if cost.peak_disk_slots:
            slots += f" in memory and {cost.peak_disk_slots} on disk"
        lines = [
            f"{cost.recorded} steps; {cost.unrecorded} unrecorded evaluations, at most "
            f"{cost.max_replays} of one step",
            f"{slots}; {cost.saves + cost.disk_saves} saves, "
            f"{cost.restores + cost.disk_restores} restores",
            f"work {work.total}, bound {work.bound}; bytes {space.peak}, bound "
            f"{space.bound}",
            "seconds: "
            + ", ".join(f"{n} {s:.3g}" for n, s in self.seconds._asdict().items()),
        ]
        if self.rechecked:
            lines.append(f"{self.rechecked} steps recorded because of a flag")
        if self.abandoned is not None:
            lines.append(
                f"first attempt given up after {self.abandoned.evaluations} evaluations"
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult(Result):
    """What :func:`reverse_sweep` returns.

    Attributes:
        value: The last state, a NumPy scalar; ``x0`` itself where there are no steps.
        cotangent: Gradient of the value with respect to ``x0``, times the seed: in the
            containers, shapes and types of ``x0``.
        params_cotangent: The same for the parameters, or None without.
        report: What the sweep did.
    """

    value: Any
    cotangent: Any
    params_cotangent: Any
    report: SweepReport

    def _summary(self) -> Summary:
        columns = {"cotangent": self.cotangent}
        params = {"cotangent": self.params_cotangent}
        return summary("SweepResult", self.value, columns, params)


def nothing_done(cost: PlanCost) -> SweepReport:
    """The report of a chain without steps."""
    return SweepReport(
        executed=cost,
        predicted=cost,
        seconds=Seconds(0.0, 0.0, 0.0, 0.0),
        work=Work(0, 0, 0, 0),
        space=SpaceUse(0, 0, 0, 0),
        peak_slot_bytes=0,
        bytes_written=0,
        bytes_read=0,
        tape_bytes=0,
    )


def check_costs(executed: PlanCost, predicted: PlanCost) -> None:
    """Holds what was done against what was predicted.

    Raises:
        ScheduleError: Where they differ, with every difference.
    """
    if executed == predicted:
        return
    wrong = [
        f"{f.name} {getattr(predicted, f.name)} was predicted and is {done}"
        for f in fields(PlanCost)
        if (done := getattr(executed, f.name)) != getattr(predicted, f.name)
    ]
    msg = (
        f"the plan's cost is not that of its actions: {'; '.join(wrong)}. The schedule's "
        "cost() is wrong: leave it out, and the actions are counted."
    )
    raise ScheduleError(msg)
