"""Temporary folders that do not outlive their process: those that a killed process left are removed with the next one.

Beside each folder is a lock file, "<folder>.lock", which its process holds (flock) until it ends in any way. A lock
that no process holds marks a folder to remove. Windows cannot remove open files, so there are no locks there: the
folder of a killed process remains.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
import weakref
from pathlib import Path
from types import TracebackType

from limberjack.file_locks import take

_LOCK = ".lock"
_TRIES = 100


class Scratch:
    """A temporary folder, `with Scratch("limberjack-") as folder: …`; also gone when the object is collected.

    prefix : of its name;  parent : folder in which it is made; default: the system's folder for temporary files
    """

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        """Make it, after removing folders of dead processes with the same prefix. Raises OSError if that fails."""
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        if sys.platform == "win32":
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            self._end = weakref.finalize(self, _clear, self.path)
            return
        remove_left(prefix, parent)
        lock, descriptor = _lock(prefix, parent)
        self.path = lock.with_name(lock.name.removesuffix(_LOCK))
        self._end = weakref.finalize(self, _remove, self.path, lock, descriptor)
        self.path.mkdir(0o700)

    def cleanup(self) -> None:
        """Remove the folder and all in it; may be called twice, and when it was moved elsewhere."""
        self._end()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cleanup()


def remove_left(prefix: str, parent: Path) -> list[Path]:
    """Remove this user's folders of dead processes, never one whose process lives; returns those removed."""
    with contextlib.suppress(OSError), os.scandir(parent) as found:
        locks = [entry.name for entry in found if entry.name.startswith(prefix) and entry.name.endswith(_LOCK)]
        return [folder for name in locks if (folder := _remove_dead(parent / name)) is not None]
    return []


def _lock(prefix: str, parent: Path) -> tuple[Path, int]:
    """A new lock file, held. If another process took it for an abandoned one before it was held, make another one."""
    for _ in range(_TRIES):
        path = parent / f"{prefix}{secrets.token_hex(6)}{_LOCK}"
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            take(descriptor, wait=True)
            if os.fstat(descriptor).st_nlink:
                return path, descriptor
            os.close(descriptor)
    raise FileExistsError(f"no name is free for {parent / prefix}…")


def _remove_dead(lock: Path) -> Path | None:
    """Remove the folder of this lock, if it belongs to this user and no process holds it."""
    folder = lock.with_name(lock.name.removesuffix(_LOCK))
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        about = os.fstat(descriptor)
        if about.st_uid != os.geteuid() or not stat.S_ISREG(about.st_mode):
            return None
        take(descriptor, wait=False)
        if folder.exists() and (folder.is_symlink() or folder.stat().st_uid != os.geteuid()):
            return None
        _clear(folder)
        lock.unlink(missing_ok=True)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return folder


def _remove(folder: Path, lock: Path, descriptor: int) -> None:
    """Remove the folder, then its lock, which is held until then."""
    _clear(folder)
    with contextlib.suppress(OSError):
        lock.unlink(missing_ok=True)
    os.close(descriptor)


def _clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
