"""Many points and many boxes: bits, batches, files and errors."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import bounds, parallel
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    OptionError,
    ShapeError,
    StorageError,
    WorkerError,
)
from derivative_covers.parallel import _maps, _points, _store
from tests.unit import _parallel_programs as programs

X = np.random.default_rng(2).uniform(-1.0, 1.01, (700, 4))


@pytest.fixture(autouse=True)
def small_cells(monkeypatch):
    """Several cells and batches of few points."""
    monkeypatch.setattr(_points, "MOST", 64)
    monkeypatch.setattr(_maps, "SECONDS", 1e-4)


@pytest.fixture(scope="module")
def alone():
    """All points here, at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_points, "MOST", 64)
        return parallel.cover_map(programs.branching, X)


def same(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("value", "gradient", "h")
    )


def test_every_point_is_as_by_itself(alone):
    branches = (X[:, :-1] > 1).any(axis=1)
    assert 0 < branches.sum() < 60  # some points of some cells
    for k in (0, 1, 64, 699, *np.flatnonzero(branches)[:4]):
        one = dc.cover_hessian(programs.branching, X[k])
        np.testing.assert_allclose(alone.value[k], one.value, rtol=1e-13)
        np.testing.assert_allclose(alone.gradient[k], one.gradient, rtol=1e-11)
        np.testing.assert_allclose(alone.h[k], one.h, rtol=1e-13)
    assert repr(alone) == "PointCovers: 700 points of 4 variables"
    assert len(alone) == 700
    assert np.asarray(alone) is alone.h


def test_bits_do_not_depend_on_workers_or_batches(alone, monkeypatch):
    for seconds in (1e-4, 10.0):
        monkeypatch.setattr(_maps, "SECONDS", seconds)
        with ThreadPoolExecutor(3) as pool:
            found = parallel.cover_map(programs.branching, X, executor=pool)
        assert same(found, alone)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = parallel.cover_map(programs.branching, X, executor=pool)
    assert same(found, alone)


def test_a_map_goes_on_where_it_was_killed(alone, tmp_path, monkeypatch):
    monkeypatch.setattr(_store, "EVERY", 0.0)
    folder = tmp_path / "map"
    made = []
    real = _store.Store.keep

    def keep(self, first, last, arrays):
        made.append(last - first)
        real(self, first, last, arrays)
        if len(made) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(_store.Store, "keep", keep)
    with pytest.raises(KeyboardInterrupt):
        parallel.cover_map(programs.branching, X, folder=folder)
    files = sorted(path.name for path in folder.iterdir())
    assert files[0] == "call"
    assert len(files) == 4
    (folder / "done-999999.part").write_bytes(b"half")

    with pytest.raises(StorageError, match=r"in its points\. Call"):
        parallel.cover_map(programs.branching, X[:-1], folder=folder)
    with pytest.raises(StorageError, match="by some results"):
        # the same at the first point
        parallel.cover_map(
            lambda x: programs.branching(x) + np.sum(x - X[0]) ** 4, X, folder=folder
        )
    with pytest.raises(StorageError, match="differs in its options"):
        parallel.cover_map(programs.branching, X, folder=folder, ratio=0.5)

    found = parallel.cover_map(programs.branching, X, folder=folder)
    assert same(found, alone)
    assert sum(made) == 11  # no cell twice
    assert same(parallel.cover_map(programs.branching, X, folder=folder), alone)
    assert sum(made) == 11


def test_folders_that_are_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("something")
    with pytest.raises(StorageError, match="other files"):
        parallel.cover_map(programs.branching, X, folder=tmp_path)
    with pytest.raises(InputTypeError, match="path"):
        parallel.cover_map(programs.branching, X, folder=3)
    damaged = tmp_path / "damaged"
    store = _store.Store(damaged, {"kind": "test"})
    with pytest.raises(StorageError, match="using it"):
        _store.Store(damaged, {"kind": "test"})
    store.keep(0, 1, (np.ones(3),))
    store.close()
    path = damaged / "done-000000"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    store = _store.Store(damaged, {"kind": "test"})
    with pytest.raises(StorageError, match="digest"):
        list(store.found())
    store.close()


def test_a_folder_of_bounds_knows_its_function(tmp_path):
    lo = np.arange(10.0).reshape(5, 2)

    def run(f):
        return parallel.bound_map(f, (lo, lo + 1), folder=tmp_path)

    def g(x):
        return x[0] ** 2 * x[1]

    found = run(g)
    np.testing.assert_array_equal(run(g), found)

    # All have the same bounds over all boxes; the last one differs over the last alone.
    for other in (
        lambda x: g(x) + 1.0,
        lambda x: x[0] ** 2 * x[1] - 3 * x[1],
        lambda x: g(x) if x[0] < 7 else g(x) + x[0],
    ):
        with pytest.raises(
            StorageError, match="differs in its function, over some boxes"
        ):
            run(other)


def test_an_error_names_its_point(tmp_path):
    bad = X.copy()
    bad[333] = np.nan
    with pytest.raises(WorkerError, match=r"point 333 raised DomainError") as e:
        parallel.cover_map(programs.branching, bad)
    assert e.value.shard == 333
    assert isinstance(e.value.__cause__, DomainError)
    with pytest.raises(WorkerError, match="point 0 raised DomainError"):
        parallel.cover_map(lambda x: np.log(x[0] - 5), X, folder=tmp_path)

    def odd(x):
        if float(dc.value(x[0])) == X[300, 0]:
            msg = "this one"
            raise KeyError(msg)
        return x[1] ** 2

    with pytest.raises(WorkerError, match="point 300 raised KeyError"):
        parallel.cover_map(odd, X, progress=True)


def test_what_cannot_be_replayed_is_recorded_at_each_point():
    def scaled(x):  # reads a number that a replay would not
        return x[0] ** 2 * (1 + float(dc.value(x[1])) ** 2)

    few = X[:9]
    found = parallel.cover_map(scaled, few)
    np.testing.assert_allclose(found.value, few[:, 0] ** 2 * (1 + few[:, 1] ** 2))
    found = parallel.cover_map(programs.branching, few, merge="quadrature")
    for k in range(9):
        one = dc.cover_hessian(programs.branching, few[k], merge="quadrature")
        np.testing.assert_array_equal(found.h[k], one.h)


def test_structures_boxes_and_bounds():
    def f(p):
        return p["a"] ** 2 * p["b"][0] + p["b"][1]

    like = {"a": 0.0, "b": [0.0, 0.0]}
    found = parallel.cover_map(f, X[:5, :3], like=like)
    np.testing.assert_allclose(found.gradient[:, 0], 2 * X[:5, 0] * X[:5, 1])
    lo, hi = X[:5, :2], X[:5, :2] + 0.1

    def g(x):
        return x[0] ** 2 * x[1]

    over = parallel.cover_map(g, dc.Interval(lo, hi))
    assert (lo[:, 0] ** 2 * lo[:, 1]) in over.value
    assert "5 boxes" in repr(over)
    with ThreadPoolExecutor(2) as pool:
        B = parallel.bound_map(g, (lo, hi), executor=pool, max_boxes=2)
    for k in range(5):
        one = bounds.hessian_bound(g, (lo[k], hi[k]), max_boxes=2)
        np.testing.assert_array_equal(B[k], one)
    np.testing.assert_array_equal(
        parallel.bound_map(g, [(lo[0], hi[0])])[0] * 0, 0 * B[0]
    )
    with pytest.raises(WorkerError, match="box 1 raised") as e:
        parallel.bound_map(lambda x: np.log(x[0]), [[(1, 2)], [(-1, 1)]])
    assert e.value.shard == 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: parallel.cover_map(programs.branching, np.empty((0, 4))), ShapeError),
        (lambda: parallel.cover_map(programs.branching, 3.0), ShapeError),
        (lambda: parallel.cover_map(abs, X, like=(1.0, 2.0)), ShapeError),
        (lambda: parallel.cover_map("f", X), InputTypeError),
        (lambda: parallel.cover_map(abs, X, executor="threads"), InputTypeError),
        (lambda: parallel.cover_map(abs, ["a"]), InputTypeError),
        (lambda: parallel.cover_map(abs, X, merge="hybrid"), OptionError),
        (lambda: parallel.cover_map(abs, X, budget=3), OptionError),
        (lambda: parallel.cover_map(abs, X, ratio=1.0), OptionError),
        (lambda: parallel.bound_map(abs, []), ShapeError),
        (lambda: parallel.bound_map(abs, [[(0, 1)], [(0, 1)] * 2]), ShapeError),
        (lambda: parallel.bound_map(abs, "boxes"), InputTypeError),
        (lambda: parallel.bound_map(abs, [[(2, 1)]]), OptionError),
        (lambda: parallel.bound_map(abs, [[(0, 1)]], method="best"), OptionError),
        (lambda: parallel.bound_map(abs, [[(0, 1)]], max_boxes=0), OptionError),
    ],
)
def test_wrong_arguments(call, error):
    with pytest.raises(error):
        call()
