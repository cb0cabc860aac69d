"""Every Python block of the documents runs; where a text block follows, it prints that."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n?```text\n(?P<printed>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=name_of
)
def test_blocks_run(page: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCK.finditer(page.read_text()):
        printed = io.StringIO()
        code = compile(block["code"], f"{page.name}: {block['code'][:40]}", "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if block["printed"] is not None:
            assert printed.getvalue().rstrip() == block["printed"].rstrip()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target


def test_readme_has_an_example() -> None:
    assert BLOCK.search((ROOT / "README.md").read_text())
