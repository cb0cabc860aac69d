"""Covers propagated forward, without a tape."""

from __future__ import annotations

from ._channels import DenseStorage, ForwardChannels, SparseStorage, Storage
from ._context import ForwardContext
from ._cover import ForwardCover, Replayable, forward_cover
from ._fvar import FVar
from ._scale import ForwardScale, forward_channels, forward_scale

__all__ = [
    "DenseStorage",
    "FVar",
    "ForwardChannels",
    "ForwardContext",
    "ForwardCover",
    "ForwardScale",
    "Replayable",
    "SparseStorage",
    "Storage",
    "forward_channels",
    "forward_cover",
    "forward_scale",
]
