"""The check of backends: those of the package pass, each kind of fault is caught."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.extend import (
    CoverVar,
    DenseStorage,
    ForwardContext,
    SparseStorage,
    Tape,
    TVar,
    noderef,
)
from derivative_covers.testing import ConformanceError, check_backend


@pytest.mark.parametrize("storage", [DenseStorage, SparseStorage])
def test_the_forward_backend_passes(storage):
    def variables(x0):
        context = ForwardContext(x0.dtype, x0.size, storage, 1e-8)
        return context.inputs(x0, np.ones(x0.size))

    check_backend(
        variables,
        gradient=lambda y: y.channels.gradient.dense(3),
        cover=lambda y: np.sqrt(y.channels.square.dense(3)),
    )


def test_the_tape_passes():
    def variables(x0):
        tape = Tape(x0)
        return [TVar(tape, k) for k in range(x0.size)]

    def finished(y):
        tape, k = noderef(y)
        tape.finish()
        return tape, k

    check_backend(
        variables,
        gradient=lambda y: dc.gradient(*finished(y)),
        cover=lambda y: dc.cover_hessian(*finished(y)).h,
    )


class Tangent(CoverVar):
    """Propagates a gradient; right in every respect. Subclasses break one."""

    def __init__(self, v, dot=None):
        self.v, self.dot = v, dot

    @property
    def is_constant(self):
        return self.dot is None

    def unarynode(self, val, d, c):
        return type(self)(val, d * self.dot)

    def binarynode(self, other, val, d1, d2, c11, c12, c22):
        return type(self)(val, d1 * self.dot + d2 * other.dot)

    @classmethod
    def dotnode(cls, ws, xs):
        val = sum(w.v * x.v for w, x in zip(ws, xs, strict=True))
        return cls(
            val, sum(w.v * x.dot + x.v * w.dot for w, x in zip(ws, xs, strict=True))
        )

    @classmethod
    def linearnode(cls, coeffs, xs):
        pairs = list(zip(coeffs, xs, strict=True))
        return cls(sum(c * x.v for c, x in pairs), sum(c * x.dot for c, x in pairs))


def check(backend, **kw):
    def variables(x0):
        return [backend(v, e) for v, e in zip(x0, np.eye(x0.size), strict=True)]

    check_backend(variables, gradient=lambda y: y.dot, **kw)


def test_the_unbroken_backend_passes():
    check(Tangent)


class OneSided(Tangent):
    def binarynode(self, other, val, d1, d2, c11, c12, c22):
        return type(self)(val, d1 * self.dot)


class NoChainRule(Tangent):
    def unarynode(self, val, d, c):
        return type(self)(val, d * np.ones_like(self.dot))


class WrongValue(Tangent):
    def unarynode(self, val, d, c):
        return type(self)(val + 1e-3, d * self.dot)


class Forgets(Tangent):
    """Drops the derivative of sums, so that they look constant."""

    def binarynode(self, other, val, d1, d2, c11, c12, c22):
        dot = d1 * self.dot + d2 * other.dot
        return type(self)(val, None if c12 == 0 else dot)


class ConstantIsVariable(Tangent):
    def __init__(self, v, dot=None):
        super().__init__(v, np.zeros(3) if dot is None else dot)


class Floats(Tangent):
    def __float__(self):
        return float(self.v)


class ComparesByIdentity(Tangent):
    def __lt__(self, other):
        return False

    __hash__ = CoverVar.__hash__


class IgnoresTies(Tangent):
    def __lt__(self, other):
        return bool(self.v < dc.value(other))

    __hash__ = CoverVar.__hash__


class Truth(Tangent):
    def __bool__(self):
        return False


class Dot(Tangent):
    @classmethod
    def dotnode(cls, ws, xs):
        return cls(*(2 * e for e in (0.0, ws[0].dot)))


class Linear(Tangent):
    @classmethod
    def linearnode(cls, coeffs, xs):
        out = super().linearnode(coeffs, xs)
        return cls(out.v, np.abs(out.dot))


class Doubles(Tangent):
    """Values become float64."""

    def __init__(self, v, dot=None):
        super().__init__(np.float64(v), dot)


class Crashes(Tangent):
    def binarynode(self, other, val, d1, d2, c11, c12, c22):
        raise KeyError(val)


FAULTS = {
    OneSided: r"the program 'arithmetic' has gradient",
    NoChainRule: r"has gradient",
    WrongValue: r"the program 'functions' has value",
    Forgets: r"has gradient \[nan\]",
    ConstantIsVariable: r"is no constant",
    Floats: r"float\(\) of a variable gives .* instead of raising",
    ComparesByIdentity: r"comparisons go not by value",
    IgnoresTies: r"x < 0.7 at 0.7 gives False instead of raising NondifferentiableError",
    Truth: r"bool\(\) of a variable",
    Dot: r"dotnode gives 0.0",
    Linear: r"linearnode has gradient",
    Doubles: r"values of float32 inputs become float64",
    Crashes: r"raises KeyError",
}


@pytest.mark.parametrize("backend", FAULTS, ids=lambda backend: backend.__name__)
def test_each_kind_of_fault_is_caught(backend):
    with pytest.raises(ConformanceError, match=FAULTS[backend]):
        check(backend)


def test_a_missing_recorder_is_allowed_only_where_nothing_needs_it():
    class OnlyElementals(Tangent):
        dotnode = CoverVar.dotnode
        linearnode = CoverVar.linearnode

    class NoBinary(Tangent):
        binarynode = CoverVar.binarynode

    check(OnlyElementals)
    with pytest.raises(ConformanceError, match="NoBinary does not define binarynode"):
        check(NoBinary)


def test_covers_are_checked():
    def h(y, size):
        return np.full(3, size)

    with pytest.raises(ConformanceError, match="does not cover the Hessian"):
        check(Tangent, cover=lambda y: h(y, 1e-3))
    with pytest.raises(ConformanceError, match="is not zero where the tape's cover"):
        check(Tangent, cover=lambda y: h(y, 1e3))
    with pytest.raises(ConformanceError, match=r"has cover \[-1"):
        check(Tangent, cover=lambda y: h(y, -1.0))


def test_arguments_are_checked():
    with pytest.raises(errors.ShapeError, match="gave 0 variables"):
        check_backend(lambda x0: [], gradient=None)
    with pytest.raises(errors.InputTypeError, match="a subclass of CoverVar is needed"):
        check_backend(list, gradient=None)
