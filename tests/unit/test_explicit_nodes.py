"""Nodes recorded by extension authors take part in every sweep."""

from __future__ import annotations

import math

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors, extend


class Ridge(extend.Curvature):
    """Curvature ``w w'`` of ``phi(sum_i w_i x_i)``, any number of slots."""

    def __init__(self, w, exact=True):
        self.w = np.asarray(w, dtype=float)
        self.exact = exact

    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        if av == 0 or not self.w.any():
            return False
        rho[:] = list(np.sqrt(av) * np.abs(self.w))
        return True

    def bound_contribution(self, B, av, ps, utilde):
        u = sum(abs(w) * utilde[int(p)] for w, p in zip(self.w, ps, strict=True))
        B += av * np.outer(u, u)

    def curvature_apply(self, vbardot, ps, bk, dv):
        np.add.at(vbardot, ps, bk * self.w * (self.w @ dv[ps]))

    @property
    def has_exact_partials(self):
        return self.exact


def ridge(xs, w, exact=True):
    """exp of a weighted sum, as one node with a user's curvature."""
    tape, _ = extend.noderef(xs[0])
    ids = [extend.noderef(x)[1] for x in xs]
    w = np.asarray(w, dtype=float)
    v = math.exp(w @ [dc.value(x) for x in xs])
    return extend.pushnode(tape, v, ids, v * w, Ridge(math.sqrt(v) * w, exact))


W = [0.5, -1.0, 2.0]


def special(x):
    y = [x[0] * x[1], np.sin(x[1]), x[2] ** 2]
    return ridge(y, W) * x[0] + np.sum(x**2)


def plain(x):
    y = [x[0] * x[1], np.sin(x[1]), x[2] ** 2]
    return np.exp(W[0] * y[0] + W[1] * y[1] + W[2] * y[2]) * x[0] + np.sum(x**2)


X = np.array([0.3, -0.7, 0.4])


def test_a_users_curvature_form_takes_part_in_every_sweep():
    H = dc.hessian(plain, X)
    np.testing.assert_allclose(
        dc.gradient(special, X), dc.gradient(plain, X), rtol=1e-13
    )
    np.testing.assert_allclose(dc.hessian(special, X), H, rtol=1e-12)
    np.testing.assert_allclose(
        dc.hvp(special, X, [1.0, 2.0, 3.0]), H @ [1.0, 2.0, 3.0], rtol=1e-12
    )
    B = dc.hessian_bound(special, X)
    assert (np.abs(H) * (1 - 1e-12) <= B).all()
    np.testing.assert_allclose(B, dc.hessian_bound(plain, X), rtol=0.5)
    tape, out = dc.tape_function(special, X)
    found = [
        dc.cover_hessian(tape, out, merge="sum"),
        dc.cover_hessian(tape, out, merge="quadrature"),
        *(dc.cover_hybrid(tape, out, ngroups=g) for g in (1, 2, 3, 100)),
    ]
    for cover in found:
        assert dc.iscover(cover, H)
    np.testing.assert_allclose(found[2].h, found[0].h, rtol=1e-14)
    np.testing.assert_array_equal(found[5].h, found[1].h)
    assert (found[1].h <= found[3].h * (1 + 1e-12)).all()
    assert dc.natoms(tape) > 1
    assert sum(rho is not None for rho in dc.local_covers(tape, out)) > 3


def test_hvp_refuses_a_node_without_exact_partials():
    def f(x):
        return ridge([x[0], x[1], x[2]], W, exact=False)

    with pytest.raises(errors.UnsupportedOperationError, match="Ridge"):
        dc.hvp(f, X, X)
    with pytest.raises(errors.UnsupportedOperationError, match="exact"):
        dc.hessian(f, X)
    assert dc.cover_hessian(f, X).h.shape == (3,)


def test_dense_curvature_up_to_two_slots_covers_and_larger_is_refused():
    def two(x):
        tape, i = extend.noderef(x[0])
        C = extend.DenseCurvature(np.array([[2.0, 1.0], [1.0, 0.0]]))
        return extend.pushnode(tape, 1.0, [i, i + 1], [1.0, 1.0], C)

    h = dc.cover_hessian(two, [1.0, 2.0]).h
    assert dc.iscover(h, [[2.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(dc.hessian(two, [1.0, 2.0]), [[2.0, 1.0], [1.0, 0.0]])

    def three(x):
        tape, i = extend.noderef(x[0])
        C = extend.DenseCurvature(np.ones((3, 3)))
        return extend.pushnode(tape, 1.0, [i, i + 1, i + 2], [1.0, 1.0, 1.0], C)

    np.testing.assert_allclose(dc.hessian(three, X), np.ones((3, 3)))
    np.testing.assert_allclose(dc.hessian_bound(three, X), np.ones((3, 3)))
    with pytest.raises(errors.DerivativeError):
        dc.cover_hessian(three, X)


def test_dotnode_keeps_independent_slots():
    xs = dc.cover_hessian(lambda x: extend.dotnode([x[0]], [x[0]]), [3.0]).h
    merged = dc.cover_hessian(lambda x: x[0] * x[0], [3.0]).h
    np.testing.assert_allclose(xs**2, [4.0])
    np.testing.assert_allclose(merged**2, [2.0])
    np.testing.assert_allclose(
        dc.hessian(lambda x: extend.dotnode([x[0], x[1]], [x[1], x[2]]), X),
        [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
    )
    tape, _ = dc.tape_function(lambda x: extend.dotnode(list(x), list(x)), X)
    assert dc.natoms(tape) == 3


def test_views_show_the_tape_of_explicit_nodes():
    def f(x):
        a = extend.unarynode(x[0], 2.0, 3.0, 4.0)
        b = extend.binarynode(x[0], x[1], 1.0, 5.0, 6.0, 7.0, 8.0, 9.0)
        c = extend.linearnode([2.0, -1.0], [a, b])
        d = extend.dotnode([a, b], [x[0], x[1]])
        return [a, b, c, d, extend.unarynode(x[1], 1.0, 2.0, 0.0)]

    tape, outs = dc.tape_function(f, [0.5, 1.5])
    a, b, c, d, e = outs
    assert tape.parents[a].tolist() == [0]
    assert tape.ds[b].tolist() == [5.0, 6.0]
    assert tape.Cs[a] == extend.UnaryCurvature(4.0)
    assert tape.Cs[b] == extend.BinaryCurvature(7.0, 8.0, 9.0)
    assert tape.parents[c].tolist() == [a, b]
    assert tape.ds[c].tolist() == [2.0, -1.0]
    assert tape.Cs[c] == extend.NoCurvature()
    assert tape.parents[d].tolist() == [a, b, 0, 1]
    assert tape.ds[d].tolist() == [0.5, 1.5, 2.0, 1.0]
    assert tape.Cs[d] == extend.PairedCurvature(2)
    assert tape.Cs[e] == extend.NoCurvature()
    assert len(tape.parents) == dc.nnodes(tape) == len(list(tape.Cs))
    with pytest.raises(IndexError, match="not on this tape"):
        tape.ds[99]


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (
            lambda t, x: extend.pushnode(t, 1.0, [0, 1], [1.0], extend.NoCurvature()),
            errors.ShapeError,
        ),
        (
            lambda t, x: extend.pushnode(t, 1.0, [99], [1.0], extend.NoCurvature()),
            errors.TapeError,
        ),
        (
            lambda t, x: extend.pushnode(t, 1.0, [0], [1.0], "flat"),
            errors.InputTypeError,
        ),
        (lambda t, x: extend.unarynode(dc.TVar(1.0), 1.0, 1.0, 0.0), errors.TapeError),
        (lambda t, x: extend.dotnode([x[0]], [x[0], x[1]]), errors.ShapeError),
        (lambda t, x: extend.linearnode([], []), errors.ShapeError),
        (lambda t, x: extend.linearnode([1.0], [dc.TVar(1.0)]), errors.TapeError),
    ],
)
def test_bad_nodes_are_refused(build, error):
    def f(x):
        build(extend.noderef(x[0])[0], x)
        return x[0]

    with pytest.raises(error):
        dc.tape_function(f, [1.0, 2.0])


def test_constants_fold_and_have_nodes_only_as_outputs():
    def f(x):
        zero = type(x[0])(0.0)
        assert dc.isconstant(zero)
        return [zero + x[0], zero, x[1], x[1]]

    tape, outs = dc.tape_function(f, [1.0, 2.0])
    assert outs[2] == outs[3] == 1
    np.testing.assert_array_equal(
        dc.jacobian(tape, outs), [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    )
    assert tape.parents[outs[1]].size == 0


def test_wrong_partials_of_an_explicit_node_never_hide_behind_the_check():
    def nan(x):
        return extend.unarynode(x[0], 1.0, math.nan, 0.0)

    with pytest.raises(errors.DomainError, match="explicit node"):
        dc.gradient(nan, [1.0])

    def infinite(x):
        return extend.unarynode(x[0], 1.0, 1.0, math.inf)

    assert dc.gradient(infinite, [1.0]) == [1.0]
    for merge in ("sum", "quadrature"):
        with pytest.raises(errors.DomainError):
            dc.cover_hessian(infinite, [1.0], merge=merge)
