"""The scalar variable: a number whose operations are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..elementals import Elemental, by_name, by_ufunc, opcode
from ..errors import (
    InputTypeError,
    TapeError,
    UnsupportedOperationError,
)
from ._covervar import CoverVar
from ._decide import decided_int, interval, shown
from ._generic import COMPARISONS, EQUALITY, TESTS, is_number, ufunc_name
from ._holomorphic import refuse_complex, refuse_elemental
from ._hooks import LAYERED, array_layer
from ._kinks import settle_tie
from ._refusals import refuse_huge, refuse_imaginary, refuse_nan, refuse_two_tapes
from ._tape import Tape

__all__ = [
    "COMPARISONS",
    "EQUALITY",
    "TESTS",
    "TVar",
    "apply_binary",
    "apply_unary",
    "new_tvar",
    "ufunc_name",
]

_new = object.__new__


_POWER = 4 * opcode(by_name("power")) + 2
# Exponents with an elemental of their own: faster, and exact under scaling.
_SQUARE = 4 * opcode(by_name("square"))
_SPECIAL = {
    0.5: 4 * opcode(by_name("sqrt")),
    -1: 4 * opcode(by_name("reciprocal")),
}
_NEG = 4 * opcode(by_name("negative"))
_SHORT = np.complex64


class TVar(CoverVar):
    """A scalar used while recording, or a constant without a tape.

    ``TVar(tape, k)`` refers to node ``k`` of a tape that is recording; ``TVar(c)`` is a
    constant with a value but no tape, so that typed literals such as ``type(x)(0.0)``
    work in generic code. A constant folds into the nodes that it enters.

    Raises:
        InputTypeError: If the value is no number.

    Example:
        >>> from derivative_covers import TVar, isconstant, value
        >>> c = TVar(3.0)
        >>> isconstant(c * TVar(4.0)), value(c * TVar(4.0))
        (True, 12.0)
    """

    __slots__ = ("i", "tape", "v")

    tape: Tape | None
    i: int
    v: Any

    def __init__(self, tape: Any, idx: int | None = None) -> None:
        if idx is None:
            self.tape = None
            self.i = -1
            self.v = _constant(tape)
            return
        if not isinstance(tape, Tape):
            msg = f"TVar(tape, idx) needs a Tape first; got {type(tape).__name__}."
            raise InputTypeError(msg)
        n = tape.nnodes
        if not 0 <= idx < n:
            msg = f"node {idx} is not on this tape of {n} nodes."
            raise TapeError(msg)
        self.tape = tape
        self.i = int(idx)
        tape.flush()
        block = tape.block_of(self.i)
        self.v = tape.scalar(block.values[self.i - block.start])

    # -- arithmetic (+ - * / and their reflections: _tvar_methods) ------

    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...

    def __pow__(self, other: Any, mod: Any = None) -> Any:
        if mod is not None:
            msg = "pow() with a modulus has no derivative."
            raise UnsupportedOperationError(msg)
        tape = self.tape
        kind = other.__class__
        if tape is None or (kind is not int and kind is not float):
            return apply_binary("power", self, other)
        try:
            v = self.v**other
        except (OverflowError, ZeroDivisionError):
            power = _operand_value(tape, other, False)
            v = tape.scalar(np.power(np.float64(self.v), power))
        if v.__class__ is not float and (
            v.__class__ is complex or v.__class__ is _SHORT
        ):
            return apply_binary("power", self, other)
        if other == 2:
            row: tuple[Any, ...] = (_SQUARE, self.i, -1, v)
        else:
            code = _SPECIAL.get(other)
            row = (_POWER, self.i, other, v) if code is None else (code, self.i, -1, v)
        try:
            ahead = tape.next
            i = ahead()
        except StopIteration:
            i = tape.next_after_flush()
        put = tape.put
        put(row)
        out = _new(TVar)
        out.tape = tape
        out.i = i
        out.v = v
        return out

    def __int__(self) -> int:
        """The integer part, a plain number: it is constant but for jumps.

        Raises:
            NondifferentiableError: At a jump, which is every integer but zero.
            DomainError: If the value is not finite.
            UndecidedError: If it is not one number all over the box.
        """
        v = self.v
        if self.tape is not None:
            if self.tape.finished:
                self.tape.put(())
            if self.tape.box is not None:
                return decided_int(self.tape, self.i, v)
            if self.tape.is_complex:
                self._refuse("int()")
            if not np.isfinite(v):
                for end in (np.inf, -np.inf):
                    self.tape.guards.scalars.extend(("int", self.i, -1, v, end))
                refuse_nan("int()", self.i, (v, v))
            _keep_whole(self.tape, self.i, int(v))
            if v == (whole := int(v)) and whole:
                settle_tie(self.tape, "int", (self.i, -1), (v, float(whole)))
        return int(v)

    def __floordiv__(self, other: Any) -> Any:
        return _variable(np.floor_divide(self, other))

    def __rfloordiv__(self, other: Any) -> Any:
        return _variable(np.floor_divide(other, self))

    def __neg__(self) -> Any:
        tape = self.tape
        if tape is None:
            return TVar(-self.v)
        v = -self.v
        return _scalar(tape, (_NEG, self.i, -1, v), v)

    def __hash__(self) -> int:
        tape = self.tape
        return hash(self.v) if tape is None else hash((id(tape), self.i))

    # -- NumPy -------------------------------------------------------------------

    @property
    def real(self) -> TVar:
        """The variable itself, where it is real.

        Raises:
            UnsupportedOperationError: If it is a complex one that is recorded.
        """
        return self._part("real")  # type: ignore[no-any-return]

    @property
    def imag(self) -> TVar:
        """Zero, where the variable is real; raises as :attr:`real` does."""
        return self._part("imag")  # type: ignore[no-any-return]

    def conjugate(self) -> TVar:
        """The variable itself, where it is real; raises as :attr:`real` does."""
        return self._part("conjugate")  # type: ignore[no-any-return]

    conj = conjugate

    def _part(self, name: str) -> Any:
        v = self.v
        if not isinstance(v, COMPLEX):
            return TVar(0.0 * v) if name == "imag" else self
        if self.tape is not None:
            refuse_complex(name)
        return TVar(v.conjugate() if name == "conjugate" else getattr(v, name))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        found = _UNARY.get(ufunc)
        tape = self.tape
        if found and tape is not None and method == "__call__" and not kw:
            try:
                v = tape.scalar(ufunc(self.v))
            except TypeError:
                refuse_elemental(found[0])
            out = _new(TVar)
            out.tape = tape
            try:
                out.i = tape.next()
            except StopIteration:
                out.i = tape.next_after_flush()
            put = tape.put
            put((found[1], self.i, -1, v))
            out.v = v
            return out
        plain = method == "__call__" and not kw and ufunc not in LAYERED
        if plain and ufunc.nout == 1 and ufunc.nin <= 2:
            if len(inputs) == 1:
                return apply_unary(ufunc, self)
            x, y = inputs
            if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray):
                return apply_binary(ufunc, x, y)
        return array_layer().ufunc(ufunc, method, inputs, kw)

    def __array_function__(self, func: Any, types: Any, args: Any, kw: Any) -> Any:
        return array_layer().function(func, args, kw)

    def __elemental__(self, op: Elemental, operands: tuple[Any, ...]) -> Any:
        return _apply(op.name, *operands)

    @property
    def is_constant(self) -> bool:
        """Whether there is a value but no node behind it."""
        return self.tape is None

    def __repr__(self) -> str:
        if self.tape is None:
            return f"TVar({self.v!r})"
        return f"<TVar node {self.i}, value {self._shown()}>"

    def _shown(self, spec: str = "") -> str:
        """The value, or its enclosure over a box, as text."""
        tape = self.tape
        if tape is None or tape.box is None:
            return format(self.v, spec) if spec else repr(self.v)
        found = interval(tape, self.i, self.v)
        if not spec:
            return shown(found.lo, found.hi)
        return f"[{format(found.lo, spec)}, {format(found.hi, spec)}]"

    def __format__(self, spec: str) -> str:
        return self._shown(spec) if spec else str(self)


COMPLEX = (complex, np.complexfloating)


def _keep_whole(tape: Tape, i: int, whole: int) -> None:
    """Let a replay find out whether `int` gives another number."""
    for end in (whole - (whole <= 0), whole + (whole >= 0)):
        tape.guards.scalars.extend(("int", i, -1, 0.0, float(end)))


def _variable(r: Any) -> Any:
    return TVar(r) if isinstance(r, np.floating) else r


def _constant(c: Any) -> Any:
    if c.__class__ is TVar:
        if c.tape is None:
            return c.v
        msg = "TVar(c) makes a constant; got a recorded variable. Use it as it is."
        raise InputTypeError(msg)
    if isinstance(c, (np.float32, np.complex64)):
        return c
    if isinstance(c, COMPLEX):
        return complex(c)
    if isinstance(c, (bool, int, float, np.bool_, np.integer, np.floating)):
        try:
            return float(c)
        except OverflowError:
            refuse_huge()
    msg = f"TVar(c) needs a number; got {type(c).__name__}."
    raise InputTypeError(msg)


def new_tvar(tape: Tape, i: int, v: Any) -> TVar:
    """Variable for node ``i`` with value ``v``, unchecked."""
    out = _new(TVar)
    out.tape = tape
    out.i = i
    out.v = tape.scalar(v)
    return out


def _scalar(tape: Tape, row: tuple[Any, ...], v: Any) -> TVar:
    out = _new(TVar)
    out.tape = tape
    try:
        ahead = tape.next
        out.i = ahead()
    except StopIteration:
        out.i = tape.next_after_flush()
    tape.put(row)
    out.v = v
    return out


_UNARY: dict[Any, tuple[Elemental, int]] = {}
_BINARY: dict[Any, tuple[Elemental, int]] = {}


def _lookup(
    table: dict[Any, tuple[Elemental, int]], what: Any
) -> tuple[Elemental, int]:
    named = isinstance(what, str)
    elemental = by_name(what) if named else by_ufunc(ufunc_name(what))
    found = table[what] = (elemental, 4 * opcode(elemental))
    return found


def apply_unary(what: Any, x: TVar) -> Any:
    """Record an elemental of one operand, named or given by its ufunc."""
    if what.__class__ is not str and what in TESTS:
        return array_layer().test(what, x)
    op, code = _UNARY.get(what) or _lookup(_UNARY, what)
    tape = x.tape
    try:
        v = op.value(np, x.v) if what.__class__ is str else what(x.v)
    except TypeError:
        if tape is None or not tape.is_complex:
            raise
        refuse_elemental(op)
    if tape is None:
        return TVar(v)
    v = tape.scalar(v)
    return _scalar(tape, (code, x.i, -1, v), v)


def apply_binary(what: Any, x: Any, y: Any) -> Any:
    """Record an elemental of two operands, at least one of them a scalar variable."""
    if what.__class__ is not str and what in COMPARISONS:
        return TVar._decide(x, y, COMPARISONS[what])
    xt = x.__class__ is TVar
    yt = y.__class__ is TVar
    if not (xt or is_number(x)) or not (yt or is_number(y)):
        return array_layer().binary(what, x, y)
    tape = x.tape if xt and x.tape is not None else (y.tape if yt else None)
    op, code = _BINARY.get(what) or _lookup(_BINARY, what)
    if tape is None:
        return TVar(_evaluate(what, op, x.v if xt else x, y.v if yt else y))
    xv = _operand_value(tape, x, xt)
    yv = _operand_value(tape, y, yt)
    v = tape.scalar(_evaluate(what, op, xv, yv))
    if tape.box is not None:
        v = np.nan  # np.fmax(nan, 1) is 1, for one
    x_var = xt and x.tape is not None
    y_var = yt and y.tape is not None
    if x_var and y_var:
        return _scalar(tape, (code + 1, x.i, y.i, v), v)
    if x_var:
        return _scalar(tape, (code + 2, x.i, yv, v), v)
    return _scalar(tape, (code + 3, y.i, xv, v), v)


def _evaluate(what: Any, op: Elemental, x: Any, y: Any) -> Any:
    # Recordings silence NumPy's floating-point warnings as a whole.
    try:
        return op.value(np, x, y) if what.__class__ is str else what(x, y)
    except TypeError:
        if not isinstance(x, COMPLEX) and not isinstance(y, COMPLEX):
            raise
        refuse_elemental(op)


def _operand_value(tape: Tape, x: Any, is_var: bool) -> Any:
    if is_var:
        if x.tape is not None and x.tape is not tape:
            refuse_two_tapes()
        if isinstance(x.v, COMPLEX) and not tape.is_complex:
            refuse_imaginary()
        return x.v
    if isinstance(x, COMPLEX) and not tape.is_complex:
        refuse_imaginary()
    try:
        return tape.scalar(x)
    except OverflowError:
        refuse_huge()


def _apply(what: Any, *operands: Any) -> Any:
    return (apply_unary if len(operands) == 1 else apply_binary)(what, *operands)


TVar._apply = staticmethod(_apply)
