"""Compiled functions of an elemental, by address."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from functools import cache
from importlib import metadata
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from ...elementals import Elemental
from ...errors import OptionError
from ...sweeps.kernels import _jit
from ._body import LANES, Body, is_cheap
from ._compile import compile_function, scope
from ._folder import keep
from ._source import PASSES, shapes, source
from ._symbols import Symbol
from ._text import Lines
from ._trace import PATTERNS, Traced, trace
from ._verify import agrees

__all__ = ["Functions", "Generated", "functions", "literal", "made_with"]

_EXPONENTS = frozenset((-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0))
_lock = threading.RLock()
# By identity: rules need not be hashable. What is found keeps its elemental in use.
_made: dict[tuple[int, int, str], tuple[Elemental, Functions | None]] = {}


class Generated:
    """A generated file, whose functions are compiled when their addresses are asked for.

    Attributes:
        name: Name of the file, without its ending; it tells the text.
        text: Its text.
    """

    def __init__(self, what: str, text: str, code: CodeType | None = None) -> None:
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        self.name, self.text, self._code = f"{what}_{digest}", text, code
        self._alive: dict[str, Any] = {}
        self._path: Path | None = None

    def _address(self, name: str) -> int:
        made = self._alive.get(name)
        if made is None:
            with _lock:
                made = self._alive.get(name)
                if made is None:
                    made = self._alive[name] = self._compile(name)
        return int(made.address)

    def _compile(self, name: str) -> Any:
        if self._path is None:
            self._path = keep(f"{self.name}.py", self.text)
            path = self._path or f"<derivative_covers {self.name}>"
            self._code = compile(self.text, str(path), "exec")
        assert self._code is not None
        function = scope(self._code, name)
        return compile_function(function, kept=self._path is not None)


class Functions(Generated):
    """The compiled passes of an elemental under one pattern.

    Attributes:
        name: Name of the generated file, without its ending.
        text: Its text.
        traced: The expressions that it was made of.
        pattern: Which operands are constants, as in :func:`functions`.
        slots: The differentiated operands, ``"x"`` or ``"y"``.
        flat: Whether all second partials are zero wherever the elemental is evaluated.
        smooth: Whether its value pass always returns 0.
        cheap: Whether value and partials compile to a few instructions of vectors.
        never_zero: Whether its first partials are constants other than zero. Two operands
            of one node are another pattern, and count there.
    """

    def __init__(self, what: str, text: str, code: CodeType, traced: Traced) -> None:
        super().__init__(what, text, code)
        self.traced = traced
        self.pattern = traced.pattern
        self.slots = Body(traced, LANES).slots
        self.flat = traced.flat
        self.smooth = traced.good is True
        self.cheap = is_cheap(Lines((traced.value, traced.d1, traced.d2)))
        ds = (traced.d1, traced.d2) if traced.two else (traced.d1,)
        self.never_zero = not any(isinstance(d, Symbol) or d == 0.0 for d in ds)
        self._shapes = shapes(traced.pattern)

    def address(self, pass_: str, shape: str) -> int:
        """Address of the machine code of a pass.

        It is compiled on first use, and loaded where a process compiled it before:
        generated files and machine code lie in the folder ``derivative_covers/replay``
        of ``NUMBA_CACHE_DIR`` where that is set, else of the user's cache directory.
        Where that cannot be written to, it is compiled in memory.

        Args:
            pass_: ``"value"``, ``"adjoint"``, ``"fresh"`` (one to adjoints that are
                zero), ``"tangent"``, ``"second"``, ``"cover"`` or ``"zeros"``.
            shape: ``"lanes"`` or ``"gather"``.

        Returns:
            The address, valid as long as the process runs.

        Raises:
            OptionError: (a ValueError) if there is no such pass or shape; constants of
                which each entry has its own come in lanes alone.

        Guarantee:
            Two processes that compile at once do not disturb each other; a damaged file
            is written again.

        Cost:
            Of order 0.15 s to compile, 3 ms to load. The first one in a process loads
            the compiler, which takes about a second.

        Example:
            >>> from derivative_covers.extend import by_name
            >>> square = functions(by_name("square"), 0)
            >>> square.address("value", "lanes") == square.address("value", "lanes")
            True
        """
        if pass_ not in PASSES or shape not in self._shapes:
            msg = (
                f"{self.name} has no pass {pass_!r} in the shape {shape!r}; there are "
                f"{', '.join(PASSES)} in {' and '.join(self._shapes)}."
            )
            raise OptionError(msg)
        return self._address(f"{pass_}_{shape}")


def functions(
    op: Elemental, pattern: int, const: float | None = None
) -> Functions | None:
    """The compiled functions of an elemental.

    Args:
        op: The elemental.
        pattern: 0 for one operand; 1 for two; 2 and 3 with the second, the first one
            constant; 4 and 5 likewise, with a constant an entry; 6 for twice the same.
        const: The constant of pattern 2 or 3, to be part of the code.

    Returns:
        The functions, the same object for the same arguments; None where the elemental
        cannot be compiled, or ``NUMBA_DISABLE_JIT`` is set: its rules branch on values,
        or call functions without a compiled counterpart.

    Raises:
        OptionError: (a ValueError) if the pattern does not exist or takes no constant.

    Guarantee:
        Values and partials are those of the rules: to the bit where these consist of
        ``+ - * /``, roots, comparisons and selections, to a few units in the last place
        elsewhere. Sums are made in the order of the tape's sweeps.

    Cost:
        About 5 ms, once a process; nothing is compiled before an address is asked for.

    Example:
        >>> from derivative_covers.extend import by_name
        >>> functions(by_name("multiply"), 1).flat
        False
        >>> functions(by_name("j0"), 0) is None
        True
    """
    expected = (0,) if op.arity == 1 else PATTERNS[1:]
    if pattern not in expected or (const is not None and pattern not in {2, 3}):
        msg = (
            f"elemental {op.name!r} of {op.arity} operand(s) has no pattern {pattern}"
            f"{'' if const is None else ' with a constant of the code'}; it has "
            f"{', '.join(map(str, expected))}, and 2 and 3 take a constant."
        )
        raise OptionError(msg)
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return None
    key = (id(op), pattern, "" if const is None else float(const).hex())
    with _lock:
        if key not in _made:
            _made[key] = op, _make(op, pattern, const)
        return _made[key][1]


def literal(op: Elemental, const: float) -> bool:
    """Whether a constant operand is to be part of the code.

    It is for small exponents of powers, whose rule is by products alone for some of them.

    Args:
        op: The elemental.
        const: Its constant operand.

    Returns:
        Whether to pass ``const`` to :func:`functions`.

    Example:
        >>> from derivative_covers.extend import by_name
        >>> literal(by_name("power"), 3.0), literal(by_name("power"), 2.5)
        (True, False)
    """
    return op.name in {"power", "float_power"} and float(const) in _EXPONENTS


def _make(op: Elemental, pattern: int, const: float | None) -> Functions | None:
    # A rule may raise anything when it is called with what is no number.
    try:
        traced = trace(op, pattern, const)
        title = f"Pattern {pattern} of an elemental. {made_with()}"
        text = source(traced, title)
        code = compile(text, "<elemental>", "exec")
        if not agrees(code, op, traced, const):
            return None
    except Exception:
        return None
    name = re.sub(r"\W+", "_", op.name, flags=re.ASCII)[:40]
    return Functions(f"{name}_{pattern}", text, code, traced)


@cache
def made_with() -> str:
    """What the machine code depends on beside the text of the functions."""
    here = Path(__file__).parent
    digest = hashlib.sha256(_jit._fingerprint().encode())
    for file in sorted(here.glob("*.py")):
        digest.update(file.read_bytes())
    return (
        f"Sources {digest.hexdigest()[:32]}, numba {metadata.version('numba')}, "
        f"NumPy {np.__version__}, Python {sys.version.split()[0]}."
    )
