"""The folder of a sweep: made, locked, listed and brought to the disk."""

from __future__ import annotations

import contextlib
import os
import weakref

from ...errors import StorageError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # a platform without these locks
    _LOCKS = False
else:
    _LOCKS = True

__all__ = ["Folder"]

_OPEN: weakref.WeakSet[Folder] = weakref.WeakSet()


def _left_to_the_parent() -> None:
    """Closes, in a forked child, what would hold the locks when the parent is gone."""
    for folder in list(_OPEN):
        folder.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_left_to_the_parent)


class Folder:
    """An open folder that no other live process (and no other storage) has open.

    The lock is the kernel's: it goes with the process, however that ends, and a forked
    child has no part in it. Platforms and file systems without such locks are used without
    one.

    Args:
        path: Absolute path.
        make: Whether to make the folder where there is none.

    Raises:
        StorageError: There is no such folder, it cannot be opened, or it is in use.
    """

    def __init__(self, path: str, *, make: bool) -> None:
        """See the class."""
        self.path = path
        self._handle: int | None = None
        try:
            if make:
                os.makedirs(path, exist_ok=True)
            if not os.path.isdir(path):
                raise unusable(path, "there is no such folder")
            self._open()
        except StorageError:
            raise
        except OSError as fault:
            raise unusable(path, str(fault)) from fault

    def _open(self) -> None:
        if not _LOCKS:
            return
        handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        # Never unlocked, only closed: a forked child that closes its copy leaves the
        # lock with its parent.
        self._close = weakref.finalize(self, os.close, handle)
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            self._close()
            why = "a running sweep, of this process or of another one, is using it"
            raise unusable(self.path, why) from None
        except OSError:  # a file system without locks
            pass
        self._handle = handle
        _OPEN.add(self)

    def close(self) -> None:
        """Gives the folder free; may be repeated."""
        if self._handle is not None:
            self._handle = None
            self._close()

    def sync(self) -> None:
        """Waits until the names in the folder are on the disk, where that exists."""
        if self._handle is not None:
            with contextlib.suppress(OSError):
                os.fsync(self._handle)

    def names(self) -> list[str]:
        """What lies in it.

        Raises:
            StorageError: It cannot be listed.
        """
        try:
            return sorted(os.listdir(self.path))
        except OSError as fault:
            raise unusable(self.path, str(fault)) from fault

    def join(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.path, name)

    def rename(self, name: str, new: str) -> None:
        """Gives a file another name.

        Raises:
            StorageError: It cannot be renamed.
        """
        try:
            os.replace(self.join(name), self.join(new))
        except OSError as fault:
            message = f"the file {self.join(name)} cannot be renamed: {fault}"
            raise StorageError(message, name) from fault

    def remove(self, name: str) -> None:
        """Removes a file if it is there.

        Raises:
            StorageError: It is there and cannot be removed.
        """
        try:
            os.unlink(self.join(name))
        except FileNotFoundError:
            pass
        except OSError as fault:
            message = f"the file {self.join(name)} cannot be removed: {fault}"
            raise StorageError(message, name) from fault


def unusable(path: str, why: str) -> StorageError:
    """The error of a folder that cannot be used, with its path as key."""
    message = f"the folder {path} cannot be used: {why}"
    return StorageError(message, path)
