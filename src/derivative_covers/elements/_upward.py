"""Magnitudes whose arithmetic rounds upward, as scalars and as arrays."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from derivative_covers.elements import _upward_arithmetic as arithmetic
from derivative_covers.elements._upward_convert import floats, raised
from derivative_covers.errors import UnsupportedOperationError

__all__ = ["Upward"]


class Upward(NDArrayOperatorsMixin):
    """Nonnegative numbers whose arithmetic never falls below the exact result.

    ``+``, ``*``, ``/``, ``sqrt``, ``hypot``, ``square``, ``reciprocal``, integer powers,
    ``sum``, ``dot`` and ``@`` round to nearest and then step to the next number up,
    unless an operand makes the result exact: a zero, or a factor or divisor of one.
    This needs no rounding mode of the processor, since the exact result of a correctly
    rounded operation lies at most one number above what it returned. ``hypot``, powers
    and sums are composed of such operations and may step more than once.

    A bound made of magnitudes by sums, products and roots increases with each of them,
    so the computed bound is at least the exact one. A quotient is an upper bound only
    where its divisor is a chosen number rather than a bound. Subtraction, negation and
    transcendental functions raise instead of losing the bound. Comparisons, maxima and
    minima are exact. Zero times infinity is zero, as everywhere in this package.

    An operation with plain numbers is one of ``Upward``; numbers that the type cannot
    hold are converted upward (a Python number takes the type of its partner, as NumPy
    2 has it). ``float(u)`` and ``numpy.asarray(u)`` give the bare numbers, exactly.
    NumPy reads a *list* of ``Upward`` numbers as bare ones, so write ``Upward([u, v])``.
    ``math`` knows only bare numbers, so ``math.exp(u)`` is a plain number without a guarantee.

    Args:
        x: Nonnegative real numbers: a number, an array or nested lists of them, of
            which a copy is taken. Infinity is allowed.
        dtype: float64 or float32; None keeps that of ``x`` where it is one of the two,
            and is float64 otherwise.

    Raises:
        OptionError: If a number is negative or NaN.
        InputTypeError: If ``x`` does not hold real numbers, or for another ``dtype``.
        DomainError: From an operation without a result: ``0 / 0`` or ``inf / inf``.
        UnsupportedOperationError: From operations that would lose the bound.

    Source:
        IEEE 754-2019, section 4.3: correct rounding to nearest of ``+ * / sqrt``.

    Example:
        >>> from derivative_covers.extend import Upward
        >>> third = Upward(1.0) / 3
        >>> float(third) > 1 / 3, float(third * 3) >= 1
        (True, True)
        >>> Upward([1e308, 0.0]) * 10
        Upward([inf,  0.])
    """

    __slots__ = ("v",)
    __array_priority__ = 3000.0

    v: Any

    def __init__(self, x: Any, dtype: Any = None) -> None:
        self.v = floats(x.v if isinstance(x, Upward) else x, dtype)

    @classmethod
    def _wrap(cls, v: Any) -> Upward:
        out = object.__new__(cls)
        out.v = v if isinstance(v, np.ndarray) and v.ndim else np.asarray(v)[()]
        return out

    shape = property(lambda self: self.v.shape)
    ndim = property(lambda self: self.v.ndim)
    size = property(lambda self: self.v.size)
    dtype = property(lambda self: self.v.dtype)

    @property
    def T(self) -> Upward:
        """The transpose."""
        return self._wrap(self.v.T)

    def __len__(self) -> int:
        return len(self.v)

    def __getitem__(self, key: Any) -> Upward:
        return self._wrap(self.v[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.v.ndim:
            msg = "an Upward scalar has no entries to assign to; make a new one"
            raise TypeError(msg)
        self.v[key] = Upward(value, self.v.dtype).v

    def __float__(self) -> float:
        return float(self.v)

    def __bool__(self) -> bool:
        return bool(self.v)

    def __int__(self) -> NoReturn:
        msg = "an integer below an Upward is no bound; use math.ceil(float(u))"
        raise UnsupportedOperationError(msg)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        target = self.v.dtype if dtype is None else np.dtype(dtype)
        if target.kind in "iu":
            msg = "integers below an Upward are no bounds; use numpy.ceil of its floats"
            raise UnsupportedOperationError(msg)
        if target.kind == "f" and target.itemsize < self.v.itemsize:
            return np.array(raised(self.v, target))
        return np.array(self.v, dtype=target)

    def __repr__(self) -> str:
        text = np.array2string(
            np.asarray(self.v),
            separator=", ",
            prefix="Upward(",
            precision=17,
            floatmode="unique",
        )
        kind = "" if self.v.dtype == np.float64 else f", dtype={self.v.dtype}"
        return f"Upward({text}{kind})"

    def item(self, *index: SupportsIndex) -> float:
        """One entry as a plain number, exactly."""
        return self.v.item(*index)  # type: ignore[no-any-return]

    def copy(self) -> Upward:
        """A copy on memory of its own."""
        return self._wrap(self.v.copy())

    def reshape(self, *shape: Any) -> Upward:
        """As numpy.ndarray.reshape."""
        return self._wrap(self.v.reshape(*shape))

    def ravel(self) -> Upward:
        """As numpy.ndarray.ravel."""
        return self._wrap(self.v.ravel())

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Upward:
        """Sum over some axes, every addition rounded upward, in pairs."""
        return self._wrap(arithmetic.total(self.v, axis, keepdims))

    def dot(self, other: Any) -> Upward:
        """As numpy.dot for up to two dimensions."""
        found: Upward = self @ other if self.ndim and np.ndim(other) else self * other
        return found

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Upward:
        """Largest entry, exactly."""
        return self._wrap(self.v.max(axis=axis, keepdims=keepdims))

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Upward:
        """Smallest entry, exactly."""
        return self._wrap(self.v.min(axis=axis, keepdims=keepdims))

    # -- protocols ---------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        out = kw.pop("out", (None,))[0]
        if method == "reduce" and ufunc in _REDUCTIONS and len(inputs) == 1:
            axis, keepdims = kw.pop("axis", 0), kw.pop("keepdims", False)
            if not kw and out is None:
                reduce = _REDUCTIONS[ufunc]
                return reduce(inputs[0], axis, keepdims=keepdims)
        elif method == "__call__" and not kw:
            if ufunc in _TESTS:
                return ufunc(*map(_wide, inputs))
            rule = arithmetic.RULES.get(ufunc)
            if rule is not None:
                return _stored(rule(*_operands(ufunc, inputs)), out)
        what = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
        return _refuse(what + (f" with {', '.join(kw)}" if kw else ""))

    def __array_function__(self, func: Any, types: Any, args: Any, kw: Any) -> Any:
        rule = _FUNCTIONS.get(func)
        if rule is None:
            return _refuse(f"numpy.{func.__name__}")
        try:
            inspect.signature(rule).bind(*args, **kw)
        except TypeError:
            options = ", ".join(kw) or f"{len(args)} arguments"
            return _refuse(f"numpy.{func.__name__} with {options}")
        return rule(*args, **kw)


def _operands(ufunc: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands of one operation in their common type; exponents stay as they are."""
    if ufunc in (np.power, np.ldexp):
        base, exponent = inputs
        return _lift(base).v, exponent
    # Python numbers take the type of the others, as in NumPy 2.
    types = [_lift(x).v.dtype for x in inputs if type(x) not in (int, float)]
    common = np.result_type(*types)
    return tuple(
        x.v if isinstance(x, Upward) and x.v.dtype == common else Upward(x, common).v
        for x in inputs
    )


def _wide(x: Any) -> Any:
    """Plain numbers for a comparison, none of them rounded to the other's type."""
    return np.asarray(x.v, dtype=np.float64)[()] if isinstance(x, Upward) else x


def _stored(v: Any, out: Any) -> Upward:
    """The result, written into ``out`` where that is an array of Upward."""
    if out is None:
        return Upward._wrap(v)
    if not isinstance(out, Upward):
        msg = (
            f"the result of an Upward operation cannot be stored in a "
            f"{type(out).__name__}; make the target an Upward, or write a = a + u"
        )
        raise UnsupportedOperationError(msg)
    if not out.v.ndim:
        return Upward._wrap(v)
    out.v[...] = raised(v, out.v.dtype)
    return out


def _refuse(what: str) -> NoReturn:
    msg = (
        f"{what} is not defined for Upward: only + * / sqrt hypot, integer powers, sums, "
        "dot products, maxima and minima keep an upper bound. Rewrite the bound with "
        "these, or take float(u) or numpy.asarray(u) where no bound is needed"
    )
    raise UnsupportedOperationError(msg)


_TESTS = {
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.isfinite, np.isinf, np.isnan, np.signbit,
}  # fmt: skip

_REDUCTIONS: dict[Any, Any] = {
    np.add: Upward.sum,
    np.maximum: Upward.max,
    np.minimum: Upward.min,
}


def _lift(x: Any) -> Upward:
    return x if isinstance(x, Upward) else Upward(x)


def _sum(a: Any, axis: Any = None, *, keepdims: bool = False) -> Upward:
    return _lift(a).sum(axis, keepdims=keepdims)


def _max(a: Any, axis: Any = None, *, keepdims: bool = False) -> Upward:
    return _lift(a).max(axis, keepdims=keepdims)


def _min(a: Any, axis: Any = None, *, keepdims: bool = False) -> Upward:
    return _lift(a).min(axis, keepdims=keepdims)


def _dot(a: Any, b: Any) -> Upward:
    return _lift(a).dot(b)


def _inner(a: Any, b: Any) -> Upward:
    if np.ndim(a) > 1 or np.ndim(b) > 1:
        _refuse("numpy.inner of matrices")
    return _lift(a).dot(b)


def _outer(a: Any, b: Any) -> Any:
    return _lift(a).reshape(-1, 1) * _lift(b).reshape(1, -1)


def _where(condition: Any, x: Any, y: Any) -> Upward:
    if isinstance(condition, Upward):
        condition = condition.v != 0
    x, y = _operands(np.maximum, (x, y))
    return Upward._wrap(np.where(condition, x, y))


def _joined(join: Any) -> Any:
    def rule(arrays: Any, axis: int = 0) -> Upward:
        return Upward._wrap(join([_lift(a).v for a in arrays], axis=axis))

    return rule


def _full(fill: float) -> Any:
    def rule(a: Any) -> Upward:
        return Upward._wrap(np.full(a.v.shape, fill, dtype=a.v.dtype))

    return rule


_FUNCTIONS: dict[Any, Any] = {
    np.sum: _sum,
    np.max: _max,
    np.amax: _max,
    np.min: _min,
    np.amin: _min,
    np.dot: _dot,
    np.vdot: lambda a, b: _dot(_lift(a).ravel(), _lift(b).ravel()),
    np.inner: _inner,
    np.outer: _outer,
    np.where: _where,
    np.stack: _joined(np.stack),
    np.concatenate: _joined(np.concatenate),
    np.zeros_like: _full(0.0),
    np.ones_like: _full(1.0),
    np.shape: lambda a: a.v.shape,
    np.ndim: lambda a: a.v.ndim,
    np.size: lambda a: a.v.size,
    np.ravel: lambda a: a.ravel(),
    np.reshape: lambda a, shape: a.reshape(shape),
    np.transpose: lambda a: a.T,
    np.copy: lambda a: a.copy(),
    np.array_equal: lambda a, b: np.array_equal(np.asarray(a), np.asarray(b)),
}
