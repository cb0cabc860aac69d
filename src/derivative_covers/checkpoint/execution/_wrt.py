"""What a second-order sweep differentiates with respect to: x0 and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputTypeError, OptionError, ShapeError
from ..states._states import flat, given, leaves, matched, present, space

__all__ = ["Inputs", "inputs_of_sweep", "positive"]

Array = NDArray[Any]
_TYPES = (np.dtype(np.float64), np.dtype(np.float32))


class Inputs:
    """The point and the parameters of a sweep, canonical.

    Attributes:
        x0: The point.
        params: The parameters, or None.
        dtype: Type of all of them.
        nparams: Number of entries of the parameters.
    """

    def __init__(self, x0: Any, params: Any) -> None:
        self.x0, self.params = x0, params
        self.dtype: np.dtype[Any] = leaves(x0)[0].dtype
        self._space = space(x0)
        self._params_space = None if params is None else space(params)
        self.nparams = 0 if self._params_space is None else self._params_space.size

    def vectors(
        self, part: Any, params_part: Any, name: str, default: float
    ) -> tuple[Array, Array]:
        """Flat vectors from what has the spaces of x0 and of the parameters.

        Raises:
            ShapeError: If one has another shape.
            OptionError: If one is not finite, or there are no parameters.
        """
        if self._params_space is None and params_part is not None:
            msg = f"params_{name} came without params; leave it out."
            raise OptionError(msg)
        found = []
        for w, target, what in (
            (part, self._space, name),
            (params_part, self._params_space, f"params_{name}"),
        ):
            if target is None:
                found.append(np.zeros(0, self.dtype))
            elif w is None:
                found.append(np.full(target.size, default, self.dtype))
            else:
                a = flat(matched(w, target, what)).copy()
                if not np.isfinite(a).all():
                    msg = (
                        f"{what} holds a NaN or an infinity; finite numbers are needed."
                    )
                    raise OptionError(msg)
                found.append(a)
        return found[0], found[1]

    def of_x0(self, a: Array) -> Any:
        """A flat vector in the containers and shapes of x0."""
        return present(self._space.build(a))

    def of_params(self, a: Array) -> Any:
        """A flat vector in those of the parameters; None without."""
        return (
            None if self._params_space is None else present(self._params_space.build(a))
        )

    def constant(self, value: float) -> Any:
        """One number everywhere, in the containers and shapes of x0."""
        return self.of_x0(np.full(self._space.size, value))

    def refuse_vector(self) -> None:
        """Raises ShapeError if x0, the result of a chain without steps, is no number."""
        if self._space.size != 1:
            msg = (
                f"the chain has no steps, so that its result is x0, which is "
                f"{self._space.describe()}; a cover or Hessian is that of one number."
            )
            raise ShapeError(msg)


def inputs_of_sweep(x0: Any, params: Any) -> Inputs:
    """Canonical inputs from the user's.

    Raises:
        InputTypeError: If they are no floats, or not all float64 or all float32.
        DomainError: If an entry is not finite.
    """
    x = given(x0, "x0")
    theta = None if params is None else given(params, "params")
    arrays = [*leaves(x), *(() if theta is None else leaves(theta))]
    types = sorted({str(a.dtype) for a in arrays})
    if len(types) > 1 or arrays[0].dtype not in _TYPES:
        msg = (
            f"x0 and params hold {' and '.join(types)}; a tape keeps one type, float64 "
            "or float32. Convert them, such as x0.astype(numpy.float64)."
        )
        raise InputTypeError(msg)
    return Inputs(x, theta)


def positive(vectors: tuple[Array, Array]) -> None:
    """Raises OptionError unless all declared scales are positive."""
    for a, what in zip(vectors, ("scales", "params_scales"), strict=True):
        if not (a > 0).all():
            msg = f"{what} must be positive, one for each input."
            raise OptionError(msg)
