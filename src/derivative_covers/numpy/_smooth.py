"""Sums of exponentials that neither overflow nor have a kink where maxima tie."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputTypeError
from ..tape._call import real_values
from ..tape._decisions import by_pairs, by_truth, cancels
from ..tape._elementwise import unary
from ..tape._over_box import box_of, centre
from ..tape._tarray import TArray
from ._arrays import asarray
from ._names import NAMESPACE, REPLACED

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _operand(x: Any) -> Any:
    """A float array of one dimension or more, recorded or plain.

    Raises:
        InputTypeError: If the entries are not real numbers.
    """
    a = asarray(x)
    if not a.ndim:
        a = a.reshape(1)
    if a.dtype.kind in "iub":
        return a.astype(np.float64)
    if a.dtype.kind != "f":
        msg = f"real numbers are needed here; got an array of type {a.dtype}."
        raise InputTypeError(msg)
    return a


def _is_scalar(x: Any) -> bool:
    return not isinstance(x, (list, tuple)) and np.ndim(x) == 0


def _largest(v: Any, axis: Any) -> Any:
    """The largest values, 0 where there is none or it is infinite, axes kept."""
    top = np.max(v, axis=axis, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(top), top, 0.0).astype(v.dtype)


def _inside(x: Any) -> Any:
    """Values, or numbers inside of what a variable ranges over; any of them will do.

    The shift by the largest one cancels, whatever it is; so a replay keeps it, as long
    as no exponential overflows.
    """
    return real_values(x) if box_of(x) is None else centre(x).astype(x.dtype)


def _kept(total: Any) -> None:
    """Let a replay find out where a sum over- or underflows with the shift of this point.

    Logarithms keep their sign in between, too.
    """
    limits = np.finfo(total.dtype if hasattr(total, "dtype") else np.float64)
    huge, tiny = float(limits.max) ** 0.8, float(limits.tiny) ** 0.8
    for bound in (-huge, -tiny, 0.0, tiny, huge):
        by_pairs("the range of numpy.logsumexp", total, bound)


def _log_of_sum(e: Any, axis: Any) -> Any:
    """Logarithm of a sum of exponentials of which the largest is 1, axes kept.

    The others alone go through log1p, so that they count however small they are.
    """
    total = np.sum(e, axis=axis, keepdims=True)
    _kept(total)
    v = real_values(e)
    axes = tuple(range(v.ndim)) if axis is None else axis
    lanes = np.moveaxis(v, axes, range(-np.size(axes), 0))
    lanes = lanes.reshape(*lanes.shape[: lanes.ndim - np.size(axes)], -1)
    if not lanes.shape[-1]:
        return np.log(total)
    rest = np.array(lanes)
    at = np.argmax(rest, axis=-1)[..., None]
    top = np.take_along_axis(rest, at, -1)
    np.put_along_axis(rest, at, 0.0, -1)
    small = np.log1p(np.sum(rest, axis=-1)).reshape(np.shape(real_values(total)))
    whole = top.reshape(small.shape)
    value = np.where(whole == 1.0, small, np.log(np.sum(v, axis=axis, keepdims=True)))
    value = value.astype(v.dtype)
    return unary(np.log, total, value) if total.__class__ is TArray else value


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    """Logarithm of the sum of exponentials, ``log(sum(b * exp(a)))``.

    Smooth everywhere: tied maxima are no kink. Neither overflows nor loses small terms.
    Costs a few operations of whole arrays; nodes are recorded where an operand is.

    Args:
        a: Exponents, any shape, recorded or plain.
        axis: Axis or axes to sum over; None means all.
        b: Factors that broadcast with ``a``; may be negative, and recorded.
        keepdims: Whether the summed axes stay, with length 1.
        return_sign: Whether the sign of the sum is given, too; the logarithm is then
            that of its absolute value.

    Returns:
        The logarithms, in the shape of a reduction of ``a``; with ``return_sign`` the
        pair of them and the signs, which are plain numbers. A negative sum without
        ``return_sign`` gives NaN.

    Raises:
        InputTypeError: If the operands are not real.

    Note:
        The signature is that of :func:`scipy.special.logsumexp`. The shift by the
        largest exponent is a plain number and cancels from every derivative
        (Blanchard, Higham and Higham, IMA J. Numer. Anal. 41, 2021).

    Example:
        >>> import derivative_covers as dc
        >>> import derivative_covers.numpy as np
        >>> dc.gradient(np.logsumexp, [1e4, 1e4])
        array([0.5, 0.5])
    """
    x = _operand(a)
    with np.errstate(all="ignore"):
        if b is None:
            top = _largest(_inside(x), axis)
            r = _log_of_sum(np.exp(cancels(x - top)), axis)
            sign: Any = np.ones_like(real_values(r))
            sign = np.where(np.isneginf(real_values(r)), 0.0, sign)
        else:
            weights = _operand(b)
            by_truth("numpy.logsumexp", weights)
            used = np.not_equal(real_values(weights), 0.0)
            v = np.where(used, _inside(x), -np.inf)
            top = _largest(v, axis)
            x = np.where(used, x, -np.inf)
            e = np.exp(cancels(x - top))
            total = np.sum(weights * e, axis=axis, keepdims=True)
            _kept(total)
            sign = np.sign(real_values(total))
            if return_sign:
                if box_of(total) is not None:  # the same all over the box, or undecided
                    sign = 1.0 * np.greater(total, 0.0) - 1.0 * np.less(total, 0.0)
                total = total * sign
            r = np.log(total)
        r = cancels(r + top)
    if not keepdims:
        r, sign = (np.squeeze(e, axis=axis) for e in (r, sign))
        r, sign = r[()], sign[()]
    return (r, sign) if return_sign else r


def softmax(x: Any, axis: Any = None) -> Any:
    """Exponentials divided by their sum.

    Smooth everywhere: tied maxima are no kink. Does not overflow.

    Args:
        x: Exponents, any shape, recorded or plain.
        axis: Axis or axes over which the results add up to 1; None means all.

    Returns:
        An array of the shape of ``x``.

    Raises:
        InputTypeError: If the entries are not real.

    Note:
        The signature is that of :func:`scipy.special.softmax`.

    Example:
        >>> import derivative_covers.numpy as np
        >>> np.softmax([1e4, 1e4])
        array([0.5, 0.5])
    """
    a = _operand(x)
    with np.errstate(all="ignore"):
        e = np.exp(cancels(a - _largest(_inside(a), axis)))
        total = np.sum(e, axis=axis, keepdims=True)
        _kept(total)
        r = e / total
    return r[0] if _is_scalar(x) else r


def log_softmax(x: Any, axis: Any = None) -> Any:
    """Logarithm of :func:`softmax`, exact where that is small.

    Args:
        x: Exponents, any shape, recorded or plain.
        axis: Axis or axes over which the exponentials of the results add up to 1.

    Returns:
        An array of the shape of ``x``.

    Raises:
        InputTypeError: If the entries are not real.

    Note:
        The signature is that of :func:`scipy.special.log_softmax`.

    Example:
        >>> import derivative_covers.numpy as np
        >>> np.log_softmax([0.0, 1e4])
        array([-10000.,      0.])
    """
    a = _operand(x)
    with np.errstate(all="ignore"):
        shifted = cancels(a - _largest(_inside(a), axis))
        r = shifted - _log_of_sum(np.exp(shifted), axis)
    return r[0] if _is_scalar(x) else r


for _function in (logsumexp, softmax, log_softmax):
    _function.__module__ = NAMESPACE
    REPLACED[_function.__name__] = _function
