"""Views, copies and overlapping writes follow NumPy, in values and derivatives.

Random programs run three ways: on plain arrays, on a tape, and on object arrays of
:class:`_jets.Jet`, for which NumPy itself decides what aliases what.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from tests.laws._jets import as_jets, jets

SIZE = 6
Statement = Callable[[list[Any]], None]


class Writer:
    """Draws statements one at a time, running each on plain arrays to know shapes."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        # Few distinct values: an oracle that looked at values alone would be fooled.
        self.x0 = self.rng.integers(-4, 5, size=SIZE) / 2.0
        self.statements: list[Statement] = []
        self.pool: list[Any] = []
        self._do(lambda pool: pool.append(pool[0].copy()), start=[self.x0])

    def _do(self, statement: Statement, start: list[Any] | None = None) -> None:
        if start is not None:
            self.pool = start
        statement(self.pool)
        self.statements.append(statement)

    def _pick(self) -> int:
        # Entry 0 is the input itself; recent arrays are likelier, so chains grow.
        low = 1 if self.rng.random() < 0.4 else max(1, len(self.pool) - 3)
        return int(self.rng.integers(low, len(self.pool)))

    def _slice(self, length: int) -> slice:
        step = int(self.rng.choice([1, 1, 1, 2, -1, -2, 3]))
        start, stop = sorted(self.rng.integers(-1, length + 1, size=2).tolist())
        first = None if start < 0 else start
        last = None if stop <= start + 1 else stop
        return slice(first, last, step) if step > 0 else slice(last, first, step)

    def _basic(self, shape: tuple[int, ...]) -> Any:
        parts: list[Any] = [self._slice(s) for s in shape]
        if len(shape) > 1 and self.rng.random() < 0.3:
            parts[int(self.rng.integers(len(shape)))] = int(self.rng.integers(-1, 1))
        if self.rng.random() < 0.2:
            parts = [..., parts[-1]]
        return tuple(parts)

    def _advanced(self, shape: tuple[int, ...]) -> Any:
        kind = self.rng.integers(3)
        if kind == 0:
            return self.rng.random(shape) < 0.6
        if kind == 1 or len(shape) == 1:
            return self.rng.integers(
                -shape[0], shape[0], size=int(self.rng.integers(1, 5))
            )
        return tuple(self.rng.integers(0, s, size=3) for s in shape)

    def _index(self, shape: tuple[int, ...]) -> Any:
        if not shape or 0 in shape:
            return ...
        return self._basic(shape) if self.rng.random() < 0.7 else self._advanced(shape)

    def view(self) -> None:
        i = self._pick()
        a = self.pool[i]
        key = self._index(a.shape)
        self._do(lambda pool: pool.append(pool[i][key]))

    def rearrange(self) -> None:
        i = self._pick()
        a = self.pool[i]
        shapes = [(a.size,), (-1,), (1, a.size), (a.size, 1)]
        shapes += [(k, a.size // k) for k in (2, 3) if a.size and a.size % k == 0]
        shape = shapes[int(self.rng.integers(len(shapes)))]
        if a.size == 0:
            shape = a.shape
        choices: list[Callable[[Any], Any]] = [
            lambda b: b.T,
            lambda b: b.ravel(),
            lambda b: np.reshape(b, shape),
            lambda b: b.reshape(shape),
            lambda b: np.transpose(b),
            lambda b: b[np.newaxis],
            lambda b: b.flatten(),
            lambda b: b.copy(),
        ]
        change = choices[int(self.rng.integers(len(choices)))]
        self._do(lambda pool: pool.append(change(pool[i])))

    def compute(self) -> None:
        i, j = self._pick(), self._pick()
        same = self.pool[i].shape == self.pool[j].shape
        choices: list[Statement] = [
            lambda pool: pool.append(pool[i] * 0.5 - 1.0),
            lambda pool: pool.append(1.5 - pool[i]),
        ]
        if same:
            choices += [lambda pool: pool.append(pool[i] * pool[j])] * 2
            choices += [lambda pool: pool.append(pool[i] + pool[j])]
        self._do(choices[int(self.rng.integers(len(choices)))])

    def _source(self, shape: tuple[int, ...]) -> Callable[[list[Any]], Any]:
        """Something that can be written into an array of this shape."""
        fitting = []
        for j, b in enumerate(self.pool):
            try:
                if np.broadcast_shapes(b.shape, shape) == shape:
                    fitting.append(j)
            except ValueError:
                continue
        if not fitting or self.rng.random() < 0.1:
            return lambda pool: 0.75
        j = fitting[int(self.rng.integers(len(fitting)))]
        return lambda pool: pool[j]

    def assign(self) -> None:
        i = self._pick()
        key = self._index(self.pool[i].shape)
        source = self._source(np.shape(self.pool[i][key]))
        # NumPy itself promises nothing where a mask is assigned from the same memory.
        masked = isinstance(key, np.ndarray) and key.dtype == np.bool_
        if self.rng.random() < 0.4:

            def put(pool: list[Any]) -> None:
                value = source(pool)
                pool[i][key] = value.copy() if masked and np.ndim(value) else value
        else:

            def put(pool: list[Any]) -> None:
                pool[i][key] += source(pool)

        self._do(put)

    def augment(self) -> None:
        i = self._pick()
        source = self._source(self.pool[i].shape)
        kind = self.rng.integers(3)

        def change(pool: list[Any]) -> None:
            a = pool[i]
            if kind == 0:
                a += source(pool)
            elif kind == 1:
                a -= source(pool)
            else:
                a *= 0.5

        self._do(change)

    def overlap(self) -> None:
        """Reads and writes of the same memory in one statement."""
        i = self._pick()
        if self.pool[i].ndim == 0 or self.pool[i].shape[0] < 2:
            return
        square = self.pool[i].ndim == 2 and len(set(self.pool[i].shape)) == 1

        def forwards(pool: list[Any]) -> None:
            pool[i][1:] = pool[i][:-1]

        def backwards(pool: list[Any]) -> None:
            pool[i][:-1] += pool[i][1:]

        def reverse(pool: list[Any]) -> None:
            pool[i][...] = pool[i][::-1]

        def add_reverse(pool: list[Any]) -> None:
            a = pool[i]
            a += a[::-1]

        def transpose(pool: list[Any]) -> None:
            a = pool[i]
            a += a.T

        def swap(pool: list[Any]) -> None:
            a = pool[i]
            a[0], a[-1] = a[-1].copy() if a.ndim > 1 else a[-1], a[0]

        choices = [forwards, backwards, reverse, add_reverse, swap]
        if square:
            choices.append(transpose)
        self._do(choices[int(self.rng.integers(len(choices)))])

    def write(self, length: int) -> list[Statement]:
        kinds = [
            self.view,
            self.rearrange,
            self.compute,
            self.assign,
            self.augment,
            self.overlap,
        ]
        odds = [0.22, 0.16, 0.12, 0.26, 0.12, 0.12]
        for _ in range(length):
            kinds[int(self.rng.choice(len(kinds), p=odds))]()
        return self.statements


def run(statements: list[Statement], x: Any) -> Any:
    """Everything the program holds at its end, the input included, in one vector."""
    pool = [x]
    for statement in statements:
        statement(pool)
    return np.concatenate([np.ravel(a) for a in pool])


BLOCKS = 30
PER_BLOCK = 100
CURVED_PER_BLOCK = 15


def check(seed: int, *, curved: bool) -> None:
    writer = Writer(seed)
    statements = writer.write(3 + seed % 8)
    x0 = writer.x0
    expected = run(statements, x0)
    tape, outs = dc.tape_function(lambda x: run(statements, x), x0)
    np.testing.assert_array_equal(tape.vals[outs], expected)
    oracle = as_jets(run(statements, jets(x0)), x0.size)
    np.testing.assert_array_equal([j.v for j in oracle], expected)
    rows = np.array([j.g for j in oracle])
    np.testing.assert_allclose(dc.jacobian(tape, outs), rows, rtol=1e-12, atol=1e-12)
    if curved:
        # Distinct weights, so that swapped outputs of equal value are seen.
        weights = 1.0 + np.arange(len(expected)) / 7.0
        total = sum(w * j.h for w, j in zip(weights, oracle, strict=True))
        f_tape, out = dc.tape_function(lambda x: weights @ run(statements, x), x0)
        hessian = dc.hessian(f_tape, out)
        size = 1.0 + np.abs(total).max()
        np.testing.assert_allclose(hessian, total, rtol=1e-10, atol=1e-12 * size)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_programs(block: int) -> None:
    for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK):
        try:
            check(seed, curved=seed % PER_BLOCK < CURVED_PER_BLOCK)
        except Exception as error:
            error.add_note(f"aliasing program with seed {seed}")
            raise


def stencil(x: Any) -> Any:
    u = x.copy()
    u[1:-1] = u[2:] - u[:-2]
    return u


def delayed_view(x: Any) -> Any:
    a = x * 2.0
    b = a[1:]
    c = a.reshape(2, 3)
    b[0] = x[5]
    c[1] *= x[0]
    return np.concatenate([a, b, c.ravel()])


def copying_reshape(x: Any) -> Any:
    m = x.copy().reshape(2, 3)
    y = m.T.reshape(-1)
    y[0] = 7.0
    y += m.ravel()
    return np.concatenate([m.ravel(), y])


def repeated_targets(x: Any) -> Any:
    a = x.copy()
    a[[0, 0, 1]] = x[3:]
    a[[2, 2]] += x[:2]
    return a


def masked_update(x: Any) -> Any:
    a = x * x
    mask = x > 0
    a[mask] = 2.0 * a[mask]
    a[~mask] -= x[~mask]
    return a


def constant_then_recorded(x: Any) -> Any:
    a = np.zeros_like(x)
    a[::2] = x[:3]
    a[1] = 4.0
    b = a[1:3]
    b *= 3.0
    return a * a


def write_after_use(x: Any) -> Any:
    a = x.copy()
    s = np.sum(a * a)
    a[1] = 5.0 * a[0]
    a[0] = a[1] * a[2]
    return np.concatenate([a * a, np.reshape(s, 1)])


def rows_and_columns(x: Any) -> Any:
    m = x.copy().reshape(3, 2)
    for row in m:
        row[0] += row[1]
    m[:, 1][::-1][0] = m[0, 0]
    m += m[::-1, ::-1]
    return m.ravel()


@pytest.mark.parametrize(
    "f",
    [
        stencil,
        delayed_view,
        copying_reshape,
        repeated_targets,
        constant_then_recorded,
        write_after_use,
        rows_and_columns,
    ],
)
def test_idioms(f: Callable[[Any], Any]) -> None:
    x0 = np.array([1.0, 2.0, -1.0, 1.0, 0.5, 2.0])
    tape, outs = dc.tape_function(f, x0)
    np.testing.assert_array_equal(tape.vals[outs], f(x0))
    rows = np.array([j.g for j in as_jets(f(jets(x0)), x0.size)])
    np.testing.assert_allclose(dc.jacobian(tape, outs), rows, rtol=1e-14)


def test_masked_update_follows_the_recorded_mask() -> None:
    x0 = np.array([1.0, 2.0, -1.0, 1.0, -0.5, 2.0])
    tape, outs = dc.tape_function(masked_update, x0)
    np.testing.assert_array_equal(tape.vals[outs], masked_update(x0))
    slopes = np.where(x0 > 0, 4.0 * x0, 2.0 * x0 - 1.0)
    np.testing.assert_array_equal(dc.jacobian(tape, outs), np.diag(slopes))


def test_writing_into_the_input_leaves_the_callers_array_alone() -> None:
    x0 = np.array([1.0, 2.0, 3.0])
    kept = x0.copy()

    def f(x: Any) -> Any:
        x += 1.0
        x[0] *= x[2]
        x[1:] = x[:-1]
        return np.sum(x**2)

    # x[0] -> (x0 + 1)(x2 + 1), then moved up: p, p, x1 + 1 with p the product.
    tape, out = dc.tape_function(f, x0)
    np.testing.assert_array_equal(x0, kept)
    p = 2.0 * 4.0
    assert tape.vals[out] == 2.0 * p**2 + 3.0**2
    np.testing.assert_allclose(dc.gradient(tape, out), [4 * p * 4.0, 6.0, 4 * p * 2.0])
    np.testing.assert_array_equal(x0, kept)


def test_later_writes_do_not_reach_the_tape() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        y = x * 3.0
        z = y * x
        y[:] = 0.0
        kept.append(z)
        return np.sum(z) + np.sum(y)

    x0 = np.array([1.0, -2.0])
    tape, out = dc.tape_function(f, x0)
    np.testing.assert_array_equal(dc.gradient(tape, out), 6.0 * x0)
    np.testing.assert_array_equal(dc.hessian(tape, out), 6.0 * np.eye(2))


@pytest.mark.parametrize(
    "write",
    [
        lambda a: a.__setitem__(7, 1.0),
        lambda a: a.__setitem__((0, 0, 0), 1.0),
    ],
)
def test_writes_out_of_range_raise_as_in_numpy(write: Callable[[Any], None]) -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        write(y)
        return np.sum(y)

    with pytest.raises(IndexError):
        dc.gradient(f, np.ones(3))


def test_writes_that_do_not_fit_raise_as_in_numpy() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        y[:2] = x[:3]
        return np.sum(y)

    with pytest.raises(ValueError, match="broadcast"):
        dc.gradient(f, np.ones(4))
