"""Peers that misbehave on purpose: raw ZMTP without a library that keeps the rules; what a process keeps for them."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import struct

_GREETING = b"\xff" + 8 * b"\0" + b"\x7f\x03\0" + b"NULL".ljust(20, b"\0") + 32 * b"\0"


def connected(port: int, kind: bytes = b"SUB", *, receive_bytes: int | None = None) -> socket.socket:
    """A TCP connection after the handshake of ZMTP 3.0. OSError when it is turned away."""
    raw = socket.socket()
    raw.settimeout(5.0)
    if receive_bytes is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    try:
        raw.connect(("127.0.0.1", port))
        name = b"\x0bSocket-Type"
        body = b"\x05READY" + name + struct.pack(">I", len(kind)) + kind
        raw.sendall(_GREETING + bytes([4, len(body)]) + body)
        take(raw, 64)
        take(raw, take(raw, 2)[1])
    except OSError:
        raw.close()
        raise
    return raw


def take(raw: socket.socket, count: int) -> bytes:
    """So many bytes. OSError when the connection ends before."""
    taken = b""
    while len(taken) < count:
        portion = raw.recv(count - len(taken))
        if not portion:
            raise ConnectionResetError("turned away")
        taken += portion
    return taken


def frame(content: bytes, *, more: bool = False) -> bytes:
    """One frame of ZMTP 3."""
    if len(content) < 256:
        return bytes([more, len(content)]) + content
    return bytes([2 + more]) + struct.pack(">Q", len(content)) + content


def take_frame(raw: socket.socket) -> bytes:
    """The content of the next frame."""
    flags = take(raw, 1)[0]
    return take(raw, struct.unpack(">Q", take(raw, 8))[0] if flags & 2 else take(raw, 1)[0])


def subscribe_without_end(port: int, count: int, size: int) -> int:
    """Send so many subscriptions of random prefixes, again after each time of being turned away; how often that was."""
    turned_away = sent = 0
    raw = None
    while sent < count:
        portion = b"".join(frame(b"\1" + os.urandom(size)) for _ in range(100))
        sent += 100  # also those that nobody takes: the time is bounded
        try:
            raw = raw or connected(port)
            raw.sendall(portion)
        except OSError:
            turned_away += 1
            if raw is not None:
                raw.close()
            raw = None
    if raw is not None:
        with contextlib.suppress(OSError):
            raw.settimeout(0.5)
            turned_away += not raw.recv(1)
        raw.close()
    return turned_away


def resident_mb(pid: int) -> float:
    """Memory of a process, MB."""
    with open(f"/proc/{pid}/statm") as file:
        return 1e-6 * int(file.read().split()[1]) * resource.getpagesize()
