"""The thread that checks an engine's doors, also while the engine is busy with a long step."""

from __future__ import annotations

import time
from collections.abc import Sequence

import zmq

from limberjack.bridge.background import Background
from limberjack.bridge.keys import Gate
from limberjack.doors import Door, ReaderDoor

_IDLE_MS, _WATCH_MS = 100, 20  # longest wait between two checks; while somebody is connected
_KEYS_S = 0.5
_CAPTURED_S = 0.02  # if a stream holds the engine for so long, a peer sends faster than the engine can read


class Doorkeeper(Background):
    """Checks the doors of an engine from `start`, after all are bound, until `stop`; then they may be closed.

    The engine sets `inside` to the monotonic time while it is in a call of a stream's socket: libzmq reads
    subscriptions as long as they arrive, and a peer that sends them fast enough could keep the engine there.
    """

    def __init__(self, doors: Sequence[Door], gate: Gate | None, watch_ms: int = _WATCH_MS) -> None:
        """gate : whose keys are looked at every second; a key that was taken out loses its connections

        watch_ms : longest wait between two checks while somebody is connected
        """
        super().__init__("doors", self._run)
        self._doors, self._gate, self._watch_ms = tuple(doors), gate, watch_ms
        self._streams = [door for door in doors if isinstance(door, ReaderDoor)]
        self.inside: float | None = None

    def _run(self) -> None:
        poller, keys_due = zmq.Poller(), 0.0
        for door in self._doors:
            poller.register(door.monitor, zmq.POLLIN)
        while not self.stopping.is_set():
            poller.poll(self._watch_ms if any(door.table for door in self._doors) else _IDLE_MS)
            now = time.monotonic()
            for door in self._doors:
                door.look()
            inside = self.inside
            if inside is not None and now - inside > _CAPTURED_S:
                for stream in self._streams:
                    stream.quieten()
            for door in self._doors:
                door.weigh(now)
            if self._gate is not None and now >= keys_due:
                keys_due = now + _KEYS_S
                if self._gate.refresh():
                    self._revoke(self._gate)

    def _revoke(self, gate: Gate) -> None:
        """End the connections of removed keys, and those that have not sent any message yet."""
        for door in self._doors:
            for connection in list(door.table.values()):
                if connection.user is None or gate.grant(connection.user) is None:
                    door.shut(connection, "key")
