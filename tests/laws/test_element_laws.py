"""Random rational programs on Fractions: exact derivatives, and covers that hold exactly."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers.errors import ConstantProgramError
from tests._jets import Jet

fractions = st.builds(F, st.integers(-9, 9), st.integers(1, 7))
ops = st.lists(
    st.tuples(
        st.sampled_from("+-*/pcsm"), st.integers(0, 99), st.integers(0, 99), fractions
    ),
    min_size=1,
    max_size=9,
)


def run(program, x):
    """The program on scalars, on recorded variables as on jets."""
    pool = list(x)
    for op, i, j, c in program:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        if op == "+":
            r = a + b
        elif op == "-":
            r = c - a
        elif op == "*":
            r = a * b
        elif op == "/":
            r = a / (1 + b * b)
        elif op == "p":
            r = a ** (j % 4)
        elif op == "c":
            r = c * a + 0.3
        elif op == "s":
            r = (a + b + c) * (a + b + c)
        else:
            r = (a + b + pool[0]) / 3
        pool.append(r)
    return pool


def arrays(program, x):
    """The same through arrays, where an operation has one."""
    pool = [x[k] for k in range(x.size)]
    for op, i, j, c in program:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        both = np.stack([a, b])
        if op == "*":
            r = np.prod(both)
        elif op == "s":
            r = np.square(np.sum(both) + c)
        elif op == "m":
            r = np.mean(np.stack([a, b, pool[0]]))
        elif op == "+":
            r = np.array([1, 1]) @ both
        else:
            r = run([(op, i, j, c)], pool)[-1]
        pool.append(r)
    return pool


@settings(max_examples=60)
@example([F(1, 3)], [("*", 0, 0, F(0)), ("c", 1, 0, F(1, 7))], False)
@example([F(1, 3), F(2, 7)], [("*", 0, 1, F(0)), ("c", 2, 0, F(2, 7))], True)
@given(st.lists(fractions, min_size=1, max_size=3), ops, st.booleans())
def test_derivatives_are_exact_and_covers_hold(x, program, by_arrays):
    truth = run(program, Jet.inputs(x))[-1]
    record = arrays if by_arrays else run
    try:
        tape, out = dc.tape_function(lambda v: record(program, v)[-1], x)
    except ConstantProgramError:
        assert not any(truth.g)
        return
    assert tape.vals[out] == truth.v
    assert dc.gradient(tape, out).tolist() == truth.g
    assert dc.hessian(tape, out).tolist() == truth.H
    B = dc.hessian_bound(tape, out)
    n = range(len(x))
    for cover in (
        dc.cover_hessian(tape, out),
        dc.cover_hessian(tape, out, merge="quadrature"),
        dc.cover_hessian(tape, out, merge="auto"),
        dc.cover_hybrid(tape, out, ngroups=2),
    ):
        h = [F(float(e)) for e in cover.h]
        for i in n:
            for j in n:
                assert abs(truth.H[i][j]) <= min(h[i] * h[j], B[i, j])
