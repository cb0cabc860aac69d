"""The page of supported functions says what the tables say."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from derivative_covers.tape._hints import HINTS, public_name
from derivative_covers.tape._protocol import FUNCTIONS

ROOT = Path(__file__).parents[2]


def generator() -> Any:
    spec = importlib.util.spec_from_file_location(
        "generate_numpy_support", ROOT / "docs" / "generate_numpy_support.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(page: str) -> set[str]:
    return {line for line in page.splitlines() if line.startswith("| `np.")}


def known(row: str) -> bool:
    """Whether the function that a row of the page names is in this NumPy."""
    place: Any = np
    for part in row.split("`")[1].removeprefix("np.").split("."):
        place = getattr(place, part, None)
    return place is not None


def test_the_page_is_not_stale() -> None:
    made = generator()
    # A process of its own: other tests register elementals.
    program = (
        f"import runpy; print(runpy.run_path({made.__file__!r})['page'](), end='')"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    now, written = run.stdout, made.PAGE.read_text(encoding="utf-8")
    advice = "run python docs/generate_numpy_support.py"
    assert rows(now) <= rows(written), advice
    assert not [row for row in rows(written) - rows(now) if known(row)], advice
    if rows(now) == rows(written):  # an older NumPy lacks some
        assert now == written, advice


def test_every_rule_is_on_the_page() -> None:
    made = generator()
    written = made.PAGE.read_text(encoding="utf-8")
    for function in FUNCTIONS:
        assert f"`{made.shown(public_name(function))}`" in written


def test_hints_name_functions_without_a_rule() -> None:
    supported = {
        public_name(function) for function, rule in FUNCTIONS.items() if rule.__doc__
    }
    assert set(HINTS) & supported <= {"numpy.linalg.svd"}
