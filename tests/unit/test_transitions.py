"""Transitions: recorded steps give the bits of plain ones, and their cotangents."""

from __future__ import annotations

import math
from collections import namedtuple
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.checkpoint import Transition
from derivative_covers.checkpoint.states._states import (
    canonical,
    fingerprint,
    flat,
    leaves,
    mutation,
    present,
    protect,
    space,
    unprotect,
)
from derivative_covers.checkpoint.steps._taped import record_step
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    OptionError,
    RecursionDepthError,
    ShapeError,
    StateMutationError,
    TapeError,
)

Pair = namedtuple("Pair", "u v")
X = np.array([0.3, -1.2, 2.0])


def oracle(f, x, ybar):
    """The cotangent by JAX, for functions of arrays that are written for any NumPy."""
    with jax.enable_x64(True):
        _, pull = jax.vjp(lambda z: f(jnp, z), jnp.asarray(x))
        return np.asarray(pull(jnp.asarray(ybar))[0])


# -- one array --------------------------------------------------------------------------

PROGRAMS = {
    "entrywise": lambda xp, x: x + 0.1 * xp.sin(x) * x[::-1],
    "matrix": lambda xp, x: xp.outer(x, xp.exp(x)).T,
    "scalar": lambda xp, x: xp.sum(x**3) * x[0],
    "one entry": lambda xp, x: xp.stack([x[0] * x[1]]),
    "identity": lambda xp, x: x,
    "view": lambda xp, x: x[::-1],
    "repeated": lambda xp, x: xp.concatenate([x, x[:1], x]),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_taped_steps(name, dtype):
    program = PROGRAMS[name]
    step = Transition.taped(lambda x, k: program(np, x))
    x = X.astype(dtype)
    plain = canonical(step.forward(x, None, 0), "y")
    y, pullback = step.record(x, None, 0)
    assert fingerprint(y) == fingerprint(plain)
    assert y.flags.c_contiguous
    ybar = np.random.default_rng(1).normal(size=y.shape).astype(dtype)
    xbar, params_bar = pullback(ybar, None)
    assert params_bar is None
    assert xbar.dtype == dtype
    wanted = oracle(program, X, ybar.astype(float))
    rtol = 1e-13 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(xbar, wanted, rtol=rtol, atol=rtol)


def test_scalar_states():
    step = Transition.taped(lambda x, k: x**2 + np.sin(x) / k)
    y, pullback = step.record(np.float64(1.3), None, 2)
    assert fingerprint(y) == fingerprint(
        canonical(step.forward(np.float64(1.3), None, 2), "y")
    )
    xbar, _ = pullback(np.float64(2.0), None)
    assert xbar.shape == ()
    assert float(xbar) == pytest.approx(2 * (2.6 + math.cos(1.3) / 2), rel=1e-15)
    assert float(step.record(3.0, None, 1)[0]) == step.forward(3.0, None, 1)


# -- nests and parameters ---------------------------------------------------------------


def nested(x, params, k):
    u, v = x["u"], x["p"].v[0]
    w, (c,) = params["w"], params["c"]
    return {
        "p": Pair(np.sum(u) * c, [v * w + k, x["p"].u * c]),
        "u": np.outer(w, u[0]) * np.sin(c),
    }


def nested_point():
    x = {
        "u": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "p": Pair(np.float64(0.5), [np.array([1.0, -1.0, 2.0])]),
    }
    return canonical(x, "x"), canonical(
        {"w": np.array([0.1, 0.2, 0.3]), "c": (1.5,)}, "p"
    )


def test_nests_with_parameters():
    x, params = nested_point()
    step = Transition.taped(nested)
    plain = canonical(step.forward(present(x), present(params), 3), "y")
    y, pullback = step.record(present(x), present(params), 3)
    assert fingerprint(y) == fingerprint(plain)
    assert space(y) == space(plain)
    ybar = space(y).build(np.random.default_rng(0).normal(size=space(y).size))
    held = space(params).build(np.array([10.0, 20.0, 30.0, 40.0]))
    xbar, params_bar = pullback(present(ybar), present(held))
    assert space(xbar) == space(x)
    assert space(params_bar) == space(params)

    def total(z):
        p = {"w": z[:3], "c": (z[3],)}
        s = {"u": z[4:8].reshape(2, 2), "p": Pair(z[8], [z[9:]])}
        return sum(
            np.sum(a * b)
            for a, b in zip(parts(nested(s, p, 3)), leaves(ybar), strict=True)
        )

    def parts(s):
        return [s["p"].u, *s["p"].v, s["u"]]

    g = dc.gradient(total, np.concatenate([flat(params), flat(x)]))
    np.testing.assert_allclose(
        flat(params_bar), g[:4] + np.array([10, 20, 30, 40]), rtol=1e-14
    )
    np.testing.assert_allclose(flat(xbar), g[4:], rtol=1e-14)


def test_outputs_that_are_inputs_and_parameters():
    step = Transition.taped(lambda x, params, k: (x, params, x, 1.0))
    y, pullback = step.record(X, np.float64(2.0), 0)
    assert flat(y).tolist() == [*X, 2.0, *X, 1.0]
    ones = np.ones(3)
    xbar, params_bar = pullback((ones, 5.0, 2 * ones, 7.0), np.float64(1.0))
    assert xbar.tolist() == [3.0] * 3
    assert float(params_bar) == 6.0


def test_constant_outputs_have_zero_cotangents():
    step = Transition.taped(lambda x, params, k: (np.ones(2), 3.0))
    y, pullback = step.record(X, np.float64(2.0), 0)
    assert flat(y).tolist() == [1.0, 1.0, 3.0]
    xbar, params_bar = pullback((np.ones(2), 1.0), np.float64(4.0))
    assert xbar.tolist() == [0.0] * 3
    assert float(params_bar) == 4.0


def test_a_stopped_gradient_is_a_zero_cotangent():
    step = Transition.taped(lambda x, k: dc.stop_gradient(x))
    y, pullback = step.record(X, None, 0)
    assert y.tolist() == X.tolist()
    assert pullback(np.ones(3), None)[0].tolist() == [0.0] * 3


def test_empty_leaves():
    x = (np.zeros((0, 2)), X)
    step = Transition.taped(lambda x, k: (x[0] * 2, np.zeros(0), x[1] * 2))
    y, pullback = step.record(x, None, 0)
    assert [a.shape for a in leaves(y)] == [(0, 2), (0,), (3,)]
    xbar, _ = pullback(y, None)
    assert xbar[0].shape == (0, 2)
    np.testing.assert_array_equal(xbar[1], 4 * X)


def test_live_and_restored_states_give_the_same_bits():
    """An F-ordered or strided output would reduce in another order than its copy."""
    a = np.random.default_rng(3).normal(size=(40, 30))
    for layout in (lambda x: x.copy("F"), lambda x: x.T, lambda x: x[:, ::2]):
        turn = Transition.taped(lambda x, k, layout=layout: layout(x * 1.1))
        live = canonical(turn.forward(a, None, 0), "y")
        recorded, _ = turn.record(a, None, 0)
        assert fingerprint(live) == fingerprint(recorded)
        reduce = Transition.taped(lambda x, k: np.sum(x, axis=0) @ np.sum(x, axis=0))
        values = {
            float(reduce.forward(z, None, 1)) for z in (live, live.copy(), recorded)
        }
        values.add(float(reduce.record(recorded, None, 1)[0]))
        assert len(values) == 1


# -- types ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
def test_tapes_keep_double_and_single_alone(dtype):
    step = Transition.taped(lambda x, k: x * 2)
    with pytest.raises(InputTypeError, match=r"step 3 .*Transition\.from_vjp"):
        step.record(X.astype(dtype), None, 3)


@pytest.mark.parametrize(
    ("f", "x", "params"),
    [
        (lambda x, k: x * np.ones(3), X.astype(np.float32), None),
        (lambda x, k: (x, 1.0), X.astype(np.float32), None),
        (lambda x, k: (x, np.ones(2, dtype=np.float32)), X, None),
        (lambda x, k: {"a": x, "b": np.float32(1.0)}, np.float64(2.0), None),
    ],
)
def test_a_step_that_changes_the_type_is_refused_run_or_recorded(f, x, params):
    step = Transition.taped(f)
    with pytest.raises(InputTypeError, match=r"step 3 .* output: float"):
        step.forward(x, params, 3)


def test_mixed_types_are_refused_when_recorded():
    step = Transition.taped(lambda x, params, k: x * params)
    with pytest.raises(InputTypeError, match="parameters: float32, state: float64"):
        step.record(X, np.float32(1.0), 3)
    step = Transition.taped(lambda x, k: x[0])
    with pytest.raises(InputTypeError, match="state: float32 and float64"):
        step.record((X, np.ones(2, dtype=np.float32)), None, 3)
    step = Transition.taped(lambda x, k: (x, np.float32(1.0)))
    with pytest.raises(InputTypeError, match="output: float32 and float64"):
        step.record(X, None, 3)


def test_integer_outputs_are_refused():
    for f in (lambda x, k: 0, lambda x, k: (x, np.arange(3)), lambda x, k: x > 0):
        step = Transition.taped(f)
        with pytest.raises(InputTypeError, match=r"the output.*of step 5"):
            canonical(step.forward(X, None, 5), "the output", 5)
        with pytest.raises(InputTypeError, match=r"the output.*of step 5"):
            step.record(X, None, 5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_any_type_with_a_rule(dtype):
    step = Transition.from_vjp(lambda x, k: x * x, lambda x, ybar, k: 2 * x * ybar)
    x = np.array([1.5, -2.0], dtype=dtype)
    y, pullback = step.record(x, None, 0)
    assert y.dtype == dtype
    assert pullback(np.ones(2, dtype=dtype), None)[0].tolist() == [3.0, -4.0]


# -- rules of the user's ----------------------------------------------------------------


def test_parameters_of_a_rule_are_added_to_what_came():
    step = Transition.from_vjp(
        lambda x, params, k: x * params["a"] + params["b"][0],
        lambda x, params, ybar, k: (
            params["a"] * ybar,
            {"b": [np.sum(ybar)], "a": x @ ybar},
        ),
    )
    params = {"a": np.float64(3.0), "b": [np.float64(1.0)]}
    y, pullback = step.record(X, params, 0)
    np.testing.assert_array_equal(y, X * 3 + 1)
    came = {"a": np.array(10.0), "b": [np.array(20.0)]}
    xbar, params_bar = pullback(np.ones(3), came)
    np.testing.assert_array_equal(xbar, [3.0] * 3)
    assert list(params_bar) == ["a", "b"]
    assert float(params_bar["a"]) == pytest.approx(10 + X.sum(), rel=1e-15)
    assert float(params_bar["b"][0]) == 23.0
    assert came["a"] == 10.0


@pytest.mark.parametrize(
    ("returned", "error", "words"),
    [
        (X, InputTypeError, r"vjp of step 6 returned .*\(xbar, params_bar\)"),
        ((X, X, X), InputTypeError, "a tuple of 3"),
        (None, InputTypeError, "returned None"),
        ((X, None), InputTypeError, "params_bar of step 6 is None"),
        ((X, np.ones(2)), ShapeError, "params_bar of step 6"),
    ],
)
def test_wrong_results_of_a_rule_are_refused(returned, error, words):
    step = Transition.from_vjp(
        lambda x, params, k: x, lambda x, params, ybar, k: returned
    )
    _, pullback = step.record(X, np.float64(1.0), 6)
    with pytest.raises(error, match=words):
        pullback(X, np.float64(0.0))


def test_a_recorded_rule_keeps_its_point():
    """Steps that use two buffers in turn overwrite the point of an earlier step."""
    buffers = [np.zeros(3), np.zeros(3)]

    def f(x, k):
        np.multiply(x, 2.0, out=buffers[k % 2])
        return buffers[k % 2]

    step = Transition.from_vjp(f, lambda x, ybar, k: x * ybar)
    y, _ = step.record(X, None, 0)
    z, pullback = step.record(y, None, 1)
    step.record(z, None, 2)
    np.testing.assert_array_equal(pullback(np.ones(3), None)[0], 2 * X)


def test_a_rule_cannot_write_to_its_point():
    def vjp(x, ybar, k):
        x *= ybar
        return x

    _, pullback = Transition.from_vjp(lambda x, k: x, vjp).record(X, None, 4)
    with pytest.raises(ValueError, match="read-only") as caught:
        pullback(np.ones(3), None)
    assert isinstance(mutation(caught.value, 4), StateMutationError)


def test_jax_arrays_come_out_as_states():
    with jax.enable_x64(True):
        step = Transition.from_vjp(
            lambda x, k: {"y": jnp.sin(x)}, lambda x, ybar, k: jnp.cos(x) * ybar["y"]
        )
        y, pullback = step.record(X, None, 0)
        xbar = canonical(pullback({"y": np.ones(3)}, None)[0], "xbar")
    assert type(y["y"]) is np.ndarray
    assert y["y"].flags.writeable
    np.testing.assert_allclose(xbar, np.cos(X), rtol=1e-14)


# -- what is refused --------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__iadd__(1),
        lambda x: np.add(x, 1, out=x),
        lambda x: x.__setitem__(0, x[1]),
        lambda x: x[1:].__imul__(2.0),
        lambda x: x.reshape(3, 1).__setitem__(slice(None), 1.0),
        lambda x: x.sort(),
        lambda x: np.copyto(x, 0.0),
        lambda x: x.fill(1.0),
    ],
)
@pytest.mark.parametrize("how", ["forward", "record"])
def test_steps_that_write_to_their_state(write, how):
    def f(x, k):
        write(x)
        return x * 1.0

    x = X.copy()
    locked = protect(x)
    try:
        with pytest.raises(ValueError, match="read-only") as caught:
            getattr(Transition.taped(f), how)(x, None, 2)
    finally:
        unprotect(locked)
    assert isinstance(mutation(caught.value, 2), StateMutationError)
    np.testing.assert_array_equal(x, X)
    assert x.flags.writeable


def test_steps_may_write_to_copies_and_results():
    def f(x, params, k):
        y = x.copy()
        y[0] += params[1]
        z = x + 1.0
        z *= y
        z[1:] = z[:-1]
        return z

    step = Transition.taped(f)
    y, pullback = step.record(X, np.ones(2), 0)
    assert fingerprint(y) == fingerprint(step.forward(X, np.ones(2), 0))
    assert pullback(np.ones(3), np.zeros(2))[0].shape == (3,)


def test_an_invalid_step_is_an_error_where_an_output_depends_on_it():
    log = Transition.taped(lambda x, k: np.log(x))
    with pytest.raises(DomainError, match="log"):
        log.record(X, None, 0)
    chosen = Transition.taped(lambda x, k: np.where(x > 0, np.log(x), x))
    y, pullback = chosen.record(X, None, 0)
    np.testing.assert_array_equal(pullback(np.ones(3), None)[0], [1 / X[0], 1.0, 0.5])
    with np.errstate(invalid="ignore"):
        assert fingerprint(y) == fingerprint(chosen.forward(X, None, 0))


def test_states_have_to_stay_finite():
    with pytest.raises(DomainError, match="is inf") as caught:
        Transition.taped(lambda x, k: (x, np.inf)).record(X, None, 0)
    assert caught.value.values == (np.inf,)
    step = Transition.from_vjp(lambda x, k: x * np.nan, lambda x, ybar, k: ybar)
    with pytest.raises(DomainError, match="nan"):
        step.record(X, None, 0)


def test_kinks():
    def f(x, k):
        return np.abs(x) + np.maximum(x, 0.0)

    x = np.array([0.0, 1.0])
    with pytest.raises(NondifferentiableError):
        Transition.taped(f).record(x, None, 0)
    _, pullback = Transition.taped(f, kinks="branch").record(x, None, 0)
    assert (
        pullback(np.ones(2), None)[0].tolist()
        == dc.gradient(lambda x: np.sum(f(x, 0)), x, kinks="branch").tolist()
    )


@pytest.mark.parametrize(
    "options", [{"kinks": "ignore"}, {"numpy": "jax"}, {"kinks": 1}]
)
def test_options_are_checked(options):
    with pytest.raises(OptionError):
        Transition.taped(lambda x, k: x, **options)


@pytest.mark.parametrize("f", [None, 3.0, "step", X])
def test_steps_must_be_functions(f):
    for make in (
        lambda: Transition.taped(f),
        lambda: Transition.from_vjp(f, lambda x, ybar, k: ybar),
        lambda: Transition.from_vjp(lambda x, k: x, f),
    ):
        with pytest.raises(InputTypeError, match="a function is needed"):
            make()


def test_wrong_signatures_are_explained():
    with pytest.raises(
        InputTypeError, match=r"called as f\(x, k\).*without parameters"
    ):
        Transition.taped(lambda x: x).forward(X, None, 0)
    with pytest.raises(InputTypeError, match=r"f\(x, params, k\).*with parameters"):
        Transition.taped(lambda x, k: x).record(X, X, 0)
    step = Transition.from_vjp(lambda x, k: x, lambda x, ybar: ybar)
    with pytest.raises(InputTypeError, match=r"called as vjp\(x, ybar, k\)"):
        step.record(X, None, 0)[1](X, None)
    with pytest.raises(InputTypeError, match=r"f\(x, params, k\)"):
        step.forward(X, X, 0)


def test_errors_of_the_function_are_its_own():
    def f(x, k):
        return x + "a"

    for how in ("forward", "record"):
        with pytest.raises(TypeError) as caught:
            getattr(Transition.taped(f), how)(X, None, 0)
        assert "cannot be called" not in str(caught.value)


def test_variables_of_other_recordings_are_refused():
    kept = []

    def f(x, k):
        kept.append(x * 2)
        return kept[0]

    step = Transition.taped(f)
    step.record(X, None, 0)
    with pytest.raises(TapeError):
        step.record(X, None, 1)
    with pytest.raises(InputTypeError, match="another recording"):
        canonical(step.forward(X, None, 1), "the output", 1)


def test_endless_recursion_is_explained():
    def f(x, k):
        return f(x, k + 1)

    with pytest.raises(RecursionDepthError):
        Transition.taped(f).record(X, None, 0)
    assert dc.gradient(lambda x: x**2, 3.0) == 6.0  # no recording is left open


# -- rewritten functions ----------------------------------------------------------------


def filled(x, k):
    y = np.zeros(3)
    for i in range(3):
        y[i] = math.tanh(x[i]) * x[0]
    return y


@pytest.mark.parametrize(
    "make",
    [
        lambda f: Transition.taped(f, numpy="rewrite"),
        lambda f: Transition.taped(dc.with_numpy(f)),
    ],
)
def test_rewritten_steps_give_the_same_bits_run_and_recorded(make):
    with pytest.raises(TypeError):
        Transition.taped(filled).record(X, None, 0)
    step = make(filled)
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.normal(size=3)
        y, pullback = step.record(x, None, 0)
        assert fingerprint(y) == fingerprint(canonical(step.forward(x, None, 0), "y"))
    wanted = oracle(lambda xp, x: xp.tanh(x) * x[0], x, np.ones(3))
    np.testing.assert_allclose(pullback(np.ones(3), None)[0], wanted, rtol=1e-13)


# -- steps with a pattern ---------------------------------------------------------------


def test_patterns_of_the_incoming_state():
    """Entries may be constants, parameters, or one node."""

    def f(x, params, k):
        a, b = x
        return np.sum(a * b * params)

    x = (np.array([2.0, 3.0, 3.0]), np.float64(5.0))
    ids = np.array([-1, 2, 2, 0])  # a constant, one entry twice, the parameter
    record = record_step(f, x, np.float64(5.0), 0, ids=ids)
    assert record.nparams == 1
    assert record.tape.ninputs == 5
    assert float(record.y) == 200.0
    g = dc.gradient(record.tape, int(record.outs[0]))
    # theta**2 (2 + 2 s): constants and repeated entries count as what they are
    assert g.tolist() == [80.0, 0.0, 50.0, 0.0, 0.0]
    still = record_step(lambda x, p, k: x[0] * 2, x, np.float64(5.0), 0, ids=ids - 9)
    assert still.outs.tolist() == [-1, -1, -1]


def test_outs_name_the_inputs_that_pass_through():
    record = record_step(
        lambda x, p, k: (x[1:], p, 3.0, x[0] * 2), X, np.float64(1.0), 0
    )
    assert record.outs.tolist() == [2, 3, 0, -1, 4]
    assert record.check() is not None


def test_repr():
    assert repr(Transition.taped(filled)) == "Transition.taped(filled)"
    assert (
        repr(Transition.from_vjp(filled, nested))
        == "Transition.from_vjp(filled, nested)"
    )
    assert "partial" in repr(Transition.taped(partial(filled)))


def test_transitions_are_an_extension_point():
    with pytest.raises(TypeError, match="abstract"):
        Transition()
