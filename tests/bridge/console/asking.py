"""HTTP and WebSocket without a browser, with headers as a browser or an attacker would send them."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect

_WAIT_S = 20.0


class Asker:
    """Asks the console at one port of 127.0.0.1."""

    def __init__(self, port: int) -> None:
        self.port = port

    def __call__(
        self, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str, http.client.HTTPMessage]:
        """Status, text and headers of the answer: GET, or POST of JSON (or of bytes as they are)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_WAIT_S)
        sent = {"Content-Type": "application/json"} if body is not None else {}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, data, sent | (headers or {}))
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, text, reply.headers

    def json(self, path: str, body: Any = None) -> Any:
        """The content of an answer that must be good."""
        status, text, _ = self(path, body)
        assert status == 200, text
        return json.loads(text)

    @contextmanager
    def live(self, headers: dict[str, str] | None = None) -> Iterator[Ear]:
        """A connection to the live telemetry."""
        with connect(
            f"ws://127.0.0.1:{self.port}/api/live", additional_headers=headers or {}, close_timeout=0.5
        ) as socket:
            yield Ear(socket)


class Ear:
    """Listens to live telemetry."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def say(self, message: Any) -> None:
        self.socket.send(message if isinstance(message, str) else json.dumps(message))

    def hear(self, *kinds: str) -> dict[str, Any]:
        """The next message of one of these kinds; anything else is passed over."""
        deadline = time.monotonic() + _WAIT_S
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=max(0.0, deadline - time.monotonic())))
            if message["kind"] in kinds:
                return message
