"""What a third party may do with the extension kit, and what it must be told."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    ConformanceError,
    InputTypeError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)
from derivative_covers.extend import (
    Curvature,
    Elemental,
    FVar,
    MatrixCurvature,
    Rule,
    TVar,
    Upward,
    blackbox,
    check_finite_partials,
    dead_slot,
    declared_scale,
    elemental,
    isconstant,
)
from derivative_covers.testing import check_curvature, check_elemental

X = np.array([0.3, 0.7, -1.2])


def _elemental(value, partials, kink=None):
    arity = value.__code__.co_argcount - 1
    return Elemental("reviewed", arity, value, Rule(partials, kink=kink), "")


# -- elementals ----------------------------------------------------------------------


def test_a_kink_that_nothing_tells_is_found():
    def absolute(xp, x):
        return xp.abs(x)

    def partials(xp, x, v):
        return xp.sign(x), 0.0

    with pytest.raises(ConformanceError, match=r"two sides at \(0.0\)"):
        check_elemental(_elemental(absolute, partials))
    check_elemental(_elemental(absolute, partials, kink=lambda xp, x: x == 0))


def test_a_jump_of_the_second_derivative_is_found():
    def value(xp, x):
        return x * xp.abs(x)

    def partials(xp, x, v):
        return 2 * xp.abs(x), 2 * xp.sign(x)

    with pytest.raises(ConformanceError, match="derivative 2 in operand 0"):
        check_elemental(_elemental(value, partials))


def test_a_tie_of_two_operands_is_found():
    def larger(xp, x, y):
        return xp.maximum(x, y)

    def partials(xp, x, y, v):
        first = xp.where(x > y, x * 0 + 1, x * 0)
        return first, 1 - first, 0.0, 0.0, 0.0

    with pytest.raises(ConformanceError, match="two sides"):
        check_elemental(_elemental(larger, partials))
    check_elemental(_elemental(larger, partials, kink=lambda xp, x, y: x == y))


@pytest.mark.parametrize("where", ["value", "partials"])
def test_wrong_numbers_in_single_precision_are_found(where):
    def broken(what, x):
        return what == where and np.asarray(x).dtype == np.float32

    def value(xp, x):
        return xp.cos(x) if broken("value", x) else xp.sin(x)

    def partials(xp, x, v):
        return (xp.sin(x) if broken("partials", x) else xp.cos(x)), -xp.sin(x)

    with pytest.raises(ConformanceError, match="in float32"):
        check_elemental(_elemental(value, partials))


def test_an_operand_of_another_type_is_refused():
    @elemental(partials=lambda xp, x, v: (2 * x, 2.0), name="reviewed square")
    def square(xp, x):
        return x * x

    for wrong in (None, object(), "a", 1j):
        with pytest.raises(InputTypeError, match="got"):
            square(wrong)
    with pytest.raises(InputTypeError, match="NoneType"):
        square([1.0, None])
    assert square([1, 2]).tolist() == [1.0, 4.0]


# -- forms of curvature --------------------------------------------------------------


class ByScale(Curvature):
    """Takes a slot of scale zero for a dead one."""

    def __init__(self, c, dead):
        self.c, self.dead = np.asarray(c), dead

    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        if len(sl) != self.c.size:
            msg = "slots"
            raise ShapeError(msg)
        sizes = np.where([self.dead(s) for s in sl], 0, abs(self.c))
        if av == 0 or not sizes.any():
            return False
        check_finite_partials(site, av, sizes)
        rho[:] = list(np.sqrt(av) * np.sqrt(sizes))
        return True

    def bound_contribution(self, B, av, ps, utilde):
        if av:
            for c, p in zip(self.c, ps, strict=True):
                B += av * abs(c) * np.outer(utilde[p], utilde[p])

    def curvature_apply(self, vbardot, ps, bk, dv):
        if bk:
            np.add.at(vbardot, ps, bk * self.c * dv[ps])

    def atom_slots(self, nslots):
        return ((k,) for k in range(nslots))


def test_liveness_is_not_read_off_the_scale():
    check_curvature(ByScale([1.0, -2.0], dead_slot), 2)
    with pytest.raises(ConformanceError, match="scale 0 in live slot"):
        check_curvature(ByScale([1.0, -2.0], lambda s: declared_scale(s) == 0), 2)


def test_a_full_matrix_multiplies_and_bounds_like_its_entries():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5)) * (rng.random((5, 5)) < 0.7)
    A = A + A.T
    check_curvature(MatrixCurvature(A), entries=A)
    box = blackbox(lambda x: x @ A @ x / 2, lambda x: A @ x, lambda x: A)
    x = rng.normal(size=5)
    np.testing.assert_allclose(dc.hessian(box, x), A)
    tape, out = dc.tape_function(lambda x: 3.0 * box(x), x)
    np.testing.assert_allclose(dc.hessian_bound(tape, out), 3 * abs(A))


def test_a_full_matrix_selects_zeros_before_infinities():
    C = MatrixCurvature(np.array([[np.inf, 0.0, 0.0], [0.0, 1.0, 2.0], [0, 2, 0]]))
    out = np.zeros(3)
    C.curvature_apply(out, [0, 1, 2], 1.0, np.array([0.0, 1.0, 1.0]))
    assert out.tolist() == [0.0, 3.0, 2.0]
    B = np.zeros((1, 1))
    C.bound_contribution(B, 1.0, [0, 1, 2], np.array([[0.0], [1.0], [1.0]]))
    assert B.tolist() == [[5.0]]


# -- black boxes -----------------------------------------------------------------------


def test_a_black_box_gets_an_array_for_a_list_of_numbers():
    cubes = blackbox(
        lambda x: (x**-1).sum(), lambda x: -(x**-2), lambda x: np.diag(2 * x**-3)
    )
    assert cubes([1, 2]) == cubes(np.array([1.0, 2.0])) == 1.5
    assert blackbox(lambda t: t**-1, lambda t: -(t**-2), lambda t: 2 * t**-3)(2) == 0.5
    with pytest.raises(InputTypeError, match="'abc'"):
        cubes("abc")
    with pytest.raises(
        InputTypeError, match="gradient of a black box is of type float"
    ):
        blackbox(np.sin, 1.0, np.sin)


def test_a_bound_of_zeros_declares_a_linear_function():
    total = blackbox(np.sum, np.ones_like, bound=np.zeros_like)
    H = dc.hessian(lambda x: total(x) * x[0], X)
    np.testing.assert_array_equal(H, [[2, 1, 1], [1, 0, 0], [1, 0, 0]])
    assert dc.natoms(dc.tape_function(total, X)[0]) == 0


# -- sub-maps on another backend -------------------------------------------------------


def _part(v):
    return np.stack([v[0] * v[1], 2 * v[0] - v[2], np.sin(v[2]) * v[0]])


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_submaps_are_propagated_forward(storage):
    def f(x, part):
        return np.sum(part(x * x) ** 2) * x[0]

    H = dc.hessian(lambda x: f(x, _part), X)
    found = dc.forward_cover(
        lambda x: f(x, lambda v: dc.submap(_part, v)), X, storage=storage
    )
    assert dc.iscover(found, H)
    np.testing.assert_allclose(
        found.gradient, dc.gradient(lambda x: f(x, _part), X), rtol=1e-13
    )
    tape, out = dc.tape_function(lambda x: f(x, lambda v: dc.submap(_part, v)), X)
    h = dc.cover_hessian(tape, out, merge="quadrature").h
    assert (found.h >= h * (1 - 1e-12)).all()


def test_declared_calls_on_forward_variables_and_constants():
    def f(x):
        (y,) = dc.submapnode([x[0], 5.0, x[1]], [2.0], [[3.0, 9.0, 4.0]], [[1, 7, 0.5]])
        return y

    found = dc.forward_cover(f, X)
    np.testing.assert_array_equal(found.gradient, [3.0, 4.0, 0.0])
    np.testing.assert_array_equal(found.h, [1.0, 0.5, 0.0])
    (c,) = dc.submap(lambda v: v * v, FVar(3.0))
    assert isinstance(c, FVar)
    assert isconstant(c)
    assert c.v == 9.0
    one = dc.forward_cover(lambda x: dc.submap(lambda v: v * v, x[0])[0], X)
    np.testing.assert_array_equal(one.gradient, [0.6, 0.0, 0.0])
    with pytest.raises(ShapeError, match="J has shape"):
        dc.forward_cover(lambda x: dc.submapnode([x[0]], [1.0], [[1.0, 2.0]])[0], X)
    for entries in (False, True):
        with pytest.raises(InputTypeError, match="real numbers"):
            dc.forward_cover(
                lambda x: dc.submapnode([x[0], "a"], [1.0], [[1, 2]])[0],
                X,
                entries=entries,
            )


def test_a_submap_takes_variables_of_one_backend_only():
    def mixed(x):
        y = TVar(1.0)
        return dc.submap(lambda v: v[0] * v[1], [x[0], y])[0]

    found = dc.forward_cover(mixed, X)  # a constant of any backend is a number
    np.testing.assert_array_equal(found.gradient, [1.0, 0.0, 0.0])


# -- Upward and composition --------------------------------------------------------------


def test_what_would_lose_an_upper_bound_raises():
    u = Upward([1.0, 2.7])
    with pytest.raises(UnsupportedOperationError, match="integers"):
        np.asarray(u, dtype=np.int64)
    with pytest.raises(UnsupportedOperationError, match=r"numpy\.sum with dtype"):
        np.sum(u, dtype=np.float32)
    with pytest.raises(ShapeError, match="lengths"):
        Upward([[1.0], [1.0, 2.0]])


def test_a_list_of_upward_numbers_stays_upward():
    tenth = Upward(0.1)
    a, _ = dc.compose_jacobian_cover([tenth], [tenth, 0.3], [0.7, tenth], [1.0])
    assert isinstance(a, Upward)


def test_a_black_box_takes_one_argument():
    box = blackbox(
        lambda x: x[0] * x[1], gradient=lambda x: x[::-1], bound=np.ones_like
    )
    with pytest.raises(InputTypeError, match="pass a list"):
        dc.gradient(lambda x: box(x[0], x[1]), [1.0, 2.0])


def test_partials_that_are_one_number_are_refused():
    with pytest.raises(OptionError, match="needed for one differentiated"):

        @elemental(partials=lambda xp, x, v: 2.0 * x, name="half_a_rule")
        def half_a_rule(xp, x):
            return x * x
