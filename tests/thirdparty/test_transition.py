"""A transition of somebody else's: an implicit step, solved by Newton's method."""

from __future__ import annotations

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Chain,
    Revolve,
    StoreAll,
    Transition,
    reverse_sweep,
)
from derivative_covers.errors import InputTypeError
from derivative_covers.testing import ConformanceError, check_transition


class BackwardEuler(Transition):
    """``y + h a y**3 = x`` entry by entry; its reverse rule solves the linear equation."""

    def __init__(self, h):
        self.h = h

    def forward(self, x, params, k):
        a = params["a"]
        y = x.copy()
        for _ in range(30):
            y -= (y + self.h * a * y**3 - x) / (1 + 3 * self.h * a * y * y)
        return y

    def record(self, x, params, k):
        y, a = self.forward(x, params, k), params["a"]

        def pullback(ybar, params_bar):
            xbar = ybar / (1 + 3 * self.h * a * y * y)
            return xbar, {"a": params_bar["a"] - self.h * np.sum(xbar * y**3)}

        return y, pullback


X = np.array([0.5, -1.0, 2.0])
PARAMS = {"a": 0.7}


def test_it_conforms():
    check_transition(BackwardEuler(0.1), X, params=PARAMS, steps=range(3))


def test_it_takes_part_in_a_sweep():
    def total(x, params, k):
        return np.sum(x**2) * params["a"]

    chain = Chain([Chain.uniform(20, BackwardEuler(0.1)), total])
    results = [
        reverse_sweep(chain, X, schedule=schedule, params=PARAMS)
        for schedule in (StoreAll(), Revolve(slots=3))
    ]
    np.testing.assert_array_equal(*(r.cotangent for r in results))
    g = results[0].params_cotangent["a"]
    assert g == results[1].params_cotangent["a"]

    def value(a):
        found = reverse_sweep(chain, X, schedule=StoreAll(), params={"a": a})
        return found.value

    h = 1e-5
    assert g == pytest.approx((value(0.7 + h) - value(0.7 - h)) / (2 * h), rel=1e-8)


# -- what the check finds ---------------------------------------------------------------


def ruled(f, vjp):
    return Transition.from_vjp(f, vjp)


def tanh(x, k):
    return np.tanh(x)


def slope(x, ybar, k):
    return (1 - np.tanh(x) ** 2) * ybar


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_right_rules_pass_in_every_type(dtype):
    check_transition(ruled(tanh, slope), X.astype(dtype), steps=[0, 7])
    check_transition(ruled(tanh, slope), dtype(0.3))


def test_right_steps_of_all_kinds_pass():
    check_transition(Transition.taped(lambda x, k: x + 0.1 * k * np.sin(x)), X)
    check_transition(
        Transition.taped(
            lambda x, p, k: {"a": x["b"] * p[0], "c": np.sum(x["b"]) * p[1]}
        ),
        {"b": X, "unused": 1.0},
        params=(X, 2.0),
    )
    check_transition(Transition.taped(lambda x, k: np.log(x)), np.array([1e-9, 1e9]))
    check_transition(Transition.taped(lambda x, k: 1e200 * x * x), 1e-150 * X)
    check_transition(Transition.taped(lambda x, k: np.zeros(2)), X)
    check_transition(Transition.taped(lambda x, k: x), X)


class Off(Transition):
    """Right but for what a test replaces."""

    def forward(self, x, params, k):
        return np.tanh(x)

    def record(self, x, params, k):
        return np.tanh(x), lambda ybar, params_bar: (slope(x, ybar, k), params_bar)


class Drifting(Off):
    count = 0

    def forward(self, x, params, k):
        self.count += 1
        return np.tanh(x) + self.count


class Disagreeing(Off):
    def record(self, x, params, k):
        y, pullback = super().record(x, params, k)
        return np.nextafter(y, 2), pullback


class Overwriting(Off):
    def forward(self, x, params, k):
        if x.flags.writeable:
            x[0] = 5.0
        return np.tanh(x)


class Writing(Off):
    def forward(self, x, params, k):
        x *= 2
        return x


class Forgetful(Off):
    def record(self, x, params, k):
        y, pullback = super().record(x, params, k)
        return y, lambda ybar, params_bar: (pullback(ybar, None)[0], np.zeros(2))


class Inventing(Off):
    def record(self, x, params, k):
        y, pullback = super().record(x, params, k)
        return y, lambda ybar, params_bar: (pullback(ybar, None)[0], 0.0)


class Moody(Off):
    def record(self, x, params, k):
        self.scale = -getattr(self, "scale", 1.0)
        y, pullback = super().record(x, params, k)
        return y, lambda ybar, params_bar: (self.scale * pullback(ybar, None)[0], None)


@pytest.mark.parametrize(
    ("transition", "params", "words"),
    [
        (Drifting(), None, "forward of step 4 gives other bits when called again"),
        (Disagreeing(), None, "record of step 4 gives other bits than forward"),
        (Overwriting(), None, "forward of step 4 changes its state"),
        (Writing(), None, "forward of step 4 raises StateMutationError"),
        (Forgetful(), np.ones(2), "does not add its part to the params_bar that came"),
        (Inventing(), None, "params_bar 0.0 without parameters"),
        (Moody(), None, "the pullback of step 4 gives other bits when called again"),
        (
            ruled(tanh, lambda x, ybar, k: slope(x, ybar, k) * (1 + 1e-6)),
            None,
            "the pullback of step 4 along a random direction gives the slope",
        ),
        (ruled(tanh, lambda x, ybar, k: np.abs(ybar)), None, "is not linear"),
        (ruled(tanh, lambda x, ybar, k: ybar + 1), None, "is not linear"),
        (ruled(tanh, lambda x, ybar, k: ybar[:2]), None, r"of step 4 is .*\(2,\)"),
        (ruled(tanh, lambda x, ybar, k: None), None, "is None"),
        (
            Transition.taped(lambda x, k: x[:2] if k else x[5]),
            None,
            None,
        ),
        (Transition.taped(lambda x, k: x > 0), None, "forward of step 4 raises Input"),
        (
            ruled(lambda x, k: np.floor(1e6 * x), lambda x, ybar, k: 0 * ybar),
            None,
            "differences of forward|do not settle",
        ),
    ],
)
def test_faults_are_found(transition, params, words):
    def run():
        check_transition(transition, X, params=params, steps=[4])

    if words is None:
        run()
        return
    with pytest.raises(ConformanceError, match=words) as caught:
        run()
    assert len(caught.value.faults) <= 3


def test_single_precision_rules_are_held_to_its_digits():
    wrong = ruled(tanh, lambda x, ybar, k: slope(x, ybar, k) * np.float32(1.01))
    with pytest.raises(ConformanceError, match="gives the slope"):
        check_transition(wrong, X.astype(np.float32))


def test_the_check_leaves_its_point_alone():
    x, params = X.copy(), {"a": np.ones(3)}
    check_transition(
        Transition.taped(lambda x, params, k: x * params["a"]), x, params=params
    )
    assert x.flags.writeable
    assert params["a"].flags.writeable
    np.testing.assert_array_equal(x, X)


def test_what_is_no_transition_is_refused():
    with pytest.raises(InputTypeError, match=r"Transition\.taped"):
        check_transition(tanh, X)
    with pytest.raises(InputTypeError, match="list of numbers"):
        check_transition(ruled(tanh, slope), [1.0, 2.0])
