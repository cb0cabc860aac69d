"""What every scalar that carries a value through a program has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NoReturn, Self

from ..elementals import Elemental
from ..errors import DerivativeError, UnsupportedOperationError
from ._generic import apply, decide, numpy_ufunc
from ._operators import Operators
from ._remedies import remedy

__all__ = ["CoverVar", "Recorder"]


class Recorder(ABC):
    """What the nodes of a backend without a tape belong to; see ``noderef``."""

    __slots__ = ()

    @abstractmethod
    def pushnode(self, val: Any, parents: Any, d: Any, C: Any) -> Any:
        """Append a node with any form of curvature; see :func:`pushnode`."""


class CoverVar(Operators):
    """A scalar that carries a value through a program while a backend observes it.

    :class:`TVar` records onto a :class:`Tape`; other backends may propagate instead. A
    backend is a subclass ``V`` that

    * holds the value in ``v`` and says in ``is_constant`` whether a node is behind it;
    * makes a constant by ``V(c)``, so that typed literals such as ``type(x)(0.0)`` work;
    * defines the recorders that it supports among :meth:`unarynode`,
      :meth:`binarynode`, :meth:`dotnode` and :meth:`linearnode`. Operators and NumPy's
      functions of single entries reach the first two; an elemental that needs one that
      is missing raises.

    Operators, comparisons, ufuncs and the folding of constants come from here, written
    once for all backends; what would drop the derivative silently raises.

    Example:
        >>> from derivative_covers import CoverVar
        >>> class Dual(CoverVar):
        ...     def __init__(self, v, dot=None):
        ...         self.v, self.dot = v, dot
        ...     @property
        ...     def is_constant(self):
        ...         return self.dot is None
        ...     def unarynode(self, val, d, c):
        ...         return Dual(val, d * self.dot)
        ...     def binarynode(self, other, val, d1, d2, c11, c12, c22):
        ...         return Dual(val, d1 * self.dot + d2 * other.dot)
        >>> x = Dual(3.0, 1.0)
        >>> float((x * x + 2.0 * x).dot)
        8.0
    """

    __slots__ = ()

    v: Any
    _apply = staticmethod(apply)
    _decide = staticmethod(decide)

    @property
    @abstractmethod
    def is_constant(self) -> bool:
        """Whether there is a value but no node behind it."""

    # -- recorders -----------------------------------------------------------------

    def unarynode(self, val: Any, d: Any, c: Any) -> Any:
        """The result of an elemental of this variable; see :func:`unarynode`."""
        return self._unsupported("unarynode")

    def binarynode(
        self, other: Any, val: Any, d1: Any, d2: Any, c11: Any, c12: Any, c22: Any
    ) -> Any:
        """The result of an elemental of two variables; see :func:`binarynode`."""
        return self._unsupported("binarynode")

    @classmethod
    def dotnode(cls, ws: Sequence[Any], xs: Sequence[Any]) -> Any:
        """The inner product of two lists of variables; see :func:`dotnode`."""
        return cls._unsupported("dotnode")

    @classmethod
    def linearnode(cls, coeffs: Any, xs: Sequence[Any]) -> Any:
        """A linear combination of variables; see :func:`linearnode`."""
        return cls._unsupported("linearnode")

    def noderef(self) -> tuple[Any, Any]:
        """What ``pushnode`` takes: the recorder, and this variable as a parent of it."""
        return self._unsupported("noderef")

    def without_derivative(self, error: DerivativeError) -> Self:
        """This result of an elemental outside of its domain, or at a kink.

        A backend that knows later whether the program's result depends on it may keep
        the error until then.

        Raises:
            DerivativeError: The error, unless the backend overrides this.
        """
        raise error

    @classmethod
    def _unsupported(cls, what: str) -> NoReturn:
        msg = (
            f"the backend {cls.__name__} does not define {what}, which this operation "
            "needs; define it, or write the program without the operation."
        )
        raise UnsupportedOperationError(msg)

    def __elemental__(self, op: Elemental, operands: tuple[Any, ...]) -> Any:
        """Run an elemental on operands of which this variable is the first one."""
        return apply(op.name, *operands)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        return numpy_ufunc(ufunc, method, inputs, kw)

    # -- what NumPy asks of scalars ------------------------------------------------
    # No dtype: numpy.mean of a list of variables would turn its result into a float.

    @property
    def shape(self) -> tuple[int, ...]:
        """That of a scalar."""
        return ()

    @property
    def ndim(self) -> int:
        """That of a scalar."""
        return 0

    @property
    def size(self) -> int:
        """That of a scalar."""
        return 1

    @property
    def T(self) -> Self:
        """The variable itself."""
        return self

    @property
    def real(self) -> Self:
        """The variable itself: recorded programs are real."""
        return self

    def item(self) -> Self:
        """The variable itself, as NumPy's scalars have it."""
        return self

    def copy(self) -> Self:
        """The variable itself: scalars are immutable."""
        return self

    conjugate = copy
    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __format__(self, spec: str) -> str:
        return format(self.v, spec) if spec else str(self)

    # -- refusals ------------------------------------------------------------------

    def _refuse(self, what: str) -> NoReturn:
        way = remedy(
            "Decorate the function with derivative_covers.with_numpy, which lets np.zeros "
            "and math.exp take recorded values; or use np.exp and the like, and store "
            "into np.zeros_like(x) or a list."
        )
        msg = (
            f"{what} of a recorded variable would drop its derivative. {way} "
            "derivative_covers.value(x) is the plain number."
        )
        raise UnsupportedOperationError(msg)

    def __float__(self) -> float:
        return float(self.v) if self.is_constant else self._refuse("float()")

    def __int__(self) -> int:
        return int(self.v) if self.is_constant else self._refuse("int()")

    def __complex__(self) -> complex:
        return complex(self.v) if self.is_constant else self._refuse("complex()")

    def __index__(self) -> int:
        self._refuse("the use as an index")
