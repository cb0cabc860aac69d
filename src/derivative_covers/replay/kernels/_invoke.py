"""A call of a compiled elemental by its address, from compiled code."""

from __future__ import annotations

import importlib
from typing import Any

from ...errors import ReplayError
from ...sweeps.kernels._jit import Kernel

__all__ = ["invoke"]

_INTEGERS = 4  # after the buffers: offsets of the node and its operands, length


class _Invoke(Kernel):
    """Stands for the instruction that calls; exists in compiled code only."""

    def compiled(self) -> Any:
        """The instruction, for the compiler."""
        if self._compiled is None:
            self._compiled = _instruction()
        return self._compiled


def _instruction() -> Any:
    types = importlib.import_module("numba").types
    intrinsic = importlib.import_module("numba.extending").intrinsic
    ir = importlib.import_module("llvmlite").ir

    @intrinsic
    def call(typing, address, p, q, r, s, ids, o, x, y, n):
        def generate(context, builder, signature, args):
            i64 = ir.IntType(64)
            real, whole = ir.DoubleType().as_pointer(), i64.as_pointer()
            buffers = [real] * 4 + [whole]
            kind = ir.FunctionType(i64, buffers + [i64] * _INTEGERS)
            target = builder.inttoptr(args[0], kind.as_pointer())
            pointers = [
                builder.inttoptr(arg, type_)
                for arg, type_ in zip(args[1:6], buffers, strict=True)
            ]
            return builder.call(target, pointers + list(args[6:]))

        return types.int64(*([types.int64] * 10)), generate

    return call


def _only_compiled(*_: Any) -> Any:
    msg = "compiled elementals are called from compiled code; the compiler is off."
    raise ReplayError(msg)


invoke = _Invoke(_only_compiled)
