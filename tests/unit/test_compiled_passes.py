"""Machine code of elementals against the kernels of the sweeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from derivative_covers.elementals import Elemental, Rule, by_name
from derivative_covers.errors import OptionError
from derivative_covers.replay.elementals import Functions, functions
from derivative_covers.sweeps.kernels import pair
from tests._compiled import CALL, rule_of, same

pytestmark = pytest.mark.slow
INF = math.inf

# Machine code against the kernels of the tape's sweeps, which read the same memory.

N = 40
SIZE = 6 * N
COMPILED = [
    ("multiply", 1, None, "adjoint tangent second cover zeros"),
    ("divide", 1, None, "cover"),
    ("logaddexp", 1, None, "adjoint"),
    ("saddle", 1, None, "cover"),
    ("maximum", 1, None, ""),
    ("sqrt", 0, None, "adjoint cover"),
    ("divide", 3, None, "cover"),
    ("multiply", 6, None, "cover"),
]
ARITHMETIC = {"saddle", "multiply", "divide", "sqrt", "maximum", "subtract"}


# Of some values the mixed second partial is what decides, of others the two others.
SADDLE = Elemental(
    "saddle",
    2,
    lambda xp, x, y: (x * x + 1.0) * (y * y + 1.0),
    Rule(
        lambda xp, x, y, v: (
            2.0 * x * (y * y + 1.0),
            2.0 * y * (x * x + 1.0),
            2.0 * (y * y + 1.0),
            4.0 * x * y,
            2.0 * (x * x + 1.0),
        )
    ),
    "test",
)


class Memory:
    """Flat buffers, with nodes in the last entries and operands before them."""

    def __init__(
        self, op: Elemental, pattern: int, const: Any, shape: str, x: int, y: int
    ) -> None:
        rng = np.random.default_rng(11)
        self.op, self.pattern, self.const, self.shape = op, pattern, const, shape
        self.p, self.q, self.r, self.s = (rng.uniform(0.3, 3.0, SIZE) for _ in range(4))
        self.p[::2] *= -1.0 if op.name in ARITHMETIC - {"sqrt"} else 1.0
        self.q[::7] = 0.0
        self.r[::5] = 0.0
        self.s[::3] = 0.0
        self.o, self.x, self.y = SIZE - N, x, y
        if shape == "gather":
            self.x, self.y = 0, N
            self.ids = rng.integers(0, SIZE - N, 2 * N)
            self.ids[5], self.ids[N + 9] = self.o + 2, self.o + 8  # nodes as operands
            self.ids[N + 3] = self.ids[3]  # two slots that meet
            if pattern in {2, 3}:
                self.ids[N if pattern == 2 else 0 :][:N] = 3 * N
        else:
            self.ids = np.zeros(1, dtype=np.int64)

    def call(self, made: Functions, name: str) -> int:
        buffers = (self.p, self.q, self.r, self.s, self.ids)
        where = CALL(made.address(name, self.shape))
        return int(where(*(b.ctypes.data for b in buffers), self.o, self.x, self.y, N))

    def at(self, slot: str) -> Any:
        """Places of an operand."""
        start = self.x if slot == "x" else self.y
        if self.shape == "gather":
            return self.ids[start : start + N]
        one = self.pattern == {"x": 3, "y": 2}[slot]
        return np.full(N, start) if one else np.arange(start, start + N)

    @property
    def slots(self) -> str:
        return {1: "xy", 3: "y", 5: "y"}.get(self.pattern, "x")

    def columns(self) -> tuple[Any, ...]:
        """Topology and partials as the kernels of sweeps take them."""
        operands = [self.p[self.at("x")], self.p[self.at("y")]][: self.op.arity]
        if self.pattern == 6:
            operands[1] = operands[0]
        if self.const is not None:
            operands[1 if self.pattern == 2 else 0] = np.float64(self.const)
        v = self.p[self.o :]
        parts = rule_of(self.op, self.pattern).partials(np, *operands, v)
        if self.pattern == 6:
            d1, d2, c11, c12, c22 = parts
            parts = d1 + d2, c11 + (c12 + c12) + c22
        wide = [np.array(np.broadcast_to(d, N), dtype=float) for d in parts]
        zero = np.zeros(N)
        d1, d2, c11, c12, c22 = (
            wide if len(wide) == 5 else (wide[0], zero, wide[1], zero, zero)
        )
        a, b = self.at(self.slots[0]), self.at(self.slots[-1])
        topo = (self.o, N, len(wide) == 5, a, 0, 1, b, 0, 1)
        return (
            topo,
            (d1, 1, d2, 1),
            (c11, 1, c12, 1, c22, 1),
            (self.p[a], 1, self.p[b], 1),
        )

    def expect(self, name: str) -> int | None:
        """What a kernel does to the buffers, and what the pass returns."""
        topo, first, twice, refs = self.columns()
        if name == "adjoint":
            pair.adjoint.plain(self.q, topo, first, False)
        elif name == "tangent":
            pair.tangent.plain(self.r, topo, first, False)
        elif name == "second":
            pair.second.plain(self.s, self.q, self.r, topo, first, twice, True, False)
        elif name == "zeros":
            together = (topo[3] == topo[6]) & topo[2]
            d1, _, d2, _ = first
            none = np.where(together, d1 + d2 == 0, (d1 == 0) | ((d2 == 0) & topo[2]))
            return int(none.sum())
        else:
            curved = bool(np.any(twice[0]) or np.any(twice[2]) or np.any(twice[4]))
            options = (np.zeros(0), np.zeros(0), 1e-8, False, 2.0**1022)
            status, _ = pair.cover.plain(
                self.q, self.s, N, topo, first, twice, curved, refs, options
            )
            assert status == pair.DONE
        return 0


def places(pattern: int) -> list[tuple[str, int, int]]:
    """Shapes and places: apart, overlapping either way, and gathered."""
    lanes = [("lanes", 0, 2 * N), ("lanes", 1, 0), ("lanes", 0, 1)]
    gather = [("gather", 0, 0)] if pattern not in {4, 5} else []
    return lanes[: 3 if pattern == 1 else 1] + gather


@pytest.mark.parametrize(("name", "pattern", "const", "passes"), COMPILED)
def test_passes_do_what_the_kernels_do(
    name: str, pattern: int, const: Any, passes: str
) -> None:
    op = SADDLE if name == "saddle" else by_name(name)
    made = functions(op, pattern, const)
    assert made is not None
    for shape, x, y in places(pattern):
        memory = Memory(op, pattern, const, shape, x, y)
        twin = Memory(op, pattern, const, shape, x, y)
        values(memory, twin, made)
        for what in passes.split():
            if what == "cover":
                memory.r[:3] = twin.r[:3] = 1e-8, 2.0**1022, 0.0
            with np.errstate(all="ignore"):
                expected = twin.expect(what)
            assert memory.call(made, what) == expected, (what, shape)
            for k in "qrs":
                f, e = getattr(memory, k), getattr(twin, k)
                if name in ARITHMETIC:
                    assert np.array_equal(f, e), (what, shape, k)
                else:
                    np.testing.assert_allclose(f, e, rtol=1e-13)


def values(memory: Memory, twin: Memory, made: Functions) -> None:
    """The value pass against NumPy, node after node."""
    op, bad = memory.op, 0
    rule = rule_of(op, memory.pattern)
    with np.errstate(all="ignore"):
        for i in range(N):
            operands = [twin.p[twin.at("x")[i]], twin.p[twin.at("y")[i]]][: op.arity]
            if memory.pattern == 6:
                operands[1] = operands[0]
            if memory.const is not None:
                operands[1 if memory.pattern == 2 else 0] = np.float64(memory.const)
            twin.p[twin.o + i] = op.value(np, *operands)
            good = rule.domain is None or bool(rule.domain(np, *operands))
            off = rule.kink is None or not rule.kink(np, *operands)
            tied = twin.at("x")[i] == twin.at("y")[i] and memory.pattern == 1
            bad += not (good and (off or tied))
    assert memory.call(made, "value") == bad
    if op.name in ARITHMETIC:
        assert np.array_equal(memory.p, twin.p)
    else:
        assert same(memory.p, twin.p, ulps=4).all()
        memory.p[:] = twin.p


def test_covers_at_values_that_decide_nothing() -> None:
    made = functions(by_name("multiply"), 1)
    assert made is not None
    for shape in ("lanes", "gather"):
        memory = Memory(by_name("multiply"), 1, None, shape, 0, 2 * N)
        memory.p[memory.at("x")[2]] = 0.0  # asks for declared scales
        memory.q[memory.o + 4] = INF  # no finite weight
        memory.q[memory.o + 2] = 1.0
        memory.r[:3] = 1e-8, 2.0**1022, 0.0
        memory.call(made, "value")
        assert memory.call(made, "cover") >= 2
        memory.s[:] = 1.0
        memory.q[:] = 1e-150  # beyond what goes at once
        memory.p[memory.at("x")] = 0.3
        memory.call(made, "value")
        twin = Memory(by_name("multiply"), 1, None, shape, 0, 2 * N)
        for k in "pqrs":
            getattr(twin, k)[:] = getattr(memory, k)
        assert memory.call(made, "cover") == 0
        with np.errstate(all="ignore"):
            twin.expect("cover")
        assert np.array_equal(memory.s, twin.s)
        assert np.array_equal(memory.q, twin.q)


def test_what_does_not_exist_is_refused() -> None:
    multiply = by_name("multiply")
    for op, pattern, const in [
        (multiply, 0, None),
        (multiply, 7, None),
        (by_name("sin"), 1, None),
        (multiply, 1, 2.0),
        (multiply, 4, 2.0),
    ]:
        with pytest.raises(OptionError, match="no pattern"):
            functions(op, pattern, const)
    made = functions(multiply, 4)
    assert made is not None
    with pytest.raises(OptionError, match="no pass 'value' in the shape 'gather'"):
        made.address("value", "gather")
    with pytest.raises(OptionError, match="no pass 'hessian'"):
        made.address("hessian", "lanes")
