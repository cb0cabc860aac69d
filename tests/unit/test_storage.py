"""Storages in memory, the nests that storages keep, and the check of storages."""

from __future__ import annotations

import json
import sys
from collections import OrderedDict, namedtuple
from typing import NamedTuple

import numpy as np
import pytest

from derivative_covers import errors
from derivative_covers.checkpoint import Journal, MemoryStorage, Storage
from derivative_covers.checkpoint.states._nests import nbytes, put_together, take_apart
from derivative_covers.testing import ConformanceError, check_storage


class Here(NamedTuple):
    u: np.ndarray
    t: np.ndarray


def round_trip(nest):
    tree, arrays = take_apart(nest, 0)
    return put_together(json.loads(json.dumps(tree)), iter(arrays))


def test_memory_storage_conforms():
    check_storage(MemoryStorage)
    check_storage(lambda: MemoryStorage(capacity=10**6))
    assert isinstance(MemoryStorage(), Storage)
    assert not isinstance(MemoryStorage(), Journal)


def test_capacity_counts_the_bytes_of_arrays_and_a_replaced_state_frees_its_own():
    storage = MemoryStorage(capacity=100)
    assert storage.put(0, np.zeros(10)) == 80
    with pytest.raises(errors.StorageError, match=r"needs 24 bytes, and 80 .* of 100"):
        storage.put(1, np.zeros(3))
    assert (len(storage), storage.nbytes) == (1, 80)
    storage.put(0, np.zeros(12))
    assert storage.nbytes == 96
    with pytest.raises(errors.StorageError) as info:
        storage.put(0, np.zeros(13))
    assert info.value.key == 0
    assert storage.get(0).size == 12
    storage.drop(0)
    assert storage.put(5, (np.zeros(6), [np.zeros(6, np.float64)])) == 96
    assert repr(storage) == "<MemoryStorage: 1 states, 96 of 100 bytes>"
    assert MemoryStorage(capacity=0).put(0, np.zeros(0)) == 0


@pytest.mark.parametrize("capacity", [-1, 1.5, True, "1 GB"])
def test_a_wrong_capacity_is_refused(capacity):
    with pytest.raises(errors.OptionError, match="capacity is a number of bytes"):
        MemoryStorage(capacity)


@pytest.mark.parametrize("key", [-1, 1.0, True, "a", None, np.int64(3), [1]])
def test_a_key_is_an_int_of_at_least_0(key):
    storage = MemoryStorage()
    with pytest.raises(errors.StorageError, match="an int >= 0"):
        storage.put(key, np.zeros(1))
    if key is not True:
        with pytest.raises(errors.StorageError, match=r"no state .* lies"):
            storage.get(key)


def test_unknown_keys_are_named_beside_the_known_ones():
    storage = MemoryStorage()
    with pytest.raises(errors.StorageError, match="there are: none"):
        storage.drop(3)
    for key in range(25):
        storage.put(key, np.zeros(1))
    with pytest.raises(errors.StorageError, match=r"0, 1, .*, 19, \.\.\.") as info:
        storage.get(99)
    assert info.value.key == 99


@pytest.mark.parametrize(
    ("state", "what"),
    [
        (np.array([None]), "dtype object"),
        (np.array(["a"]), "dtype <U1"),
        (np.zeros(2, "f8,f8"), "dtype"),
        (np.zeros(2, "M8[s]"), "dtype"),
        (np.ma.zeros(2), r"numpy.asarray makes it one"),
        ({1.5: np.zeros(1)}, "key 1.5 of type float"),
        ({True: np.zeros(1)}, "key True of type bool"),
        ({np.int64(1): np.zeros(1)}, "of type int64"),
        (OrderedDict(a=np.zeros(1)), "OrderedDict"),
        ([{"a": {2.0}}], "set"),
        (b"bytes", "bytes"),
        (1j, "complex"),
    ],
)
def test_what_no_storage_keeps_is_named(state, what):
    storage = MemoryStorage()
    with pytest.raises(errors.StorageError, match=what) as info:
        storage.put(4, (np.zeros(1), state))
    assert info.value.key == 4
    assert len(storage) == storage.nbytes == 0


def test_constants_and_numpy_scalars_come_back_of_their_type():
    nest = [None, True, 0, -(2**80), "ü", -0.0, 1e-320, np.float32(0.1), np.uint8(255)]
    for found in (round_trip(nest), stored(nest)):
        assert found == nest
        assert list(map(type, found)) == list(map(type, nest))
        assert np.signbit(found[5])
    infinite = round_trip([float("inf"), float("nan")])
    assert infinite[0] == np.inf
    assert np.isnan(infinite[1])


def stored(nest):
    storage = MemoryStorage()
    storage.put(0, nest)
    return storage.get(0)


def test_bytes_of_a_nest():
    assert (
        nbytes({"a": np.zeros(3), 1: [np.float32(1.0), (np.zeros((2, 0)),)]}, 0) == 28
    )


def test_dict_keys_keep_their_type_and_order():
    found = round_trip({"1": 1, 1: 2, "a": 3, -5: 4})
    assert list(found.items()) == [("1", 1), (1, 2), ("a", 3), (-5, 4)]


def test_a_namedtuple_comes_back_as_its_class():
    local = namedtuple("local", ["a"])
    for state in (Here(np.ones(1), np.zeros(1)), local(np.ones(1))):
        for found in (round_trip(state), stored(state)):
            assert type(found) is type(state)


def test_a_namedtuple_of_an_unknown_class_comes_back_as_a_like_one():
    module = "no.such.module"
    assert module not in sys.modules
    tree = [
        "namedtuple",
        module,
        "Outer.State",
        ["u", "t"],
        [["array"], ["constant", 3]],
    ]
    found = put_together(tree, iter([np.ones(2)]))
    assert type(found).__name__ == "State"
    assert found._fields == ("u", "t")
    assert found.t == 3
    assert module not in sys.modules


@pytest.mark.parametrize(
    ("module", "name"), [("builtins", "eval"), ("os", "system"), ("enum", "Enum")]
)
def test_a_name_in_a_file_is_never_called(module, name):
    tree = ["namedtuple", module, name, ["a"], [["constant", 1]]]
    found = put_together(tree, iter([]))
    assert isinstance(found, tuple)
    assert found._fields == ("a",)


def test_a_namedtuple_whose_class_has_other_fields_now_is_a_like_one():
    tree = ["namedtuple", Here.__module__, "Here", ["t"], [["constant", 1]]]
    assert put_together(tree, iter([]))._fields == ("t",)


def test_a_nest_that_is_too_deep_is_an_error_and_not_a_crash():
    nest = []
    for _ in range(100_000):
        nest = [nest]
    with pytest.raises(errors.StorageError, match="too deeply"):
        take_apart(nest, 0)
    with pytest.raises(errors.StorageError, match="too deeply"):
        MemoryStorage().put(0, nest)
    while nest:  # taken down from the outside: Python would recurse
        nest = nest[0]


def test_a_storage_in_memory_can_be_used_again_after_close():
    storage = MemoryStorage()
    storage.put(0, np.ones(3))
    storage.close()
    storage.put(0, np.ones(2))
    assert storage.nbytes == 16


# The check of storages ---------------------------------------------------------------


class Casting(MemoryStorage):
    def get(self, key):
        found = super().get(key)
        return found.astype(np.float64) if isinstance(found, np.ndarray) else found


class Lending(MemoryStorage):
    """Keeps the caller's own arrays."""

    def put(self, key, state):
        size = super().put(key, state)
        self._states[key] = state, size
        return size


class Writable(MemoryStorage):
    def get(self, key):
        found = super().get(key)
        return found.copy() if isinstance(found, np.ndarray) else found


class Silent(MemoryStorage):
    def drop(self, key):
        if key in self._states:
            super().drop(key)


class Keyless(MemoryStorage):
    def get(self, key):
        try:
            return super().get(key)
        except errors.StorageError as fault:
            raise errors.StorageError(str(fault)) from fault


class KeyErrors(MemoryStorage):
    def get(self, key):
        return self._states[key][0]


class Miscounting(MemoryStorage):
    def put(self, key, state):
        return super().put(key, state) + 1


class Staying(MemoryStorage):
    def close(self):
        pass


class HalfWritten(MemoryStorage):
    def put(self, key, state):
        if key in self._states:
            self.drop(key)
        return super().put(key, state)


class Breaking(MemoryStorage):
    def put(self, key, state):
        if isinstance(state, dict):
            message = "no dicts here"
            raise TypeError(message)
        return super().put(key, state)


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (Casting, "float32 comes back otherwise"),
        (Lending, "an array that changes after put"),
        (Writable, "writable"),
        (Silent, "drop of a key never put gives None"),
        (Keyless, "has the key None"),
        (KeyErrors, "raises KeyError"),
        (Miscounting, "len and nbytes"),
        (Staying, "after close"),
        (HalfWritten, "refused changes what was there"),
        (Breaking, "putting a dict raises TypeError: no dicts here"),
    ],
)
def test_the_check_finds_what_is_wrong(kind, fault):
    with pytest.raises(ConformanceError) as info:
        check_storage(kind)
    assert any(fault in found for found in info.value.faults), info.value.faults


def test_the_check_refuses_what_is_no_storage():
    with pytest.raises(errors.InputTypeError, match="make gives a dict"):
        check_storage(dict)
