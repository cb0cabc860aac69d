"""What a user waits for: import, a first process, later ones, read-only installs."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from . import _children
from ._report import Row
from ._timing import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "startup"

TWO_VARIABLES = """
import numpy as np
import derivative_covers as dc
f = lambda x: 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2
cover = dc.cover_hessian(f, np.array([-1.2, 1.0]))
hessian = np.array([[1330.0, 480.0], [480.0, 200.0]])
assert np.all(np.outer(cover.h, cover.h) >= hessian * (1 - 1e-12))
"""

LOADED = """
import sys
import derivative_covers
print(*sorted({"numba", "scipy", "jax"} & set(sys.modules)))
"""


def _import_rows(repetitions: int) -> Iterator[Row]:
    env = _children.environment()
    programs = ("import numpy", "import derivative_covers")
    for program in programs:
        _children.seconds(program, env)
    rounds = [
        [_children.seconds(program, env) for program in programs]
        for _ in range(repetitions)
    ]
    extra = [ours[0] - numpy[0] for numpy, ours in rounds]
    processor = median(ours[1] - numpy[1] for numpy, ours in rounds)
    loaded = _children.output(LOADED, timeout=60).strip()
    yield Row(
        ITEM,
        "import derivative_covers beyond import numpy",
        median(extra),
        "s",
        target=0.1,
        note=f"quartiles {spread(extra)}, processor {processor:.3g}, numpy alone "
        f"{median(numpy[0] for numpy, _ in rounds):.3g}; "
        f"heavy modules loaded: {loaded or 'none'}",
    )


def _cache_rows(colds: int, warms: int) -> Iterator[Row]:
    cold, warm = [], []
    for k in range(colds):
        with tempfile.TemporaryDirectory() as cache:
            env = _children.environment(NUMBA_CACHE_DIR=cache, XDG_CACHE_HOME=cache)
            cold.append(_children.seconds(TWO_VARIABLES, env))
            if k == colds - 1:
                warm = [_children.seconds(TWO_VARIABLES, env) for _ in range(warms)]
    for what, times, target in (
        ("first process, empty cache, two variables", cold, 15.0),
        ("second process, two variables", warm, 1.5),
    ):
        elapsed, processor = zip(*times, strict=True)
        yield Row(
            ITEM,
            what,
            median(elapsed),
            "s",
            target=target,
            note=f"{len(times)} processes, {min(elapsed):.3g}..{max(elapsed):.3g}, "
            f"processor {median(processor):.3g}",
        )


def _read_only_rows() -> Iterator[Row]:
    prefix = _children.bound_by_modes()
    with tempfile.TemporaryDirectory() as folder:
        site, home = Path(folder, "site"), Path(folder, "home")
        home.mkdir()
        copy = site / _children.PACKAGE.name
        shutil.copytree(
            _children.PACKAGE,
            copy,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        directories = [site, copy, *(p for p in copy.rglob("*") if p.is_dir())]
        check = TWO_VARIABLES + f"assert dc.__file__.startswith({str(site)!r})\n"
        env = _children.environment(PYTHONPATH=str(site), HOME=str(home))
        for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
            env.pop(name, None)
        for path in directories:
            path.chmod(0o555)
        try:
            for what, mode in (("a home", 0o755), ("nothing writable", 0o555)):
                home.chmod(mode)
                name = f"failures, read-only install, {what}"
                if prefix is None:
                    yield Row(
                        ITEM, name, None, "", target=0, note="root ignores modes here"
                    )
                    continue
                done = _children.run(check, env=env, prefix=prefix)
                said = done.stderr.strip().splitlines()[-1:]
                yield Row(
                    ITEM,
                    name,
                    float(done.returncode != 0),
                    "",
                    target=0,
                    note=said[0] if said else "",
                )
        finally:
            for path in (*directories, home):
                path.chmod(0o755)


def rows(*, quick: bool) -> Iterator[Row]:
    """Times of whole processes, in seconds."""
    yield from _import_rows(7 if quick else 15)
    yield from _cache_rows(1 if quick else 3, 3 if quick else 7)
    yield from _read_only_rows()
