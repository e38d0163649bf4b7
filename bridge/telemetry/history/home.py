"""The default place of a history, and the treatment of a damaged file there."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from limberjack.bridge.file_lock import hold

_LONGEST_NAME = 80  # characters, without the digest
_SET_ASIDE = 2  # damaged files of one history that are kept
_PARTS = ("", "-wal", "-shm")  # of a file of SQLite


@dataclass(frozen=True)
class Home:
    """One file for each model and engine in the user's folder for state ($XDG_STATE_HOME/limberjack/history).

    engine : address of the engine; "" for one that is started for this gateway, at another address each time
    """

    engine: str = ""

    def file(self, model: str) -> Path:
        """The file for an engine of this model; no two models or engines share one."""
        name = f"{model}@{self.engine}" if self.engine else model
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:_LONGEST_NAME].strip("-.")
        if plain != name:
            plain = f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        return platformdirs.user_state_path("limberjack", appauthor=False) / "history" / f"{plain}.db"


def lock_file(path: Path) -> Path:
    """Beside a history, what the gateway that uses it holds; one for all names of the file."""
    file = path.resolve()
    return file.with_name(file.name + ".lock")


def set_aside(path: Path) -> Path:
    """Move a damaged file away and return where it is now; the newest few are kept.

    OSError where that cannot be, BlockingIOError where another gateway uses it.
    """
    lock = hold(lock_file(path))
    try:
        aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}")
        for part in _PARTS:
            with contextlib.suppress(FileNotFoundError):
                path.with_name(path.name + part).replace(aside.with_name(aside.name + part))
        kept = path.parent.glob(f"{glob.escape(path.name)}.damaged-*")
        names = sorted({each.name.removesuffix("-wal").removesuffix("-shm") for each in kept})  # the oldest first
        for name in names[:-_SET_ASIDE]:
            for part in _PARTS:
                path.with_name(name + part).unlink(missing_ok=True)
        return aside
    finally:
        os.close(lock)
