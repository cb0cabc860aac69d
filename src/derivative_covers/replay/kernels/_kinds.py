"""Kinds and columns of the instructions of a replayed program."""

from __future__ import annotations

# Kinds.
LANES, GATHER, LINE, IDS, GROUP, LINEAR, DOT, OUTSIDE, RUNNING, SCALED = range(10)
# Columns: kind, elemental, node, operands, number of nodes; steps a tile of a group moves
# on by, an entry; one more number that the kind explains.
KIND, F, OUT, X, Y, N, OS, XS, YS, MORE = range(10)
COLUMNS = 10

TILE = 512  # nodes of a group that are computed at a time

# Kinds of reverse passes.
GRADIENT, COVER, SECOND = range(3)
