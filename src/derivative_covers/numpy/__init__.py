"""NumPy's namespace with arrays that recorded values can be stored into.

``import derivative_covers.numpy as np`` in the place of ``import numpy as np``. While a
recording is going on in the caller's thread or task, :func:`numpy.zeros` and its like
give constant arrays that become recorded where a recorded value is stored into them; at
any other time they give plain NumPy arrays. Functions and ufuncs also find recorded
variables in lists. What is not replaced is NumPy's own.

Three functions are added: :func:`logsumexp`, :func:`softmax` and :func:`log_softmax`.

Example:
    >>> import derivative_covers as dc
    >>> import derivative_covers.numpy as np
    >>> def f(x):
    ...     y = np.zeros(3)
    ...     y[0] = x[0]
    ...     y[1:] = 2.0 * x
    ...     return np.sum([y @ y, x[1]])
    >>> dc.gradient(f, [1.0, 3.0])
    array([10., 25.])
    >>> np.zeros(2)
    array([0., 0.])
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _arrays, _constructors, _grids, _loops, _smooth, _types, fft, linalg
from ._forward import forwarded
from ._names import REPLACED

# Importing them has filled the table.
_PARTS = (_arrays, _constructors, _grids, _loops, _smooth, _types, fft, linalg)
globals().update(REPLACED)

__all__ = sorted({*np.__all__, "log_softmax", "logsumexp", "softmax"})


def __getattr__(name: str) -> Any:
    """NumPy's attribute of that name, made to accept lists of recorded variables."""
    try:
        value = getattr(np, name)
    except AttributeError:
        msg = f"module 'derivative_covers.numpy' has no attribute {name!r}"
        raise AttributeError(msg) from None
    own = getattr(value, "__name__", name)
    if own != name and getattr(np, own, None) is value:  # abs is absolute
        made = getattr(sys.modules[__name__], own)
    else:
        made = forwarded(value)
    return globals().setdefault(name, made)


def __dir__() -> list[str]:
    """All names of NumPy's and the added ones."""
    return sorted({*dir(np), *REPLACED})
