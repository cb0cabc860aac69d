"""A black box with its own first and second derivatives, in scalars and arrays."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.extend import MatrixCurvature, blackbox
from derivative_covers.testing import check_curvature

RNG = np.random.default_rng(3)
ROOT = RNG.normal(size=(4, 4))
A = ROOT @ ROOT.T
CALLS = []


def simulator(x):
    """exp(x'Ax / 10), as if by a compiled program: plain float arrays only."""
    CALLS.append(type(x))
    assert x.dtype.kind == "f"
    return float(np.exp(x @ A @ x / 10))


def gradient(x):
    return simulator(x) * (A @ x) / 5


def hessian(x):
    g = A @ x / 5
    return simulator(x) * (np.outer(g, g) + A / 5)


box = blackbox(simulator, gradient, hessian)
bounded = blackbox(
    simulator, gradient, bound=lambda x: np.sqrt(np.abs(hessian(x)).sum(axis=1))
)


def plain(x):
    return np.exp(x @ A @ x / 10)


X = np.array([0.3, -0.4, 0.2, 0.5])


def inner(x):
    return np.sin(x) * x[0] + x[::-1] ** 2


@pytest.mark.parametrize(
    ("mine", "reference"),
    [
        (box, plain),
        (lambda x: box(inner(x)) * x[1], lambda x: plain(inner(x)) * x[1]),
        (lambda x: box(list(inner(x))), lambda x: plain(inner(x))),
        (
            lambda x: box([x[0], 0.5, x[2] * x[0], x[0]]),
            lambda x: plain(np.stack([x[0], 0.5 + 0 * x[1], x[2] * x[0], x[0]])),
        ),
        (lambda x: box(x) + box(2 * x), lambda x: plain(x) + plain(2 * x)),
    ],
)
def test_it_takes_part_in_every_sweep(mine, reference):
    g, H = dc.gradient(reference, X), dc.hessian(reference, X)
    tape, out = dc.tape_function(mine, X)
    np.testing.assert_allclose(tape.vals[out], dc.value(reference(X)), rtol=1e-13)
    np.testing.assert_allclose(dc.gradient(tape, out), g, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(dc.hessian(tape, out), H, rtol=1e-11, atol=1e-13)
    B = dc.hessian_bound(tape, out)
    assert (np.abs(H) * (1 - 1e-12) <= B).all()
    for merge in ("sum", "quadrature"):
        cover = dc.cover_hessian(tape, out, merge=merge)
        assert dc.iscover(cover, H, rtol=1e-11)
        assert cover.h.max() < 20 * np.sqrt(np.abs(H).max())
    assert dc.iscover(dc.cover_hybrid(tape, out, ngroups=2), H, rtol=1e-11)


def test_it_runs_forward_too():
    def f(x):
        return box(np.sin(x) * x[0]) * x[1]

    def g(x):
        return plain(np.sin(x) * x[0]) * x[1]

    found = dc.forward_cover(f, X)
    np.testing.assert_allclose(found.gradient, dc.gradient(g, X), rtol=1e-12)
    assert dc.iscover(found.h, dc.hessian(g, X), rtol=1e-11)
    assert (found.h >= dc.cover_hessian(f, X, merge="quadrature").h * (1 - 1e-12)).all()


def test_a_bound_in_place_of_second_derivatives():
    H = dc.hessian(plain, X)
    for cover in (
        dc.cover_hessian(bounded, X),
        dc.cover_hessian(bounded, X, merge="quadrature"),
        dc.forward_cover(bounded, X),
    ):
        assert dc.iscover(cover.h, H, rtol=1e-12)
    with pytest.raises(errors.UnsupportedOperationError):
        dc.hvp(bounded, X, X)


def test_scalars_and_plain_numbers():
    cube = blackbox(lambda x: x**3, lambda x: 3 * x**2, lambda x: 6 * x)
    assert cube(2.0) == 8.0
    np.testing.assert_allclose(
        dc.hessian(lambda x: cube(x[0]) * x[1], [2.0, 5.0]), [[60.0, 12.0], [12.0, 0.0]]
    )
    assert dc.gradient(cube, 2.0) == 12.0
    assert simulator(X) == box(X)
    assert repr(box) == "<black box simulator>"


def test_it_is_one_node_and_one_call():
    CALLS.clear()
    tape, _ = dc.tape_function(lambda x: box(x), X)
    assert dc.nnodes(tape) == 5
    assert len(CALLS) == 3  # value, gradient and Hessian


def test_float32_stays_so():
    cover = dc.cover_hessian(lambda x: box(x) * x[0], X.astype(np.float32))
    assert cover.h.dtype == cover.gradient.dtype == np.float32


def test_its_curvature_conforms_and_is_covariant():
    check_curvature(MatrixCurvature(hessian(X)))
    D = np.array([2.0**6, 0.5, 1.0, 2.0**-3])
    scaled = blackbox(
        lambda y: simulator(D * y),
        lambda y: D * gradient(D * y),
        lambda y: D[:, None] * hessian(D * y) * D,
    )
    h = dc.cover_hessian(box, X).h
    np.testing.assert_array_equal(dc.cover_hessian(scaled, X / D).h, D * h)


def test_wrong_results_are_refused():
    with pytest.raises(errors.OptionError, match="exactly one of hessian"):
        blackbox(simulator, gradient)
    with pytest.raises(errors.OptionError, match="exactly one of hessian"):
        blackbox(simulator, gradient, hessian, bound=gradient)
    cases = [
        (lambda x: x, gradient, hessian, errors.ShapeError, "one number"),
        (
            simulator,
            lambda x: x[:2],
            hessian,
            errors.ShapeError,
            "gradient of the black",
        ),
        (simulator, gradient, gradient, errors.ShapeError, "Hessian of the black"),
        (simulator, lambda x: x * np.nan, hessian, errors.DomainError, "finite number"),
        (simulator, gradient, lambda x: ROOT, errors.ShapeError, "not symmetric"),
    ]
    for f, g, H, kind, message in cases:
        with pytest.raises(kind, match=message):
            dc.tape_function(blackbox(f, g, H), X)
    negative = blackbox(simulator, gradient, bound=lambda x: -np.ones(4))
    with pytest.raises(errors.OptionError, match="nonnegative"):
        dc.tape_function(negative, X)
