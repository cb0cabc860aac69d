"""Laws that hold for a program of every matrix routine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc

ROOT = Path(__file__).parents[2]


def everything(x: Any) -> Any:
    """One program of every routine, for laws that hold for all of them."""
    low, spread = x[:3], np.linalg.norm(x, "nuc")
    gram = x.T @ x
    parts = [
        np.sum(np.sin(np.linalg.inv(low))),
        np.sum(np.linalg.solve(low, x[3]) ** 2),
        np.linalg.det(low),
        np.linalg.slogdet(gram)[1],
        np.sum(np.linalg.cholesky(gram) ** 3),
        np.sum(np.sin(np.linalg.lstsq(x, np.arange(5.0), rcond=None)[0])),
        np.sum(np.linalg.pinv(x) ** 2),
        np.linalg.eigvalsh(gram)[1],
        spread,
    ]
    return sum(parts[1:], parts[0])


POINT = np.random.default_rng(12).normal(size=(5, 3))


@pytest.mark.parametrize("merge", ["sum", "quadrature", 3])
def test_covers_follow_units_of_inputs_and_of_the_output_bit_for_bit(
    merge: Any,
) -> None:
    units = 2.0 ** np.random.default_rng(1).integers(-6, 7, size=POINT.shape)

    def cover(f: Any, x0: Any) -> Any:
        tape, out = dc.tape_function(f, x0)
        assert not dc.guards_any_block(tape)
        if merge == 3:
            return dc.cover_hybrid(tape, out, ngroups=3).h
        return dc.cover_hessian(tape, out, merge=merge).h

    h = cover(everything, POINT)
    np.testing.assert_array_equal(
        cover(lambda z: everything(units * z), POINT / units), units * h
    )
    np.testing.assert_array_equal(
        cover(lambda x: everything(x) * 4.0**5, POINT), 2.0**5 * h
    )
    np.testing.assert_array_equal(cover(lambda x: -everything(x), POINT), h)


SCRIPT = """
import json, sys
import derivative_covers.sweeps.kernels._jit
from tests.laws._bits import sweep_bits
from tests.laws.test_linalg_laws import POINT, everything
derivative_covers.sweeps.kernels._jit._patience = 0  # compile at once
json.dump([sweep_bits(everything, POINT), sweep_bits(everything, POINT.astype("f"))], sys.stdout)
"""


@pytest.mark.slow
def test_compiled_and_uncompiled_runs_give_the_same_bits() -> None:
    source = str(Path(dc.__file__).parents[1])
    found = []
    for disabled in ("0", "1"):
        environment = os.environ | {
            "NUMBA_DISABLE_JIT": disabled,
            "PYTHONPATH": os.pathsep.join([source, str(ROOT)]),
        }
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        found.append(run.stdout)
    assert found[0] == found[1]
    assert len(found[0]) > 1000
