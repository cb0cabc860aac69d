"""What every scalar that carries a value through a program has in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NoReturn, Self

from ..errors import UnsupportedOperationError

__all__ = ["CoverVar"]


class CoverVar:
    """A scalar that carries a value through a program while a backend observes it.

    :class:`TVar` records onto a :class:`Tape`; other backends may propagate instead. A
    backend holds the value in ``v`` and says whether it is constant; what would drop the
    derivative silently raises here.
    """

    __slots__ = ()

    v: Any

    @property
    @abstractmethod
    def is_constant(self) -> bool:
        """Whether there is a value but no node behind it."""

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
        msg = (
            f"{what} of a recorded variable would drop its derivative. Use NumPy's "
            "functions instead of math's, store into np.zeros_like(x) or a list "
            "instead of a plain float array, and derivative_covers.value(x) where the "
            "bare number is meant."
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
