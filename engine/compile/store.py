"""Where compiled code is kept: files that are there whole or not at all, however the process that writes them ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from limberjack.file_locks import take


def cache_folder() -> Path:
    """The folder of this user for all that is compiled."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("limberjack")) / "compiled"


def keep(path: Path, make: Callable[[], bytes]) -> Path:
    """The file, made if it is not there. One process at a time may write it."""
    if not path.is_file():
        unfinished = path.with_name(f"{path.name}.unfinished")
        unfinished.write_bytes(make())
        os.replace(unfinished, path)
    return path


@contextmanager
def alone(made: Path) -> Iterator[None]:
    """Until no other process makes the same; one that dies lets go, and one that hangs is ended (`children.run`)."""
    made.parent.mkdir(parents=True, exist_ok=True)
    with made.with_name(f"{made.name}.lock").open("w") as lock:
        take(lock.fileno(), wait=True)
        yield
