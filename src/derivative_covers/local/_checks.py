"""Checks of a local cover: finite entries before it, the covering inequality after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from derivative_covers.errors import CoverError, DomainError, ShapeError
from derivative_covers.local._site import CoverSite, site_label, site_values

__all__ = ["check_covering", "check_finite_partials", "check_nslots"]


def check_finite_partials(site: CoverSite, av: Any, c: Iterable[Any]) -> None:
    """Raise unless an elemental's weight and covering entries are finite.

    No finite cover covers an infinite entry, and every comparison with NaN is false, so
    a covering check would blame a split that is not at fault.

    Args:
        site: Where the elemental stands.
        av: The weight of its second-order term, such as its absolute adjoint.
        c: The magnitudes of the entries to be covered.

    Raises:
        DomainError: If one of them is not finite.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import TapeSite, check_finite_partials
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [4.0, 1.0])
        >>> check_finite_partials(TapeSite(tape, out), 1.0, (0.0, 1.0, 0.0))
    """
    entries = tuple(c)
    if not np.isfinite(av):
        what = f"its adjoint weight is {av}: a partial of a later node is not finite"
    elif not all(np.isfinite(entries)):
        what = f"its second partials are {_shown(entries)}"
    else:
        return
    message = (
        f"{site_label(site)} has no finite cover ({site_values(site)}): {what}. A cover "
        "needs a program that is twice differentiable where it is evaluated; move x0 "
        "away from the singularity, or rescale a quantity that overflows"
    )
    raise DomainError(message)


def check_covering(
    site: CoverSite,
    rho: Sequence[Any],
    entries: Iterable[tuple[int, int, Any]],
    eps: float,
) -> None:
    """Raise unless weights cover the entries they were made for.

    Args:
        site: Where the elemental stands.
        rho: The weights, by slot.
        entries: Triples ``(i, j, e)`` that demand ``rho[i] * rho[j] >= e``.
        eps: Rounding unit to allow for.

    Raises:
        CoverError: If they do not: a bug of the form of curvature or of the split.
    """
    for i, j, e in entries:
        with np.errstate(all="ignore"):
            covered = rho[i] * rho[j] >= e * (1 - 8 * eps)
        if not covered:
            message = (
                f"{site_label(site)}: weights {rho[i]} and {rho[j]} of slots {i} and "
                f"{j} do not cover the entry {e} ({site_values(site)}); this is a bug "
                "of the curvature or of the split: please report it"
            )
            raise CoverError(message)


def check_nslots(site: CoverSite, expected: int, given: int) -> None:
    """Raise unless there are as many scale references as slots.

    Args:
        site: Where the elemental stands.
        expected: Number of slots of the curvature.
        given: Number of references.

    Raises:
        ShapeError: If they differ.
    """
    if expected != given:
        message = (
            f"{site_label(site)}: {given} scale references for a curvature over "
            f"{expected} slots; give one a slot, in slot order"
        )
        raise ShapeError(message)


def _shown(entries: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(str, entries)) + ")"
