"""Why derivatives and differences may disagree: the likeliest reason in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import Elemental, by_name
from ..errors import DerivativeError
from ..local import UnaryCurvature
from ..tape import Node, Tape, describe
from ._differences import Line, noise_of

__all__ = ["near_kink", "why", "wrong_rule"]

SAMPLES = 3  # nodes of each elemental whose rule is tried
NODES = 20000  # nodes searched for elementals


def _nodes(tape: Tape) -> Iterator[tuple[int, Elemental, tuple[float, ...]]]:
    """A few nodes of each elemental of a tape."""
    seen: dict[tuple[str, int], int] = {}
    for k in range(tape.ninputs, min(tape.nnodes, NODES)):
        name, _, operands = describe(tape, k)
        try:
            op = by_name(name)
        except DerivativeError:
            continue
        key = (name, len(tape.parents[k]))
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= SAMPLES:
            yield k, op, operands


def _line(op: Elemental, operands: tuple[float, ...], slot: int) -> Line:
    """The value of an elemental as a function of one operand."""

    def f(x: NDArray[Any]) -> NDArray[Any]:
        values = [np.float64(v) for v in operands]
        values[slot] = x[0]
        return np.array([op.value(np, *values)], dtype=np.float64)

    x = np.array([operands[slot]])
    d = np.where(x == 0.0, 1.0, np.abs(x))
    return Line(f, x, d, f(x), noise_of(f, x, d))


def _slope(
    op: Elemental, operands: tuple[float, ...], slot: int, partials: list[float]
) -> tuple[float, float]:
    """Derivative of an elemental's value in one operand by differences, and its error."""
    line = _line(op, operands, slot)
    d = float(line.d[0])
    table = line.slope().table
    expected = partials[min(slot, len(partials) - 1)]
    value, error = table.settled(0, expected * d, 1e-6 * abs(expected * d))
    return value / d, 10 * error / d


def _bend(op: Elemental, operands: tuple[float, ...], c: float) -> tuple[float, float]:
    """Second derivative of the value of an elemental of one operand, and its error."""
    line = _line(op, operands, 0)
    square = float(line.d[0]) ** 2
    table = line.curvature().table
    value, error = table.settled(0, c * square, 1e-5 * abs(c * square))
    return value / square, 10 * error / square


def _second(tape: Tape, k: int) -> float:
    c = tape.Cs[k]
    return float(c.c) if isinstance(c, UnaryCurvature) else 0.0


def wrong_rule(tape: Tape) -> str:
    """The first elemental whose partials contradict its value, in words; or ''."""
    loose = 1e-6 if tape.dtype == np.float64 else 1e-3
    for k, op, operands in _nodes(tape):
        if op.name in {"detach", "tie", "norm"}:
            continue
        partials = [float(d) for d in tape.ds[k]]
        slopes = [_slope(op, operands, j, partials) for j in range(len(operands))]
        if len(partials) == len(slopes):
            pairs = list(zip(partials, slopes, strict=True))
        else:  # one operand is a constant; which one, the tape says by its rule
            pairs = [(partials[0], min(slopes, key=lambda s: abs(s[0] - partials[0])))]
        for d, (slope, error) in pairs:
            bound = error + loose * max(abs(d), abs(slope))
            if np.isfinite(slope) and abs(d - slope) > bound:
                return _sentence(op, k, operands, "first", d, slope)
        if len(operands) == 1:
            c = _second(tape, k)
            bend, error = _bend(op, operands, c)
            bound = error + 10 * loose * max(abs(c), abs(bend))
            if np.isfinite(bend) and abs(c - bend) > bound:
                return _sentence(op, k, operands, "second", c, bend)
    return ""


def _sentence(
    op: Elemental,
    k: int,
    operands: tuple[float, ...],
    which: str,
    d: float,
    slope: float,
) -> str:
    shown = ", ".join(f"{v:.6g}" for v in operands)
    return (
        f"the rule of elemental {op.name!r} is wrong: at node {k}, {op.name}({shown}), it "
        f"gives the {which} partial {d:.6g}, and differences of its value give {slope:.6g}."
    )


def why(tape: Tape, computed: float, reference: float) -> str:
    """The likely reason of a wrong first derivative."""
    rule = wrong_rule(tape)
    if rule:
        return rule
    if tape.detached:
        return (
            "stop_gradient stands in the program: differences see the dependence that it "
            "cuts off."
        )
    if computed == 0 and reference != 0:
        return (
            "the dependence on this input was lost: value(x), or a plain number computed "
            "from it, stands where the variable itself is needed."
        )
    if any(isinstance(block, Node) for block in tape.blocks):
        return (
            "the program records explicit nodes (pushnode, unarynode, binarynode); check "
            "the partials that they are given."
        )
    return (
        "a part of the dependence was lost (value(x) in the program), or a kink or jump "
        "lies so near that differences reach across it."
    )


def near_kink(line: Any, output: int) -> bool:
    """Whether the slopes to both sides differ down to the smallest steps."""
    low, high, noise = (a[output] for a in line.one_sided())
    return bool(
        high - low > 10 * noise and high - low > 0.05 * max(abs(low), abs(high))
    )
