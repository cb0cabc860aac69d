"""``python -m derivative_covers``; the same as ``derivative-covers``."""

from __future__ import annotations

from ._cli import main

if __name__ == "__main__":
    raise SystemExit(main())
