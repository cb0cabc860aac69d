"""Pictures of covers, scales, plans and tapes, with matplotlib.

The extra ``plot`` brings it (``pip install '.[plot]'`` in a copy of the repository). Every
function takes ``ax=None``, draws on the axes that are given or on new ones, and returns
them, for titles of your own and ``ax.figure.savefig(...)``.
"""

from __future__ import annotations

from ._cover import cover
from ._scales import scales
from ._schedule import schedule
from ._tape import tape
from ._tightness import tightness

__all__ = ["cover", "scales", "schedule", "tape", "tightness"]
