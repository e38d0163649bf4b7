"""Files are looked at before they are opened: regular ones of bounded size are read, all others refused at once.

Opening a named pipe waits for a writer, and a device may have no end. Every reader of the project comes here first.
"""

from __future__ import annotations

import os
import stat
import struct
from itertools import islice
from pathlib import Path

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.nearest import MOST_NAMES, nearest

#: of text that people write: models, scenarios, campaigns, layouts
MAX_BYTES = 16 * 1024 * 1024

#: bytes at the end of an archive that say where its table is; bytes of an entry, generously
_ZIP_TAIL, _ZIP_ENTRY = 22 + 20 + 56 + 65535, 512

_YAML = (".yaml", ".yml")
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def size_of(path: Path, most: int = MAX_BYTES, remedy: str = "Give a smaller file") -> int:
    """Bytes of a regular file of at most ``most`` bytes. ModelError for any other, which is not opened.

    For files that a library opens by their name; `read_bytes` also holds where a file is changed meanwhile.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise ModelError("the file does not exist", where=str(path), remedy=f"Check the path{_meant(path)}") from None
    except (OSError, ValueError) as error:
        raise ModelError(
            f"cannot read the file: {error}", where=str(path), remedy="Check path and permissions"
        ) from None
    return _checked(found, path, most, remedy)


def _meant(path: Path) -> str:
    """The file of the same kind beside it that may have been meant, as the end of a sentence; "" if there is none."""
    same_kind = _YAML if path.suffix in _YAML else path.suffix
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, MOST_NAMES) if entry.name.endswith(same_kind)]
    except (OSError, ValueError):
        return ""
    near = nearest(path.name, names)
    return f"; did you mean '{path.parent / near[0]}'?" if near else ""


def read_bytes(path: Path, most: int = MAX_BYTES, remedy: str = "Give a smaller file") -> bytes:
    """The content of a regular file of at most ``most`` bytes; ModelError if it cannot be read or is larger."""
    size_of(path, most, remedy)
    try:
        with os.fdopen(os.open(path, _OPEN), "rb") as stream:
            _checked(os.fstat(stream.fileno()), path, most, remedy)
            content = stream.read(most + 1)
    except OSError as error:
        raise ModelError(
            f"cannot read the file: {error}", where=str(path), remedy="Check path and permissions"
        ) from None
    if len(content) > most:
        raise _larger(path, most, remedy)
    return content


def check_zip(path: Path, most_bytes: int, most_files: int) -> None:
    """ModelError for an archive with a table of contents beyond ``most_files``, and as `size_of`.

    Reading the table is what Python does first, whatever its length. A file that is not an archive passes.
    """
    size = size_of(path, most_bytes)
    with path.open("rb") as stream:
        stream.seek(max(0, size - _ZIP_TAIL))
        tail = stream.read(_ZIP_TAIL)
    end = tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) < end + 22:
        return
    table = struct.unpack_from("<I", tail, end + 12)[0]
    if end >= 76 and tail[end - 20 : end - 16] == b"PK\6\7":  # the 64-bit record, which then counts
        table = struct.unpack_from("<Q", tail, end - 76 + 40)[0]
    if table > most_files * _ZIP_ENTRY:
        what = f"the archive holds more than {most_files} files"
        raise ModelError(what, where=str(path), remedy="Give an archive of fewer files")


def is_there(path: Path) -> bool:
    """Whether there is anything at the path; no error for names that no file can have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_special(path: Path) -> bool:
    """Whether there is something at the path that is neither a regular file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _checked(found: os.stat_result, path: Path, most: int, remedy: str) -> int:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for test, name in _KINDS if test(found.st_mode)), "something else")
        raise ModelError(f"this is not a file but {kind}", where=str(path), remedy="Give the path of a file")
    if found.st_size > most:
        raise _larger(path, most, remedy)
    return found.st_size


def _larger(path: Path, most: int, remedy: str) -> ModelError:
    shown = f"{most >> 20} MiB" if most >> 20 else f"{most} bytes"
    return ModelError(f"the file is larger than {shown}", where=str(path), remedy=remedy)
