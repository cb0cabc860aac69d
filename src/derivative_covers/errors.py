"""Every exception of the package.

Each derives from :class:`DerivativeError` and from the builtin that a caller would
catch. A message says what came, what was needed and what to do.
"""

from __future__ import annotations

__all__ = [
    "BranchChangedError",
    "CheckError",
    "ConformanceError",
    "ConstantProgramError",
    "CoverError",
    "DerivativeError",
    "DomainError",
    "InputTypeError",
    "MissingPackageError",
    "NondeterministicStepError",
    "NondifferentiableError",
    "OptionError",
    "RecursionDepthError",
    "ReplayError",
    "ScheduleError",
    "ShapeError",
    "StateMutationError",
    "StorageError",
    "TapeError",
    "UndecidedError",
    "UnsupportedOperationError",
    "WorkerError",
]


def extra(name: str) -> str:
    """How to install optional packages, for messages about a missing one."""
    return f"install the extra {name!r} (pip install '.[{name}]' in a copy of the repository)"


class DerivativeError(Exception):
    """Base class of every exception that this package raises."""


class _ElementalError(DerivativeError, ValueError):
    """An elemental stopped being twice differentiable where it was evaluated.

    Attributes:
        elemental: Name of the elemental, such as ``"log"``.
        node: Id of the node on its tape, or None where there is none.
        values: Values of the operands at that node.
        step: Step of a sweep over transitions, or None outside of one.
        phase: What the sweep did at that step: ``"advance"``, ``"record"`` or
            ``"reverse"``; empty outside of a sweep.
        status: Upper-case status string of the error's kind.
    """

    status = ""

    def __init__(
        self,
        message: str,
        *,
        elemental: str = "",
        node: int | None = None,
        values: tuple[object, ...] = (),
        step: int | None = None,
        phase: str = "",
    ) -> None:
        super().__init__(message)
        self.elemental = elemental
        self.node = node
        self.values = values
        self.step = step
        self.phase = phase


class DomainError(_ElementalError):
    """A value lies outside (or on the end) of the open domain of an elemental."""

    status = "DOMAIN_ERROR"


class NondifferentiableError(_ElementalError):
    """The program was evaluated exactly at a kink, a jump, a tie or a branch boundary."""

    status = "NONDIFFERENTIABLE"


class UnsupportedOperationError(DerivativeError, TypeError):
    """An operation has no derivative rule, or would drop the derivative silently."""


class InputTypeError(DerivativeError, TypeError):
    """An argument or a returned object has a type that cannot be used here."""


class OptionError(DerivativeError, ValueError):
    """An option has a value that cannot be used."""


class ShapeError(DerivativeError, ValueError):
    """An argument has a shape or size that cannot be used here."""


class ConstantProgramError(DerivativeError, ValueError):
    """The result of a program does not depend on its inputs."""


class TapeError(DerivativeError, RuntimeError):
    """A variable was used with a tape that it does not belong to, or too late."""


class ReplayError(DerivativeError, RuntimeError):
    """A recorded program cannot be evaluated at another point; record it there."""


class BranchChangedError(DerivativeError, ValueError):
    """At this point the program takes another branch than where it was recorded.

    Attributes:
        decision: The comparison, or the function that decided, such as ``"<"`` or
            ``"numpy.argmax"``.
        then: The two numbers that it compared where the program was recorded.
        now: Those of this point.
    """

    decision: str
    then: tuple[object, object]
    now: tuple[object, object]

    def __init__(
        self,
        message: str,
        decision: str = "",
        then: tuple[object, object] = (None, None),
        now: tuple[object, object] = (None, None),
    ) -> None:
        """Keep the decision beside the message."""
        super().__init__(message)
        self.decision, self.then, self.now = decision, then, now


class RecursionDepthError(DerivativeError, RecursionError):
    """A program, or the nesting of its result, is deeper than Python's limit."""


class CoverError(DerivativeError, ArithmeticError):
    """A computed cover failed its own check; please report it as a bug."""


class CheckError(DerivativeError, AssertionError):
    """Derivatives of a program contradict differences of its values; see :func:`check`."""


class ConformanceError(DerivativeError, AssertionError):
    """An extension does not keep its contract; see ``derivative_covers.testing``.

    Attributes:
        faults: Every fault that was found, one sentence each.
    """

    faults: tuple[str, ...]

    def __init__(self, message: str, faults: tuple[str, ...] = ()) -> None:
        """Keep the faults beside the message."""
        super().__init__(message)
        self.faults = faults


class UndecidedError(DerivativeError, ValueError):
    """A comparison between sets of numbers cannot be decided."""


class ScheduleError(DerivativeError, ValueError):
    """A checkpoint schedule is impossible, or a plan breaks the rules of its machine."""


class StorageError(DerivativeError, OSError):
    """A saved state could not be written, or what was read is not what was written.

    Attributes:
        key: Which saved state (its step), or the name of the file.
    """

    key: object

    def __init__(self, message: str, key: object = None) -> None:
        """Keep the key beside the message."""
        super().__init__(message)
        self.key = key


class NondeterministicStepError(DerivativeError, RuntimeError):
    """A step gave another state when it was evaluated again.

    Attributes:
        step: The step.
    """

    step: int | None

    def __init__(self, message: str, step: int | None = None) -> None:
        """Keep the step beside the message."""
        super().__init__(message)
        self.step = step


class StateMutationError(DerivativeError, ValueError):
    """A step wrote into the state (or the parameters) that it was given."""


class MissingPackageError(DerivativeError, ImportError):
    """An optional package is needed here and is not installed."""


class WorkerError(DerivativeError, RuntimeError):
    """A shard, batch or box raised an error on a worker, or the worker was lost.

    What the shard raised is the ``__cause__``.

    Attributes:
        shard: Index of the shard, batch or box; None where no single one is to blame.
        input: Short text of its input.
    """

    shard: int | None
    input: str

    def __init__(self, message: str, shard: int | None = None, input: str = "") -> None:
        """Keep the index and the text beside the message."""
        super().__init__(message)
        self.shard, self.input = shard, input
