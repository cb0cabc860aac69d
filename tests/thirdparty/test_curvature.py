"""A form of curvature of somebody else's: a sum of ridges, one atom each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.extend import (
    Curvature,
    check_finite_partials,
    noderef,
    pushnode,
    value,
)
from derivative_covers.testing import ConformanceError, check_curvature


class Squares(Curvature):
    """The curvature ``diag(c)`` of a separable node: every slot is an atom."""

    def __init__(self, c):
        self.c = np.array(c, dtype=float)

    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        if len(sl) != self.c.size:
            message = f"{len(sl)} scale references for {self.c.size} slots"
            raise errors.ShapeError(message)
        if av == 0 or not self.c.any():
            return False
        check_finite_partials(site, av, np.abs(self.c))
        M = np.dtype(site.dtype).type
        rho[:] = [M(np.sqrt(av) * np.sqrt(abs(c))) for c in self.c]
        return True

    def bound_contribution(self, B, av, ps: Sequence[int], utilde):
        if av != 0:
            for c, p in zip(self.c, ps, strict=True):
                B += av * abs(c) * np.outer(utilde[p], utilde[p])

    def atom_slots(self, nslots):
        return tuple((k,) for k in range(nslots))

    def curvature_apply(self, vbardot, ps, bk, dv):
        if bk != 0:
            np.add.at(vbardot, ps, bk * self.c * dv[ps])


def log_sum(xs):
    """sum(log(1 + x**2)) of a list of variables, as one node of any backend."""
    v = np.array([value(x) for x in xs])
    s = 1 + v * v
    tape, _ = noderef(xs[0])
    parents = [noderef(x)[1] for x in xs]
    C = Squares(2 * (1 - v * v) / (s * s))
    return pushnode(tape, np.log(s).sum(), parents, 2 * v / s, C)


def mine(x):
    return log_sum([x[0] * x[1], np.sin(x[1]), x[2]]) * x[0]


def plain(x):
    y = np.stack([x[0] * x[1], np.sin(x[1]), x[2]])
    return np.sum(np.log(1 + y * y)) * x[0]


X = np.array([0.7, -0.3, 1.2])


def test_it_conforms():
    check_curvature(Squares([1.0, -2.0, 0.0, 1e-3]), 4)


def test_it_takes_part_in_every_sweep():
    H = dc.hessian(plain, X)
    np.testing.assert_allclose(dc.gradient(mine, X), dc.gradient(plain, X), rtol=1e-13)
    np.testing.assert_allclose(dc.hessian(mine, X), H, rtol=1e-12)
    tape, out = dc.tape_function(mine, X)
    assert dc.natoms(tape) == 6  # two products, a sine, three slots
    assert (dc.hessian_bound(tape, out) >= np.abs(H) * (1 - 1e-12)).all()
    for cover in (
        dc.cover_hessian(tape, out),
        dc.cover_hessian(tape, out, merge="quadrature"),
        dc.cover_hybrid(tape, out, ngroups=3),
        dc.forward_cover(mine, X),
        dc.forward_cover(mine, X, storage="sparse"),
        dc.forward_cover(mine, X, entries=True),
        dc.cover_hessian(tape, out, merge="auto", budget=10_000),
    ):
        assert dc.iscover(cover.h, H, rtol=1e-12)
    np.testing.assert_allclose(
        dc.hessian(tape, out, sparse=True).toarray(), H, rtol=1e-12, atol=1e-15
    )


def test_it_takes_part_in_least_squares_jacobians_and_calls():
    def residuals(f):
        return lambda x: np.stack([f(x), x[0] * x[2], f(x[::-1])])

    J = dc.jacobian(residuals(plain), X)
    r = residuals(plain)(X)
    second = [dc.hessian(lambda x, k=k: residuals(plain)(x)[k], X) for k in range(3)]
    C = np.tensordot(r, second, 1)
    for ngroups in (1, 2, None):
        cover = dc.cover_nls(residuals(mine), X, ngroups=ngroups)
        assert dc.iscover(cover.h_gn, J.T @ J)
        assert dc.iscover(cover.h_curv, C)
        a, b = dc.cover_jacobian(residuals(mine), X, ngroups=ngroups or 3)
        assert (np.outer(a, b) >= np.abs(J) * (1 - 1e-12)).all()
    np.testing.assert_allclose(
        dc.gramcover(residuals(mine), X) ** 2 >= np.diag(J.T @ J), True
    )

    def outer(f):
        return lambda x: np.sum(dc.submap(residuals(f), x) ** 2)

    H = dc.hessian(lambda x: np.sum(residuals(plain)(x) ** 2), X)
    assert dc.iscover(dc.cover_hessian(outer(mine), X), H)
    assert dc.iscover(dc.forward_cover(outer(mine), X), H)
    y, J, S = dc.declare_submap(residuals(mine), X)
    composed = dc.compose_hessian_cover(
        np.full(3, np.sqrt(2.0)),
        2 * np.abs(y),
        *dc.cover_jacobian(residuals(mine), X),
        S,
    )
    assert dc.iscover(composed.h_sum, H)
    assert dc.iscover(composed.h_quad, H)


def test_atoms_make_quadrature_tighter():
    class OneAtom(Squares):
        def atom_slots(self, nslots):
            return (tuple(range(nslots)),)

    check_curvature(OneAtom([1.0, -2.0]), 2)

    def cover(form):
        def f(x):
            tape, _ = noderef(x[0])
            return pushnode(tape, 0.0, [noderef(e)[1] for e in x], np.ones(3), form)

        return dc.cover_hessian(f, X, merge="quadrature").h

    apart, together = cover(Squares([1.0, 4.0, 9.0])), cover(OneAtom([1.0, 4.0, 9.0]))
    np.testing.assert_allclose(apart, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(together, apart)  # distinct parents: no difference
    with pytest.raises(ConformanceError, match="across two atoms"):
        check_curvature(Squares([1.0, 1.0]), 2, entries=np.ones((2, 2)))
