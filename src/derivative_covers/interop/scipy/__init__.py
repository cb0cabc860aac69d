"""SciPy's optimisers, with derivatives from the program and without regard to units.

Variables are counted in the natural steps of a cover, and the iteration ends by a test
that has no units: see :func:`minimize`.
"""

from __future__ import annotations

from ._least_squares import least_squares, x_scale
from ._minimize import minimize
from ._scaling import Scaling, scaling

__all__ = ["Scaling", "least_squares", "minimize", "scaling", "x_scale"]
