"""Transformations that need first derivatives alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import InputTypeError, ShapeError
from ._node import Bar
from ._package import jnp, tree
from ._program import Run, is_array, options, transformation
from ._results import JacobianCover, Sensitivities

__all__ = ["abs_forward", "abs_reverse", "cover_jacobian", "gramcover"]

Function = Callable[..., Any]


def gramcover(
    f: Function, *, argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Sensitivities]:
    """Transform outputs into a function that covers ``J' J``: one reverse sweep.

    Args:
        f: Function that returns an array or a pytree of arrays.
        argnums: Which positional arguments are differentiated, as of ``jax.grad``; each
            may be any pytree of floating-point arrays.
        has_aux: Whether ``f`` returns ``(value, aux)``.

    Returns:
        A function of the arguments of ``f`` that returns :class:`Sensitivities`, whose
        ``size`` is ``h`` with ``|(J' J)_ij| <= h_i h_j``.

    Raises:
        DomainError: Outside of a trace, if an operation that an output depends on is
            outside of its domain, or a result is not finite.
        NondifferentiableError: Outside of a trace, if one is at a kink, jump or tie.
        UnsupportedOperationError: If a primitive has no rule; see :func:`register`.
        InputTypeError: If the differentiated arguments or the outputs are not real
            floating-point numbers.
        ShapeError: If a shape does not fit.
        OptionError: If an option has a value that cannot be used.

    Guarantee:
        Covers to rounding, if the status is 0.

    Cost:
        About one gradient.

    Source:
        The sum merge of the rows of the Jacobian, over absolute sensitivities.

    Example:
        >>> import jax.numpy as jnp
        >>> from derivative_covers.interop.jax import gramcover
        >>> gramcover(lambda x: [x[0] - x[1], 2 * x[1]])(jnp.ones(2)).size.tolist()
        [1.0, 3.0]
    """

    def make(run: Run) -> Sensitivities:
        h = [bar.g for bar in run.back(run.ones())]
        return Sensitivities(run.value, run.like_inputs(h), run.status(h), run.aux)

    return transformation(f, options(argnums, has_aux, None, None), make, scaled=False)


def abs_reverse(
    f: Function,
    seeds: Any = None,
    *,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
) -> Callable[..., Sensitivities]:
    """Transform a function into sums of its absolute sensitivities over outputs.

    Args:
        f: Function that returns an array or a pytree of arrays.
        seeds: Weights of the outputs, in their structure, of which the magnitudes count;
            None: all 1.
        argnums: Which positional arguments are differentiated, as of ``jax.grad``; each
            may be any pytree of floating-point arrays.
        has_aux: Whether ``f`` returns ``(value, aux)``.

    Returns:
        A function of the arguments of ``f`` that returns :class:`Sensitivities`, whose
        ``size`` is, for each entry of the arguments, the weighted sum over the outputs.

    Raises:
        DomainError: Outside of a trace, if an operation that an output depends on is
            outside of its domain, or a result is not finite.
        NondifferentiableError: Outside of a trace, if one is at a kink, jump or tie.
        UnsupportedOperationError: If a primitive has no rule; see :func:`register`.
        InputTypeError: If the differentiated arguments or the outputs are not real
            floating-point numbers, or ``seeds`` no numbers.
        ShapeError: If ``seeds`` do not fit the outputs.
        OptionError: If an option has a value that cannot be used.

    Guarantee:
        At least the same sum of absolute entries of the Jacobian, to rounding.

    Cost:
        About one gradient.

    Source:
        Absolute values taken along every path of the chain rule.

    Example:
        >>> import jax.numpy as jnp
        >>> from derivative_covers.interop.jax import abs_reverse
        >>> abs_reverse(lambda x: 3 * x[0] - x[1])(jnp.ones(2)).size.tolist()
        [3.0, 1.0]
    """

    def make(run: Run) -> Sensitivities:
        bars = run.ones() if seeds is None else _seeds(run, seeds)
        found = [bar.g for bar in run.back(bars)]
        return Sensitivities(
            run.value, run.like_inputs(found), run.status(found), run.aux
        )

    return transformation(f, options(argnums, has_aux, None, None), make, scaled=False)


def _seeds(run: Run, seeds: Any) -> list[Bar]:
    given, structure = tree.tree_flatten(seeds)
    wanted = tree.tree_structure(run.value)
    if structure != wanted:
        msg = f"seeds have the structure {structure}; {wanted} is needed."
        raise ShapeError(msg)
    shapes = [x.value.shape for x in run.outputs]
    if [jnp.shape(s) for s in given] != shapes:
        msg = f"seeds have shapes {[jnp.shape(s) for s in given]}; {shapes} are needed."
        raise ShapeError(msg)
    if not all(map(is_array, given)):
        msg = f"seeds are {seeds!r}; numbers are needed."
        raise InputTypeError(msg)
    return [
        Bar(g=jnp.abs(jnp.asarray(s)).astype(x.value.dtype))
        for s, x in zip(given, run.outputs, strict=True)
    ]


def abs_forward(
    f: Function,
    scales: Any = None,
    *,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
) -> Callable[..., Sensitivities]:
    """Transform a function into the sizes of its outputs for given sizes of the inputs.

    Args:
        f: Function that returns an array or a pytree of arrays.
        scales: Sizes of the differentiated arguments, as of :func:`cover_hessian`; None:
            all 1.
        argnums: Which positional arguments are differentiated, as of ``jax.grad``; each
            may be any pytree of floating-point arrays.
        has_aux: Whether ``f`` returns ``(value, aux)``.

    Returns:
        A function of the arguments of ``f`` that returns :class:`Sensitivities`, whose
        ``size`` has the structure of the outputs.

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
        At least ``|J| scales``, to rounding.

    Cost:
        About two gradients: a reverse sweep finds out whether faults count.

    Source:
        Absolute values taken along every path of the chain rule.

    Example:
        >>> import jax.numpy as jnp
        >>> from derivative_covers.interop.jax import abs_forward
        >>> float(abs_forward(lambda x: 3 * x[0] - x[1])(jnp.ones(2)).size)
        4.0
    """

    def make(run: Run) -> Sensitivities:
        found = _sizes(run)
        run.back(run.ones())  # finds out what the outputs depend on
        status = run.status(found)
        return Sensitivities(run.value, run.like_outputs(found), status, run.aux)

    return transformation(f, options(argnums, has_aux, scales, None), make, scaled=True)


def _sizes(run: Run) -> list[Any]:
    return [x.scale if x.varies else jnp.zeros_like(x.value) for x in run.outputs]


def cover_jacobian(
    f: Function,
    *,
    argnums: int | Sequence[int] = 0,
    scales: Any = None,
    has_aux: bool = False,
) -> Callable[..., JacobianCover]:
    """Transform a function into one that covers its Jacobian: ``|J_ki| <= a_k b_i``.

    Args:
        f: Function that returns an array or a pytree of arrays.
        argnums: Which positional arguments are differentiated, as of ``jax.grad``; each
            may be any pytree of floating-point arrays.
        scales: Declared scales of the differentiated arguments, in their structure, an
            array or a number a leaf, positive. None: all 1.
        has_aux: Whether ``f`` returns ``(value, aux)``.

    Returns:
        A function of the arguments of ``f`` that returns a :class:`JacobianCover`.

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
        Covers to rounding, if the status is 0.

    Cost:
        About two gradients.

    Source:
        See :func:`derivative_covers.cover_jacobian`, with one group of outputs.

    Example:
        >>> import jax.numpy as jnp
        >>> from derivative_covers.interop.jax import cover_jacobian
        >>> F = lambda x: jnp.stack([1000 * x[0], x[0] - x[1]])
        >>> cover = cover_jacobian(F)(jnp.ones(2))
        >>> cover.a.tolist(), cover.b.tolist()
        ([1000.0, 2.0], [1.5, 0.5])
    """

    def make(run: Run) -> JacobianCover:
        a = _sizes(run)
        seeds = [Bar(g=jnp.where(s > 0, 1 / s, 0)) for s in a]
        b = [bar.g for bar in run.back(seeds)]
        run.finite(a)
        status = run.status(b)
        return JacobianCover(
            run.value, run.like_outputs(a), run.like_inputs(b), status, run.aux
        )

    return transformation(f, options(argnums, has_aux, scales, None), make, scaled=True)
