"""Covers at a point of the main interface: NumPy's types in and out, JAX between."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ...covers._elsewhere import Request
from ...covers._results import HessianCover
from ...errors import OptionError
from ...tape._structure import Structure, plan
from ._package import jax
from ._second_order import cover_hessian
from ._status import GUARDED

__all__ = ["cover_at_point"]


def cover_at_point(
    request: Request, error: Exception | None = None
) -> HessianCover | None:
    """What :func:`derivative_covers.cover_hessian` returns for a function of JAX.

    Inputs in double precision are evaluated in double precision, whatever JAX's flag says.

    Args:
        request: What was asked for.
        error: What came of recording the function, where that was tried.

    Returns:
        The cover, with arrays of NumPy; None if JAX cannot trace the function.

    Raises:
        OptionError: For what only a tape can do: the merges ``"auto"`` and
            ``"quadrature"``, ``kinks="branch"`` and ``numpy="rewrite"``.

    Cost:
        Traces and compiles the function anew, since it may have changed.
    """
    try:
        structure, flat = plan(request.x0)
        with _precision(flat):
            jax.eval_shape(f := _of_vector(request, structure), flat)
    except Exception as reason:
        if error is None and not isinstance(reason, jax.errors.JAXTypeError):
            raise
        if error is not None and "jax" in str(error).lower():
            error.add_note(f"JAX did not trace the function: {reason!s:.300}")
        return None
    _refuse_options(request)
    scales = np.ones_like(flat) if request.scales is None else request.scales
    if request.scales is not None and structure is not None:
        scales = structure.flatten(scales, "scales", flat.dtype)
    merge, ratio = request.merge, request.ratio
    with _precision(flat):
        found = cover_hessian(f, merge, ratio=ratio)(flat)
        asked = int(found.status) == GUARDED
        if asked or request.scales is not None:
            found = cover_hessian(f, merge, scales=scales, ratio=ratio)(flat)

    def given(part: Any) -> Any:
        a = np.array(part)
        return a if structure is None else structure.split(a)

    return HessianCover(
        np.array(found.value)[()],
        given(found.gradient),
        given(found.h),
        found.merge,
        asked,
        backend="jax",
    )


def _precision(x: Any) -> Any:
    home = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
    return home.enable_x64(x.dtype.itemsize > 4 or jax.config.jax_enable_x64)


def _of_vector(request: Request, structure: Structure | None) -> Any:
    """The function of one array, with the extra arguments bound."""
    args = tuple(request.recording.get("args", ()))
    kwargs = dict(request.recording.get("kwargs") or {})

    def f(x: Any) -> Any:
        if structure is None:
            return request.f(x, *args, **kwargs)
        nest = structure.build(lambda leaf: x[leaf.slice].reshape(leaf.shape))
        first = nest if structure.is_arguments else (nest,)
        return request.f(*first, *args, **kwargs)

    return f


def _refuse_options(request: Request) -> None:
    if isinstance(request.merge, str) and request.merge != "sum":
        msg = (
            f"merge is {request.merge!r}; a function of JAX has the merge 'sum', and "
            "cover_hybrid with a number of groups."
        )
        raise OptionError(msg)
    kinks = request.recording.get("kinks", "raise")
    if kinks != "raise" or request.recording.get("numpy") is not None:
        msg = (
            "kinks='branch' and numpy='rewrite' say how a NumPy program is recorded; this "
            "function is one of JAX. Leave them out."
        )
        raise OptionError(msg)
