"""The forward backend: variables, storage, liveness, splits, memory, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.extend import (
    BinaryCurvature,
    DenseStorage,
    ForwardContext,
    FVar,
    NoCurvature,
    SparseStorage,
    UnaryCurvature,
    constantvar,
    dead_slot,
    declared_scale,
    dotnode,
    forward_channels,
    forward_scale,
    isconstant,
    linearnode,
    noderef,
    pushnode,
    unarynode,
)

STORAGES = ["dense", "sparse"]


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def mixture(x):
    y = np.exp(np.sin(x)) * x[::-1] + np.where(x > 0.1, x**3, np.cos(x))
    z = np.logaddexp(0.0, y) + np.hypot(1.0, x) + np.maximum(y, x)
    return np.std(y) * np.mean(z) + np.prod(x) + np.cumsum(z)[2] * (y @ x) / 7.0


X = np.array([0.7, -0.3, 1.2, 0.4])


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("entries", [False, True])
@pytest.mark.parametrize("f", [rosenbrock, mixture])
def test_value_gradient_and_cover(f, entries, storage):
    found = dc.forward_cover(f, X, storage=storage, entries=entries)
    tape, out = dc.tape_function(f, X)
    np.testing.assert_allclose(found.value, f(X), rtol=1e-14)
    np.testing.assert_allclose(found.gradient, dc.gradient(tape, out), rtol=1e-11)
    assert dc.iscover(found.h, dc.hessian(tape, out))
    least = dc.cover_hessian(tape, out, merge="quadrature").h
    assert (found.h >= least * (1 - 1e-12)).all()
    np.testing.assert_array_equal(np.asarray(found), found.h)
    assert f"value={found.value:.6g}" in repr(found)


@pytest.mark.parametrize("storage", STORAGES)
def test_the_cover_is_the_recursion_in_rational_arithmetic(storage):
    """A product of sums: weights, sums and squares are exact, and so is the result."""

    def f(x):
        u = x[0] * x[1]
        v = u + 3 * x[2]
        return v * v - 2 * u

    x = [Fraction(2), Fraction(8), Fraction(1)]
    g = {
        "u": [x[1], x[0], Fraction(0)],
        "v": [x[1], x[0], Fraction(3)],
    }
    # u: rho = sqrt(x1/x0) = 2 and 1/2, on unit gradients; v * v is one slot, c = 2.
    q_u = [Fraction(2) ** 2, Fraction(1, 2) ** 2, Fraction(0)]
    v = x[0] * x[1] + 3 * x[2]
    q_square = [2 * abs(v) * q + 2 * d * d for q, d in zip(q_u, g["v"], strict=True)]
    q = [a + 2 * b for a, b in zip(q_square, q_u, strict=True)]
    grad = [2 * v * d - 2 * e for d, e in zip(g["v"], g["u"], strict=True)]
    for entries in (False, True):
        found = dc.forward_cover(
            f, [float(e) for e in x], storage=storage, entries=entries
        )
        assert found.value == float(v * v - 2 * x[0] * x[1])
        assert found.gradient.tolist() == [float(e) for e in grad]
        np.testing.assert_allclose(found.h**2, [float(e) for e in q], rtol=1e-14)


@pytest.mark.parametrize("storage", STORAGES)
def test_float32_stays_float32(storage):
    def f(x):
        if entries:
            assert (type(x[0])(2.0) * 3.0).v.dtype == np.float32
        return mixture(x) * type(x[0])(2.0)

    for entries in (False, True):
        found = dc.forward_cover(
            f, X.astype(np.float32), storage=storage, entries=entries
        )
        assert found.gradient.dtype == found.h.dtype == np.float32
        assert found.value.dtype == np.float32
        double = dc.forward_cover(f64(mixture), X)
        np.testing.assert_allclose(found.h, double.h, rtol=1e-4)


def f64(f):
    return lambda x: f(x) * 2.0


def test_constants_carry_type_and_storage():
    kinds = set()

    def f(x):
        V = type(x[0])
        c = V(2.0)
        kinds.add((V, V.element_type, V.storage))
        assert isconstant(c)
        assert type(c * 3.0) is V
        assert type(constantvar(V, 1.0)) is V
        assert isconstant(np.exp(c) + c)
        assert isconstant(V(c))
        return (c * x[0] + c) ** c

    for dtype in (np.float64, np.float32):
        for storage in STORAGES:
            found = dc.forward_cover(
                f, np.ones(1, dtype=dtype), storage=storage, entries=True
            )
            assert found.gradient.tolist() == [16.0]
    assert len(kinds) == 4
    assert {(t, s) for _, t, s in kinds} == {
        (np.dtype(t), s)
        for t in (np.float64, np.float32)
        for s in (DenseStorage, SparseStorage)
    }
    assert float(FVar(2.5)) == 2.5
    assert repr(FVar(2.5)) == "FVar(2.5)"
    with pytest.raises(errors.InputTypeError):
        FVar("a")
    with pytest.raises(errors.InputTypeError, match="got an array"):
        FVar([1.0, 2.0])


@pytest.mark.parametrize("entries", [False, True])
def test_sparse_storage_holds_only_what_is_needed(entries):
    sizes = []

    def f(x):
        y = x[3] * x[900] + x[3]
        channels = forward_channels(y)
        sizes.append(channels.gradient.at.tolist())
        sizes.append(channels.square.at.tolist())
        return y * y + x[17]

    x = np.linspace(1, 2, 1000)
    found = dc.forward_cover(f, x, storage="sparse", entries=entries)
    assert sizes == [[3, 900], [3, 900]]
    assert np.flatnonzero(found.gradient).tolist() == [3, 17, 900]
    np.testing.assert_array_equal(
        found.h, dc.forward_cover(f_dense, np.linspace(1, 2, 1000)).h
    )


def f_dense(x):
    y = x[3] * x[900] + x[3]
    return y * y + x[17]


@pytest.mark.parametrize("entries", [False, True])
def test_declared_scales_and_liveness(entries):
    def f(x):
        y = x[0] * x[1]
        assert not dead_slot(forward_scale(y))
        assert declared_scale(forward_scale(y)) == 5.0 * 2.0 + 1.0 * 6.0
        assert forward_scale(y).value == 5.0
        gone = x[0] - x[0]
        assert dead_slot(forward_scale(gone))
        assert declared_scale(forward_scale(gone)) == 0.0
        assert dead_slot(forward_scale(x[0] * 0.0))
        faint = x[0] * 1e-200 * 1e-200
        assert declared_scale(forward_scale(faint)) == 0.0
        assert not dead_slot(forward_scale(faint))
        return y

    dc.forward_cover(f, [1.0, -5.0], scales=[2.0, 6.0], entries=entries)


def test_scales_are_asked_for_only_where_values_carry_none():
    def f(x):
        return x[0] * x[1]

    plain = dc.forward_cover(f, [4.0, 1.0])
    assert not plain.asked
    np.testing.assert_array_equal(plain.h, [0.5, 2.0])
    guarded = dc.forward_cover(f, [0.0, 1.0], scales=[4.0, 1.0])
    assert guarded.asked
    np.testing.assert_array_equal(guarded.h, [0.5, 2.0])
    assert "Declared scales were read" in repr(guarded)
    tape = dc.cover_hessian(f, [0.0, 1.0], scales=[4.0, 1.0])
    np.testing.assert_array_equal(guarded.h, tape.h)
    wide = dc.forward_cover(f, [1e-3, 1.0], ratio=0.5, scales=[1.0, 1.0])
    np.testing.assert_array_equal(wide.h, [1.0, 1.0])


def test_dead_slots_are_not_covered():
    def f(x):
        return x[0] * (x[1] - x[1] + 5.0)

    found = dc.forward_cover(f, [2.0, 3.0])
    np.testing.assert_array_equal(found.h, [0.0, 0.0])
    np.testing.assert_array_equal(found.gradient, [5.0, 0.0])


def test_covariance_is_exact_for_powers_of_two():
    D = np.array([2.0**5, 2.0**-3, 1.0, 2.0**10])
    base = dc.forward_cover(rosenbrock, X)
    moved = dc.forward_cover(lambda y: rosenbrock(y * D), X / D)
    np.testing.assert_array_equal(moved.h, base.h * D)
    np.testing.assert_array_equal(moved.gradient, base.gradient * D)
    taller = dc.forward_cover(lambda x: 4.0**20 * rosenbrock(x), X)
    np.testing.assert_array_equal(taller.h, 2.0**20 * base.h)


def test_tiny_and_huge_curvature_stay_covered():
    for size in (1e-290, 1e-160, 1e150, 1e290):
        found = dc.forward_cover(lambda x, s=size: s * x[0] * x[1], [1.0, 1.0])
        assert dc.iscover(found.h, [[0, size], [size, 0]])
    with pytest.raises(errors.DomainError, match="is not finite"):
        dc.forward_cover(lambda x: (x[0] * 1e200) ** 2 * 1e-100, [1e-60])


@pytest.mark.parametrize("entries", [False, True])
def test_nodes_recorded_by_hand(entries):
    def f(x):
        a, b = x
        c = unarynode(a, 4.0, 4.0, 2.0)
        d = dotnode([a, b], [b, b])
        e = linearnode([2.0, -1.0], [c, b])
        context, parent = noderef(e)
        assert (parent is e) == entries
        e, a = parent, noderef(a)[1]
        return [
            c,
            d,
            linearnode([2.0, -1.0], [c, b]),
            pushnode(context, 1.0, [e, a], [1.0, 3.0], BinaryCurvature(0.0, 1.0, 0.0)),
            pushnode(context, 1.0, [a, a], [1.0, 3.0], NoCurvature()),
        ]

    found = dc.forward_cover(f, [2.0, 3.0], entries=entries)
    np.testing.assert_array_equal(
        found.gradient, [[4, 0], [3, 8], [8, -1], [11, -1], [4, 0]]
    )
    assert found.value.tolist() == [4.0, 15.0, 5.0, 1.0, 1.0]
    tape, outs = dc.tape_function(f_tape, [2.0, 3.0])
    for k, out in enumerate(outs):
        least = dc.cover_hessian(tape, out, merge="quadrature").h
        np.testing.assert_allclose(found.h[k], least, rtol=1e-14)


def f_tape(x):
    a, b = x[0], x[1]
    c = unarynode(a, 4.0, 4.0, 2.0)
    e = linearnode([2.0, -1.0], [c, b])
    tape, k = noderef(e)
    i = noderef(a)[1]
    return [
        c,
        dotnode([a, b], [b, b]),
        e,
        pushnode(tape, 1.0, [k, i], [1.0, 3.0], BinaryCurvature(0.0, 1.0, 0.0)),
        pushnode(tape, 1.0, [i, i], [1.0, 3.0], NoCurvature()),
    ]


def test_faults_count_only_where_an_output_depends_on_them():
    def f(x):
        bad = np.log(x[0]) + np.sqrt(x[0]) + abs(x[0])
        return np.where(x > 0.5, x * x, bad)[1] + 0.0 * x[2]

    with np.errstate(all="ignore"):
        assert dc.forward_cover(f, [0.0, 2.0, 1.0]).gradient.tolist() == [0.0, 4.0, 0.0]
    for g, kind, message in (
        (lambda x: np.log(x[0]), errors.DomainError, r"log\(0.0\)"),
        (lambda x: np.sqrt(x[0]), errors.DomainError, r"sqrt\(0.0\)"),
        (lambda x: abs(x[0]) + x[1], errors.NondifferentiableError, "absolute"),
        (lambda x: x[1] / x[0], errors.DomainError, "divide"),
        (lambda x: np.maximum(x[0], 0.0), errors.NondifferentiableError, "maximum"),
        (lambda x: x[0] if x[0] > 0 else x[1], errors.NondifferentiableError, "tie"),
        (lambda x: np.exp(x[1] * 1e3), errors.DomainError, "finite"),
    ):
        for entries in (False, True):
            with pytest.raises(kind, match=message):
                dc.forward_cover(g, [0.0, 2.0], entries=entries)
    assert dc.forward_cover(lambda x: np.maximum(x[0], x[0]), [1.0]).gradient == [1.0]


def test_refusals():
    def stored(x):
        a = np.zeros(2)
        a[0] = x[0]
        return a

    leaked = []
    dc.forward_cover(lambda x: (leaked.append(x[0]), x[0])[1], [1.0], entries=True)
    tape_var = []
    dc.tape_function(lambda x: (tape_var.append(x[0]), x[0])[1], [1.0])
    cases = [
        (lambda x: 1.0, errors.ConstantProgramError, "does not depend"),
        (lambda x: FVar(1.0), errors.ConstantProgramError, "does not depend"),
        (lambda x: [], errors.ShapeError, "empty"),
        (lambda x: "no", errors.InputTypeError, "returned 'no'"),
        (lambda x: [x[0], None], errors.InputTypeError, "NoneType"),
        (lambda x: [x, x[0]], errors.InputTypeError, "no array of outputs"),
        (lambda x: leaked[0], errors.InputTypeError, "another propagation"),
        (lambda x: leaked[0] * x[0], errors.TapeError, "another propagation"),
        (lambda x: tape_var[0] * x[0], errors.DerivativeError, "variable"),
        (lambda x: x[0] * 1j, errors.UnsupportedOperationError, "complex"),
        (lambda x: x[0] + "a", errors.InputTypeError, "str"),
        (lambda x: float(x[0]), errors.UnsupportedOperationError, "float"),
        (stored, errors.UnsupportedOperationError, "float"),
        (
            lambda x: np.fft.fft(x),
            errors.UnsupportedOperationError,
            "forward variables",
        ),
        (lambda x: np.nextafter(x, 1.0), errors.UnsupportedOperationError, "nextafter"),
        (
            lambda x: np.linalg.inv(np.outer(x, x)),
            errors.UnsupportedOperationError,
            "inv",
        ),
        (lambda x: unarynode(FVar(1.0), 1.0, 1.0, 0.0), errors.TapeError, "constant"),
        (
            lambda x: forward_scale(FVar(1.0)),
            errors.InputTypeError,
            "forward_scale got",
        ),
        (lambda x: f_deep(x[0], 10**6), errors.RecursionDepthError, "loop"),
    ]
    for f, kind, message in cases:
        with pytest.raises(kind, match=message):
            dc.forward_cover(f, [1.0, 2.0], entries=True)
    arrays = [
        (lambda x: 1.0, errors.ConstantProgramError, "does not depend"),
        (lambda x: [], errors.ShapeError, "empty"),
        (lambda x: "no", errors.InputTypeError, "returned 'no'"),
        (lambda x: [x[0], None], errors.InputTypeError, "NoneType"),
        (lambda x: [x, x[0]], errors.ShapeError, "Join parts"),
        (lambda x: late[0], errors.TapeError, "another recording"),
        (lambda x: late[0] * x[0], errors.TapeError, "two recordings"),
        (lambda x: leaked[0] * x[0], errors.DerivativeError, "FVar"),
        (lambda x: forward_scale(late[0]), errors.TapeError, "finished"),
        (lambda x: forward_channels(x), errors.InputTypeError, "entry"),
        (lambda x: forward_scale(1.0), errors.InputTypeError, "entry"),
        (lambda x: np.fft.fft(x), errors.UnsupportedOperationError, "fft"),
        (stored, errors.UnsupportedOperationError, "float"),
        (lambda x: f_deep(x[0], 10**6), errors.RecursionDepthError, "loop"),
    ]
    late = []
    dc.forward_cover(lambda x: (late.append(x[0]), x[0])[1], [1.0])
    for f, kind, message in arrays:
        with pytest.raises(kind, match=message):
            dc.forward_cover(f, [1.0, 2.0])
    f = rosenbrock
    for kw, kind, message in (
        ({"scales": [1.0]}, errors.ShapeError, "shape"),
        ({"scales": [1.0, 0.0]}, errors.OptionError, "positive"),
        ({"scales": [1.0, np.inf]}, errors.OptionError, "positive"),
        ({"ratio": 1.0}, errors.OptionError, "ratio"),
        ({"storage": "csr"}, errors.OptionError, "'dense' or 'sparse'"),
    ):
        with pytest.raises(kind, match=message):
            dc.forward_cover(f, [1.0, 2.0], **kw)
    with pytest.raises(errors.InputTypeError, match="must be a function"):
        dc.forward_cover(3.0, [1.0])
    with pytest.raises(errors.ShapeError, match="empty"):
        dc.forward_cover(f, [])
    with pytest.raises(errors.DomainError, match="finite"):
        dc.forward_cover(f, [1.0, np.nan])


def f_deep(x, n):
    return x if n == 0 else f_deep(x + 1.0, n - 1)


def test_nodes_are_checked():
    context = ForwardContext(np.dtype(float), 2, DenseStorage, 1e-8)
    x, y = context.inputs(np.ones(2), np.ones(2))
    other = ForwardContext(np.dtype(float), 2, DenseStorage, 1e-8)
    (z, _) = other.inputs(np.ones(2), np.ones(2))
    for parents, d, C, kind in (
        ([x], [1.0, 2.0], NoCurvature(), errors.ShapeError),
        ([x, y], [1.0, 2.0], UnaryCurvature(1.0), errors.ShapeError),
        ([x], [1.0], np.eye(1), errors.InputTypeError),
        ([x, 2.0], [1.0, 1.0], NoCurvature(), errors.TapeError),
        ([x, z], [1.0, 1.0], NoCurvature(), errors.TapeError),
        ([], [], NoCurvature(), errors.ShapeError),
    ):
        with pytest.raises(kind):
            pushnode(context, 1.0, parents, d, C)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"storage": []}, errors.OptionError, "storage is"),
        ({"args": 3}, errors.InputTypeError, "args is of type int"),
        ({"kwargs": [1]}, errors.InputTypeError, "kwargs is of type list"),
        ({"kwargs": {1: 2}}, errors.InputTypeError, "kwargs has the key 1"),
        ({"scales": "ab"}, errors.InputTypeError, "scales holds"),
    ],
)
def test_options_of_a_wrong_type_are_named(options, error, said):
    with pytest.raises(error, match=said):
        dc.forward_cover(lambda x: x[0] ** 2, [1.0, 2.0], **options)
