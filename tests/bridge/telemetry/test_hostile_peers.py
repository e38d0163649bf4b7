"""What peers can make a gateway's outlets keep: connections, subscriptions and half requests are bounded."""

from __future__ import annotations

import http.client
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from websockets.sync.client import connect

import limberjack as lj
from limberjack.addresses import Address
from limberjack.bridge.telemetry.ccsds import tcp_server
from limberjack.bridge.telemetry.ccsds.tcp_server import MOST_CLIENTS, TcpServer
from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.dictionary import Dictionary, dictionary_of
from limberjack.bridge.telemetry.outlets import port_guard, prometheus
from limberjack.bridge.telemetry.outlets.foxglove import Foxglove
from limberjack.bridge.telemetry.outlets.plotjuggler import PlotJuggler
from limberjack.bridge.telemetry.outlets.prometheus import Prometheus
from limberjack.bridge.telemetry.sample import Sample
from tests.bridge.telemetry.engines import until
from tests.bridge.telemetry.test_foxglove import EXAMPLES, served
from tests.hostile import connected, frame, resident_mb, subscribe_without_end, take_frame

WAIT_S = 20.0


@pytest.fixture(scope="module")
def dictionary() -> Dictionary:
    return dictionary_of(lj.Simulation(lj.load(EXAMPLES / "space_manipulator.yaml")))


def closed_by_peer(raw: socket.socket) -> bool:
    """Whether a connection that waits for nothing has ended."""
    raw.settimeout(0.0)
    try:
        return raw.recv(65536) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


# ---- Prometheus


@pytest.fixture
def scraped(dictionary: Dictionary, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prometheus]:
    monkeypatch.setattr(prometheus, "_REQUEST_S", 0.5)
    outlet = Prometheus(0, dict, lambda: Condition("live", "live"))
    outlet.open(dictionary)
    yield outlet
    outlet.close()


def scrape(port: int, host: str) -> int:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    asking.putrequest("GET", "/metrics", skip_host=True)
    if host:
        asking.putheader("Host", host)
    asking.endheaders()
    status = asking.getresponse().status
    asking.close()
    return status


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.example.org", "192.0.2.1:9464", ""])
def test_prometheus_answers_to_names_of_this_machine_only(scraped: Prometheus, host: str):
    assert scrape(scraped.port, host) == 403
    for own in ("127.0.0.1", f"localhost:{scraped.port}", "[::1]:9464", "127.3.2.1"):
        assert scrape(scraped.port, own) == 200


def test_prometheus_ends_half_requests_and_bounds_their_number(scraped: Prometheus, capfd: pytest.CaptureFixture):
    before = threading.active_count()
    half = [socket.create_connection(("127.0.0.1", scraped.port), WAIT_S) for _ in range(100)]
    for each in half:
        each.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    assert threading.active_count() <= before + prometheus._CONNECTIONS_MAX
    ended = time.monotonic() + WAIT_S
    while not all(closed_by_peer(each) for each in half):
        assert time.monotonic() < ended, "half requests stay open"
        for each in half:  # a byte now and then does not make them live longer
            try:
                each.settimeout(1.0)
                each.send(b"x")
            except OSError:
                pass
        time.sleep(0.05)
    assert scrape(scraped.port, "localhost") == 200
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"A" * 70_000])
def test_prometheus_says_nothing_of_malformed_requests(
    scraped: Prometheus, sent: bytes, capfd: pytest.CaptureFixture, caplog: pytest.LogCaptureFixture
):
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", scraped.port), WAIT_S) as raw:
            raw.sendall(sent)
    assert scrape(scraped.port, "localhost") == 200
    assert "Traceback" not in capfd.readouterr().err + caplog.text


# ---- PlotJuggler


def test_subscriptions_of_plotjugglers_port_are_bounded(dictionary: Dictionary):
    outlet = PlotJuggler("tcp://127.0.0.1:*")
    outlet.open(dictionary)
    sample, ending = Sample(1, 0.0, 1, np.zeros(len(dictionary)), 0), threading.Event()

    def publish() -> None:
        while not ending.wait(0.002):
            outlet.sample(sample)

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        port = int(outlet.address.rpartition(":")[2].rstrip("\0"))
        before = resident_mb(os.getpid())
        assert subscribe_without_end(port, 20_000, 900) > 0
        until(lambda: resident_mb(os.getpid()) - before < 250.0, "the memory is not returned")
        until(lambda: _greeting(port) == dictionary.model.encode(), "nobody is let in after a flood")
    finally:
        ending.set()
        thread.join()
        outlet.close()


def _greeting(port: int) -> bytes | None:
    """The first frame that a reader gets; None while the port lets nobody in, as for some seconds after a flood."""
    try:
        with connected(port) as raw:
            raw.sendall(frame(b"\1"))
            return take_frame(raw)
    except OSError:
        return None


# ---- Foxglove


@pytest.fixture
def viewed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Foxglove]:
    monkeypatch.setattr(port_guard, "_SILENT_S", 1.0)
    with served(lj.load(EXAMPLES / "space_manipulator.yaml")) as source:
        yield source.outlet


def count(condition: Callable[[socket.socket], bool], connections: list[socket.socket]) -> int:
    return sum(map(condition, connections))


def test_connections_of_foxgloves_port_are_bounded(viewed: Foxglove):
    address = f"ws://127.0.0.1:{viewed.port}"
    with connect(address, subprotocols=["foxglove.sdk.v1"]) as viewer:
        assert viewer.recv(WAIT_S)
        half = [socket.create_connection(("127.0.0.1", viewed.port), WAIT_S) for _ in range(80)]
        until(lambda: count(closed_by_peer, half) >= 80 - 31, "too many stay")
        until(lambda: count(closed_by_peer, half) == 80, "who says nothing stays")
        viewer.ping().wait(WAIT_S)
        with connect(address, subprotocols=["foxglove.sdk.v1"]) as late:
            assert late.recv(WAIT_S)
        for each in half:
            each.close()


def send_slowly(raw: socket.socket, portions: int) -> None:
    for _ in range(portions):
        raw.sendall(bytes(30_000))
        time.sleep(0.01)


def test_who_sends_foxglove_without_end_is_ended(viewed: Foxglove):
    with connect(f"ws://127.0.0.1:{viewed.port}", subprotocols=["foxglove.sdk.v1"]) as viewer:
        assert viewer.recv(WAIT_S)
        raw = viewer.socket
        raw.settimeout(WAIT_S)
        raw.sendall(bytes([0x82, 0xFF]) + (16_000_000).to_bytes(8, "big"))  # the beginning of one message
        with pytest.raises(OSError, match="reset|pipe|descriptor"):
            send_slowly(raw, 2000)
    assert viewed._guard.turned_away == 1


# ---- packets over TCP


def test_connections_turned_away_from_packets_are_reported_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tcp_server, "_NOTICE_S", 3600.0)  # a slow machine takes long to turn all of them away
    reported: list[str] = []
    server = TcpServer(Address("127.0.0.1", 0), None, reported.append)
    server.open()
    opened = [socket.create_connection(("127.0.0.1", server.port), WAIT_S) for _ in range(MOST_CLIENTS + 100)]
    until(lambda: count(closed_by_peer, opened) == 100, "not all are turned away")
    assert len(reported) == 1
    server.close()
    for each in opened:
        each.close()
