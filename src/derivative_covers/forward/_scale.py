"""The scale references of a variable that is propagated forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ..elements import magnitude
from ..errors import InputTypeError
from ..local import ScaleReference, SplitScale
from ..tape import TVar
from ._channels import ForwardChannels

if TYPE_CHECKING:
    from ._context import ForwardContext

__all__ = ["ForwardScale", "forward_channels", "forward_scale"]


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


def forward_scale(x: Any) -> SplitScale:
    """Both scale references of a forward variable, as its blocks read them.

    The forward counterpart of :func:`split_scales`; nothing is deferred, since a
    variable carries its declared scale along.

    Args:
        x: A variable of a forward propagation that is not constant: a scalar.

    Returns:
        The magnitude of its value, and its :class:`ForwardScale`.

    Raises:
        InputTypeError: If ``x`` is no such variable.

    Cost:
        O(1) for a :class:`FVar`; for an entry of a recorded array, the operations that
        wait are propagated first.

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
    if isinstance(scale, ForwardScale):
        return SplitScale(magnitude(x.v), scale)
    tape: Any = x.tape if isinstance(x, TVar) else None
    if not hasattr(tape, "scale_of"):
        _refuse("forward_scale", x)
    found: SplitScale = tape.scale_of(x.i)
    return found


def forward_channels(x: Any) -> ForwardChannels:
    """Intermediate gradient and squared cover of a forward variable.

    Args:
        x: A variable of a forward propagation that is not constant: a scalar.

    Returns:
        Its :class:`ForwardChannels`, in the storage of the propagation.

    Raises:
        InputTypeError: If ``x`` is no such variable.

    Cost:
        As :func:`forward_scale`, and O(n) for an entry of a recorded array.

    Example:
        >>> from derivative_covers import forward_cover
        >>> from derivative_covers.extend import forward_channels
        >>> def f(x):
        ...     print(forward_channels(x[0] * x[1]).square.dense(2))
        ...     return x[0]
        >>> cover = forward_cover(f, [2.0, -8.0])
        [4.   0.25]
    """
    found = getattr(x, "channels", None)
    if isinstance(found, ForwardChannels):
        return found
    tape: Any = x.tape if isinstance(x, TVar) else None
    if not hasattr(tape, "channels_of"):
        _refuse("forward_channels", x)
    rows: ForwardChannels = tape.channels_of(x.i)
    return rows


def _refuse(name: str, x: Any) -> NoReturn:
    msg = (
        f"{name} got {x!r:.60}; a scalar variable of a forward propagation that is not "
        "constant is needed, such as an entry x[0] of the program's argument."
    )
    raise InputTypeError(msg)
