"""The engine's three ZeroMQ sockets: made, bound, watched and closed together."""

from __future__ import annotations

import logging
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import zmq

from limberjack.bridge.doorkeeper import Doorkeeper
from limberjack.bridge.endpoints import Endpoints, IpcGuard, check_binding, split
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.keys import Gate
from limberjack.bridge.replies import Replies
from limberjack.bridge.roles import OWNER, Role, Sender
from limberjack.bridge.settings import Settings
from limberjack.bridge.streams import LatestStream, Stream
from limberjack.doors import Door

log = logging.getLogger("limberjack.bridge")

IDLE_MS = 100  # longest wait for a request before the caller may look at other things
CONNECTIONS_MAX = 128  # of the request socket
_REQUESTS_WAITING, _REQUESTS_BYTES = 64, 4 * 1024 * 1024  # of one client
_STREAM_MESSAGES, _STREAM_BYTES = 1024, 4 * 1024 * 1024  # waiting for one reader of the topic stream: a second at 1 kHz
_STREAM_LEAST = 64
_HANDSHAKE_MS = 5000


class ServerSockets:
    """ROUTER for requests, a stream of the latest state, a stream by topic."""

    def __init__(self, settings: Settings, frame_max: int, state_bytes: int) -> None:
        """Bind all three, or raise EndpointError or KeyFileError with nothing left open."""
        wanted = Endpoints.derive(settings.endpoint, settings.state_endpoint, settings.topic_endpoint)
        for endpoint in (wanted.request, wanted.state, wanted.topics):
            check_binding(endpoint, settings.keys is not None)
        self._guards: list[IpcGuard] = []
        self._sockets: list[zmq.Socket] = []
        self._doors: list[Door] = []
        self._keeper: Doorkeeper | None = None
        self.gate = Gate(settings.keys) if settings.keys is not None else None
        self._reported = _Counts()
        self._sender = OWNER  # the last one without a key
        self._context = zmq.Context()
        try:
            if self.gate is not None:
                self.gate.start(self._context)
            self._make(frame_max, state_bytes)
            self.endpoints = Endpoints(
                self._bind(self.router, self.door, wanted.request),
                self._bind(self._sockets[1], self._state.door, wanted.state),
                self._bind(self._sockets[2], self._topics.door, wanted.topics),
            )
            self._keeper = self._state.keeper = self._topics.keeper = Doorkeeper(self._doors, self.gate)
            self._keeper.start()
        except BaseException:
            self.close()
            raise
        self.descriptor = self.router.fileno()

    def _make(self, frame_max: int, state_bytes: int) -> None:
        """The sockets and their doors, not bound yet."""
        self.router = self._socket(zmq.ROUTER)
        self.router.maxmsgsize = frame_max
        self.router.rcvtimeo = IDLE_MS
        self.router.rcvhwm = _REQUESTS_WAITING
        self.replies = Replies(self.router)
        self.door = Door(self.router, CONNECTIONS_MAX, _REQUESTS_BYTES + frame_max)
        self._doors.append(self.door)
        self._state = LatestStream(self._socket(zmq.XPUB))
        self._doors.append(self._state.door)
        topics = self._socket(zmq.XPUB)
        topics.sndhwm = max(_STREAM_LEAST, min(_STREAM_MESSAGES, _STREAM_BYTES // state_bytes))
        self._topics = Stream(topics)
        self._doors.append(self._topics.door)

    def _socket(self, kind: int) -> zmq.Socket:
        socket: zmq.Socket = self._context.socket(kind)
        self._sockets.append(socket)
        socket.linger = 200
        socket.tcp_keepalive = 1
        socket.handshake_ivl = _HANDSHAKE_MS
        if self.gate is not None:
            self.gate.protect(socket)
        return socket

    def _bind(self, socket: zmq.Socket, door: Door, endpoint: str) -> str:
        """Bind and return the address as bound (a free port is filled in). Raises EndpointError."""
        ipc = split(endpoint)[0] == "ipc"
        if ipc:
            self._guards.append(IpcGuard(endpoint))
        if "[" in endpoint:
            socket.ipv6 = True
        try:
            socket.bind(endpoint)
        except zmq.ZMQError as error:
            if error.errno == zmq.EADDRINUSE:
                raise EndpointError(
                    f"{endpoint} is in use by another engine or program. Stop that one, or choose another endpoint."
                ) from None
            raise EndpointError(f"{endpoint}: cannot bind ({error.strerror}). Choose another endpoint.") from None
        if ipc:
            self._guards[-1].restrict()
        bound = bytes(socket.get(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()  # type: ignore[arg-type]
        door.bound(bound)
        return bound

    @property
    def read(self) -> bool:
        """Whether anybody is connected to a stream."""
        return self._state.read or self._topics.read

    def look(self) -> None:
        """Take what the readers of the streams said: what they subscribe to."""
        self._state.look(self.gate is not None)
        self._topics.look(self.gate is not None)
        self.replies.settle()

    def sender(self, identity: bytes, frame: zmq.Frame) -> Sender | None:
        """Who sent a request; None if the key was removed from the folder since it connected."""
        connection = self.door.hear(frame)
        if self.gate is None:
            if self._sender.peer != identity:
                self._sender = Sender(identity, "", Role.ADMIN)
            return self._sender
        user = str(frame.get("User-Id"))
        if connection is not None:
            connection.user = user
        grant = self.gate.grant(user)
        return None if grant is None else Sender(identity, user, grant.role)

    def publish_state(self, message: memoryview) -> None:
        """Send a state to the streams that somebody reads."""
        if self._state.read:
            self._state.show(message)
        if self._topics.read:
            self._topics.send(b"state", message)

    def publish(self, topic: str, message: bytes | memoryview) -> None:
        """Send [topic, message] to whoever subscribed; a slow reader loses messages and delays nobody."""
        self._topics.send(topic.encode(), message)

    def status(self) -> dict[str, Any]:
        """What a heartbeat reports about connections (docs/reference/protocol.md)."""
        counts = self._counts()
        return {
            "keys_refused": counts.refused,
            "handshakes_failed": counts.failed,
            "disconnected": counts.ended,
            "turned_away": dict(counts.turned_away),
            "unanswered": self.replies.unanswered,
        }

    def watch(self, events: deque[dict[str, Any]]) -> None:
        """Add to ``events``, and log, what became of connections since the last call."""
        while self.gate is not None and self.gate.news:
            events.append(self.gate.news.popleft())
        now, before = self._counts(), self._reported
        self._reported = now
        if now.refused > before.refused:
            events.append({"event": "key_refused", "count": now.refused - before.refused})
        if now.ended > before.ended:
            events.append({"event": "disconnected", "count": now.ended - before.ended})
        if now.failed > before.failed:
            count = now.failed - before.failed
            events.append({"event": "handshake_failed", "count": count})
            log.warning("%d connection attempts failed: wrong protocol, or encryption used on one side only", count)
        for reason, count in (now.turned_away - before.turned_away).items():
            events.append({"event": "turned_away", "reason": reason, "count": count})
            log.warning(
                "%d connections ended, reason '%s': see 'turned_away' in docs/reference/protocol.md", count, reason
            )

    def _counts(self) -> _Counts:
        turned_away: Counter[str] = Counter()
        for door in self._doors:
            turned_away.update(door.turned_away.copy())
        refused = self.gate.refused if self.gate is not None else 0
        return _Counts(refused, self.door.failed, self.door.ended, turned_away)

    def close(self) -> None:
        """Close everything and remove ipc files; safe to call more than once."""
        if self._keeper is not None:
            self._keeper.stop()
        for door in self._doors:
            door.close()
        self._doors.clear()
        if self.gate is not None:
            self.gate.stop()
        for socket in self._sockets:
            socket.close()
        self._sockets.clear()
        self._context.term()
        for guard in self._guards:
            guard.release()
        self._guards.clear()


@dataclass(frozen=True)
class _Counts:
    """Connections refused for their key, failed otherwise, ended, and ended by the engine by reason."""

    refused: int = 0
    failed: int = 0
    ended: int = 0
    turned_away: Counter[str] = field(default_factory=Counter)
