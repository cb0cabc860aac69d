"""Covers of Hessians: sum and hybrid merge, least squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import OptionError
from ._context import dealt
from ._node import Bar
from ._package import jnp, lax
from ._program import Run, options, transformation
from ._results import HessianCover, NLSCover

__all__ = ["cover_hessian", "cover_nls"]

Function = Callable[..., Any]


def cover_hessian(
    f: Function,
    merge: str | int = "sum",
    *,
    argnums: int | Sequence[int] = 0,
    scales: Any = None,
    has_aux: bool = False,
    ratio: float | None = None,
) -> Callable[..., HessianCover]:
    """Transform a scalar function into one that covers its Hessian: ``|H_ij| <= h_i h_j``.

    Args:
        f: Function of JAX arrays that returns one number.
        merge: ``"sum"`` takes one reverse sweep. A number of groups is tighter: atoms are
            dealt to so many groups, along the axes of each operation, with the sum
            merge inside a group and quadrature across.
        argnums: Which positional arguments are differentiated, as of ``jax.grad``; each
            may be any pytree of floating-point arrays.
        scales: Declared scales of the differentiated arguments, in their structure, an
            array or a number a leaf, positive. They stand in where the values of a
            product carry no scale. None: 1 there, and the status says so.
        has_aux: Whether ``f`` returns ``(value, aux)``.
        ratio: How lopsided a pair of values must be to carry no scale, in [0, 1); None
            for the square root of the machine epsilon.

    Returns:
        A function of the arguments of ``f`` that returns a :class:`HessianCover`.
        Arguments that are Python numbers or objects and not differentiated are compiled
        in, as static ones of ``jax.jit``: a hashable object must not change.

    Raises:
        DomainError: Outside of a trace, if an operation that an output depends on is
            outside of its domain, or a result is not finite.
        NondifferentiableError: Outside of a trace, if one is at a kink, jump or tie.
        UnsupportedOperationError: If a primitive has no rule; see :func:`register`.
        InputTypeError: If the differentiated arguments or the outputs are not real
            floating-point numbers.
        ShapeError: If ``f`` returns more than one number, or ``scales`` do not fit.
        OptionError: If an option has a value that cannot be used.

    Guarantee:
        Covers to rounding, if the status is 0 or 3. With status 0 it is the sum merge
        of :func:`derivative_covers.cover_hessian` for the same operations on arrays, to
        rounding. It is looser where a program meets an entry again that it has chosen by
        value (``x - x.max()``, ``x * jnp.sort(x)``), which is known on a tape. Functions
        with custom derivatives are differentiated through their definitions, the
        gradient as well, unless :func:`register` gives them a rule.

    Cost:
        About two gradients of the compiled function, or one more for each group.

    Source:
        The chain rule in outer-product form, one rule a primitive; see
        :func:`derivative_covers.cover_hessian`.

    Example:
        >>> import jax.numpy as jnp
        >>> from derivative_covers.interop.jax import cover_hessian
        >>> cover = cover_hessian(lambda x: 8 * x[0] ** 2 + x[1] ** 2 / 2)(jnp.ones(2))
        >>> cover.h.round(3).tolist(), int(cover.status)
        ([4.0, 1.0], 0)
    """
    ngroups = _groups(merge)

    def make(run: Run) -> HessianCover:
        out = run.scalar("cover_hessian")
        grad, h = _covered(run, [Bar(jnp.ones_like(out.value))], ngroups)
        status = run.status(grad, h)
        value, tree = run.value, run.like_inputs
        name = "sum" if ngroups is None else "hybrid"
        return HessianCover(value, tree(grad), tree(h), status, run.aux, name)

    return transformation(
        f, options(argnums, has_aux, scales, ratio), make, scaled=scales is not None
    )


def _covered(
    run: Run, bars: list[Bar], ngroups: int | None
) -> tuple[list[Any], list[Any]]:
    """Gradient and cover of a sum of outputs times their cotangents."""
    found = run.back(bars)
    adj, h = [bar.adj for bar in found], [bar.g for bar in found]
    if ngroups is None:
        return adj, h

    def channel(group: Any) -> list[Bar]:
        ctx = run.ctx.child()  # all faults have been looked for
        ctx.ngroups, ctx.group = ngroups, group
        return run.back(bars, ctx)

    return adj, _across(h, ngroups, channel)


def _across(
    total: list[Any], ngroups: int, channel: Callable[[Any], list[Bar]]
) -> list[Any]:
    """Quadrature across groups, one sweep each, given the sum over all of them.

    In turn and not at once, since arrays of all channels would leave the caches. Where
    squares leave the range of numbers, the sum stands, which covers as well.
    """

    def step(squares: list[Any], group: Any) -> tuple[list[Any], None]:
        found = channel(group)
        return [s + b.g * b.g for s, b in zip(squares, found, strict=True)], None

    zero = [jnp.zeros_like(g) for g in total]
    squares, _ = lax.scan(step, zero, jnp.arange(ngroups, dtype=jnp.int32))

    def rooted(s: Any, g: Any) -> Any:
        limits = jnp.finfo(s.dtype)
        kept = (s > limits.tiny / limits.eps) & (s <= limits.max)
        return jnp.where(kept, jnp.minimum(jnp.sqrt(s), g), g)

    return [rooted(s, g) for s, g in zip(squares, total, strict=True)]


def _hypot(x: Any, y: Any) -> Any:
    """``sqrt(x**2 + y**2)`` of magnitudes, safe from overflow."""
    large, small = jnp.maximum(x, y), jnp.minimum(x, y)
    q = small / jnp.where(large > 0, large, 1)
    return large * jnp.sqrt(1 + q * q)


def _groups(merge: Any) -> int | None:
    if isinstance(merge, str) and merge == "sum":
        return None
    if isinstance(merge, bool) or not isinstance(merge, int) or merge < 1:
        msg = (
            f"merge is {merge!r:.80}; it must be 'sum' or a positive number of groups."
        )
        if isinstance(merge, str):
            msg += " Other merges need a tape, which functions of NumPy have."
        elif not isinstance(merge, (bool, int, float)):
            msg += (
                " The point is the argument of what this gives, as with jax.grad: "
                "cover_hessian(f)(x)."
            )
        raise OptionError(msg)
    return merge


def cover_nls(
    f: Function,
    merge: str | int = "sum",
    *,
    argnums: int | Sequence[int] = 0,
    scales: Any = None,
    has_aux: bool = False,
    ratio: float | None = None,
) -> Callable[..., NLSCover]:
    """Transform residuals into a function that covers the Hessian of half their squares.

    Args:
        f: Function that returns residuals, an array or a pytree of arrays.
        merge: As of :func:`cover_hessian`, for residuals and atoms alike.
        argnums: Which positional arguments are differentiated, as of ``jax.grad``; each
            may be any pytree of floating-point arrays.
        scales: Declared scales of the differentiated arguments, in their structure, an
            array or a number a leaf, positive. They stand in where the values of a
            product carry no scale. None: 1 there, and the status says so.
        has_aux: Whether ``f`` returns ``(value, aux)``.
        ratio: How lopsided a pair of values must be to carry no scale, in [0, 1); None
            for the square root of the machine epsilon.

    Returns:
        A function of the arguments of ``f`` that returns a :class:`NLSCover`.

    Raises:
        DomainError: Outside of a trace, if an operation that an output depends on is
            outside of its domain, or a result is not finite.
        NondifferentiableError: Outside of a trace, if one is at a kink, jump or tie.
        UnsupportedOperationError: If a primitive has no rule; see :func:`register`.
        InputTypeError: If the differentiated arguments or the outputs are not real
            floating-point numbers.
        ShapeError: If ``scales`` do not fit.
        OptionError: If an option has a value that cannot be used.

    Guarantee:
        Each of the three covers its matrix to rounding, if the status is 0 or 3.

    Cost:
        About three gradients; two for each further group.

    Source:
        ``H = J' J + sum_k r_k (Hessian of r_k)``; Cauchy-Schwarz.

    Example:
        >>> import jax.numpy as jnp
        >>> from derivative_covers.interop.jax import cover_nls
        >>> cover = cover_nls(lambda x: [x[0] ** 2 - 3.0, 2 * x[1]])(jnp.ones(2))
        >>> cover.h_gn.round(3).tolist(), cover.h_curv.round(3).tolist()
        ([2.0, 2.0], [2.0, 0.0])
    """
    ngroups = _groups(merge)

    def make(run: Run) -> NLSCover:
        r = [x.value for x in run.outputs]
        grad, curved = _covered(run, [Bar(x) for x in r], ngroups)
        gauss = _gram(run, ngroups)
        h = [_hypot(x, y) for x, y in zip(gauss, curved, strict=True)]
        squares = [jnp.sum(jnp.square(x)) for x in r]
        value = jnp.asarray(sum(squares) / 2)
        status = run.status(grad, h)
        t = run.like_inputs
        name = "sum" if ngroups is None else "hybrid"
        return NLSCover(
            value, t(grad), t(h), t(gauss), t(curved), status, run.aux, name
        )

    return transformation(
        f, options(argnums, has_aux, scales, ratio), make, scaled=scales is not None
    )


def _gram(run: Run, ngroups: int | None) -> list[Any]:
    """Cover of ``J' J``: absolute sensitivities of all outputs added up."""
    total = [bar.g for bar in run.back(run.ones())]
    if ngroups is None:
        return total

    def channel(group: Any) -> list[Bar]:
        seeds = []
        for x in run.outputs:
            here = dealt(x.value.shape, 0, ngroups) == group
            seeds.append(Bar(g=here.astype(x.value.dtype)))
        return run.back(seeds, run.ctx.child())

    return _across(total, ngroups, channel)
