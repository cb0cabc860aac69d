"""``python -m derivative_covers``; see :mod:`derivative_covers._cli`."""

from __future__ import annotations

from ._cli import main

if __name__ == "__main__":
    raise SystemExit(main())
