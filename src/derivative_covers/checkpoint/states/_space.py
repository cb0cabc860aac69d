"""The space of a state: its containers, shapes and types, without any value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...errors import ShapeError
from ._canonical import canonical

__all__ = ["Space", "fits", "matched", "space"]

Array = NDArray[Any]


class Entry(NamedTuple):
    """A leaf: one array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Nest(NamedTuple):
    """A container of leaves and containers; ``keys`` are those of a dict."""

    kind: type[Any]
    keys: tuple[Any, ...] | None
    parts: tuple[Any, ...]

    # A namedtuple of the same name and fields is the same: a function may define its own
    # at each call, and a sweep that was killed may meet a new class when it is resumed.

    def __eq__(self, other: object) -> bool:
        """Whether containers and leaves are alike."""
        return isinstance(other, Nest) and self._content() == other._content()

    def __hash__(self) -> int:
        """Of what makes two equal."""
        return hash(self._content())

    def _content(self) -> tuple[Any, ...]:
        named = self.kind.__name__, getattr(self.kind, "_fields", None)
        return named, self.keys, self.parts


@dataclass(frozen=True)
class Space:
    """What a state is apart from its values; equal and hashable by content.

    Attributes:
        form: The containers, with shape and dtype for every leaf.
    """

    form: Entry | Nest

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Shape and dtype of the leaves, in order."""
        return tuple(_entries(self.form))

    @cached_property
    def size(self) -> int:
        """Number of scalars."""
        return sum(prod(entry.shape) for entry in self.entries)

    @cached_property
    def nbytes(self) -> int:
        """Bytes of the leaves."""
        return sum(prod(e.shape) * e.dtype.itemsize for e in self.entries)

    def describe(self) -> str:
        """In words: ``float64 of shape (3,)``, ``{'u': float64 of shape (4, 4)}``."""
        return _describe(self.form)

    def build(self, flat: Array) -> Any:
        """The state with the entries of a flat vector, copied leaf by leaf."""
        form = self.form
        if type(form) is Entry:
            return np.array(flat.reshape(form.shape), dtype=form.dtype)
        stops = accumulate(prod(entry.shape) for entry in self.entries)
        cuts = pairwise((0, *stops))
        return _build(form, (flat[first:stop] for first, stop in cuts))

    def zeros(self) -> Any:
        """The state of zeros."""
        return self.build(np.zeros(self.size))


def space(state: Any) -> Space:
    """The space of a state."""
    return Space(_form(state))


def matched(x: Any, target: Space, name: str, step: int | None = None) -> Any:
    """A state of a given space from what the user returned for it: a cotangent.

    Keys may come in any order and tuples as lists; numbers are converted to the type
    that the space has there.

    Raises:
        InputTypeError: If it is no nest of real numbers.
        ShapeError: If a container or shape differs; the message names it and the step.
    """
    form = target.form
    if type(x) is np.ndarray and type(form) is Entry:
        shape, dtype = form
        if (
            x.dtype is dtype
            and x.shape == shape
            and x.base is None
            and x.flags.c_contiguous
        ):
            return x if shape else x.copy()
    found = canonical(x, name, step, convert=True)
    if fits(found, form):
        return found
    return _matched(found, form, name if step is None else f"{name} of step {step}")


def _form(state: Any) -> Entry | Nest:
    if type(state) is np.ndarray:
        return Entry(state.shape, state.dtype)
    if isinstance(state, dict):
        return Nest(dict, tuple(state), tuple(map(_form, state.values())))
    return Nest(type(state), None, tuple(map(_form, state)))


def fits(state: Any, form: Entry | Nest) -> bool:
    """Whether a state is certainly of that form; False where only :func:`space` tells."""
    kind = type(state)
    if isinstance(form, Entry):
        shape, dtype = form
        return kind is np.ndarray and state.dtype is dtype and state.shape == shape
    container, keys, parts = form
    if kind is not container or len(state) != len(parts):
        return False
    if kind is not dict:
        return all(map(fits, state, parts))
    return tuple(state) == keys and all(map(fits, state.values(), parts))


def _entries(form: Entry | Nest) -> list[Entry]:
    if isinstance(form, Entry):
        return [form]
    return [entry for part in form.parts for entry in _entries(part)]


def _build(form: Entry | Nest, given: Any) -> Any:
    if isinstance(form, Entry):
        return np.array(next(given).reshape(form.shape), dtype=form.dtype)
    return _filled(form, [_build(part, given) for part in form.parts])


def _filled(form: Nest, parts: list[Any]) -> Any:
    if form.keys is not None:
        return dict(zip(form.keys, parts, strict=True))
    if form.kind is list:
        return parts
    return tuple.__new__(form.kind, parts)


def _describe(form: Entry | Nest) -> str:
    if isinstance(form, Entry):
        if not form.shape:
            return f"a {form.dtype} number"
        return f"{form.dtype} of shape {form.shape}"
    parts = [_describe(part) for part in form.parts[:6]]
    if form.keys is not None:
        parts = [f"{k!r}: {s}" for k, s in zip(form.keys, parts, strict=False)]
    if len(form.parts) > 6:
        parts.append(f"... ({len(form.parts)} in all)")
    inner = ", ".join(parts)
    if form.keys is not None:
        return f"{{{inner}}}"
    if form.kind is list:
        return f"[{inner}]"
    return f"({inner})" if form.kind is tuple else f"{form.kind.__name__}({inner})"


def _matched(x: Any, form: Entry | Nest, name: str) -> Any:
    if isinstance(form, Entry):
        if type(x) is not np.ndarray or x.shape != form.shape:
            _refuse(x, form, name)
        if x.dtype == form.dtype:
            return x
        with np.errstate(over="ignore", under="ignore"):
            return x.astype(form.dtype)
    if form.keys is not None:
        if not isinstance(x, dict) or set(x) != set(form.keys):
            _refuse(x, form, name)
        named = [(key, f"[{key!r}]", x[key]) for key in form.keys]
    else:
        if not isinstance(x, (list, tuple)) or len(x) != len(form.parts):
            _refuse(x, form, name)
        named = [(k, f"[{k}]", part) for k, part in enumerate(x)]
    parts = [
        _matched(part, inner, name + at)
        for (_, at, part), inner in zip(named, form.parts, strict=True)
    ]
    return _filled(form, parts)


def _refuse(x: Any, form: Entry | Nest, name: str) -> NoReturn:
    msg = f"{name} is {_describe(_form(x))}; {_describe(form)} is needed."
    raise ShapeError(msg)
