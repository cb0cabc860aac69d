"""Fresh interpreters: their time, their output, and rights that bind even root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import derivative_covers

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(derivative_covers.__file__).resolve().parent


def environment(**changes: str) -> dict[str, str]:
    """This process's environment with the measured package and `changes`.

    Byte code is kept, as it is for every installed package.
    """
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    paths = [str(PACKAGE.parent), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(p for p in paths if p),
        **changes,
    }


def run(
    code: str,
    *arguments: str,
    env: dict[str, str] | None = None,
    prefix: tuple[str, ...] = (),
    timeout: float = 60.0,
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter."""
    return subprocess.run(
        [*prefix, sys.executable, "-c", code, *arguments],
        env=environment() if env is None else env,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def output(code: str, *arguments: str, timeout: float) -> str:
    """What `code` printed; its last error line where it failed."""
    done = run(code, *arguments, timeout=timeout)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
    return done.stdout


def seconds(code: str, env: dict[str, str]) -> tuple[float, float]:
    """The time of one whole process, and the processor time in it."""
    before = os.times()
    start = time.perf_counter()
    done = run(code, env=env)
    elapsed = time.perf_counter() - start
    after = os.times()
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
    used = after.children_user - before.children_user
    return elapsed, used + after.children_system - before.children_system


def bound_by_modes() -> tuple[str, ...] | None:
    """A command prefix under which file modes hold; None where there is none."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        return None
    dropped = "-dac_override,-dac_read_search"
    return ("setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}")
