"""Run all examples: `make examples`, or `python -m examples [--out FOLDER] [--quick]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import perf_counter

from . import bundle, cluster, enzyme, lorenz96, orings

__all__ = ["EXAMPLES", "main"]

EXAMPLES = (enzyme, orings, cluster, bundle, lorenz96)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one after the other, with the same options."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    for example in EXAMPLES:
        title = (example.__doc__ or "").partition("\n")[0]
        print(f"\n{title}\n{'-' * len(title)}")
        start = perf_counter()
        example.main(given)
        print(f"{perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
