"""Work in a separate thread, from `start` to `stop`."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """A function in a thread that ends with the process; the function returns soon once `stopping` is set."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        """name : of the thread"""
        self._name, self._work = name, work
        self.stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; again after `stop` too."""
        self.stopping.clear()
        self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        self._thread.start()

    def stop(self, wait_s: float | None = None) -> bool:
        """End, and wait at most so long; whether it has ended. Safe to call again, or if it never began."""
        self.stopping.set()
        if self._thread is None:
            return True
        self._thread.join(wait_s)
        return not self._thread.is_alive()
