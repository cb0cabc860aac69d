"""Questions about values, types and memory: plain answers without derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import real_values
from ._over_box import box_of
from ._protocol import UFUNC_METHODS, implements
from ._select import truth
from ._tvar import TVar

__all__: list[str] = []


def _answer(function: Any) -> None:
    @implements(function)
    def answer(*args: Any, **kw: Any) -> Any:
        given = {name: _bare(x) for name, x in kw.items()}
        return function(*map(_bare, args), **given)


def _bare(x: Any) -> Any:
    """The values; those of a scalar variable as a number that knows its type."""
    if isinstance(x, TVar) and x.tape is not None:
        return x.tape.dtype.type(x.v)
    return real_values(x)


for _function in (
    np.all,
    np.allclose,
    np.any,
    np.argwhere,
    np.array2string,
    np.array_equal,
    np.array_equiv,
    np.array_repr,
    np.array_str,
    np.can_cast,
    np.common_type,
    np.count_nonzero,
    np.diag_indices_from,
    np.einsum_path,
    np.flatnonzero,
    np.isclose,
    np.iscomplex,
    np.iscomplexobj,
    np.isneginf,
    np.isposinf,
    np.isreal,
    np.isrealobj,
    np.logical_and,
    np.logical_not,
    np.logical_or,
    np.logical_xor,
    np.may_share_memory,
    np.min_scalar_type,
    np.ndim,
    np.nonzero,
    np.result_type,
    np.shape,
    np.shares_memory,
    np.size,
    np.spacing,
    np.tril_indices_from,
    np.triu_indices_from,
):
    _answer(_function)


def _whole(ufunc: Any) -> None:
    def reduce(a: Any, *args: Any, **kw: Any) -> Any:
        bare = real_values(a) if box_of(a) is None else truth(a)
        return ufunc.reduce(bare, *args, **kw)

    UFUNC_METHODS[ufunc, "reduce"] = reduce


for _ufunc in (np.logical_and, np.logical_or, np.logical_xor):
    _whole(_ufunc)
