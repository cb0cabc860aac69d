"""Base classes of results: texts from a summary, and names of the variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ._html import html
from ._labels import Labels, labels, names_for
from ._summary import Summary, Table
from ._text import number, text

__all__ = ["Named", "Result", "flattened", "variables"]


class Result(ABC):
    """A result that shows itself as a table, in a terminal and in a notebook."""

    @abstractmethod
    def _summary(self) -> Summary:
        """What it shows."""

    def __repr__(self) -> str:
        return text(self._summary())

    def _repr_html_(self) -> str:
        return html(self._summary())


@dataclass(frozen=True, eq=False, repr=False)
class Named(Result):
    """A result with one or several numbers for each of the variables.

    Attributes:
        names: One name for each variable, in the order of the flat vector: those given
            with :meth:`named`; else the keys, where the inputs came in a dictionary; else
            ``x[0]``, ``x[1]`` and so on.
    """

    _names: Sequence[str] | None = field(default=None, kw_only=True, repr=False)

    @abstractmethod
    def _variables(self) -> tuple[Any, int]:
        """A part in the structure of the inputs, and the axes before those of inputs."""

    @property
    def names(self) -> Sequence[str]:
        """One name for each variable."""
        return labels(*self._variables()) if self._names is None else self._names

    def named(self, names: Any) -> Self:
        """The same result with names for its variables, which texts and pictures show.

        Where the inputs came in a dictionary, its keys are the names already.

        Args:
            names: A list of strings, one for each variable; or a dictionary of
                parameters (numbers, arrays, or nests of them), whose arrays give
                ``w[0]``, ``w[1]``, or ``w[0, 1]`` and so on.

        Returns:
            A copy that carries the names; the numbers are shared.

        Raises:
            ShapeError: If there are more or fewer names than variables.
            OptionError: If two names are equal, or a dictionary has the inputs' keys in
                another order.
            InputTypeError: If they are no strings and no dictionary.

        Example:
            >>> import derivative_covers as dc
            >>> cover = dc.cover_hessian(lambda x: x[0] ** 2 * x[1], [1.0, 2.0])
            >>> cover.named(["k_on", "k_off"])
            HessianCover: value=2, merge='sum'
                   gradient         h       1/h
            k_on          4   4.82843  0.207107
            k_off         1  0.707107   1.41421
        """
        own = labels(*self._variables())
        found = names_for(names, len(own))
        if isinstance(found, Labels):
            theirs = found.arrays
            if own.arrays != theirs and sorted(own.arrays) == sorted(theirs):
                msg = (
                    f"the parameters come in the order {', '.join(theirs)}, the inputs in "
                    f"that of {', '.join(own.arrays)}; each name would stand for another."
                )
                raise OptionError(msg)
        return replace(self, _names=found)


def flattened(tree: Any, lead: int = 0) -> Any:
    """A nest as one array: the leading axes, then one that runs through the inputs."""
    if isinstance(tree, Mapping):
        tree = tuple(tree.values())
    if isinstance(tree, tuple):
        parts = [flattened(part, lead) for part in tree]
        whole: Any = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)
        return whole
    a = tree if hasattr(tree, "reshape") else np.asarray(tree)
    return a.reshape((*np.shape(a)[:lead], -1))


def variables(
    names: Sequence[str], columns: Mapping[str, Any], sizes: str, lead: int = 0
) -> Table:
    """A table of the variables, or of those of each output.

    Args:
        names: Names of the variables.
        columns: What to show for each, by head: parts in the structure of the inputs. A
            column ``"h"`` is followed by its inverse, the natural step.
        sizes: The column that orders the rows.
        lead: Axes of outputs before those of the inputs.
    """
    flat = {head: flattened(part, lead) for head, part in columns.items()}
    outputs = np.shape(flat[sizes])[:-1]
    flat = {head: a.reshape(-1) for head, a in flat.items()}

    def cells(i: int) -> tuple[str, ...]:
        found = []
        for head, a in flat.items():
            found.append(number(a[i]))
            if head == "h":
                found.append(_inverse(a[i]))
        return tuple(found)

    heads = [w for head in flat for w in ((head, "1/h") if head == "h" else (head,))]
    rows = _Products(names, outputs) if outputs else names
    order: NDArray[Any] = flat[sizes]
    return Table(rows, tuple(heads), cells, order)


def _inverse(h: Any) -> str:
    if h == 0:
        return "none"
    with np.errstate(all="ignore"):
        return number(1 / h)


class _Products(Sequence[str]):
    """A name for each variable of each output."""

    def __init__(self, names: Sequence[str], outputs: tuple[int, ...]) -> None:
        self._names, self._outputs = names, outputs
        self._count = len(names) * int(np.prod(outputs))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        output, i = divmod(k, len(self._names))
        place = ", ".join(str(int(j)) for j in np.unravel_index(output, self._outputs))
        return f"output [{place}], {self._names[i]}"
