"""What an entry of the table of calls says."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["DIFFERENCES", "Call", "Table"]

DIFFERENCES = "differences"


@dataclass(frozen=True)
class Call:
    """A call ``f(xp, x)``, and where its derivatives come from.

    ``oracle`` is None for JAX's own function of that name, a formula in JAX, or
    DIFFERENCES where JAX has neither.
    """

    name: str
    shape: tuple[int, ...]
    f: Callable[..., Any]
    oracle: Any = None

    @property
    def x0(self) -> Any:
        """A point away from ties, the same one every time."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return rng.normal(size=self.shape)


@dataclass
class Table:
    """The calls of one module."""

    calls: list[Call] = field(default_factory=list)

    def __call__(
        self,
        name: str,
        shape: tuple[int, ...],
        f: Callable[..., Any],
        oracle: Any = None,
    ) -> None:
        self.calls.append(Call(name, shape, f, oracle))
