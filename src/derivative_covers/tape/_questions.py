"""Questions about values, types and memory: plain answers without derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import real_values
from ._decisions import by_finiteness, by_pairs, by_truth, refuse_replay
from ._over_box import box_of
from ._protocol import UFUNC_METHODS, implements
from ._select import truth
from ._tvar import TVar

__all__: list[str] = []


def _answer(function: Any) -> None:
    keep = _KEEPS.get(function, _refuse)

    @implements(function)
    def answer(*args: Any, **kw: Any) -> Any:
        keep(f"numpy.{function.__name__}", *args, *kw.values())
        given = {name: _bare(x) for name, x in kw.items()}
        return function(*map(_bare, args), **given)


def _bare(x: Any) -> Any:
    """The values; those of a scalar variable as a number that knows its type."""
    if isinstance(x, TVar) and x.tape is not None:
        return x.tape.dtype.type(x.v)
    return real_values(x)


def _nothing(what: str, *operands: Any) -> None:
    """Shapes, types and memory are the same at every point; what is printed decides nothing."""


def _refuse(what: str, *operands: Any) -> None:
    refuse_replay(what, "", *operands)


def _refuse_complex(what: str, *operands: Any) -> None:
    """Real variables are real at every point."""
    if any(map(np.iscomplexobj, map(_bare, operands))):
        _refuse(what, *operands)


def _refuse_by_type(what: str, *operands: Any) -> None:
    """Before NumPy 2 types followed from values."""
    if np.__version__.startswith("1."):
        _refuse(what, *operands)


def _by_equality(what: str, a1: Any, a2: Any, *options: Any) -> None:
    if any(map(_is_true, options)):
        _refuse(f"{what} with equal_nan", a1, a2)
    elif np.shape(_bare(a1)) == np.shape(_bare(a2)) or what == "numpy.array_equiv":
        try:
            by_pairs(what, a1, a2, equality=True)
        except ValueError:
            return  # shapes that do not broadcast are different at every point


def _is_true(x: Any) -> bool:
    return x is True or (isinstance(x, np.bool_) and bool(x))


_KEEPS: dict[Any, Any] = {
    **dict.fromkeys(
        (
            np.all,
            np.any,
            np.argwhere,
            np.count_nonzero,
            np.flatnonzero,
            np.logical_and,
            np.logical_not,
            np.logical_or,
            np.logical_xor,
            np.nonzero,
        ),
        by_truth,
    ),
    **dict.fromkeys((np.isneginf, np.isposinf), by_finiteness),
    **dict.fromkeys((np.array_equal, np.array_equiv), _by_equality),
    **dict.fromkeys((np.iscomplex, np.isreal), _refuse_complex),
    **dict.fromkeys((np.can_cast, np.common_type, np.result_type), _refuse_by_type),
    **dict.fromkeys(
        (
            np.array2string,
            np.array_repr,
            np.array_str,
            np.diag_indices_from,
            np.einsum_path,
            np.iscomplexobj,
            np.isrealobj,
            np.may_share_memory,
            np.ndim,
            np.shape,
            np.shares_memory,
            np.size,
            np.tril_indices_from,
            np.triu_indices_from,
        ),
        _nothing,
    ),
}
"""What a replay must check of a question; one that is not listed forbids it."""


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
        by_truth(f"numpy.{ufunc.__name__}", a)
        bare = real_values(a) if box_of(a) is None else truth(a)
        return ufunc.reduce(bare, *args, **kw)

    UFUNC_METHODS[ufunc, "reduce"] = reduce


for _ufunc in (np.logical_and, np.logical_or, np.logical_xor):
    _whole(_ufunc)
