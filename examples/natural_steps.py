"""Optimisers of JAX in four sets of units, with and without a cover.

Rosenbrock's function, minimised by gradient descent of optax and by BFGS of optimistix, as
they are and in the natural steps of a cover: the recipes of the page on covers in JAX.

    python -m examples.natural_steps [--out FOLDER] [--quick]

Needs JAX, optax and optimistix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ._gallery import BLUE, GREEN, INK, ORANGE, finish, options, picture
from .figures import unit_label
from .units import UNITS

__all__ = ["bfgs", "descent", "main", "rosenbrock"]

RATE = {False: 3e-3, True: 1.0}  # each the best of a grid, where units are 1
START = np.array([-1.2, 1.0])


def rosenbrock(z: Any, units: Any) -> Any:
    """The function of somebody who measures in other units."""
    x = z / units
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2


def descent(f: Callable[[Any], Any], z0: Any, steps: int, scaled: bool) -> Any:
    """Values on the way of gradient descent with momentum.

    Scaled, every gradient is divided by the square of the cover at the same point.
    """
    jax, optax = import_module("jax"), import_module("optax")
    covered = import_module("derivative_covers.interop.jax").cover_hessian(f)
    optimiser = optax.sgd(RATE[scaled], momentum=0.9)

    def step(carry: Any, _: Any) -> Any:
        z, state = carry
        value, gradient = jax.value_and_grad(f)(z)
        if scaled:
            gradient = gradient / covered(z).h ** 2
        updates, state = optimiser.update(gradient, state)
        return (optax.apply_updates(z, updates), state), value

    start = (z0, optimiser.init(z0))
    return jax.jit(lambda c: jax.lax.scan(step, c, length=steps))(start)[1]


def bfgs(f: Callable[[Any], Any], z0: Any, scaled: bool) -> tuple[float, int]:
    """The value where BFGS stops, and its steps; scaled, in natural steps at the start."""
    optx = import_module("optimistix")
    covered = import_module("derivative_covers.interop.jax").cover_hessian(f)
    step = 1.0 / covered(z0).h if scaled else 1.0
    found = optx.minimise(
        lambda y, _: f(step * y),
        optx.BFGS(rtol=1e-8, atol=1e-8),
        z0 / step,
        max_steps=500,
        throw=False,
    )
    return float(f(step * found.value)), int(found.stats["num_steps"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Minimise in all units, print the ends, draw the ways."""
    chosen = options("natural_steps", __doc__, arguments)
    steps = 200 if chosen.quick else 2000
    jax: Any = import_module("jax")
    found = {}
    with jax.enable_x64(True):
        heads = ("optax", "optax, scaled", "optimistix", "optimistix, scaled")
        print(f"{'one unit of each variable':<27}" + "".join(f"{h:<22}" for h in heads))
        for units in UNITS:
            f = partial(rosenbrock, units=np.array(units))
            z0 = jax.numpy.asarray(START * units)
            ways = [np.asarray(descent(f, z0, steps, s)) for s in (False, True)]
            ends = [bfgs(f, z0, s) for s in (False, True)]
            found[units] = ways
            columns = [f"{way[-1]:<22.2g}" for way in ways]
            columns += [f"{f'{value:.2g} in {count}':<22}" for value, count in ends]
            print(f"{units!s:<27}" + "".join(columns))
    print(f"(value after {steps} steps; value where BFGS stops, in its steps)")
    draw(found, chosen.out)
    return 0


def draw(found: dict[Any, list[Any]], folder: Path) -> None:
    """Values against steps, as it is and scaled."""
    figure, axes = picture(2)
    colours = (INK, BLUE, ORANGE, GREEN)
    for k, title in enumerate(("optax.sgd as it is", "gradients scaled by the cover")):
        panel = axes[k]
        for (units, ways), colour, width in zip(
            found.items(), colours, (8, 5.4, 3.2, 1.4), strict=True
        ):
            values = np.maximum(np.fmin(ways[k], 1e9), 1e-20)
            label = unit_label(units)
            panel.plot(values, color=colour, linewidth=width if k else 2.2, label=label)
        panel.set_yscale("log")
        panel.set_ylim(1e-16, 1e4)
        panel.set_title(title, loc="left")
        panel.set_xlabel("steps")
    axes[0].set_ylabel("value")
    axes[0].legend(title="variables multiplied by", fontsize=8)
    finish(figure, folder, "natural_steps")


if __name__ == "__main__":
    raise SystemExit(main())
