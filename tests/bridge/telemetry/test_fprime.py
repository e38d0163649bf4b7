"""Packets, events and commands of F Prime: by our own frames, and by fprime-gds itself in its own environment."""

from __future__ import annotations

import socket
import struct
import zlib
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from limberjack.bridge import Client
from limberjack.bridge.telemetry.ccsds.vocabulary import vocabulary_of
from limberjack.bridge.telemetry.dictionary import Dictionary, dictionary_of
from limberjack.bridge.telemetry.exports.fprime import commands_of, export, packets_of
from limberjack.bridge.telemetry.exports.registry import Subject
from limberjack.bridge.telemetry.identifiers import safe_name
from limberjack.bridge.telemetry.mirror import Mirror
from limberjack.bridge.telemetry.outlets.fprime import connected, frame, make, order_of, unframe
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.elements.alarm import Alarm, Bounds
from limberjack.engine.model.validate import validate
from tests.bridge.telemetry.engines import WAIT_S, Recorder, engine, gateway, same, until
from tests.bridge.telemetry.ground import Peer


def test_frames_are_found_between_garbage_whatever_the_pieces():
    packets = [b"", b"\xde\xad\xbe\xef" * 3, bytes(range(256)) * 8]
    broken = bytearray(frame(b"broken"))
    broken[-1] ^= 1
    giant = struct.pack(">II", 0xDEADBEEF, 1 << 31)
    sent = (
        b"sitting well"
        + frame(packets[0])
        + bytes(broken)
        + frame(packets[1])
        + giant
        + b"\xde\xad"
        + frame(packets[2])
    )
    for size in (1, 7, len(sent)):
        stream, found = bytearray(), []
        for i in range(0, len(sent), size):
            stream += sent[i : i + size]
            found += list(unframe(stream))
        assert found == packets
        assert len(stream) < 4


def test_orders_of_commands_and_what_is_refused(dock):
    simulation = Simulation(dock)
    commands = {each.opcode: each for each in commands_of(vocabulary_of(simulation, dictionary_of(simulation)))}
    by_name = {each.name: each for each in commands.values()}
    parameters = list(simulation.parameters)

    def packet(name: str, arguments: bytes = b"", kind: int = 0) -> bytes:
        return struct.pack(">HI", kind, by_name[name].opcode) + arguments

    order = order_of(packet("command__elbow", struct.pack(">d", 1.5)), commands)
    assert (order.action, dict(order.values)) == ("command", {"elbow": 1.5})
    order = order_of(packet("attach", struct.pack(">H", 0)), commands)
    assert (order.action, order.target) == ("attach", "dock")
    assert order_of(packet("lock", struct.pack(">H", 0)), commands).target == "elbow"
    assert order_of(packet("reset"), commands).action == "reset"
    order = order_of(packet("set_parameter", struct.pack(">Hd", 2, 0.25)), commands)
    assert (order.target, order.value) == (parameters[2], 0.25)
    name = "gyro läuft weg".encode()
    order = order_of(packet("fault", struct.pack(">H", len(name)) + name), commands)
    assert (order.action, order.target) == ("fault", "gyro läuft weg")
    for bad, why in [
        (b"\0\0", "too short"),
        (packet("clear", b"\0"), "1 bytes of arguments, not 2"),
        (packet("clear", b"\0\5gyro"), "6 bytes of arguments, not 7"),
        (packet("reset", kind=3), "not a command of this model"),
        (struct.pack(">HI", 0, 99), "not a command of this model"),
        (packet("reset", b"x"), "1 bytes of arguments, not 0"),
        (packet("attach", struct.pack(">H", 9)), "there is no loop 9"),
    ]:
        with pytest.raises(ArgumentError, match=why):
            order_of(bad, commands)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("udp://127.0.0.1:50000", "give tcp"),
        ("tcp://127.0.0.1:50000?speed=1", "no option 'speed'"),
        ("tcp://127.0.0.1:50000?rate=0", "give 0.01 to 1000"),
        ("tcp://127.0.0.1:50000?rate=x", "give 0.01 to 1000"),
        ("tcp://127.0.0.1:50000?commands=1", "give yes or no"),
        ("tcp://10.1.2.3:50000?commands=yes", "carry no key"),
        ("tcp://127.0.0.1", "not HOST:PORT"),
    ],
)
def test_options_that_are_refused(text, why):
    with pytest.raises(ArgumentError, match=why):
        make(text, Context(None))  # type: ignore[arg-type]


def test_packets_of_groups_and_of_large_groups(arm):
    dictionary = dictionary_of(Simulation(arm))
    packets = packets_of(dictionary)
    assert [place for packet in packets for place in packet.places] == list(range(len(dictionary)))
    assert [packet.name for packet in packets] == list(dictionary.groups)


def test_a_ground_system_that_is_away_comes_and_goes(arm, endpoint):
    """Reported once while it is away; packets come on connecting; a lost connection is made again."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # nobody else takes the port, and nobody listens yet
        listener.settimeout(WAIT_S)
        recorder = Recorder()
        with engine(arm, endpoint, rate_hz=100.0), gateway(endpoint, recorder) as running:
            outlet = make(f"tcp://127.0.0.1:{listener.getsockname()[1]}?rate=50", Context(running))
            running.add(outlet)
            until(
                lambda: any("no F Prime ground system" in text for text in recorder.texts("link")),
                "its absence is not reported",
            )
            listener.listen()
            for _ in range(2):
                with listener.accept()[0] as link:
                    link.settimeout(WAIT_S)
                    head = link.recv(8, socket.MSG_WAITALL)
                    start, length = struct.unpack(">II", head)
                    rest = link.recv(length + 4, socket.MSG_WAITALL)
                assert start == 0xDEADBEEF
                assert struct.unpack(">I", rest[-4:])[0] == zlib.crc32(head + rest[:-4])
    assert sum("no F Prime ground system" in text for text in recorder.texts("link")) <= 3


def test_a_port_that_connects_to_itself_is_no_ground_system(monkeypatch):
    """The system may choose the port that is asked for as the one to ask from."""
    with socket.socket() as alone:
        alone.bind(("127.0.0.1", 0))
        alone.connect(alone.getsockname())
        monkeypatch.setattr(socket, "create_connection", lambda *_: alone)
        with pytest.raises(ConnectionRefusedError, match="nobody listens"):
            connected(alone.getsockname())


def test_a_ground_system_that_ends_every_connection_is_not_asked_all_the_time(arm):
    reported: list[str] = []
    mirror = Mirror(arm)
    stub = SimpleNamespace(
        session=lambda: SimpleNamespace(mirror=mirror),
        tell=lambda severity, text: reported.append(text),
        commander=None,
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        outlet = make(f"tcp://127.0.0.1:{listener.getsockname()[1]}", Context(stub))
        outlet.open(dictionary_of(mirror.simulation))
        listener.settimeout(WAIT_S)
        listener.accept()[0].close()
        until(lambda: outlet._socket is None and reported, "the loss is not noticed")
        listener.settimeout(0.3)
        with pytest.raises(TimeoutError):
            listener.accept()
        outlet.close()


# ---- fprime-gds itself


@pytest.mark.long
@pytest.mark.timeout(900)
def test_fprime_gds_reads_every_number_and_commands(ground_python, arm, endpoint, tmp_path):
    """Its loaders take the dictionary, its decoders give the engine's numbers bit for bit, its commands are obeyed."""
    system = validate(replace(arm, alarms=(Alarm("q.shoulder", Bounds(-1.0, 1.0), Bounds(-2.0, 3.0)),)))
    simulation, recorder = Simulation(system), Recorder()
    dictionary = dictionary_of(simulation)
    (tmp_path / "d.json").write_text(export(Subject(simulation, dictionary)), encoding="utf-8")
    peer = Peer(ground_python, "fprime_peer.py", tmp_path / "d.json", 60 * len(packets_of(dictionary)))
    try:
        with (
            engine(system, endpoint, rate_hz=100.0),
            gateway(endpoint, recorder) as running,
            Client(endpoint) as client,
        ):
            until(lambda: peer.lines, "the ground system did not start")
            about = peer.lines[0]
            running.add(make(f"tcp://127.0.0.1:{about['port']}?rate=100&commands=yes", Context(running)))
            until(lambda: running.tell(0, "grüß dich") or any("event" in each for each in peer.lines), "no event")
            until(lambda: sum("channel" in each for each in peer.lines) > 30 * len(dictionary), "no packets")
            peer.command("test_x20_arm.command__shoulder", ["1.25"])
            peer.command("test_x20_arm.set_parameter", ["gravity__z", "-1.5"])
            until(lambda: client.parameter("gravity.z") == -1.5, "the parameter was not set")
            peer.command("test_x20_arm.fault", ["gyro drifts"])
            until(lambda: any("gyro drifts" in text for text in recorder.texts("refused")), "no word of the fault")
            assert client.state().command["shoulder"] == 1.25
            assert any("fprime/127.0.0.1" in text and "shoulder = 1.25" in text for text in recorder.texts("command"))
    finally:
        peer.close()
    assert about["limits"]["test_x20_arm.q__shoulder"] == [-2.0, -1.0, 1.0, 3.0]
    assert not [each for each in peer.lines if "discarded" in each]
    events = [each for each in peer.lines if "event" in each]
    reported = {(each["event"], each["severity"], each["text"]) for each in events}
    assert ("test_x20_arm.information", "ACTIVITY_HI", "gr?? dich") in reported
    _compare(peer.lines, recorder, dictionary)


def _compare(reported: list[dict[str, Any]], recorder: Recorder, dictionary: Dictionary) -> None:
    """Each decoded number is that of the sample of its time."""
    sent = {round(1e6 * sample.time): sample.vector for sample in recorder.samples}
    names = {f"test_x20_arm.{safe_name(quantity.id)}": place for place, quantity in enumerate(dictionary)}
    seen = set()
    for each in reported:
        if "channel" in each:
            stamp, place = 1_000_000 * each["time"][0] + each["time"][1], names[each["channel"]]
            assert same(float.fromhex(each["value"]), sent[stamp][place])
            seen.add(place)
    assert seen == set(range(len(dictionary)))


def test_commands_are_refused_where_they_were_not_asked_for(arm, endpoint):
    recorder = Recorder()
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        engine(arm, endpoint),
        gateway(endpoint, recorder) as running,
    ):
        listener.settimeout(WAIT_S)
        running.add(make(f"tcp://127.0.0.1:{listener.getsockname()[1]}", Context(running)))
        with listener.accept()[0] as link:
            link.sendall(frame(struct.pack(">HI", 0, 5)) + frame(b"nonsense"))
            until(lambda: len(recorder.texts("refused")) == 2, "the refusals are not reported")
    assert "fprime/127.0.0.1" in recorder.texts("refused")[0]
    assert "may only watch" in recorder.texts("refused")[0]
    assert "is not a command of this model" in recorder.texts("refused")[1]
