"""``numpy.fft``, whose functions also find recorded variables in lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._forward import forwarded
from ._names import NAMESPACE

__all__ = sorted(np.fft.__all__)


def __getattr__(name: str) -> Any:
    """NumPy's attribute of that name, made to accept lists of recorded variables."""
    try:
        value = getattr(np.fft, name)
    except AttributeError:
        msg = f"module '{NAMESPACE}.fft' has no attribute {name!r}"
        raise AttributeError(msg) from None
    return globals().setdefault(name, forwarded(value, f"{NAMESPACE}.fft"))


def __dir__() -> list[str]:
    """All names of numpy.fft."""
    return dir(np.fft)
