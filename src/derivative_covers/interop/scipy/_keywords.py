"""Keywords that SciPy's functions take and ours do not, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...covers._arguments import RecordingOptions
from ...errors import OptionError

__all__ = ["check_keywords"]

_WHY = {
    "jac": "the Jacobian comes from the program",
    "gtol": "it has the units of a gradient; ftol and xtol have none",
    "x_scale": "the scale comes from the program; give typical sizes as scales",
    "diff_step": "derivatives are exact, without differences",
    "jac_sparsity": "the program shows which entries of the Jacobian vanish",
    "workers": "derivatives need no evaluations at other points",
    "callback": "minimize has one",
    "options": "options are arguments of their own, such as max_nfev",
}


def check_keywords(given: Mapping[str, Any], function: str) -> None:
    """Refuse keywords that are not those of recording.

    Raises:
        OptionError: If there is one.
    """
    for name in given:
        if name not in RecordingOptions.__annotations__:
            why = _WHY.get(name, "no such argument is known")
            msg = f"{function} takes no {name}: {why}."
            raise OptionError(msg)
