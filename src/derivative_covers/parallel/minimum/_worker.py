"""What a worker does: judge a batch of boxes by a recording that holds over all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...covers import RecordingOptions, check_options
from ...covers._compiled import explain_compiled, is_compiled
from ...elements import Interval
from ...errors import (
    ConstantProgramError,
    NondifferentiableError,
    ShapeError,
    UndecidedError,
)
from ...tape import Tape, record
from ._jets import BoxProgram
from ._judge import Verdicts, judge

__all__ = ["UNDECIDED", "BoxWorker", "Task"]

Array = NDArray[Any]
UNDECIDED = (NondifferentiableError, UndecidedError)
_RECORDINGS = 64  # kept by a worker


class Task(NamedTuple):
    """Boxes to judge, one a row.

    Attributes:
        part: Ends of a box that contains all of them, over which to record; of shape
            ``(2, n)``.
        lo: Lower ends.
        hi: Upper ends.
        target: A bound of this size is enough.
    """

    part: Array
    lo: Array
    hi: Array
    target: float


@dataclass
class BoxWorker:
    """Judges batches of boxes; it may be sent to other processes if ``f`` may.

    Attributes:
        f: The function.
        recording: How it is recorded.
        shape: The shape of its argument.
        domain: Ends of the whole box, of shape ``(2, n)``.
    """

    f: Any
    recording: RecordingOptions
    shape: tuple[int, ...]
    domain: Array
    _programs: dict[bytes, BoxProgram] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Recordings stay where they are."""
        return {**self.__dict__, "_programs": {}}

    def __call__(self, task: Task) -> Verdicts | Exception:
        """The verdicts, or what the function raised over the part."""
        try:
            program = self.program(task.part)
            widths = self.domain[1] - self.domain[0]
            return judge(program, task.lo, task.hi, widths, task.target)
        except UNDECIDED as error:
            return error

    def program(self, part: Array) -> BoxProgram:
        """The function recorded over a box."""
        key = part.tobytes()
        found = self._programs.get(key)
        if found is None:
            tape, out = self._recorded(part)
            if np.size(out) != 1:
                msg = (
                    "minimize_box needs a function with a scalar result; this one gives "
                    f"shape {np.shape(out)}. Return a sum, a maximum or one entry."
                )
                raise ShapeError(msg)
            found = BoxProgram(tape, int(np.ravel(out)[0]))
            if len(self._programs) >= _RECORDINGS:
                self._programs.clear()
            self._programs[key] = found
        return found

    def _recorded(self, part: Array) -> tuple[Tape, Any]:
        """As ``tape_function``, but for its refusal of a function that is not bounded.

        Parts of the box may well be bounded, and what was recorded holds over them.
        """
        options = self.recording
        args, kwargs = options.get("args", ()), options.get("kwargs")
        rewriting = options.get("numpy")
        check_options(args, kwargs, "raise", rewriting)
        f = self.f
        if rewriting is not None or is_compiled(f):
            from ...rewrite import with_numpy  # noqa: PLC0415 - most programs do without

            f = with_numpy(f)
        lo, hi = (np.array(end).reshape(self.shape) for end in part)
        try:
            box = Interval(lo, hi)
            try:
                return record(f, box, tuple(args), kwargs, branch=False)
            except ConstantProgramError:  # which is no fault on a part
                if np.array_equal(part, self.domain):
                    raise
                return record(_anchored(f), box, tuple(args), kwargs, branch=False)
        except Exception as error:
            explain_compiled(error)
            raise


def _anchored(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function plus zero times its first variable, where it depends on none."""

    def anchored(x: Any, *args: Any, **kwargs: Any) -> Any:
        found = f(x, *args, **kwargs)
        zero = 0.0 * (x.ravel()[0] if np.ndim(x) else x)
        if isinstance(found, list | tuple):
            return [each + zero for each in found]
        return found + zero

    return anchored
