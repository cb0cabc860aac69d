"""The main interface on points and functions of JAX."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import DerivativeError, DomainError, OptionError

pytestmark = pytest.mark.optional("jax")


@pytest.fixture(scope="module")
def jax():
    return import_module("jax")


def test_a_function_of_jax_is_covered_by_jax_in_the_precision_of_the_point(jax):
    jnp = jax.numpy

    def f(x):
        return jnp.sum(jnp.exp(x) * x[::-1])

    with jax.enable_x64(False):
        found = dc.cover_hessian(f, np.array([0.5, 2.0]))
        single = dc.cover_hessian(f, jnp.array([0.5, 2.0]))
    tape = dc.cover_hessian(lambda x: np.sum(np.exp(x) * x[::-1]), [0.5, 2.0])
    np.testing.assert_allclose(found.h, tape.h, rtol=1e-14)
    np.testing.assert_allclose(found.gradient, tape.gradient, rtol=1e-14)
    assert (found.backend, single.backend, tape.backend) == ("jax", "jax", "numpy")
    assert "by JAX" in str(found)
    assert "by JAX" not in str(tape)
    assert single.h.dtype == np.float32


def test_nests_scales_groups_and_further_arguments(jax):
    def f(p, power):
        return p["b"] * jax.numpy.sum(p["a"]) ** power

    def g(p, power):
        return p["b"] * np.sum(p["a"]) ** power

    x0 = {"b": 0.0, "a": np.array([1.0, 2.0])}
    scales = {"b": 3.0, "a": np.ones(2)}
    for given in (None, scales):
        found = dc.cover_hessian(f, x0, scales=given, args=(2,))
        tape = dc.cover_hessian(g, x0, scales=given, args=(2,))
        assert list(found.h) == ["b", "a"]
        np.testing.assert_allclose(np.asarray(found), np.asarray(tape), rtol=1e-14)
        assert found.asked
    found = dc.cover_hybrid(f, x0, ngroups=2, args=(2,))
    assert (found.merge, found.backend) == ("hybrid", "jax")
    two = dc.cover_hessian(lambda x, y: jax.numpy.dot(x, x) * y, (np.ones(2), 2.0))
    assert [part.shape for part in two.gradient] == [(2,), ()]


def test_what_only_a_tape_can_do_stays_there(jax):
    x = jax.numpy.array([1.0, 2.0])
    # JAX does not trace these.
    assert dc.cover_hessian(lambda x: np.exp(x).sum(), x).backend == "numpy"
    branch = dc.cover_hessian(lambda x: x[0] ** 2 if x[0] > 0 else x[1], x)
    assert branch.backend == "numpy"
    with pytest.raises(AttributeError, match="'TArray' object has no attribute 'nope'"):
        dc.cover_hessian(lambda x: x.nope, [1.0])
    with pytest.raises(OptionError, match="merge is 'auto'; a function of JAX"):
        dc.cover_hessian(lambda x: jax.numpy.sum(x**2), x, merge="auto")
    with pytest.raises(OptionError, match="this function is one of JAX"):
        dc.cover_hessian(lambda x: jax.numpy.sum(x**2), x, kinks="branch")
    with pytest.raises(DomainError, match="log"):
        dc.cover_hessian(lambda x: jax.numpy.log(-x[0]), x)


def test_a_function_that_holds_arrays_of_jax_is_covered_by_jax(jax):
    held = jax.numpy.arange(3.0)
    found = dc.cover_hessian(lambda x: ((x - held) ** 2 * held).sum(), np.ones(3))
    assert found.backend == "jax"
    np.testing.assert_allclose(found.h**2, [0.0, 2.0, 4.0], rtol=1e-6)


def test_errors_of_the_tape_are_no_reason_to_ask_jax(jax):
    for f in (lambda x: {"f": x[0]}, lambda x: [x[0], None], lambda x: x[0] * 1j):
        with pytest.raises(DerivativeError):
            dc.cover_hessian(f, [1.0, 2.0])


def test_who_records_a_function_of_jax_is_told_what_takes_it(jax):
    def f(x):
        return jax.numpy.sum(x**2)

    for take in (dc.gradient, dc.hessian, dc.cover_nls, dc.compile):
        with pytest.raises(TypeError) as e:
            take(f, np.ones(2))
        assert any("jax.grad gives gradients" in note for note in e.value.__notes__)
    with pytest.raises(TypeError) as e:
        dc.cover_hessian(
            lambda x: jax.numpy.sin(x[0]) if x[0] > 0 else x[1], [1.0, 2.0]
        )
    assert any("JAX did not trace the function" in note for note in e.value.__notes__)
