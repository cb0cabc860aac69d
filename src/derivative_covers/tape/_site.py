"""The place of a node on a tape, for error messages of local covers."""

from __future__ import annotations

from typing import Any

from ..local import CoverSite
from ._partials import describe
from ._tape import Tape

__all__ = ["TapeSite"]


class TapeSite(CoverSite):
    """Node ``k`` of a tape.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import TapeSite, site_label, site_values
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [2.0, 3.0])
        >>> site_label(TapeSite(tape, out)), site_values(TapeSite(tape, out))
        ('node 2 (multiply)', 'node value 6.0, parent values (2.0, 3.0)')
    """

    __slots__ = ("node", "tape")

    def __init__(self, tape: Tape, k: int) -> None:
        self.tape = tape
        self.node = int(k)

    @property
    def dtype(self) -> Any:
        """Element type of the tape."""
        return self.tape.dtype

    def site_label(self) -> str:
        """Node id and elemental."""
        return f"node {self.node} ({describe(self.tape, self.node)[0]})"

    def site_values(self) -> str:
        """Value of the node and of its parents."""
        _, value, parents = describe(self.tape, self.node)
        return f"node value {value!r}, parent values {parents!r}"
