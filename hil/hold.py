"""Pausing a run: clients or operators pause it, continue it, or let it run frame by frame."""

from __future__ import annotations

import threading

from limberjack.engine.common import arguments

#: largest number of frames of one single step
MOST_FRAMES = 1_000_000


class Hold:
    """Set from any thread; the executive looks between two frames.

    paused : whether the run is paused;  by, reason : who paused it, and why
    waits : whether the next frame must wait: the run is paused and no requested frame is left
    """

    def __init__(self) -> None:
        self.paused = self.waits = False
        self.by = self.reason = ""
        self._left, self._lock, self._changed = 0, threading.Lock(), threading.Event()

    def pause(self, by: str, reason: str = "") -> None:
        """Pause the run before its next frame."""
        self._set(True, 0, by, reason)

    def resume(self, by: str) -> None:
        """Continue the run."""
        self._set(False, 0, by, "")

    def step(self, by: str, frames: int = 1) -> None:
        """Run so many frames, then wait; pauses a run that is not paused. Raises ArgumentError."""
        frames = arguments.count("frames", frames, 1, MOST_FRAMES)
        self._set(True, frames if self.paused else 0, by, self.reason)

    def take(self) -> None:
        """Count a frame that was waiting and now begins."""
        with self._lock:
            self._left = max(self._left - 1, 0)
            self.waits = self.paused and self._left == 0

    def wait(self, limit_s: float) -> None:
        """Wait for a request, but not longer than this."""
        self._changed.wait(limit_s)
        self._changed.clear()

    def _set(self, paused: bool, frames: int, by: str, reason: str) -> None:
        with self._lock:
            self.paused, self._left, self.by, self.reason = paused, frames, by, reason
            self.waits = paused and frames == 0
        self._changed.set()
