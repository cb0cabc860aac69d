"""The journal of a storage on disk, and its folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from derivative_covers import errors
from derivative_covers.checkpoint import DiskStorage, unfinished
from derivative_covers.checkpoint.storage import _files as files
from derivative_covers.checkpoint.storage._disk import load
from tests._disk_files import HEADER, STATE, begun, file_of, names, same


@pytest.fixture
def disk(tmp_path):
    storage = DiskStorage(tmp_path / "sweep", journal_seconds=0)
    yield storage
    storage.close()


def test_a_record_brings_everything_back(disk):
    begun(disk)
    disk.close()
    disk.close()
    assert len(disk) == 0
    saved = load(disk.folder)
    assert saved.header == HEADER
    assert (saved.position, saved.counts) == (2, {"saves": 2})
    assert same(saved.buffers["v"], np.ones(2))
    assert saved.buffers["w"] is None
    assert same(saved.live, np.zeros(1))
    assert saved.buffers["v"].flags.writeable
    assert not saved.live.flags.writeable
    storage = saved.storage
    assert len(storage) == 2
    assert same(storage.get(0), STATE)
    assert storage.get(5).dtype == np.float16
    assert storage.journal_seconds == 0
    storage.put(7, np.ones(1))
    storage.drop(0)
    storage.commit(3, {}, None)
    assert [n.split("-")[1] for n in names(disk) if n != "journal"] == ["5", "7"]
    storage.drop(5)
    storage.drop(7)
    storage.commit(4, {}, np.ones(1))
    assert names(disk) == ["journal"]
    storage.end()
    assert names(disk) == []
    with pytest.raises(errors.StorageError, match="no unfinished sweep lies there"):
        load(disk.folder)


def test_a_dropped_state_stays_until_the_next_record(disk):
    begun(disk)
    disk.drop(0)
    with pytest.raises(errors.StorageError, match="no state 0"):
        disk.get(0)
    assert file_of(disk, 0).exists()
    disk.put(0, np.zeros(2))
    assert len([n for n in names(disk) if n.startswith("state-0-")]) == 2
    disk.put(9, np.zeros(2))
    disk.drop(9)
    assert not any(n.startswith("state-9") for n in names(disk))
    disk.commit(3, {}, None)
    assert file_of(disk, 0).exists()
    assert same(disk.get(0), np.zeros(2))


def test_what_was_done_after_the_last_record_is_forgotten(disk):
    begun(disk)
    disk.drop(0)
    disk.put(0, np.zeros(2))
    disk.put(8, np.zeros(2))
    Path(disk.folder, "journal.part").write_bytes(b"half")
    Path(f"{file_of(disk, 8)}.part").write_bytes(b"half")
    disk._open.close()  # as a kill does
    saved = load(disk.folder)
    assert same(saved.storage.get(0), STATE)
    assert len(saved.storage) == 2
    assert len(names(disk)) == 3
    saved.storage.put(8, np.ones(2))
    saved.storage.end()
    assert names(disk) == []


def test_closing_keeps_the_last_record_and_nothing_else(disk):
    begun(disk)
    disk.drop(0)
    disk.put(8, np.zeros(2))
    disk.close()
    assert len(names(disk)) == 3
    before_the_first = DiskStorage(disk.folder + "2")
    before_the_first.begin(HEADER)
    before_the_first.put(0, STATE)
    before_the_first.close()
    assert names(before_the_first) == []


def test_the_order_in_which_things_reach_the_disk(disk, monkeypatch):
    """States before the record that names them; removals after it."""
    calls = []
    for name in ("fsync", "replace", "unlink"):
        real = getattr(os, name)

        def noted(*args, name=name, real=real):
            path = args[-1]
            if name == "fsync":
                path = os.readlink(f"/proc/self/fd/{path}")
            calls.append((name, os.path.basename(path).split("-")[0:2]))
            return real(*args)

        monkeypatch.setattr(os, name, noted)
    begun(disk)
    disk.drop(5)
    disk.put(6, np.ones(1))
    calls.clear()
    disk.commit(3, {}, None)
    assert calls == [
        ("fsync", ["state", "6"]),
        ("fsync", ["sweep"]),
        ("fsync", ["journal.part"]),
        ("replace", ["journal"]),
        ("fsync", ["sweep"]),
        ("unlink", ["state", "5"]),
    ]


def test_a_record_is_due_after_its_seconds(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    storage = DiskStorage(tmp_path, journal_seconds=5)
    assert not storage.due()
    storage.begin(HEADER)
    assert storage.due()
    storage.commit(0, {}, None)
    assert not storage.due()
    now[0] = 104.9
    assert not storage.due()
    now[0] = 105.0
    assert storage.due()
    storage.close()
    now[0] = 1000.0
    saved = load(tmp_path)
    assert not saved.storage.due()
    saved.storage.end()
    assert not saved.storage.due()
    always = DiskStorage(tmp_path, journal_seconds=0)
    always.begin(HEADER)
    always.commit(0, {}, None)
    assert always.due()
    always.end()


def test_an_unfinished_sweep_is_not_overwritten(disk):
    begun(disk)
    with pytest.raises(errors.StorageError, match="in use"):
        disk.begin(HEADER)
    disk.close()
    for use in (lambda s: s.begin(HEADER), lambda s: s.put(0, np.ones(1))):
        with pytest.raises(errors.StorageError, match=r"unfinished sweep; .*resume"):
            use(DiskStorage(disk.folder))
    assert load(disk.folder).position == 2


def test_a_folder_with_other_files_is_refused(tmp_path, disk):
    for name in ("data.csv", "journal2", "state-1-0-aa", "state-1-0-aa.part"):
        folder = tmp_path / name.replace(".", "_")
        folder.mkdir()
        (folder / name).write_text("mine")
        for use in (lambda s: s.begin(HEADER), lambda s: s.put(0, np.ones(1))):
            with pytest.raises(errors.StorageError, match="not of this sweep") as info:
                use(DiskStorage(folder))
            assert info.value.key == name
        assert (folder / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["notes.txt", "state-0-0-0123456789abcdef", ".hidden"])
def test_a_file_that_came_later_is_never_removed(disk, name):
    begun(disk).close()
    mine = Path(disk.folder, name)
    mine.write_text("mine")
    with pytest.raises(errors.StorageError, match="not of this sweep") as info:
        load(disk.folder)
    assert info.value.key == name
    assert mine.read_text() == "mine"
    mine.unlink()
    assert load(disk.folder).position == 2


def test_a_half_written_first_record_is_no_sweep(disk):
    Path(disk.folder).mkdir()
    Path(disk.folder, "journal.part").write_bytes(b"half")
    with pytest.raises(errors.StorageError, match="no unfinished sweep"):
        load(disk.folder)
    begun(disk)
    disk.end()
    assert names(disk) == []


def test_a_record_needs_a_sweep(disk):
    with pytest.raises(errors.StorageError, match="call begin first"):
        disk.commit(0, {}, None)
    disk.put(0, np.ones(1))
    with pytest.raises(errors.StorageError, match="close it first"):
        disk.begin(HEADER)


def test_a_storage_serves_one_sweep_after_another(disk):
    for _ in range(3):
        begun(disk)
        disk.end()
        assert (len(disk), disk.nbytes, names(disk)) == (0, 0, [])


def test_what_cannot_be_written_in_a_record(disk):
    begun(disk)
    with pytest.raises(errors.StorageError, match="JSON"):
        disk.commit(3, {"a": object()}, None)
    with pytest.raises(errors.StorageError, match="journal"):
        disk.commit(3, {}, {1, 2})
    disk.close()
    assert load(disk.folder).position == 2


@pytest.mark.parametrize("spoil", ["states", "header", "capacity", "position"])
def test_a_journal_without_an_entry_is_refused(disk, spoil):
    begun(disk).close()
    path = os.path.join(disk.folder, "journal")
    nest, record, _ = files.read(path, "journal")
    del record[spoil]
    files.write(path, files.pack(nest, record, "journal"), "journal", synced=False)
    with pytest.raises(errors.StorageError, match="journal"):
        load(disk.folder)


def test_a_journal_that_names_a_file_elsewhere_is_refused(disk, tmp_path):
    begun(disk)
    away = tmp_path / file_of(disk, 0).name
    away.write_bytes(file_of(disk, 0).read_bytes())
    disk.close()
    path = os.path.join(disk.folder, "journal")
    nest, record, _ = files.read(path, "journal")
    record["states"][0][1] = f"../{away.name}"
    files.write(path, files.pack(nest, record, "journal"), "journal", synced=False)
    with pytest.raises(errors.StorageError, match="journal"):
        load(disk.folder)
    assert away.exists()


def test_there_is_nothing_to_load(tmp_path):
    with pytest.raises(errors.StorageError, match="no such folder"):
        load(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(errors.StorageError, match="no unfinished sweep lies there"):
        load(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.StorageError, match="it is a file"):
        load(tmp_path / "file")


def test_a_folder_in_use_is_refused(disk):
    begun(disk)
    for use in (
        lambda: load(disk.folder),
        lambda: DiskStorage(disk.folder).put(0, np.ones(1)),
        lambda: DiskStorage(disk.folder).begin(HEADER),
    ):
        with pytest.raises(errors.StorageError, match="a running sweep"):
            use()
    disk.close()
    load(disk.folder).storage.end()


HOLD = """
import sys, time, numpy as np
from derivative_covers.checkpoint import DiskStorage, unfinished
storage = DiskStorage(sys.argv[1])
storage.begin({})
storage.commit(0, {}, np.ones(2))
print("ready", flush=True)
time.sleep(60)
"""


def test_the_lock_of_another_process_goes_with_it(tmp_path):
    code = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(code, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(errors.StorageError, match="a running sweep"):
            load(tmp_path)
        holder.send_signal(signal.SIGKILL)
    load(tmp_path).storage.end()


def test_a_storage_that_nobody_holds_gives_its_folder_free(tmp_path):
    begun(DiskStorage(tmp_path))
    load(tmp_path).storage.end()


def test_its_text_says_where_and_what(disk):
    size = disk.put(0, np.ones(1))
    assert repr(disk) == f"<DiskStorage {disk.folder!r}: 1 states, {size} bytes>"


def test_an_end_that_is_cut_off_leaves_no_record(disk, monkeypatch):
    """A record whose states are gone would be in the way of every later sweep."""
    begun(disk)
    real, left = os.unlink, [1]

    def unlink(path):
        if not left:
            raise KeyboardInterrupt
        left.pop()
        real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink)
        with pytest.raises(KeyboardInterrupt):
            disk.end()
    disk.close()
    assert len(names(disk)) == 2
    assert not unfinished(disk.folder)
    with pytest.raises(errors.StorageError, match=r"no unfinished sweep .* start it"):
        load(disk.folder)
    assert names(disk) == []
    begun(disk)
    assert unfinished(disk.folder)
