"""How packets leave and telecommands come in over TCP: one behind the other, to all who connect."""

from __future__ import annotations

import contextlib
import errno
import logging
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

from limberjack.addresses import Address
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.telemetry.ccsds.links import Take
from limberjack.bridge.telemetry.ccsds.packets import LARGEST_PACKET, PRIMARY_BYTES, packet_length

log = logging.getLogger("limberjack.gateway")

MOST_CLIENTS = 16
MOST_WAITING = 1 << 20  # bytes for one client; of more, whole packets are dropped
_CHUNK = 1 << 16
_READS_A_TURN = 16
_BREATH_S = 0.05  # where the process has no descriptors left
_NOTICE_S = 5.0
_TELECOMMAND_BITS = 0b0001  # version 0, type 1: the first four bits of every telecommand


class _Client:
    """One connection: what waits for it, and the beginning of a telecommand that has not come whole."""

    def __init__(self, connection: socket.socket, peer: str) -> None:
        self.connection, self.peer = connection, peer
        self.waiting: deque[memoryview] = deque()
        self.size = self.dropped = 0
        self.blocked = False
        self.heard = bytearray()


class TcpServer:
    """Listens; one thread does all reading and writing, so that no client waits for another, nor `send` for any.

    take : gets telecommands; None: what clients say is read and thrown away;  notify : gets news for people
    """

    def __init__(self, bind: Address, take: Take | None, notify: Callable[[str], None]) -> None:
        self._bind, self._take, self._notify = bind, take, notify
        self._clients: dict[socket.socket, _Client] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.port = bind.port
        self._away, self._notify_again = 0, 0.0  # turned away, not reported; not before this monotonic time

    def open(self) -> None:
        """Listen. Raises EndpointError for an address that cannot be had."""
        self._listener = socket.socket(self._bind.family, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind(self._bind.pair)
        except OSError as error:
            self._listener.close()
            raise EndpointError(f"cannot listen at {self._bind} ({error.strerror}). Choose another port.") from None
        self._listener.listen(MOST_CLIENTS)
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]
        self._selector, self._ending = selectors.DefaultSelector(), False
        self._bell, self._ear = socket.socketpair()
        self._bell.setblocking(False)
        self._ear.setblocking(False)
        for each in (self._listener, self._ear):
            self._selector.register(each, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="packets over TCP", daemon=True)
        self._thread.start()

    def send(self, packet: bytes) -> None:
        """Let all clients have a packet; one that does not keep up loses it whole."""
        with self._lock:
            for client in self._clients.values():
                if client.size + len(packet) > MOST_WAITING:
                    client.dropped += 1
                    continue
                client.waiting.append(memoryview(packet))
                client.size += len(packet)
        self._ring()

    def close(self) -> None:
        """Say what can be said without waiting and end; safe to call more than once."""
        if self._thread is not None:
            self._ending = True
            self._ring()
            self._thread.join()
            self._thread = None

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # full: it will look anyway
            self._bell.send(b"\0")

    # ---- the thread

    def _run(self) -> None:
        try:
            while not self._ending:
                for key, _ in self._selector.select():
                    self._turn(key)
                self._write_all()
        finally:
            for client in list(self._clients.values()):
                self._end(client, "")
            for each in (self._selector, self._listener, self._bell, self._ear):
                each.close()

    def _turn(self, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._listener:
            self._accept()
        elif key.fileobj is self._ear:
            with contextlib.suppress(OSError):
                self._ear.recv(4096)
        elif (client := self._clients.get(key.fileobj)) is not None:  # type: ignore[call-overload]
            self._read(client)

    def _accept(self) -> None:
        try:
            connection, (host, port, *_) = self._listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                time.sleep(_BREATH_S)  # a waiting client would be reported again at once, and again
            return
        if len(self._clients) >= MOST_CLIENTS:
            connection.close()
            self._turned_away(f"{host}:{port}")
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._clients[connection] = _Client(connection, f"{host}:{port}")
        self._selector.register(connection, selectors.EVENT_READ)

    def _turned_away(self, peer: str) -> None:
        """Report one, and how many since the last report; not each: they may come by the thousand."""
        self._away += 1
        now = time.monotonic()
        if now < self._notify_again:
            return
        more = f" {self._away - 1} others before it were too." if self._away > 1 else ""
        self._notify(f"{peer} was turned away: {MOST_CLIENTS} programs read these packets already.{more}")
        self._away, self._notify_again = 0, now + _NOTICE_S

    def _read(self, client: _Client) -> None:
        """Take what came; a stream that loses its frame cannot find it again and is ended."""
        for _ in range(_READS_A_TURN):
            try:
                data = client.connection.recv(_CHUNK)
            except BlockingIOError:
                return
            except OSError as error:
                return self._end(client, _why(error))
            if not data:
                return self._end(client, "")
            if self._take is not None and not self._frames(client, data, self._take):
                return self._end(client, "what it sent is not a telecommand")

    def _frames(self, client: _Client, data: bytes, take: Take) -> bool:
        """Hand over the packets that are whole now; False where no packet begins."""
        heard = client.heard
        heard += data
        while len(heard) >= PRIMARY_BYTES:
            if heard[0] >> 4 != _TELECOMMAND_BITS:
                return False
            length = packet_length(bytes(heard[:PRIMARY_BYTES]))
            if len(heard) < length:
                break
            take(bytes(heard[:length]), client.peer)
            del heard[:length]
        return len(heard) <= LARGEST_PACKET

    def _write_all(self) -> None:
        for client in list(self._clients.values()):
            try:
                blocked = not self._write(client)
            except OSError as error:
                self._end(client, _why(error))
                continue
            if blocked != client.blocked:
                client.blocked = blocked
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if blocked else 0)
                self._selector.modify(client.connection, wanted)

    def _write(self, client: _Client) -> bool:
        """Send what the connection takes now; False when some still waits. Raises OSError."""
        while True:
            with self._lock:
                if not client.waiting:
                    return True
                packet = client.waiting[0]
            try:
                sent = client.connection.send(packet)
            except BlockingIOError:
                return False
            with self._lock:
                client.size -= sent
                if sent == len(packet):
                    client.waiting.popleft()
                else:
                    client.waiting[0] = packet[sent:]

    def _end(self, client: _Client, why: str) -> None:
        with self._lock:
            self._clients.pop(client.connection, None)
        with contextlib.suppress(KeyError):
            self._selector.unregister(client.connection)
        client.connection.close()
        lost = f" {client.dropped} packets were dropped, as it did not keep up." if client.dropped else ""
        if why or lost:
            self._notify(f"{client.peer} is gone{': ' + why if why else ''}.{lost}")


def _why(error: OSError) -> str:
    """What is worth reporting: a client that leaves while packets are under way breaks the connection, which is not."""
    return "" if isinstance(error, ConnectionError) else error.strerror or "the connection broke"
