"""The scale references of a variable that is propagated forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..elements import magnitude
from ..errors import InputTypeError
from ..local import ScaleReference, SplitScale

if TYPE_CHECKING:
    from ._context import ForwardContext
    from ._fvar import FVar

__all__ = ["ForwardScale", "forward_scale"]


@dataclass(frozen=True, slots=True, eq=False)
class ForwardScale(ScaleReference):
    """A declared scale in hand, with liveness of its own.

    The scale may underflow to zero where the variable is live, so it does not answer for
    liveness.

    Attributes:
        sigma: The declared scale: ``sum_i |d_i| sigma_i`` over the parents.
        is_dead: Whether the intermediate gradient is identically zero.
        context: The propagation, which remembers that a scale was read.

    Example:
        >>> from derivative_covers.extend import ForwardScale, SplitScale, dead_slot
        >>> from derivative_covers.extend import declared_scale
        >>> s = SplitScale(0.0, ForwardScale(0.0, False))
        >>> declared_scale(s), dead_slot(s)
        (0.0, False)
    """

    sigma: Any
    is_dead: bool
    context: ForwardContext | None = None

    def scale(self) -> Any:
        """The declared scale."""
        if self.context is not None:
            self.context.asked = True
        return self.sigma

    def dead(self) -> bool:
        """Whether the intermediate gradient is identically zero."""
        return self.is_dead


def forward_scale(x: FVar) -> SplitScale:
    """Both scale references of a forward variable, as its blocks read them.

    The forward counterpart of :func:`split_scales`; nothing is deferred, since a
    variable carries its declared scale along.

    Args:
        x: A variable that is not constant.

    Returns:
        The magnitude of its value, and its :class:`ForwardScale`.

    Raises:
        InputTypeError: If ``x`` is no such variable.

    Cost:
        O(1).

    Example:
        >>> from derivative_covers import forward_cover
        >>> from derivative_covers.extend import declared_scale, forward_scale
        >>> def f(x):
        ...     s = forward_scale(x[0] * x[1])
        ...     print(float(s.value), float(declared_scale(s)))
        ...     return x[0]
        >>> cover = forward_cover(f, [2.0, -3.0])
        6.0 5.0
    """
    scale = getattr(x, "scale", None)
    if not isinstance(scale, ForwardScale):
        msg = (
            f"forward_scale got {x!r:.60}; a variable of a forward propagation that is "
            "not constant is needed."
        )
        raise InputTypeError(msg)
    return SplitScale(magnitude(x.v), scale)
