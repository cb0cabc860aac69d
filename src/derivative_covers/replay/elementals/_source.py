"""The text of a generated file: all functions of an elemental under a pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._body import GATHER, SHAPES, Body, indented
from ._cover import cover
from ._forward import tangent, value, zeros
from ._reverse import adjoint, fresh, second
from ._text import Lines
from ._trace import Traced

__all__ = ["PASSES", "shapes", "source"]

PASSES: dict[str, Callable[[Body], list[str]]] = {
    "value": value,
    "adjoint": adjoint,
    "fresh": fresh,
    "tangent": tangent,
    "second": second,
    "cover": cover,
    "zeros": zeros,
}
_ARGUMENTS = "p, q, r, s, ids, o, x, y, n"


def shapes(pattern: int) -> tuple[str, ...]:
    """The shapes that there are of a pattern."""
    return tuple(s for s in SHAPES if s != GATHER or pattern not in {4, 5})


def source(traced: Traced, title: str) -> str:
    """Text of the file: every pass in every shape, and the expressions by themselves."""
    t = traced
    parts = [f'"""{title}"""']
    parts += [
        _function("value", "X, Y", (t.value,)),
        _function("first", "X, Y, V", (t.d1, t.d2)),
        _function("second", "X, Y, V", (t.c11, t.c12, t.c22)),
        _function("good", "X, Y", (t.good,)),
    ]
    for name, write in PASSES.items():
        for shape in shapes(t.pattern):
            lines = write(Body(t, shape))
            head = f"def {name}_{shape}({_ARGUMENTS}):"
            parts.append("\n".join([head, *indented(lines)]))
    return "\n\n\n".join(parts) + "\n"


def _function(name: str, arguments: str, outputs: tuple[Any, ...]) -> str:
    """The expressions as a function of numbers, which tests run as it stands."""
    lines = Lines(outputs)
    result = f"return ({', '.join(lines.terms)},)"
    return "\n".join([f"def {name}({arguments}):", *indented([*lines.lines, result])])
