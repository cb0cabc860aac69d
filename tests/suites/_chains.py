"""Steppers as chains, and their derivatives as functions of `p` alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from derivative_covers.checkpoint import Chain, Transition
from tests.suites._steppers import BY_NAME, Stepper

__all__ = ["REFERENCE", "chain"]

_FILE = Path(__file__).with_name("stepper_references.json")
REFERENCE = {(row["name"], row["steps"]): row for row in json.loads(_FILE.read_text())}


def chain(stepper: Stepper | str, steps: int) -> Any:
    """The chain of a stepper: its first state, so many steps, its objective.

    It starts from `p` and gets `p` as parameters; a derivative with respect to `p` is the
    sum of those with respect to both.
    """
    stepper = BY_NAME[stepper] if isinstance(stepper, str) else stepper
    first, middle, last = map(Transition.taped, stepper.parts())
    return Chain([first, Chain.uniform(steps, middle), last])
