"""A controller in Python on the other end of a link: the bench without hardware."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

import numpy as np

from limberjack.hil.devices.device import Link
from limberjack.hil.errors import HilError

_RETRY_S = 0.02

#: from simulated time, s, and signals (ns,) to commands (nc,)
Law = Callable[[float, np.ndarray], np.ndarray]


class Peer(Protocol):
    """The other end of a device."""

    link: Link

    def signals(self, limit_s: float) -> tuple[float, np.ndarray] | None:
        """Simulated time, s, and the newest signals (ns,); None if none came within limit_s."""

    def reply(self, commands: np.ndarray) -> bool:
        """Send commands (nc,) that answer them; False if they could not go."""

    def close(self) -> None:
        """Let go."""


class TwinController:
    """Answers every message of signals with the commands of a control law.

    As a context manager it works in its own thread; after `open`, `step` answers once, for tests and programs.

    opened : makes the other end, HilError while the bench is not there yet
    error : what ended the thread, if anything did;  answered : messages answered
    """

    def __init__(self, opened: Callable[[], Peer], law: Law) -> None:
        self._opened, self._law = opened, law
        self.peer: Peer | None = None
        self.answered = 0
        self.error: Exception | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Connect or listen. HilError if the bench is needed for that and not there."""
        self.close()
        self.peer = self._opened()

    def close(self) -> None:
        """Let go."""
        if self.peer is not None:
            self.peer.close()
            self.peer = None

    def step(self, limit_s: float = 0.1) -> bool:
        """Wait for signals, at most limit_s of wall time, and answer; whether that was done."""
        found = self.peer.signals(limit_s) if self.peer is not None else None
        if found is None or self.peer is None:
            return False
        done = self.peer.reply(np.asarray(self._law(*found), dtype=float))
        self.answered += done
        return done

    def run(self, stop: threading.Event) -> None:
        """Answer until stop is set; wait for the bench if it is not there yet."""
        try:
            while self.peer is None and not stop.is_set():
                self._try_open()
                stop.wait(0.0 if self.peer else _RETRY_S)
            while not stop.is_set():
                self.step()
        except Exception as error:
            self.error = error

    def _try_open(self) -> None:
        with contextlib.suppress(HilError):
            self.open()

    def __enter__(self) -> TwinController:
        self._stop.clear()
        self._try_open()
        self._thread = threading.Thread(target=self.run, args=(self._stop,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(10.0)
        self.close()
