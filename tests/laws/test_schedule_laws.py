"""Laws of schedules: capacities, order, bounds of the theorem, and the optimum."""

from __future__ import annotations

from functools import cache
from math import ceil, comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derivative_covers.checkpoint import (
    Binomial,
    Revolve,
    StoreAll,
    TwoLevel,
    UniformBlock,
    capacity,
    validate,
)
from derivative_covers.checkpoint.plans._capacity import fits, least_replays

slots = st.integers(1, 30)
steps = st.integers(0, 400)


@given(st.integers(0, 300), st.integers(0, 300))
def test_capacity_is_a_binomial_coefficient(d, t):
    assert capacity(d, t) == comb(d + t, d)
    if d and t:
        assert capacity(d, t) == capacity(d - 1, t) + capacity(d, t - 1)
    assert capacity(d, 0) == capacity(0, t) == 1


@given(st.integers(0, 2**80), st.integers(0, 200), st.integers(0, 200))
def test_fitting_is_comparing_with_the_capacity(n, d, t):
    assert fits(n, d, t) == (n <= comb(d + t, d))


@given(st.integers(0, 200), st.integers(0, 60), st.integers(-1, 1))
def test_fitting_at_the_edge(d, t, shift):
    n = comb(d + t, d) + shift
    assert fits(n, d, t) == (shift <= 0)


@given(st.integers(2, 2**200), st.one_of(st.integers(1, 40), st.integers(1, 2**200)))
def test_least_replays(n, d):
    t = least_replays(n, d)
    assert n <= comb(d + t, min(d, t))
    assert t == 0 or n > comb(d + t - 1, min(d, t - 1))


@st.composite
def schedules(draw):
    d = draw(slots)
    return draw(
        st.sampled_from(
            [
                StoreAll(),
                UniformBlock(d),
                UniformBlock(d, record="block"),
                Binomial(d),
                Revolve(d),
                TwoLevel(d, draw(slots)),
            ]
        )
    )


@settings(max_examples=150, deadline=None)
@given(schedules(), steps)
def test_every_plan_is_valid_and_costs_what_it_says(schedule, T):
    plan = schedule.plan(T)
    counted = validate(list(plan))
    assert plan.cost == counted
    assert plan.cost == validate(plan)
    assert counted.recorded == T
    assert [
        k for a in plan if a.kind == "reverse" for k in (a.stop, a.start)
    ] == sorted(
        [k for a in plan if a.kind == "reverse" for k in (a.stop, a.start)],
        reverse=True,
    )


@given(st.integers(1, 60), st.integers(1, 5000))
def test_uniform_replays_are_those_of_the_theorem(m, T):
    q = ceil(T / m)
    lengths = [min(q, T - a) for a in range(0, T, q)]
    cost = UniformBlock(m).plan(T).cost
    assert sum(lengths) == T
    assert cost.unrecorded == T + sum(r * (r - 1) // 2 for r in lengths)
    assert cost.unrecorded - T <= m * q * (q - 1) // 2
    assert cost.peak_slots == len(lengths) <= m
    by_block = UniformBlock(m, record="block").plan(T).cost
    assert by_block.unrecorded == T - lengths[-1]
    assert by_block.peak_records == q


@st.composite
def binomials(draw):
    """A chain within the capacity, at its edges more often than not."""
    d, t = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    most = min(comb(d + t, d), 600)
    edges = [n for n in (most, most - 1, comb(d + t - 1, d) + 1, d + 2) if n <= most]
    return d, t, draw(st.one_of(st.sampled_from(edges), st.integers(0, most)))


@settings(max_examples=150, deadline=None)
@given(binomials())
def test_binomial_bounds(case):
    d, t, T = case
    plan = Binomial(d, t).plan(T)
    cost = validate(plan, slots=d, replays=t)
    assert cost == plan.cost
    assert cost.frames <= d + t + 1
    assert cost.unrecorded <= t * T
    if T:
        assert cost.saves == cost.restores == T - 1


@cache
def seed_cost(n, d, t):
    """Unrecorded evaluations of the recursion itself: replay, right part, left part."""
    if n <= 1:
        return 0
    left = min(n - 1, comb(d + t - 1, d))
    return left + seed_cost(n - left, d - 1, t) + seed_cost(left, d, t - 1)


@given(binomials())
def test_binomial_cost_is_that_of_the_recursion(case):
    d, t, T = case
    assert Binomial(d, t).plan(T).cost.unrecorded == seed_cost(T, d, t)


def split_by_split(n, d, t):
    """As ``seed_cost``, for long chains: one closed form for each full subtree."""
    work = 0
    while n > 1:
        full = comb(d + t - 1, d)
        left = min(n - 1, full)
        work += left
        if left == full:
            work += (t - 1) * full - comb(d + t - 1, t - 2) if t > 1 else 0
            n, d = n - left, d - 1
        else:
            n, t = left, t - 1
    return work


@settings(deadline=None)
@given(st.integers(2, 10**9), st.integers(3, 40), st.integers(0, 3))
def test_binomial_cost_of_long_chains(T, d, more):
    t = least_replays(T, d) + more
    assert Binomial(d, t).plan(T).cost.unrecorded == split_by_split(T, d, t)


# -- the optimum -----------------------------------------------------------------------

LONGEST, MOST_SLOTS = 200, 8


@pytest.fixture(scope="module")
def optimum():
    """Least (evaluations, saves) by trying every split of every interval.

    The start of an interval is in a slot already; the right part saves its own start
    where it has two steps or more.
    """
    best = {}
    for d in range(1, MOST_SLOTS + 1):
        best[1, d] = (0, 0)
        for n in range(2, LONGEST + 1):
            found = []
            for left in range(1, n):
                right = n - left
                if right == 1:
                    beyond = (0, 0)
                elif d == 1:
                    continue
                else:
                    work, saves = best[right, d - 1]
                    beyond = (work, saves + 1)
                work, saves = best[left, d]
                found.append((left + work + beyond[0], saves + beyond[1]))
            best[n, d] = min(found)
    return best


@pytest.mark.parametrize("d", range(1, MOST_SLOTS + 1))
def test_revolve_is_optimal_with_the_fewest_saves(optimum, d):
    for T in range(2, LONGEST + 1):
        work, saves = optimum[T, d]
        cost = Revolve(d).plan(T).cost
        assert (cost.unrecorded, cost.saves) == (work, saves + 1)


@pytest.mark.parametrize("d", range(1, MOST_SLOTS + 1))
def test_binomial_is_optimal_where_its_text_says(optimum, d):
    for T in range(2, LONGEST + 1):
        cost = Binomial(d).plan(T).cost
        least = optimum[T, d][0]
        assert least <= cost.unrecorded < 2 * least
        t = least_replays(T, d)
        if d + 1 >= T or comb(d + t, d) - 1 <= T:
            assert cost.unrecorded == least


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 2000))
def test_revolve_is_never_above_the_others_with_its_slots(d, T):
    plan = Revolve(d).plan(T)
    work = plan.cost.unrecorded
    assert work <= Binomial(d).plan(T).cost.unrecorded
    assert work <= UniformBlock(d).plan(T).cost.unrecorded
    assert sum(a.stop - a.start for a in plan if a.kind == "advance") == work
    assert sum(a.kind == "save" for a in plan) == plan.cost.saves


@pytest.mark.parametrize("d", range(1, 9))
@pytest.mark.parametrize("t", range(1, 6))
def test_edges_of_the_capacity(d, t):
    for T in {d + 1, d + 2, *(capacity(d, t) + k for k in (-1, 0, 1))} - {0}:
        for schedule in (Binomial(d), Revolve(d)):
            plan = schedule.plan(T)
            assert validate(plan, slots=d) == plan.cost
    T = capacity(d, t)
    assert Revolve(d).plan(T).cost.unrecorded == t * T - comb(d + t, d + 1)
    assert Revolve(d).plan(T).cost.max_replays == t


@pytest.mark.parametrize("d", [1, 2, 3, 10, 100])
def test_the_worst_case_of_the_seed_rule(d):
    T = d + 2
    assert Revolve(d).plan(T).cost.unrecorded == d + 2
    assert Binomial(d).plan(T).cost.unrecorded == 2 * d + 1
