"""Results that are composed of several operations keep NumPy's bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import real_values
from ._elementwise import unary
from ._protocol import as_array
from ._storage import constant

__all__ = ["picked", "valued", "values_of"]


def values_of(x: Any, tape: Any) -> Any:
    """Bare values of an operand, or of a list of operands, in the type of the tape."""
    if x is None:
        return None
    return np.array(real_values(x), dtype=tape.dtype)


def valued(y: Any, r: Any) -> Any:
    """``y`` with the values ``r`` that NumPy's own call gives.

    Composed operations round as NumPy's do, up to the order of a sum at most. Where a
    bit differs, nodes of derivative one hold NumPy's values.
    """
    x = as_array(y)
    if isinstance(x, np.ndarray):
        return r
    tape = x.tape
    if tape is not None and tape.box is not None:
        # The buffers hold no values; the result is what its operations give.
        return y if x.v.shape == np.shape(r) else x.reshape(np.shape(r))
    exact = np.asarray(r, dtype=tape.dtype)
    if x.v.shape == exact.shape and x.v.tobytes() == exact.tobytes():
        return y
    if x.v.shape != exact.shape:
        x = x.reshape(exact.shape)
    if not x._depends:
        return constant(tape, exact if exact.ndim else exact[()])
    return unary(np.positive, x, exact)


def picked(parts: list[Any], pick: Any) -> Any:
    """What ``pick`` makes of the values, and of the ids, of some recorded arrays."""
    arrays = [as_array(p, *parts) for p in parts]
    return arrays[0]._derived(
        pick([a.v for a in arrays]),
        lambda ids: pick([a.node_ids() for a in arrays]),
        fills=True,
    )
