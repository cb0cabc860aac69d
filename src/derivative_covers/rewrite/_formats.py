"""Texts that can be filled with recorded values by the ``%`` operator."""

from __future__ import annotations

from typing import Any

from ..tape import CoverVar
from ..tape._detach import bare

__all__ = ["Template"]


class Template(str):
    """A text constant of rewritten code; a recorded number prints as its value."""

    __slots__ = ()

    def __mod__(self, entries: Any, /) -> str:
        if type(entries) is tuple:
            entries = tuple(map(_printed, entries))
        elif type(entries) is dict:
            entries = {name: _printed(entry) for name, entry in entries.items()}
        else:
            entries = _printed(entries)
        filled: str = str(self) % entries
        return filled

    def __reduce__(self) -> Any:
        return str, (str(self),)


def _printed(x: Any) -> Any:
    return bare(x) if isinstance(x, CoverVar) else x
