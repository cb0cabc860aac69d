"""Hessian-vector products along a chain of steps, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...results import Result, Summary
from ..plans._plan import Plan
from ..plans._schedule import Schedule
from ..steps._chain import Chain
from ..storage._journal import Saved
from ..storage._storage import Storage
from ._drive import check_chain, check_options, drive, go_on
from ._events import Event
from ._hvp_mode import HvpMode
from ._local import all_taped
from ._report import SweepReport, nothing_done
from ._tables import summary
from ._wrt import Inputs, inputs_of_sweep

__all__ = ["ChainHvp", "hvp_sweep", "resumed_hvp"]


@dataclass(frozen=True, eq=False, repr=False)
class ChainHvp(Result):
    """The product of the Hessian of a chain with a direction, and what comes with it.

    Attributes:
        value: The last state, a NumPy scalar.
        gradient: Its gradient with respect to ``x0``, in the containers and shapes of
            ``x0``.
        hvp: Derivative of that gradient in the direction ``(v, params_v)``, likewise.
        params_gradient: Gradient with respect to the parameters, or None without.
        params_hvp: Its derivative in that direction, or None.
        report: What the sweep did.
    """

    value: Any
    gradient: Any
    hvp: Any
    params_gradient: Any
    params_hvp: Any
    report: SweepReport

    def _summary(self) -> Summary:
        columns = {"gradient": self.gradient, "hvp": self.hvp}
        params = {"gradient": self.params_gradient, "hvp": self.params_hvp}
        return summary("ChainHvp", self.value, columns, params)


def hvp_sweep(
    chain: Chain,
    x0: Any,
    v: Any,
    *,
    schedule: Schedule | Plan,
    params: Any = None,
    params_v: Any = None,
    storage: Storage | None = None,
    verify: Literal["fingerprint"] | None = None,
    progress: bool = False,
    on_event: Callable[[Event], object] | None = None,
) -> ChainHvp:
    """Product of the Hessian of a chain of steps with a direction, in bounded memory.

    The Hessian is that of the last state with respect to ``x0`` and the parameters
    together.

    Args:
        chain: The steps, each a ``Transition.taped`` or a plain function. The last one
            gives one number.
        x0: The point: an array of any shape, a number, or a dict, list, tuple or
            namedtuple of them; all of one type, float64 or float32. Not modified.
        v: Direction of ``x0``, in its containers and shapes.
        schedule: A schedule, such as ``Revolve(slots=10)``, or a plan of it.
        params: Parameters that every step gets, of the same kinds as ``x0``; None: steps
            are called without.
        params_v: Direction of the parameters; None: zero.
        storage: Where slots lie; in memory if None. With a :class:`DiskStorage` a killed
            sweep can be resumed. :class:`TwoLevel` needs one for its second level.
        verify: ``"fingerprint"`` keeps eight bytes for every state and compares them
            whenever a state is computed again or restored.
        progress: Shows a bar, with the package ``rich``.
        on_event: Called with an :class:`Event` after every action, and in long advances.

    Returns:
        A :class:`ChainHvp`. A chain without steps is the identity of one number:
        gradient 1, product 0.

    Raises:
        UnsupportedOperationError: (a TypeError) if a step has a reverse rule and no
            tape, or a node that declares a bound on its curvature instead of exact
            second partials; the message names the step.
        DomainError: A step left its domain, or a state, its tangent, the gradient or
            the product is not finite. Has ``step``, ``phase`` and ``values``.
        NondifferentiableError: A step is evaluated at a kink, jump or tie; has the same.
        ConstantProgramError: (a ValueError) if the result depends neither on ``x0`` nor on
            the parameters.
        ShapeError: The last step gives no single number, or a direction has another
            shape.
        InputTypeError: A state has a part that is no float, or not of the one type.
        OptionError: (a ValueError) for a direction or options that cannot be used.
        ScheduleError: A plan for another number of steps, or one that breaks the rules
            of its machine.
        StateMutationError: A step wrote into the state or the parameters.
        NondeterministicStepError: A step gave another state than before (found with
            ``verify``).
        StorageError: A state could not be kept, or is not as it was.

    Guarantee:
        Exact to rounding, and all schedules give the same bits. They are those of
        :func:`derivative_covers.hvp` of the whole program on one tape if that goes on with
        a copy of every state in C order, ``x.copy()``, as a chain does.

    Cost:
        ``report.executed`` counts evaluations of steps; all of them are recorded ones
        with a forward sweep, and a slot holds about three times the state. Memory: slots,
        one live state, two vectors of its size and of the parameters', the tape of one
        step.

    Source:
        Griewank and Walther, Evaluating Derivatives (2008), section 5.2, cut at the
        states of the chain.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.checkpoint import Chain, Revolve, hvp_sweep
        >>> def step(x, k):
        ...     return x + 0.01 * np.sin(x)
        >>> def energy(x, k):
        ...     return 0.5 * (x @ x)
        >>> chain = Chain([Chain.uniform(200, step), energy])
        >>> found = hvp_sweep(
        ...     chain, np.array([0.5, -1.0]), np.array([1.0, 0.0]), schedule=Revolve(slots=5)
        ... )
        >>> found.hvp.round(3)
        array([-8.279,  0.   ])
    """
    options = check_options(verify, progress, on_event)
    plan = check_chain(chain, schedule)
    all_taped(chain, "hvp_sweep")
    inputs = inputs_of_sweep(x0, params)
    direction = inputs.vectors(v, params_v, "v", 0.0)
    if not plan.steps:
        inputs.refuse_vector()
        zeros = inputs.of_params(np.zeros(inputs.nparams))
        return ChainHvp(
            x0,
            inputs.constant(1.0),
            inputs.constant(0.0),
            zeros,
            zeros,
            nothing_done(plan.cost),
        )
    mode = HvpMode(chain, inputs.params, direction)
    report = drive(
        "hvp",
        mode,
        plan,
        inputs.x0,
        storage,
        params=inputs.params,
        own={},
        options=options,
    )
    return _result(inputs, mode, report)


def resumed_hvp(
    chain: Chain,
    plan: Plan,
    saved: Saved,
    *,
    params: Any,
    verify: Any,
    progress: bool,
    on_event: Callable[[Event], object] | None,
) -> ChainHvp:
    """The result of a sweep that goes on from its journal."""
    options = check_options(verify, progress, on_event)
    all_taped(chain, "hvp_sweep")
    buffers = saved.buffers
    inputs = Inputs(buffers["x0"], params)
    mode = HvpMode(chain, params, (buffers["direction"], buffers["params_direction"]))
    return _result(inputs, mode, go_on(mode, plan, saved, options))


def _result(inputs: Inputs, mode: HvpMode, report: SweepReport) -> ChainHvp:
    return ChainHvp(
        mode.value,
        inputs.of_x0(mode.v),
        inputs.of_x0(mode.b),
        inputs.of_params(mode.params_v),
        inputs.of_params(mode.params_b),
        report,
    )
