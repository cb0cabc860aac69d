"""Points of a compiled program: one, or one a row, held against its first recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..covers._structure import shaped
from ..errors import InputTypeError, ShapeError
from ..tape import Tape, input_array

__all__ = ["Inputs"]

Array = NDArray[Any]


class Inputs:
    """The form of a program's points; ``like`` is its first recording.

    Raises:
        InputTypeError: For a recording over a box, or of numbers that are objects.
    """

    def __init__(self, like: Tape) -> None:
        if like.box is not None:
            msg = (
                "x0 holds boxes, or numbers that are objects; compile takes floats, or "
                "one Interval."
            )
            raise InputTypeError(msg)
        self.like = like

    def flat(self, x: Any) -> Array:
        """The numbers of a point."""
        like = self.like
        if like.structure is not None:
            return like.structure.flatten(x, "x", like.dtype)
        a = input_array(x, "x")
        if a.shape != like.shape:
            msg = f"x has shape {a.shape}; the program was compiled for {like.shape}."
            raise ShapeError(msg)
        self._of_type(a, "x")
        return a.ravel()

    def nested(self, point: Array) -> Any:
        """A flat point in the shape or structure that the program takes."""
        return shaped(self.like, point)

    def rows(self, X: Any) -> Array:
        """Many points, a row each."""
        like = self.like
        if like.structure is not None and isinstance(X, (Mapping, tuple, list)):
            X = self._flat_list(X)
        # Whoever evaluates a point looks whether it is finite.
        if np.size(X):
            X = input_array(X, "X", finite=False)
        else:
            X = np.asarray(X, dtype=like.dtype)
        shape = like.shape
        if X.ndim != len(shape) + 1 or X.shape[1:] != shape:
            msg = (
                f"X has shape {X.shape}; a point a row is needed, "
                f"{('npoints', *shape)}.".replace("'", "")
            )
            raise ShapeError(msg)
        self._of_type(X, "X")
        return np.ascontiguousarray(X.reshape(X.shape[0], like.ninputs))

    def _flat_list(self, X: Any) -> Any:
        """A list of flat points; a nest might have the points along its inner axes."""
        if isinstance(X, list) and not any(isinstance(x, Mapping) for x in X):
            return X
        msg = (
            f"X is a {type(X).__name__} of parts; many points of a program whose inputs "
            "are a dictionary or tuple are given flat, as an array of shape (npoints, "
            f"{self.like.ninputs}): a row holds the numbers of one point in the order "
            "of the inputs."
        )
        raise InputTypeError(msg)

    def _of_type(self, x: Array, name: str) -> None:
        if x.dtype != self.like.dtype:
            msg = (
                f"{name} is {x.dtype}; the program was compiled for {self.like.dtype}."
            )
            raise InputTypeError(msg)
