"""Files are looked at before they are opened: regular ones of bounded size are read, all others refused at once.

Opening a named pipe waits for a writer, and a device may have no end. Every reader of the project comes here first.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from limberjack.engine.errors import ModelError

#: of text that people write: models, scenarios, campaigns, layouts
MAX_BYTES = 16 * 1024 * 1024

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def size_of(path: Path, most: int = MAX_BYTES, mend: str = "Give a smaller file") -> int:
    """Bytes of a regular file of at most ``most`` bytes. ModelError for any other, which is not opened.

    For files that a library opens by their name; `read_bytes` also holds where a file is changed meanwhile.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise ModelError("the file does not exist", where=str(path), mend="Check the path") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read the file: {error}", where=str(path), mend="Check path and rights") from None
    return _checked(found, path, most, mend)


def read_bytes(path: Path, most: int = MAX_BYTES, mend: str = "Give a smaller file") -> bytes:
    """The content of a regular file of at most ``most`` bytes; ModelError if it cannot be read or is larger."""
    size_of(path, most, mend)
    try:
        with os.fdopen(os.open(path, _OPEN), "rb") as stream:
            _checked(os.fstat(stream.fileno()), path, most, mend)
            content = stream.read(most + 1)
    except OSError as error:
        raise ModelError(f"cannot read the file: {error}", where=str(path), mend="Check path and rights") from None
    if len(content) > most:
        raise _larger(path, most, mend)
    return content


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


def _checked(found: os.stat_result, path: Path, most: int, mend: str) -> int:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for test, name in _KINDS if test(found.st_mode)), "something else")
        raise ModelError(f"this is not a file but {kind}", where=str(path), mend="Give the path of a file")
    if found.st_size > most:
        raise _larger(path, most, mend)
    return found.st_size


def _larger(path: Path, most: int, mend: str) -> ModelError:
    shown = f"{most >> 20} MiB" if most >> 20 else f"{most} bytes"
    return ModelError(f"the file is larger than {shown}", where=str(path), mend=mend)
