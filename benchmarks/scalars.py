"""Recording scalar operations, against HIPS autograd and CasADi's SX."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc

from . import _peers
from ._programs import (
    OPERATIONS_A_STEP,
    OPERATIONS_A_TERM,
    pendulum,
    point,
    rosenbrock_terms,
)
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "scalars"


@dataclass(frozen=True)
class Program:
    """One scalar program for any package: `f(entries, sin)`."""

    name: str
    f: Callable[[Any, Callable[[Any], Any]], Any]
    x: np.ndarray
    operations: int

    def on_arrays(self, sin: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The program as a function of an array, with a package's sine."""
        return lambda x: self.f(list(x), sin)

    def pairs(self) -> Iterator[tuple[str, Any, Any, float | None]]:
        """Names, our call, a peer's call or None, and the target of the ratio."""
        ours = self.on_arrays(np.sin)
        sine = getattr(_peers.module("autograd.numpy"), "sin", None)
        theirs = self.on_arrays(sine)
        casadi_sine = getattr(_peers.module("casadi"), "sin", None)
        n, terms = self.x.size, lambda entries: self.f(entries, casadi_sine)
        record = lambda: dc.tape_function(ours, self.x)  # noqa: E731
        gradient = lambda: dc.gradient(ours, self.x)  # noqa: E731
        yield (
            "record / autograd's gradient",
            record,
            _peers.autograd_gradient(theirs, self.x),
            1 / 20,
        )
        yield (
            "record / the recording half of autograd's gradient",
            record,
            _peers.autograd_record(theirs, self.x),
            None,
        )
        yield (
            "record / CasADi SX's graph",
            record,
            _peers.casadi_graph(terms, n),
            1 / 10,
        )
        yield (
            "gradient / autograd's gradient",
            gradient,
            _peers.autograd_gradient(theirs, self.x),
            None,
        )
        yield (
            "gradient / SX graphs of f and gradient",
            gradient,
            _peers.casadi_graph(terms, n, gradient=True),
            None,
        )


def rows(*, quick: bool) -> Iterator[Row]:
    """Our time over theirs for two scalar loops; gradients for information."""
    n, steps = (100, 150) if quick else (1500, 1500)
    for program in (
        Program(
            "rosenbrock",
            lambda entries, _: rosenbrock_terms(entries),
            point(n),
            OPERATIONS_A_TERM * (n - 1),
        ),
        Program(
            "pendulum",
            lambda entries, sin: pendulum(entries, sin, steps),
            np.array([1.0, 0.5]),
            OPERATIONS_A_STEP * steps,
        ),
    ):
        for what, ours, theirs, target in program.pairs():
            if quick and target is None:
                continue
            name = f"{what}, {program.name}"
            if theirs is None:
                yield Row(ITEM, name, None, target=target, note="peer not installed")
                continue
            a, b = interleaved([ours, theirs], 7)
            ratios = a.over(b)
            yield Row(
                ITEM,
                name,
                median(ratios),
                target=target,
                n=program.operations,
                note=f"{a.median / program.operations * 1e6:.3g} us an operation v. "
                f"{b.median / program.operations * 1e6:.3g} us, "
                f"quartiles {spread(ratios)}",
            )
