"""The quadrature merge where rows are dense: against its definition, in few sweeps."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import extend
from derivative_covers.sweeps import _rows
from derivative_covers.sweeps.kernels import rows as kernels

N = 60
X = np.random.default_rng(5).uniform(0.4, 2.0, size=N)
A = np.random.default_rng(6).normal(size=(N, N)) / N


def entropy(x):
    p = np.exp(x) / np.sum(np.exp(x))
    return np.sum(p * np.log(p))


def log_sum_exp(x):
    w = np.linspace(0.5, 1.5, x.size)
    return np.log(np.sum(w * np.exp(w * x)))


def variation(x):
    y = x - np.mean(x)
    return np.sum((y[2:] * y[:-2] - 2 * y[1:-1]) ** 3)


def standardised(x):
    """Two bases in one atom: a mean over a deviation."""
    y = x - np.mean(x)
    return np.mean(y / np.std(x) * np.sin(x))


def two_means(x):
    w = np.linspace(1.0, 2.0, x.size)
    return np.mean(x) * np.mean(w * x) + np.sum((x - np.mean(x)) * (x + np.mean(w * x)))


def loop(x):
    s = 0.0
    for v in x:
        s = s + v * v
    return s * s + np.sqrt(s)


class Ridge(extend.Curvature):
    """Curvature ``w w'`` of a node given explicitly."""

    def __init__(self, w):
        self.w = np.asarray(w, dtype=float)

    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        rho[:] = list(np.sqrt(av) * np.abs(self.w))
        return bool(av)

    def bound_contribution(self, B, av, ps, utilde):
        u = sum(abs(w) * utilde[int(p)] for w, p in zip(self.w, ps, strict=True))
        B += av * np.outer(u, u)

    def curvature_apply(self, vbardot, ps, bk, dv):
        np.add.at(vbardot, ps, bk * self.w * (self.w @ dv[ps]))


def explicit(x):
    """Explicit nodes of three slots, with short rows, with a basis, and with both."""
    y = x - np.mean(x)
    s = 0.0
    for k in range(3):
        ids = [extend.noderef(v)[1] for v in (y[k], x[k + 1] * x[k], np.sum(x**2))]
        tape = extend.noderef(x[0])[0]
        s = s + extend.pushnode(tape, 1.0, ids, [1.0, -2.0, 0.5], Ridge([1, 2, -3]))
    return s + np.sum(y**2)


PROGRAMS = {
    "deviation": np.std,
    "variance": np.var,
    "entropy": entropy,
    "norm": np.linalg.norm,
    "log of a sum": log_sum_exp,
    "centred neighbours": variation,
    "centred, mixed": lambda x: np.sum(
        np.cos((x - np.mean(x)) @ A[: x.size, : x.size])
    ),
    "standardised": standardised,
    "two means": two_means,
    "times the mean": lambda x: np.sum(x * np.mean(x) * np.arange(x.size)),
    "one atom": lambda x: np.exp(np.mean(x)),
    "dot": lambda x: (x - np.mean(x)) @ (x * np.sum(x)),
    "running sums": lambda x: np.sum(np.cumsum(x) ** 3),
    "mean cancelled": lambda x: np.sum((x - np.mean(x) + np.sum(x) / x.size) ** 2),
    "loop": loop,
    "explicit": explicit,
}


def by_definition(tape, out):
    """``sqrt(sum over atoms of (sum over slots of rho |row|)**2)`` from dense rows."""
    h2 = np.zeros(tape.ninputs)
    for k, rho in enumerate(dc.local_covers(tape, out)):
        if rho is None:
            continue
        parents = tape.parents[k]
        slots = np.abs(dc.jacobian(tape, parents)).reshape(parents.size, -1)
        for atom in tape.Cs[k].atom_slots(parents.size):
            at = list(atom)
            h2 += (np.asarray(rho, dtype=float)[at] @ slots[at].astype(float)) ** 2
    return np.sqrt(h2)


def quadrature(tape, out):
    return dc.cover_hessian(tape, out, merge="quadrature").h


def count_sweeps(monkeypatch, f, x):
    """Reverse and forward sweeps that the merge takes for its rows."""
    tape, out = dc.tape_function(f, x)
    calls = {"adjoints": 0, "tangents": 0}
    with monkeypatch.context() as patch:
        for name in calls:
            plain = getattr(_rows, name)

            def counted(*args, name=name, plain=plain):
                calls[name] += 1
                return plain(*args)

            patch.setattr(_rows, name, counted)
        quadrature(tape, out)
    return calls["adjoints"], calls["tangents"]


@pytest.mark.parametrize("cap", [1, 2, 5, 48, 10**4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_merge_is_its_definition(monkeypatch, name, cap):
    tape, out = dc.tape_function(PROGRAMS[name], X)
    expected = by_definition(tape, out)
    monkeypatch.setattr(_rows, "CAP", cap)
    found = quadrature(tape, out)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"explicit"}))
@pytest.mark.parametrize("cap", [1, 2, 48])
@pytest.mark.parametrize("n", [4, N])
def test_the_merge_covers(monkeypatch, name, cap, n):
    monkeypatch.setattr(_rows, "CAP", cap)
    tape, out = dc.tape_function(PROGRAMS[name], X[:n])
    H = dc.hessian(tape, out)
    for cover in (
        dc.cover_hessian(tape, out, merge="quadrature"),
        dc.cover_hybrid(tape, out, ngroups=3),
    ):
        assert dc.iscover(cover, H)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"explicit"}))
def test_single_precision(name):
    x = X.astype(np.float32)
    tape, out = dc.tape_function(PROGRAMS[name], x)
    found = quadrature(tape, out)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_definition(tape, out), rtol=2e-5)


@pytest.mark.parametrize("name", ["deviation", "entropy", "standardised", "two means"])
def test_powers_of_two_change_no_bit(monkeypatch, name):
    monkeypatch.setattr(_rows, "CAP", 2)
    f = PROGRAMS[name]
    units = 2.0 ** np.random.default_rng(1).integers(-9, 9, size=N)
    h = quadrature(*dc.tape_function(f, X))
    for moved, factor in (
        (lambda z: f(units * z), units),
        (lambda z: 4.0**-7 * f(units * z), 2.0**-7 * units),
        (lambda z: -(4.0**200) * f(units * z), 2.0**200 * units),
    ):
        found = quadrature(*dc.tape_function(moved, X / units))
        np.testing.assert_array_equal(found, factor * h)


@pytest.mark.parametrize("name", ["deviation", "variance", "entropy", "standardised"])
def test_sizes_near_the_ends_of_the_range(name):
    tape, out = dc.tape_function(PROGRAMS[name], X)
    h = quadrature(tape, out)
    for power in (-500, 500):
        scaled = dc.tape_function(lambda x, p=power: 4.0**p * PROGRAMS[name](x), X)
        np.testing.assert_array_equal(quadrature(*scaled), 2.0**power * h)


def test_a_row_that_cancels_leaves_the_others_whole(monkeypatch):
    """Input 0 vanishes from the one large atom, which holds nearly all of the sums."""

    def f(x):
        s = np.sum(x * (1 + 0 * x))
        return 1e30 * (x[0] - s) ** 2 + 1e-6 * np.sum((x[1:] + s) ** 2)

    monkeypatch.setattr(_rows, "CAP", 3)
    tape, out = dc.tape_function(f, X)
    expected = by_definition(tape, out)
    assert expected[0] < 1e-12 * expected[1]
    np.testing.assert_allclose(quadrature(tape, out), expected, rtol=1e-13)


def test_an_input_that_every_atom_holds_and_cancels(monkeypatch):
    """``x[0]`` less the sum does not depend on it: nothing is left, exactly."""
    monkeypatch.setattr(_rows, "CAP", 1)

    def f(x):
        y = x[0] - np.sum(x)
        return np.exp(y) + y**3 + np.sin(2 * y)

    h = quadrature(*dc.tape_function(f, X))
    assert h[0] == 0
    assert (h[1:] == h[1]).all()
    assert h[1] > 0


def test_a_difference_from_the_mean_of_two(monkeypatch):
    monkeypatch.setattr(_rows, "CAP", 1)
    for f in (np.var, np.std, lambda x: np.sum((x - np.mean(x)) ** 4)):
        tape, out = dc.tape_function(f, [1.0, 2.5])
        np.testing.assert_allclose(
            quadrature(tape, out), by_definition(tape, out), rtol=1e-15
        )


def test_constant_data_and_atoms_without_weight():
    tape, out = dc.tape_function(lambda x: np.sum((x - np.mean(x)) ** 4), np.ones(N))
    np.testing.assert_array_equal(quadrature(tape, out), np.zeros(N))


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("deviation", 2),
        ("variance", 1),
        ("entropy", 1),
        ("norm", 1),
        ("centred neighbours", 1),
        ("times the mean", 1),
        ("log of a sum", 1),
        ("two means", 4),
        ("dot", 2),
        ("loop", 1),
    ],
)
def test_sweeps_count_bases_not_atoms(monkeypatch, name, most, n):
    x = np.random.default_rng(n).uniform(0.4, 2.0, size=n)
    reverse, forward = count_sweeps(monkeypatch, PROGRAMS[name], x)
    assert 1 <= reverse <= most
    assert forward == 0


def test_explicit_nodes_share_sweeps(monkeypatch):
    reverse, forward = count_sweeps(monkeypatch, explicit, X)
    assert reverse <= 8
    assert forward == 0


def test_more_bases_than_inputs_take_a_forward_sweep_an_input(monkeypatch):
    def f(x):
        return np.sum(np.cos(A[:, : x.size] @ x) ** 2)

    monkeypatch.setattr(_rows, "CAP", 5)
    assert count_sweeps(monkeypatch, f, X[:10]) == (0, 10)
    tape, out = dc.tape_function(f, X[:10])
    np.testing.assert_allclose(
        quadrature(tape, out), by_definition(tape, out), rtol=1e-13
    )


def test_rows_take_work_and_room_in_proportion_to_inputs(monkeypatch):
    """Entries stored and inputs added up atom by atom, at two sizes."""

    def size(f, n):
        found = []
        plain = {name: getattr(kernels, name) for name in ("csr_rows", "basis_rest")}

        def csr_rows(*args):
            k, used = plain["csr_rows"](*args)
            found.append(used)
            return k, used

        def basis_rest(*args):
            found.append(args[0].size * args[12].size)
            return plain["basis_rest"](*args)

        with monkeypatch.context() as patch:
            patch.setattr(kernels, "csr_rows", csr_rows)
            patch.setattr(kernels, "basis_rest", basis_rest)
            quadrature(*dc.tape_function(f, np.linspace(0.5, 2.0, n)))
        return max(found)

    for name in ("deviation", "variance", "entropy", "two means", "loop"):
        f = PROGRAMS[name]
        assert size(f, 1000) <= 4.2 * size(f, 250)
    assert size(loop, 1000) <= 10_000
