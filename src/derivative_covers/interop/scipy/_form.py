"""Starts that are dictionaries: flat inside, in their own form at the border."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...replay._again import recorded_as
from ...results import labels
from ...tape import Structure, input_plan

__all__ = ["Form", "formed"]


@dataclass(frozen=True, eq=False)
class Form:
    """What the caller's points look like: a vector, or a dictionary of parameters.

    Attributes:
        structure: How the dictionary lies in the flat vector; None for a vector.
        names: A name for each entry of the flat vector; None for a vector.
    """

    structure: Structure | None = None
    names: Sequence[str] | None = None

    def named(self, at: Sequence[int]) -> list[Any]:
        """Names of entries of the flat vector; indices for a vector."""
        return list(at) if self.names is None else [self.names[i] for i in at]

    def nested(self, v: Any) -> Any:
        """An array, whose last axis runs through the variables, in the caller's form."""
        return v if self.structure is None else self.structure.split(v)

    def flat(self, w: Any, name: str) -> Any:
        """A vector from the caller's form; what is no dictionary as it is.

        Raises:
            ShapeError: If keys or shapes differ from those of the start.
        """
        if self.structure is None or not isinstance(w, Mapping):
            return w
        return self.structure.flatten(w, name, np.dtype(float))

    def taking(self, f: Any, numpy: Any = None) -> Any:
        """A function of the caller's points as one of a vector, recorded or not."""
        structure = self.structure
        if structure is None or not callable(f):
            return f
        inner: Callable[..., Any] = recorded_as(f, {"numpy": numpy})

        def flat(v: Any, /, *args: Any, **kwargs: Any) -> Any:
            point = structure.build(lambda leaf: v[leaf.slice].reshape(leaf.shape))
            return inner(point, *args, **kwargs)

        return flat

    def constraint(self, given: Any) -> Any:
        """One of SciPy's constraints, with functions of a vector."""
        if self.structure is None:
            return given
        old = isinstance(given, Mapping)
        found = dict(given) if old else copy(given)
        parts = found if old else vars(found)
        for name in ("fun", "jac", "hess"):
            if name in parts:
                parts[name] = self.taking(parts[name])
        return found


def formed(x0: Any) -> tuple[Form, Any]:
    """The form of a start, and the start as a vector.

    Raises:
        InputTypeError: If a dictionary holds what is no number.
        ShapeError: If it holds nothing.
    """
    if not isinstance(x0, Mapping):
        return Form(), x0
    structure, x = input_plan(x0)
    return Form(structure, labels(x0)), x
