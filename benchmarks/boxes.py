"""Boxes: what holds on public functions, how tight it is, and what it costs."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

import flint
import numpy as np

import derivative_covers as dc
from derivative_covers import bounds
from tests.suites._box_checks import eigenvalues, points, tightness, violations
from tests.suites._box_functions import CASES

from . import _peers
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "boxes"
N = 200


def rows(*, quick: bool, full: bool = False) -> Iterator[Row]:
    """Validity and tightness of each function, then ratios of times."""
    exact = 100 if quick else 10_000 if full else 1_000
    yield from _functions(exact, 10 * exact)
    for n in (1000,) if quick else (200, 1000, 100_000):
        yield from _against_floats(n)
    yield from _again()
    yield from _against_immrax()
    yield from _against_balls()


def _functions(exact: int, sampled: int) -> Iterator[Row]:
    wrong, concave = [], []
    for case in CASES:
        found = tightness(case.f, case.box)
        name = case.name
        yield Row(
            ITEM,
            f"{name}: hessian_bound over natural extension",
            found.bound_over_natural,
            target=10,
        )
        yield Row(
            ITEM,
            f"{name}: quadrature cover over best cover of hessian_bound",
            found.cover_over_best,
            target=3,
            note=f"sum {found.sum_over_best:.3g}",
        )
        wrong += [
            f"{name}: {v}"
            for v in violations(case.f, case.box, points(case.box, exact))
        ]
        under = bounds.alphabb(case.f, case.box)
        t = under.box.width
        x = points(case.box, sampled, seed=1)
        least = eigenvalues(case.f, x, 2 * under.alpha, t).min()
        size = np.abs(eigenvalues(case.f, x, 0 * t, t)).max()
        if least < -1e-9 * size:
            concave.append(name)
    yield Row(
        ITEM,
        f"entries above a cover or bound, {exact} points a function in arb",
        len(wrong),
        "",
        target=0,
        n=len(CASES),
        note="; ".join(wrong),
    )
    yield Row(
        ITEM,
        f"underestimators not convex, {sampled} points a function",
        len(concave),
        "",
        target=0,
        n=len(CASES),
        note="; ".join(concave),
    )


def algebraic(x: Any) -> Any:
    """Of ``+ - * / sqrt exp log``."""
    y = np.exp(x[1:] * x[:-1] - 1) / (1 + x[1:] ** 2)
    return np.sum(np.sqrt(1 + y * y) - np.log(2 + x[1:] + y))


def waves(x: Any) -> Any:
    """With sines and cosines."""
    return np.sum(np.sin(x[1:] * x[:-1]) + np.cos(2 * x[1:]) / (1 + x[1:] ** 2))


def _cover(f: Any, x: Any, merge: Any = "sum") -> Any:
    return dc.cover_hessian(*dc.tape_function(f, x), merge=merge)


def _against_floats(n: int) -> Iterator[Row]:
    fast = "crival" if _peers.module("ival") else "without crival"
    x = np.random.default_rng(0).uniform(0.2, 0.9, n)
    box = dc.Interval(x - 0.05, x + 0.05)
    for what, f, target in (
        ("+ - * / sqrt exp log", algebraic, 25),
        ("with sin and cos", waves, 60),
    ):
        times = interleaved([lambda f=f: _cover(f, box), lambda f=f: _cover(f, x)])
        ratios = times[0].over(times[1])
        yield Row(
            ITEM,
            f"record and cover over a box, in times of floats: {what}",
            median(ratios),
            target=target,
            n=n,
            note=f"{fast}, {times[0].median * 1e3:.3g} ms, quartiles {spread(ratios)}",
        )


W1 = np.random.default_rng(1).normal(size=(100, N)) / 14
W2 = np.random.default_rng(2).normal(size=(100, 100)) / 10


def net(x: Any, xp: Any = np) -> Any:
    """A network of two layers of 100 units."""
    return xp.sum(xp.tanh(W2 @ xp.tanh(W1 @ x)))


def soft_maximum(x: Any, xp: Any = np) -> Any:
    """The logarithm of 100 exponentials of dense linear functions."""
    return xp.log(xp.sum(xp.exp(W1 @ x)))


def rosenbrock(x: Any, xp: Any = np) -> Any:
    """A Hessian of three diagonals."""
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


DENSE = (("net of two layers", net), ("log-sum-exp", soft_maximum))
LO, HI = np.full(N, 0.4), np.full(N, 0.6)


def _again() -> Iterator[Row]:
    """Covers of programs that were compiled over another box."""
    inner = dc.Interval(LO + 0.05, HI - 0.03)
    for what, f, target in (
        *((name, f, None) for name, f in DENSE),
        ("rosenbrock", rosenbrock, 7.5),  # then immrax takes five times as long
        ("+ - * / sqrt exp log", algebraic, None),
        ("with sin and cos", waves, None),
    ):
        compiled = dc.compile(f, dc.Interval(LO, HI))
        times = interleaved(
            [lambda f=f: _cover(f, inner), lambda c=compiled: c.cover(inner)]
        )
        ratios = times[0].over(times[1])
        yield Row(
            ITEM,
            f"record and cover over a box, over a cover of a compiled program, {what}",
            median(ratios),
            target=target,
            at_least=True,
            n=N,
            note=f"sum, {times[1].median * 1e3:.3g} ms, quartiles {spread(ratios)}",
        )


def _against_immrax() -> Iterator[Row]:
    immrax = _peers.module("immrax")
    for what, f in (*DENSE, ("rosenbrock", rosenbrock)):
        title = f"interval Hessian by immrax over a rigorous cover, {what}"
        target = 5  # for a nearly empty Hessian: of a compiled program
        if immrax is None:
            note = "immrax not installed"
            yield Row(ITEM, title, None, target=target, n=N, note=note)
            continue
        import jax  # noqa: PLC0415 - optional
        import jax.numpy as jnp  # noqa: PLC0415 - optional

        jax.config.update("jax_enable_x64", True)
        theirs = jax.jit(immrax.natif(jax.hessian(lambda x, f=f: f(x, jnp))))
        there = immrax.interval(jnp.array(LO), jnp.array(HI))
        calls = [lambda t=theirs, b=there: jax.block_until_ready(t(b).lower)]
        calls += [
            lambda f=f, merge=merge: _cover(f, dc.Interval(LO, HI), merge)
            for merge in ("sum", "quadrature")
        ]
        compiled = dc.compile(f, dc.Interval(LO - 0.1, HI + 0.1))
        calls += [lambda c=compiled: c.cover(dc.Interval(LO, HI))]
        times = interleaved(calls)
        ratios = times[0].over(times[3])
        yield Row(
            ITEM,
            f"interval Hessian by immrax over a cover of a compiled program, {what}",
            median(ratios),
            target=target,
            at_least=True,
            n=N,
            note=f"sum, {times[3].median * 1e3:.3g} ms, quartiles {spread(ratios)}",
        )
        ratios = times[0].over(times[1])
        other = median(times[0].over(times[2]))
        yield Row(
            ITEM,
            title,
            median(ratios),
            target=None if f is rosenbrock else target,
            at_least=True,
            n=N,
            note=f"sum, {times[1].median * 1e3:.3g} ms, quartiles {spread(ratios)}; "
            f"quadrature {other:.3g}",
        )


def _against_balls() -> Iterator[Row]:
    # Narrow ones: a ball around a wide range of exponentials holds zero.
    balls = [flint.arb(0.5, 2.0**-9) for _ in range(N)]
    box = dc.Interval(np.full(N, 0.5 - 2.0**-9), np.full(N, 0.5 + 2.0**-9))
    for what, f in (*DENSE, ("rosenbrock", rosenbrock)):
        (ours,) = interleaved([lambda f=f: _cover(f, box)])
        start = time.perf_counter()
        _cover(f, balls)  # once: it takes seconds
        theirs = time.perf_counter() - start
        yield Row(
            ITEM,
            f"a cover over balls, arb through the sweeps, over one of intervals, {what}",
            theirs / ours.median,
            target=20,
            at_least=True,
            n=N,
            note=f"sum, {ours.median * 1e3:.3g} ms",
        )
