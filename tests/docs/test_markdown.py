"""Every Python block of the documents runs; where a text block follows, it prints that."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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
END_OF_BLOCK = "-- end of block --"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=name_of
)
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    """The blocks of a page are one program, run in a process of its own."""
    blocks = list(BLOCK.finditer(page.read_text()))
    program = tmp_path / "page.py"
    program.write_text(
        "\n".join(f"{block['code']}\nprint({END_OF_BLOCK!r})" for block in blocks)
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,  # for what a page writes
    )
    assert run.returncode == 0, run.stderr
    printed = run.stdout.split(f"{END_OF_BLOCK}\n")
    assert len(printed) == len(blocks) + 1
    for block, text in zip(blocks, printed, strict=False):
        if block["printed"] is not None:
            assert text.rstrip() == block["printed"].rstrip()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target


def test_readme_has_an_example() -> None:
    assert BLOCK.search((ROOT / "README.md").read_text())
