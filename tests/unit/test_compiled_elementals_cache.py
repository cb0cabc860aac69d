"""Generated files of compiled elementals: found again, renewed, done without."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from derivative_covers.elementals import Elemental, Rule, by_name
from derivative_covers.replay.elementals import Functions, functions
from derivative_covers.replay.elementals import _folder as folders

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)
CALL = ctypes.CFUNCTYPE(ctypes.c_int64, *5 * (ctypes.c_void_p,), *4 * (ctypes.c_int64,))
ROOT = Path(__file__).parents[2]


def scaled(factor: float, name: str = "scaled") -> Elemental:
    """An elemental that no registry knows."""
    rule = Rule(lambda xp, x, v: (factor, 0.0))
    return Elemental(name, 1, lambda xp, x: factor * x, rule, "test")


def value(made: Functions | None, x: float) -> float:
    assert made is not None
    p = np.array([x, np.nan])
    where = CALL(made.address("value", "lanes"))
    assert where(p.ctypes.data, None, None, None, None, 1, 0, 0, 1) == 0
    return float(p[1])


def hits(made: Functions | None) -> int:
    assert made is not None
    return int(made._alive["value_lanes"].cache_hits)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "derivative_covers" / "replay"


def test_where_the_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = Path("derivative_covers") / "replay"
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folders.folder() == tmp_path / end
    for ignored in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert folders.folder() == Path.home() / ".cache" / end
    monkeypatch.setattr(sys, "platform", "darwin")
    assert folders.folder() == Path.home() / "Library" / "Caches" / end
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert folders.folder() == tmp_path / "local" / end
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert folders.folder() == tmp_path / "given" / end


def test_a_rule_is_compiled_once_and_an_edited_one_again(folder: Path) -> None:
    assert value(functions(scaled(2.0), 0), 1.5) == 3.0
    files = {path.name for path in folder.iterdir()}
    assert sum(name.endswith(".py") for name in files) == 1
    again = functions(scaled(2.0), 0)  # another rule of the same content
    assert value(again, 1.5) == 3.0
    assert hits(again) == 1
    assert {path.name for path in folder.iterdir()} == files
    edited = functions(scaled(4.0), 0)
    assert value(edited, 1.5) == 6.0
    assert hits(edited) == 0
    assert sum(path.suffix == ".py" for path in folder.iterdir()) == 2


def test_damaged_files_are_written_again(folder: Path) -> None:
    made = functions(scaled(8.0), 0)
    assert value(made, 1.5) == 12.0
    good = {path: path.read_bytes() for path in folder.iterdir()}
    assert {path.suffix for path in good} == {".py", ".nbi", ".nbc"}
    for damage in (b"", b"no pickle at all", None):
        for path, content in good.items():
            path.write_bytes(content[: len(content) // 2] if damage is None else damage)
        again = functions(scaled(8.0), 0)
        assert value(again, 1.5) == 12.0
        assert hits(again) == 0
        assert made is not None
        assert (folder / f"{made.name}.py").read_text() == made.text
        last = functions(scaled(8.0), 0)
        assert value(last, 1.5) == 12.0
        assert hits(last) == 1


def test_without_a_folder_all_is_compiled_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert value(functions(scaled(16.0), 0), 1.5) == 24.0
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_without_the_compiler_nothing_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert functions(by_name("multiply"), 1) is None


def test_threads_share_one_function(folder: Path) -> None:
    made = functions(scaled(32.0), 0)
    assert made is not None
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(made.address("value", "lanes")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


PROGRAM = """
from derivative_covers.elementals import by_name
from derivative_covers.replay.elementals import functions
made = functions(by_name("square"), 0)
for name in ("value", "adjoint"):
    made.address(name, "lanes")
print(sum(f.cache_hits for f in made._alive.values()))
"""


@pytest.mark.slow
def test_a_second_process_starts_warm(folder: Path) -> None:
    given: dict[str, Any] = {**os.environ, "NUMBA_CACHE_DIR": str(folder.parents[1])}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PROGRAM],
            env=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    together = [start(), start()]  # neither is in the other's way
    for process in together:
        out, errors = process.communicate()
        assert process.returncode == 0, errors
        assert int(out) in range(3)
    # This process is the one that starts warm; to it the rule is a new one.
    made = functions(replace(by_name("square")), 0)
    assert value(made, 3.0) == 9.0
    assert hits(made) == 1
    assert not list(folder.glob("*.tmp*"))


# Rules that cannot be compiled.


def made_of(partials: Any, value: Any = lambda xp, x: xp.exp(x)) -> Functions | None:
    return functions(Elemental("odd", 1, value, Rule(partials), "test"), 0)


def test_what_a_symbol_cannot_do_is_not_compiled() -> None:
    table = {1.0: 2.0}
    odd = [
        lambda xp, x, v: (v, v) if x > 0.0 else (v, -v),
        lambda xp, x, v: (float(v), v),
        lambda xp, x, v: (table.get(x, v), v),
        lambda xp, x, v: (xp.sort(v), v),
        lambda xp, x, v: (v, v.sum()),
        lambda xp, x, v: (v, list(x)),
        lambda xp, x, v: (v, xp.floor(x).astype(int) * v),
        lambda xp, x, v: (v, v, v),
    ]
    assert [made_of(partials) for partials in odd] == [None] * len(odd)


def test_a_rule_that_tells_symbols_from_arrays_is_not_compiled() -> None:
    def partials(xp: Any, x: Any, v: Any) -> Any:
        return (v, v) if isinstance(x, np.ndarray) else (v, 2.0 * v)

    assert made_of(partials) is None
    calls = [0]

    def counting(xp: Any, x: Any, v: Any) -> Any:
        calls[0] += 1
        return v * calls[0], v

    assert made_of(counting) is None


def test_rules_written_with_numpy_itself_are_compiled() -> None:
    made = made_of(
        lambda xp, x, v: (np.float64(2.0) * np.sin(x), np.where(x > 0, v, 1)),
        lambda xp, x: np.exp(x) + (x > 0) - x**3 / 3 + x**2 * abs(-x),
    )
    assert made is not None
    assert "sin(X)" in made.text


def test_a_value_that_is_a_truth_is_a_number(folder: Path) -> None:
    step = Elemental(
        "step", 1, lambda xp, x: x > 1.0, Rule(lambda xp, x, v: (0.0, 0.0)), ""
    )
    assert value(functions(step, 0), 2.0) == 1.0
    assert value(functions(step, 0), 0.5) == 0.0
