"""The wheel holds every module and data file of the package, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


def test_wheel_is_complete(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    packed = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "derivative_covers").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".nbi", ".nbc"}
    }
    assert packed == sources
    assert "derivative_covers/py.typed" in packed
