"""One stream of an engine: publishes to subscribers, and limits the memory for messages of readers."""

from __future__ import annotations

import time

import zmq

from limberjack.bridge.doorkeeper import Doorkeeper
from limberjack.bridge.replies import plain_send
from limberjack.doors import ReaderDoor

READERS_MAX = 64  # connections of one stream
_NOWAIT, _MORE_NOWAIT = int(zmq.DONTWAIT), int(zmq.SNDMORE | zmq.DONTWAIT)


class Stream:
    """An XPUB socket and its door; all methods but those of the door belong to the engine's thread."""

    def __init__(self, socket: zmq.Socket) -> None:
        """socket : XPUB, not bound yet"""
        self.door = ReaderDoor(socket, READERS_MAX)
        self.keeper: Doorkeeper | None = None  # gets the time while the socket has the engine
        self._socket, self._send = socket, plain_send(socket)

    @property
    def read(self) -> bool:
        """Whether anybody is connected: publishing to nobody would cost as much as a short step."""
        return bool(self.door.table)

    def send(self, topic: bytes, message: bytes | memoryview) -> None:
        """Send two frames to whoever subscribed to the topic; a slow reader loses messages and delays nobody."""
        self._enter()
        self._send(topic, _MORE_NOWAIT)
        self._send(message, _NOWAIT)
        self._leave()

    def look(self, keyed: bool) -> None:
        """Take what readers said. keyed : they are known by their keys"""
        self._enter()
        self.door.read_subscriptions(keyed)
        self._leave()

    def _enter(self) -> None:
        if self.keeper is not None:
            self.keeper.inside = time.monotonic()

    def _leave(self) -> None:
        if self.keeper is not None:
            self.keeper.inside = None


class LatestStream(Stream):
    """A stream of single frames of which a slow reader gets the newest at the end, if not all before it.

    libzmq conflates only sockets that cannot report subscriptions. Here a reader whose connection is full misses a
    message, and the newest one is sent again, to all, once the system has delivered what such a reader was sent before.
    """

    WAITING = 2  # messages that may wait for one reader beside those in the system's own buffers

    def __init__(self, socket: zmq.Socket) -> None:
        super().__init__(socket)
        socket.sndhwm = self.WAITING
        socket.xpub_nodrop = 1
        self._behind = False  # somebody missed a message since the newest one was sent again
        self._newest = b""
        self._stuck: set[int] | None = None  # who had not taken everything at the last look

    def show(self, message: memoryview) -> None:
        """Send a message to all readers that have room."""
        self._enter()
        self._offer(message)
        if self._behind:
            self._newest = bytes(message)
        self._leave()

    def look(self, keyed: bool) -> None:
        """As of every stream; and send the newest again when somebody who missed it has room."""
        super().look(keyed)
        if not self._behind:
            return
        before, self._stuck = self._stuck, self.door.stuck()
        if before is None:
            return
        self._behind = bool(self._stuck)
        if not before or before - self._stuck:
            self._offer(self._newest)
        if not self._behind:
            self._stuck = None

    def _offer(self, message: bytes | memoryview) -> None:
        """Send; libzmq reports a reader without room once, then it leaves that one out until it has some."""
        try:
            self._send(message, _NOWAIT)
        except zmq.Again:
            self._behind = True
            self._socket.xpub_nodrop = 0
            self._send(message, _NOWAIT)
            self._socket.xpub_nodrop = 1
