"""Whether a backend runs programs as the tape does."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..covers import cover_hessian, gradient, hessian, iscover
from ..errors import (
    InputTypeError,
    NondifferentiableError,
    ShapeError,
    TapeError,
    UnsupportedOperationError,
)
from ..tape import (
    CoverVar,
    binarynode,
    constantvar,
    dotnode,
    isconstant,
    linearnode,
    record,
    unarynode,
    value,
)
from ._faults import Faults
from ._programs import PROGRAMS

__all__ = ["check_backend"]

Array = NDArray[Any]
_X0 = np.array([0.7, 1.3, -0.4])


def check_backend(
    variables: Callable[[Array], Sequence[Any]],
    *,
    gradient: Callable[[Any], Any],
    cover: Callable[[Any], Any] | None = None,
    rtol: float = 1e-9,
) -> None:
    """Check that a backend, a subclass of :class:`CoverVar`, keeps its contract.

    Constants fold and are made by the type itself, comparisons go by value and refuse
    exact ties, what would drop a derivative raises, each recorder does what it says or
    raises, and a set of small programs gives the values and gradients of the tape, and
    covers of its Hessian.

    Args:
        variables: ``variables(x0)`` gives fresh input variables, one for each entry of a
            float array.
        gradient: ``gradient(y)`` gives the gradient of a variable with respect to the
            inputs of its program. Their variables are not used afterwards.
        cover: ``cover(y)`` gives ``h`` with ``|H_ij| <= h_i h_j``. None: the backend
            makes no covers.
        rtol: Relative tolerance of gradients and covers.

    Raises:
        ConformanceError: An AssertionError with all faults found.
        InputTypeError: If ``variables`` gives no variables.
        ShapeError: If it gives another number of them than inputs.

    Cost:
        Some milliseconds a program.

    Example:
        >>> import numpy as np
        >>> from derivative_covers import CoverVar
        >>> from derivative_covers.testing import check_backend
        >>> class Tangent(CoverVar):
        ...     def __init__(self, v, dot=None):
        ...         self.v, self.dot = v, dot
        ...     @property
        ...     def is_constant(self):
        ...         return self.dot is None
        ...     def unarynode(self, val, d, c):
        ...         return Tangent(val, d * self.dot)
        ...     def binarynode(self, other, val, d1, d2, c11, c12, c22):
        ...         return Tangent(val, d1 * self.dot + d2 * other.dot)
        >>> def variables(x0):
        ...     return [Tangent(v, e) for v, e in zip(x0, np.eye(x0.size))]
        >>> check_backend(variables, gradient=lambda y: y.dot)
    """
    xs = variables(_X0.copy())
    if len(xs) != 3:
        msg = f"variables(x0) gave {len(xs)} variables for 3 inputs; give one for each."
        raise ShapeError(msg)
    if not all(isinstance(x, CoverVar) for x in xs):
        msg = (
            f"variables(x0) gave a {type(xs[0]).__name__}; a subclass of CoverVar is "
            "needed."
        )
        raise InputTypeError(msg)
    faults = Faults(f"backend {type(xs[0]).__name__}")
    check = _Check(variables, gradient, cover, rtol, faults)
    check.inputs(xs)
    for what in (check.constants, check.comparisons, check.refusals, check.recorders):
        with faults.step(what.__name__):
            what(variables(_X0.copy()))
    for name in PROGRAMS:
        with faults.step(f"the program {name!r}"):
            check.program(name)
    with faults.step("float32"):
        check.single()
    faults.report()


class _Check:
    """The checks of one backend."""

    def __init__(
        self, variables: Any, grad: Any, cover: Any, rtol: float, faults: Faults
    ) -> None:
        self.variables, self.gradient, self.cover = variables, grad, cover
        self.rtol, self.faults = rtol, faults

    def close(self, x: Any, y: Any, scale: float = 1.0) -> bool:
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        size = max(scale, float(np.max(np.abs(y), initial=0.0)))
        return x.shape == y.shape and bool((np.abs(x - y) <= self.rtol * size).all())

    def is_constant(self, what: str, c: Any, v: float) -> None:
        self.faults.expect(
            isinstance(c, CoverVar) and isconstant(c), f"{what} is no constant"
        )
        self.faults.expect(value(c) == v, f"{what} has value {value(c)!r}, not {v}")

    def inputs(self, xs: Sequence[Any]) -> None:
        for k, x in enumerate(xs):
            self.faults.expect(value(x) == _X0[k], f"input {k} has value {value(x)!r}")
            self.faults.expect(not isconstant(x), f"input {k} is a constant")
            with self.faults.step("the gradient of an input"):
                fresh = self.variables(_X0.copy())
                self.derivative(f"input {k}", fresh[k], np.eye(3)[k])

    def derivative(self, what: str, y: Any, want: Any) -> None:
        """The gradient of a variable; it may end the recording."""
        got = np.asarray(self.gradient(y), dtype=np.float64).ravel()
        self.faults.expect(
            self.close(got, want),
            f"{what} has gradient {got.tolist()}, not {np.asarray(want).tolist()}",
        )

    def constants(self, xs: Sequence[Any]) -> None:
        V = type(xs[0])
        two, three = constantvar(V, 2.0), V(3.0)
        self.is_constant(f"constantvar({V.__name__}, 2.0)", two, 2.0)
        self.is_constant("a sum of constants", two + three, 5.0)
        self.is_constant("a product of a constant and a number", 4.0 * three, 12.0)
        self.is_constant("a function of a constant", np.sqrt(V(9.0)), 3.0)
        self.is_constant("the constant 0", V(0.0), 0.0)
        self.faults.expect(float(two) == 2.0, "float() of a constant is not its value")
        folds: tuple[tuple[str, Callable[[Any], Any], float, float], ...] = (
            ("a typed zero plus a variable", lambda x: V(0.0) + x, _X0[0], 1.0),
            ("a constant times a variable", lambda x: two * x, 2 * _X0[0], 2.0),
            ("a variable minus a constant", lambda x: x - three, _X0[0] - 3.0, 1.0),
        )
        for what, fold, v, d in folds:
            y = fold(self.variables(_X0.copy())[0])
            self.faults.expect(not isconstant(y), f"{what} is a constant")
            self.faults.expect(value(y) == v, f"{what} has value {value(y)!r}, not {v}")
            self.derivative(what, y, [d, 0.0, 0.0])

    def comparisons(self, xs: Sequence[Any]) -> None:
        x, y, z = xs
        same = x
        holds = [x < y, y > x, z <= 0, x >= 0.5, x != y, x == same]
        holds += [operator.lt(0.0, y), not operator.eq(x, y), operator.ne(y, 0)]
        self.faults.expect(all(h is True for h in holds), "comparisons go not by value")
        self.faults.expect((x == 0.7) is True, "x == 0.7 at 0.7 is not True")
        for what, tie in (
            ("x < 0.7 at 0.7", lambda: x < 0.7),
            ("x >= y at a tie", lambda: x >= +x),
        ):
            self.faults.refuses(what, (NondifferentiableError,), tie)
        self.faults.expect(hash(x) == hash(x), "a variable has no stable hash")
        self.faults.expect(
            bool(x) is True, "bool() of a variable is not that of its value"
        )

    def refusals(self, xs: Sequence[Any]) -> None:
        x = xs[0]
        refused = (UnsupportedOperationError,)
        for what, run in (
            ("float() of a variable", lambda: float(x)),
            ("a variable as an index", lambda: [1, 2][x]),
            ("math.exp of a variable", lambda: math.exp(x)),
        ):
            self.faults.refuses(what, refused, run)
        self.faults.refuses(
            "storing a variable into a float array", refused, lambda: _store(x)
        )
        self.faults.refuses(
            "unarynode of a constant",
            (TapeError,),
            lambda: unarynode(type(x)(1.0), 1.0, 1.0, 0.0),
        )

    def recorders(self, xs: Sequence[Any]) -> None:
        partials = (5.0, 2.0, -1.0, 1.0, 2.0, 3.0)
        recorders: tuple[tuple[str, Callable[..., Any], float, list[float]], ...] = (
            ("unarynode", lambda x, y, z: unarynode(x, 5, 2, 3), 5.0, [2, 0, 0]),
            (
                "binarynode",
                lambda x, y, z: binarynode(x, y, *partials),
                5.0,
                [2.0, -1.0, 0],
            ),
            (
                "binarynode of one variable twice",
                lambda x, y, z: binarynode(x, x, *partials),
                5.0,
                [1.0, 0, 0],
            ),
            (
                "dotnode",
                lambda x, y, z: dotnode([x, y], [y, z]),
                _X0[0] * _X0[1] + _X0[1] * _X0[2],
                [_X0[1], _X0[0] + _X0[2], _X0[1]],
            ),
            (
                "linearnode",
                lambda x, y, z: linearnode([2.0, -1.0], [x, z]),
                2 * _X0[0] - _X0[2],
                [2.0, 0, -1.0],
            ),
        )
        for name, run, v, d in recorders:
            with self.faults.step(name):
                try:
                    out = run(*self.variables(_X0.copy()))
                except UnsupportedOperationError:
                    continue  # its own choice: what needs the recorder is unavailable
                self.faults.expect(
                    self.close(value(out), v), f"{name} gives {value(out)!r}, not {v}"
                )
                self.faults.expect(not isconstant(out), f"{name} gives a constant")
                self.derivative(name, out, d)

    def program(self, name: str) -> None:
        f, at = PROGRAMS[name]
        x0 = np.array(at)
        y = f(self.variables(x0.copy()))
        tape, out = record(f, x0)
        v = tape.vals[out]
        where = f"the program {name!r}"
        self.faults.expect(
            self.close(value(y), v), f"{where} has value {value(y)!r}, not {v}"
        )
        self.derivative(where, y, gradient(tape, out))
        if self.cover is None:
            return
        again = f(self.variables(x0.copy()))
        h = np.asarray(self.cover(again), dtype=np.float64).ravel()
        if not self.faults.expect(
            h.shape == x0.shape and (h >= 0).all(), f"{where} has cover {h.tolist()}"
        ):
            return
        H = hessian(tape, out)
        self.faults.expect(
            iscover(h, H, rtol=self.rtol),
            f"{where}: {h.tolist()} does not cover the Hessian {H.tolist()}",
        )
        own = cover_hessian(tape, out).h
        self.faults.expect(
            not h[own == 0].any(),
            f"{where}: {h.tolist()} is not zero where the tape's cover {own.tolist()} is",
        )

    def single(self) -> None:
        xs = self.variables(_X0.astype(np.float32))
        y = xs[0] * xs[1] + np.exp(xs[2]) * 2.0
        found = np.asarray(value(y)).dtype
        self.faults.expect(
            found == np.float32, f"values of float32 inputs become {found}"
        )


def _store(x: Any) -> Any:
    target = np.zeros(1)
    target[0] = x
    return target
