"""A controller in Python on the other end of a link: the bench without hardware."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

import numpy as np

from limberjack.hil.devices.device import Link

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

    As a context manager it works in a thread of its own; `step` answers once, for tests and for programs.
    error : what ended the thread, if anything did;  answered : messages answered
    """

    def __init__(self, peer: Peer, law: Law) -> None:
        self.peer, self._law = peer, law
        self.answered = 0
        self.error: Exception | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def step(self, limit_s: float = 0.1) -> bool:
        """Wait for signals, at most limit_s of wall time, and answer; whether that was done."""
        found = self.peer.signals(limit_s)
        if found is None:
            return False
        done = self.peer.reply(np.asarray(self._law(*found), dtype=float))
        self.answered += done
        return done

    def run(self, stop: threading.Event) -> None:
        """Answer until stop is set."""
        try:
            while not stop.is_set():
                self.step()
        except Exception as error:
            self.error = error

    def __enter__(self) -> TwinController:
        self._stop.clear()
        self._thread = threading.Thread(target=self.run, args=(self._stop,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(10.0)
        self.peer.close()
