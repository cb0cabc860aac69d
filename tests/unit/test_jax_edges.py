"""JAX transformations at the edges: ties, repeated and changing arguments, odd inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    OptionError,
    ShapeError,
)
from derivative_covers.interop import jax as dj

X = jnp.array([1.0, 2.0, 3.0], jnp.float32)


def test_a_tie_of_sorted_entries_is_found_from_both_of_its_sides() -> None:
    points = jnp.array([[1.0, 1.0, 2.0], [1.0, 2.0, 2.0]])
    for place, status in ((0, [2, 0]), (1, [2, 2]), (2, [0, 2])):
        cover = dj.cover_hessian(lambda x, k=place: jnp.sort(x)[k] ** 2)
        assert jax.vmap(cover)(points).status.tolist() == status
    assert dj.cover_hessian(lambda x: jnp.sort(x).sum())(jnp.zeros(0)).h.shape == (0,)


def test_ties_pass_through_any_and_all() -> None:
    def f(x: Any) -> Any:
        first = jnp.where(jnp.any(x > 2.5), x[0] ** 2, x[0])
        return first + jnp.where(jnp.all(x.reshape(1, 3) > 0, axis=0), x**2, x).sum()

    points = jnp.array([[1.0, 2.0, 3.0], [1.0, 2.0, 2.5], [0.0, 2.0, 3.0]])
    found = jax.vmap(dj.cover_hessian(f))(points)
    assert found.status.tolist() == [0, 2, 2]
    np.testing.assert_allclose(found.h[0], [2 * 2**0.5, 2**0.5, 2**0.5], rtol=1e-6)


def test_choices_at_ties_count_where_the_value_depends_on_them() -> None:
    table = jnp.arange(4.0) ** 2

    def used(x: Any) -> Any:
        return [
            x[jnp.argmax(x)] ** 2,
            table[jnp.argmin(x)] * x[0] ** 2,
            (x[jnp.argsort(x)] ** 2 * table[1:]).sum(),
            x.at[jax.lax.top_k(x, 1)[1]].set(3.0)[0] ** 2,
            jax.lax.switch(jnp.argmax(x) + 1, 3 * [lambda x: (x**2).sum()], x),
            table[x.astype(int)].sum() * x[0],
        ]

    def unused(x: Any) -> Any:
        jnp.argmax(x)
        order = jnp.argsort(x)
        return x[order].sum() * 0 + x[order][0] ** 2 + table[(0 * x[0]).astype(int)]

    points = jnp.array([[0.5, 1.5, 2.5], [0.5, 2.0, 2.0]])
    for k in range(6):
        found = jax.vmap(dj.cover_hessian(lambda x, k=k: used(x)[k]))(points)
        assert found.status.tolist() == [0, 2], k
    found = jax.vmap(dj.cover_hessian(unused))(points)
    assert found.status.tolist() == [0, 0]


def test_fixed_arguments_are_told_apart() -> None:
    cover = dj.cover_hessian(lambda x, c: (x * x).sum() * c(x) if callable(c) else x[0])

    class Model:
        __hash__ = None  # type: ignore[assignment]
        factor = 2.0

        def __eq__(self, other: object) -> bool:
            return self is other

        def __call__(self, x: Any) -> float:
            return self.factor

    model = Model()
    assert float(cover(X, model).value) == 28
    model.factor = 3.0
    assert float(cover(X, model).value) == 42
    signed = dj.cover_hessian(lambda x, c: x[0] * jnp.copysign(1.0, c))
    assert [float(signed(X, c).value) for c in (0.0, -0.0)] == [1, -1]


def test_debugging_prints_do_not_stand_in_the_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def f(x: Any) -> Any:
        jax.debug.print("first {}", x[0])
        return x[0] * x[1]

    assert dj.cover_hessian(f)(X).gradient.tolist() == [2, 1, 0]
    jax.effects_barrier()
    assert "first 1.0" in capsys.readouterr().out


def test_types_of_results_are_those_of_the_arguments() -> None:
    with jax.enable_x64(True):
        single, double = X.astype(jnp.float32), jnp.asarray(X, jnp.float64)
        two = dj.cover_hessian(lambda p: jnp.hypot(p[0], p[1]).sum())((single, double))
        assert [g.dtype for g in (*two.gradient, *two.h)] == 2 * [
            jnp.float32,
            jnp.float64,
        ]
        assert dj.cover_nls(lambda x: x * x)(single).value.dtype == jnp.float32


@pytest.mark.parametrize(
    ("error", "says", "call"),
    [
        (
            OptionError,
            "names an argument twice",
            lambda: dj.cover_hessian(jnp.add, argnums=(0, -2))(1.0, 2.0),
        ),
        (OptionError, "integer", lambda: dj.cover_hessian(jnp.sum, argnums=[0.5])),  # type: ignore[list-item]
        (
            OptionError,
            "finite in float32",
            lambda: dj.cover_jacobian(jnp.sin, scales=1e-60)(X),
        ),
        (OptionError, "got 'a'", lambda: dj.cover_jacobian(jnp.sin, scales="a")(X)),
        (
            ShapeError,
            "structure",
            lambda: dj.abs_reverse(lambda x: {"b": x, "a": x}, [X, X])(X),
        ),
        (
            InputTypeError,
            "numbers are needed",
            lambda: dj.abs_reverse(lambda x: x[0], "a")(X),
        ),
        (
            InputTypeError,
            "returned 'a'",
            lambda: dj.cover_hessian(lambda x: (x[0], "a"), has_aux=True)(X),
        ),
    ],
)
def test_what_cannot_be_used_is_said(
    error: type[Exception], says: str, call: Callable[[], Any]
) -> None:
    with pytest.raises(error, match=says):
        call()


def test_a_check_of_many_points_says_at_which() -> None:
    mapped = jax.vmap(dj.cover_hessian(lambda x: jnp.log(x[0]) + abs(x[1])))
    with pytest.raises(DomainError, match="at 1 of 3 points, first at point 2"):
        mapped(jnp.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 1.0]])).check()
    points = jnp.array([[[1.0, 1.0], [1.0, 0.0]]])
    with pytest.raises(NondifferentiableError, match=r"first at point \(0, 1\)"):
        jax.vmap(mapped)(points).check()


def test_the_point_in_the_place_of_the_merge_is_explained() -> None:
    x = jnp.ones(2)
    with pytest.raises(OptionError, match=r"as with jax.grad: cover_hessian\(f\)\(x\)"):
        dj.cover_hessian(jnp.sum, x)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="need a tape"):
        dj.cover_hessian(jnp.sum, "quadrature")
    with pytest.raises(InputTypeError, match="the real and the imaginary part"):
        dj.cover_hessian(jnp.sum)(x + 0j)
