"""``derivative-covers doctor``: what is installed, and whether it works."""

from __future__ import annotations

import json
import os
import platform
import re
from dataclasses import asdict, dataclass
from importlib import metadata

import click
import numpy as np

from .. import __version__
from ..covers import cover_hessian, gradient
from ..errors import DerivativeError, extra
from ..sweeps import try_compiler
from ._progress import working

__all__ = ["doctor"]

FINE, FAILED = 0, 1
PACKAGE = "derivative-covers"
REQUIRED = ("numpy", "numba", "click")
# What developers need; users look for the others.
NOT_OFFERED = {"demo", "test", "check", "bench", "docs"}
REQUIREMENT = re.compile(r"""^([\w.-]+)[^;]*;.*\bextra\s*==\s*['"]([\w.-]+)['"]""")


@click.command(short_help="versions, cache folder, and a self-test")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def doctor(as_json: bool) -> int:
    """Show versions, the cache folder of compiled code, and a self-test.

    Exit status 1 where the self-test fails. What is not installed and optional is no
    failure: the table names the extra that brings it.
    """
    with working("compiling a self-test"):
        found = _examined()
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
    else:
        click.echo(_text(found))
    return FAILED if found.faults else FINE


@dataclass(frozen=True)
class _Findings:
    """What the doctor found.

    Attributes:
        versions: Of Python and of what is always needed.
        optional: Version (or None) and extra of every optional package.
        cores: Cores that this process may use.
        compiler: Whether the compiler is on.
        compile_seconds: What the self-test took.
        cache: Folder of compiled kernels, or None.
        cache_writable: Whether something can be written there.
        faults: What is wrong, a sentence each.
    """

    versions: dict[str, str]
    optional: dict[str, dict[str, str | None]]
    cores: int
    compiler: bool
    compile_seconds: float
    cache: str | None
    cache_writable: bool
    faults: list[str]


def _examined() -> _Findings:
    faults: list[str] = []
    versions = {
        PACKAGE: __version__,
        "Python": f"{platform.python_version()} ({platform.platform()})",
    }
    for name in REQUIRED:
        version = _version(name)
        versions[name] = version or "missing"
        if version is None:
            faults.append(f"{name} is missing; install it with pip install {name}")
    seconds, folder = 0.0, None
    try:
        right, seconds, folder = try_compiler()
        if not right:
            faults.append("compiled code gives another sum than Python")
    except Exception as error:  # whatever a broken compiler raises is a finding
        text = " ".join(str(error).split())
        faults.append(f"the compiler fails with {type(error).__name__}: {text:.200}")
    faults += _wrong_derivatives()
    return _Findings(
        versions=versions,
        optional={
            name: {"version": _version(name), "extra": extra}
            for name, extra in _offered().items()
        },
        cores=_cores(),
        compiler=os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"),
        compile_seconds=round(seconds, 3),
        cache=folder,
        cache_writable=folder is not None and _writable(folder),
        faults=faults,
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _offered() -> dict[str, str]:
    """Optional packages and the extra that brings each, from the package's metadata."""
    try:
        requirements = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:  # run from its sources
        return {}
    found: dict[str, str] = {}
    for requirement in requirements:
        match = REQUIREMENT.match(requirement)
        if match is None or match[2] in NOT_OFFERED:
            continue
        elsewhere = "platform" in requirement and _version(match[1]) is None
        if not elsewhere:  # some packages exist on some platforms alone
            found.setdefault(match[1], match[2])
    return found


def _cores() -> int:
    mine = getattr(os, "sched_getaffinity", None)  # where the system tells
    return len(mine(0)) if mine is not None else os.cpu_count() or 1


def _writable(folder: str) -> bool:
    """Whether a file can be written there, or the folder can be made."""
    while not os.path.isdir(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return os.access(folder, os.W_OK)


def _wrong_derivatives() -> list[str]:
    """Gradient and cover of x[0]**2 * x[1] at (3, 2), whose derivatives are known."""
    try:
        slope = gradient(lambda x: x[0] ** 2 * x[1], [3.0, 2.0])
        h = cover_hessian(lambda x: x[0] ** 2 * x[1], [3.0, 2.0]).h
    except DerivativeError as error:
        return [f"a gradient cannot be computed: {error}"]
    wrong = []
    if not np.allclose(slope, [12.0, 9.0], rtol=1e-14):
        wrong.append(f"a gradient is {slope} in place of [12. 9.]")
    if not (np.outer(h, h) >= np.array([[4.0, 6.0], [6.0, 0.0]]) * (1 - 1e-12)).all():
        wrong.append(f"{h} does not cover the Hessian [[4, 6], [6, 0]]")
    return wrong


def _text(found: _Findings) -> str:
    blocks = [_lines(list(found.versions.items()))]
    rows = []
    for name, facts in found.optional.items():
        missing = f"not installed; {extra(str(facts['extra']))}"
        rows.append((name, facts["version"] or missing))
    if rows:
        blocks.append(["optional:", *_lines(rows)])
    cache = found.cache or "none: compiled code is not kept between runs"
    if found.cache is not None and not found.cache_writable:
        cache += " (not writable)"
    compiler = f"works ({found.compile_seconds:.2g} s to load and compile)"
    if not found.compiler:
        compiler = "switched off by NUMBA_DISABLE_JIT"
    place = [("cache", cache), ("cores", str(found.cores)), ("compiler", compiler)]
    blocks.append(_lines(place[: 2 if found.faults else 3]))
    verdict = [f"FAULT: {fault}" for fault in found.faults]
    blocks.append(verdict or ["self-test: gradient, cover and compiler are right"])
    return "\n\n".join("\n".join(block) for block in blocks)


def _lines(rows: list[tuple[str, str]]) -> list[str]:
    """Names and values, a line each."""
    width = max(len(name) for name, _ in rows)
    return [f"{name.ljust(width)}  {value}" for name, value in rows]
