"""Values and partials of a tape of numbers that no NumPy type holds.

The buffers of such a tape hold NaN, as over a box, and nothing that looks at values can
read one. The numbers themselves are worked out from the blocks, in the arithmetic of
their type, as far as somebody asks; floats around them serve decisions that are made of
intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import BY_OPCODE
from ..elementals._any_type import Form, Functions, constant_power, form_of
from ..elementals._enclosures import Enclosed
from ..elements import (
    converted,
    decided_sign,
    decided_zero,
    ends_of,
    is_defined,
    magnitude,
)
from ..errors import DomainError, UndecidedError, UnsupportedOperationError
from ._blocks import (
    Accumulate,
    Binary,
    Block,
    Constants,
    Dot,
    Fixed,
    Inputs,
    Linear,
    Run,
    Unary,
)
from ._enclosures import Enclosures
from ._generic import TIES
from ._walks import ids_of, pieces, positions

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["UNDEFINED", "Elements", "compare"]

Array = NDArray[Any]
Row = tuple[str, int, int, Any]
"""Elemental, pattern, first recorded parent, second one or constant."""


class Undefined:
    """The value of a node that left its domain; what is computed with it is itself."""

    def _same(self, *_: Any) -> Undefined:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = _same

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()
decided_zero.register(Undefined)(lambda x: False)
magnitude.register(Undefined)(lambda x: np.inf)
_FAULTS = (ArithmeticError, ValueError, DomainError, UndecidedError)


class Elements(Enclosures):
    """The numbers of a tape, and intervals around them.

    Args:
        tape: A tape of elements, recording or finished.
    """

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape)
        assert tape.element is not None
        self._type = tape.element
        self._v = np.empty(256, dtype=object)
        self._functions: dict[str, tuple[Form, Functions]] = {}

    # -- what others ask -----------------------------------------------------------

    def numbers(self, ids: Any = None) -> Any:
        """The numbers of some nodes, or of all."""
        if ids is None:
            self.all()
            return self._v[: self._tape.nnodes].copy()
        ids = np.asarray(ids)
        if not ids.size:
            return np.empty(ids.shape, dtype=object)
        self.upto(int(ids.max()))
        return self._v[ids]

    held = numbers

    def enclosed(self, block: Any, order: int = 2) -> Enclosed:
        """Partials of a block of elementals, in numbers of the type."""
        self.upto(block.stop - 1)
        here = slice(block.start, block.stop)
        masks = (d.get(block.start) for d in (self._outside, self._kink))
        parts: tuple[Any, ...] = tuple(self.partials(block))
        value: Any = self._v[here]
        return Enclosed(value, parts, *masks)

    def partials(self, block: Any) -> list[Array]:
        """``d1, d2, c11, c12, c22`` of a block of elementals, an entry a node."""
        self.upto(block.stop - 1)
        columns = [np.full(block.size, 0, dtype=object) for _ in range(5)]
        v, outside = self._v, self._outside.get(block.start)
        for k, row in enumerate(self._rows(block)):
            pattern = row[1]
            if outside is not None and outside[k]:
                parts: Any = (UNDEFINED,) * (5 if pattern == 1 else 2)
            else:
                form, f = self._form(row)
                x = self._operands(row)
                parts = form.partials(f, *x, v[block.start + k])
                if pattern > 1 and len(parts) == 5:
                    parts = parts[:3:2] if pattern == 2 else parts[1::3]
            at = range(5) if pattern == 1 else (0, 2)
            for column, part in zip((columns[j] for j in at), parts, strict=True):
                column[k] = self._number(part)
        return columns

    def coefficients(self, block: Linear) -> Array:
        """Coefficients of linear nodes, as the block holds them."""
        share = self._tape.exact.get(block.start)
        if share is not None:
            return np.array([self._number(share)], dtype=object)
        found = np.empty(block.coef.size, dtype=object)
        found[:] = [converted(self._type, float(c)) for c in block.coef.ravel()]
        return found

    # -- block by block ------------------------------------------------------------

    def append(self, block: Block) -> None:
        """Compute the next block."""
        n, start = block.size, block.start
        self._reserve(start + n)
        if isinstance(block, (Run, Accumulate, Unary, Fixed, Binary)):
            self._entries(block)
        elif isinstance(block, Linear):
            coef = self.coefficients(block)
            self._sums(block, lambda s, at: coef[positions(block.coef_strides, s, at)])
        elif isinstance(block, Dot):
            if block.centred:
                self._refuse("a linearised result (numpy.linalg.solve and the like)")
            self._sums(block, lambda s, at: self._v[ids_of(block.y, s, at)])
        elif isinstance(block, (Inputs, Constants)):
            given = self._tape.sets.get(start)
            if given is None:
                given = [self._number(float(v)) for v in block.values]
            self._v[start : start + n] = given
        elif n:
            self._refuse("an explicit node")
        for k in range(start, start + n):
            x = self._v[k]
            lost = x is UNDEFINED
            self._lo[k], self._hi[k] = (-np.inf, np.inf) if lost else ends_of(x)
        self._blocks += 1
        self._nodes = start + n

    def _refuse(self, what: str) -> None:
        msg = (
            f"{what} is not available for numbers of type {self._type.__name__}. Write it "
            "with elementals and sums, or record with floats."
        )
        raise UnsupportedOperationError(msg)

    def _reserve(self, n: int) -> None:
        super()._reserve(n)
        if n > self._v.size:
            grown = np.empty(self._lo.size, dtype=object)
            grown[: self._nodes] = self._v[: self._nodes]
            self._v = grown

    def _number(self, x: Any) -> Any:
        """A result in the type: small integers come of rules."""
        if isinstance(x, self._type) or x is UNDEFINED:
            return x
        if isinstance(x, (int, float, Fraction)):
            return converted(self._type, x)
        msg = f"an operation gave {x!r}, which is no {self._type.__name__}"
        raise DomainError(msg)

    def _form(self, row: Row) -> tuple[Form, Functions]:
        name, pattern, _, other = row
        if pattern == 2 and name in ("power", "float_power"):
            return constant_power(other), Functions(self._type, name)
        found = self._functions.get(name)
        if found is None:
            T = self._type
            found = self._functions[name] = form_of(name, T), Functions(T, name)
        return found

    def _operands(self, row: Row) -> tuple[Any, ...]:
        name, pattern, i, other = row
        x = self._v[i]
        if pattern == 0 or (pattern == 2 and name in ("power", "float_power")):
            return (x,)
        if pattern == 1:
            return x, self._v[other]
        c = self._number(other)
        return (x, c) if pattern == 2 else (c, x)

    def _rows(self, block: Any) -> Iterator[Row]:
        n = block.size
        if isinstance(block, Run):
            exact = self._tape.exact
            rows = zip(
                block.code.tolist(), block.a.tolist(), block.other.tolist(), strict=True
            )
            for k, (code, i, other) in enumerate(rows):
                pattern = code & 3
                if pattern == 1:
                    other = int(other)
                elif pattern:
                    other = exact.get(block.start + k, other)
                yield BY_OPCODE[code >> 2].name, pattern, i, other
            return
        name, first = block.op.name, block.x.flat((n,)).tolist()
        second: Any = [None] * n
        pattern = 0
        if isinstance(block, Binary):
            pattern, second = 1, block.y.flat((n,)).tolist()
        elif isinstance(block, Fixed):
            pattern = 2 + block.slot
            second = np.broadcast_to(block.const, (n,)).tolist()
        for i, other in zip(first, second, strict=True):
            yield name, pattern, i, other

    def _entries(self, block: Any) -> None:
        n, start = block.size, block.start
        outside, kink = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        for k, row in enumerate(self._rows(block)):
            name, pattern, i, other = row
            form, f = self._form(row)
            x = self._operands(row)
            if any(e is UNDEFINED for e in x):
                outside[k] = True
                self._v[start + k] = UNDEFINED
                continue
            try:
                outside[k] = form.inside is not None and not form.inside(*x)
                v = self._number(form.value(f, *x))
                if not is_defined(v):
                    outside[k], v = True, UNDEFINED
            except _FAULTS:
                outside[k], v = True, UNDEFINED
            self._v[start + k] = v
            if not outside[k] and form.kink is not None and form.kink(*x):
                kink[k] = not (pattern == 1 and name in TIES and i == other)
        self._note(block, outside, kink)

    def _sums(self, block: Any, weights: Any) -> None:
        lost = np.zeros(block.size, dtype=bool)
        zero = converted(self._type, 0)
        for here, shape, at in pieces(block.shape):
            x = self._v[ids_of(block.x, shape, at)].reshape(-1, shape[3])
            w = np.asarray(weights(shape, at)).reshape(x.shape)
            first = block.start + here.start
            for o, (row, factors) in enumerate(
                zip(x.tolist(), w.tolist(), strict=True)
            ):
                total = zero
                for e, c in zip(row, factors, strict=True):
                    total = total + c * e
                self._v[first + o] = total
                lost[here.start + o] = total is UNDEFINED
        self._note(block, lost, None)


def compare(x: Any, y: Any, sign: str) -> tuple[bool | None, bool]:
    """Answer of a comparison (None: undecided), and whether the numbers tie exactly."""
    if x is UNDEFINED or y is UNDEFINED:
        return None, False
    gap = x - y
    order = decided_sign(gap)
    if not order and not decided_zero(gap):
        return None, False
    answers = {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "==": order == 0,
        "!=": order != 0,
    }
    return answers[sign], order == 0
