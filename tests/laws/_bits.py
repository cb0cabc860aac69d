"""Bits of every sweep on a few programs, for comparison between two processes.

Run as a module it writes one JSON object to standard output: a name for each result,
and the hexadecimal bytes of its array.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import derivative_covers as dc
from tests._programs import BY_NAME

__all__ = ["NAMES", "all_bits", "sweep_bits"]

NAMES = [
    "rosenbrock_loop",
    "rosenbrock_slices",
    "helical_valley_arctan2",
    "chebyquad",
    "griewank",
    "ackley",
    "softmax_cross_entropy",
    "neural_network",
    "lennard_jones_loop",
    "gauss_seidel",
    "wave_leapfrog",
    "einsum_forms",
    "variances",
    "extreme_values",
    "transposed_products",
    "object_array_rotation",
    "growth_cumprod",
    "guarded_logarithm",
]
BOXES = ["rosenbrock_slices", "lennard_jones_loop", "einsum_forms", "growth_cumprod"]


def sweep_bits(f: Any, x0: Any) -> dict[str, str]:
    """Hexadecimal bytes of the result of every sweep over a program."""
    tape, out = dc.tape_function(f, x0)
    rng = np.random.default_rng(5)
    v, w = rng.normal(size=tape.ninputs), rng.uniform(size=tape.ninputs)
    v, w = v.reshape(np.shape(x0)), w.reshape(np.shape(x0))
    results = {
        "value": tape.vals[out],
        "gradient": dc.gradient(tape, out),
        "jacobian": dc.jacobian(tape, np.array([out, 0])),
        "hvp": dc.hvp(tape, out, v),
        "hessian": dc.hessian(tape, out),
        "bound": dc.hessian_bound(tape, out),
        "forward": dc.abs_forward(w, tape),
        "reverse": dc.abs_reverse(tape, np.array([out, 0]), np.array([2.0, 0.5])),
        "sum": dc.cover_hessian(tape, out).h,
        "quadrature": dc.cover_hessian(tape, out, merge="quadrature").h,
        "hybrid": dc.cover_hybrid(tape, out, ngroups=3).h,
        "scaled": dc.cover_hessian(tape, out, scales=w, ratio=0.5).h,
        "sparse": dc.hessian(tape, out, sparse=True).data,
        "auto": dc.cover_hessian(tape, out, merge="auto", budget=10_000).h,
        "dense rows": dc.forward_cover(f, x0, storage="dense").h,
        "sparse rows": dc.forward_cover(f, x0, storage="sparse").h,
    }
    return {name: np.asarray(r).tobytes().hex() for name, r in results.items()}


def box_bits(f: Any, x0: Any) -> dict[str, str]:
    """The same over a small box around the point."""
    x = np.asarray(x0, dtype=float)
    box = dc.Interval(x - 2.0**-20, x + 2.0**-20)
    tape, out = dc.tape_function(f, box)
    rng = np.random.default_rng(5)
    v, w = (
        draw(size=tape.ninputs).reshape(x.shape) for draw in (rng.normal, rng.uniform)
    )
    signed = {
        "gradient": dc.gradient(tape, out),
        "hvp": dc.hvp(tape, out, v),
        "hessian": dc.hessian(tape, out),
    }
    results = {
        "bound": dc.hessian_bound(tape, out),
        "forward": dc.abs_forward(w, tape),
        "sum": dc.cover_hessian(tape, out).h,
        "quadrature": dc.cover_hessian(tape, out, merge="quadrature").h,
        "hybrid": dc.cover_hybrid(tape, out, ngroups=3).h,
        "scaled": dc.cover_hessian(tape, out, scales=w, ratio=0.5).h,
        "auto": dc.cover_hessian(tape, out, merge="auto", budget=10_000).h,
    }
    for name, found in signed.items():
        results |= {name + " lo": found.lo, name + " hi": found.hi}
    return {name: np.asarray(r).tobytes().hex() for name, r in results.items()}


def holomorphic(x: Any) -> Any:
    """A program of complex numbers, with steps of every kind."""
    M = 1j * np.random.default_rng(2).normal(size=(3, x.size))
    y = np.exp(x) * np.sin(x) + x**2 + 1j * x + x / (2 + x[::-1])
    w, s = M @ x, x[0]
    for k in range(10):
        s = s + x[k] * x[k + 1] * (0.5 + 0.1j) - np.cos(x[k]) + 2.0
    return np.sum(y * np.tanh(x)) + w @ w + s + y @ x


def complex_bits(dtype: Any) -> dict[str, str]:
    """The same at a complex point."""
    rng = np.random.default_rng(3)
    z = 0.3 * (rng.normal(size=300) + 1j * rng.normal(size=300))
    tape, out = dc.tape_function(holomorphic, z.astype(dtype))
    results = {
        "gradient": dc.gradient(tape, out),
        "hvp": dc.hvp(tape, out, z),
        "forward": dc.abs_forward(abs(z), tape),
        "reverse": dc.abs_reverse(tape, out, 1.0),
        "sum": dc.cover_hessian(tape, out).h,
        "quadrature": dc.cover_hessian(tape, out, merge="quadrature").h,
    }
    return {name: np.asarray(r).tobytes().hex() for name, r in results.items()}


def all_bits() -> dict[str, dict[str, str]]:
    """The bits of every program, in all kinds of numbers that kernels compile for."""
    bits = {name: sweep_bits(BY_NAME[name], BY_NAME[name].x0) for name in NAMES}
    for name in ("rosenbrock_slices", "griewank", "neural_network"):
        program = BY_NAME[name]
        bits[name + " float32"] = sweep_bits(program, np.float32(program.x0))
    for name in BOXES:
        program = BY_NAME[name]
        bits[name + " box"] = box_bits(program, program.x0)
    for dtype in ("complex128", "complex64"):
        bits["holomorphic " + dtype] = complex_bits(dtype)
    return bits


if __name__ == "__main__":
    json.dump(all_bits(), sys.stdout)
