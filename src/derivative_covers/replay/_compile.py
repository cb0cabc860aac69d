"""Record once, evaluate at many points or over many boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack, overload

from ..covers._arguments import RecordingOptions
from ..elements import Interval
from ..errors import OptionError
from ._box import CompiledBox
from ._compiled import Compiled

__all__ = ["compile"]


@overload
def compile(
    f: Callable[..., Any],
    x0: Interval,
    *,
    branches: int = 8,
    **recording: Unpack[RecordingOptions],
) -> CompiledBox: ...


@overload
def compile(
    f: Callable[..., Any],
    x0: Any,
    *,
    branches: int = 8,
    **recording: Unpack[RecordingOptions],
) -> Compiled: ...


def compile(
    f: Callable[..., Any],
    x0: Any,
    *,
    branches: int = 8,
    **recording: Unpack[RecordingOptions],
) -> Compiled | CompiledBox:
    """Record a program once, to replay it in compiled code wherever it is called.

    It is what an optimiser calls thousands of times. Comparisons of recorded values, and
    whatever else decides what the program does, are checked at every point: where one has
    another answer, the program is recorded again, and some recordings are kept.

    What the program takes from outside (data, options, parameters) is frozen: it is read
    when the program is recorded. Compile again after a change.

    Args:
        f: Function as in :func:`tape_function`.
        x0: Point of the first recording, in the shape or structure of all others; or an
            :class:`Interval`, the box of the first one.
        branches: How many recordings are kept; those that served last.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`.

    Returns:
        Over a box a :class:`CompiledBox`, which is about other boxes. At a point a
        :class:`Compiled`: called, it gives the value; ``gradient(x)``,
        ``value_and_gradient(x)``, ``hvp(x, v)``, ``hessian(x)``, ``jacobian(x)``,
        ``cover(x)``, ``forward_cover(x)`` are its derivatives, and at many points
        ``values(X)``, ``gradients(X)``, which gives values as well, and ``covers(X)``,
        which gives both and the covers.

    Raises:
        OptionError: If ``branches`` is not a positive integer.
        DerivativeError: As :func:`tape_function`.

    Guarantee:
        Results are those of a recording at the same point: to rounding of sums, and a few
        units in the last place for each function such as ``exp``. Programs that cannot
        be replayed (linear solves, functions with no compiled form of their own, other
        types than float64) are recorded or evaluated by NumPy each time, and stay exact.

    Cost:
        A compiled pass over the program: a few nanoseconds an operation. The first use of
        an elemental on a machine compiles it, in about a tenth of a second, and that of
        each kind of pass (gradients, covers, many points) takes some ten seconds; both
        are kept on disk. ``values`` and ``gradients`` at a thousand points or more
        compile up to four long runs of cheap entrywise operations once more, each as one,
        in about half a second each, kept on disk likewise.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> rosenbrock = lambda x: np.sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)
        >>> f = dc.compile(rosenbrock, [0.0, 0.0])
        >>> f.gradient([-1.0, 2.0])
        array([396., 200.])
        >>> f.cover([-1.0, 2.0]).h.shape
        (2,)
    """
    if not isinstance(branches, int) or isinstance(branches, bool) or branches < 1:
        msg = f"branches is {branches!r}; a positive integer is needed."
        raise OptionError(msg)
    if isinstance(x0, Interval):
        return CompiledBox(f, x0, branches, recording)
    return Compiled(f, x0, branches, recording)
