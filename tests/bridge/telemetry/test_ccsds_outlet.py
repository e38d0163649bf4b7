"""The CCSDS outlet alone: gaps, models that change, seals made by hand, floods, and senders that begin again."""

from __future__ import annotations

import binascii
import errno
import hashlib
import hmac
import socket
import struct
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limberjack.addresses import Address
from limberjack.bridge.telemetry.ccsds import sources
from limberjack.bridge.telemetry.ccsds.authentic import WINDOW_NS, Seal
from limberjack.bridge.telemetry.ccsds.packets import TELEMETRY_HEADER_BYTES, read_telecommand, telecommand
from limberjack.bridge.telemetry.ccsds.sender import Sender
from limberjack.bridge.telemetry.ccsds.sets import DATA_HEADER
from limberjack.bridge.telemetry.ccsds.tcp_server import TcpServer
from limberjack.bridge.telemetry.ccsds.telemetry import CcsdsOutlet, make
from limberjack.bridge.telemetry.dictionary import Dictionary, dictionary_of
from limberjack.bridge.telemetry.mirror import Mirror
from limberjack.bridge.telemetry.orders import Actor, Order, OrderRefused
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.model.system import System
from tests.bridge.telemetry.engines import WAIT_S, until

KEY = b"sixteen bytes or more of a key"
ALL = 'limberjack_packets: 1\nsets:\n  - {name: all, quantities: ["*"]}\n'


class StubCommander:
    """Takes everything and remembers it."""

    def __init__(self) -> None:
        self.done: list[tuple[Order, Actor]] = []
        self.texts: list[str] = []
        self.pause_s = 0.0

    def check(self, order: Order, actor: Actor) -> None: ...

    def execute(self, order: Order, actor: Actor) -> dict:
        time.sleep(self.pause_s)
        self.done.append((order, actor))
        return {}

    def refuse(self, what: object, actor: Actor, refusal: OrderRefused) -> None:
        self.texts.append(f"{what}: {refusal.code}")

    def warn(self, text: str) -> None:
        self.texts.append(text)


class StubGateway:
    """A gateway without an engine."""

    def __init__(self, system: System) -> None:
        self.commander, self.texts = StubCommander(), []
        self.change(system)

    def change(self, system: System) -> Dictionary:
        mirror = Mirror(system)
        self.dictionary = dictionary_of(mirror.simulation)
        self._session = SimpleNamespace(mirror=mirror)
        return self.dictionary

    def session(self) -> SimpleNamespace:
        return self._session

    def tell(self, severity: int, text: str) -> None:
        self.texts.append(text)


@pytest.fixture
def ear() -> socket.socket:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        ear.bind(("127.0.0.1", 0))
        ear.settimeout(WAIT_S)
        yield ear


def outlet_to(ear: socket.socket, gateway: StubGateway, tmp_path: Path, more: str = "") -> CcsdsOutlet:
    (tmp_path / "packets.yaml").write_text(ALL + more)
    options = {"packets": "packets.yaml", "commands": "0"}
    return make(f"udp://127.0.0.1:{ear.getsockname()[1]}", Context(gateway, options, tmp_path))


def sample(dictionary: Dictionary, sequence: int, gap: int = 0) -> Sample:
    return Sample(sequence, 1e-3 * sequence, 10**18 + sequence, np.zeros(len(dictionary)), gap)


def data_of(packet: bytes) -> tuple[int, int, int, int, float]:
    return DATA_HEADER.unpack_from(packet, TELEMETRY_HEADER_BYTES)


def test_only_samples_with_packets_that_are_due_are_wanted(ear, arm, tmp_path):
    """At the rate of any set; and all packets of a sample that comes again, as the engine stands still."""
    gateway = StubGateway(arm)
    sets = ["  - {name: a, quantities: ['q.*'], rate_hz: 100}", "  - {name: b, quantities: ['v.*'], rate_hz: 40}"]
    (tmp_path / "packets.yaml").write_text("\n".join(["limberjack_packets: 1", "clock: simulated", "sets:", *sets]))
    options = {"packets": "packets.yaml"}
    outlet = make(f"udp://127.0.0.1:{ear.getsockname()[1]}", Context(gateway, options, tmp_path))
    outlet.open(gateway.dictionary)
    wanted = []
    for k in range(53):
        if outlet.wants(each := sample(gateway.dictionary, k)):
            wanted.append(k)
            outlet.sample(each)
    assert wanted == [0, 10, 20, 25, 30, 40, 50]
    assert outlet._clock.now() == 52_000_000  # answers to telecommands bear the newest time
    again = replace(each, sequence=60, unix_ns=each.unix_ns + 10**9)
    assert outlet.wants(again)
    outlet.sample(again)
    outlet.close()
    expected = [(1, 0), (2, 0), (1, 10), (1, 20), (2, 25), (1, 30), (1, 40), (1, 50), (2, 50), (1, 60), (2, 60)]
    assert [(data_of(packet)[0], data_of(packet)[2]) for packet in (ear.recv(65536) for _ in expected)] == expected


def test_gaps_add_up_and_a_new_model_has_another_signature(ear, arm, dock, tmp_path):
    gateway = StubGateway(arm)
    outlet = outlet_to(ear, gateway, tmp_path)
    outlet.open(gateway.dictionary)
    for sequence, gap in ((1, 0), (4, 2), (5, 0), (9, 3)):
        outlet.sample(sample(gateway.dictionary, sequence, gap))
    read = [data_of(ear.recv(65536)) for _ in range(4)]
    assert [(each[2], each[3]) for each in read] == [(1, 0), (4, 2), (5, 2), (9, 5)]
    for count in range(3):
        outlet.close()
        outlet.open(gateway.change(dock))
        outlet.sample(sample(gateway.dictionary, 1))
        packet = ear.recv(65536)
        assert data_of(packet)[1] != read[0][1]
        assert struct.unpack_from(">H", packet, 2)[0] == 0xC000  # counts begin again with the outlet
        ear.sendto(telecommand(100, count, 17, 1, 0, 0, b""), ("127.0.0.1", outlet.link.port))
        assert ear.recv(65536)[7:9] == b"\x11\x02"
    outlet.close()
    outlet.close()


def test_a_seal_made_by_hand(ear, arm, tmp_path):
    """As the documentation says it, with Python's hmac alone."""
    (tmp_path / "key").write_bytes(KEY)
    (tmp_path / "key").chmod(0o600)
    gateway = StubGateway(arm)
    outlet = outlet_to(ear, gateway, tmp_path, "sources:\n  - {name: x, source: 513, key_file: key}\n")
    outlet.open(gateway.dictionary)

    def sealed(stamp: int, count: int, key: bytes = KEY) -> bytes:
        head = struct.pack(">HHH", 0x1864, 0xC000 | count, 5 + 8 + 32 + 2 - 1) + bytes([0x29, 17, 1, 2, 1])
        head += struct.pack(">Q", stamp)
        head += hmac.new(key, head, hashlib.sha256).digest()
        return head + struct.pack(">H", binascii.crc_hqx(head, 0xFFFF))

    now = time.time_ns()
    sent = [
        sealed(now, 1), sealed(now, 2), sealed(now - 1, 3), sealed(now + 1, 4), sealed(now + 2, 5, b"x" * 16),
        sealed(now + 2 * WINDOW_NS, 6), sealed(now - 10**12, 7), sealed(now + 2, 5),
    ]  # fmt: skip
    answers = []
    for packet in sent:
        ear.sendto(packet, ("127.0.0.1", outlet.link.port))
        answer = ear.recv(65536)
        assert answer[21:25] == packet[:4]
        answers.append(answer[8])
        while answer[8] == 1 or answer[7] == 17:  # accepted, alive, done
            answer = ear.recv(65536)
            if answer[7:9] == b"\x01\x07":
                break
    assert answers == [1, 2, 2, 1, 2, 2, 2, 1]
    outlet.close()


def test_nothing_older_than_the_gateway_is_taken():
    seal = Seal(KEY)
    unsealed = telecommand(1, 1, 17, 1, 1, 0, bytes(40))[:-42]
    head = unsealed + seal.make(unsealed)
    assert Seal(KEY).open(head, head[11:]) == b""
    with pytest.raises(OrderRefused, match="older than one"):
        Seal(KEY, time.time_ns()).open(head, head[11:])


def test_a_flood_is_refused_and_costs_nothing_else(ear, arm, tmp_path):
    gateway = StubGateway(arm)
    outlet = outlet_to(ear, gateway, tmp_path)
    outlet.open(gateway.dictionary)
    gateway.commander.pause_s = 0.5
    order = struct.pack(">IB", outlet._plan.signature, 6)
    for count in range(200):
        outlet._take(telecommand(100, count, 8, 1, 0, 0, order), "here")
    assert len(gateway.commander.texts) >= 130
    assert all(text.endswith("busy") for text in gateway.commander.texts)
    started = time.monotonic()
    outlet.notice(Notice("link", 1, "ä" * 5000, 0.0, 0))
    outlet.close()
    assert time.monotonic() - started < WAIT_S
    assert len(gateway.commander.done) <= 2  # what waited at the end was not begun


def test_a_process_without_descriptors_does_not_spin(monkeypatch):
    """Who waits to be let in stays there, so the listener is ready again at once."""
    asked = []

    def fail(listener: socket.socket) -> None:
        asked.append(time.monotonic())
        raise OSError(errno.EMFILE, "Too many open files")

    server = TcpServer(Address("127.0.0.1", 0), None, lambda text: None)
    with monkeypatch.context() as patched:
        patched.setattr(socket.socket, "accept", fail)
        server.open()
        with socket.create_connection(("127.0.0.1", server.port)) as waiting:
            until(lambda: len(asked) > 2, "nobody was heard")
            time.sleep(0.3)
            assert len(asked) < 20
    with waiting, socket.create_connection(("127.0.0.1", server.port)):
        until(lambda: server._clients, "nobody was let in")
    server.close()


def test_a_fault_in_one_telecommand_does_not_end_the_others(ear, arm, tmp_path):
    def fail(order: Order, actor: Actor) -> None:
        raise RuntimeError("of our own making")

    gateway = StubGateway(arm)
    gateway.commander.check = fail  # type: ignore[method-assign]
    outlet = outlet_to(ear, gateway, tmp_path)
    outlet.open(gateway.dictionary)
    sender = Sender(outlet._plan)
    for packet in (sender.packet(Order("reset")), sender.test()):
        ear.sendto(packet, ("127.0.0.1", outlet.link.port))
    refused = ear.recv(65536)
    assert (refused[7:9], b"RuntimeError: of our own making" in refused) == (b"\x01\x02", True)
    assert [ear.recv(65536)[7:9] for _ in range(3)] == [b"\x01\x01", b"\x11\x02", b"\x01\x07"]
    outlet.close()


def test_an_end_while_telecommands_are_taken(ear, arm, tmp_path):
    """Its own thread may take the last one between a look and a grasp."""
    gateway = StubGateway(arm)
    outlet = outlet_to(ear, gateway, tmp_path)
    outlet.open(gateway.dictionary)
    outlet._commands._queue.empty = lambda: False
    outlet.close()


def test_a_sender_that_was_silent_begins_again(monkeypatch):
    listed = sources.Sources(None, Path())

    def admitted(count: int, peer: str = "a") -> int:
        return listed.admit(read_telecommand(telecommand(1, count, 17, 1, 0, 0, b"")), peer).lost

    assert [admitted(5), admitted(6), admitted(9), admitted(9, "b"), admitted(16_383, "c"), admitted(0, "c")] == [
        0, 0, 2, 0, 0, 0,
    ]  # fmt: skip
    with pytest.raises(OrderRefused, match="not ahead of 9"):
        admitted(0)
    now = time.monotonic()
    monkeypatch.setattr(sources.time, "monotonic", lambda: now + 61.0)
    assert admitted(0) == 0
    for peer in range(1000):
        admitted(1, str(peer))
    assert len(listed._counts) == 64


@pytest.fixture(scope="module")
def hearing(arm, tmp_path_factory):
    """An outlet that hears over TCP, and its gateway."""
    gateway = StubGateway(arm)
    file = tmp_path_factory.mktemp("p") / "packets.yaml"
    file.write_text(ALL)
    outlet = make(f"tcp://127.0.0.1:0?packets={file}&commands=yes", Context(gateway))
    outlet.open(gateway.dictionary)
    yield outlet, gateway
    outlet.close()


def frames(signature: int) -> st.SearchStrategy[bytes]:
    """Telecommands whose frame is sound, around data of all kinds."""
    head = st.sampled_from([struct.pack(">I", signature), b""])
    data = st.builds(lambda head, rest: head + rest, head, st.binary(max_size=40))
    small = st.integers(0, 255)
    return st.builds(
        telecommand, st.sampled_from([100, 1]), st.integers(0, 16383), st.sampled_from([8, 20, 17, 1]) | small,
        st.sampled_from([1, 3]) | small, st.integers(0, 65535), st.integers(0, 15), data,
    )  # fmt: skip


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_whatever_comes_the_outlet_goes_on(hearing, data):
    """After any bytes on one connection another is answered, and no order is of a name that the model has not."""
    outlet, gateway = hearing
    names = set(gateway.session().mirror.simulation.command_names)
    sent = data.draw(st.lists(frames(outlet._plan.signature) | st.binary(max_size=60), max_size=6))
    address = ("127.0.0.1", outlet.link.port)
    connect = socket.create_connection
    with connect(address, WAIT_S) as wild, connect(address, WAIT_S) as tame, tame.makefile("rb") as stream:
        for each in sent:
            try:
                wild.sendall(each)
            except OSError:
                break
        tame.sendall(telecommand(100, 3, 17, 1, 4711, 0, b""))
        while True:
            head = stream.read(6)
            packet = head + stream.read(struct.unpack_from(">H", head, 4)[0] + 1)
            assert binascii.crc_hqx(packet, 0xFFFF) == 0
            if packet[7:9] == b"\x11\x02" and packet[11:13] == struct.pack(">H", 4711):
                break
    assert all(set(order.values) <= names for order, _ in gateway.commander.done if order.action == "command")
    until(lambda: not outlet.link._clients, "connections are left")
