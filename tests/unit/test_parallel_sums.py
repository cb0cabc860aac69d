"""Sums over shards: what they are equal to, on any executor, and how they fail."""

from __future__ import annotations

import functools
import sys
import tracemalloc
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from threading import Event
from typing import NamedTuple

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import parallel
from derivative_covers.errors import (
    ConstantProgramError,
    DerivativeError,
    DomainError,
    InputTypeError,
    OptionError,
    ShapeError,
    StorageError,
    WorkerError,
)
from derivative_covers.parallel import _sums
from derivative_covers.parallel._tree import Tree
from tests.unit import _parallel_programs as programs

POINT = np.array([190.0, 0.07])
SHARDS = programs.data()


def whole(p):
    """The same residuals in one program."""
    return np.concatenate([programs.rate(p, shard) for shard in SHARDS])


def bits(found):
    fields = ("value", "gradient", "h", "h_gn", "h_curv", "bound")
    return [np.asarray(getattr(found, f, None)).tobytes() for f in fields]


class Point(NamedTuple):
    a: float
    b: np.ndarray


class Backwards(Executor):
    """Keeps the protocol, and nothing more: runs the last call first, when asked."""

    def __init__(self):
        self.calls = []
        self.most = 0

    def submit(self, fn, /, *args, **kwargs):
        executor = self

        class Late(Future):
            def result(self, timeout=None):
                executor.run()
                return super().result(timeout)

        found = Late()
        self.calls.append((found, fn, args, kwargs))
        self.most = max(self.most, len(self.calls))
        if len(self.calls) == 3:
            self.run()
        return found

    def run(self):
        while self.calls:
            found, fn, args, kwargs = self.calls.pop()
            found.set_running_or_notify_cancel()
            found.set_result(fn(*args, **kwargs))


def test_a_sum_is_that_of_one_program_and_its_cover_lies_between():
    def f(p):
        return np.sum(whole(p) ** 2)

    H = dc.hessian(f, POINT)
    one = dc.cover_hessian(f, POINT)
    by = {
        across: parallel.cover_sum(
            programs.squares, POINT, data=SHARDS, across=across, hessian_bound=True
        )
        for across in ("sum", "quadrature")
    }
    for found in by.values():
        np.testing.assert_allclose(found.value, f(POINT), rtol=1e-13)
        np.testing.assert_allclose(found.gradient, dc.gradient(f, POINT), rtol=1e-10)
        assert dc.iscover(found, H)
        assert (found.bound >= np.abs(H) * (1 - 1e-12)).all()
        assert found.shards == len(SHARDS)
    assert (by["quadrature"].h < by["sum"].h).all()
    np.testing.assert_allclose(by["sum"].h, one.h, rtol=1e-12)
    # With quadrature inside and across, shards lose nothing.
    found = parallel.cover_sum(programs.squares, POINT, data=SHARDS, merge="quadrature")
    least = dc.cover_hessian(f, POINT, merge="quadrature")
    np.testing.assert_allclose(found.h, least.h, rtol=1e-10)
    assert "shards=7" in repr(found)


def test_least_squares_are_those_of_all_residuals():
    found = parallel.cover_nls(programs.rate, POINT, data=iter(SHARDS), progress=True)
    one = dc.cover_nls(whole, POINT, ngroups=None)
    for name in ("value", "gradient", "h", "h_gn", "h_curv"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(one, name), rtol=1e-9, err_msg=name
        )
    J = dc.jacobian(whole, POINT)
    np.testing.assert_allclose(found.h_gn, np.sqrt(np.sum(J**2, axis=0)), rtol=1e-12)


def test_bits_are_the_same_on_every_executor():
    def run(executor):
        return (
            parallel.cover_sum(programs.Sum(), POINT, data=numbered, executor=executor),
            parallel.cover_nls(programs.rate, POINT, data=SHARDS, executor=executor),
        )

    numbered = [(k, *shard) for k, shard in enumerate(SHARDS)]
    slow = functools.partial(
        parallel.cover_sum, programs.Sum(programs.sleeps), POINT, data=numbered
    )
    here = [bits(found) for found in run(None)]
    backwards = Backwards()
    assert [bits(found) for found in run(backwards)] == here
    assert backwards.most == 3
    with ThreadPoolExecutor(3) as pool:
        assert [bits(found) for found in run(pool)] == here
        assert bits(slow(executor=pool)) == here[0]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert [bits(found) for found in run(pool)] == here
        with pytest.raises(InputTypeError, match="top level of a module"):
            parallel.cover_sum(lambda p, s: p, POINT, data=SHARDS, executor=pool)
        dies = programs.Sum(programs.dies_at_three)
        with pytest.raises(WorkerError, match="make a new one"):
            parallel.cover_sum(dies, POINT, data=numbered, executor=pool)
        with pytest.raises(WorkerError, match="make a new one"):
            run(pool)


@pytest.mark.parametrize("threads", [False, True])
def test_an_error_names_its_shard(threads):
    numbered = [(k, *shard) for k, shard in enumerate(SHARDS)]
    bad = [*numbered[:2], (2, SHARDS[2][0], np.full(9, np.nan)), *numbered[3:]]
    with ThreadPoolExecutor(2) as pool:
        executor = pool if threads else None
        f = programs.Sum(programs.fails_at_three)
        with pytest.raises(WorkerError, match="shard 3 raised ValueError: three") as e:
            parallel.cover_sum(f, POINT, data=numbered, executor=executor)
        assert e.value.shard == 3
        assert "shape (9,)" in e.value.input
        assert isinstance(e.value.__cause__, ValueError)
        assert "fails_at_three" in "".join(e.value.__cause__.__notes__)
        with pytest.raises(WorkerError, match="9 entries not finite") as e:
            parallel.cover_sum(programs.Sum(), POINT, data=bad, executor=executor)
        assert e.value.shard == 2
        assert isinstance(e.value.__cause__, DomainError)


def test_a_cancelled_run_leaves_nothing_pending():
    begun, go_on = [], Event()

    def f(p, k):
        begun.append(k)
        go_on.wait(10)
        return p[0] ** 2

    def shards():
        yield from range(3)
        raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(KeyboardInterrupt):
            parallel.cover_sum(f, POINT, data=shards(), executor=pool)
        go_on.set()
    assert begun in ([], [0])


def test_a_sum_goes_on_where_it_was_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(_sums, "EVERY", 0.0)
    monkeypatch.setattr(_sums, "SHARE", 0)
    numbered = [(k, *shard) for k, shard in enumerate(SHARDS)]
    seen, killed, other = [], [5], []

    def f(p, shard):
        k, *shard = shard
        seen.append(k)
        if k in killed:
            raise KeyboardInterrupt
        if k in other:
            return p.a**2
        return programs.squares((p.a, p.b[0]), shard) + abs(p.a - 190)  # on the kink

    def run(b=0.07, **options):
        given = {"data": numbered, "kinks": "branch", "hessian_bound": True, **options}
        return parallel.cover_sum(f, Point(190.0, np.array([b])), **given)

    folder = tmp_path / "sum"
    with pytest.raises(KeyboardInterrupt):
        run(folder=folder)
    killed.clear()
    for options, text in (
        ({"b": 0.08}, "differs in its point"),
        ({"merge": "quadrature"}, "differs in its options"),
        ({"data": numbered[:-1]}, "differs in its number of shards"),
        ({"data": numbered[::-1]}, "shard 0 gives"),
    ):
        with pytest.raises(StorageError, match=text):
            run(folder=folder, **options)
    other.append(4)
    with pytest.raises(StorageError, match="another function: shard 4 gives"):
        run(folder=folder)
    other.clear()

    whole = run()
    assert len(whole.kinks) == 7
    for again in ([0, 4, 5, 6], [0, 6]):
        seen.clear()
        found = run(folder=folder)
        assert seen == again
        assert found.kinks == whole.kinks
        for name in ("value", "gradient", "h", "bound"):
            assert repr(getattr(found, name)) == repr(getattr(whole, name)), name
        assert found.value == whole.value
        np.testing.assert_array_equal(np.asarray(found), np.asarray(whole))


def test_a_sum_over_a_box_is_kept_and_exact_numbers_are_not(tmp_path):
    box = dc.Interval([189.0, 0.07], [190.0, 0.08])
    whole = parallel.cover_nls(programs.rate, box, data=SHARDS)
    run = functools.partial(parallel.cover_nls, programs.rate, box)
    with pytest.raises(WorkerError, match="shard 3 raised"):
        run(data=iter([*SHARDS[:3], "no shard"]), folder=tmp_path)
    with pytest.raises(StorageError, match="sum of 3 shards, and there are fewer"):
        run(data=iter(SHARDS[:2]), folder=tmp_path)
    found = run(data=iter(SHARDS), folder=tmp_path)
    for name in ("value", "gradient"):
        a, b = getattr(found, name), getattr(whole, name)
        assert (a.lo == b.lo).all()
        assert (a.hi == b.hi).all()
    for name in ("h", "h_gn", "h_curv"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    with pytest.raises(StorageError, match="point holds"):
        parallel.cover_sum(
            [lambda x: x**2], Fraction(1, 3), folder=tmp_path / "fractions"
        )


def test_the_tree_is_fixed_and_small():
    tree = Tree(lambda a, b: f"({a}{b})")
    held = 0
    for k in "abcdefg":
        tree.add(k)
        held = max(held, len(tree._whole))
    assert tree.total() == "(((ab)(cd))((ef)g))"
    assert held == 3
    assert Tree(max).total() is None


def test_memory_here_does_not_grow_with_the_data():
    def shards():
        for k in range(40):
            yield np.full(50_000, 1.0 + k)

    def f(p, shard):
        return np.sum(shard) * p[0] ** 2

    parallel.cover_sum(f, [1.0], data=shards())
    tracemalloc.start()
    parallel.cover_sum(f, [1.0], data=shards())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6  # of 16e6 in all


def test_boxes_structures_and_branches():
    box = dc.Interval([1.0, 0.1], [1.1, 0.2])
    found = parallel.cover_sum(programs.squares, box, data=SHARDS)
    H = dc.hessian(lambda p: np.sum(whole(p) ** 2), [1.05, 0.15])
    assert (np.outer(found.h, found.h) >= np.abs(H)).all()
    assert dc.gradient(lambda p: np.sum(whole(p) ** 2), [1.05, 0.15]) in found.gradient

    def f(p, shard, power):
        return np.sum(abs(p["a"] - shard) ** power) + p["b"][0]

    point = {"a": 1.0, "b": [2.0]}
    shards = [np.array([1.0, 2.0]), np.array([0.5])]
    found = parallel.cover_sum(f, point, data=shards, kinks="branch", args=(2.0,))
    assert found.gradient["a"] == -1.0  # from 2 and from 0.5
    assert found.gradient["b"].shape == (1,)
    assert len(found.kinks) == 1
    two = parallel.cover_sum(lambda x, y, s: x * y * s, (2.0, 3.0), data=[1.0, 4.0])
    assert two.gradient == (15.0, 10.0)


def test_shards_without_observations_count_by_their_value():
    empty = (np.empty(0), np.empty(0))
    data = [empty, *SHARDS, empty]
    found = parallel.cover_nls(programs.rate, POINT, data=data)
    assert found.value == pytest.approx(np.sum(whole(POINT) ** 2) / 2)
    found = parallel.cover_sum(programs.squares, POINT, data=data)
    assert found.value == pytest.approx(np.sum(whole(POINT) ** 2))
    with pytest.raises(ConstantProgramError, match="all are empty"):
        parallel.cover_nls(programs.rate, POINT, data=[empty, empty])
    with pytest.raises(WorkerError) as e:  # it lost its dependence
        parallel.cover_sum(lambda p, s: float(s), POINT, data=[1.0])
    assert isinstance(e.value.__cause__, ConstantProgramError)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"data": None}, InputTypeError, "needs data"),
        ({"data": []}, ShapeError, "no shards"),
        ({"data": np.ones((2, 2))}, InputTypeError, "array_split"),
        ({"data": 3}, InputTypeError, "list of shards"),
        ({"executor": 3}, InputTypeError, "executor is 3"),
        ({"executor": ThreadPoolExecutor}, InputTypeError, "executor of"),
        ({"merge": "best"}, OptionError, "'hybrid'"),
        ({"merge": "hybrid"}, OptionError, "number of groups"),
        ({"across": "max"}, OptionError, "'quadrature' or 'sum'"),
        ({"ngroups": 0, "merge": "hybrid"}, OptionError, "at least 1"),
        ({"kinks": "ignore"}, OptionError, "kinks"),
        ({"parts": [3], "data": None}, InputTypeError, "part 0"),
        ({"parts": [abs]}, OptionError, "not with several"),
    ],
)
def test_wrong_arguments(arguments, error, text):
    given = {"parts": programs.squares, "x": POINT, "data": SHARDS, **arguments}
    with pytest.raises(error, match=text):
        parallel.cover_sum(**given)


def test_an_overflow_of_the_sum_is_no_infinity():
    with pytest.raises(DomainError, match="overflows"):
        parallel.cover_sum([lambda x: 6e307 * x**2] * 2, 1.0)


def test_what_cannot_be_sent_is_named(monkeypatch):
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__(a)

    def f(x, shard):
        raise Odd(1, 2)

    with pytest.raises(WorkerError, match="Odd: 1") as e:
        parallel.cover_sum(f, 1.0, data=[1])
    assert isinstance(e.value.__cause__, RuntimeError)
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(DerivativeError, match="progress"):
        parallel.cover_sum(f, 1.0, data=[1], progress=True)


def test_errors_tell_a_list_of_one_part_from_the_part_and_hide_fingerprints(tmp_path):
    def f(x, shard):
        a, b = shard
        return x * a * b

    with pytest.raises(WorkerError) as e:
        parallel.cover_sum(f, 1.0, data=[[(1.0, "one")]])
    assert str(e.value).endswith("Its input: [(1.0, 'one')]")
    shards = [(1.0, 2.0)] * 3
    parallel.cover_sum(f, 1.0, data=iter(shards), folder=tmp_path)
    with pytest.raises(StorageError, match=r"its point\. Call"):
        parallel.cover_sum(f, 2.0, data=iter(shards), folder=tmp_path)
    with pytest.raises(StorageError, match=r"unknown \(an iterator\) there and 3 here"):
        parallel.cover_sum(f, 1.0, data=shards, folder=tmp_path)
