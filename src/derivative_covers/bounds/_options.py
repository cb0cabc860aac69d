"""Options of all bounds over boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from ..covers import RecordingOptions
from ..errors import InputTypeError, OptionError

__all__ = ["Bisection", "Options", "split_options"]


class Options(TypedDict, total=False):
    """Keyword arguments of every function of ``bounds``: recording and bisection."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] | None
    numpy: Literal["rewrite"] | None
    max_boxes: int
    until: Callable[[Any], Any] | None
    executor: Executor | None
    progress: bool


@dataclass(frozen=True)
class Bisection:
    """The same, checked."""

    max_boxes: int = 1
    until: Callable[[Any], Any] | None = None
    executor: Executor | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be used."""
        count = self.max_boxes
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            msg = f"max_boxes is {count!r}; it must be an integer of at least 1."
            raise OptionError(msg)
        until: Any = self.until
        if until is not None and not callable(until):
            msg = f"until is of type {type(until).__name__}; a function is needed."
            raise InputTypeError(msg)
        executor: Any = self.executor
        if executor is not None and not callable(getattr(executor, "map", None)):
            msg = (
                f"executor is of type {type(executor).__name__}; an executor of "
                "concurrent.futures is needed, an object with a method map."
            )
            raise InputTypeError(msg)


def split_options(options: Options) -> tuple[RecordingOptions, Bisection]:
    """What says how a function is recorded, and what says how a box is bisected.

    Raises:
        OptionError, InputTypeError: For a value that cannot be used.
        TypeError: For a name that no option has.
    """
    recording: Any = {k: v for k, v in options.items() if k in _RECORDING}
    rest: Any = {k: v for k, v in options.items() if k not in _RECORDING}
    for name in rest.keys() - _BISECTION.keys():
        msg = (
            f"{name!r} is no option of this function; those of recording and bisection "
            f"are {', '.join([*_RECORDING, *_BISECTION])}."
        )
        raise TypeError(msg)
    return recording, Bisection(**rest)


_RECORDING = ("args", "kwargs", "numpy")
_BISECTION = Bisection.__dataclass_fields__
