"""Recording: tapes, variables and NumPy's protocols."""

from __future__ import annotations

from . import _functions as _functions
from ._blocks import (
    Accumulate,
    Binary,
    Block,
    Constants,
    Dot,
    Fixed,
    Inputs,
    Linear,
    Node,
    Operand,
    Run,
    Unary,
)
from ._covervar import CoverVar
from ._explicit import (
    binarynode,
    constantnode,
    constantvar,
    dotnode,
    isconstant,
    linearnode,
    nnodes,
    noderef,
    pushnode,
    unarynode,
    value,
)
from ._partials import columns, describe, marks, reason
from ._record import input_array, record
from ._site import TapeSite
from ._tape import Tape
from ._tarray import TArray
from ._tvar import TVar
from ._views import NodeView

__all__ = [
    "Accumulate",
    "Binary",
    "Block",
    "Constants",
    "CoverVar",
    "Dot",
    "Fixed",
    "Inputs",
    "Linear",
    "Node",
    "NodeView",
    "Operand",
    "Run",
    "TArray",
    "TVar",
    "Tape",
    "TapeSite",
    "Unary",
    "binarynode",
    "columns",
    "constantnode",
    "constantvar",
    "describe",
    "dotnode",
    "input_array",
    "isconstant",
    "linearnode",
    "marks",
    "nnodes",
    "noderef",
    "pushnode",
    "reason",
    "record",
    "unarynode",
    "value",
]
