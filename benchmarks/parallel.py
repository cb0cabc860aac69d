"""Sums over shards with two workers of Dask, and many points on executors of two workers."""

from __future__ import annotations

import logging
import pickle
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from derivative_covers import parallel
from derivative_covers.parallel._dask import BUNDLE
from derivative_covers.parallel._engines import engine
from derivative_covers.parallel._executors import results
from derivative_covers.parallel._nls import _Residuals

from . import _children, _kinetics, _peers, _timing
from ._report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "parallel"
SHARDS = 50
MEMORY, EFFICIENCY, OVERHEAD = 200.0, 0.8, 5.0


def rows(*, quick: bool) -> Iterator[Row]:
    """Targets belong to the full sizes."""
    dask = _peers.module("distributed")
    if dask is None:
        yield Row(ITEM, "Dask", None, "", note="distributed not installed")
    else:
        yield from _shards(quick)
    yield from _points(quick, dask)


def _shards(quick: bool) -> Iterator[Row]:
    size = 10_000 if quick else 1_000_000
    n = SHARDS * size
    bits, seconds, memory, killed = _with_dask(SHARDS, size)
    yield Row(
        ITEM,
        "cover_nls, two workers, one killed: peak of client and scheduler",
        float(memory),
        "MiB",
        target=None if quick else MEMORY * 1e6 / 2**20,
        n=n,
        note=f"{float(seconds):.1f} s, {killed} worker killed",
    )
    few = SHARDS // 10
    bits, *_, killed = _with_dask(few, size)
    code = f"from benchmarks._clients import serial; serial({few}, {size})"
    alone = _children.output(code, timeout=1800)
    yield Row(
        ITEM,
        "cover_nls, a tenth: bits that differ from those of one process",
        float(bits != alone),
        "",
        target=0.0,
        n=few * size,
        note=f"{killed} worker killed",
    )
    task = _Residuals(_kinetics.residuals, _kinetics.POINT, {"ngroups": None}, {})
    shard = _kinetics.measured(0, size)
    task(shard)
    start = _timing.CLOCK()
    terms = task(shard)
    yield Row(
        ITEM,
        "cover_nls: nanoseconds an observation, one core",
        (_timing.CLOCK() - start) / size * 1e9,
        "ns",
        n=size,
    )
    yield Row(ITEM, "cover_nls: bytes back from a shard", len(pickle.dumps(terms)), "B")


def _with_dask(shards: int, size: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        code = (
            "from benchmarks._clients import on_dask\n"
            f"if __name__ == '__main__': on_dask({shards}, {size}, {folder + '/flag'!r})"
        )
        return _children.output(code, timeout=3600).split()


def _points(quick: bool, dask: Any) -> Iterator[Row]:
    count = 2_000 if quick else 100_000
    X = np.random.default_rng(0).uniform(0.5, 1.5, (count, 4))
    rounds = 1 if quick else 3
    with ExitStack() as stack:
        one = stack.enter_context(ThreadPoolExecutor(1))
        pools: dict[str, Any] = {
            "threads": stack.enter_context(ThreadPoolExecutor(2)),
            "processes": stack.enter_context(ProcessPoolExecutor(2)),
        }
        if dask is not None:
            pools["Dask"] = stack.enter_context(_client(dask))
        for pool in (one, *pools.values()):
            parallel.cover_map(_kinetics.predators, X[:2000], executor=pool)
        seconds: dict[str, list[float]] = {name: [] for name in ("one", *pools)}
        for _ in range(rounds):
            for name, pool in (("one", one), *pools.items()):
                start = time.perf_counter()
                parallel.cover_map(_kinetics.predators, X, executor=pool)
                seconds[name].append(time.perf_counter() - start)
        for name in pools:
            ratios = np.array(seconds["one"]) / np.array(seconds[name]) / 2
            yield Row(
                ITEM,
                f"cover_map, two {name}: efficiency",
                float(np.median(ratios)),
                "",
                target=None if quick else EFFICIENCY,
                at_least=True,
                n=count,
                note=f"one {min(seconds['one']):.2f} s, two {min(seconds[name]):.2f} s",
            )
        for name, pool in pools.items():
            yield _overhead(f"a batch on two {name}", pool, 1, quick)
        if dask is not None:
            what = "a short shard on two Dask, several a call"
            yield _overhead(what, pools["Dask"], BUNDLE, quick)


@contextmanager
def _client(dask: Any) -> Iterator[Any]:
    with (
        dask.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        dask.Client(cluster) as client,
    ):
        yield client


def _overhead(name: str, pool: Any, bundle: int, quick: bool) -> Row:
    """Time of an item that does nothing, up to ``bundle`` of which share a call."""
    batches = 100 if quick else 500
    on = engine(pool)
    on.bundle = bundle
    for _ in results(_nothing, range(20), on):
        pass
    before, start = time.process_time(), time.perf_counter()
    for _ in results(_nothing, range(batches), on):
        pass
    found = (time.perf_counter() - start) / batches * 1e3
    busy = (time.process_time() - before) / batches * 1e3
    return Row(
        ITEM,
        f"{name}: overhead",
        found,
        "ms",
        target=None if quick else OVERHEAD,
        n=batches,
        note=f"{busy:.2f} ms of processor time in this process",
    )


def _nothing(item: Any) -> None:
    return None
