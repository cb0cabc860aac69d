"""Computes `stepper_references.json` with JAX in double precision.

Run it by `python -m tests.suites.make_stepper_references`; it takes some minutes. JAX
compiles the same sources into nested scans, and keeps the states of one inner scan.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.suites._steppers import SHORT, STEPPERS, Stepper, direction

FILE = Path(__file__).with_name("stepper_references.json")
SIGNIFICANT = 16


def inner_length(steps: int) -> int:
    """The largest divisor up to the square root: inner scans of equal length."""
    return max(k for k in range(1, math.isqrt(steps) + 1) if steps % k == 0)


def program(stepper: Stepper, steps: int) -> Callable[[Any], Any]:
    """The stepper's function of `p`."""
    inner = inner_length(steps)
    indices = jnp.arange(steps).reshape(-1, inner)

    def f(p: Any) -> Any:
        def step(x: Any, k: Any) -> tuple[Any, None]:
            return stepper.step(x, p, k, jnp), None

        @jax.checkpoint
        def block(x: Any, ks: Any) -> tuple[Any, None]:
            return jax.lax.scan(step, x, ks)[0], None

        x, _ = jax.lax.scan(block, stepper.init(p, jnp), indices)
        return stepper.objective(x, p, jnp)

    return f


def rounded(a: Any) -> Any:
    """Numbers of 16 significant digits."""
    flat = [float(f"%.{SIGNIFICANT}g" % v) for v in np.ravel(a)]
    return flat if np.ndim(a) else flat[0]


def reference(stepper: Stepper, steps: int) -> dict[str, Any]:
    """Value, gradient and Hessian product after so many steps."""
    f = program(stepper, steps)

    def derivatives(p: Any, v: Any) -> Any:
        (value, gradient), (_, product) = jax.jvp(jax.value_and_grad(f), (p,), (v,))
        return value, gradient, product

    p, v = jnp.asarray(stepper.p), jnp.asarray(direction(stepper.p.size))
    value, gradient, product = jax.jit(derivatives)(p, v)
    parts = {"value": value, "gradient": gradient, "product": product}
    return {key: rounded(part) for key, part in parts.items()}


def main() -> None:
    """Write the file, a run a line."""
    jax.config.update("jax_enable_x64", True)
    rows = []
    for stepper in STEPPERS:
        for steps in (*SHORT, stepper.steps):
            found = reference(stepper, steps)
            rows.append({"name": stepper.name, "steps": steps, **found})
            sys.stderr.write(f"{stepper.name} {steps} {found['value']!r}\n")
    FILE.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


if __name__ == "__main__":
    main()
