"""What all variables of one forward propagation share, and the step of an elemental."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import as_element, boundtype, magnitude, magtype
from ..errors import DerivativeError, DomainError, InputTypeError, ShapeError, TapeError
from ..local import (
    CoverSite,
    Curvature,
    SplitScale,
    atom_slots,
    check_values,
    cover_slots_into,
)
from ..tape import Recorder
from ._channels import ForwardChannels, Storage
from ._fvar import FVar, variable_type
from ._scale import ForwardScale

__all__ = ["ForwardContext", "ForwardSite"]


class ForwardSite(CoverSite):
    """An elemental of a propagation, by its number in order of evaluation."""

    __slots__ = ("_context", "_number", "_parents", "_value")

    def __init__(
        self, context: ForwardContext, number: int, value: Any, parents: tuple[Any, ...]
    ) -> None:
        self._context, self._number = context, number
        self._value, self._parents = value, parents

    @property
    def dtype(self) -> Any:
        """Element type of the propagation."""
        return self._context.dtype

    def site_label(self) -> str:
        """Its number."""
        return f"elemental {self._number} of the propagation"

    def site_values(self) -> str:
        """Value and parents' values."""
        shown = tuple(float(p) for p in self._parents)
        return f"value {float(self._value)!r}, operand values {shown!r}"


@dataclass(eq=False)
class ForwardContext(Recorder):
    """Element type, storage and options of one propagation.

    Attributes:
        dtype: Element type of values and gradients.
        bound: Type in which covers and declared scales are propagated.
        n: Number of inputs.
        storage: How channels are stored.
        ratio: Split threshold.
        check: Verify every local cover.
        asked: Whether some block has read a declared scale.
        count: Elementals so far.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.extend import DenseStorage, ForwardContext
        >>> context = ForwardContext(np.dtype(np.float64), 2, DenseStorage, 1e-8)
        >>> x, y = context.inputs(np.array([2.0, 3.0]), np.ones(2))
        >>> (x * y).channels.gradient.dense(2)
        array([3., 2.])
    """

    dtype: Any
    n: int
    storage: type[Storage]
    ratio: Any
    check: bool = True
    asked: bool = field(default=False, init=False)
    count: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Find the type of bounds."""
        self.bound = boundtype(self.dtype)

    def inputs(self, x0: NDArray[Any], scales: NDArray[Any]) -> list[FVar]:
        """Fresh variables for the inputs.

        Args:
            x0: Values, shape (n,).
            scales: Declared scales, shape (n,).
        """
        variable = variable_type(self.dtype, self.storage)
        out: list[FVar] = []
        for k in range(self.n):
            channels = ForwardChannels.input(
                self.storage, self.n, k, self.dtype, self.bound
            )
            scale = ForwardScale(self.bound(scales[k]), False, self)
            value = self.dtype.type(x0[k])
            out.append(variable.made(value, self, channels, scale, None))
        return out

    def pushnode(self, val: Any, parents: Any, d: Any, C: Any) -> Any:
        """Append a node: a variable from its parents, partials and curvature.

        Args:
            val: Its value.
            parents: Variables of this context, one a slot.
            d: First partials, one a slot.
            C: Curvature of any form, slot-aligned.

        Raises:
            ShapeError: If parents, partials and curvature differ in number of slots.
            TapeError: If a parent is constant or of another propagation.
            InputTypeError: If ``C`` is no :class:`Curvature`.
        """
        xs = tuple(parents)
        T = self.dtype.type
        partials = [e if type(e) is T else as_element(e, T) for e in d]
        _check_node(self, xs, partials, C)
        v = val if type(val) is T else as_element(val, T)
        self.count += 1
        with np.errstate(all="ignore"):
            return self._step(v, xs, partials, C)

    def _step(self, v: Any, xs: tuple[Any, ...], d: list[Any], C: Curvature) -> Any:
        site = ForwardSite(self, self.count, v, tuple(x.v for x in xs))
        check_values(site, v, d, C)
        fault = _inherited(xs, d, C)
        sl = [SplitScale(magnitude(x.v), x.scale) for x in xs]
        rho: list[Any] = []
        one = magtype(self.dtype)(1)
        try:
            covered = cover_slots_into(
                rho, C, self.ratio, site, one, sl, check=self.check
            )
        except DomainError as error:
            covered, fault = False, fault or error
        atoms = []
        if covered:
            for slots in atom_slots(C, len(xs)):
                pairs = ((self.bound(rho[k]), xs[k].channels) for k in slots)
                atoms.append([(r, channels) for r, channels in pairs if r != 0])
        unique, merged = _merge(xs, d)
        sizes = [self.bound(magnitude(e)) for e in merged]
        channels = ForwardChannels.propagate(
            self.n,
            [x.channels for x in unique],
            merged,
            sizes,
            atoms,
            self.dtype,
            self.bound,
        )
        scale = self._scale(unique, merged, sizes)
        variable = variable_type(self.dtype, self.storage)
        return variable.made(v, self, channels, scale, fault)

    def _scale(self, xs: Sequence[Any], d: list[Any], sizes: list[Any]) -> ForwardScale:
        sigma, dead = self.bound(0), True
        for x, e, size in zip(xs, d, sizes, strict=True):
            if e != 0:
                dead = dead and x.scale.is_dead
                if x.scale.sigma != 0:
                    sigma = sigma + size * x.scale.sigma
        return ForwardScale(sigma, dead, self)


def _merge(xs: tuple[Any, ...], d: list[Any]) -> tuple[list[Any], list[Any]]:
    """Slots that share their parent become one in all that is of first order."""
    if len(xs) == 1 or len({id(x) for x in xs}) == len(xs):
        return list(xs), d
    at: dict[int, int] = {}
    unique: list[Any] = []
    merged: list[Any] = []
    for x, e in zip(xs, d, strict=True):
        if id(x) in at:
            merged[at[id(x)]] = merged[at[id(x)]] + e
        else:
            at[id(x)] = len(unique)
            unique.append(x)
            merged.append(e)
    return unique, merged


def _inherited(xs: Sequence[Any], d: list[Any], C: Curvature) -> DerivativeError | None:
    """The fault of the first parent that the node depends on."""
    for k, x in enumerate(xs):
        if x.fault is not None and (d[k] != 0 or _bends(C, k)):
            return x.fault  # type: ignore[no-any-return]
    return None


def _bends(C: Curvature, slot: int) -> bool:
    entries: Any = getattr(C, "entries", None)
    if entries is None:
        return bool(C.atom_slots(slot + 1))
    return any(slot in (i, j) for i, j, _ in entries())


def _check_node(
    context: ForwardContext, xs: tuple[Any, ...], d: list[Any], C: Any
) -> None:
    if len(xs) != len(d):
        msg = f"{len(xs)} parents and {len(d)} partials; one a slot is needed."
        raise ShapeError(msg)
    if not isinstance(C, Curvature):
        msg = (
            f"the curvature is of type {type(C).__name__}; a Curvature form is needed."
        )
        raise InputTypeError(msg)
    slots = getattr(C, "shape", (len(xs),))[0]
    if slots != len(xs):
        msg = (
            f"the {type(C).__name__} has {slots} slots and the node {len(xs)} parents; "
            "one a slot is needed."
        )
        raise ShapeError(msg)
    for x in xs:
        owner = getattr(x, "context", None)
        if owner is None:
            msg = f"{x!r:.60} is no parent: fold constants into the partials."
            raise TapeError(msg)
        if owner is not context:
            msg = (
                "a variable of another propagation was used; recompute it from this "
                "program's argument, or pass derivative_covers.value of it."
            )
            raise TapeError(msg)
    if not xs:
        msg = "a node without parents is a constant; make it by type(x)(value)."
        raise ShapeError(msg)
