"""What covers of Jacobians come back as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._structure import flat

__all__ = ["JacobianCover"]


@dataclass(frozen=True, eq=False)
class JacobianCover:
    """A pair with ``|J_ki| <= a_k b_i`` for all outputs ``k`` and inputs ``i``.

    It unpacks as ``a, b``; ``numpy.asarray`` of it is the bound ``a b'``, of the shape
    of the Jacobian.

    Attributes:
        a: Nonnegative, in the shape of the outputs and in their units.
        b: Nonnegative, in the shape of the inputs and in the inverse of their units.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> a, b = dc.compose_jacobian_cover([2.0], [1.0], [1.0], [0.5, 3.0])
        >>> np.outer(a, b)
        array([[1., 6.]])
    """

    a: Any
    b: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.a, self.b))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        a = np.asarray(self.a)
        b = flat(self.b) if isinstance(self.b, (dict, tuple)) else np.asarray(self.b)
        return np.asarray(np.multiply.outer(a, b), dtype=dtype)
