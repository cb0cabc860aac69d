"""Compiled and uncompiled sweeps give the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import derivative_covers as dc
from tests.laws._bits import NAMES, all_bits

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_sweeps_give_the_same_bits_compiled_and_uncompiled() -> None:
    source = str(Path(dc.__file__).parents[1])
    path = os.pathsep.join(p for p in (source, os.environ.get("PYTHONPATH")) if p)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    run = subprocess.run(
        [sys.executable, "-m", "tests.laws._bits"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    uncompiled, compiled = json.loads(run.stdout), all_bits()
    assert len(compiled) > len(NAMES)
    different = [
        f"{program}: {sweep}"
        for program, sweeps in compiled.items()
        for sweep, bits in sweeps.items()
        if uncompiled[program][sweep] != bits
    ]
    assert not different
