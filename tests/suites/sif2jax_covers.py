"""Covers in JAX on the objectives of sif2jax: `python -m tests.suites.sif2jax_covers`.

Every problem with at most 200 variables and a scalar objective, in double precision, near
its start (a little off kinks and zeros) and at the start itself: value and gradient must
be those of JAX, and the cover must dominate JAX's Hessian. What came out is written to
`sif2jax_covers.json`; the command ends with status 1 where something is wrong. It takes
an hour, and less for what the file has not as covered. Names on the command line: these
problems alone, and nothing is written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from derivative_covers.errors import DerivativeError
from derivative_covers.interop import jax as dcj
from tests._oracle import FAST
from tests.suites._sif2jax import Problems
from tests.suites.make_sif2jax_reference import LARGEST, classes, moved

FILE = Path(__file__).with_name("sif2jax_covers.json")
LONG = {  # loops written out, which XLA compiles for minutes: run if named alone
    "AIRPORT",
    "BA_L1LS",
    "BA_L1SPLS",
    "HS105",
    "HS25",
    "HS70",
    "MANCINO",
    "METHANL8LS",
    "VANDANMSLS",
}
RIGHT, DOMAIN, KINK, GUARDED = range(4)


def loaded() -> Problems:
    """The package's problems, without its imports."""
    return Problems(jnp, jax.vmap, jax.scipy.special)


def outcomes(problem: Any) -> Iterator[tuple[str, str]]:
    """What came out near the start, and at it: ("covered", "domain", ...; what is wrong).

    Raises:
        DerivativeError: If the program cannot be covered at all.
    """
    args = problem.args

    def f(y: Any) -> Any:
        return problem.objective(y, args)

    def derivatives(y: Any) -> Any:
        value, gradient = jax.value_and_grad(f)(y)
        return value, gradient, jax.hessian(f)(y)

    start = np.asarray(problem.y0, float)
    # The cover first: what it refuses needs no Hessian.
    ours = jax.jit(dcj.cover_hessian(f), compiler_options=FAST)
    found = [jax.device_get(ours(y)) for y in (moved(start), start)]
    theirs = jax.jit(derivatives, compiler_options=FAST)
    for y, result in zip((moved(start), start), found, strict=True):
        yield compared(result, *(np.asarray(part) for part in theirs(y)))


def compared(result: Any, value: Any, gradient: Any, hessian: Any) -> tuple[str, str]:
    """The result at one point beside JAX's derivatives there."""
    status, n = int(result.status), gradient.size
    finite = all(np.isfinite(part).all() for part in (value, gradient, hessian))
    if status == KINK:
        return "kink", ""
    if status == DOMAIN and not finite:
        return "domain", ""
    if status == DOMAIN or not finite:
        return "wrong", f"status {status} where JAX's derivatives are finite: {finite}"
    for name, found, wanted in (
        ("value", result.value, value),
        ("gradient", result.gradient, gradient),
    ):
        floor = 1e-10 * np.abs(wanted).max()
        if not np.allclose(found, wanted, 1e-9, floor):
            error = np.abs(found - wanted).max()
            return (
                "wrong",
                f"{name} differs by {error:.3g} of {np.abs(wanted).max():.3g}",
            )
    h, size = np.ravel(result.h), np.abs(hessian).reshape(n, n)
    lack = size - np.outer(h, h) * (1 + 1e-9) - 1e-12 * size.max()
    if not (h >= 0).all() or not (lack <= 0).all():
        return "wrong", f"the cover lacks {np.nanmax(lack):.3g} of {size.max():.3g}"
    return "covered", ""


def candidates(
    problems: Problems, chosen: set[str], done: set[str]
) -> Iterator[tuple[str, Any]]:
    """Problems that are small enough and state a scalar objective."""
    for module, name in dict.fromkeys(classes(problems)):
        if (
            name in done
            or (name in LONG and not chosen)
            or (chosen and name not in chosen)
        ):
            continue
        try:
            problem = problems.problem(module, name)
            if not 0 < np.size(problem.y0) <= LARGEST:
                continue
            args, y0 = problem.args, jnp.asarray(problem.y0, float)
            shape = jax.eval_shape(lambda y, p=problem, a=args: p.objective(y, a), y0)
        except Exception as error:  # which problems JAX itself refuses is reported
            _say(name, f"JAX: {type(error).__name__}: {error!s:.80}")
            continue
        if shape.shape == ():
            yield name, problem


def empty() -> dict[str, Any]:
    """Kinds of outcomes."""
    return {"covered": [], "refused": {}, "outside": {}, "at the start": {}}


def main(arguments: list[str]) -> int:
    """Run what the file does not have as covered, or what is named."""
    jax.config.update("jax_enable_x64", True)
    known = json.loads(FILE.read_text()) if FILE.exists() else empty()
    found = empty() if arguments else {**known, "refused": {}, "outside": {}}
    wrong = 0
    for name, problem in candidates(loaded(), set(arguments), set(found["covered"])):
        try:
            near, start = outcomes(problem)
        except DerivativeError as error:
            found["refused"][name] = " ".join(str(error).split())[:100]
            _say(name, f"refused: {error!s:.160}")
            continue
        except Exception as error:  # a fault of the package: the others go on
            wrong += 1
            _say(name, f"WRONG {type(error).__name__}: {error!s:.300}")
            continue
        for where, (kind, said) in (("near", near), ("at", start)):
            if kind == "wrong":
                wrong += 1
                _say(name, f"WRONG {where} the start: {said}")
        if near[0] == "covered":
            found["covered"].append(name)
        elif near[0] != "wrong":
            found["outside"][name] = near[0]
        if start[0] not in ("covered", "wrong"):
            found["at the start"][name] = start[0]
        _say(name, f"{near[0]}; at the start {start[0]}")
        if not arguments:
            write(found)
    counts = {kind: len(part) for kind, part in found.items()}
    _say("all", f"{counts}, {wrong} wrong")
    if not arguments:
        write(found)
    return int(wrong > 0)


def write(found: dict[str, Any]) -> None:
    """The file, a kind a line."""
    lines = [f"{json.dumps(kind)}: {json.dumps(v)}" for kind, v in found.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _say(name: str, text: str) -> None:
    sys.stderr.write(f"{name}: {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
