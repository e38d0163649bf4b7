"""Connections of the console that keep it waiting: bounded in number and time, and one line of the log for all."""

from __future__ import annotations

import contextlib
import logging
import socket
import time

import pytest

from limberjack.bridge.console import connections, routes
from limberjack.bridge.telemetry.outlets import port_guard
from tests.bridge.telemetry.engines import until

pytestmark = pytest.mark.usefixtures("pretended")
WAIT_S = 20.0
HEAD = b"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def bench(serve, dock, monkeypatch):
    for module in (connections, routes):
        monkeypatch.setattr(module, "REQUEST_S", 1.0)
    with serve(dock, mode="lockstep") as made:
        yield made


def connected(bench):
    return socket.create_connection(("127.0.0.1", bench.console.port), WAIT_S)


def closed(raw):
    raw.settimeout(0.0)
    try:
        return raw.recv(65536) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("beginning", [b"", HEAD, HEAD + b"X-Slow: "])
def test_a_half_request_is_ended_also_one_that_grows_slowly(bench, beginning):
    with connected(bench) as raw:
        raw.sendall(beginning)
        ended = time.monotonic() + WAIT_S
        while not closed(raw):
            assert time.monotonic() < ended, "it stays open"
            time.sleep(0.1)
            if beginning.endswith(b" ") and not closed(raw):
                raw.settimeout(WAIT_S)
                with contextlib.suppress(OSError):
                    raw.send(b"x")
    assert bench.ask.json("/api/status")["outlets"]


def test_a_body_that_does_not_come_is_not_waited_for(bench):
    with connected(bench) as raw:
        head = HEAD.replace(b"GET /api/status", b"POST /api/order")
        raw.sendall(head + b'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"action":')
        raw.settimeout(WAIT_S)
        assert raw.recv(4096).startswith(b"HTTP/1.1 408")


def test_connections_are_bounded_and_idle_ones_give_way(bench, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_S", 60.0)
    monkeypatch.setattr(port_guard, "_SILENT_S", 60.0)
    with bench.ask.live() as ear:
        ear.hear("hello")
        idle = [connected(bench) for _ in range(connections.CONNECTIONS_MAX + 40)]
        until(lambda: sum(map(closed, idle)) >= 40, "all of them stay")
        assert len(bench.console.running.crowd.members) <= connections.CONNECTIONS_MAX
        assert bench.ask.json("/api/status")["outlets"]  # somebody who asks finds a place
        ear.hear("condition")  # who is served keeps theirs
        for each in idle:
            each.close()


def test_live_telemetry_stays_though_nothing_is_asked_for_long(bench):
    with bench.ask.live() as ear:
        ear.hear("hello")
        started = time.monotonic()
        while time.monotonic() < started + 3.0:
            ear.hear("condition")


MALFORMED = (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", HEAD + b"X\r\n\r\n", HEAD + b"Content-Length: many\r\n\r\n")


def test_malformed_requests_are_one_line_of_the_log(bench, caplog):
    caplog.set_level(logging.INFO)
    for sent in 5 * MALFORMED:
        with connected(bench) as raw:
            raw.sendall(sent)
            raw.settimeout(WAIT_S)
            raw.recv(4096)
    reported = [record for record in caplog.records if "malformed" in record.getMessage()]
    assert len(reported) <= 2
    assert not any(record.exc_info for record in caplog.records)
    assert "Traceback" not in caplog.text
    assert bench.ask.json("/api/status")["outlets"]
