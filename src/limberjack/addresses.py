"""Numeric addresses, and the key files of links without CurveZMQ."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path

from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.files.bounded_file import read_bytes

_LEAST_KEY_BYTES = 16
_MOST_KEY_BYTES = 4096


@dataclass(frozen=True)
class Address:
    """A numeric host and a port."""

    host: str
    port: int

    @property
    def pair(self) -> tuple[str, int]:
        """(host, port), as sockets take it."""
        return self.host, self.port

    @property
    def family(self) -> socket.AddressFamily:
        """IPv4 or IPv6."""
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    @property
    def local(self) -> bool:
        """Whether the address is reachable from this machine only."""
        return ipaddress.ip_address(self.host).is_loopback

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def connects_to_itself(link: socket.socket) -> bool:
    """Whether a TCP socket is its own peer: a port of this machine may connect to itself while nobody listens there.

    Raises OSError if the socket is not connected.
    """
    own, peer = link.getsockname(), link.getpeername()
    return bool(own == peer)


def host_number(text: str, where: str) -> str:
    """The host as a number. Names are not resolved, because that could wait for a server."""
    if text == "localhost":
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(text.strip("[]")))
    except ValueError:
        raise ArgumentError(
            f"{where}: '{text}' is not an address; give numbers like 127.0.0.1, or localhost."
        ) from None


def address(text: str, where: str, least_port: int = 1) -> Address:
    """The Address of the text HOST:PORT. Raises ArgumentError for anything else."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and least_port <= int(port) <= 65535):
        raise ArgumentError(f"{where}: '{text}' is not HOST:PORT; give for example 127.0.0.1:9000.")
    return Address(host_number(host, where), int(port))


def read_key(path: Path) -> bytes:
    """A key: the content of a file that others cannot read, at least 16 bytes."""
    try:
        key = read_bytes(path, _MOST_KEY_BYTES)
        mode = path.stat().st_mode
    except ModelError as error:
        raise ArgumentError(f"key_file {path}: cannot be read ({error.what}); check path and permissions.") from None
    if mode & 0o077:
        raise ArgumentError(f"key_file {path} can be read by other users; run: chmod 600 {path}")
    if len(key) < _LEAST_KEY_BYTES:
        raise ArgumentError(
            f"key_file {path} has {len(key)} bytes; make one of {_LEAST_KEY_BYTES} to {_MOST_KEY_BYTES}, for example: "
            f"head -c 32 /dev/urandom > {path}"
        )
    return key
