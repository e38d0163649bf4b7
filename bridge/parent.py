"""An engine that ends with its parent, however that ends, and removes the folder that the parent made for it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

#: what stands in such a folder: the sockets at "e", and what the engine prints (fmu/shim/coupled_process.c)
_FILES = ("e", "e.lock", "e.state", "e.state.lock", "e.topics", "e.topics.lock", "engine.log", "owner")
_OWNER, _PREFIX = "owner", "lj"
#: how long an engine may take to end in order when its parent is gone, s
_END_S = 10.0
#: time between two signs of life of an engine that starts, s
_REPORT_S = 10.0
#: share of a processor that counts as work; a waiting process uses less
_WORK = 0.01


def end_with_parent(folder: Path | None = None) -> Callable[[], None]:
    """End this process when its standard input ends: the parent never writes, so it closed the pipe or died.

    folder : that the parent made for this engine; those that dead engines and parents left beside it are removed now.
        Until it serves, this process says on standard error from time to time that it computes: such a parent, an FMU,
        waits for it as long as it does (fmu/shim/coupled_process.c)
    Returns what removes the folder, if the parent is gone; to be called last.
    """
    gone = threading.Event()
    if folder is not None:
        _own(folder)
        threading.Thread(target=_report_work, daemon=True).start()

    def clear() -> None:
        if folder is not None and gone.is_set():
            remove(folder)

    def watch() -> None:
        with contextlib.suppress(OSError):
            os.read(0, 1)
        gone.set()
        if _serves():  # it lets go of its sockets itself
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(_END_S)
        clear()
        os._exit(128 + signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    return clear


def _serves() -> bool:
    return signal.getsignal(signal.SIGTERM) != signal.SIG_DFL


def _report_work() -> None:
    """The first start on a machine compiles the engine, which needs processor time: a busy machine has little of it."""
    used = time.process_time()
    while not _serves():
        time.sleep(_REPORT_S)
        before, used = used, time.process_time()
        if used - before > _WORK * _REPORT_S and not _serves():
            print(f"starting: {used:.1f} s of processor time so far", file=sys.stderr, flush=True)


def remove(folder: Path) -> None:
    """Remove such a folder; any other, or one with other things in it, stays."""
    for name in _FILES:
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _own(folder: Path) -> None:
    """Mark the folder as this engine's and its parent's, by a lock that the system releases when the engine dies."""
    with contextlib.suppress(OSError), os.scandir(folder.parent) as found:
        for entry in found:
            if entry.name.startswith(_PREFIX) and entry.name != folder.name and entry.is_dir(follow_symlinks=False):
                _remove_dead(Path(entry.path))
    descriptor = os.open(folder / _OWNER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    parent = os.getppid()
    os.write(descriptor, f"{parent} {_started(parent)}\n".encode())


def _remove_dead(folder: Path) -> None:
    """Remove a folder whose engine and parent are both dead, if it is this user's."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(folder / _OWNER, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            about = os.fstat(descriptor)
            if about.st_uid != os.geteuid() or not stat.S_ISREG(about.st_mode):
                return
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            parent, started = os.read(descriptor, 100).split()
            if _started(int(parent)) != int(started):
                remove(folder)
        finally:
            os.close(descriptor)


def _started(pid: int) -> int:
    """When a process began, in ticks of the system (0 where that is not known); -1 for one that is dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return -1 if fields[0] in "ZX" else int(fields[19])
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return -1
    except PermissionError:
        pass
    return 0
