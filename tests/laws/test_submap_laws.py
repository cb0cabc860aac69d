"""Laws of declared calls, and of covers of compositions, on random programs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers.extend import Upward
from tests.laws._random_programs import RandomProgram, programs

PAIRS = st.tuples(programs(3, zeros=True), programs(3))
POWERS = st.lists(st.integers(-6, 6), min_size=4, max_size=4)


def composed(F: RandomProgram, g: RandomProgram) -> RandomProgram:
    """``g`` at the point that ``F`` leads to, if it is smooth and moderate there."""
    with np.errstate(all="ignore"):
        y = F.vector(F.point)
    moved = RandomProgram(g.steps, g.final, tuple(y.tolist()))
    assume(np.abs(y).max() < 50 and moved.is_smooth_here())
    return moved


def covers(f: Any, x: Any) -> list[Any]:
    tape, out = dc.tape_function(f, x)
    found = [dc.cover_hessian(tape, out, merge=m).h for m in ("sum", "quadrature")]
    return found + [dc.cover_hybrid(tape, out, ngroups=g).h for g in (1, 2, 5)]


def assert_covers(h: Any, tape: Any, out: Any) -> None:
    """``h`` covers the exact Hessian, up to rounding of the terms that it consists of."""
    noise = 1e-12 * dc.hessian_bound(tape, out)
    H = np.abs(dc.hessian(tape, out))
    assert (np.outer(h, h) >= H * (1 - 1e-10) - noise).all()


@given(PAIRS)
def test_covers_hold_through_a_declared_call(pair: Any) -> None:
    F, g = pair
    g, x = composed(F, g), F.point
    tape, out = dc.tape_function(lambda x: g(F.vector(x)), x)
    seen = dc.tape_function(lambda x: g(dc.submap(F.vector, x)), x)
    for h in covers(lambda x: g(dc.submap(F.vector, x)), x):
        assert_covers(h, tape, out)
    gradient = dc.gradient(tape, out)
    size = dc.abs_reverse(tape, out, 1.0)
    assert (np.abs(dc.gradient(*seen) - gradient) <= 1e-11 * size).all()
    assert (
        np.abs(dc.hessian(tape, out)) <= dc.hessian_bound(*seen) * (1 + 1e-10)
    ).all()
    alone, _ = dc.tape_function(g, g.point)
    assert dc.nnodes(seen[0]) == dc.nnodes(alone) + 4


@given(programs(4, zeros=True), POWERS, st.integers(-3, 3))
def test_a_declaration_follows_units_bit_for_bit(
    F: RandomProgram, powers: list[int], c: int
) -> None:
    units, factor = 2.0 ** np.array(powers), 4.0**c
    w = np.array([1.0, 0.3, 2.0, 0.7])
    y, J, S = dc.declare_submap(F.vector, F.point, scales=w)
    moved = dc.declare_submap(
        lambda v: F.vector(v / units) * factor, F.point * units, scales=w * units
    )
    np.testing.assert_array_equal(moved.y, factor * y)
    np.testing.assert_array_equal(moved.J, factor * J / units)
    np.testing.assert_array_equal(moved.S, 2.0**c * S / units)


@given(PAIRS, POWERS, st.integers(-3, 3))
def test_covers_do_not_depend_on_the_units_of_a_call(
    pair: Any, powers: list[int], c: int
) -> None:
    F, g = pair
    g = composed(F, g)
    units, factor = 2.0 ** np.array(powers), 4.0**c
    scratch, _ = dc.tape_function(F.vector, F.point)
    w = np.ones(4)

    def plain(x: Any) -> Any:
        return g(dc.submap(F.vector, x, scales=w))

    def moved(x: Any) -> Any:
        y = dc.submap(
            lambda v: F.vector(v / units) * factor, x * units, scales=w * units
        )
        return g(y / factor)

    tape, _ = dc.tape_function(plain, F.point)
    if not (dc.guards_any_block(tape) or dc.guards_any_block(scratch)):
        for h, k in zip(covers(plain, F.point), covers(moved, F.point), strict=True):
            np.testing.assert_array_equal(h, k)


@given(PAIRS)
def test_composed_covers_are_above_those_of_the_joint_tape(pair: Any) -> None:
    F, g = pair
    g, x = composed(F, g), F.point
    tape, out = dc.tape_function(lambda x: g(F.vector(x)), x)
    y, _, S = dc.declare_submap(F.vector, x)
    outer = dc.cover_hessian(g, y)
    a, b = dc.cover_jacobian(F.vector, x)
    cover = dc.compose_hessian_cover(outer.h, np.abs(outer.gradient), a, b, S)
    assert_covers(cover.h_sum, tape, out)
    assert_covers(cover.h_quad, tape, out)
    assert (cover.h_quad <= cover.h_sum).all()
    if not dc.guards_any_block(tape):
        direct = dc.cover_hessian(tape, out)
        assert (direct.h <= cover.h_sum * (1 + 1e-9)).all()
        direct = dc.cover_hessian(tape, out, merge="quadrature")
        assert (direct.h <= cover.h_quad * (1 + 1e-9)).all()


@given(PAIRS)
def test_composed_jacobian_covers_hold(pair: Any) -> None:
    F, G = pair
    G, x = composed(F, G), F.point
    inner = dc.cover_jacobian(F.vector, x)
    outer = dc.cover_jacobian(G.vector, G.point)
    bound = np.asarray(dc.compose_jacobian_cover(*outer, *inner))
    tape, outs = dc.tape_function(lambda x: G.vector(F.vector(x)), x)
    assert (np.abs(dc.jacobian(tape, outs)) <= bound * (1 + 1e-10)).all()
    sensitivities = [dc.abs_reverse(tape, k, 1.0) for k in outs.tolist()]
    assert (np.array(sensitivities) <= bound * (1 + 1e-10)).all()


VECTOR = st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3).map(np.array)
PARTS = st.tuples(VECTOR, VECTOR, VECTOR, VECTOR)
FOURTHS = st.lists(st.integers(-5, 5), min_size=3, max_size=3)


@given(PARTS, FOURTHS, st.integers(-9, 9), st.integers(-9, 9))
def test_composition_commutes_with_units(
    parts: Any, powers: Any, i: int, o: int
) -> None:
    a2, b2, a1, b1 = parts
    middle = 2.0 ** np.array(powers)
    a, b = dc.compose_jacobian_cover(a2, b2, a1, b1)
    moved = dc.compose_jacobian_cover(
        2.0**o * a2, b2 / middle, a1 * middle, b1 * 2.0**i
    )
    np.testing.assert_array_equal(moved.a, 2.0**o * a)
    np.testing.assert_array_equal(moved.b, 2.0**i * b)
    S = np.outer(b2, a1)
    plain = dc.compose_hessian_cover(a2, b2, a1, b1, S)
    four = middle**2
    changed = dc.compose_hessian_cover(
        a2 / four * 2.0**o,
        b2 / four * 4.0**o,
        a1 * four,
        b1 * 2.0**i,
        S * middle[:, None] * 2.0**i,
    )
    for h, k in zip(plain, changed, strict=True):
        np.testing.assert_array_equal(k, 2.0 ** (o + i) * h)


@given(PARTS)
def test_upward_compositions_are_rigorous(parts: Any) -> None:
    _, b2, a1, _ = parts
    a, b = dc.compose_jacobian_cover(*map(Upward, parts))
    exact = [[Fraction(float(x)) for x in p] for p in parts]
    dot = sum(x * y for x, y in zip(exact[1], exact[2], strict=True))
    for k in range(3):
        for j in range(3):
            bound = Fraction(float(a[k])) * Fraction(float(b[j]))
            assert bound >= dot * exact[0][k] * exact[3][j]
    plain = dc.compose_jacobian_cover(*parts)
    np.testing.assert_allclose(np.asarray(a), plain.a, rtol=1e-14)
    S = np.outer(b2, a1)
    cover = dc.compose_hessian_cover(*map(Upward, parts), Upward(S))
    with mpmath.workprec(300):
        hg, gamma, aa, bb = ([mpmath.mpf(float(x)) for x in p] for p in parts)
        u0 = mpmath.fdot(aa, hg)
        for j in range(3):
            rows = [mpmath.mpf(float(s)) for s in S[:, j]]
            atoms = [u0 * bb[j]]
            atoms += [mpmath.sqrt(c) * s for c, s in zip(gamma, rows, strict=True)]
            assert float(cover.h_sum[j]) >= mpmath.fsum(atoms)
            assert float(cover.h_quad[j]) >= mpmath.sqrt(
                mpmath.fsum(atoms, squared=True)
            )
    plain_h = dc.compose_hessian_cover(*parts, S)
    np.testing.assert_allclose(np.asarray(cover.h_sum), plain_h.h_sum, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(cover.h_quad), plain_h.h_quad, rtol=1e-14)
