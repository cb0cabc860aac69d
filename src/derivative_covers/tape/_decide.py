"""Decisions over a box: the same at every point of it, or an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..elements import Interval, as_elements
from ..errors import UndecidedError, UnsupportedOperationError
from ._elements import compare
from ._kinks import settle_tie

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = [
    "compared",
    "decided_int",
    "elements_compared",
    "ends",
    "interval",
    "refuse_over_box",
    "refuse_undecided",
    "scalar_compared",
    "settled_order",
    "shown",
]

Pair = tuple[Any, Any]
_FALSE_WITH_NAN = frozenset(("<", "<=", ">", ">=", "=="))


def ends(tape: Tape, ids: Any, v: Any) -> Pair:
    """Ends of entries: nodes where ``ids`` is not negative, the numbers ``v`` elsewhere."""
    ids = np.asarray(ids)
    v = np.asarray(v, dtype=np.float64)
    live = ids >= 0
    if live.all():
        return tape.enclosures.of(ids)
    lo, hi = v.copy(), v.copy()
    if live.any():
        lo[live], hi[live] = tape.enclosures.of(ids[live])
    return lo, hi


def interval(tape: Tape, ids: Any, v: Any) -> Any:
    """The same as :func:`ends`, as an :class:`Interval`; or the elements themselves."""
    if tape.element is not None:
        return elements(tape, ids, v)
    lo, hi = ends(tape, ids, v)
    return Interval(lo[()], hi[()])


def elements(tape: Tape, ids: Any, v: Any) -> Any:
    """Numbers of the tape's type: nodes, and the constants ``v`` where ids are negative."""
    ids = np.asarray(ids)
    found = np.empty(ids.shape, dtype=object)
    live = ids >= 0
    found[live] = tape.enclosures.held(ids[live])
    if not live.all():
        assert tape.element is not None
        found[~live] = as_elements(np.asarray(v)[~live], tape.element)
    return found[()]


def _element_compared(tape: Tape, x: Any, y: Any, sign: str) -> bool:
    (i, v), (j, w) = x, y
    if i == j and i >= 0:
        return sign in ("<=", ">=", "==")
    yes, tied = compare(v, w, sign)
    if yes is None:
        refuse_undecided(f"{v!r} {sign} {w!r}")
    if tied and ((i >= 0 and j >= 0) or sign not in ("==", "!=")):
        settle_tie(tape, sign, (i, j), (v, w))
    return yes


def elements_compared(
    tape: Tape, ids: tuple[Any, Any], values: tuple[Any, Any], sign: str
) -> Any:
    """A comparison of arrays of numbers of the tape's type, entry by entry.

    Raises:
        UndecidedError: If an entry is a set that does not decide it.
        NondifferentiableError: If two entries of different nodes tie.
    """
    both = [(i, elements(tape, i, v)) for i, v in zip(ids, values, strict=True)]
    i, v, j, w = np.broadcast_arrays(*both[0], *both[1])
    found = [
        _element_compared(tape, (a, x), (b, y), sign)
        for a, x, b, y in zip(
            i.ravel().tolist(), v.ravel().tolist(), j.ravel().tolist(),
            w.ravel().tolist(), strict=True,
        )
    ]  # fmt: skip
    return np.array(found, dtype=bool).reshape(i.shape)[()]


def shown(lo: Any, hi: Any) -> str:
    """An interval in a message."""
    return f"[{float(lo)!r}, {float(hi)!r}]"


def refuse_undecided(what: str) -> NoReturn:
    """Raise for a question whose answer is not the same everywhere in the box.

    Raises:
        UndecidedError: Always.
    """
    msg = (
        f"{what}: as far as the enclosures tell, the answer is not the same at every "
        "point of the box, so that the program takes different branches. Split the box, "
        "or write the program without the branch."
    )
    raise UndecidedError(msg)


def refuse_over_box(name: str, instead: str = "") -> NoReturn:
    """Raise for a function that looks at values and has no decision over a box.

    Raises:
        UnsupportedOperationError: Always.
    """
    msg = (
        f"{name} is not available for variables that range over a box, or hold numbers "
        "of another type than floats and complex numbers: its result follows from their "
        "values in a way that intervals do not decide. "
    )
    msg += instead or (
        "Record at a point of floats, write it with supported functions, or keep it away from the "
        "variables."
    )
    raise UnsupportedOperationError(msg)


def _less(x: Pair, y: Pair, same: Any, apart: Any, strict: bool) -> tuple[Any, Any]:
    """Where ``x < y`` (or ``x <= y``) holds everywhere, and where nowhere.

    Neither where ends touch: a tie within the box is a kink, as at a point.
    """
    yes, no = x[1] < y[0], x[0] > y[1]
    return (yes & apart, no | same) if strict else (yes | same, no & apart)


def compared(x: Pair, y: Pair, sign: str, same: Any) -> tuple[Any, Any]:
    """Answers of a comparison, and where they are undecided.

    ``same`` says where both are one node. NaN compares as in NumPy.
    """
    apart = not same if isinstance(same, bool) else ~same
    if sign in ("==", "!="):
        yes = ((x[0] == x[1]) & (x[1] == y[0]) & (y[0] == y[1])) | same
        no = ((x[1] < y[0]) | (y[1] < x[0])) & apart
    elif sign[0] == "<":
        yes, no = _less(x, y, same, apart, sign == "<")
    else:
        yes, no = _less(y, x, same, apart, sign == ">")
    no = no | (x[0] != x[0]) | (y[0] != y[0])
    if sign == "!=":
        yes, no = no, yes
    return yes, (yes | no) ^ True


def scalar_compared(tape: Tape, x: Any, y: Any, sign: str) -> bool:
    """A comparison of two scalars, each a pair of node id and number.

    Raises:
        UndecidedError: If it holds at some points of the box only.
    """
    (i, v), (j, w) = x, y
    if tape.element is not None:
        return _element_compared(
            tape, (i, elements(tape, i, v)), (j, elements(tape, j, w)), sign
        )
    a, b = (
        tape.enclosures.at(i) if i >= 0 else (v, v),
        (tape.enclosures.at(j) if j >= 0 else (w, w)),
    )
    yes, open_ = compared(a, b, sign, i == j and i >= 0)
    if open_:
        refuse_undecided(f"{shown(*a)} {sign} {shown(*b)}")
    return bool(yes)


def decided_int(tape: Tape, i: int, v: Any) -> int:
    """``int()`` of a scalar, which has to be the same everywhere.

    Raises:
        UndecidedError: If it jumps within the box.
    """
    lo, hi = ends(tape, i, v)
    if (
        not (np.isfinite(lo) and np.isfinite(hi))
        or int(lo) != int(hi)
        or (int(lo) in (lo, hi) and int(lo) != 0)
    ):
        refuse_undecided(f"int() of {shown(lo, hi)}")
    return int(lo)


def settled_order(name: str, x: Pair, ids: Any) -> Any:
    """Order of the entries along the last axis, which is the same everywhere.

    Raises:
        UndecidedError: If two of different nodes may change places.
    """
    lo, hi = x
    order = np.lexsort((hi, lo), axis=-1)
    a, b = (np.take_along_axis(e, order, -1) for e in (lo, hi))
    at = np.take_along_axis(ids, order, -1)
    one = at[..., 1:] == at[..., :-1]
    apart = b[..., :-1] < a[..., 1:]
    nan = np.isnan(a[..., 1:]) | np.isnan(a[..., :-1])
    bad = ~(one | (apart & ~nan))
    if bad.any():
        k = tuple(np.argwhere(bad)[0])
        n = (*k[:-1], k[-1] + 1)
        refuse_undecided(
            f"the order of {shown(a[k], b[k])} and {shown(a[n], b[n])} in {name}"
        )
    return order
