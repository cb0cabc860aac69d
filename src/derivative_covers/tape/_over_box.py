"""What NumPy's functions do with variables that range over a box.

The buffers of such variables hold NaN. A function whose rule only moves entries or
computes with them records as ever; what looks at values is decided by enclosures, or
refused. Functions are named here one by one: one that is not is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..elements import Interval
from ._convert import tape_of
from ._decide import ends, interval, refuse_over_box, refuse_undecided, shown
from ._hints import public_name
from ._storage import ArrayBase
from ._tvar import TVar

__all__ = [
    "allowed",
    "answers_over_box",
    "bounds",
    "box_of",
    "centre",
    "enclosure",
    "numbers",
    "tested",
]

SAFE: set[Any] = set()
"""Functions whose rules never look at values."""

ANSWERS: dict[Any, Callable[..., Any]] = {}
"""Functions that have a rule of their own over a box."""


def box_of(*things: Any) -> Any:
    """The tape of the first variable that ranges over a box; None: there is none."""
    tape = tape_of(*things)
    return tape if tape is not None and tape.box is not None else None


def bounds(x: Any) -> tuple[Any, Any]:
    """Ends of a variable, or of numbers."""
    if isinstance(x, ArrayBase):
        if x.s.tape is None:
            return x.v, x.v
        return ends(x.s.tape, x.node_ids(), x.v)
    if isinstance(x, TVar):
        if x.tape is None:
            v = np.asarray(x.v)
            return v, v
        return ends(x.tape, x.i, x.v)
    if isinstance(x, Interval):
        return x.lo, x.hi
    v = np.asarray(x)
    return v, v


def enclosure(x: Any) -> Any:
    """What a variable ranges over."""
    if isinstance(x, TVar):
        return interval(x.tape, x.i, x.v)  # type: ignore[arg-type]
    return interval(x.s.tape, x.node_ids(), x.v)


def centre(x: Any) -> Any:
    """A number inside of every interval; the values themselves outside of a box."""
    lo, hi = bounds(x)
    top = np.finfo(np.float64).max
    return np.clip(lo, -top, top) / 2 + np.clip(hi, -top, top) / 2


def numbers(tape: Any, x: Any) -> Any:
    """Plain numbers that a rule computes with: over a box intervals, which round outward.

    Recorded numbers stay; their operations are recorded, and enclosed as such.
    """
    if tape is None or tape.box is None or isinstance(x, (ArrayBase, TVar, Interval)):
        return x
    return Interval(x)


def tested(test: Any, x: Any) -> Any:
    """What isnan, isfinite, isinf or signbit say everywhere in the box.

    Raises:
        UndecidedError: If they do not say the same everywhere.
    """
    lo, hi = bounds(x)
    first, last = test(lo), test(hi)
    if test is np.signbit:
        open_ = (first != last) | ((lo == 0.0) & (_ids(x) >= 0))
    else:
        open_ = (np.isinf(lo) | np.isinf(hi)) & (_ids(x) >= 0)
    if np.any(open_):
        at = tuple(np.argwhere(open_)[0])
        refuse_undecided(f"np.{test.__name__} of {shown(lo[at], hi[at])}")
    return first


def _ids(x: Any) -> Any:
    if isinstance(x, ArrayBase):
        return x.node_ids()
    return np.asarray(x.i if isinstance(x, TVar) else -1)


def allowed(function: Any) -> Callable[..., Any] | None:
    """The rule of a function over a box; None: its ordinary one holds.

    Raises:
        UnsupportedOperationError: If there is none.
    """
    found = ANSWERS.get(function)
    if found is None and function not in SAFE:
        refuse_over_box(public_name(function))
    return found


def answers_over_box(*functions: Any) -> Callable[[Any], Any]:
    """Register a rule that holds over a box only."""

    def register(rule: Any) -> Any:
        for function in functions:
            ANSWERS[function] = rule
        return rule

    return register


def _safe(names: str, space: Any = np) -> None:
    SAFE.update(vars(space)[n] for n in names.split() if n in vars(space))


# Entries keep their nodes, wherever they go.
_safe(
    "reshape ravel transpose swapaxes moveaxis rollaxis expand_dims squeeze flip fliplr "
    "flipud rot90 tile repeat take_along_axis diagonal delete broadcast_to roll tril triu "
    "diagflat resize diag split array_split hsplit vsplit dsplit unstack atleast_1d "
    "atleast_2d atleast_3d take choose broadcast_arrays copy astype zeros_like ones_like "
    "empty_like full_like concatenate stack hstack vstack dstack column_stack append "
    "insert block meshgrid pad copyto put putmask place put_along_axis fill_diagonal "
    "conjugate real real_if_close imag matrix_transpose permute_dims"
)
_safe("fftshift ifftshift", np.fft)
SAFE.add(np.lib.stride_tricks.sliding_window_view)
# Conditions are decided by comparisons.
_safe(
    "where select piecewise extract compress clip max amax min amin ptp argmax argmin"
)
_safe("sort argsort median interp apply_along_axis apply_over_axes")
# Sums, products and what is made of them.
_safe(
    "sum mean var std trace prod cumsum cumprod cumulative_sum cumulative_prod matmul dot "
    "vdot inner outer tensordot kron cross einsum vecdot matvec vecmat diff trapezoid "
    "trapz ediff1d gradient average corrcoef polyval polyder polyint polyadd polysub "
    "polymul convolve correlate vander poly linspace logspace bincount"
)
_safe(
    "multi_dot norm matrix_norm vector_norm matrix_transpose diagonal trace outer cross "
    "matmul tensordot vecdot",
    np.linalg,
)
# Elementals under NumPy's names.
_safe("round around fix sinc floor_divide angle modf divmod i0")
# What types and shapes say.
_safe(
    "can_cast common_type diag_indices_from einsum_path iscomplex iscomplexobj isreal "
    "isrealobj may_share_memory ndim result_type shape shares_memory size "
    "tril_indices_from triu_indices_from"
)
