"""From a user's function and its arguments to a jaxpr of flat arrays, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import Any

import numpy as np

from ...errors import InputTypeError, OptionError, ShapeError
from ._context import Context
from ._interpret import forward, reverse
from ._node import Bar, Node, differentiable, some
from ._package import jax, jnp, tree
from ._results import raised
from ._status import DOMAIN, KINK, infinite, status_of

__all__ = ["Options", "Run", "is_array", "options", "transformation"]


_PROGRAMS = 32  # compiled ones that a transformed function keeps


@dataclass(frozen=True)
class Options:
    """What all transformations take."""

    argnums: int | tuple[int, ...] = 0
    has_aux: bool = False
    scales: Any = None
    ratio: float | None = None


def options(argnums: Any, has_aux: bool, scales: Any, ratio: Any) -> Options:
    """The options of a transformation.

    Raises:
        OptionError: If ``ratio`` is not in [0, 1), or ``argnums`` holds no integers.
    """
    if ratio is not None and not (isinstance(ratio, (int, float)) and 0 <= ratio < 1):
        msg = f"ratio is {ratio!r}, but must be a number in [0, 1)."
        raise OptionError(msg)
    try:
        numbers = (
            tuple(map(index, argnums))
            if isinstance(argnums, Sequence)
            else index(argnums)
        )
    except TypeError:
        msg = f"argnums is {argnums!r}; an integer or a sequence of integers is needed."
        raise OptionError(msg) from None
    return Options(numbers, bool(has_aux), scales, ratio)


class Run:
    """One forward sweep over a function at its arguments, to be swept back.

    Attributes:
        ctx: What was found so far.
        inputs: Flat arrays of the differentiated arguments.
        outputs: Nodes of the function's results, flat.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        options: Options,
        args: Any,
        kwargs: Any,
        scaled: bool,
    ) -> None:
        leaves, self._in_tree = tree.tree_flatten(_chosen(args, options.argnums))
        self.inputs = [_checked(x) for x in leaves]
        trees: list[Any] = []

        def flat(*xs: Any) -> Any:
            given = _replaced(args, options.argnums, self._in_tree.unflatten(xs))
            out = f(*given, **kwargs)
            aux = None
            if options.has_aux:
                if not (isinstance(out, tuple) and len(out) == 2):
                    msg = "has_aux needs a function that returns (value, aux)."
                    raise InputTypeError(msg)
                out, aux = out
            found, out_tree = tree.tree_flatten(out)
            more, aux_tree = tree.tree_flatten(aux)
            for x in (*found, *more):
                if not is_array(x):
                    msg = f"the function returned {x!r}; arrays of numbers are needed."
                    raise InputTypeError(msg)
            trees[:] = [out_tree, aux_tree, len(found)]
            return [*found, *more]

        closed = jax.make_jaxpr(flat)(*self.inputs)
        self._jaxpr = closed.jaxpr
        self._out_tree, aux_tree, n = trees
        self.ctx = Context(options.ratio, scaled)
        scales = self._scales(options.scales) if scaled else [None] * len(self.inputs)
        nodes = [
            Node(x, scale=s, varies=True, token=self.ctx.fresh())
            for x, s in zip(self.inputs, scales, strict=True)
        ]
        results, self._residuals = forward(self.ctx, self._jaxpr, closed.consts, nodes)
        results = [replace(x, value=jnp.asarray(x.value)) for x in results]
        self.outputs, more = results[:n], results[n:]
        self.aux = aux_tree.unflatten([x.value for x in more])
        for x in self.outputs:
            if not differentiable(x.value):
                msg = (
                    f"the function returned an array of type {x.value.dtype}; real "
                    "floating-point outputs are needed."
                )
                raise InputTypeError(msg)

    def _scales(self, scales: Any) -> list[Any]:
        if scales is None:
            return [jnp.ones_like(x) for x in self.inputs]
        leaves, given = tree.tree_flatten(scales)
        if given != self._in_tree:
            msg = (
                f"scales have the structure {given}; that of the differentiated "
                f"arguments is needed, {self._in_tree}."
            )
            raise ShapeError(msg)
        return [_scale(s, x) for s, x in zip(leaves, self.inputs, strict=True)]

    @property
    def value(self) -> Any:
        """The function's result, in its structure."""
        return self._out_tree.unflatten([x.value for x in self.outputs])

    def scalar(self, what: str) -> Node:
        """The only output.

        Raises:
            ShapeError: If the function returned anything but one number.
        """
        if len(self.outputs) != 1 or self.outputs[0].value.shape != ():
            shapes = [x.value.shape for x in self.outputs]
            msg = (
                f"{what} needs a function that returns one number; got shapes {shapes}."
            )
            raise ShapeError(msg)
        return self.outputs[0]

    def ones(self) -> list[Bar]:
        """Absolute cotangents of 1 for all outputs."""
        return [Bar(g=jnp.ones_like(x.value)) for x in self.outputs]

    def like_outputs(self, parts: Sequence[Any]) -> Any:
        """Flat arrays in the structure of the outputs."""
        return self._out_tree.unflatten(list(parts))

    def like_inputs(self, parts: Sequence[Any]) -> Any:
        """Flat arrays in the structure of the differentiated arguments."""
        return self._in_tree.unflatten(list(parts))

    def back(self, bars: Sequence[Bar | None], ctx: Context | None = None) -> list[Bar]:
        """One reverse sweep from the outputs; zeros filled in."""
        ctx = self.ctx if ctx is None else ctx
        bars = [
            bar if node.varies else None
            for bar, node in zip(bars, self.outputs, strict=True)
        ]
        bars = [*bars, *[None] * (len(self._jaxpr.outvars) - len(bars))]
        found = reverse(ctx, self._jaxpr, self._residuals, bars)
        return [
            (bar or Bar()).filled(x)
            for bar, x in zip(found[: len(self.inputs)], self.inputs, strict=True)
        ]

    def finite(self, *results: Sequence[Any]) -> None:
        """Note where arrays are not finite; of several lists, those at one place fit."""
        alone = len(results[0]) == 1
        for parts in zip(*results, strict=True):
            self.ctx.flag(DOMAIN, infinite(parts, alone=alone), "")

    def status(self, *results: Sequence[Any]) -> Any:
        """The status, given arrays that have to be finite, for each input or output."""
        self.finite([x.value for x in self.outputs])
        self.finite(*results)
        return status_of(self.ctx.codes())


def _chosen(args: Any, argnums: int | tuple[int, ...]) -> Any:
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not all(-len(args) <= n < len(args) for n in numbers):
        msg = f"argnums is {argnums!r}, and there are {len(args)} positional arguments."
        raise OptionError(msg)
    if len({n % len(args) for n in numbers}) < len(numbers):
        msg = f"argnums is {argnums!r}, which names an argument twice."
        raise OptionError(msg)
    return (
        args[argnums] if isinstance(argnums, int) else tuple(args[n] for n in argnums)
    )


def _replaced(args: Any, argnums: int | tuple[int, ...], given: Any) -> list[Any]:
    found = list(args)
    if isinstance(argnums, int):
        found[argnums] = given
        return found
    for n, x in zip(argnums, given, strict=True):
        found[n] = x
    return found


def _checked(x: Any) -> Any:
    """A differentiated leaf as an array of real floating-point numbers."""
    try:
        x = jnp.asarray(None if isinstance(x, (str, bytes)) else x)
    except (TypeError, ValueError):
        msg = f"a differentiated argument holds {x!r}; real numbers are needed."
        raise InputTypeError(msg) from None
    if not differentiable(x):
        remedy = "write 1.0 in place of 1"
        if x.dtype.kind == "c":
            remedy = "take the real and the imaginary part as two arguments"
        msg = (
            f"a differentiated argument is an array of type {x.dtype}; real "
            f"floating-point numbers are needed: {remedy}, or choose other arguments with "
            "argnums."
        )
        raise InputTypeError(msg)
    return x


def is_array(x: Any) -> bool:
    """Whether JAX takes a leaf for an array or a number."""
    numbers = (jax.Array, np.ndarray, np.number, np.bool_, int, float, complex)
    return isinstance(x, numbers) or hasattr(x, "__jax_array__")


def _scale(s: Any, x: Any) -> Any:
    if jnp.shape(s) not in {(), jnp.shape(x)}:
        msg = f"scales have shape {jnp.shape(s)}; the argument has {jnp.shape(x)}."
        raise ShapeError(msg)
    if not isinstance(s, jax.core.Tracer):
        try:
            with np.errstate(over="ignore"):
                number = np.asarray(s).astype(x.dtype)  # as it will be used
            proper = bool(((number > 0) & (number < np.inf)).all())
        except (TypeError, ValueError):
            proper = False
        if not proper:
            msg = f"scales must be positive and finite in {x.dtype}; got {s!r}."
            raise OptionError(msg)
    return jnp.broadcast_to(jnp.asarray(s, x.dtype), x.shape)


def _dynamic(x: Any) -> bool:
    return isinstance(x, (jax.Array, np.ndarray, np.generic, jax.core.Tracer))


def transformation(
    f: Callable[..., Any],
    options: Options,
    make: Callable[[Run], Any],
    *,
    scaled: bool,
) -> Callable[..., Any]:
    """The function of ``f``'s arguments that gives ``make(run)``, compiled.

    Outside of a trace it raises what the status stands for.
    """
    function: Any = f
    if not callable(function):
        msg = f"a function is needed; got {type(function).__name__}."
        raise InputTypeError(msg)
    compiled: dict[Any, Any] = {}

    def plain(args: Any, kwargs: Any) -> tuple[Any, Run]:
        run = Run(f, options, args, kwargs, scaled)
        return make(run), run

    def transformed(*args: Any, **kwargs: Any) -> Any:
        numbers = _chosen(range(len(args)), options.argnums)
        own = {n % len(args) for n in np.ravel(numbers).tolist()}
        args = tuple(
            tree.tree_map(_checked, x) if n in own else x for n, x in enumerate(args)
        )
        leaves, structure = tree.tree_flatten((args, kwargs))
        moving = [x if _dynamic(x) else None for x in leaves]
        fixed = tuple(_Same(x) for x in leaves if not _dynamic(x))

        def whole(parts: Any) -> tuple[Any, Any]:
            rest = iter(fixed)
            full = [next(rest).x if x is None else x for x in parts]
            return structure.unflatten(full)  # type: ignore[no-any-return]

        key = (structure, fixed, tuple(x is None for x in moving))
        if key not in compiled:
            while len(compiled) >= _PROGRAMS:
                del compiled[next(iter(compiled))]
            compiled[key] = jax.jit(lambda parts: plain(*whole(parts))[0])
        result = compiled[key](moving)
        status = result.status
        if isinstance(status, jax.core.Tracer) or int(status) not in {DOMAIN, KINK}:
            return result
        raise _culprit(plain, whole, moving, int(status))

    transformed.__name__ = f"{getattr(f, '__name__', 'function')}"
    transformed.__doc__ = f"Transformed from {transformed.__name__}."
    return transformed


def _culprit(plain: Any, whole: Any, moving: Any, status: int) -> Exception:
    """The error of a status, with the name of the first operation that caused it."""
    names: list[str] = []

    def faults(parts: Any) -> list[Any]:
        _, run = plain(*whole(parts))
        mine = [mark for mark in run.ctx.marks if mark.code == status]
        names[:] = [mark.name for mark in mine]
        return [some(mark.where) for mark in mine]

    found = jax.jit(faults)(moving)
    bad = [name for name, at in zip(names, found, strict=True) if name and bool(at)]
    error = raised(status, bad[-1] if bad else "")  # the sweep ran from the end
    assert error is not None
    return error


class _Same:
    """A fixed argument as part of a key: equal in type and value.

    What cannot be hashed may change between two calls, and equals nothing.
    """

    def __init__(self, x: Any) -> None:
        self.x = x
        # As they are written, NaN is equal to itself, and zeros of other signs are not.
        self._what = type(x), repr(x) if isinstance(x, (float, complex)) else x
        try:
            self._hash: int | None = hash(self._what)
        except TypeError:
            self._hash = None

    def __hash__(self) -> int:
        return self._hash or 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Same) or None in {self._hash, other._hash}:
            return False
        return bool(self._what == other._what)
