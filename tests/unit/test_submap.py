"""Declared curvature, and calls recorded by what they declare of themselves."""

from __future__ import annotations

import copy
import math
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors, extend
from derivative_covers.covers._submap import refuse_points
from derivative_covers.elements import magtype
from derivative_covers.extend import DeclaredCurvature

jax.config.update("jax_enable_x64", True)

X = np.array([0.7, -0.4, 1.3])


def inner(xp, v):
    return xp.stack([v[0] * v[1], xp.exp(v[1]) * v[2] ** 2, v[0] - 3.0 * v[2]])


def outer(xp, y, x):
    return xp.sin(y[0]) * y[1] + y[2] ** 2 + x[0] * y[1]


def direct(x):
    return outer(np, inner(np, x), x)


def through(x):
    return outer(np, dc.submap(lambda v: inner(np, v), x), x)


def jax_hessian(x):
    return np.asarray(jax.hessian(lambda v: outer(jnp, inner(jnp, v), v))(x))


class Box:
    """A toy element type whose values stand for sets, as an extension registers one."""

    def __init__(self, size):
        self.size = size


@magtype.register(Box)
def _(T):
    return np.float64


def test_first_order_is_exact_and_every_cover_holds():
    tape, out = dc.tape_function(through, X)
    H = jax_hessian(X)
    np.testing.assert_allclose(
        dc.gradient(tape, out), dc.gradient(direct, X), rtol=1e-14
    )
    covers = [
        dc.cover_hessian(tape, out, merge="sum"),
        dc.cover_hessian(tape, out, merge="quadrature"),
        *(dc.cover_hybrid(tape, out, ngroups=g) for g in (1, 2, 3, 99)),
    ]
    for cover in covers:
        assert dc.iscover(cover, H)
        assert dc.cover_excess(cover, H) < 1.2
    assert (covers[1].h <= covers[0].h).all()
    np.testing.assert_array_equal(covers[5].h, covers[1].h)
    assert (np.abs(H) <= dc.hessian_bound(tape, out) * (1 + 1e-12)).all()


def test_one_node_and_one_atom_an_output():
    tape, out = dc.tape_function(through, X)
    plain, _ = dc.tape_function(lambda x: outer(np, x, x), X)
    assert dc.nnodes(tape) == dc.nnodes(plain) + 3
    assert dc.natoms(tape) == dc.natoms(plain) + 2  # the last output is linear
    assert isinstance(tape.Cs[3], DeclaredCurvature)
    assert tape.Cs[5] == extend.NoCurvature()
    assert tape.parents[4].tolist() == [0, 1, 2]
    np.testing.assert_allclose(
        tape.ds[4], [0.0, math.exp(X[1]) * X[2] ** 2, 2 * math.exp(X[1]) * X[2]]
    )
    rho = dc.local_covers(tape, out)[3]
    assert rho.shape == (3,)
    assert rho[2] == 0


@pytest.mark.parametrize("use", [lambda t, o: dc.hvp(t, o, X), dc.hessian])
def test_exact_second_order_is_refused(use):
    tape, out = dc.tape_function(through, X)
    with pytest.raises(errors.UnsupportedOperationError, match="DeclaredCurvature"):
        use(tape, out)


def test_linear_calls_keep_exact_second_order():
    def f(x):
        return dc.submapnode(x, [x.v @ [1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]])[0] ** 2

    np.testing.assert_allclose(dc.hessian(f, X), 2 * np.outer([1, 2, 3], [1, 2, 3]))


def test_declaration_has_values_jacobian_and_covers():
    y, J, S = dc.declare_submap(lambda v: inner(np, v), X)
    assert (y.shape, J.shape, S.shape) == ((3,), (3, 3), (3, 3))
    np.testing.assert_allclose(y, inner(np, X), rtol=1e-15)
    np.testing.assert_allclose(J, jax.jacfwd(lambda v: inner(jnp, v))(X), rtol=1e-13)
    second = np.asarray(jax.hessian(lambda v: inner(jnp, v))(X))
    for s, H in zip(S, second, strict=True):
        assert dc.iscover(s, H)
    assert not S[2].any()
    for k in range(3):
        h = dc.cover_hessian(lambda v, k=k: inner(np, v)[k], X).h
        np.testing.assert_array_equal(S[k], h)


def test_scales_and_ratio_choose_the_split_of_the_declaration():
    x0 = [0.0, 3.0]
    S = dc.declare_submap(lambda v: v[0] * v[1], x0, scales=[4.0, 1.0]).S
    np.testing.assert_array_equal(S, [[0.5, 2.0]])

    def f(x):
        return dc.submap(lambda v: v[0] * v[1], x, scales=[4.0, 1.0])[0]

    np.testing.assert_array_equal(dc.cover_hessian(f, x0).h, [0.5, 2.0])
    loose = dc.declare_submap(lambda v: v[0] * v[1], [1e-5, 1.0], ratio=1e-4).S
    np.testing.assert_allclose(loose, [[1.0, 1.0]])
    for wrong in ({"scales": [1.0]}, {"scales": [0.0, 1.0]}, {"ratio": 1.0}):
        with pytest.raises((errors.ShapeError, errors.OptionError)):
            dc.declare_submap(lambda v: v[0] * v[1], x0, **wrong)


def test_shapes_of_arguments_and_outputs():
    def one(x):
        return dc.submap(lambda v: np.sum(v**2), x)[0]

    assert dc.gradient(one, 3.0) == 6.0
    np.testing.assert_array_equal(dc.gradient(one, X), 2 * X)
    grid = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(dc.gradient(one, grid), 2 * grid)

    def square(x):
        y = dc.submap(lambda v: v @ v, x)
        assert y.shape == (4,)
        return y[1]

    np.testing.assert_array_equal(
        dc.gradient(square, [[1.0, 2.0], [3.0, 4.0]]), [[2, 5], [0, 2]]
    )
    y, J, S = dc.declare_submap(lambda v: v[0] * v[1], {0: 2.0, 1: 3.0})
    assert (y, J.tolist()) == (6.0, [[3.0, 2.0]])
    assert dc.declare_submap(lambda a, b: a * b, (2.0, 3.0)).J.tolist() == [[3.0, 2.0]]
    assert S.shape == (1, 2)


@pytest.mark.parametrize(
    "xs",
    [
        lambda x: [x[2], x[0]],
        lambda x: (x[2], x[0]),
        lambda x: np.array([x[2], x[0]], dtype=object),
        lambda x: x[::-2],
        lambda x: np.stack([x[2], x[0]]),
    ],
)
def test_arguments_come_as_lists_and_views(xs):
    def f(x):
        return dc.submap(lambda v: v[0] ** 2 * v[1], xs(x))[0]

    np.testing.assert_allclose(dc.gradient(f, X), [X[2] ** 2, 0, 2 * X[2] * X[0]])


def test_the_sub_map_may_write_into_its_argument():
    def F(v):
        v[0] = v[1] ** 2
        return v[0] * v[2]

    def f(x):
        return dc.submap(F, x)[0] + x[0]

    np.testing.assert_allclose(dc.gradient(f, X), [1.0, 2 * X[1] * X[2], X[1] ** 2])


def test_constants_fold():
    def f(x):
        y = dc.submap(lambda v: v[0] * v[1] * v[2], [x[0], 2.0, dc.TVar(5.0)])
        return y[0] * x[1]

    tape, out = dc.tape_function(f, [3.0, 4.0])
    assert tape.parents[2].tolist() == [0]
    np.testing.assert_array_equal(dc.gradient(tape, out), [40.0, 30.0])

    def only(x):
        y = dc.submap(lambda v: v[0] * v[1], [2.0, 5.0])
        assert dc.isconstant(y)
        return y[0] * x[0] + dc.submapnode(np.zeros(2) + 0 * x.v[0], [3.0], [[1, 1]])[0]

    tape, out = dc.tape_function(only, [3.0])
    assert dc.gradient(tape, out) == [10.0]
    assert tape.vals[out] == 33.0
    for xs in ([2.0, 5.0], [dc.TVar(2.0), 5.0], np.array([2.0, 5.0])):
        np.testing.assert_array_equal(dc.submap(lambda v: v[0] * v[1], xs), [10.0])
    np.testing.assert_array_equal(dc.submap(lambda v: v[0] ** 2, dc.TVar(3.0)), [9.0])


def test_constant_outputs_and_constant_maps():
    J = dc.jacobian(lambda x: dc.submap(lambda v: [v[0], 3.0, v[1] * v[2]], x), X)
    np.testing.assert_allclose(J, [[1, 0, 0], [0, 0, 0], [0, X[2], X[1]]])
    with pytest.raises(errors.ConstantProgramError):
        dc.gradient(lambda x: dc.submap(lambda v: 3.0, x)[0], X)


def test_calls_nest():
    def middle(v):
        return dc.submap(lambda u: u[0] * u[1], v)[0] * v[0]

    def f(x):
        return dc.submap(middle, x)[0] ** 2

    x0 = np.array([1.5, 0.5])
    H = np.asarray(jax.hessian(lambda x: (x[0] ** 2 * x[1]) ** 2)(x0))
    assert dc.iscover(dc.cover_hessian(f, x0), H)


def test_repeated_arguments_are_independent_slots():
    cover = dc.cover_hessian(
        lambda x: dc.submap(lambda v: v[0] * v[1], [x[0], x[0]])[0], [2.0]
    )
    assert dc.iscover(cover, [[2.0]])
    assert cover.gradient == [4.0]


def test_dead_arguments_do_not_shape_the_cover():
    def f(x):
        y = dc.submapnode([x[0], x[1] * 0.0], [1.0], [[1.0, 1.0]], [[1.0, 1e9]])
        return y[0] * x[0]

    h = dc.cover_hessian(f, [1.0, 2.0]).h
    assert h[1] == 0
    assert 1.0 < h[0] < 10.0


def test_float32_stays():
    def f(x):
        return dc.submap(lambda v: np.sin(v[0]) * v[1], x)[0] * x[0]

    x0 = np.float32([0.7, 2.0])
    tape, out = dc.tape_function(f, x0)
    assert tape.Cs[2].s.dtype == np.float32
    cover = dc.cover_hessian(tape, out)
    assert cover.h.dtype == np.float32
    H = jax.hessian(lambda x: jnp.sin(x[0]) * x[1] * x[0])(np.float64(x0))
    assert dc.iscover(cover, np.float32(H))


def test_options_of_the_recording_reach_the_sub_map():
    y, J, _ = dc.declare_submap(lambda v: abs(v[0]) + v[1], [0.0, 1.0], kinks="branch")
    assert (y, J.tolist()) == (1.0, [[0.0, 1.0]])
    assert dc.submap(lambda v, c: c * v[0], [2.0], args=(3.0,)) == [6.0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": [math.nan]}, errors.OptionError, "y holds a NaN"),
        ({"J": [[math.inf, 1.0]]}, errors.OptionError, "J holds a NaN or an inf"),
        ({"S": [[math.nan, 0.0]]}, errors.OptionError, "S holds a NaN"),
        ({"S": [[0.0, -1.0]]}, errors.OptionError, r"S\[0, 1\] is -1"),
        ({"y": 1.0}, errors.ShapeError, r"y has shape \(\)"),
        ({"y": []}, errors.ShapeError, "at least one output"),
        ({"J": [1.0, 1.0]}, errors.ShapeError, "one row an output"),
        ({"J": [[1.0]]}, errors.ShapeError, r"must be \(1, 2\)"),
        ({"J": [[1.0, 1.0], [1.0]]}, errors.ShapeError, "equally long"),
        ({"S": [[1.0, 1.0], [1.0, 1.0]]}, errors.ShapeError, r"must be \(1, 2\)"),
        ({"y": ["a"]}, errors.InputTypeError, "y cannot be read"),
        ({"J": [[1j, 1.0]]}, errors.InputTypeError, "J cannot be read"),
        ({"xs": []}, errors.ShapeError, "at least one argument"),
        ({"xs": "ab"}, errors.InputTypeError, "str"),
        ({"xs": None}, errors.InputTypeError, "NoneType"),
    ],
)
def test_bad_declarations_are_refused(arguments, error, message):
    given = {"y": [1.0], "J": [[1.0, 1.0]], "S": None, **arguments}

    def f(x):
        return (
            dc.submapnode(given.get("xs", x), given["y"], given["J"], given["S"])[0]
            * x[0]
        )

    with pytest.raises(error, match=message):
        dc.gradient(f, [1.0, 2.0])


def test_errors_inside_of_the_sub_map_and_leaks():
    with pytest.raises(errors.DomainError, match="log"):
        dc.gradient(lambda x: dc.submap(lambda v: np.log(v[0]), x)[0], [-1.0])
    with pytest.raises(errors.NondifferentiableError):
        dc.gradient(lambda x: dc.submap(lambda v: np.abs(v[0]), x)[0], [0.0])
    with pytest.raises(errors.TapeError, match="two recordings"):
        dc.gradient(lambda x: dc.submap(lambda v: v[0] * x[1], x)[0], X)
    leaked = []
    dc.tape_function(lambda x: leaked.append(x) or x[0], X)
    with pytest.raises(errors.TapeError, match="finished"):
        dc.submapnode(leaked[0], [1.0], [[1.0, 1.0, 1.0]])
    with pytest.raises(errors.InputTypeError, match="nested"):
        dc.gradient(lambda x: dc.declare_submap(lambda v: v[0], x).y[0] * x[0], X)

    # The outer recording goes on after a failure inside.
    def recovers(x):
        try:
            dc.submap(lambda v: np.log(-v[2]), x)
        except errors.DomainError:
            return np.zeros_like(x)[0] + x[0] ** 2
        raise AssertionError

    np.testing.assert_allclose(dc.gradient(recovers, X), [2 * X[0], 0, 0])


def test_points_are_refused_where_values_stand_for_sets():
    refuse_points(np.float64, [1.0], "y")
    refuse_points(np.dtype(np.complex128), [1j], "y")
    refuse_points(object, [1.0], "y")
    refuse_points(Box, [Box(1.0), Box(2.0)], "y")
    for points in ([1.0], [Box(1.0), 2.0], [[Box(1.0), np.float32(1)]]):
        with pytest.raises(
            errors.InputTypeError, match=r"J holds points.*Box.*enclosures"
        ):
            refuse_points(Box, points, "J")


def test_a_finished_tape_copies_and_pickles():
    tape, out = dc.tape_function(through, X)
    h = dc.cover_hessian(tape, out).h
    for other in (copy.deepcopy(tape), pickle.loads(pickle.dumps(tape))):
        np.testing.assert_array_equal(dc.cover_hessian(other, out).h, h)


def test_ten_thousand_arguments():
    n = 10_000
    x0 = np.linspace(0.1, 1.0, n)
    s = np.full((2, n), 0.01)

    def f(x):
        y = dc.submapnode(x, [2.0, 3.0], np.ones((2, n)), s)
        return y[0] * y[1]

    tape, out = dc.tape_function(f, x0)
    cover = dc.cover_hessian(tape, out)
    quadrature = dc.cover_hessian(tape, out, merge="quadrature")
    # u_k = s sqrt(3), s sqrt(2) from the calls, and 1 + 1 from the product's split.
    split = math.sqrt(1.5) + math.sqrt(1 / 1.5)
    np.testing.assert_allclose(cover.h, 0.01 * (3**0.5 + 2**0.5) + split, rtol=1e-12)
    np.testing.assert_allclose(quadrature.h, math.sqrt(5e-4 + split**2), rtol=1e-12)


def test_a_call_is_declared_anew_in_a_replay() -> None:
    def inner(v):
        return [np.sin(v[0]) * v[1], v[1] ** 3] if v[0] > 0 else [v[0], v[1]]

    def f(x):
        y = dc.submap(inner, [x[0] * 2, x[1]])
        return y[0] * y[1] + x[0]

    tape, out = dc.tape_function(f, [0.5, 2.0])
    fresh, _ = dc.tape_function(f, [1.0, -3.0])
    replayed = tape.replay([1.0, -3.0])
    assert replayed.vals.tobytes() == fresh.vals.tobytes()
    covers = [dc.cover_hessian(t, out).h.tolist() for t in (replayed, fresh)]
    assert covers[0] == covers[1]
    # The branch inside is none of this tape: the call is recorded again.
    fresh, _ = dc.tape_function(f, [-1.0, -3.0])
    assert tape.replay([-1.0, -3.0]).vals.tobytes() == fresh.vals.tobytes()


def test_a_declared_call_with_a_rule() -> None:
    def rule(v):
        return [v[0] * v[1]], [[v[1], v[0]]], [[1.0, 1.0]]

    def f(x):
        return dc.submapnode([x[0], 3.0], None, None, replay=rule)[0] + x[1]

    tape, out = dc.tape_function(f, [1.0, 2.0])
    assert tape.vals[out] == 5.0
    assert dc.gradient(tape.replay([4.0, 1.0]), out).tolist() == [3.0, 1.0]
    assert tape.replay([4.0, 1.0]).vals[out] == 13.0


def test_rules_serve_backends_without_a_tape():
    def rule(v):
        return [v[0] * v[1]], [[v[1], v[0]]], [[1.0, 1.0]]

    def square(values):
        (v,) = values
        return v * v, [2 * v], extend.UnaryCurvature(2.0)

    def f(x):
        y = dc.submapnode([x[0], x[1]], None, None, replay=rule)[0]
        recorder, k = extend.noderef(x[1])
        return y + extend.pushnode(recorder, None, [k], None, None, replay=square)

    cover = dc.forward_cover(f, [2.0, 3.0])
    tape, out = dc.tape_function(f, [2.0, 3.0])
    assert cover.gradient.tolist() == dc.gradient(tape, out).tolist() == [3.0, 8.0]
    with pytest.raises(errors.InputTypeError, match="Interval"):
        dc.tape_function(f, dc.Interval([2.0, 3.0], [2.5, 3.5]))
