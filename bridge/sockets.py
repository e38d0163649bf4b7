"""The engine's three ZeroMQ sockets: made, bound, watched and closed together."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from limberjack.bridge.endpoints import Endpoints, IpcGuard, check_binding, split
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.keys import Gate
from limberjack.bridge.settings import Settings

log = logging.getLogger("limberjack.bridge")

IDLE_MS = 100  # longest wait for a request before the caller may look at other things
MORE_NOWAIT = int(zmq.SNDMORE | zmq.DONTWAIT)  # once: joining flags costs more than sending a frame
_QUEUE_MESSAGES = 64  # messages waiting for or from one peer; more are dropped
_STREAM_MESSAGES, _STREAM_BYTES = (
    1024,
    16 * 1024 * 1024,
)  # waiting for one reader of the topic stream: a second at 1 kHz
_MONITOR_EVENTS = 256  # monitor events looked at in one go
_COME_AND_GO = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED
_FAILURES = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH


def plain_send(socket: zmq.Socket) -> Callable[..., object]:
    """`socket.send` without its draft options, which double the time to queue a short message."""
    send: Callable[..., object] = super(zmq.Socket, socket).send
    return send


class ServerSockets:
    """ROUTER for requests, a conflated PUB for the latest state, a PUB by topic."""

    def __init__(self, settings: Settings, frame_max: int, state_bytes: int) -> None:
        """Bind all three, or raise EndpointError or KeyFileError with nothing left open."""
        wanted = Endpoints.derive(settings.endpoint, settings.state_endpoint, settings.topic_endpoint)
        for endpoint in (wanted.request, wanted.state, wanted.topics):
            check_binding(endpoint, settings.keys is not None)
        self._guards: list[IpcGuard] = []
        self._sockets: list[zmq.Socket] = []
        self._watched: list[zmq.Socket] = []
        self._gate = Gate(settings.keys) if settings.keys is not None else None
        self._refused_seen = self.failed = self.disconnected = 0
        self._readers: tuple[set[int], set[int]] = set(), set()  # descriptors, of the state and of the topics
        self.read = False  # whether anybody was connected to a stream at the last `look`
        self._context = zmq.Context()
        try:
            if self._gate is not None:
                self._gate.start(self._context)
            self.router = self._make(zmq.ROUTER, frame_max)
            self.router.rcvtimeo = IDLE_MS
            self._monitor = self._watch(self.router, _FAILURES | zmq.EVENT_DISCONNECTED)
            self._state = self._make(zmq.PUB, frame_max)
            self._state.conflate = 1
            self._topics = self._make(zmq.PUB, frame_max)
            self._topics.sndhwm = max(_QUEUE_MESSAGES, min(_STREAM_MESSAGES, _STREAM_BYTES // state_bytes))
            self._doors = [self._watch(socket, _COME_AND_GO) for socket in (self._state, self._topics)]
            self.endpoints = Endpoints(
                self._bind(self.router, wanted.request),
                self._bind(self._state, wanted.state),
                self._bind(self._topics, wanted.topics),
            )
        except BaseException:
            self.close()
            raise
        self.descriptor, self.answer = self.router.fileno(), plain_send(self.router)

    def _make(self, kind: int, frame_max: int) -> zmq.Socket:
        socket = self._context.socket(kind)
        self._sockets.append(socket)
        socket.linger = 200
        socket.maxmsgsize = frame_max
        socket.sndhwm = socket.rcvhwm = _QUEUE_MESSAGES
        socket.tcp_keepalive = 1
        if self._gate is not None:
            self._gate.protect(socket)
        return socket

    def _watch(self, socket: zmq.Socket, events: int) -> zmq.Socket:
        """A socket that brings these connection events of another."""
        monitor = socket.get_monitor_socket(events)
        self._watched.append(socket)
        self._sockets.append(monitor)
        return monitor

    def _bind(self, socket: zmq.Socket, endpoint: str) -> str:
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
        bound = bytes(socket.get(zmq.LAST_ENDPOINT))  # type: ignore[arg-type]
        return bound.rstrip(b"\0").decode()

    def look(self) -> None:
        """Note who came to and went from the streams: publishing to nobody would cost as much as a short step."""
        for readers, door in zip(self._readers, self._doors):
            for _ in range(_MONITOR_EVENTS):
                if not door.poll(0):
                    break
                message = recv_monitor_message(door)
                if message["event"] == zmq.EVENT_ACCEPTED:
                    readers.add(message["value"])
                else:
                    readers.discard(message["value"])
        self.read = bool(self._readers[0] or self._readers[1])

    def publish_state(self, message: memoryview) -> None:
        """Send a state to the streams that somebody reads."""
        if self._readers[0]:
            self._state.send(message, zmq.DONTWAIT)
        if self._readers[1]:
            self.publish("state", message)

    def publish(self, topic: str, message: bytes | memoryview) -> None:
        """Send [topic, message] to whoever subscribed; a slow reader loses messages and delays nobody."""
        self._topics.send(topic.encode(), MORE_NOWAIT)
        self._topics.send(message, zmq.DONTWAIT)

    @property
    def keys_refused(self) -> int:
        """How many connections were refused for an unknown key."""
        return self._gate.refused if self._gate is not None else 0

    def watch(self, events: deque[dict[str, Any]]) -> None:
        """Count failed handshakes and ended connections, and add what happened to ``events``."""
        refused = self.keys_refused
        if refused > self._refused_seen:
            events.append({"event": "key_refused", "count": refused - self._refused_seen})
            self._refused_seen = refused
        failed = ended = 0
        for _ in range(_MONITOR_EVENTS):
            if not self._monitor.poll(0):
                break
            event = recv_monitor_message(self._monitor)["event"]
            ended += event == zmq.EVENT_DISCONNECTED
            failed += event not in (zmq.EVENT_DISCONNECTED, zmq.EVENT_HANDSHAKE_FAILED_AUTH)
        if ended:
            self.disconnected += ended
            events.append({"event": "disconnected", "count": ended})
        if failed:
            self.failed += failed
            events.append({"event": "handshake_failed", "count": failed})
            log.warning("%d connection attempts failed: wrong protocol, or encryption used on one side only", failed)

    def close(self) -> None:
        """Close everything and remove ipc files; safe to call more than once."""
        for watched in self._watched:
            watched.disable_monitor()
        self._watched.clear()
        if self._gate is not None:
            self._gate.stop()
        for socket in self._sockets:
            socket.close()
        self._sockets.clear()
        self._context.term()
        for guard in self._guards:
            guard.release()
        self._guards.clear()
