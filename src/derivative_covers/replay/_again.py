"""A compiled program run as its function: in other recordings, and forward covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..covers._arguments import RecordingOptions
from ..covers._compiled import is_compiled
from ..covers._structure import shaped
from ..errors import OptionError
from ..forward import ForwardCover, forward_cover
from ..forward._cover import check_storage, declared_scales
from ..local import split_ratio
from ..tape import CoverVar, Tape
from ..tape._storage import ArrayBase

__all__ = [
    "ForwardOptions",
    "forward_options",
    "forward_result",
    "holds_recorded",
    "recorded_as",
]


@dataclass(frozen=True, slots=True)
class ForwardOptions:
    """Options of a forward cover; called, it propagates the program anew."""

    f: Callable[..., Any]
    recording: RecordingOptions
    scales: Any
    ratio: float
    storage: str

    def __call__(self, x: Any) -> ForwardCover:
        """The forward cover of the program itself."""
        return forward_cover(
            recorded_as(self.f, self.recording),
            x,
            scales=self.scales,
            ratio=self.ratio,
            storage=self.storage,
            args=tuple(self.recording.get("args", ())),
            kwargs=self.recording.get("kwargs"),
        )


def recorded_as(f: Callable[..., Any], recording: RecordingOptions) -> Any:
    """The function that a recording with these options calls."""
    if recording.get("numpy") is not None or is_compiled(f):
        from ..rewrite import with_numpy  # noqa: PLC0415 - most programs do without

        return with_numpy(f)
    return f


def holds_recorded(x: Any) -> bool:
    """Whether a point is, or holds, a variable of a recording or of a backend."""
    if isinstance(x, (CoverVar, ArrayBase)):
        return True
    if isinstance(x, Mapping):
        return any(map(holds_recorded, x.values()))
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(map(holds_recorded, x.ravel().tolist()))
    return isinstance(x, (list, tuple)) and any(map(holds_recorded, x))


def forward_options(
    f: Callable[..., Any],
    like: Tape,
    recording: RecordingOptions,
    scales: Any,
    ratio: float | None,
    storage: str,
) -> ForwardOptions:
    """Options that were looked at; ``like`` is a tape of the program.

    Raises:
        OptionError: For scales, a ratio or a storage that cannot be used, and for a
            program that takes branches at kinks.
    """
    check_storage(storage)
    if recording.get("kinks", "raise") != "raise":
        msg = (
            "there are no forward covers of a program that takes branches at kinks. "
            "Compile it without kinks='branch', or take its cover(x)."
        )
        raise OptionError(msg)
    if scales is not None:
        point = np.ones(like.ninputs, dtype=like.dtype)
        if like.structure is None:
            point = point.reshape(like.shape)
        declared_scales(scales, point, like.structure)
    threshold = float(split_ratio(ratio, like.dtype.type))
    return ForwardOptions(f, recording, scales, threshold, storage)


def forward_result(like: Tape, out: Any, found: tuple[Any, Any, Any]) -> ForwardCover:
    """What a replay gives, in the shapes of outputs and inputs."""
    value, gradient, h = found
    lead = np.shape(out)
    g, root = (shaped(like, a.reshape(*lead, like.ninputs), sole=True)
               for a in (gradient, h))  # fmt: skip
    return ForwardCover(value.reshape(lead) if lead else value[0], g, root, asked=False)
