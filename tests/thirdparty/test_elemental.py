"""An elemental of somebody else's, by the decorator alone."""

from __future__ import annotations

import pickle

import mpmath
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors, extend
from derivative_covers.extend import elemental
from derivative_covers.testing import check_elemental


def softsign_partials(xp, x, v):
    r = 1.0 / (1.0 + xp.abs(x))
    return r * r, -2.0 * xp.sign(x) * r * r * r


@elemental(partials=softsign_partials, kink=lambda xp, x: x == 0.0)
def softsign(xp, x):
    """``x / (1 + |x|)``."""
    return x / (1.0 + xp.abs(x))


@elemental(
    partials=lambda xp, x, y, v: (
        xp.log(y),
        x / y,
        0.0,
        1.0 / y,
        -x / (y * y),
    ),
    domain=lambda xp, x, y: y > 0.0,
    name="x_log_y",
)
def xlogy(xp, x, y):
    return x * xp.log(y)


def plain_softsign(x):
    return x / (1.0 + abs(x))


X = np.array([0.3, -1.7, 2.5])


def test_it_conforms():
    check_elemental(softsign)
    check_elemental(softsign, reference=lambda x: x / (1 + abs(x)), rtol=1e-12)
    check_elemental(xlogy, reference=lambda x, y: x * mpmath.log(y), rtol=1e-12)


def test_plain_numbers_and_arrays_stay_plain():
    assert softsign(3.0) == 0.75
    assert softsign(-1) == -0.5
    np.testing.assert_array_equal(softsign([1, -3]), [0.5, -0.75])
    assert softsign(np.float32(3)).dtype == np.float32
    assert xlogy(2.0, np.array([1.0, np.e])).shape == (2,)


@pytest.mark.parametrize(
    ("mine", "plain"),
    [
        (lambda x: softsign(x).sum(), lambda x: plain_softsign(x).sum()),
        (
            lambda x: softsign(x[0] * x[1]) + softsign(x[2]),
            lambda x: plain_softsign(x[0] * x[1]) + plain_softsign(x[2]),
        ),
        (
            lambda x: softsign([x[0], x[2]])[1] * softsign(x[1:])[0],
            lambda x: plain_softsign(x[2]) * plain_softsign(x[1]),
        ),
        (lambda x: xlogy(x, x * x).sum(), lambda x: (x * np.log(x * x)).sum()),
        (lambda x: xlogy(x[1], x[2]), lambda x: x[1] * np.log(x[2])),
        (
            lambda x: xlogy(2.0, x[2]) + xlogy(x[0], 3.0),
            lambda x: 2 * np.log(x[2]) + x[0] * np.log(3.0),
        ),
        (
            lambda x: xlogy(x[1], np.ones(3) + x**2).sum(),
            lambda x: (x[1] * np.log(1 + x**2)).sum(),
        ),
    ],
)
def test_recorded_scalars_and_arrays(mine, plain):
    tape, out = dc.tape_function(mine, X)
    np.testing.assert_allclose(tape.vals[out], plain(X), rtol=1e-14)
    np.testing.assert_allclose(
        dc.gradient(tape, out), dc.gradient(plain, X), rtol=1e-12, atol=1e-15
    )
    H = dc.hessian(plain, X)
    np.testing.assert_allclose(dc.hessian(tape, out), H, rtol=1e-11, atol=1e-14)
    for merge in ("sum", "quadrature"):
        assert dc.iscover(dc.cover_hessian(tape, out, merge=merge), H, rtol=1e-10)
    forward = dc.forward_cover(mine, X)
    np.testing.assert_allclose(
        forward.gradient, dc.gradient(plain, X), rtol=1e-12, atol=1e-15
    )
    assert dc.iscover(forward.h, H, rtol=1e-10)


def test_forward_variables_in_arrays():
    def mine(x):
        y = softsign(x)
        return (
            np.logaddexp(0.0, y * softsign([x[0], x[1], x[2]])).sum() + xlogy(y, 2.0)[0]
        )

    def plain(x):
        y = plain_softsign(x)
        return np.logaddexp(0.0, y * y).sum() + y[0] * np.log(2.0)

    found = dc.forward_cover(mine, X)
    np.testing.assert_allclose(found.gradient, dc.gradient(plain, X), rtol=1e-12)
    assert dc.iscover(found.h, dc.hessian(plain, X), rtol=1e-10)


def test_an_array_is_one_block_of_nodes():
    tape, _ = dc.tape_function(lambda x: softsign(x).sum(), np.linspace(1, 2, 1000))
    assert len(tape.blocks) == 3
    assert dc.nnodes(tape) == 2001


def test_kinks_and_domains_are_reported_by_name():
    with pytest.raises(errors.NondifferentiableError, match="softsign"):
        dc.gradient(lambda x: softsign(x).sum(), [0.0, 1.0])
    with pytest.raises(errors.DomainError, match="x_log_y"):
        dc.gradient(lambda x: xlogy(x[0], x[1]), [1.0, -1.0])
    with pytest.raises(errors.NondifferentiableError, match="softsign"):
        dc.forward_cover(lambda x: softsign(x[0]), [0.0])
    assert dc.gradient(lambda x: softsign(x)[1], [0.0, 1.0]).tolist() == [0.0, 0.25]


def test_float32_recordings_stay_so():
    cover = dc.cover_hessian(lambda x: softsign(x).sum(), X.astype(np.float32))
    assert cover.h.dtype == np.float32
    assert cover.value.dtype == np.float32


@elemental(
    partials=lambda xp, x, v: (-v * xp.tanh(x), v * (1 - 2 * v * v)),
    ufuncs=("special.gudermann_test",),
    name="sech",
)
def sech(xp, x):
    return 1.0 / xp.cosh(x)


def test_it_answers_to_the_ufuncs_that_it_names():
    assert extend.by_ufunc("special.gudermann_test") is sech.elemental
    with pytest.raises(errors.OptionError, match="already belongs to elemental 'sin'"):
        elemental(partials=softsign_partials, ufuncs=("sin",), name="other_sin")(
            lambda xp, x: xp.sin(x)
        )


def test_names_rules_and_operands_are_checked():
    with pytest.raises(errors.OptionError, match="registered already"):
        elemental(partials=softsign_partials)(softsign_twin)
    with pytest.raises(errors.OptionError, match="takes 1 arguments"):
        elemental(partials=softsign_partials)(lambda xp: xp.pi)
    with pytest.raises(errors.OptionError, match="one operand; leave out first"):
        elemental(partials=softsign_partials, first=softsign_partials)(lambda xp, x: x)
    with pytest.raises(errors.OptionError, match="give"):
        elemental(partials=lambda xp, x, v: (1.0,), name="one_entry")(lambda xp, x: x)
    with pytest.raises(errors.InputTypeError, match="takes 1 operand"):
        softsign(1.0, 2.0)
    with pytest.raises(errors.InputTypeError, match="give real numbers"):
        softsign("a")
    with pytest.raises(errors.InputTypeError, match="give real numbers"):
        softsign(1j)


def softsign_twin(xp, x):
    return x


softsign_twin.__name__ = "softsign"


def test_functions_and_tapes_survive_pickling():
    assert pickle.loads(pickle.dumps(softsign)) is softsign
    assert softsign.__doc__ == "``x / (1 + |x|)``."
    tape, out = dc.tape_function(lambda x: softsign(x).sum(), X)
    again = pickle.loads(pickle.dumps(tape))
    np.testing.assert_array_equal(dc.gradient(again, out), dc.gradient(tape, out))
