"""What ``merge="auto"`` says it cost, and that it keeps to its budget in what it runs."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.covers import _auto
from derivative_covers.sweeps import Allowance, _passes, lower

rng = np.random.default_rng(3)
A = rng.normal(size=(120, 60)) / 8


def dense(x):
    return 0.5 * np.sum((np.tanh(A @ x) - 0.1) ** 2)


def chain(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def declared(x):
    return np.sum(np.stack(dc.submap(lambda v: v[:5] * v[1:6], x)) ** 2)


POINTS = {
    dense: rng.normal(size=60),
    chain: rng.normal(size=1500),
    declared: np.ones(8),
}


@pytest.mark.slow
@pytest.mark.parametrize("f", POINTS)
def test_cost_stays_within_the_budget_and_more_budget_is_no_looser(f):
    tape, out = dc.tape_function(f, POINTS[f])
    loosest = dc.cover_hessian(tape, out)
    sizes, merges = [], []
    for budget in (2, 12, 100, 10_000):
        cover = dc.cover_hessian(tape, out, merge="auto", budget=budget)
        assert 0 < cover.cost <= max(budget, 2)
        assert f"about {cover.cost:.3g} gradients" in repr(cover)
        assert (cover.h <= loosest.h * (1 + 1e-12)).all()
        sizes.append(np.log(cover.h[cover.h > 0]).sum())
        merges.append(cover.merge)
    assert merges[0] == "sum"
    assert merges[-1] == ("quadrature" if f is declared else "hessian")
    assert sizes[-1] == min(sizes)
    assert loosest.cost is None
    assert "gradients" not in repr(loosest)


@pytest.mark.slow
def test_every_merge_is_chosen_somewhere_and_covers():
    tape, out = dc.tape_function(dense, POINTS[dense])
    H = dc.hessian(tape, out)
    found = {}
    for budget in range(2, 200, 12):
        cover = dc.cover_hessian(tape, out, merge="auto", budget=budget)
        assert dc.iscover(cover, H)
        found.setdefault(cover.merge, dc.cover_excess(cover, H))
    assert found["hessian"] < found["hybrid"] < found["sum"]
    tape, out = dc.tape_function(chain, POINTS[chain])
    budgets = range(2, 120, 12)
    chosen = {
        dc.cover_hessian(tape, out, merge="auto", budget=b).merge for b in budgets
    }
    assert chosen == {"sum", "quadrature", "hessian"}


def test_predictions_follow_from_the_tape_alone():
    tape, out = dc.tape_function(chain, POINTS[chain])
    costs = {dc.cover_hessian(tape, out, merge="auto").cost for _ in range(3)}
    assert len(costs) == 1
    other, o = dc.tape_function(chain, 1.0 + POINTS[chain])
    assert costs == {dc.cover_hessian(other, o, merge="auto").cost}


def test_few_inputs_take_two_sweeps_each(monkeypatch):
    counted = {"tangents": 0, "second_order": 0}
    for name in counted:
        inner = getattr(_passes, name)

        def count(*args, name=name, inner=inner, **more):
            counted[name] += 1
            return inner(*args, **more)

        monkeypatch.setattr(_passes, name, count)
    cover = dc.cover_hessian(
        lambda x: np.exp(x[0] * x[1]) + x[2] ** 3, np.ones(3), merge="auto"
    )
    assert cover.merge == "hessian"
    assert counted == {"tangents": 3, "second_order": 3}
    assert cover.cost == 2 + 2 * 3 + 1


def test_an_allowance_is_taken_off_and_never_overdrawn():
    allowed = Allowance(5)
    assert allowed.take(3)
    assert not allowed.take(3)
    assert allowed.take(2)
    assert allowed.left == 0


def test_summands_are_slots_and_long_arrays_cost_one_a_node():
    tape, _ = dc.tape_function(chain, np.ones(1000))
    steps = lower(tape).steps
    assert sum(map(_auto._slots, steps)) == 999
    entries = tape.nnodes - 1000 - 1
    assert sum(map(_auto._work, steps)) == entries + _auto.SINGLE * 1000
