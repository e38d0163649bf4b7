"""The plugin for OpenC3 COSMOS: read, decoded and commanded with openc3 itself, in its own environment."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from limberjack.bridge import Client
from limberjack.bridge.telemetry.dictionary import Dictionary, dictionary_of
from limberjack.bridge.telemetry.exports.cosmos import item_names
from limberjack.bridge.telemetry.exports.registry import Subject, export_of
from limberjack.bridge.telemetry.outlets.registry import Context, kind_of
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.elements.alarm import Alarm, Bounds
from limberjack.engine.model.system import System
from limberjack.engine.model.validate import validate
from tests.bridge.telemetry.engines import Recorder, engine, gateway, same, until
from tests.bridge.telemetry.ground import Peer
from tests.bridge.telemetry.random_models import random_model

NASTY = "a|b`c``d *e* \"f\" <% g %> 'h' \\ _i_ {j} #k"
#: severity → states of COSMOS
STATES = ({"GREEN"}, {"YELLOW_LOW", "YELLOW_HIGH"}, {"RED_LOW", "RED_HIGH"})


def write(system: System, folder: Path) -> Subject:
    """The plugin of a model, in a folder."""
    simulation = Simulation(system)
    subject = Subject(simulation, dictionary_of(simulation))
    files = export_of("cosmos").make(subject)
    assert isinstance(files, Mapping)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return subject


@pytest.mark.parametrize("name", ["arm", "dock"])
def test_lines_of_items_and_commands(name, request, tmp_path):
    """Every quantity is an item once with its unit; ranges of the model are those of the commands."""
    subject = write(request.getfixturevalue(name), tmp_path)
    (folder,) = (tmp_path / "targets").iterdir()
    items = (folder / "cmd_tlm" / "tlm.txt").read_text(encoding="utf-8")
    commands = (folder / "cmd_tlm" / "cmd.txt").read_text(encoding="utf-8")
    names = item_names(subject.dictionary)
    for quantity in subject.dictionary:
        if quantity.id != "time":
            (line,) = [line for line in items.splitlines() if f'"{quantity.id}: ' in line]
            assert line.split()[:2] == ["APPEND_ITEM", names[quantity.id]]
    assert items.count("__") == commands.count("__") == 0
    assert ("COMMAND TEST_X20_ARM COMMAND_J2 " in commands) == (name == "arm")
    hazardous = {block.split()[2] for block in commands.split("\n\n") if "HAZARDOUS" in block}
    assert hazardous == {"RESET"} | ({"ATTACH", "RELEASE", "LOCK", "UNLOCK"} if name == "dock" else set())


@pytest.mark.long
@pytest.mark.timeout(900)
def test_openc3_reads_every_number_and_commands(ground_python, arm, endpoint, tmp_path):
    """Its parser takes the plugin without a warning; its numbers and alarms are ours; its commands are obeyed."""
    always = Alarm("q.shoulder", Bounds(100.0, 200.0)), Alarm("q.j1", Bounds(100.0, 200.0), Bounds(50.0, 300.0))
    alarms = (*always, Alarm("v.j1", Bounds(-math.inf, 3.0)))
    system = validate(replace(arm, alarms=alarms))
    subject, recorder = write(system, tmp_path), Recorder()
    with engine(system, endpoint, rate_hz=100.0), gateway(endpoint, recorder) as running, Client(endpoint) as client:
        kind = kind_of("ccsds")
        assert kind is not None
        outlet: Any = kind.make("tcp://127.0.0.1:0?commands=yes", Context(running))
        running.add(outlet)
        peer = Peer(ground_python, "cosmos_peer.py", tmp_path, outlet.link.port, 20)
        try:
            until(lambda: len(peer.lines) > 20, "the ground system reads nothing")
            peer.command("COMMAND_SHOULDER", {"VALUE": 1.25})
            peer.command("SET_PARAMETER", {"PARAMETER": "GRAVITY_Z", "VALUE": -1.5})
            peer.command("COMMAND_J2_TORQUE", {"VALUE": 1e9})
            until(lambda: client.parameter("gravity.z") == -1.5, "the parameter was not set")
            assert client.state().command["shoulder"] == 1.25
            peer.command("CONNECTION_TEST", {})
            wanted = {"MOTION", "ENGINE", "TELECOMMAND_ACCEPTED", "TELECOMMAND_DONE", "CONNECTION_TEST"}
            until(lambda: wanted <= {each.get("packet") for each in list(peer.lines)}, "nothing is acknowledged")
        finally:
            peer.close()
    assert peer.lines[0]["warnings"] == []
    assert not [each for each in peer.lines if "unknown" in each]
    assert "not in valid range of -50.0 to 50.0" in next(each["refused"] for each in peer.lines if "refused" in each)
    _compare(peer.lines, recorder, subject.dictionary)
    texts = [each["items"]["TEXT"] for each in peer.lines if each.get("packet") == "EVENT_INFORMATION"]
    assert any("shoulder = 1.25" in text for text in texts)


def _compare(lines: list[dict[str, Any]], recorder: Recorder, dictionary: Dictionary) -> None:
    """Each decoded number is that of the sample of its time, bit for bit, and in the same alarm."""
    sent = {sample.time: sample.vector for sample in recorder.samples}
    places = {name: dictionary.place(id) for id, name in item_names(dictionary).items()}
    seen, states = set(), set()
    for packet in lines:
        if "PACKET_STRUCTURE" not in packet.get("items", {}):
            continue
        vector = sent[float.fromhex(packet["items"]["TIME"])]
        for name in packet["items"].keys() & places.keys():
            quantity = dictionary.quantities[places[name]]
            assert same(float.fromhex(packet["items"][name]), vector[places[name]])
            state = packet["limits"].get(name, "GREEN")
            assert state in STATES[quantity.severity(float(vector[places[name]]))]
            assert packet["units"].get(name, "") == quantity.unit
            seen.add(name)
            states.add(state)
    assert seen == set(places)
    assert {"GREEN", "YELLOW_LOW", "RED_LOW"} <= states


@pytest.mark.long
@pytest.mark.timeout(900)
def test_openc3_takes_whatever_a_model_calls_things(ground_python, tmp_path):
    made = random_model(3)
    first, *others = made.sensors
    write(validate(replace(made, name=NASTY, sensors=(replace(first, name=NASTY), *others))), tmp_path)
    (target,) = (each.name for each in (tmp_path / "targets").iterdir())
    code = (
        "import sys; from openc3.packets.packet_config import PacketConfig; c = PacketConfig(); "
        "[c.process_file(f'{sys.argv[1]}/cmd_tlm/{name}.txt', sys.argv[2]) for name in ('tlm', 'cmd')]; "
        "assert not c.warnings, c.warnings; assert len(c.telemetry[sys.argv[2]]) > 4"
    )
    command = [ground_python, "-c", code, str(tmp_path / "targets" / target), target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def test_a_model_without_a_name_has_a_target(arm, tmp_path):
    write(replace(arm, name=""), tmp_path)
    assert [each.name for each in (tmp_path / "targets").iterdir()] == ["MODEL"]
