"""New arrays: while recording, such that recorded values can be stored into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tape._active import active
from ..tape._convert import tape_of
from ..tape._storage import PLAIN, held
from ..tape._tarray import TArray
from ._forward import with_lists
from ._names import REPLACED, named_as, replaces
from ._recorded import home, recorded

__all__: list[str] = []


def _filled(function: Any) -> Callable[..., Any]:
    # Built here, without options in a dictionary, because every program makes these.
    def make(
        shape: Any,
        dtype: Any = None,
        order: Any = None,
        *,
        device: Any = None,
        like: Any = None,
    ) -> Any:
        tape = active()
        if order is None and device is None and like is None:
            if tape is None:
                return function(shape, dtype)
            if dtype is None and tape.scalar is float:  # a recording in float64
                out = TArray()
                out.s = PLAIN
                out.v = function(shape)
                return out
            return home(function(shape, dtype), tape, dtype)
        options = {"order": order, "device": device, "like": like}
        kw = {name: value for name, value in options.items() if value is not None}
        return home(function(shape, dtype, **kw), tape, dtype)

    return make


def _made(function: Any, dtype_at: int) -> Callable[..., Any]:
    """A function whose result is new memory; ``dtype_at`` is the place of its dtype."""
    compute = with_lists(function)

    def make(*args: Any, **kw: Any) -> Any:
        tape = active()
        r = compute(*args, **kw)
        if tape is None:
            return r
        dtype = args[dtype_at] if 0 <= dtype_at < len(args) else kw.get("dtype")
        return home(r, tape, dtype)

    return make


for _name in ("zeros", "ones", "empty"):
    REPLACED[_name] = named_as(getattr(np, _name), _filled(getattr(np, _name)))

_NEW: dict[Any, int] = {
    np.zeros_like: 1,
    np.ones_like: 1,
    np.empty_like: 1,
    np.full_like: 2,
    np.eye: 3,
    np.identity: 1,
    np.tri: 3,
    np.diag: -1,
    np.diagflat: -1,
    np.tril: -1,
    np.triu: -1,
    np.vander: -1,
    np.linspace: 5,
    np.logspace: 5,
    np.geomspace: 4,
    np.indices: 1,
    np.copy: -1,
    np.meshgrid: -1,
    np.concatenate: -1,
    np.stack: -1,
    np.hstack: -1,
    np.vstack: -1,
    np.dstack: -1,
    np.column_stack: -1,
    np.block: -1,
    np.append: -1,
    np.insert: -1,
    np.tile: -1,
    np.repeat: -1,
}
for _function, _at in _NEW.items():
    REPLACED[_function.__name__] = named_as(_function, _made(_function, _at))


@replaces(np.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **kw: Any
) -> Any:
    """An array of one value, or of a row of values, recorded or not."""
    tape = tape_of(fill_value) if recorded(fill_value) else None
    if tape is None:
        return home(
            np.full(shape, fill_value, dtype, order, **kw),
            active(),
            dtype,
        )
    wanted = tape.dtype if dtype is None else dtype
    out: Any = held(np.zeros(shape, wanted, order, **kw))
    out[...] = fill_value
    return out
