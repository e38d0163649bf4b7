"""UDP: one datagram per message."""

from __future__ import annotations

import contextlib
import errno
import select
import socket

from limberjack.addresses import Address
from limberjack.hil.devices.device import Link
from limberjack.hil.devices.message import Message
from limberjack.hil.errors import HilError

_TRANSIENT = (errno.EAGAIN, errno.EWOULDBLOCK, errno.ENOBUFS, errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH)


class UdpChannel:
    """Datagrams between a local address and a peer.

    bind : local address, port 0 for any;  peer : where messages go; None: to whoever sent the last one
    allow : hosts whose datagrams are taken
    """

    def __init__(self, bind: Address, peer: Address | None, allow: frozenset[str]) -> None:
        self._bind, self._peer, self._allow = bind, peer, allow
        self._socket: socket.socket | None = None
        self._largest = 0
        self._link = Link()
        self._target = peer.pair if peer is not None else None

    @property
    def port(self) -> int:
        """The local port; 0 before it is open."""
        return int(self._socket.getsockname()[1]) if self._socket is not None else 0

    def open(self, outgoing: Message, incoming: Message | None, link: Link) -> None:
        """Bind. HilError if the address is taken or not this machine's."""
        self.close()
        made = socket.socket(self._bind.family, socket.SOCK_DGRAM)
        try:
            made.setblocking(False)
            made.bind(self._bind.pair)
        except OSError as error:
            made.close()
            raise HilError(
                f"udp: {self._bind} cannot be bound ({error.strerror}); choose another port or another address."
            ) from None
        self._socket, self._link = made, link
        self._largest = incoming.size if incoming is not None else 0

    def push(self, data: bytes) -> bool:
        """Send a datagram; False if the system's buffer is full or nobody listens."""
        if self._socket is None or self._target is None:
            return False
        try:
            self._socket.sendto(data, self._target)
        except OSError as error:
            if error.errno not in _TRANSIENT:
                raise
            return False
        return True

    def pull(self) -> bytes | None:
        """The next datagram from an allowed host."""
        if self._socket is None:
            return None
        for _ in range(64):
            try:
                data, source = self._socket.recvfrom(self._largest + 1)
            except OSError as error:
                if error.errno == errno.ECONNREFUSED:
                    continue
                if error.errno in _TRANSIENT:
                    return None
                raise
            if source[0] in self._allow:
                self._target = self._target if self._peer is not None else source
                return data
            self._link.reject("host not allowed")
        return None

    def wait(self, limit_s: float) -> None:
        """Wait until a datagram arrives."""
        if self._socket is not None:
            select.select([self._socket], [], [], max(limit_s, 0.0))

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
            self._socket = None
