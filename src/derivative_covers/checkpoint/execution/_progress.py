"""A progress bar of a sweep; its package is imported when one is asked for."""

from __future__ import annotations

from typing import Any

from ...errors import MissingPackageError, extra
from ._events import Event

__all__ = ["Bar"]


class Bar:
    """A bar over all evaluations of a sweep, whose number is known in advance."""

    def __init__(self, total: int) -> None:
        """Shows the empty bar.

        Raises:
            MissingPackageError: If the package ``rich`` is not installed.
        """
        try:
            from rich import progress  # noqa: PLC0415 - optional
        except ImportError:
            msg = (
                "progress=True draws with the package rich, which is not installed; "
                f"{extra('progress')}, or give on_event=... a "
                "function of your own."
            )
            raise MissingPackageError(msg) from None
        self._bar: Any = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
        )
        self._task = self._bar.add_task("reverse sweep", total=total)
        self._bar.start()

    def __call__(self, event: Event) -> None:
        """Moves on; drawing happens in a thread of its own, some times a second."""
        self._bar.update(self._task, completed=event.done)

    def close(self) -> None:
        """Leaves the bar as it is."""
        self._bar.stop()
