"""Who is connected to a ZeroMQ socket that listens, and the bounds on what a connection may make it keep.

libzmq has no bound on the connections of a socket, nor on a message of many frames whose last does not come, nor on
subscriptions. So a `Door` counts them from outside and ends the connection that goes beyond: it shuts its descriptor
down, libzmq then frees what it kept for it. A connection that is ended may come back.
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

#: of all sockets that listen; who answers for keys must answer for this domain, or every client is refused
ZAP_DOMAIN = b"limberjack"
#: bytes of the largest frame that whoever only reads may send: the handshake of CurveZMQ with its metadata fits
READER_FRAME_MAX = 1024
_FAILURES = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH
_WATCHED = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | _FAILURES
_EVENT = struct.Struct("=Hi")  # number and value of a monitor's message
_INT = struct.Struct("i")
_EVENTS_A_LOOK = 4096
_MONITOR_QUEUE = 20_000  # events that wait; with more the thread that does all input and output waits too
_GRACE_S = 1.0  # a connection that has said nothing for so long gives way to another
_BEATS_BYTES_S = 64  # a peer may ask for a sign of life so often, which is no message
_FREED_S = 0.2  # after the end of a connection libzmq has freed what it kept for it
_TCP_INFO_BYTES, _RECEIVED_AT = 136, 128  # of Linux: struct tcp_info up to tcpi_bytes_received


@dataclass
class Connection:
    """One connection of a door.

    heard : messages that came whole;  prefixes : its subscriptions;  user : name that CurveZMQ knows it by
    weighed : messages heard, bytes received by then, and when: as of the last weighing with another message in it
    received : bytes until the last weighing, where the system counts them
    burst : messages in the reading that goes on;  ending : it was shut down
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
    """The connections of one socket that listens. `look` and `weigh` belong to one thread, `hear` to the socket's.

    most : connections at once;  unfinished_max : bytes that may come without a whole message among them
    failed, refused, ended : handshakes that failed otherwise and for their key, connections that ended
    turned_away : reason → connections that this door ended
    """

    def __init__(self, socket: zmq.Socket, most: int, unfinished_max: int) -> None:
        """Watch a socket that is not bound yet; before it is bound, so that no connection is missed."""
        self.most, self._unfinished_max = most, unfinished_max
        self.table: dict[int, Connection] = {}
        self.failed = self.refused = self.ended = 0
        self.turned_away: Counter[str] = Counter()
        socket.zap_domain = ZAP_DOMAIN  # without keys too: refuses peers older than ZMTP 3, which look all alike
        self._socket, self._lock, self._ending = socket, threading.Lock(), 0
        self.shut_until = 0.0  # of the monotonic clock: nobody is let in before
        self._place: int | str = ""
        self._trim_at = math.inf  # of the monotonic clock
        address = f"inproc://door-{id(self)}"
        socket.monitor(address, _WATCHED)
        self.monitor: zmq.Socket = socket.context.socket(zmq.PAIR)
        self.monitor.rcvhwm = _MONITOR_QUEUE
        self.monitor.linger = 0
        self.monitor.connect(address)

    def bound(self, endpoint: str) -> None:
        """Where the socket listens now, as libzmq tells it: only connections of this place are ended."""
        transport, _, place = endpoint.partition("://")
        self._place = int(place.rpartition(":")[2]) if transport == "tcp" else place

    # ---- the socket's thread

    def hear(self, frame: zmq.Frame) -> Connection | None:
        """The connection that a frame of a whole message came through; None for one that ends or is not known yet."""
        try:
            connection = self.table.get(frame.get(zmq.SRCFD))
        except zmq.ZMQError:  # libzmq's own word for the end of a reader's subscriptions
            return None
        if connection is None or connection.ending:
            return None
        connection.heard += 1
        return connection

    # ---- the watching thread

    def look(self) -> None:
        """Note who came and went, and end connections beyond the most; bounded, never waits."""
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
        """Who has to go: who has been silent for longest, or else the newest."""
        now = time.monotonic()
        for connection in list(self.table.values()):  # in the order in which they came
            if not (connection.heard or connection.ending) and now - connection.since > _GRACE_S:
                return connection
        return self.table[newest]

    def weigh(self, now: float) -> None:
        """End connections that send and send and never finish a message. TCP only: others are this user's own."""
        if now >= self._trim_at:
            self._trim_at = math.inf
            _return_freed_memory()
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
        """End a connection and count it under a reason; nothing when it ends already."""
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
        """Bytes that libzmq took from a TCP connection so far; None where the system does not say."""
        with self._handle(descriptor) as handle:
            if handle is None or handle.family == network.AF_UNIX or not hasattr(network, "TCP_INFO"):
                return None
            try:
                told = handle.getsockopt(network.IPPROTO_TCP, network.TCP_INFO, _TCP_INFO_BYTES)
                waiting = _INT.unpack(fcntl.ioctl(handle, termios.FIONREAD, bytes(_INT.size)))[0]
            except OSError:
                return None
            whole = len(told) == _TCP_INFO_BYTES
            return int(struct.unpack_from("Q", told, _RECEIVED_AT)[0]) - waiting if whole else None

    def stuck(self) -> set[int]:
        """Descriptors of the connections on which the system holds what the peer has not taken."""
        found = set()
        for descriptor in list(self.table):
            with self._handle(descriptor) as handle, contextlib.suppress(OSError):
                if handle is not None and _INT.unpack(fcntl.ioctl(handle, termios.TIOCOUTQ, bytes(_INT.size)))[0]:
                    found.add(descriptor)
        return found

    @contextlib.contextmanager
    def _handle(self, descriptor: int) -> Iterator[network.socket | None]:
        """A socket of our own on a connection; None when the descriptor is another's by now."""
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
        """Stop to watch; before the socket is closed."""
        if not self.monitor.closed:
            self._socket.disable_monitor()
            self.monitor.close()


def _return_freed_memory() -> None:
    """Give the system what libzmq freed: glibc keeps up to 64 MB for each of its arenas. Nothing without glibc."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


class ReaderDoor(Door):
    """The door of a socket (XPUB, verboser) that others only read: what it hears are subscriptions."""

    PREFIXES_MAX, PREFIX_BYTES_MAX = 32, 2048  # of one connection
    BURST_MAX = 64  # subscriptions and their ends of one connection between two readings
    _MESSAGES_A_READING = 256
    _LOUD_BYTES = 4096
    PAUSE_S = 5.0  # in which nobody is let in after somebody was too loud

    def __init__(self, socket: zmq.Socket, most: int) -> None:
        """socket : XPUB, not bound yet; its bounds on what comes in are set here."""
        super().__init__(socket, most, 1 << 20)
        socket.xpub_verboser = 1
        socket.maxmsgsize = READER_FRAME_MAX
        socket.rcvhwm = 8

    def read_subscriptions(self, keyed: bool = False) -> None:
        """Take what readers said and end those who went too far. keyed : they are known by their keys."""
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
        """End who has sent much since the last weighing, and let nobody in for a while if there was such a one."""
        for connection in list(self.table.values()):
            received = self._received(connection.descriptor)
            if received is not None and received - (connection.received or 0) > self._LOUD_BYTES:
                self._turn_away(connection, "flood")

    def _turn_away(self, connection: Connection, reason: str) -> None:
        self.shut(connection, reason)
        if reason == "flood":
            self.shut_until = time.monotonic() + self.PAUSE_S

    def _judge(self, connection: Connection, frame: zmq.Frame) -> str:
        """Take one message of a reader; why the reader must go, or nothing."""
        message = frame.bytes
        if frame.more or message[:1] not in (b"\0", b"\1"):
            return "no subscription"
        prefixes, prefix = connection.prefixes, message[1:]
        (prefixes.add if message[0] else prefixes.discard)(prefix)
        if len(prefixes) > self.PREFIXES_MAX or sum(map(len, prefixes)) > self.PREFIX_BYTES_MAX:
            return "subscriptions"
        return "flood" if connection.burst > self.BURST_MAX else ""
