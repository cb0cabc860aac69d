"""Selection by plain conditions, and what rounds or takes parts: no new rule needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import stored
from ._convert import tape_of
from ._decisions import by_finiteness, by_pairs, refuse_replay
from ._elementwise import binary, common_tape, compare, unary
from ._protocol import as_array, implements
from ._storage import ArrayBase, assembled, constant
from ._tvar import TVar, apply_unary

__all__ = ["truth", "where"]


def truth(condition: Any) -> Any:
    """A condition as plain booleans; recorded values are compared with zero."""
    if tape_of(condition) is None:
        return condition
    if isinstance(condition, TVar):
        return bool(condition)
    return compare(as_array(condition), 0.0, "!=")


@implements(np.where)
def where(condition: Any, *choices: Any) -> Any:
    """Every entry keeps the node of the chosen operand; the other leaves nothing."""
    chosen = truth(condition)
    if not choices or tape_of(*choices) is None:
        return np.where(chosen, *choices)
    first, second = choices
    x, y = as_array(first, second), as_array(second, first)
    tape = common_tape(x, y)
    r = np.where(chosen, x.v, y.v)
    if not (x._depends or y._depends):
        return constant(tape, r)
    return assembled(tape, r, np.where(chosen, x.node_ids(), y.node_ids()))


@implements(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The choice of the first condition that holds."""
    if len(condlist) != len(choicelist):
        msg = "list of cases must be same length as list of conditions"
        raise ValueError(msg)
    if not len(condlist):
        msg = "select with an empty condition list is not possible"
        raise ValueError(msg)
    r = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        r = np.where(truth(condition), choice, r)
    return r


@implements(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Each function where its condition holds."""
    a = as_array(x)
    if np.isscalar(condlist) or (np.ndim(condlist[0]) == 0 and a.v.ndim):
        condlist = [condlist]
    masks = [np.broadcast_to(truth(c), a.v.shape) for c in condlist]
    n = len(masks)
    if len(funclist) == n + 1:
        masks.append(~np.any(masks, axis=0))
    elif len(funclist) != n:
        msg = (
            f"with {n} condition(s), either {n} or {n + 1} functions are expected; got "
            f"{len(funclist)}"
        )
        raise ValueError(msg)
    out = np.zeros_like(a)
    for mask, function in zip(masks, funclist, strict=True):
        if mask.any():
            chosen = function(a[mask], *args, **kw) if callable(function) else function
            out[mask] = chosen
    return out


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """The entries where the condition holds."""
    return as_array(arr).ravel()[np.ravel(truth(condition)).astype(bool)]


@implements(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """The slices where the condition holds."""
    return stored(as_array(a).compress(truth(condition), axis), out)


@implements(np.nan_to_num)
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """Numbers in the place of what is not finite."""
    a = as_array(x, nan, posinf, neginf)
    by_finiteness("numpy.nan_to_num", a)
    fills = [np.isnan(a.v), np.isposinf(a.v), np.isneginf(a.v)]
    given = [nan, posinf, neginf]
    bare: list[Any] = [e.v if isinstance(e, (ArrayBase, TVar)) else e for e in given]
    r = np.nan_to_num(a.v, nan=bare[0], posinf=bare[1], neginf=bare[2])
    found = assembled(a.tape, r, np.where(np.isfinite(a.v), a.node_ids(), -1))
    for chosen, fill in zip(fills, given, strict=True):
        if tape_of(fill) is not None:
            found = np.where(chosen, fill, found)
    if copy or a is not x:
        return found
    a[...] = found
    return a


# -- rounding, parts, and functions made of one elemental ------------------------------


def _apply(what: Any, x: Any) -> Any:
    return apply_unary(what, x) if isinstance(x, TVar) else unary(what, x)


@implements(np.round, np.around)
def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """To the nearest multiple of a power of ten, as NumPy forms it."""
    x = as_array(a)
    if decimals == 0:
        return stored(_apply(np.rint, x), out)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return stored(_apply(np.rint, x * scale) / scale, out)
    return stored(_apply(np.rint, x / scale) * scale, out)


@implements(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    """Towards zero."""
    return stored(_apply(np.trunc, as_array(x)), out)


@implements(np.sinc)
def sinc(x: Any) -> Any:
    """As numpy.sinc."""
    return _apply("sinc", x if isinstance(x, TVar) else as_array(x))


@implements(np.floor_divide)
def floor_divide(x: Any, y: Any) -> Any:
    """The floor of the quotient."""
    r = np.floor_divide(
        *(e.v if isinstance(e, (ArrayBase, TVar)) else e for e in (x, y))
    )
    quotient = as_array(binary(np.divide, x, y))
    found = unary(np.floor, quotient, r)
    # A quotient that rounds to an integer may lie below it: NumPy finds out, its floor
    # does not.
    by_pairs("numpy.floor_divide", quotient, found)
    if isinstance(quotient, ArrayBase):
        whole = np.equal(quotient.v, np.floor(quotient.v))
        if (whole & (quotient.node_ids() >= 0)).any():
            refuse_replay("numpy.floor_divide with a whole quotient", "", quotient)
    return found


@implements(np.conjugate)
def conjugate(x: Any) -> Any:
    """A new array, as the ufunc gives; refused at complex inputs."""
    if isinstance(x, TVar):
        return x
    a = as_array(x)
    return assembled(a.tape, np.conjugate(a.v), a.node_ids())


@implements(np.real, np.real_if_close)
def real(x: Any, tol: Any = None) -> Any:
    """The variable itself; refused at complex inputs."""
    return x if isinstance(x, (ArrayBase, TVar)) else as_array(x)


@implements(np.imag)
def imag(x: Any) -> Any:
    """Zeros; refused at complex inputs."""
    a = as_array(x)
    return constant(a.tape, np.array(a.v.imag))


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """Zero or half a turn, with a jump at zero; refused at complex inputs."""
    found = np.arctan2(0.0, z if isinstance(z, TVar) else as_array(z))
    return found * (180 / np.pi) if deg else found


@implements(np.modf)
def modf(x: Any) -> tuple[Any, Any]:
    """What stands behind and before the decimal point."""
    a = as_array(x)
    part = np.asarray(np.modf(a.v)[0])
    before = _apply(np.trunc, a)
    behind = binary(np.subtract, a, before, part)
    return behind, before


@implements(np.divmod)
def divmod_(x: Any, y: Any) -> tuple[Any, Any]:
    """Floor of the quotient, and remainder."""
    return floor_divide(x, y), np.remainder(x, y)


@implements(np.i0)
def i0(x: Any) -> Any:
    """The modified Bessel function of order zero; its derivatives need scipy."""
    a = as_array(x)
    return unary("i0", a, np.asarray(np.i0(a.v), dtype=a.v.dtype).reshape(a.v.shape))
