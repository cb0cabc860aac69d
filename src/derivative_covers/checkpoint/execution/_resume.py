"""Going on with a sweep whose process was killed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ...errors import InputTypeError, ScheduleError, ShapeError, StorageError
from ..plans._plan import Plan
from ..plans._schedule import Schedule
from ..states._states import given
from ..steps._chain import Chain
from ..storage._disk import DiskStorage, load
from ..storage._journal import sweep_header
from ._cover import resumed_cover
from ._drive import check_chain
from ._hvp import resumed_hvp
from ._sweep import resumed

__all__ = ["resume"]

_KINDS: dict[str, Callable[..., Any]] = {
    "gradient": resumed,
    "cover": resumed_cover,
    "hvp": resumed_hvp,
}


def resume(
    folder: str | os.PathLike[str],
    chain: Chain,
    *,
    params: Any = None,
    schedule: Schedule | Plan | None = None,
    storage: DiskStorage | None = None,
    verify: str | None = None,
    progress: bool = False,
    on_event: Callable[[Any], object] | None = None,
) -> Any:
    """Goes on with the unfinished sweep that lies in a folder, to the same bits.

    Args:
        folder: The folder of the :class:`DiskStorage` that the sweep used.
        chain: The same steps as before.
        params: The same parameters as before.
        schedule: Needed only for a third party's schedule: an equal one, or its plan.
        storage: A :class:`DiskStorage` of the same folder, whose ``capacity`` and
            ``journal_seconds`` hold from now on, as where the capacity was too small;
            None goes on with those of before.
        verify: ``"fingerprint"`` compares states from now on. A sweep that did so before
            goes on with it anyway, with new fingerprints.
        progress: Shows a bar, with the package ``rich``.
        on_event: Called with an :class:`Event` after every action.

    Returns:
        What the sweep would have returned: a :class:`SweepResult`, or what
        ``cover_sweep`` and ``hvp_sweep`` return. Its counts are those of the whole sweep,
        as if there had been no kill; its seconds are those of all its parts, up to their
        last records.

    Raises:
        StorageError: No unfinished sweep lies in the folder (:func:`unfinished` tells),
            it is running still, or a file is missing, damaged or foreign.
        ShapeError: The chain has another length, or the parameters another shape.
        InputTypeError: The parameters are other ones than those of the sweep.
        ScheduleError: The schedule is another one.
        OptionError: An option has no such value, or ``storage`` has another folder.
        DerivativeError: As the sweep itself, whose steps go on.

    Guarantee:
        The steps must be the same functions: of these, no file can tell. With them,
        result and counts are those of the undisturbed sweep, bit for bit. After an error
        the folder still holds the sweep.

    Cost:
        Reads every file once to verify it, and makes the plan's actions up to the last
        record anew; no step is run that comes before that.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from derivative_covers import checkpoint as cp
        >>> chain = cp.Chain([cp.Transition.taped(lambda x, k: np.sin(x))] * 9
        ...                  + [cp.Transition.taped(lambda x, k: x @ x)])
        >>> def interrupt(event):
        ...     if event.done > 12:
        ...         raise KeyboardInterrupt
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     disk = cp.DiskStorage(folder, journal_seconds=0)
        ...     try:
        ...         cp.reverse_sweep(chain, np.ones(3), schedule=cp.Revolve(slots=2),
        ...                          storage=disk, on_event=interrupt)
        ...     except KeyboardInterrupt:
        ...         result = cp.resume(folder, chain)
        >>> whole = cp.reverse_sweep(chain, np.ones(3), schedule=cp.Revolve(slots=2))
        >>> np.array_equal(result.cotangent, whole.cotangent)
        True
        >>> result.report.executed == whole.report.executed
        True
    """
    offered: Any = chain
    if not isinstance(offered, Chain):
        message = (
            f"chain is of type {type(chain).__name__}; the Chain of the sweep that was killed is "
            "needed."
        )
        raise InputTypeError(message)
    limits: Any = storage
    if limits is not None and not isinstance(limits, DiskStorage):
        message = (
            f"storage is {limits!r:.80}; a DiskStorage of the sweep's folder is needed, "
            "or None for the limits of before."
        )
        raise InputTypeError(message)
    kept = None if params is None else given(params, "params")
    saved = load(folder, storage)
    try:
        header = saved.header
        if len(chain) != header["steps"]:
            message = (
                f"the chain has {len(chain)} steps, and the sweep in {folder} has "
                f"{header['steps']}: give resume the chain of that sweep"
            )
            raise ShapeError(message)
        plan = _plan(header, chain, schedule)
        _check_params(sweep_header("", plan, kept, {})["params"], header["params"])
        go_on = _KINDS.get(header["kind"])
        if go_on is None:
            message = (
                f"the sweep in {folder} is of the kind {header['kind']!r}, which this "
                f"version does not know; known are {', '.join(_KINDS)}"
            )
            raise StorageError(message, "journal")
        return go_on(
            chain,
            plan,
            saved,
            params=kept,
            verify=verify,
            progress=progress,
            on_event=on_event,
        )
    except BaseException:
        saved.storage.close()
        raise


def _plan(
    header: dict[str, Any], chain: Chain, schedule: Schedule | Plan | None
) -> Plan:
    """The plan of the sweep, from its header or from an equal schedule."""
    if schedule is None:
        if header["plan"] is not None:
            try:
                return Plan.from_json(header["plan"])
            except ScheduleError as fault:
                message = (
                    "the sweep has a schedule that this package does not know: give it "
                    "as schedule=..., equal to that of the sweep"
                )
                raise ScheduleError(message) from fault
        message = "the sweep has a third party's schedule: give it as schedule=..."
        raise ScheduleError(message)
    plan = check_chain(chain, schedule)
    found = sweep_header("", plan, None, {})
    for what in ("plan", "cost"):
        if found[what] != header[what]:
            message = (
                f"the schedule {plan.schedule!r:.80} is not that of the sweep: its {what} is "
                f"{found[what]}, and that of the sweep {header[what]}"
            )
            raise ScheduleError(message)
    return plan


def _check_params(found: list[Any] | None, needed: list[Any] | None) -> None:
    if found == needed:
        return
    if found is None or needed is None:
        message = (
            f"the sweep has {'no' if needed is None else 'its'} params, and resume got "
            f"{'none' if found is None else 'some'}: give the same as in the sweep"
        )
        raise InputTypeError(message)
    if found[0] != needed[0]:
        message = f"params are {found[0]}, and those of the sweep {needed[0]}"
        raise ShapeError(message)
    message = "params have other values than in the sweep: give the same as before"
    raise InputTypeError(message)
