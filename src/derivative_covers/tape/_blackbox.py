"""A function that brings its own derivatives, as one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements import as_element, boundtype, magnitude, magtype
from ..errors import DomainError, InputTypeError, OptionError, ShapeError
from ..local import (
    CoverSite,
    Curvature,
    DeclaredCurvature,
    DenseCurvature,
    NoCurvature,
    SplitScale,
    check_finite_partials,
    dead_slot,
    declared_scale,
    value_bounds_split,
)
from ..local._checks import check_covering
from ._convert import array_of, tape_of
from ._covervar import CoverVar, Recorder
from ._detach import bare
from ._explicit import pushnode
from ._refs import noderef
from ._storage import ArrayBase

__all__ = ["BlackBox", "MatrixCurvature", "blackbox"]


@dataclass(frozen=True, slots=True, eq=False)
class MatrixCurvature(DenseCurvature):
    """A symmetric matrix of second partials of any size that covers, too.

    The weights are ``rho_i = sqrt(max_j av |C_ij| z_j / z_i)``, with the values of the
    parents for ``z`` where these carry scale, else the declared scales: covariant as the
    split of a block of two is, and equal to it where the diagonal is zero.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.extend import MatrixCurvature
        >>> MatrixCurvature(np.eye(3)).shape
        (3, 3)
    """

    def entries(self) -> Sequence[tuple[int, int, Any]]:
        """The nonzero entries ``(i, j, C[i, j])`` with ``i <= j``."""
        upper = np.triu(self.C)
        i, j = np.nonzero(upper)
        return list(zip(i.tolist(), j.tolist(), upper[i, j], strict=True))

    def bound_contribution(
        self, B: Any, av: Any, ps: Sequence[int], utilde: Any
    ) -> None:
        """Add this node's term of the elementwise bound; see :class:`Curvature`."""
        with np.errstate(all="ignore"):
            rows = np.stack([utilde[p] for p in ps]) if len(ps) else np.zeros((0, 0))
            sizes = av * magnitude(self.C)
            plain = np.isfinite(rows).all() and np.isfinite(sizes).all()
        if plain and len(ps):
            B += rows.T @ sizes @ rows
        else:  # zeros times infinities are selected entry by entry
            DenseCurvature.bound_contribution(self, B, av, ps, utilde)

    def curvature_apply(
        self, vbardot: Any, ps: Sequence[int], bk: Any, dv: Any
    ) -> None:
        """Add this node's second-order term of a product; see :class:`Curvature`."""
        slots = np.asarray(ps, dtype=np.int64)
        tangents = np.asarray(dv)[slots]
        with np.errstate(all="ignore"):
            term = bk * (self.C @ tangents)
        if np.isfinite(term).all() and np.isfinite(tangents).all():
            np.add.at(vbardot, slots, term)
        else:
            DenseCurvature.curvature_apply(self, vbardot, ps, bk, dv)

    def cover_slots_into(
        self,
        rho: list[Any],
        ratio: Any,
        site: CoverSite,
        av: Any,
        sl: Sequence[SplitScale],
        *,
        check: bool = True,
    ) -> bool:
        """One weight a slot; see :class:`Curvature`."""
        m = len(self.C)
        if m <= 2 or m != len(sl):
            return DenseCurvature.cover_slots_into(
                self, rho, ratio, site, av, sl, check=check
            )
        dead = np.array([dead_slot(s) for s in sl])
        sizes = np.where(dead[:, None] | dead, 0, magnitude(self.C))
        if av == 0 or not sizes.any():
            return False
        check_finite_partials(site, av, sizes.ravel())
        M = magtype(site.dtype)
        with np.errstate(all="ignore"):
            root = np.sqrt(boundtype(site.dtype)(av))
            weights = root * _weights(sizes, _references(sizes, ratio, sl))
            if not _covers(weights / root, sizes, float(np.finfo(M).eps)):
                weights = root * _weights(sizes, np.ones(m))
        if check:
            upper = zip(*np.nonzero(np.triu(sizes)), strict=True)
            entries = [(int(i), int(j), av * sizes[i, j]) for i, j in upper]
            check_covering(site, list(weights), entries, float(np.finfo(M).eps))
        rho[:] = [M(w) for w in weights]
        return True


def _references(sizes: Any, ratio: Any, sl: Sequence[SplitScale]) -> Any:
    """The values where all of them carry scale, else the declared scales, else ones."""
    live = sizes.any(axis=1)
    for z in ((s.value for s in sl), (declared_scale(s) for s in sl)):
        found = np.where(live, np.array([float(e) for e in z]), 1.0)
        usable = np.isfinite(found).all() and (found > 0).all()
        if usable and all(
            value_bounds_split(ratio, sizes[i, i], sizes[j, j], found[i], found[j])
            for i, j in zip(*np.nonzero(np.triu(sizes, 1)), strict=True)
        ):
            return found
    return np.ones(len(sl))


def _weights(sizes: Any, z: Any) -> Any:
    return np.sqrt(np.max(sizes * (z / z[:, None]), axis=1))


def _covers(rho: Any, sizes: Any, eps: float) -> bool:
    return bool((np.outer(rho, rho) >= sizes * (1 - 8 * eps)).all())


class BlackBox:
    """A function with derivatives of its own; made by :func:`blackbox`."""

    def __init__(
        self,
        f: Callable[[Any], Any],
        gradient: Callable[[Any], Any],
        hessian: Callable[[Any], Any] | None,
        bound: Callable[[Any], Any] | None,
    ) -> None:
        self._f, self._gradient = f, gradient
        self._hessian, self._bound = hessian, bound
        self.__name__ = getattr(f, "__name__", type(f).__name__)

    def __call__(self, x: Any, *more: Any) -> Any:
        """The value at ``x``, recorded as one node where ``x`` holds variables."""
        if more:
            msg = (
                f"the black box {self.__name__} takes one argument and got "
                f"{1 + len(more)}; pass a list of them."
            )
            raise InputTypeError(msg)
        xs, point = _entries(x)
        at = [k for k, e in enumerate(xs) if isinstance(e, CoverVar)]
        at = [k for k in at if not xs[k].is_constant]
        again = _Again(self, np.array(point) if np.ndim(point) else point, at)
        v = self._scalar(self._f(point))
        if not at:
            return v
        n = len(xs)
        d = self._shaped("gradient", self._gradient(point), n)[at]
        tape, _ = noderef(xs[at[0]])
        C = self._curvature(point, n, at, tape.dtype)
        parents = [noderef(xs[k])[1] for k in at]
        if isinstance(tape, Recorder):
            return pushnode(tape, v, parents, d, C)
        return pushnode(tape, v, parents, d, C, replay=again)

    def at(self, point: Any, at: list[int], dtype: Any) -> tuple[Any, Any, Curvature]:
        """Value, and derivatives with respect to some entries, at a point of numbers."""
        n = np.size(point)
        v = self._scalar(self._f(point))
        d = self._shaped("gradient", self._gradient(point), n)[at]
        return v, d, self._curvature(point, n, at, dtype)

    def __repr__(self) -> str:
        return f"<black box {self.__name__}>"

    def _scalar(self, v: Any) -> Any:
        found = np.asarray(v)
        if found.size != 1 or found.dtype.kind not in "fiubc":
            msg = (
                f"the black box {self.__name__} returned {v!r:.60}; one number is "
                "needed (submap takes functions of several results)."
            )
            raise ShapeError(msg)
        return found.reshape(())[()]

    def _shaped(self, what: str, found: Any, *shape: int) -> Any:
        a = np.asarray(found)
        if a.size != int(np.prod(shape)):
            msg = (
                f"the {what} of the black box {self.__name__} has shape {a.shape}; one "
                f"entry for each of {shape} is needed."
            )
            raise ShapeError(msg)
        a = a.reshape(shape)
        if a.dtype.kind not in "fiubc" or not np.isfinite(a).all():
            msg = (
                f"the {what} of the black box {self.__name__} is {a!r:.100}; finite "
                "numbers are needed. Evaluate at another point."
            )
            raise DomainError(msg, elemental=self.__name__)
        return a

    def _curvature(self, point: Any, n: int, at: list[int], dtype: Any) -> Curvature:
        if self._bound is not None:
            s = self._shaped("bound", self._bound(point), n)
            C = DeclaredCurvature(as_element(s[at], magtype(dtype)))
            return C if C.s.any() else NoCurvature()
        assert self._hessian is not None
        H = self._shaped("Hessian", self._hessian(point), n, n)
        return MatrixCurvature(as_element(H[np.ix_(at, at)], dtype))


@dataclass(frozen=True, slots=True, eq=False)
class _Again:
    """A call of a black box with other numbers in some entries of its argument."""

    box: BlackBox
    point: Any
    entries: list[int]

    def __call__(self, values: Any) -> tuple[Any, Any, Curvature]:
        point = np.array(self.point)
        point.reshape(-1)[self.entries] = values
        given = point if np.ndim(self.point) else type(self.point)(point[()])
        return self.box.at(given, self.entries, values.dtype)


def _entries(x: Any) -> tuple[list[Any], Any]:
    """The entries of an argument, and its bare values in its own shape."""
    if isinstance(x, CoverVar):
        return [x], x.v
    a: Any = x
    if not isinstance(x, ArrayBase):
        tape = tape_of(x)
        a = np.asarray(x) if tape is None else array_of(tape, x)
    if isinstance(a, ArrayBase):
        return list(np.ravel(a)), np.array(a.v)  # type: ignore[call-overload]
    if a.dtype != object:
        if a.dtype.kind not in "fiubc":
            msg = (
                f"a black box got {x!r:.60}; variables, numbers, or an array of them are "
                "needed."
            )
            raise InputTypeError(msg)
        held = a if a.dtype.kind in "fc" else a.astype(np.float64)
        return [], held if held.ndim else held[()]
    flat = list(a.ravel())
    return flat, np.array([bare(e) for e in flat]).reshape(a.shape)


def blackbox(
    f: Callable[[Any], Any],
    gradient: Callable[[Any], Any],
    hessian: Callable[[Any], Any] | None = None,
    *,
    bound: Callable[[Any], Any] | None = None,
) -> BlackBox:
    """A scalar function with first and second derivatives of its own, as one node.

    A simulator, a table or a compiled routine takes part in a program this way. The
    three callables get plain numbers: a float where the argument is a scalar, else an
    array of its shape.

    Args:
        f: ``f(x)`` gives one real number.
        gradient: ``gradient(x)`` gives one entry for each of ``x``.
        hessian: ``hessian(x)`` gives the symmetric matrix of second derivatives, one row
            for each entry of ``x``.
        bound: Instead of ``hessian``: ``bound(x)`` gives nonnegative ``s``, an entry for
            each of ``x``, with ``|H_ij| <= s_i s_j``. Covers are then valid if this is;
            Hessian products are refused.

    Returns:
        A callable of one argument: a recorded scalar or array, a list of recorded
        scalars, variables of another backend that has ``noderef``, or plain numbers.
        Constant entries are folded.

    Raises:
        OptionError: If not exactly one of ``hessian`` and ``bound`` is given.
        ShapeError: When called, if a result has another size.
        DomainError: When called, if a derivative is not finite.
        InputTypeError: If one of them is no function, or when called with anything but
            variables and real numbers.

    Guarantee:
        Gradients and Hessian products are as exact as the derivatives given.

    Cost:
        One call of each callable when recorded, and O(n^2) for a cover with ``hessian``.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> from derivative_covers.extend import blackbox
        >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 4.0]])
        >>> energy = blackbox(lambda x: x @ A @ x / 2, lambda x: A @ x, lambda x: A)
        >>> dc.hessian(lambda x: 2.0 * energy(x), [1.0, 2.0, 3.0])
        array([[4., 2., 0.],
               [2., 6., 0.],
               [0., 0., 8.]])
    """
    if (hessian is None) == (bound is None):
        msg = (
            "blackbox needs exactly one of hessian (exact second derivatives) and bound "
            "(s with |H_ij| <= s_i s_j); for a linear function give bound=np.zeros_like."
        )
        raise OptionError(msg)
    given: dict[str, Any] = {
        "f": f,
        "gradient": gradient,
        "hessian": hessian,
        "bound": bound,
    }
    for name, function in given.items():
        if function is not None and not callable(function):
            msg = (
                f"{name} of a black box is of type {type(function).__name__}; a function of the "
                "point is needed."
            )
            raise InputTypeError(msg)
    return BlackBox(f, gradient, hessian, bound)
