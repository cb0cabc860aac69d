"""Forward covers over random programs: against the tape, and in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import derivative_covers as dc
from tests.laws._random_programs import monotone_programs, programs

STORAGES = st.sampled_from(["dense", "sparse"])


@settings(max_examples=40, deadline=None)
@given(programs(4), STORAGES)
def test_gradients_agree_and_covers_hold(program, storage):
    tape, out = dc.tape_function(program, program.point)
    found = dc.forward_cover(program, program.point, storage=storage)
    np.testing.assert_allclose(found.value, tape.vals[out], rtol=1e-10, atol=1e-10)
    gradient = dc.gradient(tape, out)
    # What may cancel in an entry is bounded by the sum over paths.
    paths = dc.abs_reverse(tape, out, 1.0)
    assert (np.abs(found.gradient - gradient) <= 1e-10 * (1 + paths)).all()
    H = dc.hessian(tape, out)
    bound = dc.hessian_bound(tape, out)
    assert (np.outer(found.h, found.h) >= np.abs(H) - 1e-10 * bound).all()


@settings(max_examples=40, deadline=None)
@given(programs(4), STORAGES)
def test_never_below_the_quadrature_of_the_tape(program, storage):
    found = dc.forward_cover(program, program.point, storage=storage)
    least = dc.cover_hessian(program, program.point, merge="quadrature").h
    assert (found.h >= least * (1 - 1e-9)).all()
    np.testing.assert_array_equal(found.h[least == 0] > 0, False)


@settings(max_examples=40, deadline=None)
@given(monotone_programs(4), STORAGES)
def test_equal_to_quadrature_where_no_paths_cancel(program, storage):
    found = dc.forward_cover(program, program.point, storage=storage)
    least = dc.cover_hessian(program, program.point, merge="quadrature").h
    np.testing.assert_allclose(found.h, least, rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(programs(3))
def test_storage_does_not_change_results(program):
    dense = dc.forward_cover(program, program.point)
    sparse = dc.forward_cover(program, program.point, storage="sparse")
    np.testing.assert_allclose(dense.h, sparse.h, rtol=1e-12, atol=0)
    np.testing.assert_allclose(dense.gradient, sparse.gradient, rtol=1e-12, atol=1e-12)
    assert dense.asked == sparse.asked


@settings(max_examples=20, deadline=None)
@given(monotone_programs(3), STORAGES)
def test_in_bulk_and_entry_by_entry(program, storage):
    """Where no paths cancel, no matter how operations are grouped into nodes."""
    bulk = dc.forward_cover(program, program.point, storage=storage)
    single = dc.forward_cover(program, program.point, storage=storage, entries=True)
    np.testing.assert_allclose(bulk.gradient, single.gradient, rtol=1e-10)
    H = dc.hessian(program, program.point)
    assert dc.iscover(single, H, rtol=1e-10)
    assert dc.iscover(bulk, H, rtol=1e-10)


@settings(max_examples=30, deadline=None)
@given(programs(3), st.lists(st.integers(-6, 6), min_size=4, max_size=4))
def test_units_of_the_inputs_go_along_bit_for_bit(program, powers):
    D = 2.0 ** np.array(powers)
    base = dc.forward_cover(program, program.point)
    moved = dc.forward_cover(
        lambda y: program(y * D), program.point / D, scales=1.0 / D
    )
    np.testing.assert_array_equal(moved.h, base.h * D)
    np.testing.assert_array_equal(moved.gradient, base.gradient * D)


# -- the recursion in rational arithmetic ------------------------------------------------


class Exact:
    """Value, gradient and squared cover of the documented recursion, all rational.

    The squares of slot weights are rational for polynomials, and so is what they enter.
    """

    def __init__(self, v, g, q):
        self.v, self.g, self.q = v, g, q

    def scaled(self, c):
        return Exact(c * self.v, [c * e for e in self.g], [abs(c) * e for e in self.q])

    def __add__(self, other):
        return Exact(
            self.v + other.v,
            [a + b for a, b in zip(self.g, other.g, strict=True)],
            [a + b for a, b in zip(self.q, other.q, strict=True)],
        )

    def times(self, other):
        """With equalising weights: rho_1**2 = |v_2 / v_1|, rho_1 rho_2 = 1."""
        x, y = self, other
        assume(x.v != 0 and y.v != 0 and 1e-6 < abs(x.v / y.v) < 1e6)
        g = [x.v * b + y.v * a for a, b in zip(x.g, y.g, strict=True)]
        q = [abs(y.v) * a + abs(x.v) * b for a, b in zip(x.q, y.q, strict=True)]
        if any(x.g) and any(y.g):
            w = abs(Fraction(y.v) / x.v)
            for k, (a, b) in enumerate(zip(x.g, y.g, strict=True)):
                q[k] += w * a * a + 2 * abs(a * b) + b * b / w
        return Exact(x.v * y.v, g, q)

    def squared(self):
        """One slot: rho**2 = 2."""
        g = [2 * self.v * a for a in self.g]
        q = [
            2 * abs(self.v) * b + 2 * a * a for a, b in zip(self.g, self.q, strict=True)
        ]
        return Exact(self.v**2, g, q)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "times", "square", "scale", "turn", "sum"]),
        st.integers(0, 9),
        st.integers(0, 9),
        st.sampled_from([-3, -1, 2, 5]),
    ),
    min_size=1,
    max_size=6,
)


def run(steps, x, kind):
    """The program on arrays (of numbers or variables) or on lists of exact numbers."""
    held = [x]
    for op, i, j, c in steps:
        a, b = held[i % len(held)], held[j % len(held)]
        if kind is np:
            made = {
                "add": lambda a=a, b=b, c=c: a + c * b,
                "times": lambda a=a, b=b: a**2 if a is b else a * b,
                "square": lambda a=a: a**2,
                "scale": lambda a=a, c=c: c * a,
                "turn": lambda a=a: a[::-1],
                "sum": lambda a=a, b=b: np.sum(a) * np.ones(3) + b,
            }[op]()
        else:
            total = a[0] + a[1] + a[2]
            made = {
                "add": lambda a=a, b=b, c=c: [
                    p + q.scaled(c) for p, q in zip(a, b, strict=True)
                ],
                "times": lambda a=a, b=b: [
                    p.squared() if p is q else p.times(q)
                    for p, q in zip(a, b, strict=True)
                ],
                "square": lambda a=a: [p.squared() for p in a],
                "scale": lambda a=a, c=c: [p.scaled(c) for p in a],
                "turn": lambda a=a: a[::-1],
                "sum": lambda b=b, total=total: [total + q for q in b],
            }[op]()
        held.append(made)
    return held[-1]


@settings(max_examples=60, deadline=None)
@given(STEPS, st.lists(st.integers(-9, 9), min_size=3, max_size=3), STORAGES)
def test_polynomials_are_the_recursion_in_rational_arithmetic(steps, point, storage):
    unit = [[Fraction(int(k == m)) for m in range(3)] for k in range(3)]
    x = [Exact(Fraction(v), unit[k], [Fraction(0)] * 3) for k, v in enumerate(point)]
    exact = run(steps, x, None)
    # Values and gradients of that size are integers that floating point holds exactly.
    assume(max(abs(e) for y in exact for e in (y.v, *y.g)) < 2**50)
    found = dc.forward_cover(
        lambda x: run(steps, x, np), np.array(point, dtype=float), storage=storage
    )
    assert found.value.tolist() == [float(y.v) for y in exact]
    assert found.gradient.tolist() == [[float(e) for e in y.g] for y in exact]
    expected = [[float(e) for e in y.q] for y in exact]
    np.testing.assert_allclose(found.h**2, expected, rtol=1e-13, atol=0)
