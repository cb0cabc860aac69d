"""A long simulation in compiled steps, beside loops that JAX compiles whole."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from derivative_covers.checkpoint import (
    Chain,
    Event,
    Revolve,
    Schedule,
    Transition,
    UniformBlock,
    reverse_sweep,
)

from . import _replay
from ._peers import module
from ._report import Row
from ._timing import Samples, compared, interleaved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VARIABLES = 40
SLOTS, BLOCKS = 150, 160  # 160 divides the steps; both hold about as many states
SHORT, FEW = 200, 8  # as many evaluations a step as 1e5 steps with 150 slots take
H = 1e-3
LONG = 1e-4  # for a million steps: over a thousand units of time cotangents overflow


def step(x: Any, k: Any, np: Any = np, h: float = H) -> Any:
    """Lorenz-96 by the classical Runge-Kutta rule."""
    a = _rate(x, np)
    b = _rate(x + h / 2 * a, np)
    c = _rate(x + h / 2 * b, np)
    d = _rate(x + h * c, np)
    return x + h / 6 * (a + 2.0 * (b + c) + d)


def long_step(x: Any, k: Any) -> Any:
    """The same with shorter steps."""
    return step(x, k, h=LONG)


def _rate(x: Any, np: Any) -> Any:
    return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8.0


def start() -> np.ndarray:
    """The first state."""
    return 8.0 + np.sin(np.arange(float(VARIABLES)))


def chain(transition: Transition, steps: int) -> Chain:
    """So many steps and the mean square of the last state."""
    last = Transition.taped(lambda x, _k: np.mean(x**2))
    return Chain([Chain.uniform(steps, transition), last])


def _sweep(transition: Transition, steps: int, schedule: Schedule) -> Any:
    return reverse_sweep(chain(transition, steps), start(), schedule=schedule)


def _jax(
    steps: int, blocks: int = BLOCKS, h: float = H
) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
    """One scan over all steps; the gradient of nested scans that keep block starts."""
    jax = module("jax")
    if jax is None:
        return None
    jax.config.update("jax_enable_x64", True)
    names, scan = jax.numpy, jax.lax.scan
    x = names.asarray(start())
    one = lambda y, _: (step(y, 0, names, h), None)  # noqa: E731
    forward = jax.jit(lambda y: scan(one, y, None, length=steps)[0])
    inner = jax.checkpoint(lambda y, _: scan(one, y, None, length=steps // blocks))
    whole = lambda y: names.mean(scan(inner, y, None, length=blocks)[0] ** 2)  # noqa: E731
    gradient = jax.jit(jax.grad(whole))
    return (
        lambda: forward(x).block_until_ready(),
        lambda: gradient(x).block_until_ready(),
    )


def _a_step(samples: Samples, steps: int) -> Samples:
    return Samples(tuple(s / steps for s in samples.seconds))


class _Reached(Exception):
    """The end of the forward run."""


def _forward(transition: Transition, steps: int, schedule: Schedule) -> None:
    """What a sweep does until it has run all steps once: no derivatives yet."""

    def stop(event: Event) -> None:
        if event.kind == "advance" and event.step >= steps:
            raise _Reached

    whole = chain(transition, steps)
    with contextlib.suppress(_Reached):
        reverse_sweep(whole, start(), schedule=schedule, on_event=stop)


def rows(item: str, *, quick: bool) -> Iterator[Row]:
    """Steps, gradients, and the same sweep on steps of plain NumPy."""
    steps = 1_600 if quick else 100_000
    whats = (
        ("Lorenz-96: a compiled step / one of JAX's scan", 1.5, False),
        ("Lorenz-96: gradient, blocks recorded whole / JAX's nested scans", 3.0, False),
        (
            "Lorenz-96: a step of the sweep on NumPy steps / of compiled ones",
            20.0,
            True,
        ),
    )
    compiled = _replay.transition(step)
    theirs = _jax(steps)
    fewer = SHORT // (10 if quick else 1)
    taped = partial(_sweep, Transition.taped(step), fewer, Revolve(FEW))
    if compiled is None or theirs is None:
        why = _replay.MISSING if compiled is None else "jax is not installed"
        notes = [why] * 3 if theirs is None else _figures(theirs, taped, steps, why)
        for (what, target, at_least), note in zip(whats, notes, strict=True):
            yield Row(item, what, None, "x", target, at_least, steps, note)
        return
    calls = [
        partial(_forward, compiled, steps, Revolve(SLOTS)),
        partial(_sweep, compiled, steps, UniformBlock(BLOCKS, record="block")),
        *theirs,
        taped,
    ]
    ahead, blocks, scan, nested, plain = interleaved(calls)
    pairs = (
        (_a_step(ahead, steps), _a_step(scan, steps)),
        (_a_step(blocks, steps), _a_step(nested, steps)),
        (_a_step(plain, fewer), _a_step(blocks, steps)),
    )
    for (what, target, at_least), (a, b) in zip(whats, pairs, strict=True):
        yield compared(item, what, a, b, target, n=steps, at_least=at_least)
    if quick:
        yield from _gradients(item, compiled, 800, 40, alone=True)
        return
    yield from _gradients(item, compiled, 10_000, 100, alone=True)
    longer = _replay.transition(long_step)
    assert longer is not None
    yield from _gradients(item, longer, 1_000_000, BLOCKS, alone=False, h=LONG)


def _figures(theirs: Any, taped: Any, steps: int, why: str) -> list[str]:
    """What can be measured without compiled steps, for the notes."""
    run = partial(_forward, *taped.args)
    forward, gradient, plain, ahead = interleaved([*theirs, taped, run], 3)
    each, one = (s.median / taped.args[1] * 1e6 for s in (plain, ahead))
    return [
        f"{why}; JAX {forward.median / steps * 1e6:.3g} us, a NumPy one {one:.3g} us",
        f"{why}; JAX {gradient.median / steps * 1e6:.3g} us a step",
        f"{why}; {each:.3g} us a step of the sweep on NumPy steps",
    ]


def _gradients(
    item: str,
    compiled: Transition,
    steps: int,
    blocks: int,
    *,
    alone: bool,
    h: float = H,
) -> Iterator[Row]:
    """Fewer steps and more; ``alone``: by states alone as well."""
    theirs = _jax(steps, blocks, h)
    assert theirs is not None
    kinds: list[Schedule] = [UniformBlock(blocks, record="block")]
    kinds += [Revolve(SLOTS)] if alone else []
    ours = [partial(_sweep, compiled, steps, kind) for kind in kinds]
    nested, whole, *states = interleaved([theirs[1], *ours])
    what = "Lorenz-96: gradient, blocks recorded whole / JAX's nested scans"
    yield compared(item, what, whole, nested, 3.0, n=steps)
    # JAX keeps the steps of a block as well; this keeps 150 states and no more.
    what = "Lorenz-96: gradient by Revolve, 150 slots alone / JAX's nested scans"
    for each in states:
        yield compared(item, what, each, nested, n=steps)
