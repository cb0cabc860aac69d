"""Text of expressions: straight lines of Python, with shared parts named once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ._symbols import Leaf, Symbol, TraceError

__all__ = ["Lines", "literal_text"]

_INFIX = frozenset(("+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "&", "|"))
_DEEPEST = 6  # levels of parentheses before a part gets a name
_MOST = 2000  # nodes of an elemental


def literal_text(x: float | bool) -> str:
    """A constant as Python text with the same bits."""
    if isinstance(x, bool):
        return repr(x)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "(-inf)"
    return repr(x) if math.copysign(1.0, x) > 0 else f"({x!r})"


class Lines:
    """Writes expressions as assignments and the terms that use them.

    Args:
        outputs: What is to be written: symbols and constants; None is skipped.
        named: Whether every output is a name or a constant, to be used often.

    Attributes:
        lines: The assignments, in order.
        terms: The text of each output.
        calls: Names of the scalar functions that are called.
        leaves: Names of the operands that are read.
    """

    def __init__(self, outputs: Iterable[Any], *, named: bool = False) -> None:
        self.lines: list[str] = []
        self.calls: set[str] = set()
        self.leaves: set[str] = set()
        self._names: dict[tuple[Any, ...], int] = {}  # an expression's number
        self._nodes: list[tuple[str, tuple[Any, ...], str]] = []
        self._seen: dict[int, tuple[Symbol, int]] = {}
        self._uses: list[int] = []
        self._written: dict[int, tuple[str, int]] = {}
        found = [self._number(x) for x in outputs if x is not None]
        for k in found:
            if isinstance(k, int):
                self._uses[k] += 1
        self.terms = [self._term(k)[0] for k in found]
        if named:
            self.terms = [self._name(k) for k in found]

    def _number(self, x: Any) -> Any:
        """The number of an expression; equal ones have one. Constants are texts."""
        if not isinstance(x, Symbol):
            return literal_text(x)
        if id(x) in self._seen:
            return self._seen[id(x)][1]
        args = tuple(self._number(a) for a in x.args)
        key = (x.op, args)
        k = self._names.get(key)
        if k is None:
            k = self._names[key] = len(self._nodes)
            if k >= _MOST:
                msg = f"a derivative rule of more than {_MOST} operations."
                raise TraceError(msg)
            op = f"leaf {x.op}" if isinstance(x, Leaf) else x.op
            self._nodes.append((op, args, x.kind))
            self._uses.append(0)
            for a in args:
                if isinstance(a, int):
                    self._uses[a] += 1
        self._seen[id(x)] = (x, k)
        return k

    def _term(self, k: Any) -> tuple[str, int]:
        """Text of a node and its depth."""
        if isinstance(k, str):
            return k, 0
        if k in self._written:
            return self._written[k]
        op, args, _ = self._nodes[k]
        if op.startswith("leaf "):
            name = op[5:]
            self.leaves.add(name)
            self._written[k] = name, 0
            return name, 0
        parts = [self._term(a) for a in args]
        text = self._joined(op, [t for t, _ in parts])
        depth = 1 + max(d for _, d in parts)
        if self._uses[k] > 1 or depth > _DEEPEST:
            name = f"t{len(self.lines)}"
            self.lines.append(f"{name} = {text}")
            text, depth = name, 0
        self._written[k] = text, depth
        return text, depth

    def of(self, x: Any) -> str:
        """The text of an output."""
        if not isinstance(x, Symbol):
            return literal_text(x)
        return self._written[self._seen[id(x)][1]][0]

    def _name(self, k: Any) -> str:
        text, _ = self._term(k)
        if isinstance(k, int) and not text.isidentifier():
            name = f"t{len(self.lines)}"
            self.lines.append(f"{name} = {text}")
            self._written[k] = name, 0
            return name
        return text

    def _joined(self, op: str, parts: list[str]) -> str:
        if op in _INFIX:
            return f"({parts[0]} {op} {parts[1]})"
        if op == "where":
            return f"({parts[1]} if {parts[0]} else {parts[2]})"
        if op == "neg":
            return f"(-{parts[0]})"
        if op == "not":
            return f"(not {parts[0]})"
        if op == "^":
            return f"({parts[0]} != {parts[1]})"
        if op == "abs":
            return f"abs({parts[0]})"
        if op == "float":
            return f"(1.0 if {parts[0]} else 0.0)"
        self.calls.add(op)
        return f"{op}({', '.join(parts)})"
