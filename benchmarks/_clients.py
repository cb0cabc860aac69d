"""Least squares in shards as the client sees them: whole programs, for processes of their own."""

from __future__ import annotations

import logging
import os
import sys
import time

import dask
import distributed

from derivative_covers import parallel

from . import _kinetics


def peak_mebibytes() -> float:
    """The most memory that this process has had."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def serial(shards: int, size: int) -> None:
    """Prints the bits of a run in this process."""
    data = (_kinetics.measured(seed, size) for seed in range(shards))
    sys.stdout.write(
        _kinetics.digest(
            parallel.cover_nls(_kinetics.residuals, _kinetics.POINT, data=data)
        )
    )


def on_dask(shards: int, size: int, flag: str) -> None:
    """Prints bits, seconds and memory of a client with two workers, one of them killed."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warm = [dask.delayed(_kinetics.measured)(k, 1000) for k in range(4)]
        parallel.cover_nls(
            _kinetics.residuals, _kinetics.POINT, data=warm, executor=client
        )
        before = {w["pid"] for w in client.run(_who).values()}
        make = dask.delayed(_kinetics.fatal)
        data = [make(seed, size, shards // 2, flag) for seed in range(shards)]
        start = time.perf_counter()
        found = parallel.cover_nls(
            _kinetics.residuals, _kinetics.POINT, data=data, executor=client
        )
        seconds = time.perf_counter() - start
        killed = len(before - {w["pid"] for w in client.run(_who).values()})
        sys.stdout.write(
            f"{_kinetics.digest(found)} {seconds} {peak_mebibytes()} {killed}"
        )


def _who() -> dict[str, int]:
    return {"pid": os.getpid()}
