"""Covers of the Hessian of a chain of steps, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import OptionError
from ...local import split_ratio
from ...results import Result, Summary, scales_notes
from ..plans._cost import PlanCost
from ..plans._plan import Plan
from ..plans._schedule import Schedule
from ..states._states import canonical, flat
from ..steps._chain import Chain
from ..storage._journal import Saved
from ..storage._storage import Storage
from ._carry import NeedsCarry
from ._cover_mode import CoverMode
from ._drive import Options, check_chain, check_options, drive, go_on
from ._events import Event
from ._local import all_taped
from ._report import SweepReport, nothing_done
from ._tables import summary
from ._wrt import Inputs, inputs_of_sweep, positive

__all__ = ["ChainCover", "cover_sweep", "resumed_cover"]


@dataclass(frozen=True, eq=False, repr=False)
class ChainCover(Result):
    """A cover of the Hessian of a chain, with value and gradient at the same point.

    With ``h`` and ``params_h`` as one vector ``(h, params_h)``, every entry of the
    Hessian with respect to ``x0`` and ``params`` together is at most the product of the
    two entries of that vector. ``numpy.asarray`` of it is ``h``, as one flat vector
    where ``x0`` is a nest.

    Attributes:
        value: The last state, a NumPy scalar.
        gradient: Its gradient with respect to ``x0``, in the containers and shapes of
            ``x0``.
        h: Nonnegative, likewise, with ``|H_ij| <= h_i h_j``.
        params_gradient: Gradient with respect to the parameters, or None without.
        params_h: The part of the cover that belongs to them, or None.
        asked: Whether some block had to read the declared scales, so that covariance
            under a change of units needs ``scales`` to change along.
        report: What the sweep did.
    """

    value: Any
    gradient: Any
    h: Any
    params_gradient: Any
    params_h: Any
    asked: bool
    report: SweepReport

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        if isinstance(self.h, (np.ndarray, np.generic)):
            return np.array(self.h, dtype=dtype, copy=copy)
        if copy is False:
            msg = "the cover lies in several arrays; one vector of it is always a copy."
            raise ValueError(msg)
        return flat(canonical(self.h, "h")).astype(dtype or None, copy=False)

    def _summary(self) -> Summary:
        columns = {"gradient": self.gradient, "h": self.h}
        params = {"gradient": self.params_gradient, "h": self.params_h}
        return summary(
            "ChainCover", self.value, columns, params, scales_notes(self.asked)
        )


def cover_sweep(
    chain: Chain,
    x0: Any,
    *,
    schedule: Schedule | Plan,
    params: Any = None,
    scales: Any = None,
    params_scales: Any = None,
    ratio: float | None = None,
    check: bool = True,
    carry: Literal["auto", "always"] = "auto",
    storage: Storage | None = None,
    verify: Literal["fingerprint"] | None = None,
    progress: bool = False,
    on_event: Callable[[Event], object] | None = None,
) -> ChainCover:
    """Value, gradient and Hessian cover of a chain of steps, in bounded memory.

    The sum merge of :func:`derivative_covers.cover_hessian`, with respect to ``x0`` and
    to the parameters, from tapes of one step at a time.

    Args:
        chain: The steps, each a ``Transition.taped`` or a plain function. The last one
            gives one number.
        x0: The point: an array of any shape, a number, or a dict, list, tuple or
            namedtuple of them; all of one type, float64 or float32. Not modified.
        schedule: A schedule, such as ``Revolve(slots=10)``, or a plan of it.
        params: Parameters that every step gets, of the same kinds as ``x0``; None: steps
            are called without.
        scales: Declared scales of ``x0``, positive, in its containers, shapes and units.
            They stand in where a block's parent values carry no scale (a product with a
            vanishing factor). None: all 1.
        params_scales: The same for the parameters.
        ratio: How lopsided a pair of parent values must be to carry no scale, in
            [0, 1); None for the square root of the machine epsilon.
        check: Verify every local cover.
        carry: ``"auto"`` runs forward evaluations as they are, and begins once more at
            the first step whose cover depends on more than its own inputs' values:
            where an entry of a state is a constant, a parameter, the same node as
            another, or has an exactly zero gradient, and where declared scales are
            asked for. From then on forward evaluations are recorded and carry these
            facts. ``"always"`` carries from the start, which saves the first attempt
            where it is known to fail.
        storage: Where slots lie; in memory if None. With a :class:`DiskStorage` a killed
            sweep can be resumed. :class:`TwoLevel` needs one for its second level.
        verify: ``"fingerprint"`` keeps eight bytes for every state and compares them
            whenever a state is computed again or restored.
        progress: Shows a bar, with the package ``rich``.
        on_event: Called with an :class:`Event` after every action, and in long advances.

    Returns:
        A :class:`ChainCover`. A chain without steps is the identity of one number:
        gradient 1, cover 0.

    Raises:
        DomainError: A step left its domain, or a state, the gradient or the cover is not
            finite. Has ``step``, ``phase`` (``"advance"``, ``"record"`` or
            ``"reverse"``) and ``values``.
        NondifferentiableError: A step is evaluated at a kink, jump or tie; has the same.
        ConstantProgramError: (a ValueError) if the result depends neither on ``x0`` nor on
            the parameters.
        UnsupportedOperationError: (a TypeError) if a step has a reverse rule and no
            tape.
        ShapeError: The last step gives no single number, or scales have another shape.
        InputTypeError: A state has a part that is no float, or not of the one type.
        OptionError: (a ValueError) for scales, a ratio or options that cannot be used.
        ScheduleError: A plan for another number of steps, or one that breaks the rules
            of its machine.
        StateMutationError: A step wrote into the state or the parameters.
        NondeterministicStepError: A step gave another state than before (found with
            ``verify``).
        StorageError: A state could not be kept, or is not as it was.
        CoverError: If a check fails, which is a bug.

    Guarantee:
        Covers to rounding, whatever the schedule, and all schedules give the same bits.
        They are those of ``cover_hessian`` of the whole program on one tape if that goes
        on with a copy of every state in C order, ``x.copy()``, as a chain does. Where a
        step returns a view such as ``x[::-1]`` or ``x.T``, a program without the copy
        adds in another order, and is equal to rounding.
        Under ``x -> D x`` with powers of two, ``h`` changes by exactly those powers, bit
        for bit, where ``asked`` is False, and otherwise if scales change along.

    Cost:
        ``report.executed`` counts evaluations of steps. Recording and reversing a step
        takes ten to twenty times the step where its arrays are large, more where they
        are rolled or indexed, and about 80 microseconds for each NumPy call where they
        are small. With ``report.carried`` all evaluations were recorded ones, and slots
        hold three times the state and a byte an entry more; ``report.abandoned`` is what
        the attempt before cost. Memory: slots, one live state, two vectors of its size
        and of the parameters', the tape of one step.

    Source:
        The chain rule in outer-product form: the Hessian is the sum over nodes of
        adjoint times second partials times outer products of intermediate gradients.
        Its sum merge is a reverse sweep, so that it can be cut where a chain is.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.checkpoint import Chain, Revolve, cover_sweep
        >>> def step(x, k):
        ...     return x + 0.01 * np.sin(x)
        >>> def energy(x, k):
        ...     return 0.5 * (x @ x)
        >>> chain = Chain([Chain.uniform(200, step), energy])
        >>> cover = cover_sweep(chain, np.array([0.5, -1.0]), schedule=Revolve(slots=5))
        >>> cover.h.round(3)
        array([51.391, 35.115])
        >>> cover.report.executed.peak_slots, cover.report.carried
        (5, False)
    """
    options = check_options(verify, progress, on_event)
    plan = check_chain(chain, schedule)
    _check_own_options(carry, check)
    all_taped(chain, "cover_sweep")
    inputs = inputs_of_sweep(x0, params)
    split_ratio(ratio, inputs.dtype.type)
    found = inputs.vectors(scales, params_scales, "scales", 1.0)
    positive(found)
    if not plan.steps:
        inputs.refuse_vector()
        one, none = inputs.constant(1.0), inputs.constant(0.0)
        nothing = nothing_done(plan.cost)
        zeros = inputs.of_params(np.zeros(inputs.nparams))
        return ChainCover(x0, one, none, zeros, zeros, False, nothing)
    own = {
        "ratio": None if ratio is None else float(ratio).hex(),
        "check": bool(check),
        "carried": carry == "always",
    }
    mode = _mode(chain, inputs.params, found, own)

    def run(mode: CoverMode, own: dict[str, Any]) -> SweepReport:
        return drive(
            "cover",
            mode,
            plan,
            inputs.x0,
            storage,
            params=inputs.params,
            own=own,
            options=options,
        )

    return _finish(chain, inputs, mode, own, run, run)


def _check_own_options(carry: object, check: object) -> None:
    if carry not in ("auto", "always"):
        msg = f"carry is {carry!r:.80}; it must be 'auto' or 'always'."
        raise OptionError(msg)
    if not isinstance(check, (bool, np.bool_)):
        msg = f"check is {check!r:.80}; it must be True or False."
        raise OptionError(msg)


def resumed_cover(
    chain: Chain,
    plan: Plan,
    saved: Saved,
    *,
    params: Any,
    verify: Any,
    progress: bool,
    on_event: Callable[[Event], object] | None,
) -> ChainCover:
    """The result of a sweep that goes on from its journal."""
    options = check_options(verify, progress, on_event)
    all_taped(chain, "cover_sweep")
    own = saved.header["own"]
    buffers = saved.buffers
    inputs = Inputs(buffers["x0"], params)
    mode = _mode(chain, params, (buffers["scales"], buffers["params_scales"]), own)

    def rest(mode: CoverMode, own: dict[str, Any]) -> SweepReport:
        return go_on(mode, plan, saved, options)

    def again(mode: CoverMode, own: dict[str, Any]) -> SweepReport:
        saved.storage.end()
        verified = Options(
            options.verify or bool(own.get("verify")),
            options.progress,
            options.on_event,
        )
        return drive(
            "cover",
            mode,
            plan,
            inputs.x0,
            saved.storage,
            params=params,
            own=own,
            options=verified,
        )

    return _finish(chain, inputs, mode, own, rest, again)


_Run = Callable[[CoverMode, dict[str, Any]], SweepReport]


def _mode(
    chain: Chain, params: Any, scales: tuple[Any, Any], own: dict[str, Any]
) -> CoverMode:
    ratio = None if own["ratio"] is None else float.fromhex(own["ratio"])
    threshold = split_ratio(ratio, scales[0].dtype.type)
    return CoverMode(
        chain, params, scales, threshold, own["check"], carried=own["carried"]
    )


def _finish(
    chain: Chain,
    inputs: Inputs,
    mode: CoverMode,
    own: dict[str, Any],
    run: _Run,
    again: _Run,
) -> ChainCover:
    """Runs a sweep, and once more with carrying where the first attempt needs it."""
    abandoned = PlanCost(**own["abandoned"]) if "abandoned" in own else None
    report = None
    try:
        report = run(mode, own)
    except NeedsCarry as needs:  # not kept: its traceback holds the first attempt
        abandoned = needs.executed
    if report is None:
        assert abandoned is not None
        own = own | {"carried": True, "abandoned": asdict(abandoned)}
        mode = _mode(chain, inputs.params, mode.scales, own)
        report = again(mode, own)
    if abandoned is not None:
        report = replace(report, abandoned=abandoned)
    return ChainCover(
        mode.value,
        inputs.of_x0(mode.v),
        inputs.of_x0(mode.g),
        inputs.of_params(mode.params_v),
        inputs.of_params(mode.params_g),
        mode.asked,
        report,
    )
