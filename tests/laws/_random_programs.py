"""Random programs: a list of steps, each of which appends one vector to a pool.

A program is data, so the same one runs under plain NumPy and on a tape, at another
point, and with its inputs in other units. Domains are kept valid by construction;
``distance_to_kink`` tells how far a point is from every kink, jump and tie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

__all__ = [
    "ALL_OPS",
    "AffineProgram",
    "RandomProgram",
    "affine_programs",
    "monotone_programs",
    "programs",
]

BASE = np.array([0.73105, -1.21397, 0.41891, 1.53773])
MATRIX = np.array(
    [
        [0.3, -1.1, 0.0, 0.6],
        [0.9, 0.2, -0.7, 0.0],
        [0.0, 1.3, 0.4, -0.2],
        [-0.8, 0.1, 0.5, 1.2],
    ]
)
PERMUTATION = np.array([2, 0, 3, 0])
MASK = np.array([True, False, True, True])
Vector = Any
Unary = Callable[[Vector, float], Vector]
Binary = Callable[[Vector, Vector, float], Vector]


def _scalar_loop(a: Vector, b: Vector, c: float) -> Vector:
    parts = []
    carry = c
    for i in range(len(a)):
        carry = 0.5 * carry + a[i] * b[-1 - i]
        parts.append(carry)
    return np.stack(parts)


def _shifted_update(a: Vector, b: Vector, c: float) -> Vector:
    u = a.copy()
    u[1:] += b[:-1]
    u[::2] *= c
    u[1:] -= 0.5 * u[:-1]
    return u


def _fill(a: Vector, b: Vector, c: float) -> Vector:
    u = np.zeros_like(a)
    u[:2], u[2:] = b[2:], c * a[:2]
    u[MASK] += a[MASK]
    u[1] = b[0] * u[0]
    return u


def _grid(a: Vector, b: Vector, c: float) -> Vector:
    left, right = a.reshape(2, 2), np.reshape(b, (2, 2)).T
    return np.ravel(left @ right + c * np.transpose(left))


UNARY: dict[str, Unary] = {
    "negative": lambda a, c: -a,
    "shift": lambda a, c: a + c,
    "scale": lambda a, c: c * a,
    "square": lambda a, c: np.square(a),
    "cube": lambda a, c: a**3,
    "power_two": lambda a, c: a**2,
    "power_fraction": lambda a, c: (1.0 + a * a) ** 0.7,
    "power_negative": lambda a, c: (1.0 + a**2) ** -1.5,
    "power_of_constant": lambda a, c: 1.7 ** np.sin(a),
    "reciprocal": lambda a, c: np.reciprocal(1.5 + a * a),
    "constant_over": lambda a, c: c / (2.0 + np.cos(a)),
    "sqrt": lambda a, c: np.sqrt(1.0 + a * a),
    "cbrt": lambda a, c: np.cbrt(2.0 + a * a),
    "exp": lambda a, c: np.exp(np.sin(a)),
    "exp2": lambda a, c: np.exp2(np.cos(a)),
    "expm1": lambda a, c: np.expm1(np.tanh(a)),
    "log": lambda a, c: np.log(1.0 + a * a),
    "log2": lambda a, c: np.log2(1.5 + a * a),
    "log10": lambda a, c: np.log10(1.5 + a * a),
    "log1p": lambda a, c: np.log1p(a * a),
    "sin": lambda a, c: np.sin(a),
    "cos": lambda a, c: np.cos(a),
    "tan": lambda a, c: np.tan(0.9 * np.sin(a)),
    "arcsin": lambda a, c: np.arcsin(0.9 * np.sin(a)),
    "arccos": lambda a, c: np.arccos(0.9 * np.cos(a)),
    "arctan": lambda a, c: np.arctan(a),
    "sinh": lambda a, c: np.sinh(np.sin(a)),
    "cosh": lambda a, c: np.cosh(np.sin(a)),
    "tanh": lambda a, c: np.tanh(a),
    "arcsinh": lambda a, c: np.arcsinh(a),
    "arccosh": lambda a, c: np.arccosh(1.5 + a * a),
    "arctanh": lambda a, c: np.arctanh(0.9 * np.sin(a)),
    "sinc": lambda a, c: np.sinc(a),
    "degrees": lambda a, c: np.deg2rad(a) + np.rad2deg(a) / 50.0,
    "total": lambda a, c: np.sum(a) * a,
    "mean": lambda a, c: a - np.mean(a),
    "product": lambda a, c: np.prod(1.0 + 0.1 * a) + a,
    "variance": lambda a, c: np.var(a) * a,
    "cumsum": lambda a, c: np.cumsum(a),
    "cumprod": lambda a, c: np.cumprod(1.0 + 0.2 * a),
    "roll": lambda a, c: np.roll(a, 1),
    "diff": lambda a, c: np.concatenate([np.diff(a), a[:1]]),
    "reverse": lambda a, c: a[::-1],
    "gather": lambda a, c: a[PERMUTATION],
    "select": lambda a, c: np.concatenate([a[MASK] ** 2, a[~MASK]]),
    "self_dot": lambda a, c: (a @ a) * a,
    "matrix": lambda a, c: MATRIX @ a,
    "vector_matrix": lambda a, c: np.dot(a, MATRIX),
    "tensordot": lambda a, c: np.tensordot(MATRIX, a, axes=1),
    "stack": lambda a, c: np.stack([a, c * a**2]).sum(axis=0),
    "broadcast": lambda a, c: np.broadcast_to(a, (3, 4)).mean(axis=0),
    "iterate": lambda a, c: np.stack([t * t for t in a]),
}

BINARY: dict[str, Binary] = {
    "add": lambda a, b, c: a + b,
    "subtract": lambda a, b, c: a - b,
    "multiply": lambda a, b, c: a * b,
    "divide": lambda a, b, c: a / (1.0 + b * b),
    "power": lambda a, b, c: (1.0 + a * a) ** np.sin(b),
    "arctan2_right": lambda a, b, c: np.arctan2(a, 1.0 + b * b),
    "logaddexp": lambda a, b, c: np.logaddexp(a, b),
    "dot": lambda a, b, c: np.dot(a, b) * b,
    "inner_loop": lambda a, b, c: sum(a[i] * b[i] for i in range(4)) * a,
    "outer": lambda a, b, c: np.outer(a, b).sum(axis=1),
    "einsum": lambda a, b, c: np.einsum("i,ij,j->i", a, MATRIX, b),
    "first_times": lambda a, b, c: a[0] * b,
    "scalar_loop": _scalar_loop,
    "shifted_update": _shifted_update,
    "fill": _fill,
    "grid": _grid,
}

KINKED_UNARY: dict[str, Unary] = {
    "abs": lambda a, c: np.abs(a),
    "sign": lambda a, c: np.sign(a) * a,
    "heaviside": lambda a, c: np.heaviside(a, 0.5) * a,
    "floor": lambda a, c: np.floor(a) * a,
    "ceil": lambda a, c: np.ceil(a) + a,
    "round": lambda a, c: np.round(a) + a * a,
    "mod": lambda a, c: np.mod(a, 1.0) * a,
    "clip": lambda a, c: np.clip(a, -0.8, 0.9),
    "max": lambda a, c: np.max(a) * a,
    "min": lambda a, c: a.min() + a**2,
    "norm": lambda a, c: np.linalg.norm(a) * a,
    "std": lambda a, c: a / (0.5 + np.std(a)),
    "guarded_log": lambda a, c: np.where(a > 0.0, np.log(np.abs(a)) * a, a),
}

KINKED_BINARY: dict[str, Binary] = {
    "maximum": lambda a, b, c: np.maximum(a, b),
    "minimum": lambda a, b, c: np.minimum(a, b * b),
    "fmax": lambda a, b, c: np.fmax(a, b),
    "fmin": lambda a, b, c: np.fmin(a, b),
    "where": lambda a, b, c: np.where(a > b, a * b, np.sin(b)),
    "branch": lambda a, b, c: a * a if a[0] > b[1] else a + b,
    "copysign": lambda a, b, c: np.copysign(a, b),
    "hypot": lambda a, b, c: np.hypot(a, b),
    "arctan2": lambda a, b, c: np.arctan2(a, b),
}


def _spread(a: Vector) -> Vector:
    ordered = np.sort(a)
    return np.diff(ordered)


def _to_integer(a: Vector) -> Vector:
    return np.abs(a - np.round(a))


DISTANCE: dict[str, Callable[..., Vector]] = {
    "abs": lambda a, b: a,
    "sign": lambda a, b: a,
    "heaviside": lambda a, b: a,
    "floor": lambda a, b: _to_integer(a),
    "ceil": lambda a, b: _to_integer(a),
    "round": lambda a, b: _to_integer(a + 0.5),
    "mod": lambda a, b: _to_integer(a),
    "clip": lambda a, b: np.concatenate([a + 0.8, a - 0.9]),
    "max": lambda a, b: _spread(a),
    "min": lambda a, b: _spread(a),
    "norm": lambda a, b: np.linalg.norm(a),
    "std": lambda a, b: np.std(a),
    "guarded_log": lambda a, b: a,
    "maximum": lambda a, b: a - b,
    "minimum": lambda a, b: a - b * b,
    "fmax": lambda a, b: a - b,
    "fmin": lambda a, b: a - b,
    "where": lambda a, b: a - b,
    "branch": lambda a, b: a[0] - b[1],
    "copysign": lambda a, b: np.concatenate([a, b]),
    "hypot": lambda a, b: np.hypot(a, b),
    "arctan2": lambda a, b: np.where(b < 0, a, np.hypot(a, b)),
}

# On positive operands all partials of these are nonnegative: no paths cancel.
MONOTONE_UNARY = ("shift", "scale", "square", "cube", "power_two", "total", "product")
MONOTONE_ARRAY = ("cumsum", "cumprod", "roll", "reverse", "gather", "self_dot", "stack")
MONOTONE_CURVED = ("iterate", "sqrt", "log1p", "power_fraction", "expm1", "arcsinh")
MONOTONE_BINARY = ("add", "multiply", "logaddexp", "dot", "inner_loop", "outer")
MONOTONE = (
    *MONOTONE_UNARY,
    *MONOTONE_ARRAY,
    *MONOTONE_CURVED,
    *MONOTONE_BINARY,
    "broadcast",
    "first_times",
    "scalar_loop",
)

ALL_OPS: dict[str, Callable[..., Vector]] = {
    **UNARY,
    **KINKED_UNARY,
    **BINARY,
    **KINKED_BINARY,
}
TWO_OPERANDS = frozenset({**BINARY, **KINKED_BINARY})


@dataclass(frozen=True)
class Step:
    op: str
    left: int
    right: int
    c: float


@dataclass(frozen=True)
class RandomProgram:
    """Steps, a final combination, and the point to run at."""

    steps: tuple[Step, ...]
    final: str
    x0: tuple[float, ...]

    @property
    def point(self) -> Any:
        return np.array(self.x0)

    def _pool(self, x: Any) -> list[Any]:
        pool = [x]
        for s in self.steps:
            a, b = pool[-1 - s.left % len(pool)], pool[s.right % len(pool)]
            op = ALL_OPS[s.op]
            pool.append(op(a, b, s.c) if s.op in TWO_OPERANDS else op(a, s.c))
        return pool

    def vector(self, x: Any) -> Any:
        """The last two vectors of the pool, mixed with the input."""
        pool = self._pool(x)
        return pool[-1] + 0.5 * pool[-2] + 0.125 * x

    def __call__(self, x: Any) -> Any:
        y = self.vector(x)
        if self.final == "sum":
            return np.sum(y)
        if self.final == "dot":
            return np.dot(np.array([1.0, 0.5, 2.0, 0.25]), y)
        if self.final == "log":
            return np.log(1.0 + y @ y)
        return y[0] * y[1] + y[2] * y[3]

    def is_smooth_here(self) -> bool:
        """Whether values are moderate and every kink is well away from the point."""
        with np.errstate(all="ignore"):
            pool = self._pool(self.point)
            moderate = all(np.all(np.abs(v) < 1e4) for v in pool)
            return moderate and self._distance(pool) > 1e-4

    def _distance(self, pool: list[Any]) -> float:
        nearest = np.inf
        for k, s in enumerate(self.steps, start=1):
            if s.op in DISTANCE:
                a, b = pool[k - 1 - s.left % k], pool[s.right % k]
                nearest = min(nearest, float(np.min(np.abs(DISTANCE[s.op](a, b)))))
        return nearest


def _steps(names: tuple[str, ...], longest: int) -> st.SearchStrategy[tuple[Step, ...]]:
    step = st.builds(
        Step,
        st.sampled_from(names),
        st.integers(0, 2),
        st.integers(0, 5),
        st.sampled_from([0.5, 1.25, 2.0, 0.1]),
    )
    return st.lists(step, min_size=1, max_size=longest).map(tuple)


def _points(base: Any, *, zeros: bool) -> st.SearchStrategy[tuple[float, ...]]:
    shifts = st.lists(st.integers(0, 15), min_size=4, max_size=4)
    kept = st.lists(st.sampled_from([1, 1, 1, 1, 1, 0]), min_size=4, max_size=4)

    def point(shift: list[int], keep: list[int]) -> tuple[float, ...]:
        x = np.sign(base) * (np.abs(base) + np.array(shift) / 32.0)
        return tuple((x * keep).tolist() if zeros else x.tolist())

    return st.builds(point, shifts, kept)


FINALS = st.sampled_from(["sum", "dot", "log", "products"])


def programs(
    longest: int = 6, *, zeros: bool = False
) -> st.SearchStrategy[RandomProgram]:
    """Programs over every operation, at points away from kinks.

    Args:
        longest: Most steps.
        zeros: Whether some entries of the point may be exactly zero.
    """
    built = st.builds(
        RandomProgram,
        _steps(tuple(ALL_OPS), longest),
        FINALS,
        _points(BASE, zeros=zeros),
    )
    return built.filter(RandomProgram.is_smooth_here)


def monotone_programs(longest: int = 5) -> st.SearchStrategy[RandomProgram]:
    """Programs whose partials are all nonnegative, so that no paths cancel."""
    built = st.builds(
        RandomProgram,
        _steps(MONOTONE, longest),
        FINALS,
        _points(np.abs(BASE), zeros=False),
    )
    return built.filter(RandomProgram.is_smooth_here)


AFFINE: dict[str, Unary] = {
    name: UNARY[name]
    for name in ("negative", "shift", "scale", "mean", "cumsum", "roll", "diff")
}
AFFINE |= {
    name: UNARY[name]
    for name in (
        "reverse",
        "gather",
        "matrix",
        "vector_matrix",
        "tensordot",
        "broadcast",
    )
}
AFFINE |= {
    "running": lambda a, c: _shifted_update(a, a, c),
    "double": lambda a, c: np.concatenate([a[:2] + a[2:], a[:2] - 3.0 * a[2:]]),
    "scalars": lambda a, c: np.stack([a[0] + a[1] - c, a[1], a[2] / 3.0, +a[3]]),
    "mixed": lambda a, c: np.einsum("ij,j->i", MATRIX, a) - np.sum(a),
}


@dataclass(frozen=True)
class AffineProgram:
    """A composition of affine maps, summed."""

    names: tuple[str, ...]

    def __call__(self, x: Any) -> Any:
        for name in self.names:
            x = AFFINE[name](x, 0.5)
        return np.dot(np.array([1.0, -2.0, 0.5, 3.0]), x) + 7.0


def affine_programs() -> st.SearchStrategy[AffineProgram]:
    """Programs whose Hessian is zero."""
    names = st.lists(st.sampled_from(sorted(AFFINE)), min_size=1, max_size=5)
    return names.map(tuple).map(AffineProgram)
