"""First and second partials of entrywise blocks, evaluated by NumPy from their rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import BY_OPCODE, Elemental, Rule
from ..errors import DomainError, NondifferentiableError
from ._blocks import Accumulate, Binary, Block, Fixed, Floats, Ids, Node, Run, Unary
from ._box_faults import described, why
from ._generic import TIES

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["Columns", "columns", "describe", "kink_marks", "marks", "reason"]

TILE = 4096  # entries of a block that a rule gets at a time

Columns = tuple[Any, Any, Any, Any, Any]
"""``(d1, d2, c11, c12, c22)``, each a number, or an array of one entry or one a node."""


def _rule(tape: Tape, op: Elemental, pattern: int) -> Rule:
    if pattern <= 1:
        rule = op.rule
    else:
        rule = op.rule_first() if pattern == 2 else op.rule_second()
    return rule.of_complex if tape.is_complex else rule


def _wide(found: tuple[Any, ...], two: bool) -> Columns:
    if two:
        d1, d2, c11, c12, c22 = found
        return d1, d2, c11, c12, c22
    d, c = found
    return d, 0.0, c, 0.0, 0.0


_Entrywise = Unary | Fixed | Binary


def _rule_of(tape: Tape, block: _Entrywise) -> Rule:
    """The rule in the operands that are differentiated."""
    return _rule(tape, block.op, 2 + block.slot if isinstance(block, Fixed) else 0)


def _operands(
    tape: Tape, block: _Entrywise, given: tuple[Any, Any] | None = None
) -> tuple[Any, ...]:
    """Operand values, as the rule of the block takes them."""
    n = block.size
    if given is not None:
        x, y = given
    else:
        if isinstance(block, Accumulate):
            x = tape.vals[block.x.flat((n,))]
        else:
            x = tape.values_of(block.x, n)
        y = tape.values_of(block.y, n) if isinstance(block, Binary) else None
    if isinstance(block, Binary):
        return x, y
    if isinstance(block, Unary):
        return (x,)
    const = block.const if block.const.size > 1 or n == 1 else block.const[0]
    return (x, const) if block.slot == 0 else (const, x)


def columns(tape: Tape, block: Any, given: tuple[Any, Any] | None = None) -> Columns:
    """Partials of a block of elementals of one or two operands.

    ``given`` are the values of its one or two recorded operands, where they are at hand.
    Floating-point flags mean nothing; it is for the caller to ignore them.
    """
    assert tape.box is None, "over a box, Tape.enclosed gives partials"
    if isinstance(block, Run):
        return _run_columns(tape, block, given)
    found = _tiled(_rule_of(tape, block), _operands(tape, block, given), block.values)
    return _wide(found, isinstance(block, Binary))


def _tiled(rule: Rule, operands: tuple[Any, ...], v: Floats) -> tuple[Any, ...]:
    """Partials of a block, a tile at a time so that intermediates stay in cache."""
    n = v.size
    if n <= 2 * TILE:
        return rule.partials(np, *operands, v)
    whole = [np.ndim(x) > 0 for x in operands]

    def cut(lo: int, hi: int) -> list[Any]:
        return [x[lo:hi] if w else x for x, w in zip(operands, whole, strict=True)]

    head = cut(0, TILE)
    values = v[:TILE]
    first = rule.partials(np, *head, values)
    out: list[Any] = list(first)
    fill = []
    for i, part in enumerate(first):
        same = [
            x for x, h in zip((*operands, v), (*head, values), strict=True) if h is part
        ]
        if same:
            out[i] = same[0]  # an operand or the value is the partial: nothing to store
        elif np.ndim(part):
            out[i] = np.empty(n, dtype=part.dtype)
            out[i][:TILE] = part
            fill.append(i)
    if fill:
        for lo in range(TILE, n, TILE):
            hi = min(lo + TILE, n)
            found = rule.partials(np, *cut(lo, hi), v[lo:hi])
            for i in fill:
                out[i][lo:hi] = found[i]
    return tuple(out)


def marks(tape: Tape, block: Block) -> NDArray[np.bool_] | None:
    """Which nodes of a block lie outside of their domain or at a kink; None: nowhere.

    On a tape that takes branches, kinks do not count. Flags are for the caller to ignore.
    """
    if tape.box is not None:
        return tape.enclosures.marks(block)
    return _marks(tape, block, _outside if tape.branch else _bad)


def kink_marks(tape: Tape, block: Block) -> NDArray[np.bool_] | None:
    """Which nodes of a block lie at a kink, jump or tie; None: nowhere."""
    with np.errstate(all="ignore"):
        return _marks(tape, block, _at_kink)


def _marks(tape: Tape, block: Block, test: Any) -> NDArray[np.bool_] | None:
    if isinstance(block, Run):
        return _run_marks(tape, block, test)
    if not isinstance(block, (Unary, Fixed, Binary)):
        return None
    rule = _rule_of(tape, block)
    if _is_smooth(rule):
        return None
    found = test(rule, _operands(tape, block))
    if found is None or not np.any(found):
        return None
    found = np.broadcast_to(found, (block.size,))
    if not (isinstance(block, Binary) and block.op.name in TIES):
        return found
    n = (block.size,)
    found = found & (block.x.flat(n) != block.y.flat(n))
    return found if found.any() else None


def _run_marks(tape: Tape, block: Run, test: Any) -> NDArray[np.bool_] | None:
    bad: NDArray[np.bool_] | None = None
    for op, pattern, where in _groups(block):
        rule = _rule(tape, op, pattern)
        if _is_smooth(rule):
            continue
        found = test(rule, _run_operands(tape, block, pattern, where, None))
        if not np.any(found):
            continue
        if pattern == 1 and op.name in TIES:
            found = found & (block.a[where] != block.other[where])
        if bad is None:
            bad = np.zeros(block.size, dtype=bool)
        bad[where] = found
    return None if bad is None or not bad.any() else bad


def _is_smooth(rule: Rule) -> bool:
    """Whether the elemental is smooth everywhere: its operands need no look."""
    return rule.domain is None and rule.kink is None


def _outside(rule: Rule, operands: tuple[Any, ...]) -> Any:
    return None if rule.domain is None else ~np.asarray(rule.domain(np, *operands))


def _at_kink(rule: Rule, operands: tuple[Any, ...]) -> Any:
    return None if rule.kink is None else np.asarray(rule.kink(np, *operands))


def _bad(rule: Rule, operands: tuple[Any, ...]) -> Any:
    bad = _outside(rule, operands)
    kink = _at_kink(rule, operands)
    if bad is None or kink is None:
        return kink if bad is None else bad
    return bad | kink


def _groups(block: Run) -> Iterator[tuple[Elemental, int, Ids]]:
    """Rows of a run by code: ``(elemental, pattern, rows)``."""
    order = np.argsort(block.code, kind="stable")
    codes = block.code[order]
    ends = [*(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), codes.size]
    first = 0
    for last in ends:
        code = int(codes[first])
        yield BY_OPCODE[code >> 2], code & 3, order[first:last]
        first = last


def _run_operands(
    tape: Tape, block: Run, pattern: int, where: Ids, given: tuple[Any, Any] | None
) -> tuple[Any, ...]:
    """Operand values of rows of one code."""
    x = tape.vals[block.a[where]] if given is None else given[0][where]
    if pattern == 0:
        return (x,)
    other = block.other[where]
    if pattern == 1:
        if given is not None:
            return x, given[1][where]
        return x, tape.vals[other.real.astype(np.int64)]
    c = other.astype(tape.dtype)
    if (c == c[0]).all():
        c = c[0]  # rules are faster, and exact more often, for one constant
    return (x, c) if pattern == 2 else (c, x)


def _run_columns(tape: Tape, block: Run, given: tuple[Any, Any] | None) -> Columns:
    out: list[Any] = [0.0] * 5
    for op, pattern, where in _groups(block):
        operands = _run_operands(tape, block, pattern, where, given)
        found = _rule(tape, op, pattern).partials(np, *operands, block.values[where])
        for k, part in enumerate(_wide(found, pattern == 1)):
            if part.__class__ is float and part == 0.0:
                continue
            if out[k].__class__ is float:
                out[k] = np.zeros(block.size, dtype=tape.dtype)
            out[k][where] = part
    return tuple(out)


def _node(tape: Tape, k: int) -> tuple[str, Rule | None, tuple[Floats, ...]]:
    """Name, rule and operand values (arrays of one entry) of node ``k``."""
    block = tape.block_of(k)
    at = k - block.start
    if isinstance(block, Run):
        code = int(block.code[at])
        op, pattern = BY_OPCODE[code >> 2], code & 3
        x = tape.vals[block.a[at : at + 1]]
        other = block.other[at : at + 1]
        if pattern == 0:
            return op.name, _rule(tape, op, pattern), (x,)
        if pattern == 1:
            y = tape.vals[other.real.astype(np.int64)]
            return op.name, _rule(tape, op, pattern), (x, y)
        other = other.astype(tape.dtype)
        pair = (x, other) if pattern == 2 else (other, x)
        return op.name, _rule(tape, op, pattern), pair
    if isinstance(block, (Unary, Fixed, Binary)):
        n = (block.size,)
        operands = _operands(tape, block)
        picked = tuple(np.broadcast_to(v, n)[at : at + 1] for v in operands)
        return block.op.name, _rule_of(tape, block), picked
    if isinstance(block, Node):
        return "explicit node", None, tuple(tape.vals[block.parents])
    return type(block).__name__.lower(), None, ()


def describe(tape: Tape, k: int) -> tuple[str, Any, tuple[Any, ...]]:
    """Name of the elemental of node ``k``, its value and its operands' values.

    They are floats, or intervals over a box.
    """
    if tape.box is not None:
        return described(tape, k)
    name, _, operands = _node(tape, k)
    return name, tape.vals[k].item(), tuple(np.ravel(v)[0].item() for v in operands)


def reason(tape: Tape, k: int) -> DomainError | NondifferentiableError:
    """The exception that says why node ``k`` has no first or second derivative."""
    if tape.box is not None:
        return why(tape, k)
    name, rule, operands = _node(tape, k)
    values = tuple(np.ravel(v)[0].item() for v in operands)
    value = tape.vals[k].item()
    shown = ", ".join(f"{v!r}" for v in values)
    smooth = "holomorphic" if tape.is_complex else "twice continuously differentiable"
    kink = False
    if rule is not None and rule.kink is not None and not tape.branch:
        with np.errstate(all="ignore"):
            kink = bool(np.any(rule.kink(np, *operands)))
    if kink:
        if name == "tie":
            msg = (
                f"node {k}: the selected value {shown} is tied with another candidate "
                "(of max, min, clip, sort, eigenvalues, ...) or lies on a knot of interp, "
                "where the program has no derivative. Evaluate at a point off the tie."
            )
        else:
            msg = (
                f"node {k}: {name}({shown}) is exactly at a kink or jump, where it has no "
                "derivative. Evaluate at another point, or guard it with np.where."
            )
        return NondifferentiableError(msg, elemental=name, node=k, values=values)
    with np.errstate(all="ignore"):
        outside = rule is None or bool(np.any(_outside(rule, operands)))
    if not outside:
        msg = (
            f"node {k}: {name}({shown}) = {value!r} operates on a result "
            "that left its domain before, with an infinite value or slope that its own "
            "zero slope would hide. Evaluate at another point, or guard it with np.where."
        )
        return DomainError(msg, elemental=name, node=k, values=values)
    msg = (
        f"node {k}: {name}({shown}) = {value!r} is not in the open domain "
        f"where the elemental is {smooth} with finite partials. "
        "Evaluate at another point, or guard it with np.where."
    )
    return DomainError(msg, elemental=name, node=k, values=values)
