"""Write docs/reference/numpy-support.md from the tables of the package.

Run: python docs/generate_numpy_support.py
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np

from derivative_covers.elementals import BY_OPCODE
from derivative_covers.tape._functions import MODULES
from derivative_covers.tape._hints import HINTS, public_name
from derivative_covers.tape._protocol import FUNCTIONS, UFUNC_METHODS
from derivative_covers.tape._tarray import TArray

__all__ = ["PAGE", "page", "shown"]

PAGE = Path(__file__).parent / "reference" / "numpy-support.md"

_HEAD = """# What of NumPy is supported

This page is written by `docs/generate_numpy_support.py` from the tables that the package
looks functions up in. Values are those of NumPy's own call, bit for bit. Wherever NumPy
has several names for one function, all of them work. What is not listed raises
`UnsupportedOperationError`, which names the nearest supported way.

Arguments that NumPy has and a rule has not raise the same error. `dtype` may be the type of
the recording alone, and `out` a recorded array.
"""

_OUTSIDE = """## What NumPy does not hand over

NumPy converts these operands to plain arrays itself, which raises an error in a recording:
`np.array(x)`, `np.asarray(x)`, `np.full(shape, x)`, `np.vectorize`, `np.nditer`,
`np.ndenumerate`, `np.random` with recorded parameters, `A.dot(x)` and `A += x` of a plain `A`.
Lists of recorded scalars become object arrays, of which NumPy's arithmetic, `np.sum` and `np.dot`
work, entry by entry, and others (`np.linalg`, `np.interp`) raise NumPy's own error. Use `import derivative_covers.numpy as np`, or
`np.stack`, `np.full_like`, a loop over `x`, a plain sample that is scaled and shifted
(`x[0] + x[1] * z`), `A @ x` and `A = A + x`.

`np.vectorize(f)(x)` is `np.stack([f(e) for e in x])`.
"""


def _rows(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    lines += [f"| {left} | {right} |" for left, right in rows]
    return "\n".join(lines) + "\n"


def shown(name: str) -> str:
    """A function's name on the page, whichever NumPy is installed."""
    for old, new in (
        ("numpy.lib._stride_tricks_impl.", "np.lib.stride_tricks."),
        ("numpy.trapz", "np.trapezoid"),
        ("numpy.in1d", "np.isin"),
        ("numpy.", "np."),
    ):
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def _summary(thing: Any) -> str:
    text = inspect.getdoc(thing) or "As NumPy's."
    return text.split("\n")[0].replace("``", "`")


def _refused(function: Any, rule: Any) -> bool:
    """Whether a rule is there only to say what to do instead."""
    return public_name(function) in HINTS and not inspect.getdoc(rule)


def _functions() -> str:
    sections = []
    titles = {module.__name__: _summary(module) for module in MODULES}
    for module, title in sorted(titles.items(), key=lambda item: item[1]):
        rows = sorted(
            {
                shown(public_name(function)): _summary(rule)
                for function, rule in FUNCTIONS.items()
                if rule.__module__ == module and not _refused(function, rule)
            }.items()
        )
        if rows:
            listed = [(f"`{name}`", text) for name, text in rows]
            sections.append(f"### {title}\n\n" + _rows(("function", "rule"), listed))
    return "## Functions\n\n" + "\n".join(sections)


def _ufuncs() -> str:
    rows = []
    for op in BY_OPCODE:
        names = [n for n in op.ufuncs if not n.startswith("special.")]
        if names:
            rows.append((", ".join(f"`np.{n}`" for n in names), f"`{op.name}`"))
    special = [
        (f"`scipy.{name}`", f"`{op.name}`")
        for op in BY_OPCODE
        for name in op.ufuncs
        if name.startswith("special.")
    ]
    out = "## Ufuncs\n\n" + _rows(("ufunc", "elemental"), sorted(rows))
    if special:
        out += "\n## Ufuncs of scipy.special\n\n"
        out += _rows(("ufunc", "elemental"), sorted(special))
    return out


def _methods() -> str:
    found: dict[str, list[str]] = {}
    for ufunc, method in UFUNC_METHODS:
        found.setdefault(method, []).append(ufunc.__name__)
    rows = [
        (f"`{method}`", ", ".join(f"`{n}`" for n in sorted(set(names))))
        for method, names in sorted(found.items())
    ]
    rows.append(("`outer`", "every ufunc of two operands"))
    own = sorted(
        name
        for name in {*dir(np.ndarray), "mT"}
        if not name.startswith("_") and hasattr(TArray, name)
    )
    return (
        "## Methods of ufuncs\n\n"
        + _rows(("method", "ufuncs"), rows)
        + "\n## Methods and attributes of arrays\n\n"
        + ", ".join(f"`{name}`" for name in own)
        + ".\n"
    )


def _instead() -> str:
    rows = [(f"`{shown(name)}`", text) for name, text in sorted(HINTS.items())]
    return "## What is not supported, and what to do\n\n" + _rows(
        ("function", "instead"), rows
    )


def page() -> str:
    """The whole page."""
    parts = (_HEAD, _functions(), _ufuncs(), _methods(), _instead(), _OUTSIDE)
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
