"""CCSDS packets and telecommands of a running engine, over UDP and TCP, read by another program."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import space_packet_parser as spp

from limberjack.bridge import Client
from limberjack.bridge.telemetry.ccsds.packets import PRIMARY_BYTES, Packer, packet_length, telecommand
from limberjack.bridge.telemetry.ccsds.schema import DEFAULT, read_packets
from limberjack.bridge.telemetry.ccsds.sender import Sender
from limberjack.bridge.telemetry.ccsds.sets import Plan, plan_of
from limberjack.bridge.telemetry.ccsds.telemetry import make
from limberjack.bridge.telemetry.ccsds.vocabulary import vocabulary_of
from limberjack.bridge.telemetry.ccsds.xtce import xtce
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.identifiers import safe_name
from limberjack.bridge.telemetry.orders import Actor, Order
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError, LimberjackError
from limberjack.engine.model.system import System
from tests.bridge.telemetry.engines import WAIT_S, Recorder, engine, gateway, until
from tests.hil import test_served_bench

EVERY = """
limberjack_packets: 1
sets:
  - {name: motion, quantities: ["q.*", "v.*", "tau.*", "command.*", "output.*"]}
"""
KEYED = """
sources:
  - {name: houston, source: 7, key_file: houston.key}
  - {name: visitor, source: 8, role: viewer}
  - {name: bench, source: 9}
"""
KEY = bytes(range(32))


def plan_for(system: System, file: Path | None = None) -> Plan:
    simulation = Simulation(system)
    dictionary = dictionary_of(simulation)
    spec = DEFAULT if file is None else read_packets(file)
    return plan_of(dictionary, vocabulary_of(simulation, dictionary), spec)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with packets.yaml, keyed.yaml and the key that it names."""
    folder = tmp_path_factory.mktemp("packets")
    (folder / "packets.yaml").write_text(EVERY)
    (folder / "keyed.yaml").write_text(EVERY + KEYED)
    (folder / "houston.key").write_bytes(KEY)
    (folder / "houston.key").chmod(0o600)
    return folder


@dataclass
class Ground:
    """A ground system: what it hears, read by space_packet_parser."""

    decoder: spp.XtcePacketDefinition
    say: Callable[[bytes], object]
    hear: Callable[[], bytes]
    heard: list[dict] = field(default_factory=list)

    def until(self, what: Callable[[dict], object]) -> dict:
        """The next packet of this kind; the ones before it stay in `heard`."""
        for _ in range(10_000):
            self.heard.append(self.decoder.parse_bytes(self.hear()))
            if what(self.heard[-1]):
                return self.heard[-1]
        raise AssertionError("it did not come")

    def answers(self, packet: bytes) -> list[tuple[int, str]]:
        """Acknowledgements of a telecommand up to the last: message type and reason."""
        count, found = struct.unpack_from(">H", packet, 2)[0] & 0x3FFF, []
        self.say(packet)
        while not found or found[-1][0] == 1:
            read = self.until(lambda read: read["packet_service"] == 1 and read["request_sequence_count"] == count)
            found.append((int(read["packet_subtype"]), str(read.get("failure_code", ""))))
        return found


def decoder_of(plan: Plan, tmp_path: Path) -> spp.XtcePacketDefinition:
    file = tmp_path / "model.xml"
    file.write_text(xtce(plan))
    return spp.load_xtce(file)


@contextmanager
def over_udp(system: System, endpoint: str, file: Path, tmp_path: Path, **options) -> Iterator[tuple]:
    """Engine, gateway with a UDP outlet, a ground system, and an outlet that remembers notices."""
    with engine(system, endpoint, **options), heard_over_udp(system, endpoint, file, tmp_path) as found:
        yield found


@contextmanager
def heard_over_udp(system: System, endpoint: str, file: Path, tmp_path: Path) -> Iterator[tuple]:
    """As `over_udp`, of an engine that runs already."""
    recorder = Recorder()
    with ExitStack() as stack:
        ear = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        ear.bind(("127.0.0.1", 0))
        ear.settimeout(WAIT_S)
        running = stack.enter_context(gateway(endpoint, recorder))
        uri = f"udp://127.0.0.1:{ear.getsockname()[1]}?packets={file}&commands=0"
        outlet = make(uri, Context(running))
        running.add(outlet)
        target = ("127.0.0.1", outlet.link.port)
        plan = plan_for(system, file)
        ground = Ground(decoder_of(plan, tmp_path), lambda packet: ear.sendto(packet, target), lambda: ear.recv(65536))
        yield ground, plan, recorder, running


def tcp_ground(port: int, plan: Plan, tmp_path: Path, stack: ExitStack) -> Ground:
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), WAIT_S))
    stream = stack.enter_context(connection.makefile("rb"))

    def hear() -> bytes:
        head = stream.read(PRIMARY_BYTES)
        if not head:
            raise EOFError
        return head + stream.read(packet_length(head) - PRIMARY_BYTES)

    return Ground(decoder_of(plan, tmp_path), connection.sendall, hear)


def test_numbers_of_a_running_engine_over_udp(arm, endpoint, files, tmp_path):
    """Lockstep: every state comes, in order, bit for bit as the same simulation in this process has it."""
    twin = Simulation(arm)
    file = files / "packets.yaml"
    with over_udp(arm, endpoint, file, tmp_path, mode="lockstep") as (ground, *_), Client(endpoint) as client:
        while client.step(1) and not any(read.get("time") for read in ground.heard):
            ground.until(lambda read: "time" in read)  # the stream has begun
        client.reset()
        ground.until(lambda read: read.get("time") == 0.0)
        ground.heard.clear()
        for _ in range(20):
            client.step(5, {"shoulder": 1.5})
        ground.until(lambda read: read.get("time", 0.0) > 0.0999)
    twin.command["shoulder"] = 1.5
    states = [read for read in ground.heard if "time" in read]
    counts = [int(read["packet_sequence_count"]) for read in states]
    assert len(states) == 20
    assert counts == list(range(counts[0], counts[0] + 20))
    system = twin.system
    for read in states:
        twin.step(5)
        for group, names, values in (
            ("q", system.coordinate_names, twin.q),
            ("v", system.velocity_names, twin.v),
            ("tau", system.velocity_names, twin.tau),
            ("command", twin.command_names, twin.command_vector),
            ("output", twin.output_names, twin.output_vector),
        ):
            sent = [read[safe_name(f"{group}.{name}")] for name in names]
            assert struct.pack(f"<{len(names)}d", *sent) == values.tobytes()
        assert read["packet_lost"] == 0


def test_numbers_while_the_engine_runs_freely(arm, endpoint, files, tmp_path):
    """Every packet has, bit for bit, what the engine published under the number that the packet bears."""
    published: dict[int, np.ndarray] = {}
    with (
        over_udp(arm, endpoint, files / "packets.yaml", tmp_path, rate_hz=500.0) as (ground, plan, _, _),
        Client(endpoint) as client,
    ):
        client.next_message(waiting=10_000)
        while len(ground.heard) < 300:
            ground.until(lambda read: "time" in read)
        last = ground.heard[-1]["packet_publication"]
        while not published or max(published) < last:
            message = client.next_message()
            if message.type == "state":
                published[message.sequence] = np.frombuffer(message.body[1], "<f8")
    compared = [read for read in ground.heard if read.get("packet_publication") in published]
    assert len(compared) > 200
    names = [safe_name(quantity.id) for quantity in plan.packets[0].quantities if quantity.group in ("q", "v", "tau")]
    for read in compared:
        vector = published[read["packet_publication"]][: len(names)]
        assert struct.pack(f"<{len(names)}d", *(read[name] for name in names)) == vector.tobytes()


def test_telecommands_move_the_model_and_are_acknowledged(dock, endpoint, files, tmp_path):
    """Joint command, parameter, lock, attach, reset: accepted and done, or failed with the engine's reason."""
    with (
        over_udp(dock, endpoint, files / "packets.yaml", tmp_path, mode="lockstep") as (ground, plan, recorder, _),
        Client(endpoint) as reader,
    ):
        sender = Sender(plan, source=3)
        done = [(1, ""), (7, "")]
        assert ground.answers(sender.packet(Order("command", values={"elbow": -0.75, "brake.closed": 0.0}))) == done
        assert reader.state().command["elbow"] == -0.75
        assert ground.answers(sender.packet(Order("parameter", "gravity.z", -1.5))) == done
        assert reader.parameter("gravity.z") == -1.5
        assert ground.answers(sender.packet(Order("lock", "elbow"))) == done
        assert reader.status()["closed"]["brake"]
        assert ground.answers(sender.packet(Order("unlock", "elbow"))) == done
        assert ground.answers(sender.packet(Order("release", "dock"))) == [(1, ""), (8, "argument")]
        assert ground.answers(sender.packet(Order("attach", "dock"))) == done
        assert reader.status()["closed"]["dock"]
        assert ground.answers(sender.packet(Order("reset"))) == done
        assert ground.answers(sender.packet(Order("give_up"), acks=0b1000)) == [(7, "")]
        assert reader.status()["lease"] is None
        ground.heard.clear()
        assert ground.answers(sender.test()) == done
        assert any(read["packet_service"] == 17 for read in ground.heard)
        until(lambda: len(recorder.texts("command")) == 7, "orders were not reported")
        assert recorder.texts("command")[0].startswith("ccsds/source 3 at 127.0.0.1:")
        event = ground.until(lambda read: read["packet_service"] == 5)
        assert str(event["text"])


def test_faults_of_a_bench_begin_and_end_by_telecommand(folder, files, tmp_path):
    for name, text in (
        ("pair.yaml", test_served_bench.MODEL),
        ("served.yaml", test_served_bench.SCENARIO),
        ("law.py", test_served_bench.LAW),
    ):
        (folder / name).write_text(text)
    run = test_served_bench.Run(folder)
    done = [(1, ""), (7, "")]
    system = run.client.model()
    try:
        with heard_over_udp(system, run.endpoint, files / "packets.yaml", tmp_path) as (ground, plan, _, _):
            sender = Sender(plan)
            assert ground.answers(sender.packet(Order("fault", "dead"))) == done
            assert run.client.fault("dead").active is True
            assert ground.answers(sender.packet(Order("clear", "dead"))) == done
            assert run.client.fault("dead").active is False
            assert ground.answers(sender.packet(Order("fault", "ded"))) == [(2, "unknown")]
            assert ground.answers(sender.packet(Order("reset"))) == [(1, ""), (8, "mode")]
            with pytest.raises(ArgumentError, match="64 bytes"):
                sender.packet(Order("fault", "ä" * 33))
    finally:
        run.end()


def test_wrong_telecommands_are_refused_and_reported(dock, endpoint, files, tmp_path):
    """Nothing changes; the reason comes as a packet and to all outlets. Bytes that are no telecommand get no packet."""
    with (
        over_udp(dock, endpoint, files / "packets.yaml", tmp_path, mode="lockstep") as (ground, plan, recorder, _),
        Client(endpoint) as reader,
    ):
        before = reader.snapshot()
        good = Sender(plan).packet(Order("command", values={"elbow": 1.0}))
        data = good[11:-2]

        def sent(service: int = 8, subtype: int = 1, data: bytes = data, apid: int = plan.apid) -> list:
            sent.count += 1
            return ground.answers(telecommand(apid, sent.count, service, subtype, 0, 9, data))

        sent.count = 100
        head = data[:4]
        assert sent(apid=5) == [(2, "wrong_apid")]
        assert sent(service=9) == [(2, "unknown_service")]
        assert sent(data=b"\0" + data[1:]) == [(2, "other_description")]
        assert sent(data=b"") == [(2, "malformed")]
        assert sent(data=data[:-1]) == [(2, "malformed")]
        assert sent(data=head + b"\x01\x00\x02" + 2 * data[-10:]) == [(2, "malformed")]
        assert sent(data=head + b"\x63") == [(2, "unknown")]
        assert sent(data=head + b"\x02\x00\x09") == [(2, "unknown")]
        assert sent(data=head + b"\x08" + b"\xff" * 64) == [(2, "malformed")]
        assert sent(data=data[:-8] + struct.pack(">d", np.nan)) == [(2, "non_finite")]
        assert sent(service=20, subtype=3, data=head + b"\x00\x00") == [(2, "malformed")]
        sent.count -= 1
        assert sent() == [(2, "replayed")]
        sent.count -= 9
        assert sent() == [(2, "replayed")]
        until(lambda: len(recorder.texts("refused")) == 13, "refusals were not reported")
        recorder.notices.clear()
        for noise in (b"", b"x", good[:-1], good[:-1] + b"\0", bytes(70), Packer().telemetry(plan.apid, 3, 25, 0, b"")):
            ground.say(noise)
        until(lambda: len(recorder.texts("refused")) == 6, "noise was not reported")
        assert "bytes that are not a telecommand refused (malformed)" in recorder.texts("refused")[0]
        assert reader.snapshot() == before
        sent.count += 12
        ground.heard.clear()
        assert sent() == [(1, ""), (7, "")]
        until(
            lambda: any("4 telecommands of" in text for text in recorder.texts("command")), "the loss was not reported"
        )


def test_sources_are_listed_have_roles_and_keys(arm, endpoint, files, tmp_path):
    file = files / "keyed.yaml"
    order = Order("command", values={"shoulder": 1.0})
    with over_udp(arm, endpoint, file, tmp_path, mode="lockstep") as (ground, plan, recorder, _):
        houston = Sender(plan, 7, KEY)
        assert ground.answers(houston.packet(order)) == [(1, ""), (7, "")]
        taken = houston.packet(order)
        assert ground.answers(taken) == [(1, ""), (7, "")]
        assert ground.answers(taken) == [(2, "replayed")]
        assert ground.answers(Sender(plan, 7).packet(order)) == [(2, "not_authentic")]
        assert ground.answers(Sender(plan, 7, KEY[::-1]).packet(order)) == [(2, "not_authentic")]
        assert ground.answers(Sender(plan, 8).packet(order)) == [(2, "role")]
        assert ground.answers(Sender(plan, 3).packet(order)) == [(2, "unknown_source")]
        assert ground.answers(Sender(plan, 9).packet(order)) == [(1, ""), (7, "")]
        assert ground.answers(houston.test()) == [(1, ""), (7, "")]
        assert any(text.startswith("ccsds/houston: command shoulder = 1") for text in recorder.texts("command"))


def test_several_programs_over_tcp(arm, endpoint, files, tmp_path):
    """All get all packets; one that does not read loses some whole and harms nobody; telecommands on any of them."""
    file, recorder = files / "packets.yaml", Recorder()
    with ExitStack() as stack:
        stack.enter_context(engine(arm, endpoint, mode="lockstep"))
        running = stack.enter_context(gateway(endpoint, recorder))
        outlet = make(f"tcp://127.0.0.1:0?packets={file}&commands=yes", Context(running))
        running.add(outlet)
        client = stack.enter_context(Client(endpoint))
        plan = plan_for(arm, file)
        first, second = (tcp_ground(outlet.link.port, plan, tmp_path, stack) for _ in range(2))
        for source, ground in enumerate((first, second)):
            sender = Sender(plan, source)
            half = sender.packet(Order("command", values={"shoulder": 0.5}))
            ground.say(half[:7])
            ground.say(half[7:] + sender.test())  # frames are not messages
            wanted = [(1, 0), (7, 0), (1, 1), (7, 1)]
            seen = []
            while seen[-4:] != wanted:
                read = ground.until(lambda r, s=source: (r["packet_service"], r["packet_destination"]) == (1, s))
                seen.append((int(read["packet_subtype"]), int(read["request_sequence_count"])))
        running.commander.execute(Order("give_up"), Actor("test", "test", "operator"))
        client.step(1)
        times = {ground.until(lambda read: "time" in read)["time"] for ground in (first, second)}
        assert len(times) == 1
        second.say(b"GET / HTTP/1.1\r\n\r\n")
        until(lambda: any("not a telecommand" in text for text in recorder.texts("link")), "the end was not reported")
        with pytest.raises(EOFError):
            second.until(lambda read: False)
        assert first.answers(Sender(plan).packet(Order("reset")))[0] == (2, "replayed")  # count 0 was used
        packet = Packer().telemetry(99, 3, 25, 0, bytes(60_000))
        frozen = stack.enter_context(socket.create_connection(("127.0.0.1", outlet.link.port)))
        until(lambda: len(outlet.link._clients) == 2, "not connected")
        for _ in range(200):
            outlet.link.send(packet)
        frozen.close()
        until(lambda: any("packets were dropped" in text for text in recorder.texts("link")), "drops were not reported")


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("10015", "give udp://127.0.0.1:10015 or tcp://127.0.0.1:10015"),
        ("http://127.0.0.1:1", "not understood"),
        ("udp://127.0.0.1", "not HOST:PORT"),
        ("udp://host:1", "'host' is not an address"),
        ("udp://127.0.0.1:1?rate=3", "there is no option 'rate'; there are packets and commands"),
        ("udp://127.0.0.1:1?commands=yes", "give the port for telecommands"),
        ("udp://127.0.0.1:1?commands=0.0.0.0:9", "in which all sources have a key_file"),
        ("udp://127.0.0.1:1?commands=0.0.0.0:9&packets={files}/keyed.yaml", "in which all sources have a key_file"),
        ("tcp://127.0.0.1:1?commands=9", "give yes or no"),
        ("tcp://0.0.0.0:1", "go through ssh -L"),
        ("udp://127.0.0.1:1?packets=nowhere.yaml", "nowhere.yaml"),
    ],
)
def test_options_that_cannot_be(uri, says, files):
    with pytest.raises(LimberjackError) as refusal:
        make(uri.format(files=files), Context(None))
    assert says in str(refusal.value)


def test_a_key_that_others_can_read_is_refused(files, tmp_path):
    (tmp_path / "keyed.yaml").write_text(EVERY + KEYED)
    (tmp_path / "houston.key").write_bytes(KEY)
    (tmp_path / "houston.key").chmod(0o644)
    with pytest.raises(LimberjackError, match="chmod 600"):
        make(f"udp://127.0.0.1:1?packets={tmp_path}/keyed.yaml", Context(None))
