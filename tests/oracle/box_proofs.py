"""Global minima of twelve classical functions, each proof replayed in balls.

python -m tests.oracle.box_proofs [names ...]
"""

from __future__ import annotations

import sys
import time

from derivative_covers.parallel import minimize_box
from tests.oracle._box_proof import check_minimum
from tests.suites._global_functions import CASES

__all__ = ["main"]


def main(names: list[str]) -> None:
    """A line a function: bounds, boxes and times."""
    for case in CASES:
        if names and not any(name in case.name for name in names):
            continue
        start = time.perf_counter()
        found = minimize_box(case.f, case.box)
        middle = time.perf_counter()
        assert found.lower <= case.least + 5e-10
        assert found.upper >= case.least - 5e-10
        parts = check_minimum(case.f, case.box, found)
        end = time.perf_counter()
        print(  # noqa: T201
            f"{case.name:16s} [{found.lower:.9f}, {found.upper:.9f}] "
            f"{found.boxes:6d} boxes {middle - start:6.2f} s; proof of "
            f"{len(found.leaves):6d} parts replayed on {parts:6d} in {end - middle:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
