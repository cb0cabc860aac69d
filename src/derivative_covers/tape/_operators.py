"""Python's operators and NumPy's protocols of a scalar, in terms of elementals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..elementals import answers
from ..errors import UnsupportedOperationError

__all__ = ["Operators"]


class Operators:
    """Operators of a scalar variable, each an elemental that its backend runs.

    A backend says in ``_apply`` how an elemental, given by its name or ufunc, acts on
    operands, and in ``_decide`` what a comparison gives.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @staticmethod
        def _apply(what: Any, *operands: Any) -> Any: ...

        @staticmethod
        def _decide(x: Any, y: Any, sign: str) -> Any: ...

        def __getattr__(self, name: str) -> Any: ...  # one method a ufunc, set below

    # -- arithmetic --------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return self._apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._apply("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._apply("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._apply("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._apply("multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._apply("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._apply("divide", other, self)

    def __pow__(self, other: Any, mod: Any = None) -> Any:
        if mod is not None:
            msg = "pow() with a modulus has no derivative."
            raise UnsupportedOperationError(msg)
        return self._apply("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._apply("power", other, self)

    def __mod__(self, other: Any) -> Any:
        return self._apply("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._apply("mod", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("floor", self / other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._apply("floor", other / self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __neg__(self) -> Any:
        return self._apply("negative", self)

    def __pos__(self) -> Any:
        return self._apply("positive", self)

    def __abs__(self) -> Any:
        return self._apply("absolute", self)

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits:
            scale = 10.0**ndigits
            return self._apply("rint", self * scale) / scale
        return self._apply("rint", self)

    def __floor__(self) -> Any:
        return self._apply("floor", self)

    def __ceil__(self) -> Any:
        return self._apply("ceil", self)

    def __trunc__(self) -> Any:
        return self._apply("trunc", self)

    # -- comparisons -------------------------------------------------------------

    def __lt__(self, other: Any) -> Any:
        return self._decide(self, other, "<")

    def __le__(self, other: Any) -> Any:
        return self._decide(self, other, "<=")

    def __gt__(self, other: Any) -> Any:
        return self._decide(self, other, ">")

    def __ge__(self, other: Any) -> Any:
        return self._decide(self, other, ">=")

    def __eq__(self, other: Any) -> Any:
        return self._decide(self, other, "==")

    def __ne__(self, other: Any) -> Any:
        return self._decide(self, other, "!=")

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return bool(self._decide(self, 0.0, "!="))

    # -- NumPy -------------------------------------------------------------------

    __array_priority__ = 1000.0


def _method(ufunc: np.ufunc) -> Any:
    """What NumPy calls on the entries of object arrays: `x.sin()`, `x.arctan2(y)`."""

    def method(self: Any, *operands: Any) -> Any:
        return self._apply(ufunc, self, *operands)

    method.__name__ = ufunc.__name__
    method.__qualname__ = f"Operators.{ufunc.__name__}"
    method.__doc__ = f"As `numpy.{ufunc.__name__}`."
    return method


# Methods, not __getattr__: with that Python reads the slots of every variable slowly.
for _name, _ufunc in tuple(vars(np).items()):
    if isinstance(_ufunc, np.ufunc) and _name == _ufunc.__name__ and answers(_name):
        setattr(Operators, _name, _method(_ufunc))
