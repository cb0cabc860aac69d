"""Results as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from ._summary import Summary

__all__ = ["html", "page"]


def html(summary: Summary) -> str:
    """Title, tables and notes."""
    grids = [table.rows() for table in summary.tables]
    return page(summary.title, grids, summary.notes)


def page(
    title: str, grids: Sequence[list[tuple[str, ...]]], notes: Sequence[str] = ()
) -> str:
    """A title, tables of rows and notes."""
    parts = [_line(title), *map(_grid, grids), *map(_line, notes)]
    return "\n".join(parts)


def _line(text: str) -> str:
    return f"<div>{_escape(text)}</div>"


def _escape(text: str) -> str:
    from html import escape  # noqa: PLC0415 - rarely needed, and its tables are large

    return escape(text)


def _grid(rows: list[tuple[str, ...]]) -> str:
    """A table whose first row and first column are heads."""
    head, *body = rows
    lines = ["<table>", f"<thead><tr>{_cells(head, 'th')}</tr></thead>", "<tbody>"]
    lines += [
        f"<tr>{_cells(row[:1], 'th')}{_cells(row[1:], 'td')}</tr>" for row in body
    ]
    return "\n".join([*lines, "</tbody>", "</table>"])


def _cells(texts: tuple[str, ...], tag: str) -> str:
    return "".join(f"<{tag}>{_escape(text)}</{tag}>" for text in texts)
