"""The state of a search on disk, so that one that was killed can go on."""

from __future__ import annotations

import os

import numpy as np

from ...checkpoint.storage._files import pack, read, write
from ...errors import StorageError
from ._search import Boxes, Search

__all__ = ["load", "save"]

NAME = "minimize_box.state"
COUNTS = ("judged", "failures", "polished")


def save(search: Search, folder: str, mark: str) -> None:
    """Write the state under its name when it is complete.

    Args:
        search: What is saved.
        folder: It is made where there is none.
        mark: What tells this search from others.

    Raises:
        StorageError: If it cannot be written.
    """
    path = _path(folder)
    n = search.domain.shape[1]
    parts = np.reshape(np.array(search.parts, dtype=float), (-1, 2, n))
    nest = {
        "parts": parts,
        "point": search.point,
        "waiting": search.waiting.arrays(),
        "leaves": search.leaves.arrays(),
        "stuck": search.stuck.arrays(),
    }
    counts = {name: getattr(search, name) for name in COUNTS}
    meta = {"mark": mark, "upper": float(search.upper).hex(), **counts}
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        msg = f"the folder {folder!r} cannot be made: {error}."
        raise StorageError(msg, NAME) from error
    write(path, pack(nest, meta, NAME), NAME, synced=True)


def load(folder: str, begun: Search, mark: str) -> Search:
    """The state in a folder; the search that begins where there is none.

    Raises:
        StorageError: If the file is damaged, or holds the state of another search.
    """
    path = _path(folder)
    if not os.path.exists(path):
        return begun
    nest, meta, _ = read(path, NAME, writable=True)
    try:
        if meta["mark"] != mark:
            msg = (
                f"{path} holds the state of a search with another function, box or tol. "
                "Give a folder of its own to each search."
            )
            raise StorageError(msg, NAME)
        return Search(
            begun.domain,
            begun.tol,
            waiting=Boxes(*nest["waiting"]),
            leaves=Boxes(*nest["leaves"]),
            stuck=Boxes(*nest["stuck"]),
            parts=list(nest["parts"]),
            point=nest["point"],
            upper=float.fromhex(meta["upper"]),
            **{name: int(meta[name]) for name in COUNTS},
        )
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{path} holds no state of minimize_box. Give another folder."
        raise StorageError(msg, NAME) from error


def _path(folder: str) -> str:
    return os.path.join(folder, NAME)
