"""Chains: sequences of transitions, in which equal neighbours are one entry."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from derivative_covers.checkpoint import Chain, Transition
from derivative_covers.errors import InputTypeError, OptionError


def f(x, k):
    return x * k


def g(x, k):
    return x + k


def test_equal_neighbours_are_one_run():
    a, b = Transition.taped(f), Transition.taped(g)
    chain = Chain([a, a, b, a, a, a])
    assert chain.runs == ((a, 0, 2), (b, 2, 3), (a, 3, 6))
    assert len(chain) == 6
    assert list(chain) == [a, a, b, a, a, a]
    assert [chain[k] for k in range(6)] == list(chain)
    assert chain[-1] is a
    assert chain[np.int64(2)] is b


def test_functions_are_taped_once():
    chain = Chain([f, f, g, f])
    assert len(chain.runs) == 3
    assert chain[0] is chain[1] is chain[3]
    assert chain[0].function is f


def test_chains_are_flattened():
    a = Transition.taped(f)
    inner = Chain([a, g])
    chain = Chain([a, inner, Chain([]), inner, Chain.uniform(3, a)])
    assert len(chain) == 8
    assert [first for _, first, _ in chain.runs] == [0, 2, 3, 4, 5]
    assert chain[3] is a
    assert chain[2] is chain[4]


def test_steps_may_come_from_a_generator():
    assert len(Chain(f for _ in range(5)).runs) == 1
    made = Chain((lambda x, k, j=j: x * j) for j in range(50))
    assert [t.function(1.0, 0) for t in made] == list(range(50))


def test_long_chains_take_the_memory_of_one_step():
    chain = Chain.uniform(10**15, f)
    assert len(chain) == 10**15
    assert len(chain.runs) == 1
    assert chain[10**15 - 1] is chain[0]
    last = Chain([chain, g])
    assert last[10**15].function is g
    assert list(last.between(10**15 - 2, 10**15 + 1)) == [
        (chain[0], 10**15 - 2, 10**15),
        (last[-1], 10**15, 10**15 + 1),
    ]
    assert len(Chain.uniform(sys.maxsize, f)) == sys.maxsize


def test_pieces_between_steps():
    a, b = Transition.taped(f), Transition.taped(g)
    chain = Chain([a, a, a, b, a])
    assert list(chain.between(0, 5)) == [(a, 0, 3), (b, 3, 4), (a, 4, 5)]
    assert list(chain.between(1, 2)) == [(a, 1, 2)]
    assert list(chain.between(3, 3)) == []


def test_empty_chains():
    for chain in (Chain([]), Chain.uniform(0, f), Chain([Chain([])])):
        assert len(chain) == 0
        assert list(chain) == []
        assert chain.runs == ()
        assert list(chain.between(0, 0)) == []
        with pytest.raises(IndexError, match="step 0 of a chain of 0 steps"):
            chain[0]
        assert repr(chain) == "<Chain of 0 steps>"


def test_steps_out_of_range():
    chain = Chain([f, g])
    for k in (2, -3, 10**30):
        with pytest.raises(IndexError, match="of a chain of 2 steps"):
            chain[k]
    with pytest.raises(TypeError):
        chain[1.0]
    with pytest.raises(TypeError):
        chain[0:1]


@pytest.mark.parametrize("entry", [None, 3, "f", np.ones(2), [f], int])
def test_what_is_no_step_is_refused(entry):
    with pytest.raises(InputTypeError, match="step 1 of the chain is"):
        Chain([f, entry])


@pytest.mark.parametrize("steps", [f, Transition.taped(f), None, 3, "ff"])
def test_what_is_no_list_of_steps_is_refused(steps):
    with pytest.raises(InputTypeError, match=r"Chain\.uniform"):
        Chain(steps)


@pytest.mark.parametrize("steps", [-1, 1.0, "3", None, True])
def test_uniform_needs_a_count(steps):
    with pytest.raises(OptionError, match="steps is"):
        Chain.uniform(steps, f)


def test_uniform_needs_one_step():
    with pytest.raises(InputTypeError, match="repeats one step"):
        Chain.uniform(3, Chain([f]))
    with pytest.raises(InputTypeError, match="a function"):
        Chain.uniform(3, None)
    assert len(Chain.uniform(np.int64(3), f)) == 3


def test_repr():
    assert repr(Chain([f])) == "<Chain of 1 step: Transition.taped(f)>"
    chain = Chain([f, f, g])
    assert repr(chain) == (
        "<Chain of 3 steps: 2 x Transition.taped(f), Transition.taped(g)>"
    )
    assert repr(Chain([f, g] * 10)).endswith("... (20 runs)>")
