"""Whether a number type keeps the contract of element types."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import nextafter
from typing import Any

import numpy as np

from ..covers import cover_hessian, gradient, hessian, hessian_bound, tape_function
from ..elements import (
    Upward,
    boundtype,
    converted,
    decided_one,
    decided_sign,
    decided_zero,
    is_defined,
    is_element,
    magnitude,
    magtype,
    namespace,
    separation,
    upper,
)
from ..errors import DomainError, InputTypeError, UndecidedError
from ._faults import Faults

__all__ = ["check_element"]

_PLAIN: tuple[Any, ...] = (0, 1, -3, 0.1, -2.5, 0.75, 1e-200, 5e-324, 1e300)
_LARGE = (2**60 + 1, 10**30 + 1)
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x + 1": lambda x, y: x + 1,
    "1 - x": lambda x, y: 1 - x,
    "3 * x": lambda x, y: 3 * x,
    "-x": lambda x, y: -x,
    "abs(x)": lambda x, y: abs(x),
}
_QUOTIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "x / y": lambda x, y: x / y,
    "1 / y": lambda x, y: 1 / y,
}
# What mpmath calls the functions that a namespace may have.
_REFERENCES = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "expm1": "expm1", "log1p": "log1p",
    "arctan": "atan", "arcsinh": "asinh", "arcsin": "asin", "arccos": "acos",
    "arctanh": "atanh", "erf": "erf", "erfc": "erfc", "cbrt": "cbrt",
}  # fmt: skip
_CONTRACT: dict[str, Any] = {
    "converted": converted,
    "decided_one": decided_one,
    "decided_sign": decided_sign,
    "decided_zero": decided_zero,
    "magnitude": magnitude,
    "magtype": magtype,
    "namespace": namespace,
    "separation": separation,
}
_POINTS = (Fraction(1, 4), Fraction(3, 4))


def check_element(
    T: type[Any],
    samples: Sequence[Any] = (),
    *,
    members: Callable[[Any], Iterable[Any]] | None = None,
    holds: Callable[[Any, Fraction], bool] | None = None,
    rtol: float = 1e-9,
) -> None:
    """Check that a number type keeps the contract of element types.

    Floats and integers must be converted exactly, arithmetic must give the type again,
    the decisions must be those of the numbers, magnitudes must not be too small, and
    what is undefined must raise or be told by ``is_defined``. The functions of its
    namespace are held against mpmath, if that is installed, and the derivatives and
    covers of a small program against exact ones.

    Args:
        T: The type.
        samples: Further numbers of it. Where values stand for sets, some with more than
            one member.
        members: ``members(x)`` gives some members of a set, floats or Fractions. None:
            values are points.
        holds: ``holds(x, q)``: whether a Fraction is a member. Needed with ``members``;
            operations must then contain what they give for every choice of members.
        rtol: Relative tolerance for points.

    Raises:
        ConformanceError: An AssertionError with all faults found.
        InputTypeError: If ``members`` comes without ``holds``, or a sample is no ``T``.

    Cost:
        Some milliseconds.

    Example:
        >>> from fractions import Fraction
        >>> from derivative_covers.testing import check_element
        >>> check_element(Fraction, [Fraction(1, 3)])
    """
    if (members is None) != (holds is None):
        msg = "check_element needs members and holds together: both say what a set is."
        raise InputTypeError(msg)
    wrong = [x for x in samples if not isinstance(x, T)]
    if wrong:
        msg = f"check_element got the sample {wrong[0]!r}, which is no {T.__name__}."
        raise InputTypeError(msg)
    faults = Faults(f"number type {T.__name__!r}")
    _Check(T, list(samples), members, holds, rtol, faults).run()
    faults.report()


class _Check:
    """The checks of one type."""

    def __init__(
        self,
        T: Any,
        samples: Any,
        members: Any,
        holds: Any,
        rtol: float,
        faults: Faults,
    ) -> None:
        self.T, self.samples, self.faults, self.rtol = T, samples, faults, rtol
        self.members, self.holds = members, holds

    def run(self) -> None:
        for name, function in _CONTRACT.items():
            if not function.registered(self.T):
                self.faults.add(f"{name} is not registered")
        if self.faults.found:
            return
        with self.faults.step("conversion of plain numbers"):
            self.conversions()
        if self.faults.found:
            return
        plain = [(converted(self.T, c), [Fraction(c)]) for c in (-3, 0.1, 0.75, 7)]
        given = [(x, self.of(x)) for x in self.samples]
        self.pairs = [*plain, *given]
        checks: dict[str, Callable[[], None]] = {
            "a decision": self.decisions,
            "a magnitude": self.sizes,
            "arithmetic": self.arithmetic,
            "a function of the namespace": self.functions,
            "what is undefined": self.undefined,
            "a program": self.program,
        }
        for what, check in checks.items():
            with self.faults.step(what):
                check()

    def of(self, x: Any) -> list[Fraction]:
        """Members of a sample that are known; none for a point."""
        return [] if self.members is None else [Fraction(m) for m in self.members(x)]

    def conversions(self) -> None:
        """Conversion of plain numbers."""
        T, expect = self.T, self.faults.expect
        for c in (*_PLAIN, *_LARGE):
            x = converted(T, c)
            if not expect(
                isinstance(x, T), f"converted(T, {c!r}) gives {type(x).__name__}"
            ):
                return
            expect(
                decided_sign(x) == (c > 0) - (c < 0),
                f"decided_sign of {c!r} is {decided_sign(x)!r}",
            )
            expect(decided_zero(x) == (c == 0), f"decided_zero of {c!r} is wrong")
            expect(decided_one(x) == (c == 1), f"decided_one of {c!r} is wrong")
            if isinstance(c, float):
                near = nextafter(c, np.inf)
                apart = decided_sign(converted(T, near) - x) == 1
                expect(
                    apart and float(x) == c,
                    f"converted does not keep the float {c!r} exactly",
                )
            if self.holds is not None:
                expect(self.holds(x, Fraction(c)), f"the set of {c!r} does not hold it")
        for n in _LARGE:
            one = converted(T, n) - converted(T, n - 1)
            expect(decided_one(one), f"converted does not keep the integer {n} exactly")
        near = converted(T, nextafter(1.0, 2.0))
        expect(not decided_one(near), "decided_one takes the float above 1 for it")

    def decisions(self) -> None:
        """The decisions."""
        for x, inside in self.pairs:
            sign = decided_sign(x)
            self.faults.expect(
                sign in (-1, 0, 1) and decided_sign(-x) == -sign,
                f"decided_sign of {x!r} is {sign!r}, and of its negative {decided_sign(-x)!r}",
            )
            if sign and not all(sign * q > 0 for q in inside):
                self.faults.add(f"decided_sign of {x!r} is not that of all members")
            several = len(set(inside)) > 1
            if several and (decided_zero(x) or decided_one(x)):
                self.faults.add(f"decided_zero or decided_one of {x!r} is not decided")
            if several and boundtype(self.T) is not Upward:
                self.faults.add("values stand for sets, and boundtype is not Upward")
        for (x, p), (y, q) in product(self.pairs, repeat=2):
            gap = Fraction(upper(separation(x, y)))
            most = [abs(a - b) for a in p for b in q]
            if most and gap > min(most) * (1 + Fraction(self.rtol)):
                self.faults.add(
                    f"separation of {x!r} and {y!r} is more than that of members"
                )
            if (
                most
                and self.members is None
                and gap < min(most) * (1 - Fraction(self.rtol))
            ):
                self.faults.add(f"separation of {x!r} and {y!r} is too small")

    def sizes(self) -> None:
        """Magnitudes."""
        M = magtype(self.T)
        for x, inside in self.pairs:
            size = magnitude(x)
            exact = isinstance(size, (float, M))
            self.faults.expect(
                exact,
                f"magnitude of {x!r} is of type {type(size).__name__}, not {M.__name__}",
            )
            least = max(map(abs, inside), default=Fraction(0))
            self.faults.expect(
                Fraction(upper(size)) >= least,
                f"magnitude of {x!r} is too small: {size!r}",
            )
            self.faults.expect(
                upper(magnitude(-x)) == upper(size),
                f"magnitude of {x!r} depends on its sign",
            )

    def arithmetic(self) -> None:
        """Arithmetic."""
        for (x, p), (y, q) in product(self.pairs, repeat=2):
            rules = _ARITHMETIC | {
                f"x**{n}": lambda x, y, n=n: self.power(x, n) for n in (2, 3)
            }
            if decided_sign(y):
                rules |= _QUOTIENTS | {"y**(-1)": lambda x, y: self.power(y, -1)}
            for name, rule in rules.items():
                with self.faults.step(name):
                    found = rule(x, y)
                    if not isinstance(found, self.T):
                        self.faults.add(
                            f"{name} gives a {type(found).__name__}, not the type itself"
                        )
                        continue
                    if not is_defined(found):
                        self.faults.add(f"{name} of {x!r} and {y!r} is not defined")
                    for a, b in product(p, q):
                        self.agrees(name, found, rule(a, b))

    def power(self, x: Any, n: int) -> Any:
        """An integer power, as elementals take it."""
        own = namespace(self.T).get("integer_power")
        return x**n if own is None or not isinstance(x, self.T) else own(x, n)

    def agrees(self, name: str, found: Any, truth: Any) -> None:
        """Note a result that is not the true one, or does not hold it."""
        truth = Fraction(truth)
        if self.holds is not None:
            ok = self.holds(found, truth)
        else:
            ok = abs(float(found) - float(truth)) <= self.rtol * abs(float(truth))
        self.faults.expect(
            ok, f"{name} gives {found!r:.60}, and {float(truth)!r} is right"
        )

    def functions(self) -> None:
        """Functions of the namespace."""
        if importlib.util.find_spec("mpmath") is None:
            return
        mpmath = importlib.import_module("mpmath")
        known = namespace(self.T)
        with mpmath.workdps(60):
            for name, other in _REFERENCES.items():
                if name not in known:
                    continue
                for q in _POINTS:
                    with self.faults.step(name):
                        found = known[name](converted(self.T, float(q)))
                        mp = getattr(mpmath, other)(
                            mpmath.mpf(q.numerator) / q.denominator
                        )
                        truth = Fraction(int(mpmath.nint(mp * 10**50)), 10**50)
                        self.agrees(f"{name}({float(q)})", found, truth)

    def undefined(self) -> None:
        kinds = (ArithmeticError, ValueError, DomainError, UndecidedError)
        known = namespace(self.T)
        one, zero = converted(self.T, 1), converted(self.T, 0)
        questions: dict[str, Callable[[], Any]] = {"1 / 0": lambda: one / zero}
        for name in {"log", "sqrt"} & set(known):
            questions[f"{name}(-1)"] = lambda name=name: known[name](-one)  # type: ignore[misc]
        for what, run in questions.items():

            def told(run: Any = run) -> Any:
                found = run()
                if not isinstance(found, self.T):
                    raise ValueError  # of another type, such as complex: refused
                if not is_defined(found):
                    raise ValueError
                return found

            self.faults.refuses(f"{what}, told by is_defined,", kinds, told)

    def program(self) -> None:
        if not is_element(self.T):
            return
        x, y = Fraction(3, 4), Fraction(-5, 2)
        point = [converted(self.T, float(x)), converted(self.T, float(y))]

        def f(v: Any) -> Any:
            return v[0] * v[0] * v[1] + v[1] / v[0] - 0.1 * v[0]

        tape, out = tape_function(f, point)
        g = [2 * x * y - y / x**2 - Fraction(0.1), x**2 + 1 / x]
        H = [[2 * y + 2 * y / x**3, 2 * x - 1 / x**2], [2 * x - 1 / x**2, Fraction(0)]]
        self.agrees("a value", tape.vals[out], x * x * y + y / x - Fraction(0.1) * x)
        for found, truth in zip(gradient(tape, out), g, strict=True):
            self.agrees("an entry of the gradient", found, truth)
        bound, entries = hessian_bound(tape, out), hessian(tape, out)
        h = [Fraction(float(e)) for e in cover_hessian(tape, out).h]
        room = 1 + (Fraction(self.rtol) if self.holds is None else 0)
        for i, j in product(range(2), repeat=2):
            self.agrees("an entry of the Hessian", entries[i, j], H[i][j])
            size = abs(H[i][j])
            self.faults.expect(
                h[i] * h[j] * room >= size
                and Fraction(upper(bound[i, j])) * room >= size,
                "a cover or bound of a program is too small",
            )
