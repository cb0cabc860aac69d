"""Run the measurements: ``python -m benchmarks [--only NAME | --all] [--quick | --full]``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from . import (
    _timing,
    auto,
    boxes,
    checkpointing,
    constants,
    dense,
    dense_hessian,
    forward,
    global_minima,
    hybrid,
    jacobian,
    jax_covers,
    nls,
    parallel,
    peers_table,
    quadrature,
    rewriting,
    scalars,
    schedules,
    startup,
    steppers,
    sweeps,
    targets,
    tightness,
    units,
    vectorised,
)
from ._report import Row, save, table, versions

ITEMS = {
    module.ITEM: module.rows
    for module in (
        targets,
        peers_table,
        tightness,
        sweeps,
        dense_hessian,
        vectorised,
        scalars,
        constants,
        rewriting,
        quadrature,
        dense,
        hybrid,
        auto,
        jacobian,
        nls,
        forward,
        jax_covers,
        boxes,
        parallel,
        global_minima,
        schedules,
        checkpointing,
        steppers,
        units,
        startup,
    )
}
LONGER = {
    module.ITEM
    for module in (
        boxes,
        checkpointing,
        global_minima,
        schedules,
        steppers,
    )
}
"""Items that have a longer version."""

USUAL = {
    targets.ITEM: 370,
    peers_table.ITEM: 190,
    sweeps.ITEM: 10,
    dense_hessian.ITEM: 10,
    vectorised.ITEM: 10,
    scalars.ITEM: 45,
    quadrature.ITEM: 25,
    hybrid.ITEM: 10,
    schedules.ITEM: 45,
    startup.ITEM: 15,
}
"""Items of a run that names none, with seconds on two idle cores.

They were worked out from the processor time of one call of everything.
"""

RESULTS = Path(__file__).with_name("results.json")


def measure(item: str, *, quick: bool, full: bool) -> list[Row]:
    """The rows of one item; an item that fails says so and stops no other."""
    found: list[Row] = []
    start = time.perf_counter()
    try:
        longer = {"full": full} if item in LONGER else {}
        for row in ITEMS[item](quick=quick, **longer):
            found.append(row)
            sys.stderr.write(
                f"[{time.perf_counter() - start:5.1f} s] {item}: {row.what}: "
                f"{row.shown} {row.verdict}\n"
            )
    except Exception as error:  # the table must show a failure beside the rest
        note = f"{type(error).__name__}: {error}".splitlines()[0]
        found.append(Row(item, "stopped by an error", 1.0, "", target=0, note=note))
        sys.stderr.write(f"{item}: {note}\n")
    return found


def main() -> int:
    """Measure, print the table, write the results; 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=ITEMS, help="measure one item")
    parser.add_argument("--all", action="store_true", help="measure every item")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, no results file"
    )
    parser.add_argument(
        "--full", action="store_true", help="long programs too, an hour more"
    )
    parser.add_argument(
        "--processor",
        action="store_true",
        help="ratios of processor times, for a machine that has other work",
    )
    options = parser.parse_args()
    if options.processor:
        _timing.CLOCK = time.process_time
    items = [options.only] if options.only else list(ITEMS if options.all else USUAL)
    how = {"clock": "processor"} if options.processor else {}
    how |= {"run": "full"} if options.full else {}
    rows: list[Row] = []
    took: dict[str, float] = {}
    for number, item in enumerate(items, 1):
        left = "" if options.quick else _left(items, took)
        sys.stderr.write(f"item {number} of {len(items)}: {item}{left}\n")
        start = time.perf_counter()
        found = measure(item, quick=options.quick, full=options.full)
        took[item] = time.perf_counter() - start
        rows += found
        if not options.quick:  # at once: a run that is stopped keeps what it measured
            save(RESULTS, found, **how)
    sys.stdout.write(table(rows) + "\n")
    sys.stdout.write(", ".join(f"{k} {v}" for k, v in versions().items()) + "\n")
    times = ", ".join(f"{item} {seconds:.0f} s" for item, seconds in took.items())
    sys.stdout.write(f"{times}; {sum(took.values()):.0f} s in all\n")
    return int(any(row.met is False for row in rows))


def _left(items: list[str], took: dict[str, float]) -> str:
    """How far the run is, in the seconds that its items usually take."""
    gone = f"; {sum(took.values()):.0f} s gone" if took else ""
    left = [item for item in items if item not in took]
    if not set(left) <= set(USUAL):
        return gone
    return f"{gone}; about {sum(USUAL[k] for k in left)} s to go on two idle cores"


if __name__ == "__main__":
    raise SystemExit(main())
