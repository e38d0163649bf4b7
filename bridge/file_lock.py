"""Files that one process at a time holds, by a lock that the system releases when that process dies."""

from __future__ import annotations

import os
from pathlib import Path

from limberjack.file_locks import take


def hold(path: Path) -> int:
    """Lock a file, which is made if necessary and private to this user; closing the returned descriptor unlocks it.

    BlockingIOError where another process holds it; OSError where it cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        take(descriptor, wait=False)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
