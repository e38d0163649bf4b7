"""The file of a record, looked at before a library opens it."""

from __future__ import annotations

import os
from pathlib import Path

from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.files.bounded_file import size_of

#: bytes of a record that is read in pieces, and of one that is read at once
MOST_BYTES, MOST_AT_ONCE = 1 << 40, 1 << 30


def record_file(path: str | os.PathLike[str], most: int = MOST_BYTES) -> Path:
    """The path of a regular file of at most ``most`` bytes. Raises ArgumentError if it is not one."""
    try:
        size_of(Path(path), most)
    except ModelError as error:
        raise ArgumentError(f"{path}: {error.what}; give the record of a run{_example(Path(path))}.") from None
    return Path(path)


def _example(folder: Path) -> str:
    """A record in a folder that was given in its place."""
    try:
        found = min(folder.glob("*.mcap"), default=None)
    except OSError:
        return ""
    return f", here {found}" if found else ""
