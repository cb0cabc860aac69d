"""What helps where a recorded value was about to become a plain number."""

from __future__ import annotations

import sys
import sysconfig
from types import FrameType

__all__ = ["remedy"]

_INSTALLED = tuple({sysconfig.get_path(kind) for kind in ("purelib", "platlib")})
_INSIDE = (__name__.partition(".")[0], "numpy")
_ENTRY = f"{_INSIDE[0]}.rewrite._with_numpy"
_TOLD = ("scipy.sparse", "pandas")  # the usual remedies name these
_WRITE = (
    "Write that part out in NumPy (the formula of a density, the steps of an "
    "integrator), or give it as a black box with its derivatives, by "
    "derivative_covers.extend.blackbox; see docs/how-to/black-boxes.md"
)


def remedy(usual: str) -> str:
    """``usual``, unless the program that is running shows that it would not help.

    A function of another installed package that wants a plain number is not rewritten by
    ``with_numpy``; and where ``with_numpy`` is at work already, it need not be named.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _package(frame) in _INSIDE:
        frame = frame.f_back
    if frame is None:
        return usual
    name = _package(frame)
    if str(frame.f_globals.get("__name__")).startswith(_TOLD):
        return usual
    if frame.f_code.co_filename.startswith(_INSTALLED):
        more = (
            ""
            if name == "scipy"
            else f". Where {name} is Python throughout, "
            f"with_numpy(f, modules=[{name!r}]) rewrites it as well"
        )
        return (
            f"It is a function of {name} that asks for plain numbers, and with_numpy does "
            f"not change that. {_WRITE}{more}."
        )
    while frame is not None:
        if frame.f_globals.get("__name__") == _ENTRY:
            return (
                "The function runs through with_numpy already, which reaches neither "
                "compiled code nor arrays made before the recording: make the array "
                "inside of the function, as np.zeros_like(x) does, or by "
                "derivative_covers.numpy.array. If it is "
                f"compiled code that asks: {_WRITE[0].lower()}{_WRITE[1:]}."
            )
        frame = frame.f_back
    return usual


def _package(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__")
    return name.partition(".")[0] if isinstance(name, str) else ""
