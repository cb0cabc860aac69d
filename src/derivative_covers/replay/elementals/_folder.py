"""Where generated files live: a folder in the user's cache directory.

``NUMBA_CACHE_DIR`` names another one, as it does for the compiler. Without a folder that
can be written to, everything is compiled in memory.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

__all__ = ["folder", "keep"]


def folder() -> Path:
    """The folder of generated files, which need not exist."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given) / "derivative_covers" / "replay"
    base: str | Path
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or ""
        if not os.path.isabs(base):  # the specification ignores relative ones
            base = Path.home() / ".cache"
    return Path(base) / "derivative_covers" / "replay"


def keep(name: str, text: str) -> Path | None:
    """Write a file into the folder unless it is there with this very text.

    Args:
        name: Name of the file, which says what is in it.
        text: Its content.

    Returns:
        The path; None where the folder cannot be written to.
    """
    content = text.encode()
    try:
        path = folder() / name
        with contextlib.suppress(OSError):
            if path.read_bytes() == content and os.access(path.parent, os.W_OK):
                return path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content)
            os.replace(temporary, path)  # at once: no process sees half of it
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return None
    return path
