"""Sphinx builds the site from these pages and the docstrings: `make docs`."""

from __future__ import annotations

import re
from typing import Any

import derivative_covers

project = "derivative-covers"
author = "derivative-covers developers"
project_copyright = author
version = release = derivative_covers.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"derivative-covers {release}"

# Links of the pages are plain Markdown, so that they also work where the code is hosted.
myst_heading_anchors = 3

# Docstrings are in Google's style, with three sections of their own.
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Guarantee", "Cost", "Source"]
autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
}
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

# A reference that leads nowhere is an error, but for the types in signatures, most of
# which belong to other packages, for these packages' functions, and for attributes, which
# are described with their class.
nitpicky = True
nitpick_ignore_regex = [
    ("py:(class|obj|attr)", r".*"),
    ("py:.*", r"(numpy|scipy|matplotlib|concurrent)\..*"),
]


def _in_the_package(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Docstrings name things as a user of the package does, without their module."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or target.startswith("derivative_covers."):
        return None
    python = env.get_domain("py")
    for module in ("", "extend.", "checkpoint.", "bounds.", "errors."):
        found = python.resolve_xref(
            env,
            node["refdoc"],
            app.builder,
            "obj",
            f"derivative_covers.{module}{target}",
            node,
            content,
        )
        if found is not None:
            return found
    return None


def _name_files_of_the_repository(app: Any, page: str, source: list[str]) -> None:
    """A link out of `docs` works where the code is hosted; the site has its name alone."""
    out = r"\.\./" * (page.count("/") + 1)
    source[0] = re.sub(rf"\[([^\]]*)\]\({out}([^)]*)\)", r"\1 (`\2`)", source[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _name_files_of_the_repository)
    app.connect("missing-reference", _in_the_package)
