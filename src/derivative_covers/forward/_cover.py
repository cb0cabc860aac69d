"""The cover of a program's second derivative, propagated beside its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import as_element, magtype
from ..errors import (
    DomainError,
    InputTypeError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)
from ..local import split_ratio
from ..results import Named, Summary, flattened, number, scales_notes, shown, variables
from ..tape import check_extras, record
from ..tape._structure import Structure, plan
from ._channels import DenseStorage, ForwardChannels, SparseStorage
from ._context import ForwardContext
from ._entries import by_entries
from ._stores import DenseStore, SparseStore
from ._tape import ForwardTape

__all__ = ["ForwardCover", "Replayable", "forward_cover"]

Array = NDArray[Any]
_STORAGES: dict[str, tuple[Any, Any]] = {
    "dense": (DenseStorage, DenseStore),
    "sparse": (SparseStorage, SparseStore),
}


@dataclass(frozen=True, eq=False, repr=False)
class ForwardCover(Named):
    """Value, gradient and cover of every output of a program.

    ``numpy.asarray`` of it is ``h``. Its ``repr`` is a table of the variables of every
    output, of many the largest and the smallest; :meth:`named` gives them names.

    Attributes:
        value: A number, or an array of the shape of the outputs.
        gradient: Of the shape of the outputs, then that of the inputs (in their
            structure, an array for each of them).
        h: Nonnegative, of the same shape: for each output ``|H_ij| <= h_i h_j``.
        asked: Whether some block had to read the declared scales, so that covariance
            under a change of units needs ``scales`` to change along.

    Example:
        >>> import derivative_covers as dc
        >>> dc.forward_cover(lambda x: [x[0] ** 2, x[0] * x[1]], [1.0, 2.0]).gradient
        array([[2., 0.],
               [2., 1.]])
    """

    value: Any
    gradient: Any
    h: Any
    asked: bool

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        if isinstance(self.h, np.ndarray):
            return np.array(self.h, dtype=dtype, copy=copy)
        if copy is False:
            msg = "h lies in several arrays; one vector of it is always a copy."
            raise ValueError(msg)
        whole: Array = flattened(self.h, np.ndim(self.value))
        return whole.astype(dtype or None, copy=False)

    def _variables(self) -> tuple[Any, int]:
        return self.h, np.ndim(self.value)

    def _summary(self) -> Summary:
        lead = np.ndim(self.value)
        value = shown(self.value) if lead else number(self.value)
        columns = {"gradient": self.gradient, "h": self.h}
        table = variables(self.names, columns, "h", lead)
        title = f"ForwardCover: value={value}"
        return Summary(title, (table,), scales_notes(self.asked))


class Replayable(ABC):
    """A program that knows its forward covers without being run: a compiled one."""

    @abstractmethod
    def replays_at(self, structure: Structure | None, x0: Array) -> bool:
        """Whether it was compiled for points of this structure, shape and type."""

    @abstractmethod
    def forward_cover(
        self, x: Any, *, scales: Any = None, ratio: float | None = None, storage: str
    ) -> ForwardCover:
        """As :func:`forward_cover`."""


def forward_cover(
    f: Any,
    x: Any,
    *,
    scales: Any = None,
    ratio: float | None = None,
    storage: str = "dense",
    check: bool = True,
    entries: bool = False,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> ForwardCover:
    """Cover the second derivatives of a program without a tape.

    Args:
        f: Function that gets arrays of variables (a scalar where ``x`` holds numbers)
            and returns a variable, or an array or (nested) list of variables and
            numbers. All that :func:`tape_function` records works here, and
            :func:`with_numpy` and `derivative_covers.numpy` serve it as well. A program
            that :func:`compile` gave, for points such as ``x``, is replayed by its
            method ``forward_cover``: from the second call on in a fraction of the time.
            With ``entries``, ``args``, ``kwargs`` or ``check=False`` it is run.
        x: Point of evaluation: real numbers of any shape, or a dictionary, or a tuple
            of arguments, as in :func:`tape_function`. float32 stays float32.
        scales: Declared scales of the inputs, positive, in their shape (or structure);
            None: all 1.
        ratio: Split threshold in [0, 1), as in :func:`cover_hessian`.
        storage: ``"dense"`` holds n entries a variable; ``"sparse"`` those of the inputs
            that it depends on, which pays where these are few.
        check: Verify every local cover.
        entries: Give the program an object array of :class:`~.extend.FVar` instead, each
            with its channels in hand; about 0.1 milliseconds an operation and entry,
            and NumPy's functions work as they do on object arrays.
        args: Further positional arguments that are not differentiated.
        kwargs: Further keyword arguments that are not differentiated.

    Returns:
        A :class:`ForwardCover`.

    Raises:
        ConstantProgramError: If no output depends on the inputs.
        InputTypeError: For a function, point or result of a type that cannot be used.
        UnsupportedOperationError: For complex inputs.
        TapeError: If variables of another propagation or tape take part.
        ShapeError: For an empty point or result, or scales of another shape.
        OptionError: For scales, a ratio or a storage that cannot be used.
        DomainError: If an output depends on an elemental outside of its domain, or a
            result is not finite.
        NondifferentiableError: If it depends on one at a kink, or a comparison ties.

    Guarantee:
        Covers to rounding. ``h`` is never below that of the quadrature merge of
        :func:`cover_hessian`, and equal to it, to rounding, where no adjoint paths
        cancel. Second derivatives below about 1e-300 are covered, but not tightly.

    Cost:
        O(n) memory for each value that a variable of the program still stands for, in
        sparse storage the inputs that it depends on, and time likewise for each
        operation and entry. At most about 20 thousand operations and entries (and the
        last array operation) wait at a time; what was propagated leaves nothing behind.

    Source:
        The recursion ``q_k = sum_i |d_i| q_i + sum_atoms u u``, ``u = sum_i rho_i |g_i|``
        of squared covers ``q`` and intermediate gradients ``g``, from local covers
        ``rho``.

    Example:
        >>> import derivative_covers as dc
        >>> dc.forward_cover(lambda x: 8 * x[0] ** 2 + x[1] ** 2 / 2, [1.0, 1.0]).h
        array([4., 1.])
    """
    if not callable(f):
        msg = f"the program must be a function of x; got {type(f).__name__}."
        raise InputTypeError(msg)
    check_storage(storage)
    check_extras(args, kwargs)
    structure, x0 = plan(x)
    plain = check and not (entries or args or kwargs)
    if plain and isinstance(f, Replayable) and f.replays_at(structure, x0):
        return f.forward_cover(x, scales=scales, ratio=ratio, storage=storage)
    if x0.dtype.kind == "c":
        msg = (
            "forward_cover takes real inputs; for a holomorphic program of complex ones "
            "record it and take cover_hessian."
        )
        raise UnsupportedOperationError(msg)
    weights = declared_scales(scales, x0, structure)
    threshold = split_ratio(ratio, x0.dtype)
    kind, store = _STORAGES[storage]
    named = dict(kwargs or {})
    if entries:
        context = ForwardContext(x0.dtype, x0.size, kind, threshold, check=check)
        value, channels = by_entries(
            f, x0, structure, weights, context, tuple(args), named
        )
        return _result(value, channels, x0, structure, context.asked)

    def make(values: Array) -> ForwardTape:
        held = store(values.size, values.dtype)
        return ForwardTape(values, weights, held, threshold, check=check)

    tape, out = record(f, x0 if structure is None else x, tuple(args), named, make=make)
    assert isinstance(tape, ForwardTape)
    value, rows = tape.result(np.asarray(out))
    return _result(value.reshape(np.shape(out)), rows, x0, structure, tape.asked)


def check_storage(storage: str) -> None:
    """Refuse a storage that there is not."""
    if not isinstance(storage, str) or storage not in _STORAGES:
        msg = f"storage is {storage!r}; it must be 'dense' or 'sparse'."
        raise OptionError(msg)


def declared_scales(scales: Any, x0: Array, structure: Structure | None) -> Array:
    """Declared scales of all inputs, flat; 1 where none came."""
    if scales is None:
        return np.ones(x0.size, dtype=x0.dtype)
    if structure is None:
        try:
            w = np.asarray(as_element(scales, x0.dtype))
        except (InputTypeError, ShapeError) as error:
            msg = str(error).replace("the value ", "scales ", 1)
            raise type(error)(msg) from None
    else:
        w = structure.flatten(scales, "scales", x0.dtype)
    if w.shape != x0.shape:
        msg = f"scales has shape {w.shape}; the inputs have shape {x0.shape}."
        raise ShapeError(msg)
    if not (np.isfinite(w).all() and (w > 0).all()):
        msg = "scales must be positive and finite, one for each input."
        raise OptionError(msg)
    return w.ravel()


def _result(
    value: Array,
    channels: Sequence[ForwardChannels | None],
    x0: Array,
    structure: Structure | None,
    asked: bool,
) -> ForwardCover:
    n = x0.size
    gradient = np.zeros((value.size, n), dtype=x0.dtype)
    h = np.zeros((value.size, n), dtype=magtype(x0.dtype))
    for k, found in enumerate(channels):
        if found is not None:
            gradient[k] = found.gradient.dense(n)
            h[k] = np.sqrt(found.square.dense(n))
    for what, a in (("value", value), ("gradient", gradient), ("cover", h)):
        if not np.isfinite(a).all():
            msg = (
                f"the {what} is not finite: a value or a product of partials overflows "
                "along the program. Evaluate at another point, or rescale the variables "
                "or the result."
            )
            raise DomainError(msg)
    v: Any = value if value.ndim else value[()]
    if structure is not None:
        lead = (*value.shape, n)
        g, root = (structure.split(a.reshape(lead)) for a in (gradient, h))
        return ForwardCover(v, g, root, asked)
    full = value.shape + x0.shape
    return ForwardCover(v, gradient.reshape(full), h.reshape(full), asked)
