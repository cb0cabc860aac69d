"""What covers of Jacobians come back as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..results import Named, Summary, kinks_note, labels, variables
from ..tape import Kink
from ._structure import vector

__all__ = ["JacobianCover"]


@dataclass(frozen=True, eq=False, repr=False)
class JacobianCover(Named):
    """A pair with ``|J_ki| <= a_k b_i`` for all outputs ``k`` and inputs ``i``.

    It unpacks as ``a, b``; ``numpy.asarray`` of it is the bound ``a b'``, of the shape
    of the Jacobian. Its ``repr`` has a table of the outputs and one of the variables, of
    many the largest and the smallest; :meth:`named` gives names to the variables.

    Attributes:
        a: Nonnegative, in the shape of the outputs and in their units.
        b: Nonnegative, in the shape of the inputs and in the inverse of their units.
        kinks: Where the value's branch was taken at a kink or tie; always empty unless
            the program was recorded with ``kinks="branch"``.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> a, b = dc.compose_jacobian_cover([2.0], [1.0], [1.0], [0.5, 3.0])
        >>> np.outer(a, b)
        array([[1., 6.]])
    """

    a: Any
    b: Any
    kinks: tuple[Kink, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.a, self.b))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if copy is False:
            msg = "the bound is a product of a and b, which is always a new array."
            raise ValueError(msg)
        product = np.multiply.outer(np.asarray(self.a), vector(self.b, None, None))
        return np.asarray(product, dtype=dtype)

    def _variables(self) -> tuple[Any, int]:
        return self.b, 0

    def _summary(self) -> Summary:
        tables = (
            variables(labels({"output": self.a}), {"a": self.a}, "a"),
            variables(self.names, {"b": self.b}, "b"),
        )
        return Summary(f"JacobianCover: |J| <= a b'{kinks_note(self.kinks)}", tables)
