"""What a chain consists of: steps that can be run, and recorded to be reversed."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Literal

from numpy import dtype, float64, ndarray

from ...covers import check_options
from ...errors import DerivativeError, InputTypeError
from ...rewrite import with_numpy
from ...rewrite._functions import Rewritten
from ..states._states import (
    canonical,
    copy,
    finite,
    leaves,
    matched,
    numbers,
    present,
    rebuild,
    rewrapped,
    space,
)
from ._blame import not_finite
from ._names import name_of
from ._taped import StepRecord, check_type, record_step

__all__ = ["FromVjp", "Pullback", "Taped", "Transition"]

_FLOAT64 = dtype(float64)

Pullback = Callable[[Any, Any], tuple[Any, Any]]


class Transition(ABC):
    """A step: a pure function of a state, of parameters if there are any, and its index.

    :meth:`taped` makes one from a NumPy function, :meth:`from_jax` from one of JAX and
    :meth:`from_vjp` from a function and its reverse rule. Subclasses implement :meth:`forward` and :meth:`record`;
    :func:`derivative_covers.testing.check_transition` checks them.

    A state is a float array of any shape, a number, or a dict, list, tuple or namedtuple
    of states. Steps get numbers as NumPy scalars, and arrays that cannot be written to:
    what a step writes to has to be its own (``x = x.copy()``). ``params`` is None in
    sweeps without parameters.

    Example:
        >>> from derivative_covers.checkpoint import Transition
        >>> class Halve(Transition):
        ...     def forward(self, x, params, k):
        ...         return x / 2
        ...     def record(self, x, params, k):
        ...         return x / 2, lambda ybar, params_bar: (ybar / 2, params_bar)
        >>> y, pullback = Halve().record(3.0, None, 0)
        >>> y, pullback(1.0, None)
        (1.5, (0.5, None))
    """

    @abstractmethod
    def forward(self, x: Any, params: Any, k: int) -> Any:
        """The state after step ``k``.

        Must give the same bits whenever it is called with the same state, and change
        neither ``x`` nor ``params``.
        """

    @abstractmethod
    def record(self, x: Any, params: Any, k: int) -> tuple[Any, Pullback]:
        """The same state, bit for bit, and the reverse rule at ``x``.

        The rule, ``pullback(ybar, params_bar) -> (xbar, params_bar)``, takes the cotangent
        of the state after the step and what later steps have added up for the
        parameters. It gives the cotangent of ``x``, in the space of ``x``, and the
        parameters' with this step's part added (None where there are no parameters). It
        is called once.
        """

    @staticmethod
    def taped(
        f: Callable[..., Any],
        *,
        kinks: Literal["raise", "branch"] = "raise",
        numpy: Literal["rewrite"] | None = None,
    ) -> Taped:
        """A step from a NumPy function, which is recorded where it has to be reversed.

        Args:
            f: Called as ``f(x, k)``, or ``f(x, params, k)`` in sweeps with parameters.
            kinks: ``"branch"`` takes the branch of the value at exact kinks and ties; see
                :func:`derivative_covers.tape_function`.
            numpy: ``"rewrite"`` records the function as
                :func:`derivative_covers.with_numpy` rewrites it, for code that fills
                arrays of ``np.zeros`` or calls ``math``. Such a step is recorded (and its
                tape dropped) where others just run, since functions of ``math`` and
                NumPy's may differ in the last bit: it takes two to five times as long. So
                is a function that ``with_numpy`` decorates.

        Returns:
            The transition. State, parameters and output of a step have one type, float64
            or float32.

        Raises:
            InputTypeError: (a TypeError) if ``f`` cannot be called.
            OptionError: (a ValueError) for other options.

        Cost:
            A recorded step about 1 microsecond more for each NumPy call, and three to
            five times the step to reverse it; one that is not recorded the call of ``f``.

        Example:
            >>> import numpy as np
            >>> from derivative_covers.checkpoint import Transition
            >>> step = Transition.taped(lambda x, k: x + 0.1 * np.sin(x))
            >>> y, pullback = step.record(np.array([0.0, 1.0]), None, 0)
            >>> pullback(np.array([1.0, 0.0]), None)[0]
            array([1.1, 0. ])
        """
        return Taped(f, kinks=kinks, numpy=numpy)

    @staticmethod
    def compiled(
        f: Callable[..., Any],
        *,
        data: Any = None,
        kinks: Literal["raise", "branch"] = "raise",
    ) -> Taped:
        """A step from a NumPy function, recorded once and then run by compiled code.

        As :meth:`taped`, for steps that run a million times: gradient sweeps evaluate
        all steps between two actions of a plan in one call. What a step calls beside
        NumPy is not called again, and whatever it takes from outside of its arguments is
        frozen as it was when the step was recorded.

        The index is a recorded variable: use it in arithmetic and comparisons. A program
        that takes another branch somewhere is recorded there once more; the eight
        branches used last are kept.

        Args:
            f: Called as ``f(x, k)``, or ``f(x, params, k)`` in sweeps with parameters.
            data: What depends on the step and is no function of its index: an array with
                the steps along its first axis, or a dict, list, tuple or namedtuple of
                them. Then ``f(x, k, d)``, or ``f(x, params, k, d)``, gets row ``k`` as
                ``d``. No derivative is taken with respect to it.
            kinks: As for :meth:`taped`.

        Returns:
            The transition. Steps run as those of :meth:`taped` do where nothing compiled
            can: in covers and Hessian products, in single precision, where a step
            changes the shape of the state, leaves its domain or meets a kink, in the
            last step of a chain, and where nothing is compiled at all.

        Raises:
            InputTypeError: (a TypeError) if ``f`` cannot be called.
            ShapeError: (a ValueError) if data has no first axis that all of it shares.
            OptionError: (a ValueError) for other options.
            ReplayError: (a RuntimeError) from a sweep whose steps need their index or
                data as plain numbers, have constants that depend on the index, or cannot
                be replayed for another reason; the message says which.

        Guarantee:
            All schedules give the same bits; compiled functions such as ``exp`` may
            differ from NumPy's in the last bits, and sums in the order of additions.

        Cost:
            The first evaluation records the step twice and may compile its operations.

        Example:
            >>> import numpy as np
            >>> from derivative_covers import checkpoint as cp
            >>> def step(x, k, wind):
            ...     return x + 0.01 * (wind - x * x)
            >>> wind = np.sin(np.linspace(0.0, 6.0, 500))
            >>> step = cp.Transition.compiled(step, data=wind)
            >>> chain = cp.Chain([cp.Chain.uniform(500, step), lambda x, k: np.sum(x)])
            >>> result = cp.reverse_sweep(
            ...     chain, np.array([0.5, 0.7]),
            ...     schedule=cp.UniformBlock(slots=20, record="block"),
            ... )
            >>> result.cotangent.shape
            (2,)
        """
        kind: Any = import_module("._compiled", __package__).Compiled
        made: Taped = kind(f, data=data, kinks=kinks)
        return made

    @staticmethod
    def from_vjp(f: Callable[..., Any], vjp: Callable[..., Any]) -> FromVjp:
        """A step from a function and its reverse rule: JAX, PyTorch, written by hand.

        Args:
            f: Called as ``f(x, k)``, or ``f(x, params, k)`` in sweeps with parameters.
                What it returns may be of any kind that NumPy reads as floats.
            vjp: ``vjp(x, ybar, k) -> xbar``, or
                ``vjp(x, params, ybar, k) -> (xbar, params_bar)`` with the part of this
                step alone, which is added to that of later steps.

        Returns:
            The transition. Types are free; cotangents are converted to the type of what
            they belong to.

        Raises:
            InputTypeError: (a TypeError) if one of them cannot be called.

        Cost:
            A recorded step the call of ``f`` and a copy of the state.

        Example:
            >>> from derivative_covers.checkpoint import Transition
            >>> step = Transition.from_vjp(
            ...     lambda x, k: x**2, lambda x, ybar, k: 2 * x * ybar
            ... )
            >>> y, pullback = step.record(3.0, None, 0)
            >>> float(y), pullback(1.0, None)[0]
            (9.0, np.float64(6.0))
        """
        return FromVjp(f, vjp)

    @staticmethod
    def from_jax(f: Callable[..., Any]) -> FromVjp:
        """A step written with ``jax.numpy``, compiled by JAX and reversed by ``jax.vjp``.

        Args:
            f: Called as ``f(x, k)``, or ``f(x, params, k)`` in sweeps with parameters; a
                function that ``jax.jit`` takes. The index is traced, so that no step
                compiles anew: branch on it by ``jax.lax.cond`` or ``jnp.where``.

        Returns:
            The transition. States in float64 are computed in double precision, whatever
            JAX's flag says, and those in float32 in single.

        Raises:
            InputTypeError: (a TypeError) if ``f`` cannot be called.
            ImportError: If JAX is not installed.

        Guarantee:
            All schedules give the same bits. JAX gives the derivative of one side at a
            kink, and so does the step.

        Cost:
            A call into compiled code, some tens of microseconds beside the work itself.
            The reverse rule evaluates the step once more.

        Example:
            >>> import numpy as np
            >>> import jax.numpy as jnp
            >>> from derivative_covers import checkpoint as cp
            >>> step = cp.Transition.from_jax(lambda x, k: x + 0.1 * jnp.sin(x))
            >>> y, pullback = step.record(np.array([0.0, 1.0]), None, 0)
            >>> pullback(np.array([1.0, 0.0]), None)[0]
            array([1.1, 0. ])
        """
        _check_callable(f, "f")
        forward, vjp = import_module("._jax", __package__).compiled_pair(f)
        return FromVjp(forward, vjp, f"from_jax({name_of(f)})")


class Taped(Transition):
    """A step whose reverse rule comes from a tape; see :meth:`Transition.taped`.

    Attributes:
        function: The step as it was given.
        branch: Whether kinks and ties take the value's branch.
        rewritten: What is recorded in its place, whenever it runs; None for itself.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        *,
        kinks: Literal["raise", "branch"] = "raise",
        numpy: Literal["rewrite"] | None = None,
    ) -> None:
        check_options((), None, kinks, numpy)
        _check_callable(f, "f")
        self.function = f
        self.branch = kinks == "branch"
        rewrites = numpy is not None or isinstance(f, Rewritten)
        self.rewritten = with_numpy(f) if rewrites else None

    def forward(self, x: Any, params: Any, k: int) -> Any:
        """The state after step ``k``: the function's own call."""
        if self.rewritten is not None:
            return self.step(x, params, k).y
        f = self.function
        try:
            y = f(x, k) if params is None else f(x, params, k)
        except TypeError as error:
            _explain_call(error, f, "f", "x", params, "k")
            raise
        try:
            if y.dtype is x.dtype:
                return y
        except AttributeError:
            pass
        check_type(y, x, k)
        return y

    def record(self, x: Any, params: Any, k: int) -> tuple[Any, Pullback]:
        """The same state and the sweep back over the step's tape."""
        step = self.step(x, params, k)
        step.check()
        y, step.y = step.y, None
        return y, step.pullback

    def step(self, x: Any, params: Any, k: int, ids: Any = None) -> StepRecord:
        """The recorded step; see :func:`record_step`. Its outputs are not checked."""
        f = self.rewritten or self.function
        try:
            return record_step(f, x, params, k, branch=self.branch, ids=ids)
        except TypeError as error:
            _explain_call(error, self.function, "f", "x", params, "k")
            raise

    def __repr__(self) -> str:
        return f"Transition.taped({name_of(self.function)})"


class FromVjp(Transition):
    """A step with a reverse rule of the user's; see :meth:`Transition.from_vjp`."""

    def __init__(
        self, f: Callable[..., Any], vjp: Callable[..., Any], made: str = ""
    ) -> None:
        _check_callable(f, "f")
        _check_callable(vjp, "vjp")
        self.function = f
        self.vjp = vjp
        self._made = made or f"from_vjp({name_of(f)}, {name_of(vjp)})"

    def forward(self, x: Any, params: Any, k: int) -> Any:
        """The state after step ``k``: the function's own call."""
        f = self.function
        try:
            return f(x, k) if params is None else f(x, params, k)
        except TypeError as error:
            self.explain(error, params)
            raise

    def record(self, x: Any, params: Any, k: int) -> tuple[Any, Pullback]:
        """The same state, and the rule at a copy of ``x``."""
        y, pullback = self.raw_record(x, params, k)
        y = canonical(y, "the output", k)
        if not finite(y):
            raise not_finite(y, "its output")
        return y, pullback

    def raw_record(self, x: Any, params: Any, k: int) -> tuple[Any, Pullback]:
        """As :meth:`record`, with the output as it came."""
        # A copy: a step may use the memory of a state for a later one.
        at: Any
        if type(x) is ndarray and x.dtype is _FLOAT64:
            at = x.copy()
            at.setflags(False)
        elif numbers(x):
            at = x
        else:
            at = present(copy(canonical(x, "the state", k)))
        f = self.function
        try:
            y = f(x, k) if params is None else f(x, rewrapped(params), k)
        except TypeError as error:
            self.explain(error, params)
            raise
        return y, partial(self.pull, at, params, k)

    def explain(self, error: TypeError, params: Any) -> None:
        """Raises where the function cannot be called as a sweep calls it."""
        _explain_call(error, self.function, "f", "x", params, "k")

    def explain_rule(self, error: TypeError, params: Any) -> None:
        """The same for the reverse rule."""
        _explain_call(error, self.vjp, "vjp", "x", params, "ybar", "k")

    def pull(
        self, x: Any, params: Any, k: int, ybar: Any, params_bar: Any
    ) -> tuple[Any, Any]:
        """The reverse rule of one recorded step."""
        vjp = self.vjp
        try:
            if params is None:
                found = vjp(x, ybar, k)
            else:
                found = vjp(x, rewrapped(params), ybar, k)
        except TypeError as error:
            self.explain_rule(error, params)
            raise
        if params is None:
            return found, None
        if not isinstance(found, tuple) or len(found) != 2:
            what = (
                f"a tuple of {len(found)}" if isinstance(found, tuple) else repr(found)
            )
            msg = (
                f"vjp of step {k} returned {what:.80}; in a sweep with parameters it must "
                "return (xbar, params_bar), with zeros where nothing depends on them."
            )
            raise InputTypeError(msg)
        xbar, part = found
        if _alike(part, params) and _alike(part, params_bar):  # as nearly always
            return xbar, params_bar + part
        target = space(canonical(params, "params"))
        added = leaves(matched(part, target, "params_bar", k))
        before = matched(params_bar, target, "the incoming params_bar", k)
        total = [a + b for a, b in zip(leaves(before), added, strict=True)]
        return xbar, rebuild(before, map(_array, total))

    def __repr__(self) -> str:
        return f"Transition.{self._made}"


def _alike(a: Any, b: Any) -> bool:
    """Whether both are ordinary arrays of one shape and type."""
    return (
        type(a) is type(b) is ndarray
        and a.dtype is b.dtype
        and a.shape == b.shape != ()
        and a.flags.c_contiguous
    )


def _array(a: Any) -> Any:
    return canonical(a, "params_bar")


def _check_callable(f: Any, name: str) -> None:
    if not callable(f):
        msg = f"{name} is of type {type(f).__name__}; a function is needed."
        raise InputTypeError(msg)


def _explain_call(
    error: TypeError, f: Any, name: str, first: str, params: Any, *rest: str
) -> None:
    """Raise an error that says how a step is called, if that is what went wrong.

    Where the function could be called with parameters as well, and got none, a note says
    so: the index may stand where it expects them.

    Raises:
        InputTypeError: If the function does not take these arguments.
    """
    bare, full = [first, *rest], [first, "params", *rest]
    names, others = (bare, full) if params is None else (full, bare)
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return
    takes = _takes(signature, others)
    wrong = _wrong(signature, names)
    form, other = (f"{name}({', '.join(n)})" for n in (names, others))
    if wrong:
        remedy = ""
        if takes and params is None:
            remedy = f" It can be called as {other}: give the sweep params=..."
        elif takes:
            remedy = (
                f" It can be called as {other}, with {rest[-1]} the index of the step: "
                "give the function one more argument, or the sweep no params."
            )
        msg = (
            f"{name_of(f)} cannot be called as {form}, which is how a sweep "
            f"{'without' if params is None else 'with'} parameters calls it: {wrong}."
            f"{remedy}"
        )
        raise InputTypeError(msg) from error
    note = (
        f"{name_of(f)} was called as {form}, since the sweep has no parameters. If it "
        f"expects {other}, give the sweep params=..."
    )
    known = isinstance(error, DerivativeError) or note in getattr(
        error, "__notes__", ()
    )
    if params is None and takes and not known:
        error.add_note(note)


def _takes(signature: inspect.Signature, names: list[str]) -> bool:
    return not _wrong(signature, names)


def _wrong(signature: inspect.Signature, names: list[str]) -> str:
    """Why a function does not take so many arguments; nothing where it does."""
    try:
        signature.bind(*names)
    except TypeError as error:
        return str(error)
    return ""
