"""SciPy's least_squares in natural steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import derivative_covers as dc
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    OptionError,
    ShapeError,
)
from derivative_covers.interop.scipy import least_squares, x_scale
from examples import nist

T = np.linspace(0.0, 5.0, 40)
DATA = 3.0 * np.exp(-0.7 * T)
START = np.array([1.0, 0.2])


def residuals(x):
    return x[0] * np.exp(-x[1] * T) - DATA


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_units_that_are_powers_of_two_change_no_bit(method):
    units = np.array([2.0**30, 2.0**-21])
    a = least_squares(residuals, START, method=method)
    b = least_squares(lambda z: residuals(z / units), START * units, method=method)
    np.testing.assert_allclose(a.x, [3.0, 0.7], rtol=1e-8)
    np.testing.assert_array_equal(b.x, a.x * units)
    assert (b.nfev, b.cost) == (a.nfev, a.cost)
    J = dc.jacobian(lambda z: residuals(z / units), b.x)
    np.testing.assert_allclose(b.jac, J, rtol=1e-12)
    np.testing.assert_allclose(b.grad, J.T @ b.fun, rtol=1e-6, atol=1e-12)
    assert b.predicted_decrease <= 1e-12


def test_bounds_loss_and_domain():
    held = least_squares(residuals, START, ([0, 0], [2.0, np.inf]))
    assert held.x[0] == pytest.approx(2.0)
    assert held.active_mask[0] == 1
    bent = np.where(np.arange(40) == 7, 50.0, 0.0)
    plain = least_squares(lambda x: residuals(x) - bent, START)
    robust = least_squares(
        lambda x: residuals(x) - bent, START, loss="soft_l1", f_scale=0.01
    )
    assert abs(robust.x - [3, 0.7]).max() < 0.1 < abs(plain.x - [3, 0.7]).max()
    # Steps beyond the end of the domain are taken back.
    logs = least_squares(lambda x: [np.log(x[0]) - 3.0, x[1] - 1.0], [1e-3, 0.0])
    np.testing.assert_allclose(logs.x, [np.exp(3.0), 1.0], rtol=1e-6)
    idle = least_squares(lambda x: [x[0] - 1.0, x[1] * 0.0], [5.0, 4.0])
    assert idle.unscaled == (1,)
    assert "[1] had no curvature" in idle.message


def test_one_residual_and_dictionaries():
    squares = least_squares(lambda x: np.sum(residuals(x) ** 2), START, max_nfev=20)
    assert "one residual for 2 variables" in squares.message
    one = least_squares(lambda x: x - 3, 2.0)
    assert one.x == pytest.approx([3.0])

    def named(p):
        return residuals([p["a"], p["k"]])

    start = {"a": 1.0, "k": 0.2}
    found, plain = least_squares(named, start), least_squares(residuals, START)
    for part in ("x", "grad", "scale"):
        flat = list(getattr(found, part).values())
        np.testing.assert_allclose(flat, getattr(plain, part), rtol=1e-9, atol=1e-12)
    assert found.jac["k"].shape == (40,)
    np.testing.assert_array_equal(x_scale(named, start), x_scale(residuals, START))


def test_x_scale_serves_scipys_own():
    problem = nist.load("Misra1a")
    units = np.array([1e5, 1e-6])
    x0 = problem.points["start 1"]
    steps = x_scale(problem.residuals, x0)
    there = x_scale(lambda z: problem.residuals(z / units), x0 * units)
    np.testing.assert_allclose(there, steps * units, rtol=1e-9)
    found = optimize.least_squares(
        problem.residuals,
        x0,
        jac=lambda x: dc.jacobian(problem.residuals, x),
        x_scale=steps,
        gtol=None,
    )
    assert 2 * found.cost == pytest.approx(problem.certified_rss, rel=1e-8)


def test_what_cannot_be_used_is_refused():
    for given, error, said in (
        ({"method": "gn"}, OptionError, "must be one of"),
        ({"loss": "huberr"}, OptionError, "must be one of"),
        ({"loss": "huber", "method": "lm"}, OptionError, "but 'linear'"),
        ({"bounds": (0, 9), "method": "lm"}, OptionError, "lm takes no bounds"),
        ({"r": lambda x: x[:1] - x[1:], "method": "lm"}, ShapeError, "sum of their"),
        ({"max_nfev": "ten"}, OptionError, "positive integer"),
        ({"jac": "3-point"}, OptionError, "the Jacobian comes from"),
        ({"gtol": 1e-8}, OptionError, "least_squares takes no gtol"),
        ({"options": {}}, OptionError, "arguments of their own"),
        ({"wrong": 3}, OptionError, "no such argument"),
        ({"bounds": [(0, 1e9), (0, 1e9)]}, OptionError, "from pairs"),
        ({"bounds": (2, 9)}, OptionError, "x0 is 1.0 there, outside"),
        ({"x0": residuals, "r": START}, InputTypeError, "function comes first"),
        ({"bounds": 3}, OptionError, "a pair"),
        ({"bounds": ([1, 1], [0, 2])}, OptionError, "variable 0"),
        ({"x0": [[1.0]]}, ShapeError, "a vector"),
        ({"r": lambda x: np.log(x - 5)}, DomainError, "log"),
        ({"scales": [1.0, -1.0]}, OptionError, "positive"),
    ):
        with pytest.raises(error, match=said):
            least_squares(**{"r": residuals, "x0": START, **given})
