"""Separates messages on a stream of bytes: COBS, or back to back with a leading constant."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from limberjack.hil.devices.device import Link
from limberjack.hil.devices.message import Message


class Framer(Protocol):
    """Bytes received go in, whole messages come out; holds no more than one unfinished message."""

    def feed(self, data: bytes, found: deque[bytes], link: Link) -> None:
        """Take bytes; append messages to found and count what forms no message."""

    def frame(self, data: bytes) -> bytes:
        """A message as it goes onto the stream."""


def framer(framing: str, incoming: Message | None) -> Framer:
    """For messages like `incoming`; framing: "cobs" or "sync"."""
    size = incoming.size if incoming is not None else 0
    return Cobs(size) if framing == "cobs" or incoming is None else Sync(incoming)


class Cobs:
    """Consistent overhead byte stuffing (Cheshire and Baker, 1999): no zero within a message, a zero behind it."""

    def __init__(self, size: int) -> None:
        self._most = size + size // 254 + 2
        self._rest = bytearray()
        self._skipping = False

    def frame(self, data: bytes) -> bytes:
        """Each run without zeros, at most 254 bytes, behind its length + 1; then a zero."""
        out = bytearray()
        for run in data.split(b"\0"):
            while len(run) >= 254:
                out += b"\xff" + run[:254]
                run = run[254:]
            out.append(len(run) + 1)
            out += run
        out.append(0)
        return bytes(out)

    def feed(self, data: bytes, found: deque[bytes], link: Link) -> None:
        """Split at zeros; what grows longer than a message is dropped up to the next zero."""
        *ended, rest = data.split(b"\0")
        for part in ended:
            whole, skipping = bytes(self._rest) + part, self._skipping
            self._rest.clear()
            self._skipping = False
            if skipping:
                continue
            message = uncobs(whole) if len(whole) <= self._most else None
            if message is not None and whole:
                found.append(message)
            elif whole:
                link.reject("oversized" if len(whole) > self._most else "wrong framing")
        if not self._skipping:
            self._rest += rest
            if len(self._rest) > self._most:
                self._skipping = True
                self._rest.clear()
                link.reject("oversized")


def uncobs(data: bytes) -> bytes | None:
    """The message of a COBS frame without its zero; None if it is none."""
    out, place = bytearray(), 0
    while place < len(data):
        length = data[place]
        if length == 0 or place + length > len(data):
            return None
        out += data[place + 1 : place + length]
        place += length
        if length < 255 and place < len(data):
            out.append(0)
    return bytes(out)


class Sync:
    """Messages of one size back to back; the leading constant finds the next one after a disturbance.

    A stretch of junk is counted once. What begins with the constant but does not pass the message's check was damaged
    or no message; the next constant is looked for right behind the first byte.
    """

    def __init__(self, incoming: Message) -> None:
        self._incoming = incoming
        self._rest = bytearray()

    def frame(self, data: bytes) -> bytes:
        """As it is."""
        return data

    def feed(self, data: bytes, found: deque[bytes], link: Link) -> None:
        """Find messages; what is left is shorter than one."""
        self._rest += data
        rest, sync, size = self._rest, self._incoming.sync, self._incoming.size
        while len(rest) >= len(sync):
            start = rest.find(sync)
            junk = start if start >= 0 else len(rest) - len(sync) + 1
            if junk:
                link.reject("wrong framing")
                del rest[:junk]
            if start < 0 or len(rest) < size:
                return
            message = bytes(rest[:size])
            reason = self._incoming.damage(message)
            if reason:
                link.reject(reason)
                del rest[:1]
            else:
                found.append(message)
                del rest[:size]
