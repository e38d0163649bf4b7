"""The connections of a listening ZeroMQ socket, and limits on the memory that a connection may make it use.

libzmq limits neither the connections of a socket, nor the frames of a message whose last frame does not arrive, nor
subscriptions. A `Door` therefore counts them from outside and ends a connection that exceeds a limit: it shuts down the
descriptor, and libzmq then frees the connection's memory. The peer may connect again.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import math
import os
import socket as network
import stat
import struct
import termios
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import zmq

#: ZAP domain of all listening sockets; the authenticator must serve this domain, or every client is refused
ZAP_DOMAIN = b"limberjack"
#: bytes of the largest frame that a reader may send: the handshake of CurveZMQ with its metadata fits
READER_FRAME_MAX = 1024
_FAILURES = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH
_WATCHED = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | _FAILURES
_EVENT = struct.Struct("=Hi")  # number and value of a monitor's message
_INT = struct.Struct("i")
_EVENTS_A_LOOK = 4096
_MONITOR_QUEUE = 20_000  # events in the queue; if there are more, libzmq's input and output thread waits too
_GRACE_S = 1.0  # a connection that was silent for so long gives way to another
_BEATS_BYTES_S = 64  # a peer may send heartbeats at this rate; they do not count as messages
_FREED_S = 0.2  # after a connection ends, libzmq has freed its memory within this time
_TCP_INFO_BYTES, _RECEIVED_AT = 136, 128  # of Linux: struct tcp_info up to tcpi_bytes_received


@dataclass
class Connection:
    """One connection of a door.

    heard : complete messages so far;  prefixes : its subscriptions;  user : its name in CurveZMQ
    weighed : messages heard, bytes received by then, and when: at the last weighing that saw a new message
    received : bytes until the last weighing, where the system counts them
    burst : messages in the present reading;  ending : whether it was shut down
    """

    descriptor: int
    since: float
    heard: int = 0
    burst: int = 0
    user: str | None = None
    prefixes: set[bytes] = field(default_factory=set)
    weighed: tuple[int, int, float] | None = None
    received: int | None = None
    ending: bool = False


class Door:
    """The connections of one listening socket. One thread calls `look` and `weigh`, the socket's thread `hear`.

    most : connections at once;  unfinished_max : bytes that may arrive without completing a message
    failed, refused, ended : handshakes that failed, those refused for their key, and connections that ended
    turned_away : reason → connections that this door ended
    """

    def __init__(self, socket: zmq.Socket, most: int, unfinished_max: int) -> None:
        """Watch a socket that is not bound yet; before it is bound, so that no connection is missed."""
        self.most, self._unfinished_max = most, unfinished_max
        self.table: dict[int, Connection] = {}
        self.failed = self.refused = self.ended = 0
        self.turned_away: Counter[str] = Counter()
        socket.zap_domain = ZAP_DOMAIN  # also without keys: refuses peers older than ZMTP 3, which are all alike
        self._socket, self._lock, self._ending = socket, threading.Lock(), 0
        self.shut_until = 0.0  # monotonic time before which no connection is accepted
        self._place: int | str = ""
        self._trim_at = math.inf  # of the monotonic clock
        address = f"inproc://door-{id(self)}"
        socket.monitor(address, _WATCHED)
        self.monitor: zmq.Socket = socket.context.socket(zmq.PAIR)
        self.monitor.rcvhwm = _MONITOR_QUEUE
        self.monitor.linger = 0
        self.monitor.connect(address)

    def bound(self, endpoint: str) -> None:
        """Note the endpoint at which the socket listens, as libzmq reports it; only its connections are ended."""
        transport, _, place = endpoint.partition("://")
        self._place = int(place.rpartition(":")[2]) if transport == "tcp" else place

    # ---- the socket's thread

    def hear(self, frame: zmq.Frame) -> Connection | None:
        """The connection that sent a frame of a complete message; None if it is ending or not yet known."""
        try:
            connection = self.table.get(frame.get(zmq.SRCFD))
        except zmq.ZMQError:  # libzmq itself reports the end of a reader's subscriptions
            return None
        if connection is None or connection.ending:
            return None
        connection.heard += 1
        return connection

    # ---- the watching thread

    def look(self) -> None:
        """Note new and ended connections, and end those beyond `most`; bounded, never waits."""
        for _ in range(_EVENTS_A_LOOK):
            try:
                message = self.monitor.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return
            self._take(*_EVENT.unpack(message[0]))

    def _take(self, event: int, value: int) -> None:
        if event == zmq.EVENT_ACCEPTED:
            self.table[value] = Connection(value, time.monotonic())
            if time.monotonic() < self.shut_until:
                self.shut(self.table[value], "flood")
            elif len(self.table) - self._ending > self.most:
                self.shut(self._surplus(value), "connections")
        elif event == zmq.EVENT_DISCONNECTED:
            gone = self.table.pop(value, None)
            if gone is not None and gone.ending:
                self._ending -= 1
                self._trim_at = time.monotonic() + _FREED_S
            self.ended += 1
        elif event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            self.refused += 1
        else:
            self.failed += 1

    def _surplus(self, newest: int) -> Connection:
        """The connection to end: the one that was silent for longest, or else the newest."""
        now = time.monotonic()
        for connection in list(self.table.values()):  # in the order of their arrival
            if not (connection.heard or connection.ending) and now - connection.since > _GRACE_S:
                return connection
        return self.table[newest]

    def weigh(self, now: float) -> None:
        """End connections that keep sending without completing a message. TCP only: others belong to this user."""
        if now >= self._trim_at:
            self._trim_at = math.inf
            _return_freed_memory()
        if isinstance(self._place, str):  # each look at 20 connections would take 0.3 ms from a frame
            return
        for connection in list(self.table.values()):
            received = self._received(connection.descriptor)
            if received is None:
                continue
            connection.received = received
            weighed = connection.weighed
            if weighed is None or weighed[0] != connection.heard:
                connection.weighed = (connection.heard, received, now)
            elif received - weighed[1] > self._unfinished_max + _BEATS_BYTES_S * (now - weighed[2]):
                self.shut(connection, "unfinished")

    # ---- either

    def shut(self, connection: Connection, reason: str) -> None:
        """End a connection and count it under a reason; does nothing if it is ending already."""
        with self._lock:
            if connection.ending:
                return
            connection.ending = True
            self._ending += 1
            self.turned_away[reason] += 1
        with self._handle(connection.descriptor) as handle, contextlib.suppress(OSError):
            if handle is not None:
                handle.shutdown(network.SHUT_RDWR)

    def _received(self, descriptor: int) -> int | None:
        """Bytes that libzmq has read from a TCP connection; None if the system does not report it."""
        with self._handle(descriptor) as handle:
            if handle is None or handle.family == network.AF_UNIX or not hasattr(network, "TCP_INFO"):
                return None
            try:
                info = handle.getsockopt(network.IPPROTO_TCP, network.TCP_INFO, _TCP_INFO_BYTES)
                waiting = _INT.unpack(fcntl.ioctl(handle, termios.FIONREAD, bytes(_INT.size)))[0]
            except OSError:
                return None
            whole = len(info) == _TCP_INFO_BYTES
            return int(struct.unpack_from("Q", info, _RECEIVED_AT)[0]) - waiting if whole else None

    def stuck(self) -> set[int]:
        """Descriptors of the connections with sent data that the peer has not yet acknowledged."""
        found = set()
        for descriptor in list(self.table):
            with self._handle(descriptor) as handle, contextlib.suppress(OSError):
                if handle is not None and _INT.unpack(fcntl.ioctl(handle, termios.TIOCOUTQ, bytes(_INT.size)))[0]:
                    found.add(descriptor)
        return found

    @contextlib.contextmanager
    def _handle(self, descriptor: int) -> Iterator[network.socket | None]:
        """A separate socket object for a connection; None if the descriptor now belongs to something else."""
        try:
            copy = os.dup(descriptor)
        except OSError:
            yield None
            return
        if not stat.S_ISSOCK(os.fstat(copy).st_mode):
            os.close(copy)
            yield None
            return
        with network.socket(fileno=copy) as handle:
            yield handle if self._ours(handle) else None

    def _ours(self, handle: network.socket) -> bool:
        try:
            name = handle.getsockname()
        except OSError:
            return False
        return bool((name[1] if isinstance(name, tuple) else name) == self._place)

    def close(self) -> None:
        """Stop watching; call this before the socket is closed."""
        if not self.monitor.closed:
            self._socket.disable_monitor()
            self.monitor.close()


def _return_freed_memory() -> None:
    """Return memory that libzmq freed to the system: glibc keeps up to 64 MB for each arena. Acts only with glibc."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


class ReaderDoor(Door):
    """The door of a socket (XPUB, verboser) from which others only read: it receives only subscriptions."""

    PREFIXES_MAX, PREFIX_BYTES_MAX = 32, 2048  # of one connection
    BURST_MAX = 64  # subscriptions and their ends of one connection between two readings
    _MESSAGES_A_READING = 256
    _LOUD_BYTES = 4096
    PAUSE_S = 5.0  # for how long no connection is accepted after one sent too much

    def __init__(self, socket: zmq.Socket, most: int) -> None:
        """socket : XPUB, not bound yet; its bounds on what comes in are set here."""
        super().__init__(socket, most, 1 << 20)
        socket.xpub_verboser = 1
        socket.maxmsgsize = READER_FRAME_MAX
        socket.rcvhwm = 8

    def read_subscriptions(self, keyed: bool = False) -> None:
        """Process the readers' messages and end those who exceed a limit. keyed : readers are known by their keys."""
        spoke: list[Connection] = []
        for _ in range(self._MESSAGES_A_READING):
            try:
                frame = self._socket.recv(zmq.DONTWAIT, copy=False)
            except zmq.Again:
                break
            connection = self.hear(frame)
            if connection is None:
                continue
            if keyed:
                connection.user = str(frame.get("User-Id"))
            if not connection.burst:
                spoke.append(connection)
            connection.burst += 1
            if reason := self._judge(connection, frame):
                self._turn_away(connection, reason)
        for connection in spoke:
            connection.burst = 0

    def quieten(self) -> None:
        """End connections that have sent much since the last weighing; if there were any, accept none for some time."""
        for connection in list(self.table.values()):
            received = self._received(connection.descriptor)
            if received is not None and received - (connection.received or 0) > self._LOUD_BYTES:
                self._turn_away(connection, "flood")

    def _turn_away(self, connection: Connection, reason: str) -> None:
        self.shut(connection, reason)
        if reason == "flood":
            self.shut_until = time.monotonic() + self.PAUSE_S

    def _judge(self, connection: Connection, frame: zmq.Frame) -> str:
        """Process one message of a reader; returns why its connection must end, or ""."""
        message = frame.bytes
        if frame.more or message[:1] not in (b"\0", b"\1"):
            return "no subscription"
        prefixes, prefix = connection.prefixes, message[1:]
        (prefixes.add if message[0] else prefixes.discard)(prefix)
        if len(prefixes) > self.PREFIXES_MAX or sum(map(len, prefixes)) > self.PREFIX_BYTES_MAX:
            return "subscriptions"
        return "flood" if connection.burst > self.BURST_MAX else ""
