"""Covers of a composition from covers of its factors, without a joint tape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements import Upward
from ..errors import DomainError, InputTypeError, OptionError, ShapeError
from ..results import Named, Summary, variables
from ._jacobian_result import JacobianCover

__all__ = ["ComposedHessianCover", "compose_hessian_cover", "compose_jacobian_cover"]


@dataclass(frozen=True, eq=False, repr=False)
class ComposedHessianCover(Named):
    """Two covers of the Hessian of a composition, from the same atoms.

    It unpacks into the two, and ``numpy.asarray`` of it is ``h_quad``, the tighter.

    Attributes:
        h_sum: The sum merge, in the shape of the inputs.
        h_quad: The quadrature merge, nowhere above ``h_sum``.

    Example:
        >>> import derivative_covers as dc
        >>> cover = dc.compose_hessian_cover([1.0], [1.0], [1.0], [3.0], [[4.0]])
        >>> cover.h_sum, cover.h_quad
        (array([7.]), array([5.]))
    """

    h_sum: Any
    h_quad: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.h_sum, self.h_quad))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.h_quad, dtype=dtype)

    def _variables(self) -> tuple[Any, int]:
        return self.h_quad, 0

    def _summary(self) -> Summary:
        columns = {"h_sum": self.h_sum, "h_quad": self.h_quad}
        table = variables(self.names, columns, "h_quad")
        return Summary("ComposedHessianCover", (table,))


def compose_jacobian_cover(a2: Any, b2: Any, a1: Any, b1: Any) -> JacobianCover:
    """Cover of the Jacobian of ``F2(F1(x))`` from covers of both factors.

    Where ``|J2| <= a2 b2'`` and ``|J1| <= a1 b1'``, the product obeys
    ``|J2 J1| <= (b2 . a1) a2 b1'``. The root of the inner product goes to each side.

    Args:
        a2: Cover of the outer factor, by output; any shape.
        b2: Cover of the outer factor, by entry of the middle space.
        a1: Cover of the inner factor, by entry of the middle space.
        b1: Cover of the inner factor, by input; any shape. All four are nonnegative and
            finite: arrays, or :class:`~derivative_covers.extend.Upward` for a result
            that holds exactly instead of up to rounding.

    Returns:
        A :class:`JacobianCover` with ``a`` in the shape of ``a2`` and ``b`` in that of
        ``b1``.

    Raises:
        ShapeError: If ``b2`` and ``a1`` differ in size, or an argument is empty.
        OptionError: If an entry is negative or not finite.
        InputTypeError: If an argument does not hold real numbers.
        DomainError: If the result overflows.

    Guarantee:
        Where both covers hold at the matching points: over a set of points, ``(a1, b1)``
        at every one and ``(a2, b2)`` at the image of every one. ``b2 . a1`` has no
        units, so the rule commutes with a change of units of inputs, middle space and
        outputs, by powers of two bit for bit.

    Cost:
        O(m + q + n).

    Source:
        The triangle inequality on ``J2 J1``.

    Example:
        >>> import derivative_covers as dc
        >>> a, b = dc.compose_jacobian_cover([2.0], [1.0, 3.0], [1.0, 1.0], [0.5, 1.0])
        >>> a, b
        (array([4.]), array([1., 2.]))
    """
    a2, b1 = _nonnegative(a2, "a2"), _nonnegative(b1, "b1")
    dot, k = _dot(_nonnegative(b2, "b2"), _nonnegative(a1, "a1"), "b2", "a1")
    with np.errstate(all="ignore"):
        root = np.sqrt(np.ldexp(dot, k % 2))
        a, b = np.ldexp(root * a2, k // 2), np.ldexp(root * b1, k // 2)
    return JacobianCover(_finite(a, "a"), _finite(b, "b"))


def compose_hessian_cover(
    hg: Any, gamma: Any, a: Any, b: Any, S: Any = None
) -> ComposedHessianCover:
    """Covers of the Hessian of ``g(F(x))`` from covers of the pieces.

    The chain rule ``J' G J + sum_k (dg/dy_k) H_k`` bounds entrywise by a sum of rank-1
    atoms: ``u_0 = (a . hg) b`` for the first term, and ``u_k = sqrt(gamma_k) S[k]``.

    Args:
        hg: Cover of the Hessian of ``g`` at ``y = F(x)``, one entry an output of ``F``.
        gamma: Bounds of ``|dg/dy_k|`` at ``y``, one an output.
        a: Cover ``|J| <= a b'`` of the Jacobian of ``F`` at ``x``, by output.
        b: The same by input; any shape.
        S: Covers ``|H_k| <= S[k] S[k]'`` of the Hessians of the outputs of ``F``, shape
            ``(q,) + b.shape`` or ``(q, b.size)``, as :func:`declare_submap` gives them.
            None declares ``F`` linear. All are nonnegative and finite: arrays, or
            :class:`~derivative_covers.extend.Upward` for results that hold exactly.

    Returns:
        A :class:`ComposedHessianCover` with both merges, in the shape of ``b``.

    Raises:
        ShapeError: If the sizes do not fit, or there is no output or input.
        OptionError: If an entry is negative or not finite.
        InputTypeError: If an argument does not hold real numbers.
        DomainError: If the result overflows.

    Guarantee:
        Wherever all inputs hold: over a set of points, ``(a, b)`` and ``S`` at every
        one, ``hg`` and ``gamma`` at the image of every one. With sum-merge covers for
        ``hg`` and ``S`` and ``(a, b)`` a cover of the absolute sensitivities of ``F``,
        ``h_sum`` is at least the sum merge of the joint tape, and ``h_quad`` at least
        its quadrature, where no block asks for declared scales.

    Cost:
        O(q n).

    Source:
        The chain rule; Cauchy-Schwarz for ``h_quad``.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> F = lambda x: np.stack([x[0] * x[1], np.sin(x[1])])
        >>> g = lambda y: y[0] ** 2 + y[1]
        >>> x = np.array([2.0, 0.5])
        >>> y, J, S = dc.declare_submap(F, x)
        >>> at_y = dc.cover_hessian(g, y)
        >>> a = np.abs(J).sum(axis=1)
        >>> b = (np.abs(J) / a[:, None]).max(axis=0)
        >>> cover = dc.compose_hessian_cover(at_y.h, np.abs(at_y.gradient), a, b, S)
        >>> dc.iscover(cover, dc.hessian(lambda x: g(F(x)), x))
        True
    """
    b = _nonnegative(b, "b")
    a, hg = _nonnegative(a, "a"), _nonnegative(hg, "hg")
    gamma = _nonnegative(gamma, "gamma")
    if not a.size == hg.size == gamma.size:
        msg = (
            f"hg has {hg.size} entries, gamma {gamma.size} and a {a.size}; each needs "
            "one an output of the inner map."
        )
        raise ShapeError(msg)
    dot, k = _dot(a, hg, "a", "hg")
    rows = None if S is None else _curvatures(S, gamma.size, b)
    with np.errstate(all="ignore"):
        h_sum, h_quad = _merged(dot, k, b, gamma, rows)
    return ComposedHessianCover(_finite(h_sum, "h_sum"), _finite(h_quad, "h_quad"))


def _merged(dot: Any, k: int, b: Any, gamma: Any, rows: Any) -> tuple[Any, Any]:
    """Both merges of the atoms ``dot * 2**k * b`` and ``sqrt(gamma) rows``."""
    # In two steps: the power of two alone may lie outside the range of the type.
    first = np.ldexp(np.ldexp(dot * b, k // 2), k - k // 2)
    h_sum, size = first, _power_of_two(first)
    if rows is not None:
        u = np.sqrt(gamma).reshape((-1,) + (1,) * b.ndim) * rows
        h_sum = first + u.sum(axis=0)
        size = _power_of_two(h_sum)
    squares = (first / size) ** 2
    if rows is not None:
        squares = squares + ((u / size) ** 2).sum(axis=0)
    return h_sum, np.minimum(np.sqrt(squares) * size, h_sum)


def _curvatures(S: Any, q: int, b: Any) -> Any:
    rows = _nonnegative(S, "S", empty=True)
    if rows.shape not in {(q, *b.shape), (q, b.size)}:
        msg = (
            f"S has shape {rows.shape}; with {q} outputs and b of shape {b.shape} it "
            f"must be ({q}, {b.size}): one row an output."
        )
        raise ShapeError(msg)
    return rows.reshape((q, *b.shape))


def _nonnegative(x: Any, name: str, *, empty: bool = False) -> Any:
    """Floats of one type, or an Upward, at least one-dimensional."""
    if isinstance(x, (list, tuple)) and any(isinstance(e, Upward) for e in x):
        x = Upward(x)  # numpy.asarray would make plain numbers of them
    if isinstance(x, Upward):
        found: Any = x
    else:
        try:
            found = np.asarray(x)
        except ValueError:
            msg = f"{name} is no array: make its rows equally long."
            raise ShapeError(msg) from None
        if found.dtype.kind in "iub":
            found = found.astype(np.float64)
        if found.dtype not in (np.float64, np.float32):
            msg = (
                f"{name} holds values of type {found.dtype}; nonnegative real numbers "
                "are needed."
            )
            raise InputTypeError(msg)
    if not (found.size or empty):
        msg = f"{name} is empty; at least one entry is needed."
        raise ShapeError(msg)
    if not (np.isfinite(found).all() and (found >= 0).all()):
        msg = f"{name} has an entry that is negative or not finite; bounds are neither."
        raise OptionError(msg)
    return found if found.ndim else found.reshape(1)


def _dot(x: Any, y: Any, first: str, second: str) -> tuple[Any, int]:
    """``(t, k)`` with ``t * 2**k`` the inner product, which itself may leave the range."""
    if x.size != y.size:
        msg = (
            f"{first} has {x.size} entries and {second} has {y.size}; they run over the "
            "same space and need equally many."
        )
        raise ShapeError(msg)
    kx, ky = _exponent(x), _exponent(y)
    t = np.dot(np.ldexp(x.ravel(), -kx), np.ldexp(y.ravel(), -ky))
    return t, kx + ky


def _exponent(x: Any) -> int:
    return int(np.frexp(np.asarray(x).max())[1])


def _power_of_two(x: Any) -> Any:
    """Powers of two of the size of each entry, 1 for zero: squares are taken over them."""
    plain = np.asarray(x)
    exponent = np.where(np.isfinite(plain) & (plain > 0), np.frexp(plain)[1], 0)
    limit = np.finfo(plain.dtype).maxexp - 1
    return np.ldexp(np.ones_like(plain), np.clip(exponent, 1 - limit, limit))


def _finite(x: Any, name: str) -> Any:
    if not np.isfinite(x).all():
        msg = (
            f"{name} of the composition overflows; change the units of the outputs or "
            "of the inputs, so that covers are of moderate size."
        )
        raise DomainError(msg)
    return x
