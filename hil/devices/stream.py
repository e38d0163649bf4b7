"""Messages over a stream of bytes: what TCP and serial lines have in common."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque

from limberjack.hil.devices.device import Link
from limberjack.hil.devices.framing import Framer, framer
from limberjack.hil.devices.message import Message

_CHUNK = 4096
_MOST_CHUNKS = 16


class StreamChannel:
    """A channel over a non-blocking descriptor; subclasses open it.

    empty_ends : whether reading nothing means that the other side has left
    """

    empty_ends = True

    def __init__(self, framing: str) -> None:
        self._framing = framing
        self._descriptor = -1
        self._framer: Framer
        self._found: deque[bytes] = deque()
        self._unsent = b""
        self._incoming: Message | None = None
        self._link = Link()

    def open(self, outgoing: Message, incoming: Message | None, link: Link) -> None:
        """Connect or listen."""
        self.close()
        self._incoming, self._link = incoming, link
        self._begin()
        self._connect()

    def push(self, data: bytes) -> bool:
        """Write a complete message; False while a part of the one before is still waiting."""
        if not self._ready() or not self._flush():
            return False
        framed = self._framer.frame(data)
        written = self._write(framed)
        if written < 0:
            return False
        self._unsent = framed[written:]
        return True

    def pull(self) -> bytes | None:
        """The next message that has arrived; one call reads a bounded number of bytes."""
        for _ in range(_MOST_CHUNKS):
            if self._found:
                return self._found.popleft()
            if not self._ready():
                return None
            self._flush()
            try:
                data = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                return None
            except OSError:
                self._lost()
                return None
            if not data:
                if self.empty_ends:
                    self._lost()
                return None
            self._framer.feed(data, self._found, self._link)
        return self._found.popleft() if self._found else None

    def wait(self, limit_s: float) -> None:
        """Wait until bytes arrive; without a connection, for a moment."""
        if self._found or limit_s <= 0.0:
            return
        if not self._ready():
            time.sleep(min(limit_s, 0.002))
            return
        select.select([self._descriptor], [self._descriptor] if self._unsent else [], [], limit_s)

    def close(self) -> None:
        """Close the descriptor."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def _begin(self) -> None:
        """Drop incomplete messages of an earlier connection."""
        self._framer = framer(self._framing, self._incoming)
        self._found.clear()
        self._unsent = b""

    def _flush(self) -> bool:
        """Write the rest of the last message; returns whether nothing remains."""
        if self._unsent:
            self._unsent = self._unsent[max(self._write(self._unsent), 0) :]
        return not self._unsent

    def _write(self, data: bytes) -> int:
        """Write bytes; returns how many were accepted, -1 if none."""
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return -1
        except OSError:
            self._lost()
            return -1

    def _connect(self) -> None:
        raise NotImplementedError

    def _ready(self) -> bool:
        """Whether there is a connection; tries to make one, without waiting."""
        return self._descriptor >= 0

    def _lost(self) -> None:
        """Note that the connection has ended."""
        self.close()
