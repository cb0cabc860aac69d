"""A storage of somebody else's: states as bytes in a dict, as a key-value store has them."""

from __future__ import annotations

import io

import numpy as np
import pytest

from derivative_covers import checkpoint as cp
from derivative_covers.errors import StorageError
from derivative_covers.testing import ConformanceError, check_storage


class KeyValueStorage:
    """Every array in NumPy's own format, beside a tree of the containers."""

    def __init__(self, limit=None):
        self.limit = limit
        self.table = {}

    @property
    def nbytes(self):
        return sum(sum(map(len, blobs)) for _, blobs in self.table.values())

    def __len__(self):
        return len(self.table)

    def put(self, key, state):
        blobs = []
        tree = self.packed(state, blobs, key)
        size = sum(map(len, blobs))
        if self.limit is not None and len(self.table) >= self.limit:
            raise StorageError(f"{self.limit} states are all that fit", key)  # noqa: EM102
        self.table[key] = tree, blobs
        return size

    def packed(self, part, blobs, key):
        kind = type(part)
        if kind is np.ndarray and part.dtype != object:
            buffer = io.BytesIO()
            np.save(buffer, part, allow_pickle=False)
            blobs.append(buffer.getvalue())
            return None
        if kind is dict:
            if not all(type(name) in (str, int) for name in part):
                raise StorageError("keys are str or int", key)  # noqa: EM101
            inner = [(name, self.packed(p, blobs, key)) for name, p in part.items()]
            return dict, inner
        if kind is list or isinstance(part, tuple):
            return kind, [self.packed(p, blobs, key) for p in part]
        raise StorageError(f"{kind.__name__} is no part of a state", key)  # noqa: EM102

    def get(self, key):
        tree, blobs = self.found(key)
        return self.unpacked(tree, iter(blobs))

    def unpacked(self, tree, blobs):
        if tree is None:
            array = np.load(io.BytesIO(next(blobs)), allow_pickle=False)
            array.flags.writeable = False
            return array
        kind, parts = tree
        if kind is dict:
            return {name: self.unpacked(part, blobs) for name, part in parts}
        made = [self.unpacked(part, blobs) for part in parts]
        return kind(*made) if hasattr(kind, "_fields") else kind(made)

    def drop(self, key):
        self.found(key)
        del self.table[key]

    def found(self, key):
        if key not in self.table:
            raise StorageError(f"no state {key}", key)  # noqa: EM102
        return self.table[key]

    def close(self):
        self.table.clear()


class Rounding(KeyValueStorage):
    """Loses bits, as a store that compresses would."""

    def get(self, key):
        found = super().get(key)
        if isinstance(found, np.ndarray) and found.dtype == float:
            found = found.astype(np.float32).astype(float)
            found.flags.writeable = False
        return found


def step(x, rate, k):
    return {"u": x["u"] + rate * np.sin(x["u"] * x["v"]), "v": x["v"] * (1 - rate)}


def end(x, rate, k):
    return (x["u"] ** 2).sum()


CHAIN = cp.Chain([cp.Chain.uniform(30, step), end])
POINT = {"u": np.linspace(0, 1, 6), "v": np.linspace(1, 2, 6)}


def sweep(schedule, storage=None):
    return cp.reverse_sweep(
        CHAIN, POINT, schedule=schedule, storage=storage, params=0.01
    )


def test_it_conforms():
    check_storage(KeyValueStorage)
    assert isinstance(KeyValueStorage(), cp.Storage)


def test_one_that_rounds_does_not():
    with pytest.raises(ConformanceError, match=r"\d\. float64 comes back otherwise"):
        check_storage(Rounding)


@pytest.mark.parametrize(
    "schedule",
    [cp.Revolve(slots=3), cp.UniformBlock(slots=4), cp.TwoLevel(memory=2, disk=3)],
    ids=repr,
)
def test_a_sweep_gives_the_same_bits(schedule):
    storage = KeyValueStorage()
    found, expected = sweep(schedule, storage), sweep(cp.StoreAll())
    assert found.value == expected.value
    assert found.params_cotangent == expected.params_cotangent
    for name in POINT:
        assert np.array_equal(found.cotangent[name], expected.cotangent[name])
    assert found.report.executed == schedule.plan(31).cost
    assert len(storage) == 0


def test_its_error_ends_the_sweep_and_nothing_is_left():
    storage = KeyValueStorage(limit=2)
    with pytest.raises(StorageError, match="all that fit") as info:
        sweep(cp.Revolve(slots=3), storage)
    assert type(info.value.key) is int
    assert len(storage) == 0
