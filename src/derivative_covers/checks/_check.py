"""The comparisons that make up a check, first order before second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from ..covers import RecordingOptions
from ..errors import ConstantProgramError, OptionError
from ._constant import constant_report
from ._first import FirstOrder
from ._program import Program
from ._report import CheckReport
from ._second import SecondOrder

__all__ = ["check"]


def check(
    f: Callable[..., Any],
    x0: Any,
    *,
    entries: int = 100,
    directions: int = 4,
    rtol: float | None = None,
    seed: int = 0,
    names: Any = None,
    **recording: Unpack[RecordingOptions],
) -> CheckReport:
    """Compare the derivatives of a program with differences of the plain program.

    The plain program is ``f`` itself on plain arrays of the same structure. What is
    compared: values; continuity; first derivatives (gradient or Jacobian) with
    extrapolated central differences of values; Hessian products with differences of
    gradients and, independently, with second differences of values; covers with second
    derivatives in sampled directions and pairs of inputs.

    Args:
        f: The function, as for :func:`tape_function`.
        x0: The point, with or without structure.
        entries: With at most so many inputs each one is compared by itself; beyond it,
            random directions serve, and the worst input is searched for where one of
            them fails.
        directions: Number of random directions.
        rtol: Relative deviation that is forgiven beside the error of the differences;
            None for 1e-6 (2e-3 for float32).
        seed: Seed of the random directions.
        names: What the report calls the inputs: a list of strings, one for each, or a
            dictionary of parameters. None: ``x0[0]``, or ``x0['rate']`` for a point in
            a dictionary.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`.

    Returns:
        A :class:`CheckReport`; its ``repr`` is a table, and ``raise_if_failed()`` makes
        a test of it.

    Raises:
        OptionError: If ``entries``, ``directions``, ``rtol`` or ``seed`` cannot be used.
        InputTypeError: If ``f``, ``x0`` or ``names`` cannot be used, or the plain program
            does not return numbers.
        ShapeError: If there are more or fewer names than inputs.
        DomainError: If the program leaves its domain at ``x0``.
        NondifferentiableError: If it is at a kink there (see ``kinks``).

    Guarantee:
        A deviation counts only where it exceeds the estimated error of the differences,
        which includes the rounding noise of the plain program. Where that error is as
        large as the derivative, the verdict is ``"undecided"``. Second derivatives whose
        effect is below 1e-60 of the value are not compared.

    Cost:
        About 30 runs of the plain program for each input or direction (10 more where a
        comparison disagrees, at smaller steps), and a dozen recordings for each
        direction and up to three outputs.

    Source:
        Richardson extrapolation of differences as in Ridders (1982), and the noise
        estimate of Moré and Wild (2011).

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> dc.check(lambda x: np.sum(np.exp(x) ** 2), [0.1, 0.2]).ok
        True
        >>> lost = dc.check(lambda x: x[0] * dc.value(x[1]), [2.0, 3.0])
        >>> lost.worst.where, lost.worst.computed, round(lost.worst.reference, 6)
        ('x0[1]', 0.0, 2.0)
    """
    for name, n in (("entries", entries), ("directions", directions)):
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
            msg = f"{name} is {n!r}; it must be an integer of at least 0."
            raise OptionError(msg)
    if directions < 1:
        msg = "directions is 0; at least one is needed."
        raise OptionError(msg)
    number = isinstance(rtol, (float, np.floating))
    if rtol is not None and not (number and 0 < rtol < 1):
        msg = f"rtol is {rtol!r}; it must be a number between 0 and 1."
        raise OptionError(msg)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        msg = f"seed is {seed!r}; it must be an integer of at least 0."
        raise OptionError(msg)
    with np.errstate(all="ignore"):
        return _report(
            Program(f, x0, recording, names), rtol, seed, int(entries), int(directions)
        )


def _report(
    program: Program, rtol: float | None, seed: int, entries: int, directions: int
) -> CheckReport:
    try:
        tape, outs = program.record()
    except ConstantProgramError as error:
        return constant_report(program, str(error), seed)
    slack = rtol or (1e-6 if program.dtype == np.float64 else 2e-3)
    rng = np.random.default_rng(seed)
    first = FirstOrder(program, tape, outs, slack, rng, directions)
    rows = first.values()
    if rows[0].verdict == "ok":
        rows += first.continuity()
        rows += first.slopes(entries)
        rows += SecondOrder(first).rows()
    return CheckReport(tuple(rows), tape.kinks)
