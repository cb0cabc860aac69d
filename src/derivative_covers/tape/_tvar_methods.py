"""Methods of scalar variables that are made from one text: operators, and NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementals import by_name, opcode
from ._hooks import array_layer
from ._tvar import TVar, apply_binary

__all__: list[str] = []

# One text for eight methods: a call less an operation is a fifth of its cost.
# A bound attribute is called by way of a local name: Python looks up `tape.next()` as a
# method first, which takes longer than the rest of the line.
_OPERATOR = """
def method(self, other):
    tape = self.tape
    kind = other.__class__
    try:
        if kind is TVar:
            if tape is not other.tape or tape is None:
                return slow(name, {left}, {right})
            v = {left_v} {sign} {right_v}
            row = ({pair}, {left_i}, {right_i}, v)
        elif tape is None:
            return slow(name, {left}, {right})
        else:
            if kind is not float and kind is not int:
                if kind is not float64 or tape.scalar is not float:
                    return slow(name, {left}, {right})
                other = float(other)
            v = {left_n} {sign} {right_n}
            row = ({fixed}, self.i, other, v)
        ahead = tape.next
        i = ahead()
    except (ZeroDivisionError, OverflowError):
        return slow(name, {left}, {right})
    except StopIteration:
        i = tape.next_after_flush()
    put = tape.put
    put(row)
    out = new(TVar)
    out.tape = tape
    out.i = i
    out.v = v
    return out
"""


def _operator(method: str, name: str, sign: str, reflected: bool) -> Any:
    code = 4 * opcode(by_name(name))
    parts = {"sign": sign, "pair": code + 1, "fixed": code + (3 if reflected else 2)}
    for side, mine in (("left", not reflected), ("right", reflected)):
        who = "self" if mine else "other"
        parts[side] = who
        parts[f"{side}_v"] = f"{who}.v"
        parts[f"{side}_i"] = f"{who}.i"
        parts[f"{side}_n"] = "self.v" if mine else "other"
    scope = {
        "TVar": TVar,
        "new": object.__new__,
        "slow": apply_binary,
        "float64": np.float64,
        "name": name,
    }
    exec(_OPERATOR.format(**parts), scope)
    made = scope["method"]
    made.__name__ = made.__qualname__ = method  # type: ignore[attr-defined]
    return made


for _method_name, _name, _sign in (
    ("add", "add", "+"),
    ("sub", "subtract", "-"),
    ("mul", "multiply", "*"),
    ("truediv", "divide", "/"),
):
    for _r in ("", "r"):
        _dunder = f"__{_r}{_method_name}__"
        setattr(TVar, _dunder, _operator(_dunder, _name, _sign, bool(_r)))


def _array_method(name: str) -> Any:
    """A method that NumPy's scalars share with arrays."""

    def method(self: TVar, *args: Any, **kw: Any) -> Any:
        if self.tape is None:
            return getattr(np.asarray(self.v)[()], name)(*args, **kw)
        r = getattr(array_layer().array(self), name)(*args, **kw)
        return r.item() if getattr(r, "shape", None) == () and hasattr(r, "item") else r

    method.__name__ = name
    method.__qualname__ = f"TVar.{name}"
    method.__doc__ = f"As `numpy.float64.{name}`."
    return method


for _shared in [
    "all",
    "any",
    "argmax",
    "argmin",
    "astype",
    "clip",
    "cumprod",
    "cumsum",
    "dot",
    "flatten",
    "max",
    "mean",
    "min",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "squeeze",
    "std",
    "sum",
    "tolist",
    "trace",
    "transpose",
    "var",
]:
    setattr(TVar, _shared, _array_method(_shared))
