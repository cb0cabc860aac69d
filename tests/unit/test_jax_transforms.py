"""JAX transformations: statuses, errors, options, and what they nest with."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify

import derivative_covers as dc
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)
from derivative_covers.interop import jax as dj
from tests._jax import compiled
from tests._jax import doubles as doubles

Y = np.linspace(0.5, 1.5, 7)


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def faulty(x: Any) -> Any:
    return (
        jnp.log(x[0])
        + jnp.where(x[1] > 1, jnp.sqrt(x[1] - 1), x[1] ** 2)
        + jnp.abs(x[2])
        + x[3] * x[4]
        + jnp.exp(jnp.sum(jnp.log(x[5:7])))
        + jnp.maximum(x[7], 1.0) ** 2
        + jnp.abs(x[8]) * 0
    )


# Which entry has which value, and the status then: 1 domain, 2 kink, 3 no scale.
FAULTS = [
    (0, 2.0, 0),
    (0, 0.0, 1),
    (0, -1.0, 1),
    (0, np.nan, 1),
    (1, 0.5, 0),  # the root of a negative number is not selected
    (1, 1.0, 2),
    (2, 0.0, 2),
    (3, 0.0, 3),
    (5, 0.0, 1),  # exp(-inf) hides it
    (7, 1.0, 2),
    (8, 0.0, 0),  # nothing depends on it
]


def test_status_says_what_the_tape_raises() -> None:
    points = np.full((len(FAULTS), 9), 2.0)
    for row, (k, value, _) in zip(points, FAULTS, strict=True):
        row[k] = value
    found = compiled(jax.vmap(dj.cover_hessian(faulty)))(points)
    assert found.status.tolist() == [status for _, _, status in FAULTS]
    right = found.status % 3 == 0
    assert np.isfinite(found.h[right]).all()
    assert np.isfinite(found.gradient[right]).all()
    with pytest.raises(DomainError):
        found.check()


def test_outside_of_a_trace_it_raises_and_names_the_operation() -> None:
    with pytest.raises(DomainError, match="log"):
        dj.cover_hessian(lambda x: jnp.log(x) ** 2)(-1.0)
    with pytest.raises(NondifferentiableError, match="absolute"):
        dj.gramcover(lambda x: jnp.abs(x))(0.0)


def test_checked_inside_of_compiled_code() -> None:
    safe = checkify.checkify(jax.jit(dj.checked(dj.cover_hessian(jnp.log))))
    error, _ = safe(-1.0)
    assert "outside of the domain" in str(error.get())
    error, cover = safe(2.0)
    assert error.get() is None
    assert cover.h == 0.5


def test_bad_arguments_are_named() -> None:
    with pytest.raises(UnsupportedOperationError, match="register\\('nextafter'"):
        dj.cover_hessian(lambda x: jax.lax.nextafter(x, 2.0))(1.0)
    with pytest.raises(InputTypeError, match=r"1\.0 in place of 1"):
        dj.cover_hessian(lambda x: x * 2.0)(3)
    with pytest.raises(InputTypeError, match="complex"):
        dj.cover_hessian(lambda x: x.real)(1j)
    with pytest.raises(ShapeError, match="one number"):
        dj.cover_hessian(lambda x: x**2)(Y)
    with pytest.raises(ShapeError, match="structure"):
        dj.cover_hessian(rosenbrock, scales=[1.0, 2.0])(Y)
    with pytest.raises(OptionError, match="positive"):
        dj.cover_hessian(rosenbrock, scales=-Y)(Y)
    with pytest.raises(OptionError, match="merge"):
        dj.cover_hessian(rosenbrock, merge=0)
    with pytest.raises(OptionError, match="ratio"):
        dj.cover_hessian(rosenbrock, ratio=1.0)
    with pytest.raises(OptionError, match="argnums"):
        dj.cover_hessian(rosenbrock, argnums=1)(Y)
    with pytest.raises(InputTypeError, match="function"):
        dj.cover_hessian(3.0)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="Rule"):
        dj.register("sin", 3)  # type: ignore[arg-type]


def test_hybrid_lies_between_quadrature_and_sum() -> None:
    total = compiled(dj.cover_hessian(rosenbrock))(Y).h
    one = compiled(dj.cover_hessian(rosenbrock, 1))(Y)
    many = compiled(dj.cover_hessian(rosenbrock, 8))(Y)
    least = dc.cover_hessian(rosenbrock, Y, merge="quadrature").h
    np.testing.assert_allclose(one.h, total, rtol=1e-14)
    assert np.all(many.h >= least * (1 - 1e-12))
    assert np.all(many.h <= total * (1 + 1e-12))
    assert np.sum(many.h) < 0.8 * np.sum(total)
    np.testing.assert_allclose(many.gradient, dc.gradient(rosenbrock, Y), rtol=1e-12)
    assert dc.iscover(np.asarray(many.h), dc.hessian(rosenbrock, Y))


def test_declared_scales_and_dead_slots_as_on_the_tape() -> None:
    def f(xp: Any, x: Any) -> Any:
        u = xp.maximum(xp.exp(x)[:, None] * x - 0.3, 0.0)  # half of it is dead
        v = xp.stack([x**2, x]).T @ xp.stack([x**3, xp.exp(x) - 1])
        return xp.sum(u[:, :2] * v[:, :2]) + xp.sum(xp.tanh(u @ v)) + x[1] * x[0] / x[2]

    x, s = np.array([1.0, 0.0, 2.0, -1.0]), np.array([1.0, 3.0, 0.5, 2.0])
    found = compiled(dj.cover_hessian(lambda x: f(jnp, x), scales=s))(x)
    tape = dc.cover_hessian(lambda x: f(np, x), x, scales=s)
    assert tape.asked
    assert int(found.status) == 0
    np.testing.assert_allclose(found.h, tape.h, rtol=1e-13)
    bare = compiled(dj.cover_hessian(lambda x: f(jnp, x)))(x)
    assert int(bare.status) == 3
    H = dc.hessian(lambda x: f(np, x), x)
    assert dc.iscover(np.asarray(bare.h) * (1 + 1e-12), H)


def test_units_change_the_cover_bit_for_bit() -> None:
    def f(z: Any, unit: Any) -> Any:
        x = z / unit
        return rosenbrock(x) + jnp.sum(jnp.exp(x[1:]) * x[:-1] / x[1:] ** 1.5)

    run = compiled(dj.cover_hessian(f))
    unit = 2.0 ** np.array([3, -7, 0, 11, -20, 5, 1])
    plain, scaled = run(Y, np.ones(7)), run(Y * unit, unit)
    np.testing.assert_array_equal(scaled.h * unit, plain.h)
    np.testing.assert_array_equal(scaled.gradient * unit, plain.gradient)


def test_first_order_and_least_squares_as_on_the_tape() -> None:
    def r(x: Any) -> Any:
        return x[1:] - x[:-1] ** 2 * x[1:]

    s = np.linspace(1.0, 3.0, 7)
    nls, other = compiled(dj.cover_nls(r))(Y), dc.cover_nls(r, Y)
    for name in ("value", "gradient", "h", "h_gn", "h_curv"):
        np.testing.assert_allclose(
            getattr(nls, name), getattr(other, name), rtol=1e-12, atol=1e-14
        )
    some = compiled(dj.cover_nls(r, 3))(Y)
    assert np.all(some.h <= nls.h * (1 + 1e-12))
    H = dc.hessian(lambda x: np.sum(r(x) ** 2) / 2, Y)
    assert dc.iscover(np.asarray(some.h) * (1 + 1e-12), H)
    a, b = dc.cover_jacobian(r, Y, scales=s)
    found = compiled(dj.cover_jacobian(r, scales=s))(Y)
    np.testing.assert_allclose(found.a, a, rtol=1e-13)
    np.testing.assert_allclose(found.b, b, rtol=1e-13)
    tape, outs = dc.tape_function(r, Y)
    size = compiled(dj.abs_forward(r, s))(Y).size
    np.testing.assert_allclose(size, dc.abs_forward(s, tape)[outs], rtol=1e-13)
    reverse = compiled(dj.abs_reverse(r, seeds=s[1:]))(Y).size
    expected = dc.abs_reverse(tape, outs, s[1:])
    np.testing.assert_allclose(reverse, expected, rtol=1e-13)
    gram = compiled(dj.gramcover(r))(Y)
    np.testing.assert_allclose(gram.size, dc.gramcover(r, Y), rtol=1e-13)


def test_pytrees_argnums_and_aux() -> None:
    def f(data: Any, p: Any, n: int, *, power: str) -> Any:
        assert power == "two"
        r = p["size"] * jnp.exp(-p["rate"][0] * data) - 1
        return jnp.sum(r**n), {"r": r}

    t = np.arange(3.0)
    p = {"rate": [np.float64(0.5)], "size": 2.0}
    cover = dj.cover_hessian(f, argnums=1, has_aux=True)(t, p, 2, power="two")
    assert cover.aux["r"].shape == (3,)
    H = compiled(jax.hessian(lambda p: f(t, p, 2, power="two")[0]))(p)
    h = cover.h
    assert abs(H["rate"][0]["size"]) <= h["rate"][0] * h["size"]
    both = dj.cover_hessian(lambda x, y: x**2 * y, argnums=(0, 1))(1.0, 2.0)
    assert abs(both.h[0] * both.h[1]) >= 2.0


def test_single_precision_and_nesting() -> None:
    @compiled
    def preconditioned(x: Any) -> Any:
        cover = jax.vmap(dj.cover_hessian(rosenbrock))(x)
        return jnp.sum(cover.gradient / cover.h), cover.h

    x = np.stack([Y, Y + 0.1]).astype(np.float32)
    _, h = preconditioned(x)
    assert h.dtype == np.float32
    tape = [dc.cover_hessian(rosenbrock, row).h for row in x.astype(np.float64)]
    np.testing.assert_allclose(h, tape, rtol=1e-5)


def test_custom_derivatives_go_through_the_primal_or_a_rule() -> None:
    @jax.custom_vjp
    def doc_cube(x: Any) -> Any:
        return x**3

    doc_cube.defvjp(lambda x: (x**3, x), lambda x, ct: (ct * 0,))
    f = dj.cover_hessian(lambda x: jnp.sum(doc_cube(x)))
    np.testing.assert_allclose(f(Y).h, np.sqrt(6 * Y), rtol=1e-14)
    rule = dj.elemental("doc_cube", lambda xp, x, v: (3 * x * x, 24 * x))
    dj.register("doc_cube", rule, function=True)
    f = dj.cover_hessian(lambda x: jnp.sum(doc_cube(x)))
    np.testing.assert_allclose(f(Y).h, np.sqrt(24 * Y), rtol=1e-14)


def test_a_function_is_known_by_its_home_and_not_by_its_name_alone() -> None:
    @jax.jit
    def hypot(x: Any, y: Any) -> Any:
        return x**2 * y

    h = dj.cover_hessian(lambda x: hypot(x[0], x[1]))(np.ones(2)).h
    assert h[0] * h[1] >= 2.0
    assert h[0] ** 2 >= 2.0


@pytest.mark.parametrize("sizes", [(1,), (20,), (5000,), (1, 20, 5000)])
def test_one_infinite_entry_is_found_in_whatever_it_lies(sizes: Any) -> None:
    def f(p: Any, a: Any) -> Any:
        # The compiler may fold factors, of which only the product overflows.
        parts = (
            (w, x, np.linspace(1, 1.01, x.size)) for w, x in zip(a, p, strict=True)
        )
        return sum(jnp.sum(w * (c * (1e300 * (c * x)))) for w, x, c in parts)

    cover = compiled(dj.cover_hessian(f))
    x = [jnp.full(n, 1e-305) for n in sizes]
    huge = [np.full(n, 1.7e8) for n in sizes]  # so that gradients nearly overflow
    assert int(cover(x, huge).status) == 0
    for k in range(len(sizes)):
        a = [w.copy() for w in huge]
        a[k][-1] = 1e9
        found = cover(x, a)
        assert np.isfinite(found.value)
        assert int(found.status) == 1
