"""Covers of matrices: types, forms and wrong input."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import derivative_covers as dc
from derivative_covers import errors, matrix

A = [[4.0, 1.0], [1.0, 9.0]]
SYM = [matrix.symcover, matrix.symcover_min, matrix.soft_symcover]
GENERAL = [matrix.cover, matrix.cover_min, matrix.soft_cover]


@pytest.mark.parametrize("f", SYM + GENERAL)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, complex(0, np.nan)])
def test_no_nan_or_infinity(f, bad):
    for given in ([[1, bad], [bad, 1]], sp.csr_array([[1, bad], [bad, 1]])):
        with pytest.raises(errors.OptionError, match=r"A\[0, 1\] is .*finite"):
            f(given)


@pytest.mark.parametrize("f", SYM + GENERAL)
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([1.0, 2.0], errors.ShapeError, "two dimensions"),
        (3.0, errors.ShapeError, "two dimensions"),
        (np.ones((2, 2, 2)), errors.ShapeError, "one by one"),
        (sp.coo_array([1.0, 2.0]), errors.ShapeError, "two dimensions"),
        ([[1.0], [1.0, 2.0]], errors.InputTypeError, "differ in length"),
        ([["a", "b"], ["b", "a"]], errors.InputTypeError, "numbers"),
        ([[Fraction(1, 2)]], errors.InputTypeError, "type object"),
        (np.ma.masked_equal(A, 1.0), errors.InputTypeError, "filled"),
        (None, errors.InputTypeError, "type object"),
        ({"a": 1.0}, errors.InputTypeError, "dict"),
    ],
)
def test_what_is_no_matrix(f, given, error, words):
    with pytest.raises(error, match=words):
        f(given)


@pytest.mark.parametrize("f", SYM)
def test_symmetric_covers_need_symmetric_sizes(f):
    with pytest.raises(errors.ShapeError, match="square"):
        f(np.ones((2, 3)))
    with pytest.raises(errors.OptionError, match=r"\|A\[0, 1\]\| is 2 and .* is 3;"):
        f([[1, 2], [-3, 1]])
    with pytest.raises(errors.OptionError, match=r"\|A\[1, 0\]\| is 3 and .* is 0;"):
        f(sp.csr_array([[1, 0], [3, 1]]))
    f([[0, 2], [-2, 0]])
    f([[1, 2 + 1j], [2 - 1j, 1]])
    nearly = np.array([[4.0, 1.0], [1.0 + 1e-13, 0.0]])
    h = f(nearly)
    if f is not matrix.soft_symcover:
        assert matrix.iscover(h, nearly, rtol=0)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 3)])
@pytest.mark.parametrize("f", GENERAL)
def test_nothing_but_zeros(f, shape):
    for given in (np.zeros(shape), sp.csr_array(shape), sp.coo_array(shape)):
        a, b = f(given)
        np.testing.assert_array_equal(a, np.zeros(shape[0]))
        np.testing.assert_array_equal(b, np.zeros(shape[1]))
        assert matrix.iscover((a, b), given)
        assert matrix.cover_objective((a, b), given) == 0


@pytest.mark.parametrize(
    "f", [*SYM, lambda A: matrix.symcover_min(A, penalty="absolute_log")]
)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_symmetric_zeros(f, n):
    np.testing.assert_array_equal(f(np.zeros((n, n))), np.zeros(n))


def test_sparse_forms():
    i, j, v = [0, 0, 1, 1, 1], [0, 0, 1, 0, 0], [1.0, 3.0, 9.0, 5.0, -5.0]
    M = sp.coo_matrix((v, (i, j)), shape=(2, 2))  # duplicates that add up, and cancel
    kept = M.copy()
    np.testing.assert_allclose(matrix.symcover(M), [2, 3])
    assert M.nnz == kept.nnz == 5  # what was given stays as it is
    for form in ("csr", "csc", "lil", "dok", "bsr", "dia", "coo"):
        np.testing.assert_array_equal(
            matrix.symcover_min(sp.csr_array(A).asformat(form)), matrix.symcover_min(A)
        )
    explicit = sp.csr_array(([0.0, 4.0], ([0, 1], [1, 1])), shape=(2, 2))
    np.testing.assert_allclose(matrix.symcover(explicit), [0, 2])


@pytest.mark.parametrize("kind", "?bhilqBHILQefdgFDG")
def test_types(kind):
    M = np.array([[4, 1], [1, 9]]).astype(kind)
    h = matrix.symcover_min(M)
    single = kind in "fF"
    assert h.dtype == (np.float32 if single else np.float64)
    assert matrix.cover(M).b.dtype == h.dtype == matrix.soft_symcover(M).dtype
    assert matrix.iscover(h, M, rtol=0)
    expected = [1, 1] if kind == "?" else [2, 3]
    np.testing.assert_allclose(h, expected, rtol=3e-7 if single else 1e-14)


def test_sizes_that_types_cannot_hold():
    assert matrix.symcover(np.array([[-128]], dtype=np.int8))[0] ** 2 > 127.9
    for value in (2**63 - 1, -(2**63), 2**53 + 1):
        h = matrix.symcover(np.array([[value]], dtype=np.int64))
        assert Fraction(h[0]) ** 2 >= abs(value)
    z = 3.1 + 4.7j
    h = matrix.symcover([[z]])
    assert Fraction(h[0]) ** 4 >= Fraction(z.real) ** 2 + Fraction(z.imag) ** 2
    single = np.array([[np.float32(0.1), 3], [3, 7]], dtype=np.float32)
    h = matrix.symcover_min(single)
    for i, j in np.ndindex(2, 2):
        assert Fraction(float(h[i])) * Fraction(float(h[j])) >= Fraction(
            float(single[i, j])
        )


def test_ends_of_the_range():
    for value in (5e-324, 2.3e-308, 1.7e308):
        for f in (matrix.symcover, matrix.symcover_min):
            h = f([[value]])
            assert Fraction(h[0]) ** 2 >= Fraction(value)
            assert float(h[0]) ** 2 == pytest.approx(value, rel=1e-12, abs=1e-323)
    a, b = matrix.cover_min([[1e300, 1e-300], [1e-300, 1e300]])
    np.testing.assert_allclose([a, b], 1e150)
    chain = np.diag([1e300, 1e-300, 1e300], 1)
    with pytest.raises(errors.OptionError, match="scale the matrix"):
        matrix.symcover_min(chain + chain.T)


def test_options():
    for f in (*SYM, *GENERAL):
        if f not in (matrix.symcover, matrix.cover):
            with pytest.raises(errors.OptionError, match="'squared_log'"):
                f(A, penalty="log")
    with pytest.raises(errors.OptionError, match="absolute_ratio"):
        matrix.cover_objective([2, 3], A, penalty=None)
    for bad in (-1, 2.5, True, None):
        with pytest.raises(errors.OptionError, match="iterations"):
            matrix.symcover(A, iterations=bad)
    with pytest.raises(errors.OptionError, match="rtol"):
        matrix.iscover([2, 3], A, rtol=-1e-9)


def test_iscover_is_exact_where_asked():
    h = np.array([1 / 3, 3.0])
    assert matrix.iscover(h, [[0, 1], [1, 9]])
    assert not matrix.iscover(h, [[0, 1], [1, 9]], rtol=0)  # 1/3 is rounded down
    assert matrix.iscover(np.nextafter(h, 4), [[0, 1], [1, 9]], rtol=0)
    assert matrix.iscover([0.5, 0.5], [[1, 1], [1, 1]], rtol=0.75)
    assert not matrix.iscover([0, 1], [[0, 0], [1e-300, 1]])
    assert matrix.cover_objective([0, 1], [[0, 1], [1, 1]]) == np.inf
    for penalty in ("squared_ratio", "absolute_ratio"):
        found = matrix.cover_objective([2, 1], [[1, 0], [0, 1]], penalty=penalty)
        assert found == pytest.approx(0.75 ** (2 if "squared" in penalty else 1))


def test_covers_of_programs_are_taken():
    f = lambda x: x[0] ** 2 * x[1] + np.exp(x[1])  # noqa: E731
    found, H = dc.cover_hessian(f, [1.0, 2.0]), dc.hessian(f, [1.0, 2.0])
    assert matrix.iscover(found, H)
    assert matrix.cover_objective(found, H) >= matrix.cover_objective(
        matrix.symcover_min(H), H
    )
    r = lambda x: [x[0] * x[1], x[0], x[1] ** 2]  # noqa: E731
    pair, J = dc.cover_jacobian(r, [1.0, 2.0]), dc.jacobian(r, [1.0, 2.0])
    assert matrix.iscover(pair, J)
    assert matrix.iscover(matrix.gramcover(pair, J), J.T @ J)


@pytest.mark.parametrize(
    ("cover", "error"),
    [
        ([1, 2, 3], errors.ShapeError),
        (([1, 2], [1, 2], [1, 2]), errors.ShapeError),
        (([1, 2], [1]), errors.ShapeError),
        ([1, -1], errors.OptionError),
        ([1, np.nan], errors.OptionError),
        (([1, np.inf], [1, 1]), errors.OptionError),
        (["a", "b"], errors.InputTypeError),
        ([1j, 1], errors.InputTypeError),
        (([1, [2, 3]], [1, 2]), errors.InputTypeError),
        ({"a": 1}, errors.InputTypeError),
    ],
)
def test_what_is_no_cover(cover, error):
    for f in (matrix.iscover, matrix.cover_objective, matrix.gramcover):
        with pytest.raises(error, match=r"cover|number"):
            f(cover, A)


def test_without_scipy(monkeypatch):
    M = np.diag([1.0, 2.0, 3.0]) + 1
    expected = matrix.symcover_min(M)
    for name in ("scipy.optimize", "scipy.sparse", "scipy.sparse.linalg"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("derivative_covers.matrix._linear._DENSE", 0)
    tridiagonal = np.eye(40) + np.eye(40, k=1) + np.eye(40, k=-1)
    assert matrix.iscover(matrix.symcover_min(tridiagonal), tridiagonal, rtol=0)
    np.testing.assert_array_equal(matrix.symcover_min(M), expected)
    with pytest.raises(errors.MissingPackageError, match="pip install"):
        matrix.symcover_min(M, penalty="absolute_log")


def test_the_pair_as_a_matrix():
    pair = matrix.cover(A)
    assert np.asarray(pair, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="new array"):
        np.array(pair, copy=False)
