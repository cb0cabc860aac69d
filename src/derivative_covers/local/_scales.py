"""The scale references that a slot of a node offers to the split of its block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

__all__ = [
    "DeferredScale",
    "ScaleReference",
    "ScaleSource",
    "SplitScale",
    "dead_slot",
    "declared_scale",
]


class ScaleReference(ABC):
    """Where a slot's declared scale comes from, when it is not a number in hand."""

    @abstractmethod
    def scale(self) -> Any:
        """The declared scale: nonnegative, of the magnitude type."""

    @abstractmethod
    def dead(self) -> bool:
        """Whether the slot's intermediate gradient is identically zero."""


@dataclass(frozen=True, slots=True)
class SplitScale:
    """Both scale references of one slot, from which its block chooses.

    The choice belongs to a block, not to a node: a value that carries scale in one
    product may be the vanishing operand of another. So both travel together.

    Attributes:
        value: Magnitude of the parent's value.
        declared: What :func:`declared_scale` resolves: the declared scale itself, or a
            :class:`ScaleReference` that finds it when a block asks.

    Example:
        >>> declared_scale(SplitScale(0.0, 2.5))
        2.5
    """

    value: Any
    declared: Any


class ScaleSource:
    """The declared scales and the liveness of all nodes, each built on first need.

    Args:
        scales: ``scales()`` gives the declared scale of every node, by node id. It is
            called at most once.
        dead: ``dead()`` gives, by node id, whether the intermediate gradient of a node
            is identically zero. It is called at most once.

    Example:
        >>> source = ScaleSource(lambda: [1.0, 0.0], lambda: [False, False])
        >>> s = SplitScale(0.0, source.reference(1))
        >>> source.built, dead_slot(s), source.built, declared_scale(s), source.built
        (False, False, False, 0.0, True)
    """

    def __init__(
        self,
        scales: Callable[[], Any],
        dead: Callable[[], Any],
    ) -> None:
        self._build_scales = scales
        self._build_dead = dead

    @cached_property
    def scales(self) -> Any:
        """Declared scale of every node; the first access builds them."""
        return self._build_scales()

    @cached_property
    def dead(self) -> Any:
        """Whether each node is dead; the first access finds out."""
        return self._build_dead()

    @property
    def built(self) -> bool:
        """Whether some block has asked for the declared scales."""
        return "scales" in self.__dict__

    def reference(self, node: int) -> DeferredScale:
        """The reference of one node."""
        return DeferredScale(self, node)


@dataclass(frozen=True, slots=True)
class DeferredScale(ScaleReference):
    """The declared scale and the liveness of a node, found when asked for.

    Liveness is kept apart from the scale, which may underflow to zero where the node is
    live.

    Attributes:
        source: The scales of all nodes, shared by every reference of one cover.
        node: Node id.
    """

    source: ScaleSource
    node: int

    def scale(self) -> Any:
        """The declared scale of the node; builds those of all nodes if needed."""
        return self.source.scales[self.node]

    def dead(self) -> bool:
        """Whether the intermediate gradient of the node is identically zero."""
        return bool(self.source.dead[self.node])


def declared_scale(s: Any) -> Any:
    """The declared scale behind a slot.

    Args:
        s: A :class:`SplitScale`, or what one holds as ``declared``.

    Returns:
        The number: ``declared`` itself, or what the reference resolves to. The first
        request to a :class:`DeferredScale` pays for one forward sweep.

    Example:
        >>> declared_scale(SplitScale(1.0, 3.0))
        3.0
    """
    declared = s.declared if isinstance(s, SplitScale) else s
    return declared.scale() if isinstance(declared, ScaleReference) else declared


def dead_slot(s: SplitScale) -> bool:
    """Whether the slot's intermediate gradient is identically zero.

    Every Hessian term of such a slot vanishes, so its entries need no cover and would
    only import the scale of the other slot. The test is exact: a tolerance could leave
    an entry uncovered. A declared scale in hand is read as the whole answer (dead where
    it is zero), which it is while it cannot underflow; references answer separately.

    Args:
        s: The slot's references.

    Returns:
        True if the slot is dead.

    Example:
        >>> dead_slot(SplitScale(1.0, 0.0)), dead_slot(SplitScale(0.0, 1.0))
        (True, False)
    """
    declared = s.declared
    if isinstance(declared, ScaleReference):
        return declared.dead()
    return bool(declared == 0)
