"""Where a local cover is being built, for its element type and its error messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from derivative_covers.elements._contract import as_type, by_type

__all__ = ["CoverSite", "check_values", "site_label", "site_values"]


class CoverSite(ABC):
    """The place of one elemental in whatever backend runs it.

    A split needs an element type, and enough context to say which elemental it failed
    on; naming only that lets one split serve tapes and forward passes alike.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def dtype(self) -> Any:
        """The element type of the backend: a dtype or a type."""

    @abstractmethod
    def site_label(self) -> str:
        """How to name the elemental in a message, such as ``"node 7"``."""

    @abstractmethod
    def site_values(self) -> str:
        """The values around it, such as ``"node value 1.5, parent values (0.3, 2)"``."""


def site_label(site: CoverSite) -> str:
    """How to name the elemental at ``site`` in a message, such as ``"node 7"``.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import TapeSite, site_label
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [4.0, 1.0])
        >>> site_label(TapeSite(tape, out))
        'node 2 (multiply)'
    """
    return site.site_label()


def site_values(site: CoverSite) -> str:
    """The values around the elemental at ``site``, for a message.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import TapeSite, site_values
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [4.0, 1.0])
        >>> site_values(TapeSite(tape, out))
        'node value 4.0, parent values (4.0, 1.0)'
    """
    return site.site_values()


def _site_type(site: CoverSite, *_: object) -> type[Any]:
    return as_type(site.dtype)


@by_type(_site_type)
def check_values(site: CoverSite, val: Any, ds: Any, cs: Any) -> None:
    """Raise if what an elemental returned shows that the program left its domain.

    Numbers show it by infinities and NaN, which other checks report, so there is
    nothing to do for them. A type whose values stand for sets, which may be valid on a
    part of the set only, registers a version that looks for that; it is chosen by
    ``site.dtype``.

    Args:
        site: Where the elemental stands.
        val: Its value.
        ds: Its first partials.
        cs: Its second partials.

    Raises:
        DomainError: From a registered version, where the set leaves the domain.
    """
