"""A run that waits: paused, going on, or one frame at a time, as somebody outside asks."""

from __future__ import annotations

import threading

from limberjack.engine.common import arguments

#: most frames of one single step
MOST_FRAMES = 1_000_000


class Hold:
    """Set from any thread; the executive looks between two frames.

    paused : whether the run is to wait;  by, reason : who asked, and why
    waits : whether the next frame is to wait, paused and without a frame left that was asked for
    """

    def __init__(self) -> None:
        self.paused = self.waits = False
        self.by = self.reason = ""
        self._left, self._lock, self._changed = 0, threading.Lock(), threading.Event()

    def pause(self, by: str, reason: str = "") -> None:
        """Let the run wait before its next frame."""
        self._set(True, 0, by, reason)

    def resume(self, by: str) -> None:
        """Let the run go on."""
        self._set(False, 0, by, "")

    def step(self, by: str, frames: int = 1) -> None:
        """Let so many frames happen, and wait then; a run that is not paused is paused first. ArgumentError."""
        frames = arguments.count("frames", frames, 1, MOST_FRAMES)
        self._set(True, frames if self.paused else 0, by, self.reason)

    def take(self) -> None:
        """A frame that waited begins."""
        with self._lock:
            self._left = max(self._left - 1, 0)
            self.waits = self.paused and self._left == 0

    def wait(self, limit_s: float) -> None:
        """Until something is asked, or for so long."""
        self._changed.wait(limit_s)
        self._changed.clear()

    def _set(self, paused: bool, frames: int, by: str, reason: str) -> None:
        with self._lock:
            self.paused, self._left, self.by, self.reason = paused, frames, by, reason
            self.waits = paused and frames == 0
        self._changed.set()
