"""The cover of a program's second derivative, propagated beside its values."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import as_element, magtype
from ..errors import (
    ConstantProgramError,
    DomainError,
    InputTypeError,
    OptionError,
    RecursionDepthError,
    ShapeError,
)
from ..local import split_ratio
from ..tape._record import check_call
from ..tape._structure import Leaf, Structure, map_leaves, plan
from ._array import array
from ._channels import DenseStorage, SparseStorage, Storage
from ._context import ForwardContext
from ._fvar import FVar

__all__ = ["ForwardCover", "forward_cover"]

Array = NDArray[Any]
_STORAGES: dict[str, type[Storage]] = {"dense": DenseStorage, "sparse": SparseStorage}


@dataclass(frozen=True, eq=False)
class ForwardCover:
    """Value, gradient and cover of every output of a program.

    ``numpy.asarray`` of it is ``h``.

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
        parts: list[Array] = []
        map_leaves(parts.append, self.h)
        lead = np.shape(self.value)
        rows = [a.reshape((*lead, -1)) for a in parts]
        return np.concatenate(rows, axis=-1).astype(dtype or None, copy=False)

    def __repr__(self) -> str:
        with np.printoptions(precision=6, threshold=8, edgeitems=3):
            note = ", declared scales were read" if self.asked else ""
            return (
                f"ForwardCover(value={self.value}, h={self.h}, "
                f"gradient={self.gradient}{note})"
            )


def forward_cover(
    f: Any,
    x: Any,
    *,
    scales: Any = None,
    ratio: float | None = None,
    storage: str = "dense",
    check: bool = True,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> ForwardCover:
    """Cover the second derivatives of a program without a tape.

    Args:
        f: Function of one argument, which gets an object array of forward variables in
            the shape of ``x`` (one variable where ``x`` is a number) and returns a
            variable, or an array or (nested) list of variables and numbers. NumPy's
            functions work on it as they do on object arrays, so that it fills arrays of
            dtype object (`np.zeros(3, dtype=object)`) or lists; neither
            :func:`with_numpy` nor `derivative_covers.numpy` serves this backend.
        x: Point of evaluation: real numbers of any shape, or a dictionary, or a tuple
            of arguments, as in :func:`tape_function`. float32 stays float32.
        scales: Declared scales of the inputs, positive, in their shape (or structure);
            None: all 1.
        ratio: Split threshold in [0, 1), as in :func:`cover_hessian`.
        storage: ``"dense"`` holds n entries a variable; ``"sparse"`` those of the inputs
            that it depends on, which pays where these are few.
        check: Verify every local cover.
        args: Further positional arguments that are not differentiated.
        kwargs: Further keyword arguments that are not differentiated.

    Returns:
        A :class:`ForwardCover`.

    Raises:
        ConstantProgramError: If no output depends on the inputs.
        InputTypeError: For a function, point or result of a type that cannot be used.
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
        O(n) memory for each variable that is alive at one time, and O(n) time for each
        scalar operation (with sparse storage: the inputs that it depends on), about 100
        microseconds at least; an array operation costs one of these an entry. A tape
        takes memory for each operation instead, and is faster where that fits.

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
    if storage not in _STORAGES:
        msg = f"storage is {storage!r}; it must be 'dense' or 'sparse'."
        raise OptionError(msg)
    structure, x0 = plan(x)
    named = dict(kwargs or {})
    if structure is not None and structure.is_arguments:
        check_call(f, structure, args, named)
    weights = _weights(scales, x0, structure)
    threshold = split_ratio(ratio, x0.dtype)
    context = ForwardContext(
        x0.dtype, x0.size, _STORAGES[storage], threshold, check=check
    )
    variables = context.inputs(x0.ravel(), weights)
    try:
        with np.errstate(all="ignore"):
            result = f(*_arguments(variables, x0, structure), *args, **named)
    except RecursionError as error:
        msg = (
            "the program called itself deeper than Python's limit of "
            f"{sys.getrecursionlimit()} calls. Write the recursion as a loop, or raise "
            "sys.setrecursionlimit."
        )
        raise RecursionDepthError(msg) from error
    return _collect(context, _outputs(context, result), x0, structure)


def _arguments(
    variables: list[FVar], x0: Array, structure: Structure | None
) -> tuple[Any, ...]:
    """The variables as the program takes them."""
    if structure is None:
        return (array(variables, x0.shape) if x0.ndim else variables[0],)

    def part(leaf: Leaf) -> Any:
        entries = variables[leaf.slice]
        return array(entries, leaf.shape) if leaf.shape else entries[0]

    x = structure.build(part)
    return tuple(x) if structure.is_arguments else (x,)


def _weights(scales: Any, x0: Array, structure: Structure | None) -> Array:
    if scales is None:
        return np.ones(x0.size, dtype=x0.dtype)
    if structure is None:
        w = np.asarray(as_element(scales, x0.dtype))
    else:
        w = structure.flatten(scales, "scales", x0.dtype)
    if w.shape != x0.shape:
        msg = f"scales has shape {w.shape}; the inputs have shape {x0.shape}."
        raise ShapeError(msg)
    if not (np.isfinite(w).all() and (w > 0).all()):
        msg = "scales must be positive and finite, one for each input."
        raise OptionError(msg)
    return w.ravel()


def _outputs(context: ForwardContext, result: Any) -> Array:
    """The outputs as an object array of variables of this propagation and constants."""
    if isinstance(result, FVar):
        outs = np.empty((), dtype=object)
        outs[()] = result
    else:
        try:
            outs = np.asarray(result)
        except ValueError as error:
            msg = f"the program's result is no array of outputs ({error})."
            raise InputTypeError(msg) from None
    if outs.size == 0:
        msg = "the program returned an empty array; at least one output is needed."
        raise ShapeError(msg)
    if outs.dtype.kind not in "fiubO":
        msg = f"the program returned {result!r:.80}; forward variables are needed."
        raise InputTypeError(msg)
    live = False
    for y in outs.flat:
        if isinstance(y, FVar):
            live = live or not y.is_constant
            if not y.is_constant and y.context is not context:
                msg = (
                    "the program returned a variable of another propagation; return a "
                    "result computed from its own argument."
                )
                raise InputTypeError(msg)
        elif not isinstance(y, (bool, int, float, np.number, np.bool_)):
            msg = (
                f"the program returned {y!r:.80} of type {type(y).__name__}; it must "
                "return a forward variable, or an array or a list of them."
            )
            raise InputTypeError(msg)
    if not live:
        msg = (
            "on the branch taken at this point, the program's result does not depend on "
            "its argument, or its dependence was lost through a plain number; every "
            "derivative would be zero. Compute it from the argument with NumPy's functions."
        )
        raise ConstantProgramError(msg)
    return outs


def _collect(
    context: ForwardContext, outs: Array, x0: Array, structure: Structure | None
) -> ForwardCover:
    shape = (outs.size, context.n)
    value = np.empty(outs.size, dtype=x0.dtype)
    gradient = np.zeros(shape, dtype=x0.dtype)
    h = np.zeros(shape, dtype=magtype(x0.dtype))
    with np.errstate(all="ignore"):
        for k, y in enumerate(outs.flat):
            value[k] = y.v if isinstance(y, FVar) else y
            if not isinstance(y, FVar) or y.channels is None:
                continue
            if y.fault is not None:
                raise y.fault
            gradient[k] = y.channels.gradient.dense(context.n)
            h[k] = np.sqrt(y.channels.square.dense(context.n))
    found = {"value": value, "gradient": gradient, "cover": h}
    for what, a in found.items():
        if not np.isfinite(a).all():
            msg = (
                f"the {what} is not finite: a value or a product of partials overflows "
                "along the program. Evaluate at another point, or rescale the variables "
                "or the result."
            )
            raise DomainError(msg)
    v: Any = value.reshape(outs.shape) if outs.ndim else value[0]
    if structure is not None:
        lead = (*outs.shape, context.n)
        g, root = (structure.split(a.reshape(lead)) for a in (gradient, h))
        return ForwardCover(v, g, root, context.asked)
    full = outs.shape + x0.shape
    return ForwardCover(v, gradient.reshape(full), h.reshape(full), context.asked)
