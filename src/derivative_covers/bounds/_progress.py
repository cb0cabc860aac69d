"""A progress bar; its package is imported when one is asked for."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..errors import MissingPackageError, extra

__all__ = ["bar"]


class _Bar:
    """A bar that is full when the number is used up; None where that is not known."""

    def __init__(self, progress: Any, total: int | None, label: str) -> None:
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
        )
        self._task = self._bar.add_task(label, total=total)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, done: int) -> None:
        self._bar.update(self._task, completed=done)


def bar(
    wanted: bool,
    total: int | None,
    label: str = "boxes",
    instead: str = ", or follow the bisection with until=",
) -> AbstractContextManager[Any]:
    """A context whose value is told how many are done.

    Args:
        wanted: Whether there is to be a bar.
        total: How many there are, if that is known.
        label: Of what.
        instead: What serves without the package.

    Raises:
        MissingPackageError: If a bar is wanted and ``rich`` is not installed.
    """
    if not wanted:
        return nullcontext(lambda done: None)
    try:
        from rich import progress  # noqa: PLC0415 - optional
    except ImportError:
        msg = (
            "progress=True draws with the package rich, which is not installed; "
            f"{extra('progress')}{instead}."
        )
        raise MissingPackageError(msg) from None
    return _Bar(progress, total, label)
