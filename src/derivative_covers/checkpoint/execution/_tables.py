"""What sweeps over chains return, as tables for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...results import Summary, Table, labels, number, shown, variables

__all__ = ["summary"]


def summary(
    title: str,
    value: Any,
    columns: Mapping[str, Any],
    params: Mapping[str, Any],
    notes: tuple[str, ...] = (),
) -> Summary:
    """A table of the entries of the first state, and one of the parameters.

    Args:
        title: What the result is.
        value: The last state.
        columns: What there is for each entry of the first state, by head; the last one
            orders them.
        params: The same for the parameters; empty, or None in it, without.
        notes: Sentences below the tables.
    """
    tables = [_table("x0", columns)]
    if params and all(part is not None for part in params.values()):
        tables.append(_table("params", params))
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    text = number(value) if isinstance(value, np.generic) else shown(value)
    return Summary(f"{title}: value={text}", tuple(tables), notes)


def _table(root: str, columns: Mapping[str, Any]) -> Table:
    nests = {head: _tuples(part) for head, part in columns.items()}
    *_, sizes = nests
    return variables(labels(nests[sizes], root=root), nests, sizes)


def _tuples(nest: Any) -> Any:
    """Lists of a state are containers; elsewhere a list is one array."""
    if isinstance(nest, Mapping):
        return {key: _tuples(entry) for key, entry in nest.items()}
    if isinstance(nest, (tuple, list)):
        parts = [_tuples(entry) for entry in nest]
        return type(nest)(*parts) if hasattr(nest, "_fields") else tuple(parts)
    return nest
