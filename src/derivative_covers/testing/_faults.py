"""A list of faults, raised at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import ConformanceError

__all__ = ["Faults", "same_bits"]


class Faults:
    """Collects what is wrong with one subject, a sentence a fault.

    Attributes:
        subject: What is checked, such as ``"elemental 'tanh'"``.
        found: The sentences so far, without repetitions.
    """

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.found: list[str] = []

    def add(self, fault: str) -> None:
        """Note a fault."""
        if fault not in self.found:
            self.found.append(fault)

    def expect(self, holds: Any, fault: str) -> bool:
        """Note a fault unless something holds; gives whether it does."""
        if not holds:
            self.add(fault)
        return bool(holds)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Note an exception of the subject as a fault, and go on."""
        try:
            with np.errstate(all="ignore"):
                yield
        except Exception as error:
            self.add(f"{what} raises {type(error).__name__}: {error}")

    def refuses(
        self, what: str, kinds: tuple[type[Exception], ...], run: Callable[[], Any]
    ) -> None:
        """Note a fault unless ``run`` raises one of the exceptions."""
        names = " or ".join(kind.__name__ for kind in kinds)
        try:
            with np.errstate(all="ignore"):
                given = run()
        except kinds:
            return
        except Exception as error:
            self.add(f"{what} raises {type(error).__name__} ({error}), not {names}")
            return
        self.add(f"{what} gives {given!r:.60} instead of raising {names}")

    def report(self) -> None:
        """Raise if there is a fault.

        Raises:
            ConformanceError: With one line a fault.
        """
        if not self.found:
            return
        count = len(self.found)
        lines = "".join(f"\n  {k}. {s}" for k, s in enumerate(self.found, start=1))
        many = "" if count == 1 else "s"
        msg = f"{self.subject} has {count} fault{many}:{lines}"
        raise ConformanceError(msg, tuple(self.found))


def same_bits(x: Any, y: Any) -> bool:
    """Whether two arrays hold the same floats, bit for bit; one NaN is as another."""
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    equal = (x == y) & (np.signbit(x) == np.signbit(y))
    return bool(np.all(equal | ((x != x) & (y != y))))
