"""Short texts of inputs, for messages."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["short"]

_PLACES = 4  # of a nest
_SHOWN = 8  # entries of an array


def short(item: Any) -> str:
    """What an item is, in a line."""
    try:
        return _short(item)[:400]
    except Exception:  # an item whose own methods fail is still to be named
        return f"a {type(item).__name__}"


def _short(item: Any) -> str:
    if isinstance(item, np.ndarray):
        return _array(item)
    if isinstance(item, (tuple, list)) and not all(map(np.isscalar, item)):
        more = f", ... {len(item)} parts" if len(item) > _PLACES else ""
        parts = f"{', '.join(map(_short, item[:_PLACES]))}{more}"
        if isinstance(item, list):
            return f"[{parts}]"
        return f"({parts},)" if len(item) == 1 else f"({parts})"
    if isinstance(item, dict):
        pairs = [f"{k!r}: {_short(v)}" for k, v in list(item.items())[:_PLACES]]
        more = f", ... {len(item)} entries" if len(item) > _PLACES else ""
        return f"{{{', '.join(pairs)}{more}}}"
    return f"{item!r:.120}"


def _array(a: np.ndarray[Any, Any]) -> str:
    if a.size <= _SHOWN:
        return f"{a!r}"
    text = f"array of shape {a.shape}, {a.dtype}"
    if a.dtype.kind not in "biuf" or not a.size:
        return text
    if a.dtype.kind == "f" and not np.isfinite(a).all():
        bad = np.flatnonzero(~np.isfinite(a.ravel()))
        return f"{text}, {bad.size} entries not finite, the first at {bad[0]}"
    return f"{text}, from {a.min()} to {a.max()}"
