"""How results show themselves: names of their entries, and tables of them."""

from __future__ import annotations

from ._axes import new_axes
from ._html import html, page
from ._labels import Labels, labels, names_for
from ._named import Named, Result, flattened, variables
from ._summary import Summary, Table
from ._text import aligned, kinks_note, number, scales_notes, shown, text

__all__ = [
    "Labels",
    "Named",
    "Result",
    "Summary",
    "Table",
    "aligned",
    "flattened",
    "html",
    "kinks_note",
    "labels",
    "names_for",
    "new_axes",
    "number",
    "page",
    "scales_notes",
    "shown",
    "text",
    "variables",
]
