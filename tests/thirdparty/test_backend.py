"""A backend of somebody else's: one tangent and one second derivative, forward."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.extend import (
    CoverVar,
    binarynode,
    constantvar,
    dotnode,
    isconstant,
    unarynode,
    value,
)
from derivative_covers.testing import check_backend


class Line(CoverVar):
    """A value with first and second derivative along a line through the inputs."""

    __slots__ = ("dd", "dot", "v")

    def __init__(self, v, dot=None, dd=0.0):
        self.v, self.dot, self.dd = v, dot, dd

    @property
    def is_constant(self):
        return self.dot is None

    def unarynode(self, val, d, c):
        return Line(val, d * self.dot, d * self.dd + c * self.dot**2)

    def binarynode(self, other, val, d1, d2, c11, c12, c22):
        u, w = self.dot, other.dot
        bent = c11 * u * u + 2 * c12 * u * w + c22 * w * w
        return Line(val, d1 * u + d2 * w, d1 * self.dd + d2 * other.dd + bent)


def along(f, x0, direction):
    """Value, slope and curvature of a program along a line."""
    x = np.empty(len(x0), dtype=object)
    x[:] = [Line(v, d) for v, d in zip(x0, direction, strict=True)]
    y = f(x)
    return float(value(y)), float(y.dot), float(y.dd)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def smooth(x):
    y = np.exp(np.sin(x)) + x**3 / (1.0 + x * x)
    return np.arctan2(y[0], y[1]) * y.sum() + np.where(x > 0, x, -x) @ x


X = np.array([0.7, -0.3, 1.2, 0.4])
V = np.array([1.0, -2.0, 0.5, 0.25])


def test_it_conforms():
    def variables(x0):
        return [Line(v, e) for v, e in zip(x0, np.eye(x0.size), strict=True)]

    check_backend(variables, gradient=lambda y: y.dot)


@pytest.mark.parametrize("f", [rosenbrock, smooth])
def test_whole_numpy_programs_run_on_it(f):
    v, slope, bend = along(f, X, V)
    assert v == pytest.approx(float(f(X)), rel=1e-14)
    assert slope == pytest.approx(float(dc.gradient(f, X) @ V), rel=1e-12)
    assert bend == pytest.approx(float(V @ dc.hvp(f, X, V)), rel=1e-11)


def test_nodes_recorded_by_hand():
    x, y = Line(2.0, 1.0), Line(3.0, -1.0)
    z = binarynode(unarynode(x, 4.0, 4.0, 2.0), y, 12.0, 3.0, 4.0, 0.0, 1.0, 0.0)
    assert (z.v, z.dot) == (12.0, 8.0)
    assert z.dd == 3.0 * 2.0 - 2 * 4.0
    c = constantvar(Line, 5.0)
    assert isconstant(c)
    assert isconstant(c * c)
    assert value([x, c]) == [2.0, 5.0]


def test_domains_kinks_and_mixed_backends_raise():
    with pytest.raises(errors.DomainError, match=r"log\(-1.0\)"):
        along(lambda x: np.log(x[0]), [-1.0], [1.0])
    with pytest.raises(errors.NondifferentiableError, match="absolute"):
        along(lambda x: abs(x[0]), [0.0], [1.0])
    with pytest.raises(errors.InputTypeError, match="two backends"):
        dc.forward_cover(lambda x: np.add(Line(1.0, 1.0), x[0]), [1.0])
    with pytest.raises(
        errors.UnsupportedOperationError, match="does not define dotnode"
    ):
        dotnode([Line(1.0, 1.0)], [Line(1.0, 1.0)])
