"""Recording: tapes, variables and NumPy's protocols."""

from __future__ import annotations

from . import _functions as _functions
from . import _tvar_compare as _tvar_compare
from . import _tvar_methods as _tvar_methods
from ._blackbox import BlackBox, MatrixCurvature, blackbox
from ._block_enclosures import coefficients
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
from ._box_faults import check_range
from ._combinations import dotnode, linearnode
from ._covervar import CoverVar, Recorder
from ._decide import refuse_over_box
from ._detach import stop_gradient, value
from ._elements import UNDEFINED
from ._enclosures import Enclosures
from ._explicit import binarynode, constantnode, pushnode, unarynode
from ._generic import applies
from ._generic import apply as apply_each
from ._guards import Guard, Guards, GuardTable
from ._kinks import Kink, noted
from ._local import input_variable, one_recording, output_entries, shared_variable
from ._over_box import bounds, box_of, numbers
from ._partials import columns, describe, kink_marks, marks, reason
from ._record import check_extras, record
from ._refs import constantvar, isconstant, nnodes, noderef
from ._site import TapeSite
from ._spread import spread
from ._structure import Structure, input_array, map_leaves
from ._structure import plan as input_plan
from ._tape import Tape
from ._tarray import TArray
from ._tvar import TVar
from ._views import NodeView

__all__ = [
    "UNDEFINED",
    "Accumulate",
    "Binary",
    "BlackBox",
    "Block",
    "Constants",
    "CoverVar",
    "Dot",
    "Enclosures",
    "Fixed",
    "Guard",
    "GuardTable",
    "Guards",
    "Inputs",
    "Kink",
    "Linear",
    "MatrixCurvature",
    "Node",
    "NodeView",
    "Operand",
    "Recorder",
    "Run",
    "Structure",
    "TArray",
    "TVar",
    "Tape",
    "TapeSite",
    "Unary",
    "applies",
    "apply_each",
    "binarynode",
    "blackbox",
    "bounds",
    "box_of",
    "check_extras",
    "check_range",
    "coefficients",
    "columns",
    "constantnode",
    "constantvar",
    "describe",
    "dotnode",
    "input_array",
    "input_plan",
    "input_variable",
    "isconstant",
    "kink_marks",
    "linearnode",
    "map_leaves",
    "marks",
    "nnodes",
    "noderef",
    "noted",
    "numbers",
    "one_recording",
    "output_entries",
    "pushnode",
    "reason",
    "record",
    "refuse_over_box",
    "shared_variable",
    "spread",
    "stop_gradient",
    "unarynode",
    "value",
]
