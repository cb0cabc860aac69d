"""Arrays of closed intervals whose arithmetic is rounded outward."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from derivative_covers.elements import _outward as outward
from derivative_covers.elements._interval_box import as_box
from derivative_covers.elements._interval_convert import checked, converted
from derivative_covers.elements._interval_ufuncs import (
    COMPARISONS,
    RULES,
    decided,
    elementary,
)
from derivative_covers.elements._outward import Pair
from derivative_covers.errors import DomainError, UnsupportedOperationError

__all__ = ["FUNCTIONS", "Interval", "pair"]

# What NumPy's functions (not its ufuncs) do; other modules of this folder fill it.
FUNCTIONS: dict[Any, Any] = {}


class Interval(NDArrayOperatorsMixin):
    """Closed intervals of real numbers, one or an array of them, rounded outward.

    An operation contains what it gives for every choice of members, exactly and not up
    to rounding. ``+ - * /`` and ``sqrt`` move an end by one float at most, and not at
    all where it is exact (sums without rounding error, factors of zero or of a power of
    two, numbers of few bits); powers, sums and products of matrices are composed of
    them. Transcendental functions are enclosed by a rigorous library, of
    the extra ``intervals``.

    NumPy's functions work as on arrays: indexing, broadcasting, ``where``, sums, joins.
    A comparison is a plain array of booleans where the intervals decide it, and raises
    where some members compare one way and some the other. ``x in box`` asks for
    membership, ``float`` takes a point. Entries can be assigned to; ``lo`` and ``hi``
    are read-only.

    Args:
        lo: Lower ends: a number, an array or nested lists, converted downward where
            float64 does not hold them. An Interval, or a list of them, is copied.
        hi: Upper ends, converted upward; None makes points of ``lo``.

    Raises:
        OptionError: If an end is NaN, ``lo > hi``, or an interval holds no real number.
        ShapeError: If the ends differ in shape and neither is a scalar.
        InputTypeError: If an end is no real number, or ends are a masked array.
        UndecidedError: From a comparison that the intervals do not decide.
        DomainError: From a divisor that contains zero, and from the square root of
            intervals that are not wholly in its domain.
        UnsupportedOperationError: From functions without an enclosure.

    Cost:
        About twenty passes over the ends for ``+`` and ``*``; two floats an entry.

    Source:
        IEEE 754-2019, section 4.3, for correct rounding of ``+ - * /`` and ``sqrt``;
        Rump, Zimmermann, Boldo, Melquiond 2009, "Computing predecessor and successor in
        rounding to nearest", BIT 49, for steps without a rounding mode.

    Example:
        >>> import derivative_covers as dc
        >>> x = dc.Interval([1.0, -1.0], [2.0, 3.0])
        >>> x * x[0] - 1
        Interval([ 0., -3.], [3., 5.])
        >>> x**2
        Interval([1., 0.], [4., 9.])
        >>> third = dc.Interval(1) / 3
        >>> bool(third.lo < third.hi), 1 in third * 3
        (True, True)
    """

    __slots__ = ("_hi", "_lo")
    __array_priority__ = 3100.0

    _lo: Any
    _hi: Any

    def __init__(self, lo: Any, hi: Any = None) -> None:
        below = _given(lo)
        above = below if hi is None else _given(hi)
        self._lo, self._hi = checked(below[0], above[1])

    @classmethod
    def _wrap(cls, found: Pair) -> Any:
        """An Interval of these ends, unchecked."""
        self = object.__new__(cls)
        lo, hi = found
        self._lo = lo
        self._hi = hi.copy() if hi is lo and isinstance(lo, np.ndarray) else hi
        return self

    @classmethod
    def box(cls, x: Any) -> Interval:
        """A box: one interval for each input of a function.

        Args:
            x: An Interval; a tuple ``(lo, hi)`` of two arrays; a list of ``(lo, hi)``
                pairs, or an array of shape ``(n, 2)``; or an object with ``lb`` and
                ``ub``, such as ``scipy.optimize.Bounds``.

        Returns:
            The Interval; ``x`` itself where it is one.

        Raises:
            OptionError, ShapeError, InputTypeError: As from :class:`Interval`.

        Example:
            >>> from derivative_covers import Interval
            >>> Interval.box([(0, 1), (2, 3)])
            Interval([0., 2.], [1., 3.])
            >>> Interval.box(([0.0, 2.0], [1.0, 3.0])).hi
            array([1., 3.])
        """
        return x if isinstance(x, cls) else cls(*as_box(x))

    # -- parts ---------------------------------------------------------------------

    lo = property(lambda self: _frozen(self._lo), doc="Lower ends, read-only.")
    hi = property(lambda self: _frozen(self._hi), doc="Upper ends, read-only.")
    shape = property(lambda self: self._lo.shape)
    ndim = property(lambda self: self._lo.ndim)
    size = property(lambda self: self._lo.size)
    dtype = property(lambda self: np.dtype(np.float64))

    @property
    def mid(self) -> Any:
        """A number near the middle of each interval: the middle, rounded."""
        lo, hi = np.maximum(self._lo, -_MAX), np.minimum(self._hi, _MAX)
        return np.minimum(np.maximum(0.5 * lo + 0.5 * hi, lo), hi)

    @property
    def width(self) -> Any:
        """``hi - lo``, rounded upward."""
        return outward.subtract((self._hi, self._hi), (self._lo, self._lo))[1]

    @property
    def rad(self) -> Any:
        """The least float ``r`` found such that ``mid - r`` to ``mid + r`` contains."""
        mid = self.mid
        left = outward.subtract((mid, mid), (self._lo, self._lo))[1]
        right = outward.subtract((self._hi, self._hi), (mid, mid))[1]
        return np.maximum(left, right)

    @property
    def T(self) -> Any:
        """The transpose."""
        return self._wrap((self._lo.T, self._hi.T))

    def contains(self, other: Any) -> Any:
        """Elementwise: whether all members of ``other`` are members.

        Args:
            other: Numbers or intervals, broadcast against these.

        Returns:
            A boolean array, or a boolean.
        """
        lo, hi = pair(other)
        return (self._lo <= lo) & (hi <= self._hi)

    def __contains__(self, other: Any) -> bool:
        lo, _ = pair(other)
        return np.shape(lo) in (self.shape, ()) and bool(np.all(self.contains(other)))

    # -- containers ----------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._lo)

    def __getitem__(self, key: Any) -> Any:
        return self._wrap((self._lo[key], self._hi[key]))

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._lo.ndim:
            msg = "a single Interval has no entries to assign to; make a new one"
            raise TypeError(msg)
        self._lo[key], self._hi[key] = pair(value)

    def __copy__(self) -> Any:
        return self.copy()

    def copy(self) -> Any:
        """A copy on memory of its own."""
        return self._wrap((self._lo.copy(), self._hi.copy()))

    def reshape(self, *shape: Any) -> Any:
        """As numpy.ndarray.reshape."""
        return self._wrap((self._lo.reshape(*shape), self._hi.reshape(*shape)))

    def ravel(self) -> Any:
        """As numpy.ndarray.ravel."""
        return self.reshape(-1)

    def flatten(self) -> Any:
        """As numpy.ndarray.flatten: a copy."""
        return self.ravel().copy()

    def transpose(self, *axes: Any) -> Any:
        """As numpy.ndarray.transpose."""
        return self._wrap((self._lo.transpose(*axes), self._hi.transpose(*axes)))

    def astype(self, dtype: Any) -> Any:
        """A copy; float64 is the only type of ends."""
        if np.dtype(dtype) != np.float64:
            _refuse(f"astype({np.dtype(dtype)})")
        return self.copy()

    # -- reductions ----------------------------------------------------------------

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Sum over some axes, in pairs, every addition rounded outward."""
        return self._wrap(outward.total((self._lo, self._hi), axis, keepdims))

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Mean over some axes."""
        sums = self.sum(axis, keepdims=keepdims)
        return sums / (self.size / max(sums.size, 1))

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """The largest member of a choice of one from each, exactly."""
        return self._wrap(
            (
                self._lo.max(axis=axis, keepdims=keepdims),
                self._hi.max(axis=axis, keepdims=keepdims),
            )
        )

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """The smallest member of a choice of one from each, exactly."""
        return self._wrap(
            (
                self._lo.min(axis=axis, keepdims=keepdims),
                self._hi.min(axis=axis, keepdims=keepdims),
            )
        )

    def dot(self, other: Any) -> Any:
        """As numpy.dot for up to two dimensions."""
        return self @ other if self.ndim and np.ndim(pair(other)[0]) else self * other

    # -- conversions ---------------------------------------------------------------

    def __float__(self) -> float:
        if self.size != 1 or not np.all(self._lo == self._hi):
            return _refuse("float()")
        return float(self._lo.item())

    def __int__(self) -> int:
        if self.size != 1 or not np.all(self._lo == self._hi):
            return _refuse("int()")
        return int(self._lo.item())

    def __bool__(self) -> bool:
        return bool(self != 0)

    def item(self, *index: Any) -> float:
        """One entry as a plain number, which must be a point."""
        return float(self.reshape(-1)[index[0]] if len(index) == 1 else self[index])

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        msg = (
            "an Interval is no array of numbers; take its ends .lo and .hi, or numbers "
            "inside it (.mid), or call NumPy's functions on it as it is"
        )
        raise UnsupportedOperationError(msg)

    def __repr__(self) -> str:
        ends = (
            np.array2string(
                np.asarray(end),
                separator=", ",
                prefix="Interval(",
                precision=17,
                floatmode="unique",
            )
            for end in (self._lo, self._hi)
        )
        return f"Interval({', '.join(ends)})"

    # -- protocols -----------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        target = kw.pop("out", (None,))
        if any(map(_foreign, inputs)) or any(map(_foreign, target)):
            return NotImplemented
        if method == "__call__" and not kw and len(target) == 1:
            if ufunc in COMPARISONS:
                return self._compared(ufunc, inputs)
            if ufunc in _TESTS:
                return _TESTS[ufunc](*map(pair, inputs))
            operands = tuple(map(pair, inputs))
            rule = RULES.get(ufunc)
            self._check_domain(ufunc, operands)
            found = None if rule is None else rule(*operands)
            if found is None:
                found = elementary(ufunc, operands)
            if found is not None:
                return self._stored(found, target[0])
        elif method == "reduce" and target == (None,) and ufunc in _REDUCTIONS:
            axis, keepdims = kw.pop("axis", 0), kw.pop("keepdims", False)
            if not kw:
                reduce: Any = getattr(type(self), _REDUCTIONS[ufunc])
                return reduce(inputs[0], axis, keepdims=keepdims)
        elif method == "outer" and not kw and len(inputs) == 2:
            x, y = (
                a if isinstance(a, Interval) else self._wrap(pair(a)) for a in inputs
            )
            return ufunc(x.reshape(*x.shape, *(1,) * y.ndim), y)
        what = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
        return _refuse(what + (f" with {', '.join(kw)}" if kw else ""))

    def __array_function__(self, func: Any, types: Any, args: Any, kw: Any) -> Any:
        if any(not issubclass(t, Interval | np.ndarray) for t in types):
            return NotImplemented
        rule = FUNCTIONS.get(func)
        if rule is None:
            return _refuse(f"{func.__module__}.{func.__name__}")
        try:
            inspect.signature(rule).bind(*args, **kw)
        except TypeError:
            options = ", ".join(kw) or f"{len(args)} arguments"
            return _refuse(f"{func.__module__}.{func.__name__} with {options}")
        return rule(*args, **kw)

    def _compared(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if inputs[0] is inputs[1]:
            reflexive = ufunc in (np.equal, np.less_equal, np.greater_equal)
            return np.full(self.shape, reflexive)[()]
        return decided(ufunc, pair(inputs[0]), pair(inputs[1]))

    def _check_domain(self, ufunc: Any, operands: tuple[Pair, ...]) -> None:
        wrong = outside(ufunc, operands)
        if wrong is None or not np.any(wrong):
            return
        last = operands[-1] if ufunc in (np.divide, np.reciprocal) else operands[0]
        lo, hi = (np.broadcast_to(e, np.shape(wrong))[wrong].flat[0] for e in last)
        msg = (
            f"{ufunc.__name__} is not defined everywhere on [{lo}, {hi}]; make the "
            "interval smaller, or the argument certain to stay in the domain"
        )
        raise DomainError(msg, elemental=ufunc.__name__)

    def _stored(self, found: Pair, target: Any) -> Any:
        """The result, written into ``target`` where that is an array of intervals."""
        if target is None:
            return self._wrap(found)
        if not isinstance(target, Interval):
            msg = (
                f"intervals cannot be stored in a {type(target).__name__}; make the "
                "target an Interval, or write a = a + x"
            )
            raise UnsupportedOperationError(msg)
        if not target.ndim:
            return self._wrap(found)
        target._lo[...], target._hi[...] = found
        return target


_MAX = np.finfo(np.float64).max
_REDUCTIONS = {np.add: "sum", np.maximum: "max", np.minimum: "min"}
_TESTS: dict[Any, Any] = {
    np.isnan: lambda x: np.zeros(np.shape(x[0]), dtype=bool)[()],
    np.isfinite: lambda x: np.isfinite(x[0]) & np.isfinite(x[1]),
    np.isinf: lambda x: np.isinf(x[0]) | np.isinf(x[1]),
    np.signbit: lambda x: decided(np.less, x, outward.point(0.0)),
}


def pair(x: Any, what: str = "an Interval operation") -> Pair:
    """The ends of intervals or plain numbers, or of a list that mixes them."""
    if isinstance(x, Interval):
        return x._lo, x._hi
    if isinstance(x, list | tuple) and _holds(x):
        parts = [pair(entry, what) for entry in x]
        return np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts])
    return converted(x, what)


def _given(x: Any) -> Pair:
    """Ends as :func:`pair` gives them; arrays of float64 are looked at only once, later."""
    return (
        (x, x)
        if type(x) is np.ndarray and x.dtype == np.float64
        else pair(x, "Interval")
    )


def outside(ufunc: Any, operands: tuple[Pair, ...]) -> Any:
    """Where operands leave the domain of an operation of arithmetic; None: never."""
    if ufunc in (np.divide, np.reciprocal, np.floor_divide, np.remainder, np.fmod):
        lo, hi = operands[-1]
        return (lo <= 0) & (hi >= 0)
    if ufunc is np.sqrt:
        return operands[0][0] < 0
    if ufunc in (np.power, np.float_power):
        (lo, hi), (low, high) = operands
        zero = (lo <= 0) & (hi >= 0) & (low < 0)
        return zero | ((lo < 0) & ((low != np.rint(low)) | (low != high)))
    return None


def _holds(x: Any) -> bool:
    return any(
        isinstance(e, Interval) or (isinstance(e, list | tuple) and _holds(e))
        for e in x
    )


def _foreign(x: Any) -> bool:
    """Whether ``x`` is an array of a kind that has to answer itself."""
    kind = type(x)
    return hasattr(kind, "__array_ufunc__") and not issubclass(
        kind, Interval | np.ndarray | np.generic
    )


def _frozen(end: Any) -> Any:
    if not isinstance(end, np.ndarray):
        return end
    view = end.view()
    view.flags.writeable = False
    return view


def _refuse(what: str) -> NoReturn:
    msg = (
        f"{what} is not defined for an Interval. Write it with arithmetic, the ufuncs "
        "that have an enclosure, sums, products and joins; or take the ends .lo and .hi "
        "or numbers inside (.mid) where no enclosure is needed"
    )
    raise UnsupportedOperationError(msg)
