"""A transpose of four by four numbers in the vectors of the processor.

The compiler makes one number after the other of a loop that copies columns to rows.
"""

from __future__ import annotations

import importlib
from typing import Any

from ...errors import ReplayError
from ...sweeps.kernels._jit import Kernel

__all__ = ["SIDE", "transpose"]

SIDE = 4


class _Transpose(Kernel):
    """Stands for the instructions; exists in compiled code only."""

    def compiled(self) -> Any:
        """The instructions, for the compiler."""
        if self._compiled is None:
            self._compiled = _instructions()
        return self._compiled


def _instructions() -> Any:
    types = importlib.import_module("numba").types
    intrinsic = importlib.import_module("numba.extending").intrinsic
    ir = importlib.import_module("llvmlite").ir

    @intrinsic
    def call(typing, source, wide, target, broad):
        def generate(context, builder, signature, args):
            vector = ir.VectorType(ir.DoubleType(), SIDE)

            def line(at, stride, k):
                step = builder.mul(stride, ir.Constant(stride.type, 8 * k))
                place = builder.add(at, step)
                return builder.inttoptr(place, vector.as_pointer())

            def mixed(a, b, picks):
                mask = ir.Constant(ir.VectorType(ir.IntType(32), SIDE), picks)
                return builder.shuffle_vector(a, b, mask)

            a, b, c, d = (
                builder.load(line(args[0], args[1], k), align=8) for k in range(SIDE)
            )
            low = mixed(a, b, [0, 4, 2, 6]), mixed(c, d, [0, 4, 2, 6])
            high = mixed(a, b, [1, 5, 3, 7]), mixed(c, d, [1, 5, 3, 7])
            for k, picks in enumerate(([0, 1, 4, 5], [2, 3, 6, 7])):
                for first, pair in ((0, low), (1, high)):
                    row = line(args[2], args[3], 2 * k + first)
                    builder.store(mixed(*pair, picks), row, align=8)
            return context.get_dummy_value()

        return types.void(*([types.int64] * 4)), generate

    return call


def _only_compiled(*_: Any) -> Any:
    msg = "numbers are transposed by compiled code; the compiler is off."
    raise ReplayError(msg)


transpose = _Transpose(_only_compiled)
"""``transpose(source, wide, target, broad)``: addresses, and the lengths of their lines."""
