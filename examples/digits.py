"""A network that reads digits, trained in steps that a cover scales.

The 1797 scanned digits that scikit-learn ships, 8 by 8 pixels (Alpaydin & Kaynak 1998), and
a network of two layers, 64-32-10, in JAX. Stochastic gradient descent divides each entry
of the gradient by the square of its entry in a cover of the training loss, which is taken
once an epoch; beside it plain SGD and Adam. Each gets the best learning rate of one grid,
by its loss on all training digits after the last epoch. All of it twice: pixels between 0 and 1, and each
pixel in a unit of its own, within a factor of ten up or down.

What the library brings: a natural step of every weight, whatever the units of its input.

    python -m examples.digits [--out FOLDER] [--quick]

Needs JAX and scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ._gallery import BLUE, GREEN, ORANGE, finish, options, picture

__all__ = ["METHODS", "Run", "main", "train"]

HIDDEN, CLASSES, BATCH, TRAINED = 32, 10, 64, 1408  # of 1797 digits, the others test
RATES = 10.0 ** np.arange(-5.0, 1.75, 0.5)
METHODS = {"SGD": ORANGE, "Adam": GREEN, "SGD, scaled by a cover": BLUE}
UNITS = ("pixels between 0 and 1", "each pixel in a unit of its own")


class Run(NamedTuple):
    """The best rate of one method.

    Attributes:
        rate: The learning rate.
        loss: On all training digits, before the first epoch and after each.
        accuracy: The part of the other digits that is read rightly, likewise.
        seconds: Of one epoch, compiled, where all rates run at once.
    """

    rate: float
    loss: Any
    accuracy: Any
    seconds: float


class Data(NamedTuple):
    """Pixels and digits, to train on and to test."""

    x: Any
    y: Any
    test_x: Any
    test_y: Any


def digits(jnp: Any, own_units: bool) -> Data:
    """The data set, in an order that is always the same."""
    pixels, digit = import_module("sklearn.datasets").load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(digit))
    unit = 10.0 ** rng.uniform(-1, 1, size=64) if own_units else 1.0
    x, y = jnp.asarray(pixels[order] / 16 * unit), jnp.asarray(digit[order])
    return Data(x[:TRAINED], y[:TRAINED], x[TRAINED:], y[TRAINED:])


def scores(jnp: Any, p: Any, x: Any) -> Any:
    """What the network says of each picture."""
    return jnp.tanh(x @ p["in"] + p["in0"]) @ p["out"] + p["out0"]


def start() -> Any:
    """Weights before training, the same for all."""
    rng = np.random.default_rng(1)
    return {
        "in": rng.normal(size=(64, HIDDEN)) / 8,
        "in0": np.zeros(HIDDEN),
        "out": rng.normal(size=(HIDDEN, CLASSES)) / np.sqrt(HIDDEN),
        "out0": np.zeros(CLASSES),
    }


def trainers(jax: Any) -> dict[str, Callable[..., Any]]:
    """Compiled training by each method: of rates, orders of the digits, and data."""
    jnp = jax.numpy

    def loss(p: Any, x: Any, y: Any) -> Any:
        s = scores(jnp, p, x)
        own = jnp.take_along_axis(s, y[:, None], axis=1)[:, 0]
        return jnp.mean(jax.nn.logsumexp(s, axis=1) - own)

    def judged(p: Any, data: Data) -> Any:
        read = jnp.argmax(scores(jnp, p, data.test_x), axis=1)
        return loss(p, data.x, data.y), jnp.mean(read == data.test_y)

    def trainer(method: Method) -> Callable[..., Any]:
        def run(rate: Any, orders: Any, data: Data) -> Any:
            def step(carry: Any, chosen: Any) -> Any:
                p, state = carry
                g = jax.grad(loss)(p, data.x[chosen], data.y[chosen])
                return method.step(p, g, state, rate), None

            def epoch(carry: Any, order: Any) -> Any:
                p, state = carry
                carry = p, method.before(p, state, data)
                carry, _ = jax.lax.scan(step, carry, order.reshape(-1, BATCH))
                return carry, judged(carry[0], data)

            p = jax.tree.map(jnp.asarray, start())
            first = judged(p, data)
            _, later = jax.lax.scan(epoch, (p, method.begin(p)), orders)
            return [jnp.append(a, b) for a, b in zip(first, later, strict=True)]

        compiled: Callable[..., Any] = jax.jit(jax.vmap(run, (0, None, None)))
        return compiled

    return {name: trainer(method) for name, method in methods(jax, loss).items()}


class Method(NamedTuple):
    """An optimiser.

    Attributes:
        begin: Its first state, of the weights.
        before: The state with which an epoch begins, of weights, state and data.
        step: Weights and state, of these, a gradient and the rate.
    """

    begin: Callable[..., Any]
    before: Callable[..., Any]
    step: Callable[..., Any]


def methods(jax: Any, loss: Callable[..., Any]) -> dict[str, Method]:
    """Plain SGD, Adam with its usual constants, and SGD scaled by a cover."""
    dcj = import_module("derivative_covers.interop.jax")
    jnp, tree = jax.numpy, jax.tree.map

    def same(p: Any, state: Any, data: Data) -> Any:
        return state

    def sgd(p: Any, g: Any, state: Any, rate: Any) -> Any:
        return tree(lambda a, b: a - rate * b, p, g), state

    def adam(p: Any, g: Any, state: Any, rate: Any) -> Any:
        m, v, count = state
        count = count + 1
        m = tree(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = tree(lambda a, b: 0.999 * a + 0.001 * b**2, v, g)
        up, down = 1 - 0.9**count, 1 - 0.999**count

        def moved(a: Any, b: Any, c: Any) -> Any:
            return a - rate * (b / up) / (jnp.sqrt(c / down) + 1e-8)

        return tree(moved, p, m, v), (m, v, count)

    def one(p: Any, x: Any, y: Any) -> Any:
        return loss(p, x[None], y[None])

    each = jax.vmap(dcj.cover_hessian(one), (None, 0, 0))

    def covered(p: Any, state: Any, data: Data) -> Any:
        # The mean of squared covers; its root covers the mean of the Hessians.
        return tree(lambda h: jnp.mean(h**2, axis=0), each(p, data.x, data.y).h)

    def scaled(p: Any, g: Any, square: Any, rate: Any) -> Any:
        # A pixel that is dark in all pictures has no curvature, and no gradient either.
        safe = tree(lambda s: jnp.where(s > 0, s, 1), square)
        return tree(lambda a, b, s: a - rate * b / s, p, g, safe), square

    def zeros(p: Any) -> Any:
        zero = tree(jnp.zeros_like, p)
        return zero, zero, 0.0

    found = (
        Method(lambda p: 0.0, same, sgd),
        Method(zeros, same, adam),
        Method(lambda p: tree(jnp.ones_like, p), covered, scaled),
    )
    return dict(zip(METHODS, found, strict=True))


def train(epochs: int) -> dict[str, dict[str, Run]]:
    """All methods with the best of all rates, in both units of the pixels."""
    jax: Any = import_module("jax")
    rng = np.random.default_rng(2)
    orders = np.stack([rng.permutation(TRAINED) for _ in range(epochs)])
    compiled = trainers(jax)
    found: dict[str, dict[str, Run]] = {}
    for own, units in enumerate(UNITS):
        data = digits(jax.numpy, bool(own))
        found[units] = {}
        for name, call in compiled.items():
            jax.block_until_ready(call(RATES, orders, data))  # compiles, the first time
            begin = perf_counter()
            losses, right = map(np.asarray, call(RATES, orders, data))
            seconds = (perf_counter() - begin) / epochs / len(RATES)
            last = np.where(np.isfinite(losses[:, -1]), losses[:, -1], np.inf)
            best = int(np.argmin(last))
            found[units][name] = Run(
                float(RATES[best]), losses[best], right[best], seconds
            )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Train in both units, print what came out, draw the picture."""
    chosen = options("digits", __doc__, arguments)
    found = train(2 if chosen.quick else 30)
    print(f"{'':<34}{'rate':>9}{'loss':>9}{'errors':>9}{'ms an epoch':>13}")
    for units, runs in found.items():
        print(units)
        for name, run in runs.items():
            print(
                f"  {name:<32}{run.rate:9.1g}{run.loss[-1]:9.4f}"
                f"{1 - run.accuracy[-1]:9.1%}{1e3 * run.seconds:13.1f}"
            )
    draw(found, chosen.out)
    return 0


def draw(found: dict[str, dict[str, Run]], folder: Path) -> None:
    """Loss on the training digits against epochs."""
    figure, axes = picture(2)
    for panel, (units, runs) in zip(axes, found.items(), strict=True):
        for name, run in runs.items():
            label = f"{name}: {1 - run.accuracy[-1]:.1%} of others misread"
            panel.plot(run.loss, color=METHODS[name], label=label)
        panel.set_yscale("log")
        panel.set_title(units, loc="left")
        panel.set_xlabel("epochs")
        panel.legend(fontsize=8)
    axes[0].set_ylabel("loss on all training digits")
    finish(figure, folder, "digits")


if __name__ == "__main__":
    raise SystemExit(main())
