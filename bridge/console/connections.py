"""Limits on the connections of the console's server: their number, and the time without a complete request."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

CONNECTIONS_MAX = 256
REQUEST_S = 10.0  # for a request to come, headers and body, and between two of one connection
_SWEEP_S = 0.5
_LOG_S = 10.0  # between two lines of the log about malformed requests


class Crowd:
    """All connections of a server. Everything happens on its event loop.

    turned_away : connections ended because there were too many, or no request came in time
    """

    def __init__(self) -> None:
        self.members: dict[asyncio.Transport, Member] = {}
        self.turned_away = 0

    def factory(self, server: Callable[[], asyncio.Protocol]) -> Callable[[], Member]:
        """A maker of protocols that guards those of a server."""
        return lambda: Member(self, server())

    def enter(self, transport: asyncio.Transport, member: Member) -> bool:
        """Whether a connection may stay; if there are too many, the one idle for longest is ended."""
        if len(self.members) >= CONNECTIONS_MAX:
            idle = [each for each in self.members.values() if not each.busy]
            if not idle:
                self.turned_away += 1
                return False
            self._end(min(idle, key=lambda each: each.since))
        self.members[transport] = member
        return True

    def begin(self, request: web.Request) -> None:
        """Note that a complete request has arrived."""
        self._count(request, 1)

    def finish(self, request: web.Request) -> None:
        """Note that a request has been answered."""
        self._count(request, -1)

    def _count(self, request: web.Request, change: int) -> None:
        member = self.members.get(request.transport) if request.transport is not None else None  # type: ignore[call-overload]
        if member is not None:
            member.busy += change
            member.since = time.monotonic()

    async def sweep(self) -> None:
        """End connections that keep the server waiting; runs until cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_S)
            late = time.monotonic() - REQUEST_S
            for member in list(self.members.values()):
                if not member.busy and member.since < late:
                    self._end(member)

    def _end(self, member: Member) -> None:
        self.turned_away += 1
        if member.transport is not None:
            self.members.pop(member.transport, None)
            member.transport.abort()


class Member(asyncio.Protocol):
    """One connection: passes everything on to the protocol that it guards.

    busy : requests being answered;  since : when the last one came or was answered, on the monotonic clock
    """

    def __init__(self, crowd: Crowd, inner: asyncio.Protocol) -> None:
        self.busy, self.since = 0, time.monotonic()
        self.transport: asyncio.Transport | None = None
        self._crowd, self._inner = crowd, inner

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or end it."""
        assert isinstance(transport, asyncio.Transport)
        if not self._crowd.enter(transport, self):
            transport.abort()
            return
        self.transport = transport
        self._inner.connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """It ended."""
        if self.transport is not None:
            self._crowd.members.pop(self.transport, None)
            self._inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Pass on."""
        if self.transport is not None:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass on."""
        return self._inner.eof_received() if self.transport is not None else None

    def pause_writing(self) -> None:
        """Pass on."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass on."""
        self._inner.resume_writing()


class _Briefly(logging.Filter):
    """Logs malformed requests as one line at intervals instead of a traceback for each."""

    def __init__(self) -> None:
        super().__init__()
        self._count, self._logged = 0, 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged; shortens it."""
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, HttpProcessingError):
            return True
        self._count += 1
        now = time.monotonic()
        if self._logged and now - self._logged < _LOG_S:
            return False
        text = f"{self._count} malformed requests since the last line of this kind; the newest: {error.message!r:.100}"
        record.msg, record.args, record.exc_info, record.levelno = text, (), None, logging.WARNING
        record.levelname = logging.getLevelName(logging.WARNING)
        self._count, self._logged = 0, now
        return True


def http_log() -> logging.Logger:
    """The log of a console's server."""
    log = logging.getLogger("limberjack.gateway.console")
    if not log.filters:
        log.addFilter(_Briefly())
    return log
