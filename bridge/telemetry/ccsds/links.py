"""How packets leave and telecommands come in over UDP: one packet a datagram."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from functools import partial
from typing import Protocol

from limberjack.addresses import Address
from limberjack.bridge.background import Background
from limberjack.bridge.errors import EndpointError

#: takes a telecommand and who sent it, without waiting
Take = Callable[[bytes, str], None]

_SLICE_S = 0.25  # between two looks at whether to end
_LARGEST_DATAGRAM = 65535


class Link(Protocol):
    """A way out for packets, and in for telecommands."""

    def open(self) -> None: ...

    def send(self, packet: bytes) -> None: ...

    def close(self) -> None: ...


class UdpLink:
    """Sends each packet as a datagram; receives telecommands at a separate address.

    Nobody needs to listen at the other end; what is not heard shows in the sequence counts of the packets.
    """

    def __init__(self, target: Address, commands: Address | None, take: Take) -> None:
        self._target, self._commands, self._take = target, commands, take
        self._reader: Background | None = None
        self.port = 0  # where telecommands are heard

    def open(self) -> None:
        """Make the sockets. Raises EndpointError for an address that cannot be had."""
        self._out = socket.socket(self._target.family, socket.SOCK_DGRAM)
        self._out.setblocking(False)
        if self._commands is None:
            return
        hears = socket.socket(self._commands.family, socket.SOCK_DGRAM)
        try:
            hears.bind(self._commands.pair)
        except OSError as error:
            hears.close()
            self._out.close()
            raise EndpointError(
                f"cannot listen for telecommands at {self._commands} ({error.strerror}). Choose another port."
            ) from None
        hears.settimeout(_SLICE_S)
        self.port = hears.getsockname()[1]
        self._reader = Background("telecommands over UDP", partial(self._read, hears))
        self._reader.start()

    def send(self, packet: bytes) -> None:
        """Send one packet; a full socket loses it, which the sequence counts show. Raises OSError without a route."""
        with contextlib.suppress(BlockingIOError):
            self._out.sendto(packet, self._target.pair)

    def close(self) -> None:
        """End; safe to call more than once, and when it never opened."""
        if self._reader is not None:
            self._reader.stop()
        if hasattr(self, "_out"):
            self._out.close()

    def _read(self, hears: socket.socket) -> None:
        assert self._reader is not None
        with hears:
            while not self._reader.stopping.is_set():
                with contextlib.suppress(OSError):  # also the time limit, and answers to nobody's datagrams
                    data, peer = hears.recvfrom(_LARGEST_DATAGRAM)
                    self._take(data, f"{peer[0]}:{peer[1]}")
