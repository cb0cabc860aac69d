"""Every public name exists, is documented, and every function shows an example."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

MODULES = (
    "derivative_covers",
    "derivative_covers.bounds",
    "derivative_covers.checkpoint",
    "derivative_covers.extend",
    "derivative_covers.interop.jax",
    "derivative_covers.interop.scipy",
    "derivative_covers.matrix",
    "derivative_covers.parallel",
    "derivative_covers.plot",
    "derivative_covers.testing",
)
NAMES = [
    (module, name)
    for module in MODULES
    for name in importlib.import_module(module).__all__
]


@pytest.mark.parametrize("module", MODULES)
def test_names_are_listed_once(module: str) -> None:
    names = importlib.import_module(module).__all__
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_name_is_documented(module: str, name: str) -> None:
    thing = getattr(importlib.import_module(module), name)
    if name == "__version__":
        assert thing[0].isdigit()
    elif inspect.isroutine(thing):
        text = inspect.getdoc(thing) or ""
        assert "Example:" in text
        assert ">>>" in text
    elif inspect.isclass(thing):
        assert thing.__doc__
        assert not thing.__doc__.startswith(f"{name}(")  # what @dataclass would write


def test_every_module_has_a_page_of_the_reference() -> None:
    pages = Path(__file__).parents[2] / "docs" / "reference" / "api"
    shown = {
        line.split()[-1]
        for page in pages.glob("*.md")
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith(".. automodule:: ")
    }
    others = {"derivative_covers.errors", "derivative_covers.numpy"}
    assert shown == {*MODULES, *others}
