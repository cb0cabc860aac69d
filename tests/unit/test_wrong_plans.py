"""No plan of others, however wrong, gives a wrong result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from derivative_covers.checkpoint import (
    Action,
    MemoryStorage,
    PlanCost,
    Schedule,
)
from derivative_covers.errors import (
    ScheduleError,
)
from tests._sweep_programs import (
    keep,
    sweep,
    total,
)

# Plans of others ---------------------------------------------------------------------------


class Listed(Schedule):
    """A third party's schedule, whose cost is believed."""

    def __init__(self, *actions: Any, cost: PlanCost | None = None) -> None:
        self.listed = actions
        self.believed = cost or PlanCost()

    def actions(self, steps: int) -> Iterator[Any]:
        return iter(self.listed)

    def cost(self, steps: int) -> PlanCost:
        return self.believed


A = Action
WRONG = [
    ((), 0),
    ((A("advance", 1, 2),), 0),
    ((A("advance", 0, 0),), 0),
    ((A("advance", 0, 4),), 0),
    ((A("advance", 0, -1),), 0),
    ((A("record", 0, 4),), 0),
    ((A("record", 1, 3),), 0),
    ((A("record", 0, 3), A("reverse", 0, 2)), 1),
    ((A("record", 0, 3), A("reverse", 3, 3)), 1),
    ((A("record", 0, 3), A("reverse", -1, 3)), 1),
    ((A("record", 0, 1), A("reverse", 0, 1)), 1),
    ((A("advance", 0, 2), A("record", 2, 3), A("reverse", 1, 3)), 2),
    ((A("record", 0, 3), A("reverse", 2, 3), A("save", 3, 3)), 2),
    ((A("record", 0, 3), A("reverse", 2, 3), A("record", 2, 3)), 2),
    ((A("restore", 0, 0),), 0),
    ((A("drop", 0, 0),), 0),
    ((A("save", 1, 1),), 0),
    ((A("save", 0, 1),), 0),
    ((A("save", 0, 0), A("save", 0, 0)), 1),
    ((A("save", 0, 0), A("restore", 0, 1)), 1),
    ((A("save", 0, 0), A("restore", 0, 0, "disk")), 1),
    ((A("save", 0, 0, "tape"),), 0),  # type: ignore[arg-type]
    (
        (
            A("save", 0, 0),
            A("restore", 0, 0),
            A("record", 0, 2),
            A("restore", 0, 0),
            A("record", 0, 1),
        ),
        4,
    ),
    ((A("save", 0, 0), A("record", 0, 3), A("reverse", 0, 3)), 3),
    ((A("record", 0, 3), A("reverse", 1, 3)), 2),
    ((A("jump", 0, 3),), 0),  # type: ignore[arg-type]
    ((A("record", 0.0, 3),), 0),  # type: ignore[arg-type]
    ((A("record", True, 3),), 0),
    ((A("record", False, 3),), 0),
    ((A("record", "0", 3),), 0),  # type: ignore[arg-type]
    ((("record", 0, 3),), 0),
    (("record",), 0),
    ((None,), 0),
    ((7,), 0),
    ((({}, 0, 3, "memory"),), 0),
]


@pytest.mark.parametrize(("actions", "index"), WRONG)
def test_wrong_plans(actions: Any, index: int) -> None:
    storage = MemoryStorage()
    with pytest.raises(ScheduleError, match=rf"action {index}\b|after {index} actions"):
        sweep([keep, keep, total], schedule=Listed(*actions), storage=storage)
    assert len(storage) == 0


GOOD = (A("record", 0, 3), A("reverse", 0, 3))


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (PlanCost(), "recorded 0 was predicted and is 3"),
        (PlanCost(recorded=3, peak_records=2, frames=1), "peak_records 2 .* is 3"),
        (PlanCost(recorded=3, peak_records=3, frames=1, saves=1), "saves 1 .* is 0"),
        (PlanCost(recorded=3, peak_records=3, frames=2), "frames 2 .* is 1"),
    ],
)
def test_a_wrong_prediction_is_never_silent(cost: PlanCost, words: str) -> None:
    with pytest.raises(ScheduleError, match=words):
        sweep([keep, keep, total], schedule=Listed(*GOOD, cost=cost))


def test_a_right_prediction() -> None:
    cost = PlanCost(recorded=3, peak_records=3, frames=1)
    assert (
        sweep([keep, keep, total], schedule=Listed(*GOOD, cost=cost)).report.executed
        == cost
    )
