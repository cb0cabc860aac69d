"""What a recording at complex inputs refuses: operations without a complex derivative."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..elementals import Elemental
from ..errors import UnsupportedOperationError

__all__ = ["FUNCTIONS_OF_COMPLEX", "refuse_complex", "refuse_elemental"]


def refuse_complex(what: str, why: str = "is not holomorphic") -> NoReturn:
    """Raise for an operation that has no complex derivative.

    Raises:
        UnsupportedOperationError: Always.
    """
    msg = (
        f"{what} of a complex variable {why}. A recording at complex inputs holds "
        "holomorphic operations alone, since its gradients, Hessians and covers are "
        "those of complex derivatives. Record a function of the real and the imaginary "
        "parts at real inputs, or take derivative_covers.value(x) where no derivative is "
        "wanted."
    )
    raise UnsupportedOperationError(msg)


def refuse_elemental(op: Elemental) -> NoReturn:
    """Raise for an elemental without a rule for complex operands.

    Raises:
        UnsupportedOperationError: Always.
    """
    if op.rule.kink is not None:
        refuse_complex(op.name)
    refuse_complex(op.name, "has no rule for complex operands (or is not holomorphic)")


def _named(names: str, home: Any = np) -> list[Any]:
    return [vars(home)[name] for name in names.split() if name in vars(home)]


FUNCTIONS_OF_COMPLEX = frozenset(
    _named(
        "sum mean trace prod cumsum cumprod cumulative_sum cumulative_prod average "
        "matmul dot inner outer tensordot kron cross einsum diff ediff1d gradient "
        "trapezoid trapz where select piecewise extract compress sinc copyto put putmask "
        "place put_along_axis fill_diagonal polyval polyder polyint polyadd polysub "
        "polymul vander convolve apply_along_axis apply_over_axes nansum "
        # shapes
        "append insert block concatenate stack hstack vstack dstack column_stack "
        "row_stack concat meshgrid pad roll diag diagflat diagonal tril triu take choose "
        "take_along_axis broadcast_arrays broadcast_to copy astype reshape ravel "
        "transpose permute_dims matrix_transpose moveaxis swapaxes rollaxis squeeze "
        "expand_dims atleast_1d atleast_2d atleast_3d flip fliplr flipud rot90 repeat "
        "tile resize delete split array_split hsplit vsplit dsplit unstack trim_zeros "
        "empty_like full_like zeros_like ones_like linspace "
        # plain answers
        "all allclose any argwhere array2string array_equal array_equiv array_repr "
        "array_str can_cast common_type count_nonzero diag_indices_from einsum_path "
        "flatnonzero isclose iscomplex iscomplexobj isreal isrealobj logical_and "
        "logical_not logical_or logical_xor may_share_memory min_scalar_type ndim "
        "nonzero result_type shape shares_memory size tril_indices_from "
        "triu_indices_from"
    )
    + _named(
        "solve inv det matrix_power multi_dot tensorsolve tensorinv trace matmul outer "
        "tensordot cross matrix_transpose diagonal",
        np.linalg,
    )
)
