"""What must hold: the targets of recording and replay, all in one item.

Programs and peers are those of the table; every row has a target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc

from . import _limits, _lorenz, _replay, _rivals
from ._peers import module
from ._report import Row
from ._suite import Program, rosenbrock, rosenbrock_loop
from ._timing import compared, interleaved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "targets"
POINTS, VARIABLES = 10_000, 20


def _sx_graph(program: Program) -> Callable[[], Any] | None:
    casadi = module("casadi")
    if casadi is None:
        return None

    def build() -> Any:
        x = casadi.SX.sym("x", program.n)
        return program.f(casadi.vertsplit(x), casadi, ())

    return build


def _against(
    what: str,
    ours: Callable[[], Any] | None,
    theirs: Callable[[], Any] | None,
    target: float,
    n: int,
    peer: str,
    *,
    at_least: bool = False,
) -> Row:
    """One ratio, or why there is none."""
    if ours is None or theirs is None:
        note = _replay.MISSING if ours is None else f"{peer} is not installed"
        return Row(ITEM, what, None, "x", target, at_least, n, note)
    a, b = interleaved([ours, theirs])
    return compared(ITEM, what, a, b, target, n=n, at_least=at_least)


def _scalar(n: int) -> Iterator[Row]:
    """A loop of scalar operations."""
    program = rosenbrock_loop(n)
    v = np.ones(n)
    record = lambda: dc.tape_function(program.plain, program.x)  # noqa: E731
    hips = _rivals.autograd(program, v) or {}
    graph = _sx_graph(program)
    what = "loop: record / HIPS autograd's gradient"
    yield _against(what, record, hips.get("gradient"), 1 / 30, n, "autograd")
    what = "loop: record / CasADi SX's graph"
    yield _against(what, record, graph, 1 / 20, n, "casadi")
    machine = (_rivals.casadi(program, v, "SX") or {}).get("gradient")
    replayed = _replay.compiled(program.plain, program.x)
    ours = replayed and (lambda: replayed.gradient(program.x))
    what = "loop: replayed gradient / CasADi SX's compiled gradient"
    yield _against(what, ours, machine, 0.7, n, "casadi")


def _vectorised(n: int) -> Iterator[Row]:
    """An array program, all calls in turn."""
    program, v = rosenbrock(n), np.ones(n)
    f, x = program.plain, program.x
    calls: dict[str, Callable[[], Any]] = {
        "record + gradient": lambda: dc.gradient(f, x),
        "record + sum cover": lambda: dc.cover_hessian(f, x),
    }
    for name, peer in (
        ("HIPS autograd's gradient", _rivals.autograd(program, v)),
        ("PyTorch's eager backward", _rivals.torch(program, v)),
    ):
        if peer is not None:
            calls[name] = peer["gradient"]
    replayed = _replay.compiled(f, x)
    if replayed is not None:
        calls["replayed gradient"] = lambda: replayed.gradient(x)
        calls["replayed cover"] = lambda: replayed.cover(x)
    samples = dict(zip(calls, interleaved(list(calls.values()), 9), strict=True))
    for ours, theirs, target in (
        ("record + gradient", "HIPS autograd's gradient", 1.0),
        ("record + gradient", "PyTorch's eager backward", 1.5),
        ("record + sum cover", "record + gradient", 1.4),
        ("replayed gradient", "HIPS autograd's gradient", 0.4),
        ("replayed cover", "replayed gradient", 2.0),
    ):
        what = f"arrays: {ours} / {theirs}"
        if ours in samples and theirs in samples:
            yield compared(ITEM, what, samples[ours], samples[theirs], target, n=n)
            continue
        note = _replay.MISSING if ours not in samples else f"{theirs}: not installed"
        yield Row(ITEM, what, None, target=target, n=n, note=note)


def _batch(points: int) -> Iterator[Row]:
    """Many points of one small program."""
    program = rosenbrock(VARIABLES)
    at = np.random.default_rng(3).normal(size=(points, VARIABLES))
    found = _replay.batches(program.plain, at)
    gradients, covers = found or (None, None)
    some = at[: max(points // 100, 1)]

    def loop() -> None:
        for x in some:
            dc.cover_hessian(program.plain, x)

    what = f"batch of {points}: a point of a loop of cover_hessian / of the covers"
    if covers is None:
        note = _replay.MISSING
        yield Row(ITEM, what, None, "x", 50, True, VARIABLES, note)
    else:
        ours, theirs = interleaved([covers, loop])
        scale = points / len(some)
        theirs = type(theirs)(tuple(s * scale for s in theirs.seconds))
        yield compared(ITEM, what, theirs, ours, 50, n=VARIABLES, at_least=True)
    what = f"batch of {points}: gradients / JAX's vmapped gradient"
    jax = module("jax")
    vmapped = None
    if jax is not None:
        jax.config.update("jax_enable_x64", True)
        f = program.bind(jax.numpy, jax.numpy.asarray)
        compiled, there = jax.jit(jax.vmap(jax.grad(f))), jax.numpy.asarray(at)
        vmapped = lambda: compiled(there).block_until_ready()  # noqa: E731
    yield _against(what, gradients, vmapped, 2.0, VARIABLES, "jax")


def _ulps(a: Any, b: Any) -> float:
    """The largest difference, in the spacing of floats at the largest entry."""
    a, b = np.asarray(a), np.asarray(b)
    return float(np.abs(a - b).max() / np.spacing(np.abs(b).max()))


def _same(n: int) -> Iterator[Row]:
    """Replay at another point, beside recording there; a gradient is full of sums."""
    at = np.cos(np.arange(n, dtype=float))
    for program, limit in ((rosenbrock_loop(n), 0.0), (rosenbrock(n), 4.0)):
        f = program.plain
        replayed = _replay.compiled(f, program.x)
        fresh = {"value": f(at), "gradient": dc.gradient(f, at)}
        for what, target in (("value", limit), ("gradient", 4.0)):
            name = f"replayed {what} beside a recorded one, {program.name}"
            value, note = None, _replay.MISSING
            if replayed is not None:
                value, note = _ulps(getattr(replayed, what)(at), fresh[what]), ""
            yield Row(ITEM, name, value, "ulp", target, n=n, note=note)


def rows(*, quick: bool) -> Iterator[Row]:
    """All targets in the order in which they were set."""
    yield from _scalar(300 if quick else 10_000)
    yield from _vectorised(10_000 if quick else 1_000_000)
    yield from _limits.rows(ITEM, quick=quick)
    yield from _lorenz.rows(ITEM, quick=quick)
    yield from _batch(200 if quick else POINTS)
    yield from _same(300 if quick else 10_000)
