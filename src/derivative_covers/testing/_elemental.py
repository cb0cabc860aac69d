"""Whether an elemental's value and rules are what the sweeps take them for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import Elemental, ElementalFunction, Rule
from ..errors import InputTypeError, ShapeError, UnsupportedOperationError
from ._faults import Faults, same_bits
from ._oracle import by_differences, by_digits, orders_of, sides_differ

__all__ = ["check_elemental"]

Array = NDArray[Any]
_LINE = (0.0, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0, 1.1, 1.7, 2.5, 6.3, 20.0)
_GRID = (-6.3, -1.7, -0.31, 0.0, 0.95)
_NAMES = {1: ("d", "c"), 2: ("d1", "d2", "c11", "c12", "c22")}


def check_elemental(
    elemental: Elemental | ElementalFunction,
    points: Any = None,
    *,
    reference: Callable[..., Any] | None = None,
    rtol: float | None = None,
) -> None:
    """Check that an elemental keeps its contract.

    The value must be finite inside the domain, arrays must give the bits of scalars and
    float32 must stay float32; domain and kink must answer in booleans of the operands'
    shape; partials must be finite and agree with an independent oracle, and the rules
    with one operand constant with the full rule. The ufuncs that it answers to must
    give its value.

    Args:
        elemental: What :class:`Elemental` or the decorator made.
        points: Operands to check at: shape (k,), or (k, 2) for two operands. None: some
            of both signs from 1e-3 to 20. Points outside of the domain or at a kink are
            left out.
        reference: The same function on numbers of mpmath. Partials are then compared
            with its derivatives at 50 digits, and values with its values; otherwise with
            extrapolated differences of the elemental's own value.
        rtol: Relative tolerance, beside what the differences allow for themselves. None:
            1e-9 with a reference and 1e-5 without.

    Raises:
        ConformanceError: An AssertionError with all faults found.
        InputTypeError: If this is no elemental.
        ShapeError: If ``points`` has another shape, or none lies in the domain.

    Cost:
        Some milliseconds a point.

    Example:
        >>> import mpmath
        >>> from derivative_covers.extend import by_name
        >>> from derivative_covers.testing import check_elemental
        >>> check_elemental(by_name("tanh"), reference=mpmath.tanh)
    """
    op: Any = getattr(elemental, "elemental", elemental)
    if not isinstance(op, Elemental):
        msg = (
            f"check_elemental got a {type(op).__name__}; an Elemental is needed, or what "
            "the decorator extend.elemental gives."
        )
        raise InputTypeError(msg)
    faults = Faults(f"elemental {op.name!r}")
    columns = _columns(op, points)
    _Check(op, faults, columns).run(reference, rtol)
    faults.report()


def _columns(op: Elemental, points: Any) -> tuple[Array, ...]:
    """Values of each operand, all points in a row."""
    if points is None:
        line = [s * x for x in _LINE for s in (1, -1)]
        rows: Any = line if op.arity == 1 else list(product(_GRID, _GRID))
    else:
        rows = points
    a = np.asarray(rows, dtype=np.float64)
    wanted = 1 if op.arity == 1 else 2
    if a.ndim != wanted or not a.size or (wanted == 2 and a.shape[1] != 2):
        msg = (
            f"points has shape {a.shape}; {op.name!r} takes {op.arity} operand(s), so "
            f"{'(k,)' if wanted == 1 else '(k, 2)'} is needed, with k > 0."
        )
        raise ShapeError(msg)
    return (a,) if wanted == 1 else (a[:, 0].copy(), a[:, 1].copy())


def _ufunc(name: str) -> Callable[..., Any]:
    """The ufunc of a registered name, such as ``"special.sici[0]"``."""
    full, _, part = name.partition("[")
    module, _, last = full.rpartition(".")
    home = importlib.import_module(f"scipy.{module}") if module else np
    ufunc: Callable[..., Any] = getattr(home, last)
    if not part:
        return ufunc
    return lambda *operands: ufunc(*operands)[int(part[:-1])]


class _Check:
    """The checks of one elemental at some points."""

    def __init__(self, op: Elemental, faults: Faults, columns: tuple[Array, ...]):
        self.op, self.faults, self.all = op, faults, columns
        self.names = _NAMES[op.arity]

    def run(self, reference: Any, rtol: float | None) -> None:
        keep = self.smooth(self.op.rule, "rule", self.all)
        self.inside = tuple(x[keep] for x in self.all)
        if not keep.any():
            msg = (
                f"no point lies in the domain of {self.op.name!r} and off its kinks; "
                "give points= inside."
            )
            if not self.faults.found:
                raise ShapeError(msg)
            self.faults.add(msg)
            return
        with self.faults.step("value(xp, ...)"):
            self.values()
            self.kinks()
            rules = [self.full_rule(reference, rtol)]
            if self.op.arity == 2:
                rules += [self.one_constant(k, reference, rtol) for k in (0, 1)]
            self.faults.expect(any(rules), "no rule gives any partials")

    def point(self, k: int) -> str:
        return f"({', '.join(repr(float(x[k])) for x in self.inside)})"

    def worst(self, wrong: Array, what: Callable[[int], str]) -> None:
        """Note the first of the points where something is wrong."""
        at = np.flatnonzero(wrong)
        if at.size:
            more = f" (and at {at.size - 1} other points)" if at.size > 1 else ""
            self.faults.add(what(int(at[0])) + more)

    # -- domain and kinks ----------------------------------------------------------

    def smooth(self, rule: Rule, name: str, operands: tuple[Array, ...]) -> Array:
        """Where a rule says that the elemental is smooth; checks how it says so."""
        keep = np.ones(len(operands[0]), dtype=bool)
        for what, test, good in (
            ("domain", rule.domain, True),
            ("kink", rule.kink, False),
        ):
            if test is None:
                continue
            with self.faults.step(f"{what} of the {name}"):
                found = np.asarray(test(np, *operands))
                single = [test(np, *(x[k] for x in operands)) for k in range(len(keep))]
                self.faults.expect(
                    found.dtype == bool
                    and all(np.asarray(s).dtype == bool for s in single),
                    f"{what} of the {name} gives {found.dtype}; booleans are needed",
                )
                if self.faults.expect(
                    found.shape in ((), keep.shape)
                    and all(np.shape(s) == () for s in single),
                    f"{what} of the {name} gives shape {found.shape} for operands of "
                    f"shape {keep.shape}",
                ):
                    same = np.broadcast_to(found, keep.shape) == np.array(single)
                    self.faults.expect(
                        same.all(),
                        f"{what} of the {name} differs on arrays and scalars",
                    )
                    keep &= found.astype(bool) == good
        return keep

    # -- values ----------------------------------------------------------------------

    def value(self, *operands: Any) -> Any:
        with np.errstate(all="ignore"):
            return self.op.value(np, *operands)

    def values(self) -> None:
        x = self.inside
        v = np.asarray(self.value(*x))
        if not self.faults.expect(
            v.shape == x[0].shape, f"value of arrays {x[0].shape} has shape {v.shape}"
        ):
            return
        self.worst(
            ~np.isfinite(v),
            lambda k: f"value at {self.point(k)} is {v[k]}, inside the domain",
        )
        single = np.array([self.value(*(e[k] for e in x)) for k in range(v.size)])
        self.worst(
            ~((single == v) | ((single != single) & (v != v))),
            lambda k: (
                f"value at {self.point(k)} is {single[k]} of scalars and {v[k]} in an array"
            ),
        )
        short = tuple(e.astype(np.float32) for e in x)
        narrow = np.asarray(self.value(*short)).dtype
        for name in self.op.ufuncs:
            with self.faults.step(f"the ufunc {name}"):
                ufunc = _ufunc(name)
                w = ufunc(*x)
                if ufunc(*short).dtype != np.float32:  # numpy.float_power
                    narrow = np.dtype(np.float32)
                self.worst(
                    ~np.isclose(w, v, rtol=1e-14, atol=0.0, equal_nan=True),
                    lambda k, w=w, name=name: (  # type: ignore[misc]
                        f"value at {self.point(k)} is {v[k]}, but the ufunc {name} gives {w[k]}"
                    ),
                )
        self.faults.expect(narrow == np.float32, f"value of float32 has type {narrow}")
        self.single("value", lambda at: (self.value(*at),))

    def kinks(self) -> None:
        """A derivative with two sides needs a ``kink`` or the end of a ``domain``."""
        for k, slot, order in product(
            range(self.inside[0].size), range(self.op.arity), (1, 2)
        ):
            at = tuple(float(x[k]) for x in self.inside)
            if sides_differ(self.value, self.is_smooth, at, slot, order):
                self.faults.add(
                    f"derivative {order} in operand {slot} has two sides at "
                    f"{self.point(k)}, which neither domain nor kink tells"
                )
                return

    def single(self, what: str, of: Callable[[tuple[Array, ...]], Any]) -> None:
        """Numbers in float32 must be those in float64, to a coarse tolerance."""
        short = tuple(x.astype(np.float32) for x in self.inside)
        exact = tuple(x.astype(np.float64) for x in short)
        smooth = np.array([self.is_smooth(*at) for at in zip(*exact, strict=True)])
        for k, (a, b) in enumerate(zip(of(short), of(exact), strict=True)):
            low = np.broadcast_to(np.asarray(a, dtype=np.float64), smooth.shape)
            full = np.broadcast_to(np.asarray(b, dtype=np.float64), smooth.shape)
            name = what if what == "value" else f"{self.names[k]} of {what}"
            sure = smooth & (np.abs(full) < 1e18) & np.isfinite(low)
            self.worst(
                sure & (np.abs(low - full) > 1e-2 * np.maximum(np.abs(full), 1.0)),
                lambda i, name=name, low=low, full=full: (  # type: ignore[misc]
                    f"{name} at {self.point(i)} is {low[i]} in float32 and {full[i]} in "
                    "float64"
                ),
            )

    # -- rules -------------------------------------------------------------------------

    def partials(
        self, rule: Rule, operands: tuple[Any, ...], name: str, size: int
    ) -> list[Array] | None:
        """Entries of a rule as arrays, checked for number, shape and type."""
        n = max(np.size(x) for x in operands)
        v = self.value(*operands)
        with np.errstate(all="ignore"):
            found = rule.partials(np, *operands, v)
        if not self.faults.expect(
            len(found) == size, f"{name} gives {len(found)} entries; {size} are needed"
        ):
            return None
        out = []
        for k, part in enumerate(found):
            a = np.asarray(part)
            if not self.faults.expect(
                a.shape in ((), (n,)),
                f"entry {k} of {name} has shape {a.shape} for operands of shape {(n,)}",
            ):
                return None
            weak = isinstance(part, (int, float)) and not isinstance(part, np.floating)
            self.faults.expect(
                weak or a.dtype == np.asarray(v).dtype,
                f"entry {k} of {name} has type {a.dtype} for operands of type "
                f"{np.asarray(v).dtype}",
            )
            out.append(np.broadcast_to(a.astype(np.float64), (n,)))
        return out

    def full_rule(self, reference: Any, rtol: float | None) -> bool:
        """Whether there is a rule for all operands; checks it."""
        with self.faults.step("the rule"):
            try:
                found = self.rule()
            except UnsupportedOperationError:
                return False  # an operand that has to be constant, which the rule says
            if found is not None:
                orders = orders_of(self.op.arity)
                self.oracle(self.names, orders, found, reference, rtol)
        return True

    def rule(self) -> list[Array] | None:
        x, size = self.inside, len(self.names)
        found = self.partials(self.op.rule, x, "the rule", size)
        narrow = tuple(e.astype(np.float32) for e in x)
        self.partials(self.op.rule, narrow, "the rule", size)
        if found is None:
            return None
        self.scalars(self.op.rule, x, found, self.names)
        self.finite(found, self.names)
        self.single(
            "the rule", lambda at: self.op.rule.partials(np, *at, self.value(*at))
        )
        return found

    def finite(self, found: list[Array], names: tuple[str, ...]) -> None:
        for name, part in zip(names, found, strict=True):
            self.worst(
                ~np.isfinite(part),
                lambda k, name=name, part=part: (  # type: ignore[misc]
                    f"{name} at {self.point(k)} is {part[k]}, inside the domain"
                ),
            )

    def scalars(
        self,
        rule: Rule,
        x: tuple[Array, ...],
        found: list[Array],
        names: tuple[str, ...],
    ) -> None:
        """Entries of a rule at one point at a time must have the bits of the array's."""
        for k in range(x[0].size):
            at = tuple(e[k] for e in x)
            with np.errstate(all="ignore"):
                single = rule.partials(np, *at, self.value(*at))
            for name, one, whole in zip(names, single, found, strict=True):
                if not same_bits(np.float64(one), np.float64(whole[k])):
                    self.faults.add(
                        f"{name} at {self.point(k)} is {one} of scalars and {whole[k]} "
                        "in an array"
                    )
                    return

    def one_constant(self, slot: int, reference: Any, rtol: float | None) -> bool:
        """Whether there is a rule with the other operand constant; checks it."""
        name = f"the rule with operand {1 - slot} constant"
        rule = self.op.rule_first() if slot == 0 else self.op.rule_second()
        with self.faults.step(name):
            self.smooth(rule, name, self.all)
            try:
                found = self.partials(rule, self.inside, name, 2)
            except UnsupportedOperationError:
                return False
            if found is not None:
                self.scalars(rule, self.inside, found, ("d", "c"))
                self.finite(found, ("d", "c"))
                if not self.agrees(slot, name, found):
                    orders = ((1 - slot, slot), (2 - 2 * slot, 2 * slot))
                    names = (f"d of {name}", f"c of {name}")
                    self.oracle(names, orders, found, reference, rtol)
                self.one_number(slot, name, rule, found)
        return True

    def agrees(self, slot: int, name: str, found: list[Array]) -> bool:
        """Hold a rule with a constant operand against the full rule, if there is one."""
        try:
            full = self.partials(self.op.rule, self.inside, "the rule", 5)
        except UnsupportedOperationError:
            return False
        if full is None:
            return True
        own = (full[0], full[2]) if slot == 0 else (full[1], full[4])
        for short, one, whole in zip(("d", "c"), found, own, strict=True):
            size = np.maximum(np.abs(one), np.abs(whole))
            self.worst(
                ~(np.abs(one - whole) <= 1e-11 * size),
                lambda k, short=short, one=one, whole=whole: (  # type: ignore[misc]
                    f"{short} of {name} at {self.point(k)} is {one[k]}, and {whole[k]} in "
                    "the full rule"
                ),
            )
        return True

    def one_number(self, slot: int, name: str, rule: Rule, found: list[Array]) -> None:
        """The constant may come as one number beside an array."""
        fixed = self.inside[1 - slot]
        where = np.flatnonzero(fixed == fixed[0])
        mixed: list[Any] = [x[where] for x in self.inside]
        mixed[1 - slot] = fixed[0]
        lone = self.partials(rule, tuple(mixed), f"{name}, one number", 2)
        for short, one, whole in zip(("d", "c"), lone or [], found, strict=False):
            self.faults.expect(
                np.allclose(one, whole[where], rtol=1e-12, atol=0.0, equal_nan=True),
                f"{short} of {name} differs where the constant is one number",
            )

    # -- the oracle ----------------------------------------------------------------------

    def oracle(
        self,
        names: tuple[str, ...],
        orders: tuple[tuple[int, ...], ...],
        found: list[Array],
        reference: Any,
        rtol: float | None,
    ) -> None:
        """Hold entries against derivatives of the value, or of the reference."""
        tolerance = rtol if rtol is not None else (1e-9 if reference else 1e-5)
        v = np.asarray(self.value(*self.inside))
        checks = list(zip(names, orders, found, strict=True))
        if reference is not None:
            checks.append(("value", (0,) * self.op.arity, v))
        for name, order, part in checks:
            for k in range(v.size):
                true, error = self.true(k, order, reference)
                if not np.isfinite(error) or np.isnan(true):
                    continue
                if not abs(part[k] - true) <= tolerance * abs(true) + error:
                    self.faults.add(
                        f"{name} at {self.point(k)} is {part[k]}, but "
                        f"{'the reference gives' if reference else 'differences give'} {true}"
                    )
                    break

    def true(
        self, k: int, order: tuple[int, ...], reference: Any
    ) -> tuple[float, float]:
        """A derivative at point ``k`` and what it may be wrong by."""
        at = tuple(float(x[k]) for x in self.inside)
        if reference is not None:
            return by_digits(reference, at, order), 1e-30 * max(1.0, *map(abs, at))
        rule = self.op.rule
        kinked = rule.kink is not None
        inside = self.is_smooth if kinked or rule.domain is not None else None
        value, error = by_differences(self.value, inside, at, order, kinked=kinked)
        return value, 8 * error

    def is_smooth(self, *at: float) -> bool:
        rule, x = self.op.rule, tuple(np.float64(e) for e in at)
        inside = rule.domain is None or bool(np.all(rule.domain(np, *x)))
        return inside and not (rule.kink is not None and np.any(rule.kink(np, *x)))
