"""Ways into other packages, each optional and imported on use."""

from __future__ import annotations

__all__: list[str] = []
