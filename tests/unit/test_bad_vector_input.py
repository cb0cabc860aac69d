"""Wrong input of what takes several outputs: what came, what was needed, what to do."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    ConstantProgramError,
    DomainError,
    InputTypeError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)

VECTOR = {
    "cover_jacobian": dc.cover_jacobian,
    "grouped": lambda t, o: dc.cover_jacobian(t, o, ngroups=3),
    "jacobian": dc.jacobian,
    "abs_reverse": lambda t, o: dc.abs_reverse(t, o, 1.0),
    "cover_nls": dc.cover_nls,
    "quadrature": lambda t, o: dc.cover_nls(t, o, ngroups=None),
    "gramcover": dc.gramcover,
    "declare_submap": dc.declare_submap,
}
TAPED = {k: v for k, v in VECTOR.items() if k != "declare_submap"}
WEIGHTED = {
    "cover_nls": lambda t, o, w: dc.cover_nls(t, o, weights=w),
    "quadrature": lambda t, o, w: dc.cover_nls(t, o, weights=w, ngroups=None),
    "gramcover": lambda t, o, w: dc.gramcover(t, o, w),
    "abs_reverse": lambda t, o, w: dc.abs_reverse(t, o, w),
}


@pytest.fixture
def taped():
    tape, outs = dc.tape_function(
        lambda x: [x[0] * x[1], x[1] ** 2, x[0] + x[1]], [1.0, 2.0]
    )
    return tape, np.asarray(outs)


@pytest.mark.parametrize("entry", VECTOR)
@pytest.mark.parametrize(
    ("F", "error", "message"),
    [
        (lambda x: [1.0, 2.0], ConstantProgramError, "does not depend"),
        (lambda x: np.ones(3), ConstantProgramError, "does not depend"),
        (lambda x: [], ShapeError, "at least one output"),
        (lambda x: x[:0], ShapeError, "at least one output"),
        (lambda x: np.zeros((0, 2)), ConstantProgramError, "does not depend"),
        (lambda x: None, InputTypeError, "returned None"),
        (lambda x: {"r": x[0]}, InputTypeError, "of type dict"),
        (lambda x: [np.nan, x[0]], DomainError, "nan"),
        (lambda x: np.log(x - 1.0), DomainError, "log"),
        (3.0, InputTypeError, "function"),
    ],
)
def test_programs(entry, F, error, message):
    with pytest.raises(error, match=message):
        VECTOR[entry](F, [1.0, 2.0])


@pytest.mark.parametrize("entry", VECTOR)
@pytest.mark.parametrize(
    ("x", "error"),
    [
        ([], ShapeError),
        (np.zeros((2, 0)), ShapeError),
        ([np.nan], DomainError),
        (["a"], InputTypeError),
        ([None], InputTypeError),
    ],
)
def test_points(entry, x, error):
    with pytest.raises(error):
        VECTOR[entry](lambda x: x * x, x)


@pytest.mark.parametrize("entry", TAPED)
@pytest.mark.parametrize(
    ("outs", "error", "message"),
    [
        ([], ShapeError, "at least one"),
        (np.empty((0, 2), dtype=int), ShapeError, "at least one"),
        ([0, 1000], ShapeError, "not on this tape"),
        ([0, -1], ShapeError, "not on this tape"),
        ([0.0, 1.0], InputTypeError, "node ids"),
        ([True, False], InputTypeError, "node ids"),
        ([[0], [1, 2]], InputTypeError, "node ids"),
        ("out", InputTypeError, "node ids"),
    ],
)
def test_outputs(entry, outs, error, message, taped):
    with pytest.raises(error, match=message):
        TAPED[entry](taped[0], outs)


@pytest.mark.parametrize("entry", WEIGHTED)
@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0, 2.0], ShapeError, r"shape \(2,\); the outputs have shape \(3,\)"),
        (np.ones((3, 1)), ShapeError, r"\(3, 1\)"),
        (np.ones((1, 3)), ShapeError, r"\(1, 3\)"),
        ([], ShapeError, r"\(0,\)"),
        ([[1.0], [1.0, 2.0]], ShapeError, "^(weights|seeds)"),
        (-1.0, OptionError, "nonnegative"),
        ([1.0, 1.0, -1e-300], OptionError, "nonnegative"),
        ([1.0, np.nan, 1.0], OptionError, "finite"),
        (np.inf, OptionError, "finite"),
        (1j, InputTypeError, "^(weights|seeds)"),
        ("heavy", InputTypeError, "^(weights|seeds)"),
        ({"r": 1.0}, InputTypeError, "^(weights|seeds)"),
    ],
)
def test_weights(entry, weights, error, message, taped):
    with pytest.raises(error, match=message):
        WEIGHTED[entry](*taped, weights)


@pytest.mark.parametrize("entry", WEIGHTED)
def test_weights_at_the_ends_of_the_range(entry, taped):
    zero = np.concatenate(np.atleast_1d(np.asarray(WEIGHTED[entry](*taped, 0.0)), []))
    assert not zero.any()
    tiny = np.asarray(WEIGHTED[entry](*taped, 5e-324))
    assert (tiny > 0).all()
    if entry.startswith(("cover", "quad")):
        with pytest.raises(DomainError, match="not finite"):
            WEIGHTED[entry](*taped, 1e308)


def test_a_single_output_takes_one_weight():
    tape, out = dc.tape_function(lambda x: x[0] * x[1], [1.0, 2.0])
    cover = dc.cover_nls(tape, out, weights=4.0)
    np.testing.assert_allclose(cover.h_gn, [4.0, 2.0])
    with pytest.raises(ShapeError, match=r"outputs have shape \(\)"):
        dc.cover_nls(tape, out, weights=[4.0])


@pytest.mark.parametrize("F", [lambda x: x * x, lambda x: 3.0 * x])
@pytest.mark.parametrize("ngroups", [5, 10**12])
def test_more_groups_than_there_is_anything_to_group(F, ngroups):
    x = [1.0, -2.0, 3.0]
    many = dc.cover_nls(F, x, ngroups=ngroups)
    best = dc.cover_nls(F, x, ngroups=None)
    np.testing.assert_allclose(many.h, best.h, rtol=1e-15)
    a, b = dc.cover_jacobian(F, x, ngroups=ngroups)
    np.testing.assert_allclose(a * b, np.abs(np.diag(dc.jacobian(F, x))))


class _Column:
    """A column of a data frame, as far as it matters here."""

    __array_ufunc__ = None

    def to_numpy(self):
        return np.ones(2)


def test_a_column_of_a_data_frame_and_a_sparse_matrix_say_what_to_take():
    with pytest.raises(InputTypeError, match="to_numpy"):
        dc.gradient(lambda x: np.sum(x * _Column()), [1.0, 2.0])
    A = pytest.importorskip("scipy.sparse").eye_array(2).tocsr()
    with pytest.raises(UnsupportedOperationError, match="toarray"):
        dc.gradient(lambda x: np.sum(A @ x), [1.0, 2.0])
