"""The contract of a form of curvature: what the sweeps ask of second partials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from derivative_covers.errors import UnsupportedOperationError
from derivative_covers.local._scales import SplitScale
from derivative_covers.local._site import CoverSite

__all__ = ["Curvature"]


class Curvature(ABC):
    """The second partials ``C[i, j]`` of one node, by parent slot, in some form.

    Sweeps never read entries: covers need bounds on their magnitudes only, and every
    sweep reaches a form through the methods below. So a new elemental can bring a new
    form, one that declares a bound without recording a matrix included.

    A form must define

    * :meth:`cover_slots_into`, which buys every cover (``local_covers``, both merges of
      ``cover_hessian``, ``cover_hybrid``, forward covers). Weights that do not cover
      make a wrong cover, which no later check detects.
    * :meth:`bound_contribution`, which buys ``hessian_bound``. A term left out makes
      the bound too small.

    and may define

    * :meth:`atom_slots`, which makes the quadrature and hybrid merges tighter where the
      second-order term is a sum of independent rank-1 terms. The atoms must partition
      the slots that carry weight: a slot in none is dropped from those merges, a slot
      in two counts twice. One atom of all slots is always right.
    * :meth:`curvature_apply`, which buys ``hvp`` and ``hessian``, for a form that
      records its entries exactly.
    * :attr:`has_exact_partials`, which must be False for a form that does not; ``hvp``
      then refuses the tape instead of calling a method that cannot be right.

    Forms are immutable, since nodes and tapes share them.
    """

    __slots__ = ()

    @abstractmethod
    def cover_slots_into(
        self,
        rho: list[Any],
        ratio: Any,
        site: CoverSite,
        av: Any,
        sl: Sequence[SplitScale],
        *,
        check: bool = True,
    ) -> bool:
        """Fill ``rho`` with the weights of the node's rank-1 cover, one a slot.

        The weights are nonnegative, with ``rho[i] * rho[j] >= av * |C[i, j]|`` to
        rounding. Entries of a dead slot (``dead_slot``) are exempt and must not shape
        the weights of live ones. A zero ``av`` makes the term zero, however infinite
        the entries.

        Args:
            rho: A list, resized in place to the number of slots. Untouched where the
                answer is False.
            ratio: Threshold from ``split_ratio``, for ``split_block``.
            site: Element type and error context.
            av: Nonnegative weight of the node's second-order term: the absolute adjoint
                in a reverse sweep, 1 in a forward one.
            sl: One ``SplitScale`` a slot, in slot order.
            check: Verify the covering inequality where there are entries to hold it
                against.

        Returns:
            Whether the node has a second-order term to cover.

        Raises:
            DomainError: If ``av`` or an entry to be covered is not finite.
            CoverError: If the weights fail the check.
        """

    @abstractmethod
    def bound_contribution(
        self, B: Any, av: Any, ps: Sequence[int], utilde: Any
    ) -> None:
        """Add ``av * sum_ij |C[i, j]| * utilde[ps[i]] * utilde[ps[j]]'`` to ``B``.

        Args:
            B: Array of shape (n, n), added to in place.
            av: Absolute adjoint of the node.
            ps: Parent node ids, in slot order.
            utilde: ``utilde[p]`` is the absolute-sensitivity row (n,) of node ``p``: a
                mapping or a two-dimensional array.
        """

    def atom_slots(self, nslots: int) -> tuple[tuple[int, ...], ...]:
        """The groups of slots whose covers are independent rank-1 terms.

        Args:
            nslots: Number of parent slots of the node.

        Returns:
            Disjoint tuples of slots; one of all slots unless the form knows better.
        """
        return (tuple(range(nslots)),) if nslots else ()

    def curvature_apply(
        self, vbardot: Any, ps: Sequence[int], bk: Any, dv: Any
    ) -> None:
        """Add ``bk * sum_j C[i, j] * dv[ps[j]]`` to ``vbardot[ps[i]]`` for every slot.

        Args:
            vbardot: Tangents of the adjoints, by node id, added to in place.
            ps: Parent node ids, in slot order.
            bk: Adjoint of the node.
            dv: Tangents, by node id.

        Raises:
            UnsupportedOperationError: If the form records no exact entries.
        """
        message = (
            f"{type(self).__name__} does not define curvature_apply, so no exact "
            "Hessian-vector product passes through it: define it, or let "
            "has_exact_partials be False"
        )
        raise UnsupportedOperationError(message)

    @property
    def has_exact_partials(self) -> bool:
        """Whether an exact second-order product can be formed through this node."""
        return True
