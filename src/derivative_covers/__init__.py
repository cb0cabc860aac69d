"""Derivative information that stays cheap when a program is large.

A *cover* is a vector ``h`` with ``|Hessian| <= h h'`` entrywise, for about the price of a
gradient; see :func:`cover_hessian`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .covers import (
    ComposedHessianCover,
    HessianCover,
    JacobianCover,
    LocalCovers,
    NLSCover,
    SubmapDeclaration,
    abs_forward,
    abs_reverse,
    compose_hessian_cover,
    compose_jacobian_cover,
    cover_excess,
    cover_hessian,
    cover_hybrid,
    cover_jacobian,
    cover_nls,
    declare_submap,
    gradient,
    gramcover,
    guards_any_block,
    hessian,
    hessian_bound,
    hessian_sparsity,
    hvp,
    iscover,
    jacobian,
    local_covers,
    natoms,
    sensitivity_scales,
    submap,
    submapnode,
    tape_function,
)
from .covers._elsewhere import ELSEWHERE
from .elements import Interval, Upward
from .tape import (
    CoverVar,
    Kink,
    Tape,
    TArray,
    TVar,
    isconstant,
    nnodes,
    stop_gradient,
    value,
)
from .tape._replay import HOOKS

if TYPE_CHECKING:
    from . import bounds, checkpoint, matrix, parallel, plot
    from .checks import CheckReport, check
    from .forward import ForwardCover, forward_cover
    from .replay import Compiled, CompiledBox, Points, compile
    from .rewrite import with_numpy

__version__ = "0.1.0"

__all__ = [
    "CheckReport",
    "Compiled",
    "CompiledBox",
    "ComposedHessianCover",
    "CoverVar",
    "ForwardCover",
    "HessianCover",
    "Interval",
    "JacobianCover",
    "Kink",
    "LocalCovers",
    "NLSCover",
    "Points",
    "SubmapDeclaration",
    "TArray",
    "TVar",
    "Tape",
    "Upward",
    "__version__",
    "abs_forward",
    "abs_reverse",
    "bounds",
    "check",
    "checkpoint",
    "compile",
    "compose_hessian_cover",
    "compose_jacobian_cover",
    "cover_excess",
    "cover_hessian",
    "cover_hybrid",
    "cover_jacobian",
    "cover_nls",
    "declare_submap",
    "forward_cover",
    "gradient",
    "gramcover",
    "guards_any_block",
    "hessian",
    "hessian_bound",
    "hessian_sparsity",
    "hvp",
    "isconstant",
    "iscover",
    "jacobian",
    "local_covers",
    "matrix",
    "natoms",
    "nnodes",
    "parallel",
    "plot",
    "sensitivity_scales",
    "stop_gradient",
    "submap",
    "submapnode",
    "tape_function",
    "value",
    "with_numpy",
]

# Imported on first use: they would add a quarter to the time of importing the package.
_LATER = {
    "CheckReport": "checks",
    "Compiled": "replay",
    "CompiledBox": "replay",
    "ForwardCover": "forward",
    "Points": "replay",
    "check": "checks",
    "compile": "replay",
    "forward_cover": "forward",
    "with_numpy": "rewrite",
}
_HELPERS = {
    "Any",
    "ELSEWHERE",
    "HOOKS",
    "TYPE_CHECKING",
    "annotations",
    "import_module",
}


def __getattr__(name: str) -> Any:
    if name in ("bounds", "checkpoint", "matrix", "parallel", "plot"):
        return import_module(f".{name}", __name__)
    if name not in _LATER:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    found = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = found
    return found


def _node_values(tape: Tape, x: Any) -> Any:
    return import_module(".replay._hooks", __name__).node_values(tape, x)


def _points(tape: Tape, X: Any) -> Any:
    return import_module(".replay", __name__).Points(tape, X)


def _in_jax(request: Any, error: Any) -> Any:
    return import_module(".interop.jax._point", __name__).cover_at_point(request, error)


ELSEWHERE.jax = _in_jax

# Tapes are replayed by compiled code, which is loaded when one is.
HOOKS.values, HOOKS.batch = _node_values, _points


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - _HELPERS)
