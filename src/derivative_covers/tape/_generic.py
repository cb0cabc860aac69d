"""Elementals of scalar variables of any backend: NumPy evaluates, the backend records.

The tape has faster ways of its own; every other :class:`CoverVar` comes here.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np

from ..elementals import Elemental, Rule, answers, by_name, by_ufunc
from ..errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    UnsupportedOperationError,
)
from ._operators import Operators
from ._refusals import (
    is_foreign,
    refuse_huge,
    refuse_imaginary,
    refuse_nan,
    refuse_tie,
)

__all__ = [
    "COMPARISONS",
    "EQUALITY",
    "TESTS",
    "TIES",
    "applies",
    "apply",
    "decide",
    "is_number",
    "numpy_ufunc",
    "run",
    "ufunc_name",
]

TESTS = {np.isfinite, np.isnan, np.isinf, np.signbit}
COMPARISONS = {
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
}
EQUALITY = frozenset(("==", "!="))
_UFUNC = {sign: ufunc for ufunc, sign in COMPARISONS.items()}

# The selection of one of two operands: no kink where both are one node.
TIES = frozenset(("maximum", "minimum", "fmax", "fmin"))
# Exponents with an elemental of their own, which is exact under scaling.
_POWERS = {2: "square", 0.5: "sqrt", -1: "reciprocal"}


def ufunc_name(ufunc: Any) -> str:
    """Registry name of a ufunc: those of scipy.special carry their module.

    A ufunc of somebody else never answers to the name of one of NumPy's.
    """
    name: str = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        return name
    if getattr(sys.modules.get("scipy.special"), name, None) is ufunc:
        return f"special.{name}"
    return f"{name} (not numpy.{name})" if hasattr(np, name) else name


def is_number(x: Any) -> bool:
    """Whether ``x`` is a number, or a 0-d array of one."""
    if isinstance(x, (float, int, complex, np.number, np.bool_)):
        return True
    return isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in "fiub"


def applies(ufunc: Any) -> bool:
    """Whether :func:`apply` knows a ufunc."""
    known = ufunc in COMPARISONS or ufunc in TESTS or ufunc is np.floor_divide
    return known or answers(ufunc_name(ufunc))


def apply(what: Any, *operands: Any) -> Any:
    """Apply an elemental, given by name or ufunc, to variables, numbers and arrays."""
    named = isinstance(what, str)
    if not named and what in COMPARISONS:
        x, y = operands
        return decide(x, y, COMPARISONS[what])
    if not all(isinstance(x, Operators) or is_number(x) for x in operands):
        return _each(what, operands)
    if not any(isinstance(x, Operators) for x in operands):
        return by_name(what).value(np, *operands) if named else what(*operands)
    if not named and what in TESTS:
        return what(operands[0].v)
    if named and what == "power" and is_number(operands[1]):
        special = _POWERS.get(operands[1])
        if special:
            return run(by_name(special), operands[:1])
    if what is np.floor_divide:
        return apply("floor", apply("divide", *operands))
    return run(by_name(what) if named else by_ufunc(ufunc_name(what)), operands)


def run(op: Elemental, operands: tuple[Any, ...]) -> Any:
    """Evaluate an elemental and hand it to the recorder of the operands' backend.

    A constant operand is folded: its rule is that of the other operand alone. Where the
    elemental has no derivative, the result is marked so.
    """
    variables = [x for x in operands if isinstance(x, Operators)]
    live = [x for x in variables if not x.is_constant]
    lead = (live or variables)[0]
    backend: Any = type(lead)
    for x in variables:
        if not isinstance(x, backend) and not isinstance(lead, type(x)):
            msg = (
                f"{op.name} got variables of two backends, {backend.__name__} and "
                f"{type(x).__name__}; run a program on one of them at a time."
            )
            raise InputTypeError(msg)
    T = np.result_type(*(np.asarray(x.v).dtype for x in live or variables)).type
    values = tuple(_number(x, T) for x in operands)
    with np.errstate(all="ignore"):
        v = T(op.value(np, *values))
        if not live:
            return backend(v)
        same = len(live) == 2 and live[0] is live[1]
        rule = _rule(op, operands, live)
        found = [T(e) for e in rule.partials(np, *values, v)]
        if len(live) == 1:
            out = lead.unarynode(v, *found)
        elif same:
            d1, d2, c11, c12, c22 = found
            out = lead.unarynode(v, d1 + d2, c11 + 2 * c12 + c22)
        else:
            out = lead.binarynode(live[1], v, *found)
        bad = rule.domain is not None and not np.all(rule.domain(np, *values))
        kink = rule.kink is not None and bool(np.any(rule.kink(np, *values)))
    if kink and same and op.name in TIES:
        kink = False
    return out.without_derivative(_reason(op, values, v, kink)) if bad or kink else out


def _rule(op: Elemental, operands: tuple[Any, ...], live: list[Any]) -> Rule:
    if op.arity == 1 or len(live) == 2:
        return op.rule
    return op.rule_first() if operands[0] is live[0] else op.rule_second()


def _number(x: Any, T: Any) -> Any:
    value = x.v if isinstance(x, Operators) else x
    if isinstance(value, (complex, np.complexfloating)):
        refuse_imaginary()
    try:
        return T(value)
    except OverflowError:
        refuse_huge()


def _reason(
    op: Elemental, values: tuple[Any, ...], v: Any, kink: bool
) -> DomainError | NondifferentiableError:
    floats = tuple(map(float, values))
    shown = f"{op.name}({', '.join(map(repr, floats))})"
    if kink:
        msg = (
            f"{shown} is exactly at a kink or jump, where it has no derivative. Evaluate "
            "at another point, or guard it with np.where."
        )
        return NondifferentiableError(msg, elemental=op.name, values=floats)
    msg = (
        f"{shown} = {float(v)!r} is not in the open domain where the elemental is twice "
        "continuously differentiable with finite partials. Evaluate at another point, or "
        "guard it with np.where."
    )
    return DomainError(msg, elemental=op.name, values=floats)


def decide(x: Any, y: Any, sign: str) -> Any:
    """Compare two scalars by value; ties of a variable and NaN raise."""
    for one in (x, y):
        if not (isinstance(one, Operators) or is_number(one)):
            if sign in EQUALITY and is_foreign(one):
                return sign == "!="
            return _each(_UFUNC[sign], (x, y))
    xv = x.v if isinstance(x, Operators) else x
    yv = y.v if isinstance(y, Operators) else y
    x_var = isinstance(x, Operators) and not x.is_constant
    y_var = isinstance(y, Operators) and not y.is_constant
    same = x is y
    if xv == yv:
        guard = sign in EQUALITY and not (x_var and y_var)
        if (x_var or y_var) and not same and not guard:
            refuse_tie(f"{float(xv)!r} {sign} {float(yv)!r}", None, (xv, yv))
    elif ((x_var and xv != xv) or (y_var and yv != yv)) and not (
        same and sign in EQUALITY  # x != x asks for NaN
    ):
        refuse_nan(f"{float(xv)!r} {sign} {float(yv)!r}", None, (xv, yv))
    return bool(_UFUNC[sign](xv, yv))


def _each(what: Any, operands: tuple[Any, ...]) -> Any:
    """Apply an elemental entry by entry; gives an object array, booleans for tests."""

    def entry(*entries: Any) -> Any:
        for x in entries:
            if not (isinstance(x, Operators) or is_number(x)):
                _refuse_operand(x)
        return apply(what, *entries)

    found = np.frompyfunc(entry, len(operands), 1)(*map(_objects, operands))
    if not isinstance(what, str) and (what in COMPARISONS or what in TESTS):
        return np.asarray(found, dtype=bool)[()]
    kinds = {type(x) for x in operands if isinstance(x, np.ndarray)} - {np.ndarray}
    return found.view(kinds.pop()) if kinds and isinstance(found, np.ndarray) else found


def _refuse_operand(x: Any) -> NoReturn:
    if isinstance(x, (complex, np.complexfloating)):
        refuse_imaginary()
    msg = (
        f"an operand of type {type(x).__name__} met a variable; real numbers, arrays of "
        "them and variables are needed."
    )
    raise InputTypeError(msg)


def _objects(x: Any) -> Any:
    if isinstance(x, Operators):
        boxed = np.empty((), dtype=object)
        boxed[()] = x
        return boxed
    return np.asarray(x).astype(object)


def numpy_ufunc(ufunc: Any, method: str, inputs: Any, kw: dict[str, Any]) -> Any:
    """What ``__array_ufunc__`` does for scalars of a backend among arrays."""
    out = kw.pop("out", None)
    target = out[0] if isinstance(out, tuple) else out
    if target is not None and target.dtype.kind != "O":
        msg = (
            f"np.{ufunc.__name__} was to write variables into a plain array, which would "
            "drop their derivative (A += x does this). Write A = A + x, or start from "
            "np.zeros_like(x)."
        )
        raise UnsupportedOperationError(msg)
    if method != "__call__" or kw or ufunc.nout != 1:
        options = f" with {', '.join(sorted(kw))}" if kw else ""
        msg = (
            f"np.{ufunc.__name__} as {method}{options} has no rule for variables of this "
            "backend; use np.where, np.sum or a loop."
        )
        raise UnsupportedOperationError(msg)
    result = apply(ufunc, *inputs)
    if target is None:
        return result
    target[...] = result
    return target
