"""The scalar that propagates a cover forward."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..elements import as_element, boundtype, decided_zero
from ..errors import DerivativeError, InputTypeError, TapeError
from ..local import (
    BinaryCurvature,
    Curvature,
    NoCurvature,
    PairedCurvature,
    UnaryCurvature,
)
from ..tape import CoverVar
from ._channels import DenseStorage, ForwardChannels, Storage

if TYPE_CHECKING:
    from ._context import ForwardContext
    from ._scale import ForwardScale

__all__ = ["FVar", "variable_type"]


class FVar(CoverVar):
    """A scalar that propagates a cover of its second derivative; no tape is kept.

    It holds its value ``v`` and, unless it is constant, in ``channels`` its gradient and
    the square of its cover, and in ``scale`` its declared scale and whether the gradient
    is zero. :func:`forward_cover` makes them; ``FVar(c)`` is a constant, and so is
    ``type(x)(c)``, in the element type and storage of ``x``.

    Attributes:
        v: The value.
        context: The propagation that it belongs to; None for a constant.
        channels: Its :class:`ForwardChannels`; None for a constant.
        scale: Its :class:`ForwardScale`; None for a constant.
        fault: The error of the first elemental without a derivative that it depends on.
        element_type: dtype of values (of the class; NumPy takes what has a dtype for a
            number of its own).
        storage: Storage of its channels (of the class).

    Raises:
        InputTypeError: If the value is not a real number.

    Cost:
        O(n) memory a live variable with dense storage, and time an operation; with
        sparse storage as many entries as inputs that it depends on.

    Example:
        >>> from derivative_covers.extend import FVar, isconstant, value
        >>> c = FVar(2.0) * 3.0
        >>> isconstant(c), float(value(c))
        (True, 6.0)
    """

    __slots__ = ("channels", "context", "fault", "scale", "v")

    element_type: Any = np.dtype(np.float64)
    storage: type[Storage] = DenseStorage

    context: ForwardContext | None
    channels: ForwardChannels | None
    scale: ForwardScale | None
    fault: DerivativeError | None

    def __init__(self, c: Any) -> None:
        if isinstance(c, CoverVar):
            if not c.is_constant:
                msg = (
                    f"{type(self).__name__}(c) makes a constant; got a variable. Use it as "
                    "it is."
                )
                raise InputTypeError(msg)
            c = c.v
        if np.ndim(c):
            msg = f"{type(self).__name__}(c) needs a real number; got an array."
            raise InputTypeError(msg)
        self.v = as_element(c, self.element_type)
        self.context = self.channels = self.scale = self.fault = None

    @classmethod
    def made(
        cls,
        v: Any,
        context: ForwardContext,
        channels: ForwardChannels,
        scale: ForwardScale,
        fault: DerivativeError | None,
    ) -> Self:
        """A variable with its channels, unchecked."""
        out = cls.__new__(cls)
        out.v, out.context, out.channels = v, context, channels
        out.scale, out.fault = scale, fault
        return out

    @property
    def is_constant(self) -> bool:
        """Whether there is a value and nothing else."""
        return self.context is None

    def noderef(self) -> tuple[Any, Any]:
        """The context and the variable itself: what ``pushnode`` takes."""
        return self._context(), self

    def _context(self) -> ForwardContext:
        if self.context is None:
            msg = f"{self!r} is a constant; fold it before recording."
            raise TapeError(msg)
        return self.context

    # -- recorders -----------------------------------------------------------------

    def unarynode(self, val: Any, d: Any, c: Any) -> Any:
        """The result of an elemental of one variable."""
        T = self.element_type.type
        second = c if type(c) is T else as_element(c, T)
        C: Curvature = NoCurvature() if decided_zero(second) else UnaryCurvature(second)
        return self._context().pushnode(val, (self,), (d,), C)

    def binarynode(
        self, other: Any, val: Any, d1: Any, d2: Any, c11: Any, c12: Any, c22: Any
    ) -> Any:
        """The result of an elemental of two variables, merged where they are one."""
        T = self.element_type.type
        block = [c if type(c) is T else as_element(c, T) for c in (c11, c12, c22)]
        if other is self:
            with np.errstate(all="ignore"):
                d = as_element(d1, self.element_type) + as_element(
                    d2, self.element_type
                )
                return self.unarynode(val, d, block[0] + 2 * block[1] + block[2])
        C: Curvature = NoCurvature()
        if not all(decided_zero(c) for c in block):
            C = BinaryCurvature(*block)
        return self._context().pushnode(val, (self, other), (d1, d2), C)

    @classmethod
    def dotnode(cls, ws: Sequence[Any], xs: Sequence[Any]) -> Any:
        """The inner product of two lists of variables."""
        w, x = [e.v for e in ws], [e.v for e in xs]
        val = np.dot(
            np.array(w, dtype=cls.element_type), np.array(x, dtype=cls.element_type)
        )
        C = PairedCurvature(len(w))
        return ws[0]._context().pushnode(val, [*ws, *xs], [*x, *w], C)

    @classmethod
    def linearnode(cls, coeffs: Any, xs: Sequence[Any]) -> Any:
        """A linear combination of variables."""
        c = np.array(as_element(coeffs, cls.element_type), dtype=cls.element_type)
        val = np.dot(c, np.array([x.v for x in xs], dtype=cls.element_type))
        return xs[0]._context().pushnode(val, xs, c, NoCurvature())

    def without_derivative(self, error: DerivativeError) -> Self:
        """This result, marked: the error is raised if an output depends on it."""
        assert self.channels is not None
        assert self.scale is not None
        fault = self.fault  # that of an operand, or a bare one of this elemental
        if fault is None or not getattr(fault, "elemental", ""):
            fault = error
        return self.made(self.v, self._context(), self.channels, self.scale, fault)

    def __repr__(self) -> str:
        if self.is_constant:
            return f"FVar({float(self.v)!r})"
        return f"<FVar, value {float(self.v)!r}>"


@cache
def variable_type(dtype: Any, storage: type[Storage]) -> type[FVar]:
    """The variable type of an element type and a storage, which its constants carry."""
    if dtype == FVar.element_type and storage is DenseStorage:
        return FVar
    boundtype(dtype)
    name = f"FVar_{dtype.name}_{storage.__name__}"
    made = {
        "__slots__": (),
        "element_type": dtype,
        "storage": storage,
        "__doc__": FVar.__doc__,
    }
    return type(name, (FVar,), made)
