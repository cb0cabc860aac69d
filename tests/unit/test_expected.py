"""The quick look at states gives what the close one gives, or leaves it to that."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from derivative_covers.checkpoint.execution._ledger import Replays
from derivative_covers.checkpoint.states._expected import expected
from derivative_covers.checkpoint.states._space import matched, space
from derivative_covers.checkpoint.states._states import canonical, numbers

Pair = namedtuple("Pair", "u t")
A = np.linspace(0.0, 1.0, 3)


@pytest.mark.parametrize(
    "x",
    [
        A.copy(),
        A.astype(np.float32),
        np.ones((2, 3)),
        np.array(0.5),
        0.5,
        np.float64(0.5),
        (0.5, np.float64(2.0)),
        [A.copy(), 1.0],
        {"u": A.copy(), "t": (1.0, np.zeros(0))},
        Pair(A.copy(), 1.0),
    ],
    ids=repr,
)
def test_a_state_as_it_should_be(x):
    state = canonical(x, "x")
    found = expected(x, space(state).form)
    assert space(found) == space(state)
    assert repr(found) == repr(state)
    assert (found is x) == (type(x) is np.ndarray and x.ndim > 0)


def test_a_number_in_an_array_is_copied():
    one, nest = np.array(0.5), {"t": np.array(0.5)}
    target = space(one)
    for found in (
        canonical(one, "x"),
        expected(one, target.form),
        matched(one, target, "x"),
    ):
        assert found == one
        assert not np.shares_memory(found, one)
    assert not np.shares_memory(canonical(nest, "x")["t"], nest["t"])
    closer = canonical((nest["t"], one, 1), "x", convert=True)
    assert not any(
        np.shares_memory(a, b)
        for a, b in zip(closer[:2], (nest["t"], one), strict=True)
    )


@pytest.mark.parametrize(
    ("x", "like"),
    [
        (A[::-1], A),
        (np.ones((2, 3)).T, np.ones((3, 2))),
        (A.astype(np.float32), A),
        (A.copy(), np.ones(4)),
        (np.array([0.0, np.nan, 1.0]), A),
        (np.array([0.0, np.inf, -np.inf]), A),
        (float("nan"), 1.0),
        (np.float64("inf"), 1.0),
        (np.float32(1.0), 1.0),
        (1, 1.0),
        (1.0, (1.0,)),
        ((1.0, 2.0), (1.0,)),
        ([1.0], (1.0,)),
        ((1.0, 2.0), Pair(1.0, 2.0)),
        ((1.0, float("inf")), (1.0, 2.0)),
        ({"t": 1.0, "u": 2.0}, {"u": 2.0, "t": 1.0}),
        ((), (1.0,)),
        (None, 1.0),
    ],
    ids=repr,
)
def test_anything_else_is_left_to_a_closer_look(x, like):
    assert expected(x, space(canonical(like, "x")).form) is None


def test_numbers_are_what_nobody_can_change():
    one = np.float64(1.0)
    assert numbers(one)
    assert numbers((one, one))
    for x in ((), (one, 1.0), [one], {"t": one}, (one, np.ones(1)), Pair(one, one)):
        assert not numbers(x)


def test_replays_are_those_of_counting_every_step():
    draw = np.random.default_rng(5)
    for _ in range(50):
        steps = int(draw.integers(1, 12))
        found, counts = Replays(), np.zeros(steps, int)
        for end in range(steps, 0, -1):
            for _ in range(draw.integers(0, 4)):
                a, b = sorted(draw.choice(end + 1, 2, replace=False).tolist())
                found.add(a, b, b == end)
                counts[a:b] += 1
                again = Replays()
                again.load(found.export())
                assert found.most() == again.most() == counts.max()
            assert found.leave(end - 1) == counts[end - 1]
        assert found.changes == {}
