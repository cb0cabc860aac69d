"""Every name of the extension interface is there, documented, tested and checked.

An operation that fills its first argument drops the exclamation mark where the plain
name is free, and ends in ``_into`` where it is not.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import derivative_covers as dc
from derivative_covers import extend, testing

TESTS = Path(__file__).parents[1]

# What is checked for whom: the conformance check of each extension point.
ELEMENTAL, CURVATURE, BACKEND = "check_elemental", "check_curvature", "check_backend"
NAMES = {
    # splits and their scales
    "split_block": CURVATURE,
    "split_ratio": CURVATURE,
    "guards_any_block": None,
    "sensitivity_scales": None,
    "split_scales": None,
    "SplitScale": CURVATURE,
    "dead_slot": CURVATURE,
    "forward_scale": BACKEND,
    "value_bounds_split": CURVATURE,
    "declared_scale": CURVATURE,
    "DeferredScale": None,
    "ForwardScale": BACKEND,
    "balanced_split": CURVATURE,
    "local_cover_slots": None,
    # variables and recording
    "Tape": BACKEND,
    "TVar": BACKEND,
    "tape_function": None,
    "FVar": BACKEND,
    "ForwardContext": BACKEND,
    "ForwardChannels": BACKEND,
    "forward_cover": BACKEND,
    "CoverVar": BACKEND,
    "value": BACKEND,
    "isconstant": BACKEND,
    "constantvar": BACKEND,
    "nnodes": None,
    "natoms": None,
    "noderef": BACKEND,
    "pushnode": None,
    "unarynode": BACKEND,
    "binarynode": BACKEND,
    "dotnode": BACKEND,
    "linearnode": BACKEND,
    "constantnode": None,
    # forms of curvature
    "atom_slots": CURVATURE,
    "check_finite_partials": CURVATURE,
    "check_values": None,
    "Curvature": CURVATURE,
    "NoCurvature": CURVATURE,
    "UnaryCurvature": CURVATURE,
    "BinaryCurvature": CURVATURE,
    "DenseCurvature": CURVATURE,
    "PairedCurvature": CURVATURE,
    "DeclaredCurvature": CURVATURE,
    "cover_slots": CURVATURE,
    "cover_slots_into": CURVATURE,
    "bound_contribution": CURVATURE,
    "curvature_apply": CURVATURE,
    "has_exact_partials": CURVATURE,
    "CoverSite": CURVATURE,
    "TapeSite": None,
    "site_label": None,
    "site_values": None,
    # sub-maps and composition
    "submap": None,
    "declare_submap": None,
    "submapnode": None,
    "compose_jacobian_cover": None,
    "compose_hessian_cover": None,
    "local_covers": None,
    "cover_hessian": None,
    "cover_hybrid": None,
    "cover_nls": None,
    "gramcover": None,
    "abs_forward": None,
    "hessian_bound": None,
    "hvp": None,
    # element types
    "magnitude": None,
    "magtype": None,
    "boundtype": None,
    "Upward": None,
    "decided_sign": None,
    "decided_one": None,
    "decided_zero": None,
    "separation": None,
    # elementals, the table that replaces hand-written overloads
    "Elemental": ELEMENTAL,
    "Rule": ELEMENTAL,
    "elemental": ELEMENTAL,
    "register": ELEMENTAL,
}
CHECKED = [(name, check) for name, check in NAMES.items() if check]
SOURCES = {
    path: path.read_text()
    for path in sorted(TESTS.rglob("test_*.py"))
    if path != Path(__file__)
}


def thing_of(name):
    """A name from ``extend``; what users call may live in the root alone."""
    return getattr(extend, name, None) or getattr(dc, name)


@pytest.mark.parametrize("name", NAMES)
def test_name_is_there_and_documented(name):
    home = extend if hasattr(extend, name) else dc
    assert name in home.__all__
    text = inspect.getdoc(thing_of(name)) or ""
    assert len(text) > 20
    assert not text.startswith(f"{name}(")  # what @dataclass would write


@pytest.mark.parametrize("name", NAMES)
def test_some_test_uses_the_name(name):
    word = re.compile(rf"\b{name}\b")
    assert any(word.search(text) for text in SOURCES.values())


@pytest.mark.parametrize(("name", "check"), CHECKED)
def test_its_conformance_check_exists_and_is_tested(name, check):
    assert check in testing.__all__
    assert callable(getattr(testing, check))
    used = [path for path, text in SOURCES.items() if f"{check}(" in text]
    assert any("thirdparty" in path.parts for path in used)


@pytest.mark.parametrize("check", [n for n in testing.__all__ if n.startswith("check")])
def test_checks_are_documented_with_an_example(check):
    text = inspect.getdoc(getattr(testing, check))
    for part in ("Args:", "Raises:", "Example:", ">>>"):
        assert part in text
