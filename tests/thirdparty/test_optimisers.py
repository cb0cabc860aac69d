"""The recipes of the page on other optimisers, where their packages are installed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

PAGES = Path(__file__).parents[2] / "docs/how-to"
BLOCK = re.compile(
    r"^## (?P<title>[^\n]*)\n(?:(?!^## ).)*?^```py\n(?P<code>.*?)^```$", re.M | re.S
)


def recipes(page):
    found = BLOCK.finditer((PAGES / page).read_text())
    return {block["title"]: block["code"] for block in found}


RECIPES = recipes("other-optimisers.md")
IN_JAX = recipes("covers-in-jax.md")


def needing(title, *packages):
    return pytest.param(title, marks=pytest.mark.optional(*packages), id=title)


def test_every_recipe_is_run_here():
    assert list(RECIPES) == [
        "The scaled program",
        "optimagic",
        "iminuit",
        "NLopt",
        "CasADi and Ipopt",
        "optimistix",
    ]
    assert list(IN_JAX) == ["optax", "optimistix"]


@pytest.mark.parametrize(
    "title",
    [
        needing("optimagic", "optimagic"),
        needing("iminuit", "iminuit"),
        needing("NLopt", "nlopt"),
        needing("CasADi and Ipopt", "casadi"),
        needing("optimistix", "optimistix"),
    ],
)
@pytest.mark.filterwarnings("default")  # what the packages warn of is theirs
def test_recipe(title):
    known = {"__name__": "recipe"}
    exec(RECIPES["The scaled program"], known)
    exec(RECIPES[title], known)
    found = np.asarray(known["solution"])
    np.testing.assert_allclose(found, [1e6, 1e-3], rtol=0.1)
    assert known["f"](found) < 1e-2


@pytest.mark.parametrize(
    "title",
    [needing("optax", "jax", "optax"), needing("optimistix", "jax", "optimistix")],
)
@pytest.mark.filterwarnings("default")
def test_recipe_in_jax(title):
    known = {"__name__": "recipe"}
    exec(IN_JAX[title], known)
    np.testing.assert_allclose(known["solution"], [1e6, 1e-3], rtol=1e-6)
