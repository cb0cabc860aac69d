"""Named and nested inputs: how they lie in the one flat vector behind a tape."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import (
    Interval,
    all_finite,
    as_element,
    as_elements,
    element_class,
    element_type,
    is_defined,
)
from ..errors import (
    DomainError,
    InputTypeError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)
from ._storage import ArrayBase
from ._tvar import TVar

__all__ = ["Leaf", "Structure", "input_array", "map_leaves", "plan"]

_NESTS = (dict, tuple, list)


def input_array(x0: Any, name: str = "x0", *, finite: bool = True) -> NDArray[Any]:
    """The point as an array of the tape's type; ``finite``: whether to look at entries.

    Raises:
        InputTypeError: If it does not hold numbers.
        ShapeError: If it is empty.
        DomainError: If an entry is NaN or infinite.
    """
    if type(x0) is float and isfinite(x0):  # most leaves of large nests
        return np.array(x0)
    if isinstance(x0, (ArrayBase, TVar)) and x0.is_constant:
        x0 = x0.v
    if isinstance(x0, (ArrayBase, TVar)):
        msg = (
            f"{name} is a recorded variable; recordings cannot be nested. Pass plain "
            "numbers (derivative_covers.value(x))."
        )
        raise InputTypeError(msg)
    if isinstance(x0, Interval):
        msg = (
            f"{name} is a box, and this needs a point; a box can be given where a "
            "function is recorded (cover_hessian, tape_function and what takes its tape), "
            "and to what compile gives for a box."
        )
        raise InputTypeError(msg)
    if isinstance(x0, (np.ma.MaskedArray, np.matrix)):
        remedy = f"numpy.asarray({name})"
        if isinstance(x0, np.ma.MaskedArray):
            remedy = f"{name}.filled(...), with a number for what is masked"
        msg = (
            f"{name} is a numpy {type(x0).__name__}, whose rules differ from an array's; "
            f"pass {remedy}."
        )
        raise InputTypeError(msg)
    if dataclasses.is_dataclass(x0):
        msg = (
            f"{name} is a dataclass, {type(x0).__name__}; pass a dictionary "
            "(dataclasses.asdict) or a named tuple, and build it inside of the function."
        )
        raise InputTypeError(msg)
    try:
        x = np.asarray(x0)
    except UnsupportedOperationError:
        msg = (
            f"{name} is of type {type(x0).__name__} that holds Intervals; a box is one Interval "
            f"of all variables, such as Interval({name})."
        )
        raise InputTypeError(msg) from None
    except ValueError as error:
        msg = (
            f"{name} is no array of numbers ({error}); give a rectangular array, "
            "or a tuple or dictionary of parts with shapes of their own."
        )
        raise InputTypeError(msg) from None
    try:
        x = np.asarray(x, dtype=element_type(x))
    except InputTypeError as error:
        T = element_class(x0)
        if T is not None:
            msg = (
                f"{name} holds numbers of type {T.__name__}, and this needs floats; they "
                "can be given where a function is recorded on a tape (tape_function and "
                "what takes its tape)."
            )
            raise InputTypeError(msg) from None
        msg = str(error).replace("x0 ", f"{name} ", 1)
        if x.dtype == object and any(isinstance(e, _NESTS) for e in x.flat):
            msg += "; a list is one array, so use a tuple for parts of their own"
        if name != "x0" or x.dtype.kind in "OSU":
            msg += "; what is not differentiated goes into args or kwargs"
        raise InputTypeError(msg) from None
    if x.size == 0:
        msg = f"{name} is empty (shape {x.shape}); at least one input is needed."
        if name != "x0":
            msg += " Leave it out, or pass it in args or kwargs."
        raise ShapeError(msg)
    if finite and not np.isfinite(x).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(x))[0])
        bad = x[at]
        where = f"{name}{list(at)}" if at else name
        msg = f"{where} is {bad!s}; every input must be finite."
        raise DomainError(msg, values=(bad.item(),))
    return x


def _input_box(box: Interval, name: str) -> Interval:
    if not np.size(box.lo):
        msg = f"{name} is an empty box; at least one input is needed."
        raise ShapeError(msg)
    return box


def _input_elements(x0: Any, name: str) -> Any:
    """The point as an object array of a registered type; None where there is none.

    Raises:
        DomainError: If an entry is no finite number.
    """
    T = element_class(x0)
    if T is None:
        return None
    x = np.asarray(as_elements(x0, T), dtype=object)
    for k, entry in enumerate(x.ravel().tolist()):
        if not is_defined(entry):
            msg = f"{name}, entry {k}, is {entry!r}; every input must be finite."
            raise DomainError(msg)
    return x


def _plain_array(w: Any, name: str, dtype: Any) -> NDArray[Any]:
    """Real numbers as an array of the tape's type; errors say what ``name`` is."""
    try:
        return np.asarray(as_element(w, dtype))
    except (InputTypeError, ShapeError) as error:
        msg = str(error).replace("the value ", f"{name} ", 1)
        raise type(error)(msg) from None


@dataclasses.dataclass(frozen=True, slots=True)
class Leaf:
    """One array or number among structured inputs.

    Attributes:
        path: Where it stands, as one would write it: ``x0['rates'][1]``.
        shape: Its shape; () for a number.
        start: Place of its first entry in the flat vector.
    """

    path: str
    shape: tuple[int, ...]
    start: int

    @property
    def slice(self) -> slice:
        """Its entries in the flat vector."""
        return slice(self.start, self.start + prod(self.shape))


def map_leaves(f: Callable[[Any], Any], tree: Any) -> Any:
    """The same nest of dictionaries and tuples with ``f`` of every leaf."""
    if isinstance(tree, Mapping):
        return {key: map_leaves(f, entry) for key, entry in tree.items()}
    if isinstance(tree, tuple):
        parts = [map_leaves(f, entry) for entry in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return f(tree)


def _parts(tree: Any, path: str) -> list[tuple[str, Any]]:
    """Path and entry of what stands directly in a dictionary or tuple."""
    if isinstance(tree, Mapping):
        return [(f"{path}[{key!r}]", entry) for key, entry in tree.items()]
    fields = getattr(tree, "_fields", None)
    if fields is not None:
        return [(f"{path}.{f}", e) for f, e in zip(fields, tree, strict=True)]
    return [(f"{path}[{k}]", entry) for k, entry in enumerate(tree)]


def _walk(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(tree, (Mapping, tuple)):
        yield path, tree
        return
    parts = _parts(tree, path)
    if not parts:
        msg = f"{path} is an empty {type(tree).__name__}; at least one input is needed."
        raise ShapeError(msg)
    for inner, entry in parts:
        yield from _walk(entry, inner)


class Structure:
    """The nest of dictionaries and tuples in which inputs came, and results go back.

    Attributes:
        tree: The nest itself, with a :class:`Leaf` for every array or number.
        leaves: The leaves in the order of the flat vector.
    """

    __slots__ = ("leaves", "tree")

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.leaves: list[Leaf] = []
        map_leaves(self.leaves.append, tree)

    @property
    def is_arguments(self) -> bool:
        """Whether the entries are one argument each, not one argument as a whole."""
        return type(self.tree) is tuple

    def build(self, make: Callable[[Leaf], Any]) -> Any:
        """The nest with what ``make`` gives in the place of every leaf."""
        return map_leaves(make, self.tree)

    def split(self, a: NDArray[Any]) -> Any:
        """The last axis of ``a`` cut into leaves: each has the leading axes and its own."""
        lead = a.shape[:-1]
        return self.build(
            lambda leaf: a[..., leaf.slice].reshape(lead + leaf.shape).copy()
        )

    def blocks(self, matrix: NDArray[Any]) -> Any:
        """A square matrix as a nest of nests of blocks."""
        n = matrix.shape[-1]
        return self.build(
            lambda leaf: self.split(matrix[leaf.slice].reshape((*leaf.shape, n)))
        )

    def flatten(self, w: Any, name: str, dtype: Any) -> NDArray[Any]:
        """The flat vector of something that has this structure.

        Raises:
            InputTypeError: If a dictionary or tuple is missing.
            ShapeError: If keys, lengths or shapes differ; the message names the place.
            OptionError: If a number is not finite.
        """
        found: list[NDArray[Any]] = []
        self._collect(self.tree, w, name, dtype, found)
        return np.concatenate(found)

    def _collect(self, tree: Any, w: Any, path: str, dtype: Any, found: Any) -> None:
        if isinstance(tree, Leaf):
            a = _plain_array(w, path, dtype)
            if a.shape != tree.shape:
                msg = (
                    f"{path} has shape {a.shape}; the input {tree.path} has shape "
                    f"{tree.shape}."
                )
                raise ShapeError(msg)
            if not all_finite(a):
                msg = f"{path} holds a NaN or an infinity; finite numbers are needed."
                raise OptionError(msg)
            found.append(a.ravel())
            return
        entries = self._entries(tree, w, path)
        for (inner, part), entry in zip(_parts(tree, path), entries, strict=True):
            self._collect(part, entry, inner, dtype, found)

    @staticmethod
    def _entries(tree: Any, w: Any, path: str) -> list[Any]:
        if isinstance(tree, dict):
            if not isinstance(w, Mapping):
                msg = (
                    f"{path} is of type {type(w).__name__}; a dictionary with the keys "
                    f"{list(tree)} is needed, as in the inputs."
                )
                raise InputTypeError(msg)
            missing = [key for key in tree if key not in w]
            unknown = [key for key in w if key not in tree]
            if missing or unknown:
                what = f"lacks {missing}" if missing else f"has {unknown} besides"
                msg = f"{path} {what}; the inputs have the keys {list(tree)}."
                raise ShapeError(msg)
            return [w[key] for key in tree]
        mine, theirs = (getattr(e, "_fields", None) for e in (tree, w))
        if mine and theirs and mine != theirs:
            msg = f"{path} has the fields {theirs}; the inputs have {mine} there."
            raise ShapeError(msg)
        if not isinstance(w, (tuple, list)):
            msg = (
                f"{path} is of type {type(w).__name__}; a tuple of {len(tree)} entries is "
                "needed, as in the inputs."
            )
            raise InputTypeError(msg)
        if len(w) != len(tree):
            msg = f"{path} has {len(w)} entries; the inputs have {len(tree)} there."
            raise ShapeError(msg)
        return list(w)


def plan(x0: Any, *, boxes: bool = False) -> tuple[Structure | None, Any]:
    """Structure (None for one array) and flat vector (the array itself) of a point.

    With ``boxes`` a leaf may be an :class:`Interval`; the vector is one then, too.
    """

    def leaf(entry: Any, name: str) -> Any:
        if boxes and isinstance(entry, Interval):
            return _input_box(entry, name)
        try:
            return input_array(entry, name)
        except InputTypeError:
            if not boxes or (found := _input_elements(entry, name)) is None:
                raise
            return found

    if not isinstance(x0, (Mapping, tuple)):
        return None, leaf(x0, "x0")
    arrays = [(path, leaf(entry, path)) for path, entry in _walk(x0, "x0")]
    start = 0
    leaves = []
    for path, a in arrays:
        leaves.append(Leaf(path, a.shape, start))
        start += a.size
    given = iter(leaves)
    structure = Structure(map_leaves(lambda _: next(given), x0))
    if any(isinstance(a, Interval) for _, a in arrays):
        ends = [(a.lo, a.hi) if isinstance(a, Interval) else (a, a) for _, a in arrays]
        lo, hi = (
            np.concatenate([np.ravel(e) for e in side])
            for side in zip(*ends, strict=True)
        )
        return structure, Interval(lo.astype(np.float64), hi.astype(np.float64))
    exact = [a for _, a in arrays if a.dtype == object]
    if exact:
        flat = [e for _, a in arrays for e in a.ravel().tolist()]
        return structure, as_elements(flat, type(exact[0].item(0)))
    dtype = np.result_type(*{a.dtype for _, a in arrays})
    return structure, np.concatenate([a.ravel() for _, a in arrays]).astype(dtype)
