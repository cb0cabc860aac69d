"""Sums and maps on a cluster of Dask."""

from __future__ import annotations

import logging
import os
import threading

import numpy as np
import pytest

from derivative_covers import parallel
from derivative_covers.errors import (
    InputTypeError,
    OptionError,
    ShapeError,
    WorkerError,
)
from derivative_covers.parallel import _dask, _executors
from derivative_covers.parallel._engines import engine
from derivative_covers.parallel._executors import results
from tests.unit import _parallel_programs as programs

pytestmark = [
    pytest.mark.optional("dask"),
    pytest.mark.optional("distributed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

POINT = np.array([190.0, 0.07])
SHARDS = programs.data()


@pytest.fixture(scope="module")
def client():
    import distributed  # noqa: PLC0415 - takes a second

    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )
    with cluster, distributed.Client(cluster) as found:
        yield found


def of_list(p, shards):
    return np.concatenate([programs.rate(p, shard) for shard in shards])


def get_worker():
    import distributed  # noqa: PLC0415

    return distributed.get_worker()


def bits(found):
    return [np.asarray(part).tobytes() for part in (found.value, found.gradient)] + [
        np.asarray(getattr(found, name, 0)).tobytes() for name in ("h", "h_gn")
    ]


def test_partitions_stay_on_the_workers_and_bits_are_the_same(client):
    import dask  # noqa: PLC0415
    import dask.array  # noqa: PLC0415
    import dask.bag  # noqa: PLC0415

    alone = parallel.cover_nls(of_list, POINT, data=[[s] for s in SHARDS])
    bag = dask.bag.from_sequence(range(7), npartitions=7).map(lambda k: SHARDS[k])
    found = parallel.cover_nls(of_list, POINT, data=bag, executor=client)
    assert bits(found) == bits(alone)
    delayed = [dask.delayed(lambda k: [SHARDS[k]])(k) for k in range(7)]
    for data in (delayed, client.map(lambda k: [SHARDS[k]], range(7))):
        found = parallel.cover_nls(of_list, POINT, data=data, executor=client)
        assert bits(found) == bits(alone)

    pairs = [tuple(map(dask.delayed(np.asarray), shard)) for shard in SHARDS]
    for executor in (client, None):
        found = parallel.cover_nls(programs.rate, POINT, data=pairs, executor=executor)
        assert bits(found) == bits(alone)

    rows = np.arange(24.0).reshape(12, 2)

    def f(x, block):
        return np.sum((block @ x) ** 2)

    whole = dask.array.from_array(rows, chunks=(5, 2))
    found = parallel.cover_sum(f, [1.0, 2.0], data=whole, executor=client)
    assert found.shards == 3
    assert found.value == np.sum((rows @ [1.0, 2.0]) ** 2)
    with pytest.raises(ShapeError, match="rechunk"):
        parallel.cover_sum(f, POINT, data=whole.rechunk((5, 1)), executor=client)


def test_maps_and_any_function(client):
    X = np.random.default_rng(2).uniform(-1.0, 1.01, (500, 4))

    def f(x):
        return programs.branching(x)

    found = parallel.cover_map(f, X, executor=client)
    alone = parallel.cover_map(f, X)
    for name in ("value", "gradient", "h"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
    with pytest.raises(WorkerError, match="shard 3 raised ValueError"):
        parallel.cover_sum(
            lambda p, k: p[0] * programs.fails_at_three(k),
            POINT,
            data=range(5),
            executor=client,
        )
    lock = [threading.Lock()]
    with pytest.raises(InputTypeError, match="sent"):
        parallel.cover_sum(
            lambda p, k: p[0] * len(lock), POINT, data=[1], executor=client
        )


def test_a_killed_worker_changes_nothing(client, tmp_path, monkeypatch):
    monkeypatch.setattr(
        _executors, "SHORT", 9.0
    )  # shards share calls, on a busy machine too
    flag = str(tmp_path / "killed")

    def f(p, shard):
        k, *shard = shard
        if k == 30:
            programs.dies_once(flag)
        return programs.rate(p, shard)

    many = SHARDS * 6
    data = [(k, *shard) for k, shard in enumerate(many)]
    found = parallel.cover_nls(f, POINT, data=data, executor=client)
    assert os.path.exists(flag)
    assert bits(found) == bits(parallel.cover_nls(programs.rate, POINT, data=many))


def test_short_items_share_calls(client, monkeypatch):
    monkeypatch.setattr(_dask, "LOOK", 0.005)  # ask again and again
    monkeypatch.setattr(_executors, "SHORT", 9.0)  # on a busy machine as well

    def task(k):
        if k == 70:
            programs.fails_at_three(3)
        return k, get_worker().get_current_task()

    found = list(results(task, range(60), engine(client)))
    assert [done.index for done in found] == list(range(60))
    assert [done.result[0] for done in found] == list(range(60))
    assert len({done.result[1] for done in found}) < 40
    with pytest.raises(WorkerError, match="shard 70 raised ValueError") as e:
        list(results(task, range(99), engine(client)))
    assert (e.value.shard, e.value.input) == (70, "70")

    kept = client.map(abs, range(30))  # each where it is
    found = list(
        results(lambda _: get_worker().get_current_task(), kept, engine(client))
    )
    assert len({done.result for done in found}) == 30


def test_a_scheduler_that_is_gone():
    import distributed  # noqa: PLC0415

    cluster = distributed.LocalCluster(
        n_workers=1, processes=False, dashboard_address=":0"
    )
    client = distributed.Client(cluster)
    closed = []

    def shards():
        for k in range(100):
            if k == 2:
                cluster.close()
                closed.append(k)
            yield k

    with pytest.raises(WorkerError, match="scheduler is gone"):
        parallel.cover_sum(
            lambda p, k: p[0] ** 2, POINT, data=shards(), executor=client
        )
    assert closed
    client.close()
    with pytest.raises(WorkerError, match="Connect anew"):
        parallel.cover_sum(lambda p, k: p[0] ** 2, POINT, data=[1], executor=client)


def test_dask_data_need_dask(client):
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    import dask.bag  # noqa: PLC0415

    bag = dask.bag.from_sequence(SHARDS, npartitions=2)
    found = parallel.cover_nls(of_list, POINT, data=bag)  # on the current client
    alone = parallel.cover_nls(programs.rate, POINT, data=SHARDS)
    np.testing.assert_allclose(found.h, alone.h, rtol=1e-13)
    with pytest.raises(OptionError, match="executor is None"):
        parallel.cover_nls(of_list, POINT, data=client.map(len, [SHARDS]))
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(OptionError, match="executor=Client"),
    ):
        parallel.cover_nls(of_list, POINT, data=bag, executor=pool)
