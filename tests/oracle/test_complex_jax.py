"""Programs of complex inputs: gradients, Hessians and covers against JAX's holomorphic."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.sweeps.kernels._jit import Kernel

N = 4


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels as they stand: compiling them for complex numbers takes a minute."""
    monkeypatch.setattr(Kernel, "__call__", lambda self, *args: self.plain(*args))


_rng = np.random.default_rng(11)
A = _rng.normal(size=(N, N)) + 1j * _rng.normal(size=(N, N))
B = _rng.normal(size=(N, N))


def elementary(xp: Any, z: Any) -> Any:
    a = xp.exp(0.3 * z) * xp.sin(z) + z[::-1] ** 3
    return xp.sum(a * a) / (2.0 + z[0] * z[1]) + xp.log(z[0] + 3.0) * xp.sqrt(z[1] + 2)


def powers(xp: Any, z: Any) -> Any:
    y = (z[2] + 3) ** (0.5 + 0.2j) + (1.5 - 0.3j) ** z[0] + (z[1] + 2.0) ** z[3]
    return y * z[0] ** -2 + xp.sum(z**2 - 1j * z**5) + z[3] ** -1


def products(xp: Any, z: Any) -> Any:
    w = xp.dot(A, z)
    return xp.dot(w, z) * xp.dot(z, z) + xp.sum(xp.outer(z, w) @ z) + xp.prod(z[:3])


def hyperbolic(xp: Any, z: Any) -> Any:
    y = xp.tanh(z) * xp.cosh(z[::-1]) + xp.arctan(0.3 * z) - xp.arcsinh(0.4 * z)
    return xp.sum(y * xp.arccosh(z + 3.0)) + xp.sinc(z[0]) * xp.mean(y)


def matrices(xp: Any, z: Any) -> Any:
    M = xp.outer(z, z) * 0.1 + A + 4.0 * np.eye(N)
    return xp.sum(xp.linalg.solve(M, z)) + xp.linalg.det(M) + xp.linalg.inv(M)[0, 1]


def flow(xp: Any, z: Any) -> Any:
    w = z
    for _ in range(6):
        w = w + 0.1 * xp.roll(w, 1) * w - 0.05j * xp.sin(w)
    return xp.sum(w**2)


PROGRAMS = [elementary, powers, products, hyperbolic, matrices, flow]


def scalars(z: Any) -> Any:
    """The same as `flow`, one number at a time."""
    w = [z[k] for k in range(N)]
    for _ in range(6):
        w = [w[k] + 0.1 * w[k - 1] * w[k] - 0.05j * np.sin(w[k]) for k in range(N)]
    total = w[0] ** 2
    for e in w[1:]:
        total = total + e**2
    return total


def points(count: int = 3) -> Any:
    rng = np.random.default_rng(5)
    return 0.6 * (rng.normal(size=(count, N)) + 1j * rng.normal(size=(count, N)))


@cache
def derivatives(f: Any) -> Any:
    """Compiled gradient and Hessian of a program at a row of points."""
    g = jax.grad(lambda x: f(jnp, x), holomorphic=True)
    return jax.jit(jax.vmap(lambda x: (g(x), jax.jacfwd(g, holomorphic=True)(x))))


def oracle(f: Any, z: Any) -> tuple[Any, Any]:
    """Gradient and Hessian at one point, or at a row of them."""
    with jax.enable_x64(True):
        rows = np.broadcast_to(np.asarray(z, complex), (3, N))
        g, H = map(np.asarray, derivatives(f)(rows))
    return (g, H) if np.ndim(z) > 1 else (g[0], H[0])


def near(found: Any, exact: Any, tolerance: float = 1e-12) -> None:
    assert np.abs(found - exact).max() <= tolerance * np.abs(exact).max()


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_and_covers(f: Any) -> None:
    for z, g, H in zip(points(), *oracle(f, points()), strict=True):
        tape, out = dc.tape_function(lambda x: f(np, x), z)
        assert tape.dtype == np.complex128
        near(tape.vals[out], f(np, z), 1e-15 if f is not matrices else 1e-12)
        near(dc.gradient(tape, out), g)
        v = z[::-1] * (0.3 - 2j)
        near(dc.hvp(tape, out, v), H @ v)
        found = dc.hessian(tape, out)
        near(found, H)
        near(dc.hessian(tape, out, sparse=True).toarray(), H)
        bound = dc.hessian_bound(tape, out)
        assert bound.dtype == np.float64
        assert (bound >= np.abs(H) - 1e-12 * np.abs(H).max()).all()
        covers = [
            dc.cover_hessian(tape, out),
            dc.cover_hessian(tape, out, merge="quadrature"),
            dc.cover_hessian(tape, out, merge="auto"),
            dc.cover_hybrid(tape, out, ngroups=3),
        ]
        for cover in covers:
            near(cover.gradient, g)
            assert cover.h.dtype == np.float64
            slack = 1e-11 if f is matrices else 1e-12
            assert dc.iscover(cover, H, rtol=slack)
        assert (covers[1].h <= covers[0].h * (1 + 1e-12)).all()
        assert dc.cover_excess(covers[2], H) <= dc.cover_excess(covers[1], H) + 1e-12
        assert "j" in repr(covers[0])


def test_scalars_and_arrays_agree() -> None:
    z = points(1)[0]
    g, H = oracle(flow, z)
    tape, out = dc.tape_function(scalars, z)
    near(dc.gradient(tape, out), g)
    near(dc.hessian(tape, out), H)
    assert dc.iscover(dc.cover_hessian(tape, out), H)
    assert dc.iscover(dc.cover_hessian(tape, out, merge="quadrature"), H)
    for k in range(N, dc.nnodes(tape), 7):
        assert np.iscomplexobj(tape.ds[k])


def test_first_order_covers_and_least_squares() -> None:
    z = points(1)[0]

    def residuals(xp: Any, x: Any) -> Any:
        return xp.stack([x[0] * x[1] - 1j, xp.exp(x[2]) * x[0], x[3] ** 3 - x[1], x[2]])

    with jax.enable_x64(True):
        at = jnp.asarray(z)
        J = np.asarray(jax.jacfwd(lambda x: residuals(jnp, x), holomorphic=True)(at))
    tape, outs = dc.tape_function(lambda x: residuals(np, x), z)
    near(dc.jacobian(tape, outs), J)
    a, b = dc.cover_jacobian(tape, outs, ngroups=2)
    assert (np.abs(J) <= np.outer(a, b) * (1 + 1e-12)).all()
    h = dc.gramcover(tape, outs)
    assert dc.iscover(h, J.T @ J)
    assert dc.iscover(h, J.conj().T @ J)
    sizes = dc.abs_reverse(tape, outs, 1.0)
    assert (np.abs(J).sum(axis=0) <= sizes * (1 + 1e-12)).all()
    assert dc.abs_forward(np.ones(N), tape).dtype == np.float64

    def objective(xp: Any, x: Any) -> Any:
        return xp.sum(residuals(xp, x) ** 2) / 2

    g, H = oracle(objective, z)
    for groups in (1, 2, None):
        cover = dc.cover_nls(tape, outs, ngroups=groups)
        near(cover.gradient, g)
        near(cover.value, objective(np, z))
        assert cover.h.dtype == np.float64
        assert dc.iscover(cover, H)
        assert "j" in repr(cover)


def test_structures_and_submaps() -> None:
    z = points(1)[0]

    def f(p: Any) -> Any:
        inner = dc.submap(lambda v: np.exp(v) * v[0], p["a"])
        return np.sum(inner) * p["b"]

    def flat(xp: Any, x: Any) -> Any:
        return xp.sum(xp.exp(x[:3]) * x[0]) * x[3]

    x0 = {"a": z[:3], "b": 0.5}
    tape, out = dc.tape_function(f, x0)
    assert tape.dtype == np.complex128
    g, H = oracle(flat, np.append(z[:3], 0.5))
    found = dc.gradient(tape, out)
    near(np.append(found["a"], found["b"]), g)
    assert dc.iscover(np.asarray(dc.cover_hessian(tape, out)), H)
    with pytest.raises(dc.errors.UnsupportedOperationError, match="bound"):
        dc.hessian(tape, out)


def test_covers_follow_powers_of_two_bit_for_bit() -> None:
    scale = 2.0 ** np.array([3.0, -5.0, 1.0, 8.0])
    z = points(1)[0]
    for f in (elementary, products, flow):
        for merge in ("sum", "quadrature"):
            one = dc.cover_hessian(lambda x, f=f: f(np, x), z, merge=merge)
            other = dc.cover_hessian(
                lambda x, f=f: 4.0 * f(np, x * scale), z / scale, merge=merge
            )
            if one.asked or other.asked:
                continue
            np.testing.assert_array_equal(other.h, 2 * one.h * scale)
            np.testing.assert_array_equal(other.gradient, 4 * one.gradient * scale)


def test_single_precision() -> None:
    for f in PROGRAMS:
        z = points(1)[0].astype(np.complex64)
        g, H = oracle(f, z)
        tape, out = dc.tape_function(lambda x, f=f: f(np, x), z)
        assert tape.dtype == np.complex64
        assert {b.values.dtype for b in tape.blocks} == {tape.dtype}
        loose = 2e-3 if f is matrices else 1e-4
        near(dc.gradient(tape, out), g, loose)
        found = dc.hessian(tape, out)
        near(found, H, loose)
        assert found.dtype == np.complex64
        for merge in ("sum", "quadrature"):
            cover = dc.cover_hessian(tape, out, merge=merge)
            assert cover.gradient.dtype == np.complex64
            assert cover.h.dtype == np.float32
            assert dc.iscover(cover, H, rtol=loose)
