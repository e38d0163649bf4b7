"""The cache of compiled code. A file in it is complete or absent, even if the process that writes it is killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from limberjack.file_locks import take


def cache_folder() -> Path:
    """The user's folder for compiled code."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("limberjack")) / "compiled"


def keep(path: Path, make: Callable[[], bytes]) -> Path:
    """The file, which is made if absent. One process at a time may write it."""
    if not path.is_file():
        unfinished = path.with_name(f"{path.name}.unfinished")
        unfinished.write_bytes(make())
        os.replace(unfinished, path)
    return path


@contextmanager
def alone(made: Path) -> Iterator[None]:
    """Wait for other processes that make the same. A lock ends with its process; `children.run` ends one that hangs."""
    made.parent.mkdir(parents=True, exist_ok=True)
    with made.with_name(f"{made.name}.lock").open("w") as lock:
        take(lock.fileno(), wait=True)
        yield
