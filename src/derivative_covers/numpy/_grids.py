"""Ranges and grids written as slices: arange, r_, c_, mgrid, ogrid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedOperationError
from ..tape._active import active
from ..tape._call import check_dtype, real_values
from ..tape._convert import holds_nodes, tape_of
from ..tape._decide import refuse_over_box
from ..tape._decisions import refuse_replay
from ..tape._elementwise import binary
from ..tape._over_box import box_of
from ..tape._storage import assembled
from ..tape._tarray import TArray
from ..tape._tvar import TVar
from ._arrays import asarray
from ._names import REPLACED, replaces
from ._recorded import home, recorded

__all__: list[str] = []


@replaces(np.arange)
def arange(*args: Any, dtype: Any = None, **kw: Any) -> Any:
    """As numpy.arange; the number of entries follows from the values."""
    if not any(map(recorded, args)) and not any(map(recorded, kw.values())):
        if dtype is not None:
            kw["dtype"] = dtype
        r = np.arange(*args, **kw)
        return home(r, active(), args[3] if len(args) > 3 else dtype)
    names = (
        ("stop",) if len(args) == 1 and "stop" not in kw else ("start", "stop", "step")
    )
    given = {**dict(zip(names, args, strict=False)), **kw}
    check_dtype(args[3] if len(args) > 3 else dtype, tape_of(*given.values()))
    return _range(given.get("start", 0.0), given.get("stop"), given.get("step", 1.0))


def _range(start: Any, stop: Any, step: Any) -> Any:
    """Numbers from ``start`` in steps; they do not depend on where it stops."""
    if box_of(start, stop, step) is not None and holds_nodes((start, stop, step)):
        refuse_over_box("numpy.arange of recorded ends or steps")
    refuse_replay(
        "numpy.arange of recorded ends or steps",
        "Use np.linspace, which has a fixed number of entries.",
        (start, stop, step),
    )
    first, end, width = (float(real_values(e)) for e in (start, stop, step))
    r: Any = np.arange(first, end, width)
    tape = tape_of(start, step)
    r = home(r, tape_of(start, stop, step))
    if tape is None or not r.size:
        return r
    at = np.arange(r.size, dtype=float)
    return binary(np.add, start, binary(np.multiply, step, at), r.v)


def _slice(s: slice) -> Any:
    """What a slice in brackets stands for, an imaginary step being a number of points."""
    start, stop = 0.0 if s.start is None else s.start, s.stop
    if isinstance(s.step, complex):
        return np.linspace(start, stop, int(abs(s.step)))
    step = 1.0 if s.step is None else s.step
    if tape_of(start, stop, step) is None:
        return np.r_[s]
    return _range(start, stop, step)


def _parts(key: Any) -> list[Any]:
    """The ends and steps of slices, and all other items as they are."""
    found: list[Any] = []
    for item in key if isinstance(key, tuple) else (key,):
        found += (
            (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)
        )
    return found


class _Brackets:
    """An object of NumPy's that is used with brackets only."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numpy = getattr(np, name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpy, name)

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<derivative_covers.numpy.{self._name}>"

    def __reduce__(self) -> str:
        return self._name


class _Concatenator(_Brackets):
    """``r_`` and ``c_``: NumPy puts the values together, and the ids in the same way."""

    def __getitem__(self, key: Any) -> Any:
        if not any(map(recorded, _parts(key))):
            return home(self._numpy[key], active())
        items = list(key) if isinstance(key, tuple) else [key]
        directive = items[0] if isinstance(items[0], str) else ""
        if directive.lstrip().startswith(("r", "c")):
            msg = (
                f"np.{self._name}[{directive!r}, ...] makes a matrix, which cannot hold "
                "recorded variables; leave the letter out and reshape the result."
            )
            raise UnsupportedOperationError(msg)
        items = [_slice(e) if isinstance(e, slice) else e for e in items]
        items = [
            e if e.__class__ is TVar or not recorded(e) else asarray(e) for e in items
        ]
        tape = tape_of(*items)
        values = self._numpy[tuple(real_values(e) for e in items)]
        if tape is None:
            return values
        return assembled(tape, values, self._numpy[tuple(_ids(e) for e in items)])


def _ids(x: Any) -> Any:
    if x.__class__ is TVar:
        return x.i
    if x.__class__ is TArray:
        return x.node_ids()
    if isinstance(x, str):
        return x
    return np.full(np.shape(x), -1)[()]


class _Grid(_Brackets):
    """``mgrid`` and ``ogrid``, with recorded ends as well."""

    def __getitem__(self, key: Any) -> Any:
        if not any(map(recorded, _parts(key))):
            return home(self._numpy[key], active())
        if isinstance(key, slice):
            return _slice(key)
        rows = [asarray(_slice(s)) for s in key]
        sparse = self._name == "ogrid"
        grids = np.meshgrid(*rows, indexing="ij", sparse=sparse)
        return tuple(grids) if sparse else np.stack(grids)


for _name in ("r_", "c_"):
    REPLACED[_name] = _Concatenator(_name)
for _name in ("mgrid", "ogrid"):
    REPLACED[_name] = _Grid(_name)
