"""Functions and points that another package evaluates: JAX's, where that is loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..tape._jax import comes_from_jax
from ._arguments import RecordingOptions
from ._results import HessianCover

__all__ = ["ELSEWHERE", "Elsewhere", "Request", "elsewhere"]


@dataclass(frozen=True)
class Request:
    """What a cover was asked for.

    Attributes:
        f: The function.
        x0: The point, as the user gave it.
        merge: Name of the merge, or the number of groups of the hybrid one.
        scales: Declared scales, or None.
        ratio: As of :func:`cover_hessian`.
        recording: Options of the recording.
    """

    f: Callable[..., Any]
    x0: Any
    merge: str | int
    scales: Any
    ratio: float | None
    recording: RecordingOptions


@dataclass
class Elsewhere:
    """What layers above contribute.

    Attributes:
        jax: The cover by JAX, of a request and the error of a recording, if one was
            tried; None where JAX cannot trace the function.
    """

    jax: Callable[[Request, Exception | None], HessianCover | None] | None = None


ELSEWHERE = Elsewhere()


def elsewhere(request: Request, error: Exception | None = None) -> HessianCover | None:
    """The cover, if the point holds arrays of JAX; None if it is for the tape to find.

    With an ``error`` of a recording, if it comes from within JAX, which got a variable.
    """
    jax: Any = sys.modules.get("jax")
    if jax is None or ELSEWHERE.jax is None or not callable(request.f):
        return None
    if not (_holds(request.x0, jax.Array) if error is None else comes_from_jax(error)):
        return None
    return ELSEWHERE.jax(request, error)


def _holds(x0: Any, kind: type[Any]) -> bool:
    if isinstance(x0, Mapping):
        return any(_holds(part, kind) for part in x0.values())
    if isinstance(x0, (tuple, list)):
        return any(_holds(part, kind) for part in x0)
    return isinstance(x0, kind)
