"""Options that are checked here, before anything is sent."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..covers import RecordingOptions, check_options
from ..covers._arguments import group_count
from ..errors import OptionError
from ..local import split_ratio

__all__ = ["check_ratio", "check_recording", "merging"]

MERGES = ("auto", "hybrid", "quadrature", "sum")


def check_recording(recording: RecordingOptions) -> None:
    """Refuse options of a recording that cannot be used.

    Raises:
        OptionError, InputTypeError: As :func:`tape_function`.
    """
    check_options(
        recording.get("args", ()),
        recording.get("kwargs"),
        recording.get("kinks", "raise"),
        recording.get("numpy"),
    )


def check_ratio(ratio: Any) -> None:
    """Refuse a ratio that no split takes.

    Raises:
        OptionError: It is not in [0, 1).
    """
    split_ratio(ratio, np.float64)


def merging(
    merge: Any, ngroups: Any, budget: Any, ratio: Any, merges: Any = MERGES
) -> dict[str, Any]:
    """The options of a merge, but for the number of groups.

    Raises:
        OptionError: They cannot be used, or not together.
    """
    check_ratio(ratio)
    if not isinstance(merge, str) or merge not in merges:
        msg = f"merge is {merge!r}; it must be one of {', '.join(map(repr, merges))}."
        raise OptionError(msg)
    if (merge == "hybrid") != (ngroups is not None):
        msg = (
            f"merge is {merge!r} and ngroups {ngroups!r}; 'hybrid' needs a number of "
            "groups, and nothing else takes one."
        )
        raise OptionError(msg)
    if budget is not None:
        if merge != "auto":
            msg = f"budget serves merge='auto'; merge is {merge!r}."
            raise OptionError(msg)
        group_count(budget, "budget")
    chosen = {} if merge == "hybrid" else {"merge": merge, "budget": budget}
    return {**chosen, "ratio": ratio}
