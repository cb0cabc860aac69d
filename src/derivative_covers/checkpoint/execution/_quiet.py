"""Actions that nobody watches, on steps with reverse rules and simple states, in one loop.

To call ledger, mode and storage for each action takes longer than a short step.
:func:`quiet` keeps their numbers in local variables instead, and states as steps receive
them. It ends before whatever is out of the ordinary, an action that breaks a rule or a
state that is not finite among it, and leaves everything as :class:`.Execution` would
have: so what such actions mean, and how they fail, is written down there alone. A law
holds the two to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..plans._actions import Action
from ..states._space import fits, space
from ..states._states import canonical, present
from ..steps._blame import blame
from ..steps._transition import FromVjp
from ._by_hand import ByHand, by_hand, telling
from ._gradient import GradientMode
from ._modes import Record
from ._slots import Slots

if TYPE_CHECKING:
    from ._execute import Execution

__all__ = ["END", "quiet", "suited"]

END = object()


def suited(run: Execution) -> GradientMode | None:
    """The mode of an execution in which :func:`quiet` may have anything to do."""
    mode = run.mode
    if type(mode) is not GradientMode:
        return None
    kinds = {type(step) for step, _, _ in mode.forward.chain.runs}
    return mode if FromVjp in kinds else None


def quiet(
    run: Execution, mode: GradientMode, actions: Iterator[Any], action: Any
) -> Any:
    """Does actions, from ``action`` on, as long as they are ordinary.

    Returns:
        The first one that is not ordinary, not yet done; END after the last.

    Raises:
        As the steps, their reverse rules and the storage.
    """
    hand = _setting(run, mode, action)
    if hand is None:
        return action
    ledger, measured, live = run.ledger, run.measured, run._live
    first, end, target, good = hand.first, hand.end, hand.target, hand.good
    slots = Slots.of(run, hand)
    held, save = ledger.slots["memory"], slots.save
    restore, drop = slots.restore, slots.drop
    steps, step, call = mode.forward.steps, hand.step, hand.call
    add, leave, flagged = ledger.replays.add, ledger.replays.leave, mode.forward.flagged
    at, low, unsure = ledger.live, ledger.cotangent, run._unsure
    if live:
        live[0] = present(live[0])
    bar, mode.cotangent = present(mode.cotangent), None  # nobody else keeps it
    x: Any = None  # the state of the record, that of step ``at - 1``
    after = target  # the space of what that step gave
    done = advanced = recorded = unrecorded = 0
    high = slots.least
    clock, now, seconds, doing = perf_counter, run._clock, measured.seconds, ""
    try:
        for action in chain((action,), actions):  # noqa: B020
            if type(action) is not Action:
                break
            kind, a, b, level = action
            if type(a) is not int or type(b) is not int or level != "memory":
                break
            if kind == "reverse":
                if x is None or b != low or b != at or b != a + 1:
                    break
                live.clear()
                at, low, phase, doing = None, a, "reverse", "reverse"
                unrecorded += leave(a)
                held_x, x = x, None
                bar, held_x, doing = hand.reverse(held_x, bar, a), None, ""
            elif x is not None:
                break
            elif kind == "advance":
                if at != a or not first <= a < b <= low or b > end:
                    break
                add(a, b, b == low)
                advanced += b - a
                at, unsure, phase = b, True, "advance"
                if flagged:  # by something between the steps
                    flagged.clear()
                live.append(steps(step, call, live.pop(), a, b))
            elif kind == "record":
                if at != a or b != a + 1 or not first <= a < low or b > end:
                    break
                if unsure and not good(live[0]):
                    break
                at, unsure, phase, doing = b, False, "record", "record"
                y, x, after = hand.record(live.pop(), a)
                live.append(y)
                y, doing = None, ""
                recorded += 1
                if slots.more > high:
                    high = slots.more
            elif kind == "restore":
                if b != a or a not in held:
                    break
                live.clear()
                y = restore(a)
                if y is None:
                    break
                live.append(y)
                at, unsure, phase, y = a, False, "storage", None
            elif kind == "save":
                if at != a or b != a or a in held or (unsure and not good(live[0])):
                    break
                unsure, phase = False, "storage"
                save(a, live[0])
            else:
                if kind != "drop" or b != a or a not in held or not drop(a):
                    break
                phase = "storage"
            done += 1
            then = clock()
            seconds[phase] += then - now
            now = then
            if after is not target:
                action = next(actions, END)
                break
        else:
            action = END
    except BaseException as error:
        if doing:
            blame(error, a, doing)
        raise
    ledger.position += done
    ledger.live, ledger.cotangent = at, low
    counts = ledger.counts
    counts["unrecorded"] += advanced
    counts["recorded"] += recorded
    if live:
        live[0] = canonical(live[0], "the state")
    if bar is not None:
        mode.hold(canonical(bar, "the cotangent"), target)
    size, before = target.nbytes, run._slot_bytes
    run._live_bytes, run._unsure, run._clock = size if live else 0, unsure, now
    slots.close(mode.nbytes)
    measured.forward += recorded
    measured.reverse += recorded
    measured.unrecorded += unrecorded
    if recorded:
        counts["peak_records"] = max(counts["peak_records"], 1)
        measured.tape = max(measured.tape, size)
        measured.weigh(mode.nbytes + size, size, before + high * size)
    if x is not None and at is not None:
        k = at - 1
        pullback = partial(step.pull, x, mode.forward.params, k)
        ledger.records.add(k)
        run._records[k] = Record((pullback, target, after), 1, 1, size)
        run._record_bytes = size
        if after is not target:
            run._live_bytes = after.nbytes
            measured.weigh(mode.nbytes + size, after.nbytes, run._slot_bytes)
    return action


def _setting(run: Execution, mode: GradientMode, action: Any) -> ByHand | None:
    """The steps around an action; None where :func:`quiet` has nothing to do."""
    k, ledger, live = getattr(action, "start", None), run.ledger, run._live
    if type(k) is not int or not 0 <= k < ledger.steps or ledger.records:
        return None
    target = mode.space
    if target is None:
        if not live:
            return None
        target = space(live[0])
    if live and not fits(live[0], target.form):
        return None
    good = telling(target.form)
    if good is None:
        run.unsuited = target
        return None
    return by_hand(mode, k, target, good)
