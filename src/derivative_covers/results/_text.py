"""Results as text."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from ..elements import Interval
from ._summary import Summary

__all__ = ["aligned", "kinks_note", "number", "scales_notes", "shown", "text"]
_SCALES = (
    "Declared scales were read: a product (or its like) has a factor that is zero here, so",
    "h depends on scales= (1 for each variable where not given); see docs/explanation/"
    "what-is-a-cover.md, 'Where units do enter'.",
)

SHOWN = 8  # places of a structure that a text shows


def text(summary: Summary) -> str:
    """Title, tables and notes, a line each."""
    lines = [summary.title]
    for table in summary.tables:
        lines += aligned(table.rows())
    return "\n".join([*lines, *summary.notes])


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines: the first column to the left, all others to the right."""
    # A name may hold a line break, which would end the line of the table.
    rows = [tuple("\\n".join(cell.splitlines()) for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def number(value: Any) -> str:
    """Short text of a value, or of its enclosure."""
    if isinstance(value, Interval):
        return f"[{value.lo:.6g}, {value.hi:.6g}]"
    plain = isinstance(value, (float, complex, np.inexact))
    return f"{value:.6g}" if plain else repr(value)


def shown(part: Any) -> str:
    """Short text of an array, or of a structure of arrays."""
    with np.printoptions(precision=6, threshold=8, edgeitems=3):
        return _short(part)


def kinks_note(kinks: tuple[Any, ...]) -> str:
    """What a text says of kinks where a branch was taken."""
    return f", branches were taken at {len(kinks)} kinks" if kinks else ""


def scales_notes(asked: bool) -> tuple[str, ...]:
    """The lines below a cover that depends on the declared scales."""
    return _SCALES if asked else ()


def _short(part: Any) -> str:
    """Text of an array or of a structure, cut where that has many places."""
    if isinstance(part, dict) and len(part) > SHOWN:
        first = ", ".join(f"{k!r}: {_short(part[k])}" for k in islice(part, SHOWN))
        return f"{{{first}, ... {len(part)} places}}"
    if isinstance(part, tuple) and len(part) > SHOWN:
        first = ", ".join(_short(p) for p in part[:SHOWN])
        return f"({first}, ... {len(part)} places)"
    return str(part)
