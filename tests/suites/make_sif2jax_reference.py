"""Computes `sif2jax_reference.json` with JAX in double precision.

Run it by `python -m tests.suites.make_sif2jax_reference`; it takes half an hour, and less
for what the file lacks. Points are the problems' starts, moved a little off kinks and
zeros.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.suites._sif2jax import Problems, direction

LARGEST = 200
SIGNIFICANT = 15
FILE = Path(__file__).with_name("sif2jax_reference.json")
FOLDERS = (
    "_unconstrained_minimisation",
    "_bounded_minimisation",
    "_constrained_minimisation",
    "_quadratic_problems",
)


def classes(problems: Problems) -> list[tuple[str, str]]:
    """Module and name of every problem class that states an objective."""
    found = []
    for folder in FOLDERS:
        for file in sorted((problems.root / "cutest" / folder).glob("[a-z]*.py")):
            module = f"sif2jax.cutest.{folder}.{file.stem}"
            found += [
                (module, node.name)
                for node in ast.parse(file.read_text()).body
                if isinstance(node, ast.ClassDef) and node.name.isupper()
            ]
    return found


def moved(y0: Any) -> Any:
    """A point near a start, where hardly any program has a kink."""
    y = np.asarray(y0, dtype=float)
    size = np.maximum(np.abs(y), 1.0)
    return y + 1e-3 * size * np.sin(1.0 + np.arange(y.size)).reshape(y.shape)


def rounded(a: Any) -> Any:
    """Nested lists of numbers of 15 significant digits."""
    a = np.asarray(a)
    flat = [float(f"%.{SIGNIFICANT}g" % v) for v in a.ravel()]
    return np.reshape(flat, a.shape).tolist()


def reference(problem: Any) -> dict[str, Any]:
    """Point, value, gradient and Hessian product of one problem."""
    x = jnp.asarray(rounded(moved(problem.y0)))
    args = problem.args

    def f(y: Any) -> Any:
        return problem.objective(y, args)

    value, gradient = jax.value_and_grad(f)(x)
    v = jnp.asarray(direction(x.shape))
    product = jax.jvp(jax.grad(f), (x,), (v,))[1]
    parts = {"x": x, "value": value, "gradient": gradient, "product": product}
    return {key: rounded(part) for key, part in parts.items()}


def main() -> None:
    """Write the file, a problem a line."""
    jax.config.update("jax_enable_x64", True)
    problems = Problems(jnp, jax.vmap, jax.scipy.special)
    known = json.loads(FILE.read_text()) if FILE.exists() else []
    rows = {row["name"]: row for row in known}
    for module, name in classes(problems):
        if name in rows:
            continue
        try:
            problem = problems.problem(module, name)
            if np.size(problem.y0) > LARGEST:
                continue
            found = reference(problem)
        except Exception as error:  # which problems JAX itself refuses is reported
            print(f"{name}: {type(error).__name__}: {error!s:.100}", file=sys.stderr)
            continue
        finite = all(np.isfinite(part).all() for part in found.values())
        constant = not np.any(found["gradient"]) and not np.any(found["product"])
        if not finite or constant:
            print(
                f"{name}: {'constant' if constant else 'not finite'}", file=sys.stderr
            )
            continue
        rows[name] = {"module": module, "name": name, **found}
        print(len(rows), name, flush=True)
    lines = [json.dumps(rows[name]) for name in sorted(rows)]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
