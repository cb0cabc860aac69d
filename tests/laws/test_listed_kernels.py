"""The kernels of listed parents do what the general ones do, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import derivative_covers as dc
from derivative_covers.sweeps import _listed
from derivative_covers.sweeps.kernels import listed, pair
from tests.laws._random_programs import RandomProgram, programs

INPUTS, NODES = 5, 80
NO_LIVE, NO_SCALES = np.empty(0, dtype=np.uint8), np.empty(0)


class Block:
    """Random nodes: pairs and repeated parents, zeros of both signs, few infinities."""

    def __init__(
        self, seed: int, dtype: Any, *, two: bool, curved: bool, wild: bool
    ) -> None:
        rng = np.random.default_rng(seed)
        special = [0.0, -0.0, 1.0, *([np.inf, np.nan] if wild else [])]

        def column() -> np.ndarray:
            some = rng.choice([*special, *rng.normal(size=3)], size=NODES)
            return np.where(rng.random(NODES) < 0.6, some, rng.normal(size=NODES))

        a = (rng.random(NODES) * (INPUTS + np.arange(NODES))).astype(np.int64)
        b = (rng.random(NODES) * (INPUTS + np.arange(NODES))).astype(np.int64)
        b = np.where(rng.random(NODES) < 0.4, a, b)
        zero = np.zeros(1, dtype=dtype)
        d1, d2, c11, c12, c22 = (column().astype(dtype) for _ in range(5))
        c12[rng.random(NODES) < 0.5] = 0
        c22[rng.random(NODES) < 0.5] = 0
        self.curved, self.rng, self.dtype = curved, rng, dtype
        none = np.empty(0, dtype=np.int64)
        if not two:
            b = none
        self.topo = (INPUTS, NODES, two, a, 0, 0, b, 0, 0)
        self.first = (d1, 1, d2, 1) if two else (d1, 1, zero, 0)
        self.twice: tuple[Any, ...] = (zero, 0, zero, 0, zero, 0)
        if curved:
            mixed = (c12, 1, c22, 1) if two else (zero, 0, zero, 0)
            self.twice = (c11, 1, *mixed)
        z = rng.normal(size=INPUTS + NODES).astype(dtype)
        self.refs = (z, 2, z, 2) if two else (z[:1], 0, z[:1], 0)

    def vectors(self) -> tuple[np.ndarray, np.ndarray]:
        size = INPUTS + NODES
        sizes = np.abs(self.rng.normal(size=(2, size))).astype(self.dtype)
        sizes[self.rng.random((2, size)) < 0.3] = 0
        return sizes[0] * self.rng.choice([-1, 1], size).astype(self.dtype), sizes[1]

    def scales(self, how: int) -> tuple[Any, Any]:
        if how == 0:
            return NO_LIVE, NO_SCALES.astype(self.dtype)
        size = INPUTS + NODES
        live = (self.rng.random(size) < 0.8).astype(np.uint8)
        return live, np.abs(self.rng.normal(size=size)).astype(self.dtype)


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(found, expected)
    on = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[on]), np.signbit(expected[on]))


def sweep(block: Block, run: Any, how: int, ratio: float) -> list[int]:
    """Both joint sweeps, which have to agree also in where they stop; the statuses."""
    live, sigma = block.scales(how)
    limit = float(np.finfo(block.dtype).max) / 4
    options = (live, sigma, block.dtype(ratio), True, limit)
    columns = _listed.columns(block.topo, block.first)
    assert columns is not None
    k0, two, a, b, first = columns
    kind = np.empty(NODES, dtype=np.uint8)
    run(listed.kinds)(kind, two, a, b, first, block.twice, block.curved)
    one, other = block.vectors(), block.vectors()
    other[0][:], other[1][:] = one
    rest = (block.twice, block.curved, block.refs, options)
    last, statuses = NODES, []
    while last:
        expected = run(pair.cover)(*one, last, block.topo, block.first, *rest)
        found = run(listed.cover)(*other, last, k0, a, b, kind, first, *rest)
        assert tuple(found) == tuple(expected)
        for x, y in zip(other, one, strict=True):
            assert_same(x, y)
        statuses.append(expected[0])
        last = expected[1] - 1 if expected[0] else 0  # leave the cause out, and go on
    one, other = block.vectors(), block.vectors()
    other[0][:] = one[0]
    run(pair.adjoint)(one[0], block.topo, block.first, False)
    run(listed.adjoint)(other[0], *columns)
    assert_same(other[0], one[0])
    return statuses


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_agree(dtype: Any, compiled: bool) -> None:
    run = (lambda k: k.compiled()) if compiled else (lambda k: k.plain)
    seen: set[int] = set()
    with np.errstate(all="ignore"):
        for seed in range(24):
            for two, curved in (
                (False, False),
                (False, True),
                (True, False),
                (True, True),
            ):
                block = Block(seed, dtype, two=two, curved=curved, wild=seed % 3 == 0)
                ratio = 0.3 if seed % 2 else 1e-8
                seen |= set(sweep(block, run, seed // 2 % 2, ratio))
    assert {pair.DONE, pair.NEEDS_SCALE, pair.NOT_FINITE} <= seen


def _everything(program: RandomProgram) -> list[Any]:
    tape, out = dc.tape_function(program, program.point)
    cover = dc.cover_hessian(tape, out)
    return [dc.gradient(tape, out), cover.gradient, cover.h]


@settings(max_examples=40)
@given(programs(zeros=True))
def test_programs_of_any_length_may_use_them(program: RandomProgram) -> None:
    kept = _listed.FEW
    try:
        _listed.FEW = 1 << 30
        expected = _everything(program)
        _listed.FEW = 1
        found = _everything(program)
    finally:
        _listed.FEW = kept
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_numbers_that_are_not_listed_are_refused() -> None:
    block = Block(0, np.complex128, two=True, curved=True, wild=False)
    assert _listed.columns(block.topo, block.first) is None
    block = Block(0, np.float64, two=True, curved=True, wild=False)
    k0, n, two, a, *rest = block.topo
    assert _listed.columns(block.topo, block.first) is not None
    assert _listed.columns((k0, n, two, a[:0], *rest), block.first) is None
    d1, _, d2, t2 = block.first
    assert _listed.columns(block.topo, (d1[:1], 0, d2, t2)) is None
    assert _listed.columns(block.topo, (d1, 1, d2[:1], 0)) is None
