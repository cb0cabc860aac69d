"""The gradient of a chain of steps, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ...errors import ShapeError
from ..plans._cost import PlanCost
from ..plans._plan import Plan
from ..plans._schedule import Schedule
from ..states._nests import mapped
from ..states._states import canonical, given, matched, present, space, zeros_like
from ..steps._chain import Chain
from ..storage._journal import Saved
from ..storage._storage import Storage
from ._drive import Options, check_chain, check_options, drive, go_on
from ._events import Event
from ._gradient import GradientMode
from ._report import SweepReport, SweepResult, nothing_done

__all__ = ["resumed", "reverse_sweep"]


def reverse_sweep(
    chain: Chain,
    x0: Any,
    *,
    schedule: Schedule | Plan,
    storage: Storage | None = None,
    seed: Any = 1.0,
    params: Any = None,
    verify: Literal["fingerprint"] | None = None,
    progress: bool = False,
    on_event: Callable[[Event], object] | None = None,
) -> SweepResult:
    """Value of a chain of steps and its gradient, with few states in memory at once.

    Runs the chain forward and then reverses it step by step; states that are needed
    again are saved or computed once more, as the schedule has it.

    Args:
        chain: The steps. The last one gives one number.
        x0: The point: an array of any shape, a number, or a dict, list, tuple or
            namedtuple of them. Not modified.
        schedule: A schedule, such as ``Revolve(slots=10)``, or a plan of it.
        storage: Where slots lie; in memory if None. With a :class:`DiskStorage` a killed
            sweep can be resumed. :class:`TwoLevel` needs one for its second level.
        seed: Cotangent of the last state, a number. For a chain without steps: that of
            ``x0``, in its shape.
        params: Parameters that every step gets, of the same kinds as ``x0``; None: steps
            are called without.
        verify: ``"fingerprint"`` keeps eight bytes for every state and compares them
            whenever a state is computed again or restored.
        progress: Shows a bar, with the package ``rich``.
        on_event: Called with an :class:`Event` after every action, and in long advances.

    Returns:
        Value, cotangent of ``x0``, that of the parameters, and a report. A chain without
        steps gives ``x0`` and ``seed`` as they are.

    Raises:
        DomainError: A step left its domain, or a state or cotangent is not finite. Has
            ``step``, ``phase`` (``"advance"``, ``"record"`` or ``"reverse"``) and
            ``values``.
        NondifferentiableError: A recorded step is evaluated at a kink, jump or tie; has
            the same.
        ConstantProgramError: (a ValueError) The last step is recorded and its result
            depends neither on the state nor on the parameters.
        ShapeError: The last step gives no single number, or a cotangent has another
            shape than what it belongs to.
        InputTypeError: A state has a part that is no float.
        ScheduleError: A plan for another number of steps, or one that breaks the rules
            of its machine.
        StateMutationError: A step wrote into the state or the parameters.
        NondeterministicStepError: A step gave another state than before (found with
            ``verify``); has ``step``.
        StorageError: A state could not be kept, or is not as it was; the storage is in
            use or not empty.
        MissingPackageError: For ``progress`` without its package.

    Guarantee:
        All schedules give the same bits. With ``Transition.taped`` they are those of the
        gradient of the whole program on one tape that goes on with a copy of every state
        in C order (``x.copy()``), where the entries of all states are distinct recorded
        values, and equal it to rounding otherwise. A step before the last whose output is
        constant has cotangents zero. Exceptions of a step go on as they are, with a note of the step. After an error nothing is left in the
        storage. What :func:`resume` needs is left, in a :class:`DiskStorage`, by a kill,
        an interrupt (Ctrl-C) and a StorageError, such as a full disk.

    Cost:
        ``report.executed`` tells; the plan predicts it exactly. Beside the steps
        themselves about a microsecond for each evaluation and some tens for each step,
        to record, reverse, save and restore it. These are fewer than twenty where the
        steps are of ``Transition.from_vjp``, on an array or a few numbers in double
        precision (or an array in single), and there is neither ``verify``, ``progress``,
        ``on_event`` nor a DiskStorage; about three where all steps are recorded at once.
        Memory: slots, one live state, one cotangent and the record of one step.

    Source:
        A. Griewank, A. Walther, "Algorithm 799: revolve", ACM Trans. Math. Softw. 26
        (2000).

    Example:
        >>> import numpy as np
        >>> from derivative_covers.checkpoint import Chain, Revolve, reverse_sweep
        >>> def step(x, k):
        ...     return x + 0.01 * np.sin(x)
        >>> def energy(x, k):
        ...     return 0.5 * (x @ x)
        >>> chain = Chain([Chain.uniform(1000, step), energy])
        >>> result = reverse_sweep(chain, np.array([0.5, -1.0]), schedule=Revolve(slots=5))
        >>> round(float(result.value), 6), result.cotangent.round(6)
        (9.868027, array([ 0.002268, -0.000599]))
        >>> result.report.executed.peak_slots
        5
    """
    options = check_options(verify, progress, on_event)
    plan = check_chain(chain, schedule)
    theta = None if params is None else given(params, "params")
    if not plan.steps:
        return _unchanged(x0, seed, theta, plan.cost)
    point = given(x0, "x0")
    factor = _factor(seed)
    mode = GradientMode(chain, theta, factor)
    own = {"seed": factor.hex()}
    with mode.running():
        report = drive(
            "gradient",
            mode,
            plan,
            point,
            storage,
            params=theta,
            own=own,
            options=options,
        )
    return _result(mode, report)


def resumed(
    chain: Chain,
    plan: Plan,
    saved: Saved,
    *,
    params: Any,
    verify: Any,
    progress: bool,
    on_event: Callable[[Event], object] | None,
) -> SweepResult:
    """The result of a sweep that goes on from its journal."""
    options: Options = check_options(verify, progress, on_event)
    seed = float.fromhex(saved.header["own"]["seed"])
    mode = GradientMode(chain, params, seed)
    with mode.running():
        report = go_on(mode, plan, saved, options)
    return _result(mode, report)


def _result(mode: GradientMode, report: SweepReport) -> SweepResult:
    """Copies, since a reverse rule may have given memory that it keeps."""
    params = mode.params_cotangent
    return SweepResult(
        mode.value,
        present(mapped(mode.cotangent, _copied, "")),
        None if params is None else present(mapped(params, _copied, "")),
        report,
    )


def _copied(a: Any) -> Any:
    return a.copy()


def _factor(seed: Any) -> float:
    found = given(seed, "seed")
    if type(found) is not np.ndarray or found.size != 1:
        msg = (
            f"seed is {space(found).describe()}; the cotangent of the last state is one "
            "number."
        )
        raise ShapeError(msg)
    return float(found.reshape(())[()])


def _unchanged(x0: Any, seed: Any, params: Any, cost: PlanCost) -> SweepResult:
    """A chain without steps is the identity."""
    target = space(canonical(x0, "x0", convert=True))
    matched(seed, target, "without steps, seed is the cotangent of x0 itself; it")
    zeros = None if params is None else present(zeros_like(params))
    return SweepResult(x0, seed, zeros, nothing_done(cost))
