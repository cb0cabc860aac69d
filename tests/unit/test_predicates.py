"""Whether a vector covers a matrix, how tightly, and what refuses to be asked."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors


def test_iscover_compares_every_entry_and_both_signs():
    H = np.array([[4.0, -2.0], [-2.0, 0.5]])
    assert dc.iscover([2.0, 1.0], H)
    assert not dc.iscover([2.0, 0.99], H)
    assert not dc.iscover([np.nan, 1.0], H)
    assert not dc.iscover([0.0, 1.0], [[0.0, 1e-300], [1e-300, 0.0]])
    assert dc.iscover([1e200, 1e-200], [[1e300, 1.0], [1.0, 0.0]])


def test_single_precision_is_allowed_its_rounding():
    rng = np.random.default_rng(5)
    for x0 in rng.normal(size=(50, 6)).astype(np.float32):
        f = lambda x: np.sum(np.exp(x[1:] * x[:-1])) + np.sum(np.sin(x) * x)  # noqa: E731
        cover = dc.cover_hessian(f, x0, merge="quadrature")
        H = dc.hessian(f, x0)
        assert cover.h.dtype == H.dtype == np.float32
        assert dc.iscover(cover, H)
        assert not dc.iscover(0.999 * cover.h, np.outer(cover.h, cover.h))


def test_excess_counts_nonzero_entries_alone():
    H = np.array([[9.0, 0.0], [0.0, 0.0]])
    assert dc.cover_excess([3.0, 0.0], H) == pytest.approx(0.0, abs=1e-15)
    assert dc.cover_excess([30.0, 0.0], H) == pytest.approx(2.0)
    assert dc.cover_excess([1.0, 1.0], np.zeros((2, 2))) == 0.0
    tiny = np.array([[1.0, 1e-13], [1e-13, 1.0]])
    assert dc.cover_excess([1.0, 1.0], tiny) == pytest.approx(0.0, abs=1e-15)
    assert dc.cover_excess([1.0, 1.0], tiny, threshold=1e-14) == pytest.approx(6.5)


@pytest.mark.parametrize("ask", [dc.iscover, dc.cover_excess])
def test_sizes_and_signs_are_checked(ask):
    with pytest.raises(errors.ShapeError, match="2 x 2"):
        ask([1.0, 2.0], np.ones((3, 3)))
    with pytest.raises(errors.OptionError, match="negative"):
        ask([1.0, -2.0], np.ones((2, 2)))


def test_results_turn_into_their_main_array():
    cover = dc.cover_hessian(lambda x: x[0] ** 2, [1.0])
    assert np.asarray(cover) is cover.h
    assert np.array(cover, dtype=np.float32).dtype == np.float32
    assert "sum" in repr(cover)
    with pytest.raises(ValueError, match="copy"):
        cover.__array__(dtype=np.float32, copy=False)


def test_a_constant_that_is_not_finite_is_named_as_the_cause():
    for bad in (np.nan, np.inf):
        c = np.array([1.0, bad])
        with pytest.raises(errors.DomainError, match="constant operand"):
            dc.tape_function(lambda x, c=c: np.sum(x * c), [1.0, 2.0])
    with pytest.raises(errors.DomainError, match="overflows"):
        dc.tape_function(lambda x: np.exp(x[0]), [1e3])


def test_data_that_hold_a_nan_are_told_where():
    data = np.arange(6.0).reshape(2, 3)
    data[1, 0] = np.nan
    programs = {
        "at index 3 of 6, row by row": lambda x: np.sum((x[0] - data) ** 2),
        "at index 0 of 3": lambda x: np.sum(data @ x) ** 2,
        r"a constant that enters subtract\(1.0, nan\) is a NaN": lambda x: (
            x[0] - data[1, 0]
        ),
    }
    for told, f in programs.items():
        with pytest.raises(errors.DomainError, match=f"{told}.*constant operand"):
            dc.gradient(f, [1.0, 2.0, 3.0])
    huge = np.array([1e308, np.inf])  # the first entry overflows by itself
    with pytest.raises(errors.DomainError, match="overflows"):
        dc.gradient(lambda x: np.sum((x[0] * huge)[0]), [1e3])


def test_vector_outputs_are_told_what_to_do():
    for ask in (dc.gradient, dc.hessian, dc.cover_hessian, dc.hessian_bound):
        with pytest.raises(errors.ShapeError, match=r"sum.*output ids"):
            ask(lambda x: x * x, [1.0, 2.0])


@pytest.mark.parametrize("ask", [dc.iscover, dc.cover_excess])
def test_sparse_matrices_are_read_as_they_are(ask):
    sparse = pytest.importorskip("scipy.sparse")
    H = np.array([[4.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for h in ([2.0, 1.0, 1.0], [2.0, 0.9, 1.0]):
        assert ask(h, sparse.csr_array(H)) == ask(h, H)
    twice = sparse.coo_array(([3.0, -2.0], ([0, 0], [0, 0])), shape=(1, 1))
    assert ask([1.0], twice) == ask([1.0], [[1.0]])
    assert ask([0.0], sparse.csr_array((1, 1))) == ask([0.0], [[0.0]])
    with pytest.raises(errors.ShapeError, match="2 x 2"):
        ask([1.0, 2.0], sparse.csr_array(H))


def test_hessians_over_a_box_count_by_their_largest_members():
    def f(p):
        return p["a"] ** 2 * p["b"][0] + p["b"][1] ** 3

    box = {"a": dc.Interval(-1, 2), "b": [1.0, 2.0]}
    cover, H = dc.cover_hessian(f, box), dc.hessian(f, box)
    assert dc.iscover(cover, H)
    assert dc.cover_excess(cover, H) >= 0
    H = dc.Interval([[-4.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]])
    assert dc.iscover([2.0, 1.0], H)
    assert not dc.iscover([1.9, 1.1], H)


def test_what_counts_as_zero_depends_on_no_units():
    H = np.array([[1.0, 1e-17, 0.0], [1e-17, 2.0, 0.5], [0.0, 0.5, 0.0]])
    h = np.array([2.0, 2.0, 1.0])
    found = dc.cover_excess(h, H)
    assert found == pytest.approx(np.log10([4, 2, 4, 4]).mean())  # rounding left out
    d = 2.0 ** np.array([60, -40, 3])
    assert dc.cover_excess(h * d, H * np.outer(d, d)) == pytest.approx(found, rel=1e-13)
    sparse = pytest.importorskip("scipy.sparse").csr_array(H * np.outer(d, d))
    assert dc.cover_excess(h * d, sparse) == pytest.approx(found, rel=1e-13)
    assert dc.cover_excess(h, np.zeros((3, 3))) == 0.0
    with pytest.raises(errors.OptionError, match="NaN"):
        dc.cover_excess(h, np.full((3, 3), np.nan))
