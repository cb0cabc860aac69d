"""Files of a storage on disk that are not as they were written."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path

import pytest

from derivative_covers import errors
from derivative_covers.checkpoint import DiskStorage
from derivative_covers.checkpoint.storage import _files as files
from derivative_covers.checkpoint.storage._disk import load
from tests._disk_files import STATE, begun, digest, file_of, names


@pytest.fixture
def disk(tmp_path):
    storage = DiskStorage(tmp_path / "sweep", journal_seconds=0)
    yield storage
    storage.close()


def flips(data):
    for at in range(len(data)):
        yield data[:at] + bytes([data[at] ^ (1 << (at % 8))]) + data[at + 1 :]


def test_a_flipped_byte_anywhere_in_a_state_is_detected(disk):
    begun(disk)
    for key in (0, 5):
        path = file_of(disk, key)
        data = path.read_bytes()
        for bad in flips(data):
            path.write_bytes(bad)
            with pytest.raises(errors.StorageError) as info:
                disk.get(key)
            assert info.value.key == key
        path.write_bytes(data)
        disk.get(key)


def test_a_flipped_byte_in_any_file_is_detected_before_a_sweep_goes_on(disk):
    begun(disk).close()
    keys = {name: 0 if name.startswith("state-0") else 5 for name in names(disk)}
    keys["journal"] = "journal"
    for name, key in keys.items():
        path = Path(disk.folder, name)
        data = path.read_bytes()
        for bad in flips(data):
            path.write_bytes(bad)
            with pytest.raises(errors.StorageError) as info:
                load(disk.folder)
            assert info.value.key == key
        path.write_bytes(data)
    saved = load(disk.folder)
    assert saved.counts == {"saves": 2}
    saved.storage.end()


@pytest.mark.parametrize("name", ["state-0", "state-5", "journal"])
def test_a_truncated_or_longer_file_is_detected(disk, name):
    begun(disk).close()
    [path] = Path(disk.folder).glob(f"{name}*")
    data = path.read_bytes()
    for bad in [*(data[:size] for size in range(len(data))), data + b"\0", data + data]:
        path.write_bytes(bad)
        with pytest.raises(errors.StorageError):
            load(disk.folder)


@pytest.mark.parametrize("name", ["state-5", "journal"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x" * 5000,
        pickle.dumps(STATE),
        b"\x93NUMPY" + bytes(500),
        struct.pack("<8sIQ", b"DCSTATE\n", 1, 2**63) + bytes(500),
        struct.pack("<8sIQ", b"DCSTATE\n", 1, 2**64 - 1) + bytes(500),
    ],
)
def test_a_foreign_file_in_the_place_of_one(disk, name, content):
    begun(disk).close()
    [path] = Path(disk.folder).glob(f"{name}*")
    path.write_bytes(content)
    with pytest.raises(errors.StorageError, match="cannot be used") as info:
        load(disk.folder)
    assert info.value.key == ("journal" if name == "journal" else 5)


def sealed(header, raw=b"", version=1):
    """A file with right digests, whatever stands in it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    head = struct.pack("<8sIQ", b"DCSTATE\n", version, len(text)) + text
    data = head + digest(head) + raw
    return data + digest(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (sealed({"meta": {}, "nest": ["array"], "arrays": []}, version=2), "version 2"),
        (sealed(b"{"), "header"),
        (sealed(b"\xff"), "header"),
        (sealed(b"[" * 100_000), "header"),
        (sealed([]), "header"),
        (sealed({"meta": []}), "header"),
        (sealed({"meta": {}, "nest": ["array"]}), "described wrongly"),
        (sealed({"meta": {}, "nest": ["array"], "arrays": [["O", [1]]]}), "no dtype"),
        (sealed({"meta": {}, "nest": ["array"], "arrays": [["<f3", [1]]]}), "wrongly"),
        (sealed({"meta": {}, "nest": ["array"], "arrays": [["<f8", 1]]}), "wrongly"),
        (
            sealed({"meta": {}, "nest": ["array"], "arrays": [["<f8", [-1]]]}),
            "bytes of",
        ),
        (
            sealed({"meta": {}, "nest": ["array"], "arrays": [["<f8", ["a"]]]}),
            "wrongly",
        ),
        (sealed({"meta": {}, "nest": ["array"], "arrays": [["<f8", [2**70]]]}), "not"),
        (sealed({"meta": {}, "nest": ["array"], "arrays": []}), "no nest"),
        (sealed({"meta": {}, "nest": ["code", "1"], "arrays": []}), "unknown kind"),
        (sealed({"meta": {}, "nest": 3, "arrays": []}), "no nest"),
        (
            sealed({"meta": {}, "nest": ["dict", [[[], ["array"]]]], "arrays": []}),
            "nest",
        ),
    ],
)
def test_a_file_with_right_digests_and_a_wrong_content(tmp_path, data, why):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(errors.StorageError, match=why):
        files.read(str(path), 3)


def test_files_that_changed_places(disk):
    begun(disk)
    one, two = file_of(disk, 0), file_of(disk, 5)
    data = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(data)
    with pytest.raises(errors.StorageError, match="another file of a sweep") as info:
        disk.get(0)
    assert info.value.key == 0
    disk.close()
    with pytest.raises(errors.StorageError, match="another file of a sweep"):
        load(disk.folder)


def test_a_file_of_another_sweep(disk, tmp_path):
    begun(disk)
    other = begun(DiskStorage(tmp_path / "other"))
    file_of(disk, 0).write_bytes(file_of(other, 0).read_bytes())
    with pytest.raises(errors.StorageError, match="another file of a sweep"):
        disk.get(0)
    Path(disk.folder, "journal").write_bytes(file_of(other, 0).read_bytes())
    disk.close()
    with pytest.raises(errors.StorageError, match="no journal"):
        load(disk.folder)
    Path(disk.folder, "journal").write_bytes(Path(other.folder, "journal").read_bytes())
    with pytest.raises(errors.StorageError, match="it is missing"):
        load(disk.folder)
    other.close()


@pytest.mark.parametrize("key", [0, 5])
def test_a_missing_file(disk, key):
    begun(disk)
    file_of(disk, key).unlink()
    with pytest.raises(errors.StorageError, match="it is missing") as info:
        disk.get(key)
    assert info.value.key == key
    disk.close()
    with pytest.raises(errors.StorageError, match="it is missing") as info:
        load(disk.folder)
    assert info.value.key == key


def test_a_folder_in_the_place_of_a_file(disk):
    begun(disk)
    path = file_of(disk, 0)
    path.unlink()
    path.mkdir()
    with pytest.raises(errors.StorageError, match="cannot be read"):
        disk.get(0)
    with pytest.raises(errors.StorageError, match="cannot be removed"):
        disk.end()
