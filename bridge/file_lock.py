"""Files that one process at a time holds, by a lock that the system releases when that process dies."""

from __future__ import annotations

import os
from pathlib import Path

from limberjack.file_locks import take


def hold(path: Path) -> int:
    """Hold a file, made if need be, of this user alone; the descriptor, whose closing gives it up.

    BlockingIOError where another process holds it; OSError where it cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        take(descriptor, wait=False)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
