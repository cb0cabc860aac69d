"""Actions that nobody watches, on steps with reverse rules and simple states, in one loop.

To call ledger, mode and storage for each action takes longer than a short step.
:func:`quiet` keeps their numbers in local variables instead, and states as steps receive
them. It ends before whatever is out of the ordinary, an action that breaks a rule or a
state that is not finite among it, and leaves everything as :class:`.Execution` would
have: so what such actions mean, and how they fail, is written down there alone. A law
holds the two to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plans._actions import Action
from ..states._space import Entry, Nest, Space, fits, space
from ..states._states import SHORT, canonical, finite, present
from ..steps._blame import blame
from ..steps._transition import FromVjp
from ._gradient import GradientMode, given_back
from ._modes import Record

if TYPE_CHECKING:
    from ._execute import Execution

__all__ = ["END", "quiet", "suited"]

END = object()
_Array: Any = np.ndarray
_Double = np.float64
_DOUBLE = np.dtype(np.float64)
_NUMBER = frozenset((np.float64,))
_LEAST = 4  # steps of a run that are worth the way here


def suited(run: Execution) -> GradientMode | None:
    """The mode of an execution in which :func:`quiet` may have anything to do."""
    mode = run.mode
    if type(mode) is not GradientMode or mode.params_cotangent is not None:
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
    found = _setting(run, mode, action)
    if found is None:
        return action
    step, first, end, target, good = found
    ledger, measured, forward = run.ledger, run.measured, mode.forward
    live, storage, sizes = run._live, run._storages["memory"], run._slots
    slots, replays, vjp = ledger.slots["memory"], ledger.replays, step.vjp
    at, low, unsure = ledger.live, ledger.cotangent, run._unsure
    size, stored, saved = target.nbytes, run._stored_bytes, run._slot_bytes
    arrays = type(target.form) is Entry and target.form.shape != ()
    own: dict[int, int] = {}  # bytes of the slots with states of this space
    if live:
        live[0] = present(live[0])
    bar, mode.cotangent = present(mode.cotangent), None  # nobody else keeps it
    locked, flagged = mode.locked, forward.flagged
    held: Any = None  # the pullback of step ``at - 1``
    after = target  # the space of what it gave
    done = advanced = recorded = unrecorded = saves = restores = written = read = 0
    most = high = top = full = 0
    clock, now, seconds, doing = perf_counter, run._clock, measured.seconds, ""
    try:
        for action in chain((action,), actions):  # noqa: B020
            if type(action) is not Action:
                break
            kind, a, b, level = action
            if type(a) is not int or type(b) is not int or level != "memory":
                break
            if kind == "advance":
                if at != a or not first <= a < b <= low or b > end or held is not None:
                    break
                replays.add(a, b, b == low)
                advanced += b - a
                at, unsure, phase = b, True, "advance"
                if flagged:  # by something between the steps
                    flagged.clear()
                live.append(forward.steps(step, step.function, live.pop(), a, b, None))
            elif kind == "record":
                if at != a or b != a + 1 or not first <= a < low or b > end:
                    break
                if held is not None or (unsure and not good(live[0])):
                    break
                recorded += 1
                at, unsure, phase, doing = b, False, "record", "record"
                y, held = forward.by_hand(step, live.pop(), a)
                if not good(y):
                    y, _, _, after = forward.taken(y, held, target, a)
                    y = present(y)
                live.append(y)
                y, doing = None, ""
                if saved > high:
                    high = saved
            elif kind == "reverse":
                if b != low or held is None or a != held[2] or a != b - 1:
                    break
                live.clear()
                at, low, phase, doing = None, a, "reverse", "reverse"
                unrecorded += replays.leave(a)
                x, held = held[1], None
                try:
                    taken = vjp(x, bar, a)
                except TypeError as error:
                    step.explain_rule(error, None)
                    raise
                if not good(taken):
                    taken = present(given_back(taken, target, a))
                if arrays and taken is not bar:  # see GradientMode.reverse
                    if locked:
                        locked.pop().setflags(True)
                    if taken.flags.writeable:
                        taken.setflags(False)
                        locked.append(taken)
                bar, x, taken, doing = taken, None, None, ""
            elif kind == "restore":
                if b != a or held is not None:
                    break
                got = own.get(a)
                if got is None:
                    if a not in slots or not fits(storage.get(a), target.form):
                        break
                    own[a] = got = sizes["memory", a][0]
                live.clear()
                live.append(storage.get(a) if arrays else present(storage.get(a)))
                at, unsure, phase = a, False, "storage"
                restores += 1
                read += got
            elif kind == "save":
                if at != a or b != a or a in slots or held is not None:
                    break
                if unsure and not good(live[0]):
                    break
                unsure, phase = False, "storage"
                slots.add(a)
                x = live[0] if arrays else canonical(live[0], "the state")
                own[a] = put = storage.put(a, x)
                sizes["memory", a], x = (put, size), None
                saves += 1
                written += put
                stored += put
                saved += size
                if stored > full:
                    full = stored
                if saved > top:
                    top = saved
                if len(slots) > most:
                    most = len(slots)
            else:
                if kind != "drop" or b != a or a not in slots:
                    break
                slots.remove(a)
                own.pop(a, None)
                storage.drop(a)
                put, each = sizes.pop(("memory", a))
                stored -= put
                saved -= each
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
    counts["saves"] += saves
    counts["restores"] += restores
    counts["peak_slots"] = max(counts["peak_slots"], most)
    if recorded:
        counts["peak_records"] = max(counts["peak_records"], 1)
    if live:
        live[0] = canonical(live[0], "the state")
    if bar is not None:
        mode.hold(canonical(bar, "the cotangent"), target)
    run._live_bytes, run._unsure, run._clock = size if live else 0, unsure, now
    run._stored_bytes, run._slot_bytes = stored, saved
    measured.forward += recorded
    measured.reverse += recorded
    measured.unrecorded += unrecorded
    measured.written += written
    measured.read += read
    measured.peak_slots = max(measured.peak_slots, full)
    if saves:
        measured.weigh(mode.nbytes, size, top)
    if recorded:
        measured.tape = max(measured.tape, size)
        measured.weigh(mode.nbytes + size, size, high)
    if held is not None:
        ledger.records.add(held[2])
        run._records[held[2]] = Record((held, target, after), 1, 1, size)
        run._record_bytes = size
        if after is not target:
            run._live_bytes = after.nbytes
            measured.weigh(mode.nbytes + size, after.nbytes, saved)
    return action


_Setting = tuple[FromVjp, int, int, Space, Callable[[Any], bool]]


def _setting(run: Execution, mode: GradientMode, action: Any) -> _Setting | None:
    """The steps around an action, the space of their states, and what tells those.

    None where there is something that :func:`quiet` does not do.
    """
    k, steps = getattr(action, "start", None), run.ledger.steps
    if type(k) is not int or not 0 <= k < steps or run.ledger.records:
        return None
    step, first, end = mode.forward.chain.run_of(k)
    if type(step) is not FromVjp or end - first < _LEAST:
        return None
    live, target = run._live, mode.space
    if target is None:
        if not live:
            return None
        target = space(live[0])
    good = _telling(target.form)
    if good is None:
        run.unsuited = target
        return None
    if live and not fits(live[0], target.form):
        return None
    return step, first, min(end, steps - 1), target, good  # the last step gives a value


def _telling(form: Entry | Nest) -> Callable[[Any], bool] | None:
    """Tells whether something is clearly a finite state of a form, as steps receive it.

    None for forms other than arrays and numbers of double precision, and tuples of those.
    """
    if isinstance(form, Nest):
        count = len(form.parts)
        if form.kind is not tuple or form.parts != (Entry((), _DOUBLE),) * count:
            return None

        def numbers(y: Any) -> bool:
            return (
                type(y) is tuple
                and len(y) == count
                and _NUMBER.issuperset(map(type, y))
                and all(map(isfinite, y))
            )

        return numbers
    shape, dtype = form
    if dtype is not _DOUBLE:
        return None
    short = len(shape) == 1 and shape[0] <= SHORT

    def array(y: Any) -> bool:
        return (
            type(y) is _Array
            and y.dtype is _DOUBLE
            and y.shape == shape
            and y.base is None
            and y.flags.c_contiguous
            and ((short and isfinite(sum(y.tolist()))) or finite(y))
        )

    def number(y: Any) -> bool:
        return type(y) is _Double and isfinite(y)

    return array if shape else number
