"""Covers in JAX on whatever device JAX finds: ``python -m benchmarks.accelerator``.

The rows of item `jax` of the benchmarks, in single and in double precision, for a machine
that has an accelerator. It needs JAX and this package, no network, and under four minutes;
what is left when time runs short is left out, and that is said. Nothing is written.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace

import numpy as np

from ._report import Row, table, versions
from .jax_covers import measured

SECONDS = 200.0


def main() -> int:
    """Print the device and the table; 1 where a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accelerator", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="when to begin no further row"
    )
    options = parser.parse_args()
    # Nothing that runs beside it should find all of the memory taken.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax  # noqa: PLC0415 - after its settings

    jax.config.update("jax_enable_x64", True)
    start = time.perf_counter()
    devices = ", ".join(f"{d.platform} {d.device_kind}" for d in jax.devices())
    sys.stdout.write(f"{devices}; {os.cpu_count()} processors\n")
    rows: list[Row] = []
    for dtype in (np.float32, np.float64):
        name = np.dtype(dtype).name
        if name == "float64" and jax.devices()[0].platform == "tpu":
            sys.stdout.write("float64: left out, a TPU has none in hardware\n")
            continue
        found = measured(
            jax, dtype, quick=options.quick, repetitions=7, seconds=options.seconds / 10
        )
        for row in found:
            rows.append(replace(row, item=name))
            spent = time.perf_counter() - start
            sys.stderr.write(f"[{spent:5.1f} s] {name}: {row.what}: {row.shown}\n")
            if spent > options.seconds:
                sys.stdout.write(f"stopped after {spent:.0f} s, before the end\n")
                break
        if time.perf_counter() - start > options.seconds:
            break
    sys.stdout.write(table(rows) + "\n")
    sys.stdout.write(", ".join(f"{k} {v}" for k, v in versions().items()) + "\n")
    return int(any(row.met is False for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
