"""TCP: the bench connects to the controller, or listens for it."""

from __future__ import annotations

import contextlib
import select
import socket
import time

from limberjack.addresses import Address, connects_to_itself
from limberjack.hil.devices.stream import StreamChannel
from limberjack.hil.errors import HilError

_RETRY_S = 0.1
_LOST_MS = 3000


class TcpClient(StreamChannel):
    """Connects to a peer, and reconnects when the connection has ended.

    wait_s : how long `open` waits for the peer, s; with 0 it does not wait, and later calls keep trying
    """

    def __init__(self, peer: Address, framing: str, wait_s: float) -> None:
        super().__init__(framing)
        self._peer, self._wait_s = peer, wait_s
        self._socket: socket.socket | None = None
        self._next_try = 0.0

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._descriptor = -1

    def _connect(self) -> None:
        deadline = time.monotonic() + self._wait_s
        self._next_try = 0.0
        while not self._ready() and time.monotonic() < deadline:
            time.sleep(0.005)
        if self._wait_s and self._descriptor < 0:
            self.close()
            raise HilError(
                f"tcp: nobody listens at {self._peer} after {self._wait_s:g} s; start the controller, or give wait_s."
            )

    def _ready(self) -> bool:
        if self._descriptor >= 0:
            return True
        if self._socket is None and time.monotonic() >= self._next_try:
            self._next_try = time.monotonic() + _RETRY_S
            self._socket = socket.socket(self._peer.family, socket.SOCK_STREAM)
            self._socket.setblocking(False)
            self._socket.connect_ex(self._peer.pair)
        if self._socket is not None and select.select([], [self._socket], [], 0.0)[1]:
            failed = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            with contextlib.suppress(OSError):
                failed = failed or connects_to_itself(self._socket)
            if failed:
                self.close()
                return False
            _settle(self._socket)
            self._begin()
            self._descriptor = self._socket.fileno()
        return self._descriptor >= 0


class TcpServer(StreamChannel):
    """Listens; takes one connection at a time, from allowed hosts.

    wait_s : how long `open` waits for the first, s; 0: it does not
    """

    def __init__(self, bind: Address, framing: str, allow: frozenset[str], wait_s: float) -> None:
        super().__init__(framing)
        self._bind, self._allow, self._wait_s = bind, allow, wait_s
        self._listener: socket.socket | None = None
        self._socket: socket.socket | None = None

    def close(self) -> None:
        """Close connection and listener."""
        self._lost()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _connect(self) -> None:
        listener = socket.socket(self._bind.family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(self._bind.pair)
            listener.listen(4)
            listener.setblocking(False)
        except OSError as error:
            listener.close()
            raise HilError(
                f"tcp: {self._bind} cannot be bound ({error.strerror}); choose another port or another address."
            ) from None
        self._listener = listener
        if self._wait_s:
            self._first()

    def _first(self) -> None:
        deadline = time.monotonic() + self._wait_s
        while not self._ready():
            if time.monotonic() > deadline:
                self.close()
                text = f"tcp: nobody connected to {self._bind} in {self._wait_s:g} s"
                raise HilError(f"{text}; start the controller, or give wait_s.")
            time.sleep(0.005)

    def _ready(self) -> bool:
        if self._descriptor >= 0 or self._listener is None:
            return self._descriptor >= 0
        try:
            made, source = self._listener.accept()
        except OSError:
            return False
        if source[0] not in self._allow:
            made.close()
            self._link.reject("host not allowed")
            return False
        made.setblocking(False)
        _settle(made)
        self._begin()
        self._socket, self._descriptor = made, made.fileno()
        return True

    def _lost(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._descriptor = -1


def _settle(made: socket.socket) -> None:
    """Send messages at once; a peer that acknowledges none for some time is given up, so another can connect
    (Linux)."""
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _LOST_MS)
