"""SciPy's minimize in natural steps: units, ends, bounds, constraints, callbacks, errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse

import derivative_covers as dc
from derivative_covers.errors import (
    ConstantProgramError,
    DomainError,
    InputTypeError,
    MissingPackageError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)
from derivative_covers.interop.scipy import minimize, scaling
from derivative_covers.interop.scipy._methods import method_named, options_for
from derivative_covers.interop.scipy._package import _module
from derivative_covers.interop.scipy._stop import rounding_of
from examples import nist

START = np.array([-1.2, 1.0])
METHODS = (
    "BFGS",
    "CG",
    "L-BFGS-B",
    "TNC",
    "Newton-CG",
    "SLSQP",
    "trust-constr",
    "trust-ncg",
    "trust-krylov",
    "trust-exact",
    "dogleg",
)


UNDEFINED = {"type": "ineq", "fun": lambda x: np.nan, "jac": lambda x: np.ones(2)}


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def bowl(x):
    return (x[0] - 2) ** 2 + (x[1] - 1) ** 2


def in_units(f, units):
    return lambda z: f(z / units)


@pytest.mark.parametrize("method", METHODS)
def test_units_that_are_powers_of_two_change_no_bit(method):
    units, size = np.array([2.0**25, 2.0**-18]), 2.0**20

    def f(z):
        return size * rosenbrock(z / units)

    a = minimize(rosenbrock, START, method=method)
    b = minimize(f, START * units, method=method)
    assert abs(a.x - 1).max() < 1e-5
    assert a.success
    assert a.reason in ("converged", "exhausted")
    np.testing.assert_array_equal(b.x, a.x * units)
    assert (b.nfev, b.nit, b.nhev) == (a.nfev, a.nit, a.nhev)
    assert b.fun == a.fun * size
    assert b.predicted_decrease == a.predicted_decrease * size
    np.testing.assert_array_equal(b.scale, a.scale * units)
    np.testing.assert_allclose(b.jac, dc.gradient(f, b.x), rtol=1e-6, atol=1e-12)


def test_l_bfgs_b_remembers_more_where_that_costs_nothing():
    """NIST's Hahn1 from its second start: in 95 evaluations, with ten pairs in 147."""
    problem = nist.load("Hahn1")

    def f(x):
        return 0.5 * np.sum(problem.residuals(x) ** 2)

    start = problem.points["start 2"]
    usual = minimize(f, start, method="L-BFGS-B")
    few = minimize(f, start, method="L-BFGS-B", options={"maxcor": 10})
    for found in (usual, few):
        assert found.success
        assert 2 * found.fun == pytest.approx(problem.certified_rss, rel=1e-6)
    assert usual.nfev < 0.8 * few.nfev
    how = method_named("L-BFGS-B", False, False)
    for n, pairs in ((1, 50), (655, 50), (656, 49), (3277, 10), (10**6, 10)):
        assert options_for(how, None, None, False, n)["maxcor"] == pairs
    assert options_for(how, {"maxcor": 3}, None, False, 5)["maxcor"] == 3


def test_a_small_gradient_is_no_end():
    def f(x):
        return 1e-14 * rosenbrock(x * [1e-6, 1.0])

    z0 = START * [1e6, 1.0]
    plain = optimize.minimize(f, z0, jac=lambda x: dc.gradient(f, x))
    assert plain.success
    assert abs(plain.x / [1e6, 1] - 1).max() > 1
    found = minimize(f, z0)
    np.testing.assert_allclose(found.x, [1e6, 1.0], rtol=1e-9)


def test_the_end_is_where_rounding_begins():
    problem = nist.load("Misra1a")
    x = problem.points["certified"]
    f = dc.compile(problem.objective, x)
    steps = 1 + 1e-15 * np.random.default_rng(1).standard_normal((100, x.size))
    spread = np.std([f.value(x * step) for step in steps])
    assert spread < rounding_of(f, x) < 20 * spread
    found = minimize(problem.objective, problem.points["start 2"])
    assert found.reason == "converged"
    np.testing.assert_allclose(2 * found.fun, problem.certified_rss, rtol=1e-10)
    coarse = minimize(problem.objective, problem.points["start 2"], tol=1e-3)
    assert coarse.nfev < found.nfev
    left = coarse.fun - found.fun
    assert 0 < left < 0.01 * problem.objective(problem.points["start 2"])


def test_what_is_no_minimum_is_said():
    kink = minimize(lambda x: abs(x[0]) + x[1] ** 2, [1.0, 1.0])
    assert (kink.reason, kink.success, kink.status) == ("stagnated", False, 2)
    assert kink.predicted_decrease > 1e-3
    endless = minimize(lambda x: x[1] ** 2 - x[0] ** 2, [1.0, 1.0])
    assert (endless.reason, endless.success) == ("unbounded", False)
    saddle = minimize(lambda x: x[0] ** 2 - x[1] ** 2 + x[1] ** 4, [1.0, 0.0])
    assert (saddle.reason, saddle.success) == ("saddle", False)
    # In the valley of Meyer's function the gradient promises nothing, Newton's step much.
    problem = nist.load("MGH10")
    valley = minimize(problem.objective, problem.points["start 1"], method="L-BFGS-B")
    assert valley.success == (2 * valley.fun < 1.0001 * problem.certified_rss)
    short = minimize(rosenbrock, START, options={"maxiter": 3})
    assert (short.reason, short.success, short.nit) == ("limit", False, 3)
    at_rest = minimize(lambda x: np.sum((x - 1) ** 2), [1.0, 1.0])
    assert at_rest.success
    assert at_rest.nfev == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_program_that_falls_for_ever_has_no_minimum(method):
    def f(x):
        return 2 * x["b"] - x["a"]

    limit = {"maxiter": 100} if method in ("CG", "BFGS") else {}
    found = minimize(f, {"a": 1.0, "b": 1.0}, method=method, options=limit)
    assert not found.success
    if found.reason == "unbounded":
        assert found.fun < -1e12
        assert "['a', 'b']" in found.message
    bounded = minimize(lambda x: 2 * x[1] - x[0], [1.0, 1.0], bounds=[(0, 3)] * 2)
    assert bounded.success
    assert bounded.x.tolist() == [3.0, 0.0]


def test_variables_without_curvature_take_their_typical_size():
    def f(x):
        return (x[0] - 1) ** 2 + 3 * x[1] + 0 * x[2]

    found = minimize(f, [3.0, 40.0, 7.0], bounds=[(None, None), (-5, 50), (0, 9)])
    np.testing.assert_allclose(found.x, [1.0, -5.0, 7.0], atol=1e-12)
    assert found.unscaled == (1, 2)
    assert "[1, 2] had no curvature" in found.message
    assert found.scale[2] == 7.0
    s = scaling(f, [3.0, 0.0, 0.0], scales=[1.0, 10.0, 5.0])
    assert s.step[2] == 5.0
    # A unit of the model's step along a mere slope is the typical size.
    assert s.gradient(s.y0)[1] * s.step[1] == pytest.approx(10.0)


def test_points_outside_of_the_domain_send_the_method_back():
    def f(x):
        return x[0] - 1e3 * np.log(x[0]) + (x[1] - np.sqrt(x[0])) ** 2

    for method in ("BFGS", "L-BFGS-B", "trust-ncg", "SLSQP"):
        found = minimize(f, [5.0, 0.0], method=method)
        np.testing.assert_allclose(found.x, [1e3, 1e3**0.5], rtol=1e-4)
    # The natural step of the start is 99 units long, and the domain ends after one.
    for method in METHODS:
        if method != "dogleg":
            wall = minimize(lambda x: x[0] - 0.01 * np.log(x[0]), [1.0], method=method)
            assert wall.x[0] == pytest.approx(0.01, rel=1e-5)
            assert wall.outside > 0


def test_bounds_and_constraints_hold_in_units():
    units = np.array([1e6, 1e-4])
    f, z0 = in_units(bowl, units), np.array([0.1, 0.2]) * units
    box = optimize.Bounds(np.array([-1, -1]) * units, np.array([0.5, 4]) * units)
    pairs = [(-units[0], 0.5 * units[0]), (None, None)]
    for method in ("L-BFGS-B", "TNC", "SLSQP", "trust-constr"):
        for bounds in (box, pairs):
            found = minimize(f, z0, method=method, bounds=bounds)
            np.testing.assert_allclose(found.x / units, [0.5, 1.0], rtol=1e-4)
            assert found.success
            assert (found.x <= [0.5 * units[0], np.inf]).all()
    A = np.array([[1.0, 1.0]]) / units
    disc = {"fun": lambda z: (z[0] / units[0]) ** 2 + (z[1] / units[1]) ** 2}
    slope = {"jac": lambda z: 2 * np.array([z / units**2])}
    bend = {"hess": lambda z, v: 2 * v[0] * np.diag(1 / units**2)}
    for constraint, truth in (
        (optimize.LinearConstraint(A, -np.inf, 1), [1.0, 0.0]),
        (optimize.LinearConstraint(sparse.csr_matrix(A), -np.inf, 1), [1.0, 0.0]),
        (optimize.NonlinearConstraint(lb=-np.inf, ub=1, **disc), np.sqrt([0.8, 0.2])),
        (
            optimize.NonlinearConstraint(lb=-np.inf, ub=1, **disc, **slope, **bend),
            np.sqrt([0.8, 0.2]),
        ),
        (
            {"type": "eq", "fun": lambda z, c: z[0] / units[0] - c, "args": (0.25,)},
            [0.25, 1.0],
        ),
        (
            [{"type": "ineq", "fun": lambda z: 1 - disc["fun"](z)}],
            np.sqrt([0.8, 0.2]),
        ),
    ):
        for method in ("SLSQP", "trust-constr"):
            if sparse.issparse(getattr(constraint, "A", None)) and method == "SLSQP":
                continue  # SciPy's SLSQP takes dense ones
            found = minimize(f, z0, method=method, constraints=constraint)
            np.testing.assert_allclose(found.x / units, truth, atol=1e-4)
            assert found.success
            assert found.reason in ("scipy", "stationary")


def test_constraints_that_exclude_each_other_are_infeasible():
    both = [{"type": "ineq", "fun": lambda x, s=s: s * x[0] - 5} for s in (1, -1)]
    ends = minimize(bowl, [0.0, 0.0], constraints=both)
    assert (ends.reason, ends.status, ends.success) == ("infeasible", 5, False)
    line = optimize.LinearConstraint([[1, 0], [1, 0]], [5, -5], [5, -5])
    with pytest.warns(UserWarning, match="Singular Jacobian"):  # SciPy's
        ends = minimize(bowl, [0.0, 0.0], method="trust-constr", constraints=line)
    assert (ends.reason, ends.success) == ("infeasible", False)
    assert "violated by" in ends.message


def test_outputs_of_one_entry_are_scalars():
    for method in METHODS:
        found = minimize(lambda x: (x - 3.0) ** 2, 2.0, method=method)
        assert found.x == pytest.approx([3.0])
        assert isinstance(found.fun, float)


def test_what_a_message_says_is_what_was_tested():
    t = np.linspace(0, 48, 25)
    y = 5.2e8 / (1 + 399 * np.exp(-0.31 * t))

    def growth(x):
        model = x[0] / (1 + (x[0] / x[2] - 1) * np.exp(-x[1] * t))
        return np.sum((model - y) ** 2)

    # The scale of this start is outdated where the iteration ends.
    found = minimize(growth, [1.0, 1.0, 1.0])
    assert (found.reason, found.success) == ("converged", True)
    np.testing.assert_allclose(found.x, [5.2e8, 0.31, 1.3e6], rtol=1e-9)
    worth = float(found.message.partition("at most ")[2].partition(",")[0])
    assert 0 < found.predicted_decrease <= worth
    assert f"promises {found.predicted_decrease:.2g}" in found.message


def test_a_dictionary_of_parameters_comes_back():
    def named(p):
        return 100 * (p["y"] - np.sum(p["x"]) ** 2) ** 2 + (1 - p["x"][0]) ** 2

    seen = []
    start = {"x": np.array([-1.2]), "y": 1}
    found = minimize(named, start, callback=lambda p: seen.append(named(p)))
    plain = minimize(rosenbrock, START)
    assert list(found.names) == ["x[0]", "y"]
    assert seen[-1] == found.fun
    for part in ("x", "jac", "scale"):
        given = getattr(found, part)
        assert given["x"].shape == (1,)
        assert given["y"].shape == ()
        flat = [given["x"][0], given["y"]]
        np.testing.assert_allclose(flat, getattr(plain, part), rtol=1e-6, atol=1e-8)
    held = minimize(
        named,
        start,
        bounds=[(None, None), (None, 0.25)],
        constraints={"type": "eq", "fun": lambda p: p["x"][0] - 0.5},
        scales={"x": [1.0], "y": 2.0},
    )
    np.testing.assert_allclose([held.x["x"][0], held.x["y"]], [0.5, 0.25], rtol=1e-6)
    s = scaling(named, start)
    assert s.to_units(s.y0)["y"] == pytest.approx(1)
    np.testing.assert_allclose(s.to_scaled(start), s.y0)


def test_callbacks_see_units_and_may_end():
    units = np.array([1e6, 1e-3])
    f = in_units(rosenbrock, units)
    seen = []

    def point(xk):
        seen.append(f(xk))

    def named(*, intermediate_result):
        assert intermediate_result.fun == pytest.approx(f(intermediate_result.x))
        if intermediate_result.fun < 1:
            raise StopIteration

    def state(xk, state):
        assert state.fun == pytest.approx(f(xk))
        np.testing.assert_allclose(state.grad, dc.gradient(f, xk))
        raise StopIteration

    for ends in (lambda xk: True, lambda xk, state=None: state.nit > 1):
        ended = minimize(f, START * units, method="trust-constr", callback=ends)
        assert ended.reason == "callback"
    found = minimize(f, START * units, callback=point)
    assert len(seen) == found.nit
    assert (np.diff(seen) <= 0).all()
    for method, callback in (
        ("TNC", named),
        ("L-BFGS-B", named),
        ("trust-constr", state),
    ):
        if method == "TNC":  # SciPy's TNC gives points alone

            def callback(xk):
                if f(xk) < 1:
                    raise StopIteration

        ended = minimize(f, START * units, method=method, callback=callback)
        assert (ended.reason, ended.status, ended.success) == ("callback", 99, False)


def test_the_inverse_hessian_is_in_units():
    D = np.diag([1e-6, 1e3])
    A = D @ np.array([[4.0, 1.0], [1.0, 1.0]]) @ D

    def f(x):
        a, b = 1e-6 * x[0], 1e3 * x[1]
        return 2 * a**2 + a * b + b**2 / 2 + a

    found = minimize(f, [1e6, 2e-3])
    np.testing.assert_allclose(found.hess_inv, np.linalg.inv(A), rtol=0.05)
    limited = minimize(f, [1e6, 2e-3], method="L-BFGS-B")
    pairs = limited.hess_inv
    np.testing.assert_allclose(pairs.yk, pairs.sk @ A, rtol=1e-6)


def test_the_scale_is_estimated_anew_where_nothing_moves():
    asked = []

    def steps(x):
        asked.append(x)
        return [1.0, 1e12] if len(asked) == 1 else [0.1, 0.3]

    found = minimize(rosenbrock, START, rescale=steps)
    assert abs(found.x - 1).max() < 1e-6
    assert len(asked) > found.rescaled > 0
    once = minimize(rosenbrock, START, rescale="start")
    assert once.rescaled == 0
    np.testing.assert_allclose(once.x, 1.0, rtol=1e-8)


def test_scaled_variables_have_a_hessian_of_at_most_one():
    problem = nist.load("Rat43")
    s = scaling(problem.objective, problem.points["start 1"])
    H = np.stack([s.hvp(s.y0, e) for e in np.eye(s.y0.size)])
    assert abs(H).max() <= 1 + 1e-12
    assert np.linalg.norm(s.gradient(s.y0)) == pytest.approx(s.y0.size)
    np.testing.assert_allclose(s.to_scaled(s.to_units(s.y0 + 1)), s.y0 + 1)
    step = 1e-6 * np.arange(1.0, 5.0)
    slope = (s.value(s.y0 + step) - s.value(s.y0 - step)) / 2
    assert slope == pytest.approx(s.gradient(s.y0) @ step, rel=1e-6)


@pytest.mark.parametrize(
    ("error", "said", "given"),
    [
        (OptionError, "takes no gradients", {"method": "Powell"}),
        (OptionError, "known are BFGS", {"method": "newton"}),
        (OptionError, "give tol", {"options": {"gtol": 1e-8}}),
        (OptionError, "a dictionary", {"options": 3}),
        (OptionError, r"in \[0, 1\)", {"tol": -1.0}),
        (OptionError, "'restart'", {"rescale": "often"}),
        (OptionError, "positive finite steps", {"rescale": lambda x: -(x**2)}),
        (OptionError, "takes no bounds", {"method": "CG", "bounds": [(0, 1)] * 2}),
        (OptionError, "variable 1", {"bounds": [(0, 1), (2, 1)]}),
        (ShapeError, "list of 2 pairs", {"bounds": [(0, 1)]}),
        (ShapeError, "list of 2 pairs", {"bounds": [0, 6]}),
        (OptionError, "of type int", {"bounds": 3}),
        (OptionError, "no numbers", {"bounds": [("a", 1), (0, 1)]}),
        (OptionError, "NaN is no bound", {"bounds": [(0, np.nan), (0, 1)]}),
        (OptionError, "positive integer", {"options": {"maxiter": "ten"}}),
        (OptionError, "callback", {"options": {"disp": True}}),
        (
            ShapeError,
            "each of 2",
            {"constraints": optimize.LinearConstraint([[1, 2, 3]], 0, 1)},
        ),
        (InputTypeError, "function comes first", {"f": START, "x0": rosenbrock}),
        (InputTypeError, r"x0\['a'\]", {"x0": {"a": "one"}}),
        (ShapeError, "2 variables", {"bounds": optimize.Bounds([0] * 3, 1)}),
        (OptionError, "come from the program", {"hess": lambda x: np.eye(2)}),
        (OptionError, "jac was given", {"jac": lambda x: x}),
        (OptionError, "hessp was given", {"hessp": lambda x, v: v}),
        (OptionError, "a function is needed", {"callback": 3}),
        (OptionError, "'restart'", {"rescale": np.ones(2)}),
        (InputTypeError, "LinearConstraint", {"constraints": [3]}),
        (InputTypeError, "LinearConstraint", {"constraints": 3}),
        (DomainError, "is NaN at x", {"constraints": UNDEFINED}),
        (OptionError, "type='eq'", {"constraints": {"type": "eq"}}),
        (OptionError, "positive", {"scales": [0.0, 1.0]}),
        (ShapeError, r"\(1,\)", {"scales": [1.0]}),
        (OptionError, "hess_inv0", {"options": {"hess_inv0": np.eye(2)}}),
        (OptionError, "budget", {"budget": 0}),
        (ShapeError, "a vector", {"x0": np.ones((2, 2))}),
        (ShapeError, "a vector", {"x0": []}),
        (DomainError, "nan", {"x0": [np.nan, 1.0]}),
        (DomainError, "log", {"f": lambda x: np.log(x[0]) + x[1]}),
        (ShapeError, "one scalar output", {"f": lambda x: x}),
        (ConstantProgramError, "does not depend", {"f": lambda x: 3.0}),
        (UnsupportedOperationError, "fft", {"f": lambda x: np.fft.fft(x)[0]}),
    ],
)
def test_what_cannot_be_used_is_refused(error, said, given):
    given = {"f": rosenbrock, "x0": START, **given}
    with pytest.raises(error, match=said):
        minimize(**given)


def test_a_missing_scipy_names_the_extra():
    with pytest.raises(MissingPackageError, match="the extra 'scipy'"):
        _module("no_such_module")


def test_a_tape_of_a_compiled_program_is_at_the_point():
    f = dc.compile(lambda x: np.exp(x[0]) if x[0] > 1 else x[0] * x[1], [2.0, 1.0])
    for x in ([1.5, 1.0], [0.5, 3.0]):
        tape, out = f.tape_at(x)
        assert float(tape.vals[out]) == f.value(x)
    with pytest.raises(ShapeError):
        f.tape_at([1.0])


def test_the_scale_of_a_far_start_does_not_end_an_iteration():
    def bowl(x):
        return np.exp(x[0]) + np.exp(-x[0]) + (x[1] - 3) ** 2

    for method in ("trust-constr", "TNC"):
        found = minimize(bowl, [30.0, 0.0], method=method)
        assert found.success
        assert found.fun < 2 + 1e-9
    slope = minimize(lambda x: 1 / x[0] + x[1] ** 2, [1.0, 1.0], method="CG")
    assert slope.predicted_decrease <= 1e-12 * slope.fun or slope.fun < 1e-15
    far = optimize.LinearConstraint([[1.0, 0.0]], -np.inf, 1e9)  # never active
    found = minimize(rosenbrock, [1e3, -1e3], method="SLSQP", constraints=far)
    assert found.success
    assert found.fun < 1e-8
