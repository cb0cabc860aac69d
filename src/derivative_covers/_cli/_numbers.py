"""Counts and sizes, as people write and read them."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation

import click

__all__ = ["UNIT_NAMES", "bytes_text", "count", "count_text", "size"]

LARGEST = 2**63 - 1
DECIMAL = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
BINARY = {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
UNITS = DECIMAL | BINARY
UNIT_NAMES = "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"


def count(text: str) -> int:
    """A nonnegative integer; ``1e6`` and ``1_000_000`` are integers too."""
    number = _decimal(text)
    if number is None or number != number.to_integral_value() or number < 0:
        msg = f"{text!r} is no nonnegative integer, such as 100000 or 1e5"
        raise click.BadParameter(msg)
    return int(number)


def size(text: str) -> int:
    """A size in bytes, with or without a unit."""
    digits = text.strip().rstrip("BbIiKkMmGgTt")
    unit = text.strip()[len(digits) :].upper()
    number = _decimal(digits)
    if number is None or number <= 0 or unit not in UNITS:
        msg = f"{text!r} is no size, such as 8e6, 8MB or 1.5GiB (units: {UNIT_NAMES})"
        raise click.BadParameter(msg)
    return math.ceil(number * UNITS[unit])


def _decimal(text: str) -> Decimal | None:
    """The number, exactly; None for no finite number."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    if number > LARGEST:
        msg = f"{text!r} is too large; {LARGEST} is the most"
        raise click.BadParameter(msg)
    return number


def count_text(value: int) -> str:
    """A count for people."""
    return f"{value:,}" if value < 10**12 else f"{value:.3e}"


def bytes_text(value: int) -> str:
    """A size for people."""
    for unit in ("TB", "GB", "MB", "kB"):
        scale = DECIMAL[unit.upper()]
        if value >= 1000 * scale:
            return f"{value / scale:,.0f} {unit}"
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{value} B"
