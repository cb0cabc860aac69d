"""What the tests of storages on disk share."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

import numpy as np

STATE = {"u": np.arange(3.0), 1: (np.array(2, np.float32), np.array([True, False]))}
HEADER = {"kind": "gradient", "steps": 3}


def names(storage):
    return sorted(os.listdir(storage.folder))


def file_of(storage, key):
    [name] = [n for n in names(storage) if n.startswith(f"state-{key}-")]
    return Path(storage.folder, name)


def same(found, state):
    if isinstance(state, np.ndarray):
        return (
            found.dtype == state.dtype
            and found.shape == state.shape
            and found.tobytes() == state.tobytes()
        )
    if isinstance(state, dict):
        return list(found) == list(state) and all(
            same(found[k], state[k]) for k in state
        )
    return type(found) is type(state) and all(map(same, found, state))


def begun(disk):
    """A sweep with two states and a record."""
    disk.begin(HEADER)
    disk.put(0, STATE)
    disk.put(5, np.arange(4, dtype=np.float16))
    disk.commit(2, {"saves": 2}, {"v": np.ones(2), "w": None}, np.zeros(1))
    return disk


def digest(data):
    return blake2b(data, digest_size=32).digest()
