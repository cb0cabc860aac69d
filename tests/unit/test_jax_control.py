"""Covers through loops and branches of JAX: those of the unrolled program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import DomainError, UnsupportedOperationError
from derivative_covers.interop import jax as dj
from tests._jax import compiled
from tests._jax import doubles as doubles

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 1.5, 4)
A = RNG.uniform(-0.5, 0.5, (4, 4))


def unrolled(f: Any, init: Any, xs: Any, reverse: bool = False) -> Any:
    """What ``jax.lax.scan`` does, written out in NumPy."""
    carry, found = init, []
    for x in xs[::-1] if reverse else xs:
        carry, y = f(carry, x)
        found.append(y)
    if found[0] is None:
        return carry, None
    return carry, [np.stack(part) for part in zip(*found, strict=True)]


def loops(np: Any, scan: Callable[..., Any]) -> Callable[[Any], Any]:
    """Carries that vary, that start as constants and that count; consts, entries, ys."""

    def step(carry: Any, entry: Any) -> Any:
        s, v, k = carry
        v = np.tanh(A @ v) * v + entry * np.sin(s)
        return (s + v[0] * entry, v, k + 1), (np.exp(-s) * v[1], k)

    def f(x: Any) -> Any:
        (s, v, _), (ys, ks) = scan(step, (0.5, x * x, 0), x[:3])
        back, _ = scan(lambda c, e: (c * np.cos(e + x[0]), None), s, v, reverse=True)
        return back * v.sum() + (ks * ys**2).sum()

    return f


def nest(np: Any, loop: Callable[..., Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        def outer(i: Any, y: Any) -> Any:
            return loop(0, 2, lambda k, z: z + 0.1 * np.sin(z) * x[k] * y[i], y)

        return (loop(0, 3, outer, x) ** 2).sum()

    return f


def written_out(low: int, high: int, f: Any, y: Any) -> Any:
    for k in range(low, high):
        y = f(k, y)
    return y


def branches(x: Any) -> Any:
    two = lambda x: jnp.full_like(x[0], 2.0)  # noqa: E731
    a = jax.lax.cond(x[0] > 0.1, lambda x: jnp.sqrt(x[0] * x[1]), lambda x: x[2], x)
    cases = [lambda x, y: x.sum(), lambda x, y: 0 * y + 3, lambda x, y: jnp.prod(x) * y]
    b = jax.lax.switch(jnp.argmax(x) * 0 + 2, cases, x, a)
    return a * b + jax.lax.cond(x[0] > 5, lambda x: x[0], two, x) * x[2] ** 3


def chosen(x: Any) -> Any:
    a = np.sqrt(x[0] * x[1])
    return a * (np.prod(x) * a) + 2.0 * x[2] ** 3


def on_devices(f: Any) -> Any:
    """The function applied on every device, to its part of an array."""
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((1,), ("d",), axis_types=auto)
    part = jax.sharding.PartitionSpec("d")

    def each(x: Any) -> Any:
        return jax.tree.map(lambda a: a[None], f(x[0]))

    whole = jax.shard_map(each, mesh=mesh, in_specs=part, out_specs=part)
    return lambda x: jax.tree.map(lambda a: a[0], whole(x[None]))


@pytest.mark.parametrize(
    ("f", "plain", "where"),
    [
        (loops(jnp, jax.lax.scan), loops(np, unrolled), lambda f: f),
        (nest(jnp, jax.lax.fori_loop), nest(np, written_out), on_devices),
        (branches, chosen, on_devices),
    ],
    ids=["scan", "fori_loop", "cond"],
)
def test_same_as_the_unrolled_program(f: Any, plain: Any, where: Any) -> None:
    found = compiled(where(dj.cover_hessian(f)))(X)
    tape = dc.cover_hessian(plain, X)
    assert int(found.status) == 0
    np.testing.assert_allclose(found.value, tape.value, rtol=1e-13)
    np.testing.assert_allclose(found.gradient, tape.gradient, rtol=1e-12)
    np.testing.assert_allclose(found.h, tape.h, rtol=1e-12)


def test_loops_under_vmap_in_groups_and_of_no_turns() -> None:
    def f(x: Any) -> Any:
        def step(c: Any, e: Any) -> Any:
            return jax.lax.cond(e > 1, lambda c: c * c, lambda c: c + e**3, c), c

        last, ys = jax.lax.scan(step, x[0] * x[1], x)
        return last + jnp.sum(ys**2)

    def plain(x: Any) -> Any:
        c, ys = x[0] * x[1], 0.0
        for e in x:
            ys, c = ys + c**2, c * c if dc.value(e) > 1 else c + e**3
        return c + ys

    def both(x: Any) -> Any:
        return dj.cover_hessian(f)(x), dj.cover_hessian(f, 3)(x).h

    points = np.stack([X, 2.0 * X])
    sums, groups = compiled(jax.vmap(both))(points)
    for k, x in enumerate(points):
        tape = dc.cover_hessian(plain, x)
        np.testing.assert_allclose(sums.h[k], tape.h, rtol=1e-13)
        np.testing.assert_allclose(sums.gradient[k], tape.gradient, rtol=1e-13)
        H = dc.hessian(plain, x)
        assert np.all(np.abs(H) <= np.outer(groups[k], groups[k]) * (1 + 1e-12))
    none = dj.cover_hessian(
        lambda x: jax.lax.scan(lambda c, e: (c * e, c), x[0], jnp.zeros(0))[0] ** 2
    )
    np.testing.assert_allclose(none(X).h, [2**0.5, 0, 0, 0])


def test_what_loops_cannot_do_is_said() -> None:
    def falling(x: Any) -> Any:
        return jax.lax.scan(lambda c, e: (c - jnp.sqrt(e - 1), None), x[0], x)[0]

    assert int(jax.jit(dj.cover_hessian(falling))(X).status) == 1
    with pytest.raises(DomainError):
        dj.cover_hessian(falling)(X)

    def endless(x: Any) -> Any:
        return jax.lax.while_loop(lambda c: c < 9, lambda c: c * 2, x[0])

    with pytest.raises(UnsupportedOperationError, match=r"'while'.*fori_loop"):
        dj.cover_hessian(endless)(X)
    fixed = dj.cover_hessian(lambda x: endless(jnp.ones(1)) * x[0] ** 2)
    np.testing.assert_allclose(fixed(X).h[0], 32**0.5)
