"""Storages on disk: their files, and disks that fail."""

from __future__ import annotations

import errno
import json
import math
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

from derivative_covers import errors
from derivative_covers.checkpoint import DiskStorage, Journal
from derivative_covers.checkpoint.storage._disk import load
from derivative_covers.testing import check_storage
from tests._disk_files import HEADER, STATE, digest, file_of, names, same


@pytest.fixture
def disk(tmp_path):
    storage = DiskStorage(tmp_path / "sweep", journal_seconds=0)
    yield storage
    storage.close()


def test_it_conforms(tmp_path):
    check_storage(lambda: DiskStorage(tmp_path))
    check_storage(lambda: DiskStorage(str(tmp_path / "a" / "b"), capacity=10**6))
    assert os.listdir(tmp_path) == ["a"]
    assert os.listdir(tmp_path / "a" / "b") == []


def test_it_is_a_storage_with_a_journal(disk):
    assert isinstance(disk, Journal)


def test_the_file_is_as_documented(disk):
    """Read with nothing but struct, json, hashlib and the table of the module."""
    size = disk.put(7, STATE)
    data = file_of(disk, 7).read_bytes()
    assert size == disk.nbytes == len(data)
    magic, version, length = struct.unpack_from("<8sIQ", data)
    assert (magic, version) == (b"DCSTATE\n", 1)
    header = json.loads(data[20 : 20 + length])
    assert data[20 + length : 52 + length] == digest(data[: 20 + length])
    assert header["arrays"] == [["<f8", [3]], ["<f4", []], ["|b1", [2]]]
    assert header["meta"]["key"] == 7
    raw = data[52 + length : -32]
    assert raw == struct.pack("<dddf??", 0.0, 1.0, 2.0, 2.0, True, False)
    assert data[-32:] == digest(data[:-32])


def test_arrays_larger_than_a_chunk(disk):
    state = [np.arange(400_001.0), np.arange(7.0)]
    disk.begin(HEADER)
    disk.put(0, state)
    disk.commit(1, {}, None)
    disk.close()
    found = load(disk.folder).storage
    assert same(found.get(0), state)
    found.close()


def test_what_is_got_is_new_memory_and_aligned(disk):
    disk.put(0, [np.array(1, np.uint8), np.arange(5.0)])
    one, two = disk.get(0)[1], disk.get(0)[1]
    assert not np.shares_memory(one, two)
    assert one.flags.aligned
    assert one.base is None


def test_a_relative_folder_counts_from_the_directory_of_its_making(
    tmp_path, monkeypatch
):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    storage = DiskStorage("sweep")
    monkeypatch.chdir(tmp_path / "elsewhere")
    storage.put(0, np.ones(1))
    assert storage.folder == str(tmp_path / "sweep")
    assert storage.get(0)[0] == 1
    storage.close()
    assert os.listdir(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("folder", [None, 3, b"\0", "", "a\0b", ["x"]])
def test_a_folder_is_a_path(folder):
    with pytest.raises(errors.OptionError, match="folder is the path of a folder"):
        DiskStorage(folder)


@pytest.mark.parametrize("seconds", [-1, math.nan, "5", True, None])
def test_journal_seconds_is_a_number(tmp_path, seconds):
    with pytest.raises(errors.OptionError, match="journal_seconds is a number"):
        DiskStorage(tmp_path, journal_seconds=seconds)


def test_a_folder_that_is_a_file(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(errors.StorageError, match="it is a file"):
        DiskStorage(file)
    below = DiskStorage(file / "sweep")
    with pytest.raises(errors.StorageError, match="cannot be used") as info:
        below.put(0, np.ones(1))
    assert info.value.key == below.folder
    assert file.read_text() == "mine"


def test_a_folder_without_permission(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    storage = DiskStorage(tmp_path / "sweep")
    with monkeypatch.context() as patch:
        patch.setattr(os, "makedirs", refuse)
        with pytest.raises(errors.StorageError, match="Permission denied"):
            storage.put(0, np.ones(1))
    storage.put(0, np.ones(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(errors.StorageError, match=r"state 1 .*Permission") as info:
            storage.put(1, np.ones(1))
    assert info.value.key == 1
    assert len(storage) == 1
    storage.close()


def test_capacity(tmp_path):
    storage = DiskStorage(tmp_path)
    size = storage.put(0, np.ones(10))
    storage.close()
    storage = DiskStorage(tmp_path, capacity=2 * size)
    storage.put(0, np.ones(10))
    storage.put(1, np.ones(10))
    before = names(storage)
    with pytest.raises(errors.StorageError, match=r"needs .* capacity of") as info:
        storage.put(2, np.ones(10))
    assert info.value.key == 2
    assert names(storage) == before
    storage.put(1, np.zeros(10))
    storage.drop(0)
    storage.put(2, np.ones(10))
    assert (len(storage), storage.nbytes) == (2, 2 * size)
    storage.close()
    assert names(storage) == []


# Disks that fail ---------------------------------------------------------------------


def test_short_writes_are_gone_on_with(disk, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:7]))
    disk.put(0, STATE)
    assert same(disk.get(0), STATE)


@pytest.mark.parametrize("call", ["write", "replace", "open"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EDQUOT])
def test_a_full_disk_leaves_nothing_of_the_state(disk, monkeypatch, call, code):
    disk.put(0, STATE)
    before = names(disk)

    def fail(*args):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        for key in (1, 0):
            with pytest.raises(errors.StorageError, match=os.strerror(code)) as info:
                disk.put(key, np.zeros(100))
            assert info.value.key == key
    assert names(disk) == before
    assert same(disk.get(0), STATE)
    disk.put(1, np.zeros(100))
    assert len(disk) == 2


def test_a_disk_that_takes_no_more_bytes(disk, monkeypatch):
    monkeypatch.setattr(os, "write", lambda handle, data: 0)
    with pytest.raises(errors.StorageError, match="no byte was written"):
        disk.put(0, STATE)
    assert names(disk) == []


def test_an_interrupt_while_writing_leaves_nothing(disk, monkeypatch):
    def interrupt(handle, data):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            disk.put(0, STATE)
    assert names(disk) == []


@pytest.mark.parametrize("call", ["write", "replace", "fsync"])
def test_a_record_that_fails_leaves_the_one_before(disk, monkeypatch, call):
    disk.begin(HEADER)
    disk.put(0, STATE)
    disk.commit(1, {}, np.ones(1))
    disk.drop(0)
    disk.put(1, np.ones(2))

    def fail(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(errors.StorageError, match="No space left") as info:
            disk.commit(2, {}, np.zeros(1))
    assert info.value.key == (1 if call == "fsync" else "journal")
    disk.close()
    saved = load(disk.folder)
    assert saved.position == 1
    assert same(saved.storage.get(0), STATE)
    saved.storage.end()
    assert names(disk) == []


FULL = """
import resource, sys, numpy as np
from derivative_covers import errors
from derivative_covers.checkpoint import DiskStorage
storage = DiskStorage(sys.argv[1])
storage.put(0, np.ones(100))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    storage.put(1, np.ones(10_000))
except errors.StorageError as fault:
    assert fault.key == 1, fault.key
    assert "File too large" in str(fault), fault
else:
    raise SystemExit("nothing was raised")
storage.put(2, np.zeros(100))
assert len(storage) == 2 and (storage.get(0) == 1).all()
import os
assert len(os.listdir(sys.argv[1])) == 2
storage.close()
"""


def test_a_limit_of_the_system(tmp_path):
    subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], check=True, timeout=60)
    assert os.listdir(tmp_path) == []


FORKS = """
import os, sys
from derivative_covers.checkpoint.storage._folder import Folder

folder = Folder(sys.argv[1], make=True)
ready, told = os.pipe()
held, end = os.pipe()
if not os.fork():
    os.close(end)
    os.write(told, b"1")
    os.read(held, 1)  # as long as the parent lives
    os._exit(0)
os.read(ready, 1)
try:
    Folder(sys.argv[1], make=True)
except Exception as error:
    print("using it" in str(error))
folder.close()
Folder(sys.argv[1], make=True)
print("free")
"""


@pytest.mark.skipif(
    not hasattr(os, "fork"),
    reason="children inherit locks only where processes fork, so not on Windows",
)
def test_a_forked_child_does_not_hold_the_folder(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", FORKS, str(tmp_path / "states")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout.split() == ["True", "free"]
