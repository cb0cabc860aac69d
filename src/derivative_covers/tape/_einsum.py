"""Sums of products named by subscripts, two operands at a time."""

from __future__ import annotations

import math
from string import ascii_letters
from typing import Any

import numpy as np

from ._call import check_dtype, stored
from ._convert import tape_of
from ._products import factors, shaped
from ._protocol import as_array, implements
from ._storage import ArrayBase, assembled, constant
from ._tape import Tape
from ._wide import contract, sum_axes

__all__ = ["einsum"]

Term = tuple[Any, str]  # a recorded or plain array and a letter an axis


@implements(np.einsum)
def einsum(
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = "safe",
    optimize: Any = False,
) -> Any:
    """As numpy.einsum; the value is NumPy's on all operands at once.

    A label of one operand only is summed by linear nodes; then operands are contracted
    from left to right.
    """
    check_dtype(dtype, tape_of(operands))
    if not isinstance(operands[0], str):
        operands = _lettered(operands)
    given, *things = operands
    tape, parts, values = factors(*things)
    r = np.einsum(given, *values, optimize=optimize)
    if not any(isinstance(p, ArrayBase) for p in parts) or not np.size(r):
        return stored(constant(tape, r), out)
    inputs, output = _labels(given, [v.ndim for v in values])
    terms = [_distinct(*term) for term in zip(parts, inputs, strict=True)]
    return stored(_contracted(tape, _fitted(terms), output, r), out)


def _contracted(tape: Tape, terms: list[Term], output: str, r: Any) -> Any:
    while len(terms) > 2:
        first, second, *rest = terms
        wanted = output + "".join(names for _, names in rest)
        terms = [_pair(first, second, wanted, None), *rest]
    if len(terms) == 2:
        x, names = _pair(terms[0], terms[1], output, r)
    else:
        x, names = _alone(terms[0], output, r)
    if names == output or not np.ndim(r):
        return x
    ids = x.node_ids().transpose([names.index(label) for label in output])
    return assembled(tape, r, ids)


def _lettered(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The form with lists of integers as the form with letters."""
    n = len(operands) // 2

    def letters(labels: Any) -> str:
        return "".join("..." if k is ... else ascii_letters[k] for k in labels)

    subscripts = ",".join(letters(labels) for labels in operands[1 : 2 * n : 2])
    if len(operands) % 2:
        subscripts += "->" + letters(operands[-1])
    return (subscripts, *operands[0 : 2 * n : 2])


def _labels(given: str, ndims: list[int]) -> tuple[list[str], str]:
    """A letter an axis for every operand and for the result, ellipses written out."""
    left, arrow, output = given.replace(" ", "").partition("->")
    spare = [c for c in ascii_letters if c not in given]
    inputs = []
    longest = 0
    for names, ndim in zip(left.split(","), ndims, strict=True):
        n = ndim - len(names.replace("...", ""))
        longest = max(longest, n)
        inputs.append(names.replace("...", "".join(spare[:n][::-1])))
    hidden = "".join(spare[:longest][::-1])
    if not arrow:
        every = "".join(inputs)
        once = sorted(c for c in set(every) - set(hidden) if every.count(c) == 1)
        return inputs, hidden + "".join(once)
    return inputs, output.replace("...", hidden)


def _distinct(x: Any, names: str) -> Term:
    """Diagonals in the place of repeated labels."""
    unique = "".join(dict.fromkeys(names))
    if unique == names:
        return x, names
    rule = f"{names}->{unique}"
    if not isinstance(x, ArrayBase):
        return np.einsum(rule, x), unique
    return x._derived(np.einsum(rule, x.v), lambda ids: np.einsum(rule, ids)), unique


def _fitted(terms: list[Term]) -> list[Term]:
    """Axes of one entry are dropped where other operands repeat them."""
    sizes: dict[str, int] = {}
    for x, names in terms:
        for label, size in zip(names, x.shape, strict=True):
            sizes[label] = max(sizes.get(label, 1), size)
    out = []
    for x, names in terms:
        thin = [k for k, c in enumerate(names) if x.shape[k] == 1 and sizes[c] > 1]
        kept = "".join(c for k, c in enumerate(names) if k not in thin)
        out.append((x.squeeze(tuple(thin)) if thin else x, kept))
    return out


def _summed(x: Any, names: str, wanted: str, r: Any) -> Term:
    """The labels that nobody else asks for are summed."""
    axes = tuple(k for k, label in enumerate(names) if label not in wanted)
    kept = "".join(label for label in names if label in wanted)
    if not axes:
        return x, names
    if not isinstance(x, ArrayBase):
        return np.sum(x, axis=axes), kept
    if r is not None:
        return sum_axes(x, axes, r), kept
    return as_array(sum_axes(x, axes, np.sum(x.v, axis=axes))), kept


def _alone(term: Term, output: str, r: Any) -> Term:
    x, names = term
    if set(names) == set(output):
        rule = f"{names}->{output}"
        return x._derived(
            np.einsum(rule, x.v), lambda ids: np.einsum(rule, ids)
        ), output
    kept = "".join(label for label in names if label in output)
    return _summed(x, names, output, _arranged(r, output, kept))


def _arranged(r: Any, output: str, names: str) -> Any:
    """The result with its axes in the order of ``names``."""
    if names == output:
        return r
    return np.array(r.transpose([output.index(c) for c in names]), order="C")


def _pair(first: Term, second: Term, wanted: str, r: Any) -> Term:
    """Contract two operands; ``r`` is the value where they are the last ones."""
    x, xs = _summed(*first, wanted + second[1], None)
    y, ys = _summed(*second, wanted + first[1], None)
    both = [c for c in xs if c in ys]
    batch = "".join(c for c in both if c in wanted)
    inner = "".join(c for c in both if c not in wanted)
    left = "".join(c for c in xs if c not in ys)
    right = "".join(c for c in ys if c not in xs)
    names = batch + left + right
    if r is None:
        r = np.einsum(f"{xs},{ys}->{names}", _values(x), _values(y))
    else:
        r = _arranged(r, wanted, names)
    if not (isinstance(x, ArrayBase) or isinstance(y, ArrayBase)):
        return r, names
    a, b = _grouped(x, xs, (batch, left, inner)), _grouped(y, ys, (batch, inner, right))
    return contract(a, b, r), names


def _grouped(x: Any, names: str, groups: tuple[str, ...]) -> Any:
    order = [names.index(c) for group in groups for c in group]
    shape = tuple(math.prod(x.shape[names.index(c)] for c in group) for group in groups)
    return shaped(x, order, shape)


def _values(x: Any) -> Any:
    return x.v if isinstance(x, ArrayBase) else x
