"""A drawing of a small tape: nodes, and which of them each is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError
from ..results import labels, names_for, new_axes, number
from ..sweeps import check_tape
from ..tape import Fixed, Run, describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..tape import Tape

__all__ = ["tape"]

LARGEST = 100  # nodes
# Colours that the colour-blind can tell apart (Okabe & Ito), light enough for a text.
INPUT, OUTPUT, OTHER, CONSTANT = "#BFE3D3", "#F6CFA8", "white", "#E6E6E6"


def tape(tape: Tape, *, names: Any = None, ax: Axes | None = None) -> Axes:
    """Draw a small program as it was recorded: a box a node, arrows from its parents.

    From left to right, every node stands behind all that it is computed from. Boxes show
    operation and value; a dot stands for a parent beside a constant operand. Inputs are
    green, outputs orange, constants grey.

    Args:
        tape: A finished tape of at most 100 nodes.
        names: Names of the inputs: a list of strings or a dictionary of parameters.
            None: the keys of inputs in a dictionary, or ``x[0]`` and so on.
        ax: Axes to draw on, new ones by default.

    Returns:
        The axes.

    Raises:
        ShapeError: If the tape has more than 100 nodes, or more or fewer inputs than
            names.
        InputTypeError: For what is no tape, list of names, or axes.
        TapeError: If the tape is still recording.
        MissingPackageError: If matplotlib is not installed.

    Example:
        >>> import derivative_covers as dc
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1] ** 3, [3.0, 2.0])
        >>> ax = dc.plot.tape(tape, names=["mass", "speed"])
        >>> [text.get_text().replace(chr(10), " = ") for text in ax.texts if text.get_text()]
        ['mass = 3', 'speed = 2', 'power(·, 3) = 8', 'multiply = 24']
    """
    t = check_tape(tape)
    n = t.nnodes
    if n > LARGEST:
        msg = (
            f"the tape has {n:,} nodes, and a drawing of more than {LARGEST} cannot be "
            "read. Record a smaller program: fewer inputs, or fewer steps of its loops."
        )
        raise ShapeError(msg)
    if names is None:
        found: Sequence[str] = _input_names(t)
    else:
        found = names_for(names, t.ninputs)
    parents = [[int(p) for p in t.parents[k]] for k in range(n)]
    place = _places(parents)
    columns, rows = (1 + max(p[k] for p in place) for k in (0, 1))
    size = (max(4.0, 1.6 * columns), max(2.5, 0.8 * rows))
    ax = new_axes(ax, size=size)
    outputs = set() if t.outputs is None else set(np.ravel(t.outputs).tolist())
    boxes = []
    for k in range(n):
        name, value = _text(t, k, found)
        colour = OTHER if parents[k] else CONSTANT
        colour = INPUT if k < t.ninputs else colour
        colour = OUTPUT if k in outputs else colour
        box = {"boxstyle": "round", "facecolor": colour, "edgecolor": "black"}
        drawn = ax.text(
            *place[k],
            f"{name}\n{value}",
            ha="center",
            va="center",
            fontsize="small",
            bbox=box,
        )
        boxes.append(drawn.get_bbox_patch())
    for k in range(n):
        for p in dict.fromkeys(parents[k]):
            ax.annotate(
                "",
                xy=place[k],
                xytext=place[p],
                arrowprops={
                    "arrowstyle": "->",
                    "patchA": boxes[p],
                    "patchB": boxes[k],
                    "color": "grey",
                },
            )
    ax.set_xlim(-0.5, columns - 0.5)
    ax.set_ylim(rows - 0.5, -0.5)
    ax.set_axis_off()
    return ax


def _input_names(t: Tape) -> Sequence[str]:
    if t.structure is None:
        return labels(np.empty(t.shape))
    return labels(t.structure.build(lambda leaf: np.empty(leaf.shape)))


def _places(parents: list[list[int]]) -> list[tuple[float, float]]:
    """A column behind those of all parents, and a row near theirs, for every node."""
    depth: list[int] = []
    for mine in parents:
        depth.append(1 + max((depth[p] for p in mine), default=-1))
    columns: list[list[int]] = [[] for _ in range(1 + max(depth))]
    for k, d in enumerate(depth):
        columns[d].append(k)
    tallest = max(map(len, columns))
    row = [0.0] * len(parents)
    for column in columns:
        wish = {k: np.mean([row[p] for p in parents[k]] or [k]) for k in column}
        column.sort(key=wish.__getitem__)
        offset = (tallest - len(column)) / 2
        for place, k in enumerate(column):
            row[k] = offset + place
    return [(float(d), r) for d, r in zip(depth, row, strict=True)]


def _text(t: Tape, k: int, names: Sequence[str]) -> tuple[str, str]:
    """What stands in the box of a node: its operation, and its value."""
    name, value, operands = describe(t, k)
    if k < t.ninputs:
        return names[k], number(value)
    name = {"linear": "sum", "constants": "constant"}.get(name, name)
    slot = _recorded_slot(t, k)
    if slot is not None and len(operands) == 2:
        constant = number(operands[1 - slot])
        pair = ("·", constant) if slot == 0 else (constant, "·")
        name = f"{name}({', '.join(pair)})"
    return name, number(value)


def _recorded_slot(t: Tape, k: int) -> int | None:
    """Slot of the parent where the other operand is constant."""
    block = t.block_of(k)
    if isinstance(block, Fixed):
        return block.slot
    if isinstance(block, Run):
        return {2: 0, 3: 1}.get(int(block.code[k - block.start]) & 3)
    return None
