"""Where a supervisor reports what becomes of its engine: a separate address, which answers while the engine cannot."""

from __future__ import annotations

import time
from typing import Any

import zmq

from limberjack.bridge.doorkeeper import Doorkeeper
from limberjack.bridge.endpoints import IpcGuard, beside, check_binding, split
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.keys import Gate
from limberjack.bridge.messages import encode
from limberjack.bridge.settings import Settings
from limberjack.doors import READER_FRAME_MAX, Door

_PERIOD_S = 1.0
#: how long a reader hears of everything after it last wrote, s, and how many there may be
_READER_S, _READERS_MAX = 10.0, 64
#: messages that wait for or from one reader, and bytes of the largest frame that it may send
_WAITING, _LARGEST = 16, READER_FRAME_MAX
#: bytes that the system may hold of one connection
_BUFFERS = 1024 * 1024
#: messages looked at in one go
_AT_ONCE = 256


class WatchPost:
    """A ROUTER: who writes anything gets the newest message, and for ten seconds every further one, one each second and
    one whenever something happens. All that is kept of a reader is its address.

    address : as bound
    """

    def __init__(self, settings: Settings, address: str | None = None) -> None:
        """address : where; None: beside the engine's. Raises EndpointError, KeyFileError; nothing stays open then."""
        wanted = address or beside(settings.endpoint, 3, ".supervisor")
        check_binding(wanted, settings.keys is not None)
        self._readers: dict[bytes, float] = {}
        self._sequence, self._due = 0, 0.0
        self._last: dict[str, Any] = {"event": "watching", "text": "", "step": 0, "time": 0.0, "restarts": 0}
        self._gate = Gate(settings.keys) if settings.keys is not None else None
        self._guard = IpcGuard(wanted) if split(wanted)[0] == "ipc" else None
        self._context = zmq.Context()
        self._keeper: Doorkeeper | None = None
        self._door: Door | None = None
        self._socket = self._context.socket(zmq.ROUTER)
        try:
            self.address = self._bind(wanted)
        except BaseException:
            self.close()
            raise

    def _bind(self, address: str) -> str:
        socket = self._socket
        socket.linger, socket.maxmsgsize, socket.router_mandatory = 200, _LARGEST, True
        socket.sndhwm = socket.rcvhwm = _WAITING
        if self._gate is not None:
            self._gate.start(self._context)
            self._gate.protect(socket)
        self._door = Door(socket, _READERS_MAX, (_WAITING + 1) * _LARGEST + _BUFFERS)
        if "[" in address:
            socket.ipv6 = True
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            raise EndpointError(f"{address}: cannot bind ({error.strerror}). Choose another --supervisor.") from None
        if self._guard is not None:
            self._guard.restrict()
        bound = bytes(socket.get(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()  # type: ignore[arg-type]
        self._door.bound(bound)
        self._keeper = Doorkeeper([self._door], self._gate)
        self._keeper.start()
        return bound

    def report(self, event: str, text: str, **data: Any) -> None:
        """Something happened; whoever comes later hears it with the next message."""
        self._last = {**self._last, "event": event, "text": text, **data}
        self._publish()

    def look(self, status: dict[str, Any]) -> None:
        """Answer who wrote, and say every second how things stand."""
        self._last |= status
        for _ in range(_AT_ONCE):
            try:
                reader = self._socket.recv(zmq.DONTWAIT)
            except zmq.Again:
                break
            if not self._hear():
                continue
            known = reader in self._readers
            if known or len(self._readers) < _READERS_MAX:
                self._readers[reader] = time.monotonic() + _READER_S
            if not known:
                self._send(reader)
        if time.monotonic() >= self._due:
            self._publish()

    def _hear(self) -> bool:
        """Take what a reader wrote, of which nothing counts; whether its key, where there are keys, may come."""
        assert self._door is not None
        frame = self._socket.recv(copy=False)
        connection, more = self._door.hear(frame), frame.more
        while more:
            more = self._socket.recv(copy=False).more
        if self._gate is None:
            return True
        user = str(frame.get("User-Id"))
        if connection is not None:
            connection.user = user
        return self._gate.grant(user) is not None

    def _publish(self) -> None:
        now = time.monotonic()
        self._due = now + _PERIOD_S
        self._readers = {reader: until for reader, until in self._readers.items() if until > now}
        for reader in list(self._readers):
            self._send(reader)

    def _send(self, reader: bytes) -> None:
        """A message; of one that went away, or does not read, nothing is kept."""
        self._sequence += 1
        message = encode("supervisor", self._sequence, float(self._last["time"]), 0, self._last)
        try:
            self._socket.send_multipart([reader, message], zmq.DONTWAIT)
        except zmq.ZMQError:
            self._readers.pop(reader, None)

    def close(self) -> None:
        """Let go of the address; may be called twice."""
        if self._keeper is not None:
            self._keeper.stop()
        if self._door is not None:
            self._door.close()
            self._door = None
        if self._gate is not None:
            self._gate.stop()
        self._socket.close()
        self._context.term()
        if self._guard is not None:
            self._guard.release()
            self._guard = None
