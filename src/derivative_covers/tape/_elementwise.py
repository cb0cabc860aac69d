"""Entry-by-entry operations on arrays: one block an operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementals import Elemental, by_name, by_ufunc
from ..errors import TapeError
from ._active import active
from ._blocks import Floats, Operand
from ._convert import as_operand
from ._decide import compared, elements_compared, ends, refuse_undecided, shown
from ._decisions import decided
from ._holomorphic import refuse_complex, refuse_elemental
from ._kinks import detached, note
from ._refusals import (
    is_foreign,
    refuse_imaginary,
    refuse_nan,
    refuse_tie,
    refuse_two_tapes,
)
from ._storage import (
    ArrayBase,
    constant,
    entrywise,
    fresh,
    from_ids,
    held,
    memory_order,
    scalar,
    scalar_or_array,
)
from ._tape import Tape
from ._tvar import (
    COMPARISONS,
    EQUALITY,
    TVar,
    apply_unary,
    ufunc_name,
)

__all__ = ["binary", "common_tape", "compare", "root", "unary"]


def common_tape(*operands: Any) -> Tape:
    """The one tape on which recorded operands live.

    Raises:
        TapeError: If they live on several.
    """
    found: Tape | None = None
    for x in operands:
        tape = _tape_behind(x)
        if tape is None or tape is found:
            continue
        if found is not None:
            refuse_two_tapes()
        found = tape
    if found is None:
        found = active()
    if found is None:
        msg = "no recorded variable among the operands; this is a bug of the package."
        raise TapeError(msg)
    if found.finished:
        found.put(())
    return found


def _tape_behind(x: Any) -> Tape | None:
    """The tape that holds an operand's nodes; constants have none."""
    if isinstance(x, ArrayBase):
        found: Tape | None = x.s.tape
        return found
    return x.tape if isinstance(x, TVar) else None


_FOUND: dict[Any, Elemental] = {}
_EXACT = 1 << 53  # smaller integers are floats
_SINGLE = np.dtype(np.float32)


def _elemental(what: Any) -> Elemental:
    op = _FOUND.get(what)
    if op is None:
        named = isinstance(what, str)
        op = by_name(what) if named else by_ufunc(ufunc_name(what))
        _FOUND[what] = op
    return op


def _value(what: Any, op: Elemental, *operands: Any) -> Any:
    try:
        return op.value(np, *operands) if isinstance(what, str) else what(*operands)
    except TypeError:
        if op.holomorphic or not any(map(np.iscomplexobj, operands)):
            raise
        refuse_elemental(op)


def unary(what: Any, x: ArrayBase, value: Floats | None = None) -> Any:
    """Record an elemental, named or given by its ufunc, of every entry of ``x``."""
    op = _elemental(what)
    v = x.v
    r = _value(what, op, v) if value is None else value
    if x.s.tape is None:
        return held(np.array(r, order="K")) if r is v else held(r)
    tape = common_tape(x)
    if r.base is not None or r is v:
        r = r.copy(order="K")
    if not r.size:
        return constant(tape, r)
    if x.s.ids is not None and x.has_constants():
        return _unary_mixed(tape, op, x, r)
    if r.dtype != tape.dtype:
        r = r.astype(tape.dtype)
    block = tape.unary(op, entrywise(x, r), r.ravel("K"))
    return scalar_or_array(tape, r, block)


def root(x: Any) -> Any:
    """Root of a sum of squares; its derivatives are 0 at 0 on a tape that takes branches."""
    what = "norm" if x.tape is not None and x.tape.branch else np.sqrt
    return apply_unary(what, x) if isinstance(x, TVar) else unary(what, x)


def _unary_mixed(tape: Tape, op: Elemental, x: ArrayBase, r: Floats) -> Any:
    ids = memory_order(x._ids(), r)
    live = np.flatnonzero(ids >= 0)
    if not live.size:
        return constant(tape, r)
    block = tape.unary(op, Operand(0, (1,), ids[live]), r.ravel("K")[live])
    return _scatter(tape, r, [(live, block.start)])


def _scatter(tape: Tape, r: Floats, parts: list[tuple[Any, int]]) -> Any:
    flat = np.full(r.size, -1, dtype=np.int64)
    for where, start in parts:
        flat[where] = np.arange(start, start + len(where))
    if not r.ndim:
        return scalar(tape, int(flat[0]), r)
    out = from_ids(tape, r, np.empty(r.shape, dtype=np.int64))
    out.s.ids = flat
    return out


def binary(what: Any, x: Any, y: Any, value: Any = None) -> Any:
    """Record an elemental of two operands, entry by entry with broadcasting.

    Operands are recorded arrays or scalars, numbers, arrays, or nested lists of them.
    """
    op = _elemental(what)
    if value is None:
        found = _binary_rows(what, op, x, y)
        if found is not None:
            return found
    x = as_operand(x, y)
    y = as_operand(y, x)
    xv, yv = _values(x), _values(y)
    x_live, y_live = _recorded(x), _recorded(y)
    if not (x_live or y_live):
        r = _value(what, op, xv, yv) if value is None else value
        return held(r) if isinstance(x, ArrayBase) or isinstance(y, ArrayBase) else r
    tape = common_tape(x, y)
    if tape.magtype is _SINGLE:
        xv, yv = _cast(xv, tape.dtype), _cast(yv, tape.dtype)
    r = _value(what, op, xv, yv) if value is None else value
    if r.dtype != tape.dtype:
        if r.dtype.kind == "c" and not tape.is_complex:
            refuse_imaginary()
        r = r.astype(tape.dtype)
    if not r.size:
        return constant(tape, r)
    if (x_live and _mixed(x)) or (y_live and _mixed(y)):
        return _binary_mixed(tape, op, x, y, r)
    if tape.box is not None:
        r = np.full_like(r, np.nan)  # np.fmax(nan, 1) is 1, for one
    if x_live and y_live:
        block: Any = tape.binary(op, _operand(x, r), _operand(y, r), r.ravel("K"))
    elif x_live:
        const = _const(yv, r, tape)
        block = tape.fixed(op, _operand(x, r), 0, const, r.ravel("K"))
    else:
        const = _const(xv, r, tape)
        block = tape.fixed(op, _operand(y, r), 1, const, r.ravel("K"))
    return scalar_or_array(tape, r, block)


def _binary_rows(what: Any, op: Elemental, x: Any, y: Any) -> Any:
    """The short way for the commonest operands; None for others.

    They are an array in C order, and a number, a scalar variable or another such array.
    """
    concrete = ArrayBase.concrete
    array = x if x.__class__ is concrete else y
    if array.__class__ is not concrete or array.s.tape is None:
        return None
    tape, shape = array.s.tape, array.v.shape
    left, right = _row(x, tape, shape), _row(y, tape, shape)
    if left is None or right is None or tape.box is not None:
        return None
    if right.__class__ is not Operand:
        r = _typed(_value(what, op, x.v, y), tape)
        const = np.array([y], dtype=tape.dtype)
        block: Any = tape.fixed(op, left, 0, const, r.ravel())
    elif left.__class__ is not Operand:
        r = _typed(_value(what, op, x, y.v), tape)
        const = np.array([x], dtype=tape.dtype)
        block = tape.fixed(op, right, 1, const, r.ravel())
    else:
        r = _typed(_value(what, op, x.v, y.v), tape)
        block = tape.binary(op, left, right, r.ravel())
    return fresh(tape, r, block.start, block)


def _typed(r: Floats, tape: Tape) -> Floats:
    return r if r.dtype is tape.dtype else r.astype(tape.dtype, copy=False)


def _row(x: Any, tape: Tape, shape: tuple[int, ...]) -> Any:
    """A number itself, or the operand in C order; None for what is not that simple."""
    kind = x.__class__
    if kind is float or (kind is int and abs(x) < _EXACT):
        return x
    if kind is TVar:
        return Operand(x.i, (0,)) if x.tape is tape else None
    if kind is not ArrayBase.concrete or x.s.tape is not tape:
        return None
    s, v = x.s, x.v
    if v.shape != shape or not (v.flags.c_contiguous and v.size and v.ndim):
        return None
    if s.ids is None:
        return Operand(s.start + x._position()) if s.start >= 0 else None
    # A copy of the ids, since the array may be written to.
    return None if s.has_constants() else Operand(0, (1,), x._ids().flatten())


def _binary_mixed(tape: Tape, op: Elemental, x: Any, y: Any, r: Floats) -> Any:
    xi = _flat_ids(x, r)
    yi = _flat_ids(y, r)
    rv = r.ravel("K")
    if tape.box is not None:
        rv[(xi >= 0) | (yi >= 0)] = np.nan
    parts: list[tuple[Any, int]] = []
    both = np.flatnonzero((xi >= 0) & (yi >= 0))
    if both.size:
        args = (Operand(0, (1,), xi[both]), Operand(0, (1,), yi[both]), rv[both])
        parts.append((both, tape.binary(op, *args).start))
    left = np.flatnonzero((xi >= 0) & (yi < 0))
    if left.size:
        const = _const(_values(y), r, tape, full=True)[left]
        block = tape.fixed(op, Operand(0, (1,), xi[left]), 0, const, rv[left])
        parts.append((left, block.start))
    right = np.flatnonzero((xi < 0) & (yi >= 0))
    if right.size:
        const = _const(_values(x), r, tape, full=True)[right]
        block = tape.fixed(op, Operand(0, (1,), yi[right]), 1, const, rv[right])
        parts.append((right, block.start))
    if not parts:
        return constant(tape, r)
    return _scatter(tape, r, parts)


def _cast(v: Any, dtype: Any) -> Any:
    if isinstance(v, np.ndarray) and v.dtype.kind in "fiubc":
        return v.astype(dtype, copy=False)
    return dtype.type(v) if isinstance(v, (np.number, np.bool_)) else v


def _recorded(x: Any) -> bool:
    return _tape_behind(x) is not None


_is_live = _recorded


def _mixed(x: Any) -> bool:
    return isinstance(x, ArrayBase) and x.s.ids is not None and x.has_constants()


def _operand(x: Any, like: Floats) -> Operand:
    return Operand(x.i, (0,)) if isinstance(x, TVar) else entrywise(x, like)


def _values(x: Any) -> Any:
    return x.v if isinstance(x, (ArrayBase, TVar)) else x


def _const(c: Any, like: Floats, tape: Tape, *, full: bool = False) -> Floats:
    c = np.asarray(c)
    if c.size == 1 and not full:
        flat: Floats = c.astype(tape.dtype).reshape(1)
    else:
        flat = memory_order(c, like).astype(tape.dtype, copy=True)
    return flat


def _flat_ids(x: Any, like: Floats) -> Any:
    if isinstance(x, TVar):
        return np.full(like.size, x.i, dtype=np.int64)
    if isinstance(x, ArrayBase):
        return memory_order(x.node_ids(), like)
    return np.full(like.size, -1, dtype=np.int64)


_UFUNC = {sign: ufunc for ufunc, sign in COMPARISONS.items()}


def compare(x: Any, y: Any, sign: str) -> Any:
    """Compare entry by entry; gives a plain boolean array.

    Raises:
        NondifferentiableError: Where two entries tie exactly and the comparison is not
            of a node with itself (equality with a constant is a guard, never a kink),
            unless the tape takes branches.
        DomainError: Where a recorded entry is NaN, unless a node is asked whether it
            equals itself.
        UndecidedError: Where it holds at some points of the box only.
    """
    if sign in EQUALITY:
        for one, other in ((x, y), (y, x)):
            if is_foreign(one):
                return np.full(np.shape(_values(other)), sign == "!=")[()]
    x = as_operand(x, y)
    y = as_operand(y, x)
    xv, yv = _values(x), _values(y)
    tape = common_tape(x, y) if _recorded(x) or _recorded(y) else None
    if tape is not None:
        if tape.box is not None:
            return _over_box(tape, x, y, sign)
        if tape.is_complex and sign not in EQUALITY:
            refuse_complex(
                f"the comparison ({sign})", "has no meaning: no order exists"
            )
    r = _UFUNC[sign](xv, yv)
    if tape is not None:
        decided(tape, sign, x, y, np.shape(r), equality=sign in EQUALITY)
    ties = np.equal(xv, yv)
    if ties.any() or any(_is_live(e) and np.isnan(e.v).any() for e in (x, y)):
        _settle(x, y, sign, ties)
    return r


def _over_box(tape: Tape, x: Any, y: Any, sign: str) -> Any:
    """A comparison that has the same answer all over the box."""
    i, j = _ids(x), _ids(y)
    if tape.element is not None:
        return elements_compared(tape, (i, j), (_values(x), _values(y)), sign)
    a, b = ends(tape, i, _values(x)), ends(tape, j, _values(y))
    yes, open_ = compared(a, b, sign, (i == j) & (i >= 0))
    if np.any(open_):
        at = tuple(np.argwhere(open_)[0])
        left, right = (
            shown(*(np.broadcast_to(e, np.shape(open_))[at] for e in pair))
            for pair in (a, b)
        )
        where = f"entry {list(map(int, at))} of the comparison " if at else ""
        refuse_undecided(f"{where}{left} {sign} {right}")
    return np.asarray(yes, dtype=bool)[()]


def _ids(x: Any) -> Any:
    if isinstance(x, TVar):
        return np.array(x.i)
    return x.node_ids() if isinstance(x, ArrayBase) else np.full(np.shape(x), -1)


def _settle(x: Any, y: Any, sign: str, ties: Any) -> None:
    """Refuse what is undecided, or note the ties of a tape that takes branches."""
    like = np.empty(np.shape(ties))
    xs, ys = (np.broadcast_to(_values(e), like.shape).ravel() for e in (x, y))
    xi, yi = _flat_ids(x, like), _flat_ids(y, like)
    tied = np.ravel(ties) & (xi != yi)
    lost = (np.isnan(xs) & (xi >= 0)) | (np.isnan(ys) & (yi >= 0))
    if sign in EQUALITY:
        tied &= (xi >= 0) & (yi >= 0)
        lost &= xi != yi
    if lost.any():
        at = int(np.flatnonzero(lost)[0])
        node = int(xi[at] if np.isnan(xs[at]) and xi[at] >= 0 else yi[at])
        values = (xs[at].item(), ys[at].item())
        refuse_nan(f"entry {at} of the comparison ({sign})", node, values)
    tape = None if not tied.any() else common_tape(x, y)
    if tape is not None and tape.detached:
        tied &= ~(detached(tape, xi) & detached(tape, yi))
    if tape is not None and tape.branch:
        if tied.any():
            note(tape, sign, np.maximum(xi, yi)[tied], xs[tied], ys[tied])
    elif tied.any():
        at = int(np.flatnonzero(tied)[0])
        tie = xs[at].item()
        node = int(max(xi[at], yi[at]))
        refuse_tie(f"entry {at} of the comparison ({sign}), {tie!r}", node, (tie, tie))
