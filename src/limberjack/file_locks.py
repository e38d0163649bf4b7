"""A lock on an open file, which the system releases when the process that holds it ends in any way."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import time

    #: time between two tries, s: Windows itself waits for ten seconds at most
    _TRY_S = 0.1

    def take(descriptor: int, *, wait: bool) -> None:
        """Hold the file. BlockingIOError where another process holds it and `wait` is false."""
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                return
            except OSError as error:
                if not wait:
                    raise BlockingIOError(*error.args) from error
                time.sleep(_TRY_S)

else:
    import fcntl

    def take(descriptor: int, *, wait: bool) -> None:
        """Hold the file. BlockingIOError where another process holds it and `wait` is false."""
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
