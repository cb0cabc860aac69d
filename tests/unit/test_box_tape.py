"""Recording over a box: inputs, decisions, faults, explicit nodes, printing."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
import derivative_covers.numpy as dnp
from derivative_covers.errors import (
    ConstantProgramError,
    DomainError,
    InputTypeError,
    OptionError,
    UndecidedError,
    UnsupportedOperationError,
)
from derivative_covers.extend import (
    NoCurvature,
    constantnode,
    noderef,
    pushnode,
    unarynode,
)
from derivative_covers.tape import _walks

BOX = dc.Interval([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])


def ends(f: Any, box: Any, **kw: Any) -> Any:
    tape, out = dc.tape_function(f, box, **kw)
    found = tape.vals[out]
    return np.asarray(found.lo).tolist(), np.asarray(found.hi).tolist()


def test_what_boxes_are() -> None:
    tape, out = dc.tape_function(lambda x: x[0] * x[1] + 2.0 * x[2], BOX)
    assert repr(tape.box) == repr(BOX)
    assert tape.shape == (3,)
    assert (tape.vals[out].lo, tape.vals[out].hi) == (4.0, 8.0)
    assert "over a box" in repr(tape)
    assert all(np.isnan(b.values).all() for b in tape.blocks)
    assert ends(lambda x: x * x, dc.Interval(-1.0, 2.0)) == (0.0, 4.0)
    given = {"a": dc.Interval([1.0], [2.0]), "b": (3.0, dc.Interval(-1.0, 0.0))}
    assert ends(lambda p: p["a"][0] * p["b"][0] + p["b"][1], given) == (2.0, 6.0)
    assert ends(lambda x, y: x - y, (dc.Interval(1.0, 2.0), 1)) == (0.0, 1.0)
    again = pickle.loads(pickle.dumps(tape))
    assert (again.vals[out].lo, again.vals[out].hi) == (4.0, 8.0)


def test_boxes_that_cannot_be() -> None:
    with pytest.raises(OptionError, match="kinks='branch'"):
        dc.tape_function(lambda x: x[0], BOX, kinks="branch")
    with pytest.raises(ConstantProgramError):
        dc.tape_function(lambda x: dc.Interval(1.0, 2.0), BOX)
    with pytest.raises(InputTypeError, match="is a box"):
        dc.forward_cover(lambda x: x[0], BOX)
    with pytest.raises(InputTypeError, match="recorded at a point"):
        dc.tape_function(lambda x: x * BOX, [1.0, 2.0, 3.0])
    # An infinite end is no fault; what overflows is.
    assert ends(lambda x: x[0] ** 2, dc.Interval([0.0], [np.inf])) == (0.0, np.inf)
    with pytest.raises(DomainError, match="overflow"):
        dc.tape_function(lambda x: np.exp(x[0] * 900.0), BOX)


def test_one_node_twice_is_a_square() -> None:
    wide = dc.Interval([-1.0, -2.0], [2.0, 1.0])
    assert ends(lambda x: x[0] * x[0], wide) == (0.0, 4.0)
    assert ends(lambda x: x * x, wide) == ([0.0, 0.0], [4.0, 4.0])
    assert ends(lambda x: x @ x, wide) == (0.0, 8.0)
    assert ends(lambda x: x - x, wide) == ([0.0, 0.0], [0.0, 0.0])
    assert ends(lambda x: np.maximum(x[0], x[0]), wide) == (-1.0, 2.0)


def test_constants_may_be_intervals() -> None:
    around = dc.Interval([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    assert ends(lambda x: np.sum(x * around), BOX) == (8.0, 20.0)
    assert ends(lambda x: around[0] * x[0] - x[0], BOX) == (-1.0, 2.0)
    assert ends(lambda x: np.stack([x[0], dc.Interval(5.0, 6.0)])[1] + x[0], BOX) == (
        5.0,
        7.0,
    )

    def stored(x: Any) -> Any:
        y = x.copy()
        y[0] = dc.Interval(-1.0, 1.0)
        return y

    assert ends(stored, BOX) == ([-1.0, 1.0, 2.0], [1.0, 2.0, 3.0])


def test_sums_contain_the_mean_of_reals() -> None:
    x = np.array([0.1, 0.2, 0.4])
    lo, hi = ends(lambda x: np.mean(x), dc.Interval(x, x))
    assert Fraction(lo) <= sum(map(Fraction, x)) / 3 <= Fraction(hi)
    assert hi - lo < 1e-15
    matrix = np.arange(6.0).reshape(3, 2) / 7.0
    low, high = ends(lambda x: (x @ matrix)[::-1], dc.Interval(x, x))
    exact = [
        sum(Fraction(a) * Fraction(b) for a, b in zip(x, c, strict=True))
        for c in matrix.T
    ]
    for k, e in enumerate(exact[::-1]):
        assert Fraction(low[k]) <= e <= Fraction(high[k])


def test_large_products_go_piece_by_piece(monkeypatch: Any) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(2, 3, 4))
    box = dc.Interval(a - 0.1, a + 0.1)

    def f(x: Any) -> Any:
        return np.concatenate(
            [np.ravel(x @ x.transpose(0, 2, 1)), np.ravel(x @ a[0].T), x.sum((0, 2))]
        )

    whole = ends(f, box)
    for chunk in (1, 5, 13, 37):
        monkeypatch.setattr(_walks, "CHUNK", chunk)
        assert ends(f, box) == whole


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x[0] < 0.5,
        lambda x: x[0] <= x[1],  # they touch
        lambda x: x[0] >= 0.0,
        lambda x: np.sort(x),
        lambda x: np.max(x),
        lambda x: x[0] == 1.0,
        lambda x: bool(x[0]),
        lambda x: int(x[0]),
        lambda x: np.max(x[:2] - [0.0, 0.5]),
        lambda x: np.argmin(-x[0] * x),
        lambda x: np.sort(x * [3.0, 1.0, 1.0]),
        lambda x: np.median(x * [3.0, 1.0, 1.0]),
        lambda x: np.where(x > 2.5, x, 0.0),
        lambda x: np.digitize(x, [0.5, 1.5]),
        lambda x: np.interp(x[0], [0.0, 0.5, 1.0], [0.0, 1.0, 0.0]),
        lambda x: np.isclose(x[0], 0.5),
        lambda x: [k for k in range(3) if x[k] > 1.5],
    ],
)
def test_undecided(ask: Any) -> None:
    with pytest.raises(UndecidedError, match="Split the box"):
        dc.tape_function(lambda x: (ask(x), x)[1], BOX)


APART = dc.Interval([0.125, 1.25, 2.5], [1.0, 2.0, 3.0])


def test_decided() -> None:
    def program(x: Any) -> Any:
        assert x[0] < 1.5
        assert x[0] <= x[1]
        assert not x[2] < x[1]
        assert x[0] == x[0]
        assert not np.not_equal(x[0], x[0])
        assert x[2] != 0
        assert x[0] >= 0
        assert not x[0] < 0
        assert (x <= [1.5, 2.5, 3.5]).tolist() == [True] * 3
        assert int(x[0] * 0.25 + 3.5) == 3
        assert bool(x[1])
        assert 9.0 not in x
        assert np.argmax(x) == 2
        assert np.argsort(-x).tolist() == [2, 1, 0]
        assert np.digitize(x[::2], [-1.0, 1.5, 5.0]).tolist() == [1, 2]
        assert np.isfinite(x).all()
        assert not np.isnan(x).any()
        assert np.nonzero(x[1:])[0].tolist() == [0, 1]
        y = x[::-1]
        return [np.max(x), np.min(y), np.median(x), np.ptp(x), np.sort(y)[1]]

    lo, hi = ends(program, APART)
    assert (lo, hi) == ([2.5, 0.125, 1.25, 1.5, 1.25], [3.0, 1.0, 2.0, 2.875, 2.0])


def test_an_undecided_branch_is_reported_where_it_is() -> None:
    with pytest.raises(UndecidedError, match=r"\[0.0, 1.0\] > \[0.5, 0.5\]"):
        dc.tape_function(lambda x: x[1] if x[0] > 0.5 else x[2], BOX)
    with pytest.raises(
        UndecidedError, match=r"entry \[1\].*\[1.0, 2.0\] < \[1.5, 1.5\]"
    ):
        dc.tape_function(lambda x: np.where(x < [1.1, 1.5, 9.0], x, 0.0) + x, BOX)


def test_what_looks_at_values_is_refused_by_name() -> None:
    for ask, name in (
        (np.unique, "numpy.unique"),
        (lambda x: np.linalg.inv(np.outer(x, x)), "numpy.linalg.inv"),
        (lambda x: dnp.arange(x[0]), "numpy.arange"),
        (lambda x: np.linalg.norm(x, 0), "numpy.linalg.norm"),
    ):
        with pytest.raises(UnsupportedOperationError, match=name):
            dc.tape_function(lambda x, ask=ask: (ask(x), x)[1], BOX)  # type: ignore[misc]


def test_faults_count_where_an_output_depends_on_them() -> None:
    guarded, _ = dc.tape_function(lambda x: (np.log(-x[1]), x[0])[1], BOX)
    assert guarded.enclosures.marks(guarded.blocks[1]).tolist() == [False, True]
    with pytest.raises(DomainError, match=r"log\(\[-2.0, -1.0\]\)"):
        dc.tape_function(lambda x: np.log(-x[1]) + x[0], BOX)
    with pytest.raises(DomainError, match="multiply"):
        dc.tape_function(lambda x: x * np.nan, BOX)
    with pytest.raises(DomainError):
        dc.tape_function(lambda x: np.sum(np.stack([x[0], np.inf])), BOX)
    tape, out = dc.tape_function(lambda x: np.abs(x[0] - 0.5) + np.abs(x[1] - 0.5), BOX)
    marks = tape.enclosures.marks(tape.block_of(out))
    assert np.flatnonzero(marks).tolist() == [1]
    assert tape.vals[out].lo == 0.5


def test_values_and_texts_are_enclosures() -> None:
    def program(x: Any) -> Any:
        v = dc.value(x[1:])
        assert isinstance(v, dc.Interval)
        assert v.hi.tolist() == [2.0, 3.0]
        assert dc.value(x[0]).lo == 0.0
        assert dc.value({"a": x[0] * 2})["a"].hi == 2.0
        assert "[0.0, 1.0]" in repr(x[0])
        assert "Interval" in repr(x)
        assert f"{x[1]:.2f}" == "[1.00, 2.00]"
        assert "nan" not in f"{x} {x[0]}"
        return dc.stop_gradient(x[0]) + x[0]

    assert ends(program, BOX) == (0.0, 2.0)


def test_explicit_nodes_hold_over_the_box() -> None:
    def cube(x: Any) -> Any:
        v = dc.value(x)
        return unarynode(x, v**3, 3 * v**2, 6 * v)

    tape, out = dc.tape_function(lambda x: cube(x[1]), BOX)
    assert (tape.vals[out].lo, tape.vals[out].hi) == (1.0, 8.0)
    assert (tape.ds[out].lo.item(), tape.ds[out].hi.item()) == (3.0, 12.0)
    assert (tape.Cs[out].c.lo, tape.Cs[out].c.hi) == (6.0, 12.0)
    with pytest.raises(InputTypeError, match="as numbers"):
        dc.tape_function(lambda x: unarynode(x[0], 1.0, 3.0, 6.0), BOX)
    point = dc.Interval([2.0, 0.0], [2.0, 1.0])
    assert ends(lambda x: unarynode(x[0], 8.0, 12.0, 12.0) + x[1], point) == (8.0, 9.0)

    def constant(x: Any) -> Any:
        tape, k = noderef(x[0])
        c = constantnode(tape, dc.Interval(2.0, 3.0))
        twice = pushnode(tape, dc.value(x[0]) * 2, [k], [2.0], NoCurvature())
        return c * twice

    assert ends(constant, BOX) == (0.0, 6.0)


def test_views_give_intervals() -> None:
    tape, out = dc.tape_function(lambda x: x[0] * x[1] + np.sum(x) / 4.0, BOX)
    product = next(k for k in range(tape.nnodes) if len(tape.parents[k]) == 2)
    assert tape.ds[product].lo.tolist() == [1.0, 0.0]
    assert tape.Cs[product].c12.hi == 1.0
    assert tape.ds[out].lo.tolist() == [1.0, 1.0]


def test_rewritten_code_and_smooth_maxima() -> None:
    def program(x: Any) -> Any:
        if math.isnan(x[0]):
            return x[0]
        return math.exp(x[0]) + math.hypot(x[0], x[1], x[2])

    lo, hi = ends(program, BOX, numpy="rewrite")
    assert lo <= 1 + 5**0.5 <= np.e + 14**0.5 <= hi
    lo, hi = ends(lambda x: dnp.logsumexp(300.0 * x), BOX)
    exact = [np.logaddexp.reduce(300.0 * e) for e in (BOX.lo, BOX.hi)]
    assert lo <= exact[0] * (1 + 1e-12)
    assert exact[1] * (1 - 1e-12) <= hi < np.inf


def test_scalar_and_array_programs_agree() -> None:
    def loop(x: Any) -> Any:
        y = x[0]
        for k in range(9):
            y = y * x[1] / 2 - (x[2] / (1 + x[0])) ** 2 + y * y / (k + 4)
        return y

    x = np.array([0.2, 0.5, 0.7])
    box = dc.Interval(x, x)
    lo, hi = ends(loop, box)
    exact = float(loop([Fraction(e) for e in x]))
    assert lo - 1e-16 <= exact <= hi + 1e-16
    assert hi - lo < 1e-13
    low, high = ends(lambda x: loop(x[:, None]), box)
    assert abs(low[0] - lo) < 1e-13
    assert abs(high[0] - hi) < 1e-13


def test_submaps_hold_over_the_box() -> None:
    y = dc.Interval([1.0], [5.0])
    J = dc.Interval([[1.0, 0.0]], [[2.0, 1.0]])
    tape, out = dc.tape_function(
        lambda x: dc.submapnode(x[:2], y, J, [[1.0, 1.0]])[0] * x[2], BOX
    )
    assert (tape.vals[out].lo, tape.vals[out].hi) == (2.0, 15.0)
    assert tape.ds[3].hi.tolist() == [2.0, 1.0]
    for bad in (([1.0], J), (y, [[1.0, 0.0]])):
        with pytest.raises(InputTypeError, match="Interval"):
            dc.tape_function(lambda x, bad=bad: dc.submapnode(x[:2], *bad), BOX)  # type: ignore[misc]


def test_a_list_of_intervals_is_one_interval_first():
    ends = [dc.Interval(0, 1), 2.0]
    with pytest.raises(InputTypeError, match=r"one Interval .* Interval\(x0\)"):
        dc.gradient(lambda x: x[0] * x[1], ends)
    found = dc.gradient(lambda x: x[0] * x[1], dc.Interval(ends))
    assert (found.lo.tolist(), found.hi.tolist()) == ([2, 0], [2, 1])
