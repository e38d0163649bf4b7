"""The interface of a device to the executive: signals go out, commands come in, once a frame and without waiting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Wiring:
    """The signals that a device receives and the commands that it sets, in the order of its vectors.

    signals, signal_units : sent to it each frame (`hil.signals` names)
    commands : names of the commands that it sets
    worlds : for a controller over arrays, number of rows of signals and commands
    period : from one message to the next, s of simulated time; 0 if unknown
    """

    signals: tuple[str, ...]
    signal_units: tuple[str, ...]
    commands: tuple[str, ...]
    worlds: int = 1
    period: float = 0.0


#: reasons for which valid messages are not used
SUPERSEDED, LATE = "superseded", "late on a disturbed link"


@dataclass
class Link:
    """Counts of one device's traffic, live.

    sent, received : messages;  rejected : invalid messages, by reason;  dropped : not sent, its queue
    was full;  last_time : simulated time of the last command received, s, -inf before
    """

    sent: int = 0
    received: int = 0
    dropped: int = 0
    last_time: float = -np.inf
    rejected: dict[str, int] = field(default_factory=dict)

    def reject(self, reason: str, count: int = 1) -> None:
        """Count refused messages."""
        self.rejected[reason] = self.rejected.get(reason, 0) + count

    def refused(self) -> dict[str, int]:
        """Those of `rejected` that a correct sender would not have sent: not those that only came too late."""
        return {reason: count for reason, count in self.rejected.items() if reason not in (SUPERSEDED, LATE)}


class Device(Protocol):
    """A controller, drive or instrument on the bench; every call returns at once, except `answer` within its limit."""

    name: str
    link: Link

    def open(self, wiring: Wiring) -> None:
        """Connect or listen. Raises ArgumentError or HilError, with a remedy, if that fails."""

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """Send the signals (ns,) of a frame at simulated time, s. What cannot be sent immediately is dropped and
        counted.
        """

    def receive(self, time: float, commands: np.ndarray) -> bool:
        """Write the newest commands into commands (nc,); returns whether any have arrived since the last call.

        The entries are NaN at first; those that no message sets stay NaN. Messages that are not valid, or not finite,
        are counted under `link.rejected` and change nothing.
        """

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """As `receive`, but wait for the answer to the last `send`, at most limit_s of wall time (lockstep)."""

    def close(self) -> None:
        """Release all resources; may be called twice."""
