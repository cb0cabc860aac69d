"""Comparisons of scalar variables: plain answers, kept as guards of a replay."""

from __future__ import annotations

from typing import Any

from ._decide import scalar_compared
from ._generic import EQUALITY, is_number
from ._holomorphic import refuse_complex
from ._hooks import array_layer
from ._kinks import settle_tie
from ._refusals import is_foreign, refuse_nan, refuse_two_tapes
from ._tvar import COMPLEX, TVar

__all__: list[str] = []

_IF_LESS = {"<": True, "<=": True, "!=": True, ">": False, ">=": False, "==": False}
_IF_GREATER = {**_IF_LESS, "<": False, "<=": False, ">": True, ">=": True}


def _compare(x: Any, y: Any, sign: str) -> Any:
    kind = y.__class__
    if x.__class__ is TVar and (kind is float or kind is int or kind is TVar):
        tape = x.tape
        if (
            tape is not None
            and tape.box is None
            and not (tape.finished or tape.is_complex)
            and (kind is not TVar or y.tape is tape)
        ):
            xv, yv, j = (x.v, y.v, y.i) if kind is TVar else (x.v, y, -1)
            less = xv < yv
            if less or xv > yv:  # no tie, no NaN
                keep = tape.guards.scalars.extend
                keep((sign, x.i, j, xv, yv))
                return (_IF_LESS if less else _IF_GREATER)[sign]
    return _compare_with_care(x, y, sign)


def _compare_with_care(x: Any, y: Any, sign: str) -> Any:
    xt, yt = x.__class__ is TVar, y.__class__ is TVar
    if not (xt or is_number(x)) or not (yt or is_number(y)):
        if sign in EQUALITY and (is_foreign(x) or is_foreign(y)):
            return sign == "!="
        return array_layer().compare(x, y, sign)
    xv = x.v if xt else x
    yv = y.v if yt else y
    x_var = xt and x.tape is not None
    y_var = yt and y.tape is not None
    if x_var and y_var and x.tape is not y.tape:
        refuse_two_tapes()
    if sign not in EQUALITY and (isinstance(xv, COMPLEX) or isinstance(yv, COMPLEX)):
        refuse_complex(f"the comparison ({sign})", "has no meaning: they have no order")
    for tape in (x.tape if x_var else None, y.tape if y_var else None):
        if tape is not None:
            if tape.finished:
                tape.put(())
            if tape.box is not None:
                pair = ((x.i, xv) if xt else (-1, xv)), ((y.i, yv) if yt else (-1, yv))
                return scalar_compared(tape, *pair, sign)
    if x_var or y_var:  # before a tie is refused: the program may catch that
        tape = x.tape if x_var else y.tape
        compared = tape.guards.scalars.extend
        compared((sign, x.i if x_var else -1, y.i if y_var else -1, xv, yv))
    same = x_var and y_var and x.i == y.i
    if xv == yv:
        guard = sign in EQUALITY and not (x_var and y_var)
        if (x_var or y_var) and not same and not guard:
            ids = (x.i if x_var else -1, y.i if y_var else -1)
            settle_tie(x.tape if x_var else y.tape, sign, ids, (xv, yv))
    elif ((x_var and xv != xv) or (y_var and yv != yv)) and not (
        same and sign in EQUALITY  # x != x asks for NaN
    ):
        node = x.i if x_var and xv != xv else y.i
        refuse_nan(f"{xv!r} {sign} {yv!r}", node, (xv, yv))
    if sign == "<":
        return bool(xv < yv)
    if sign == "<=":
        return bool(xv <= yv)
    if sign == ">":
        return bool(xv > yv)
    if sign == ">=":
        return bool(xv >= yv)
    return bool(xv == yv) if sign == "==" else bool(xv != yv)


TVar._decide = staticmethod(_compare)
