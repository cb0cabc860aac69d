"""What a sweep measures of its actions: work, bytes, and seconds of each phase."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["PHASES", "Measured"]

PHASES: dict[str, str] = {
    "advance": "advance",
    "record": "record",
    "reverse": "reverse",
    "save": "storage",
    "restore": "storage",
    "drop": "storage",
}


@dataclass(slots=True)
class Measured:
    """What an execution measures beside its ledger; plain numbers for a journal."""

    forward: int = 0
    reverse: int = 0
    unrecorded: int = 0
    written: int = 0
    read: int = 0
    rechecked: int = 0
    peak_slots: int = 0
    state: int = 0
    tape: int = 0
    fixed: int = 0
    peak: int = 0
    seconds: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(PHASES.values(), 0.0)
    )

    def weigh(self, fixed: int, live: int, slots: int) -> None:
        """Bytes held now: records and buffers, the live state, and slots."""
        if live > self.state:
            self.state = live
        if fixed > self.fixed:
            self.fixed = fixed
        if fixed + live + slots > self.peak:
            self.peak = fixed + live + slots
