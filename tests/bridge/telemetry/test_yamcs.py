"""What Yamcs gets: parameters in its own JSON, an instance's files, and telecommands made as its database says."""

from __future__ import annotations

import math
import socket
import xml.etree.ElementTree as tree

import numpy as np
import pytest
import yaml
from space_packet_parser.xtce.validation import validate_xtce
from spacepackets.ecss import PusTc
from yamcs.protobuf._vendor.google.protobuf import json_format
from yamcs.protobuf.pvalue import pvalue_pb2

from limberjack.bridge.telemetry.ccsds.decode import decode
from limberjack.bridge.telemetry.ccsds.packets import crc, read_telecommand
from limberjack.bridge.telemetry.ccsds.sets import plan_of
from limberjack.bridge.telemetry.ccsds.vocabulary import vocabulary_of
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.exports.registry import Subject, export_of
from limberjack.bridge.telemetry.identifiers import safe_name
from limberjack.bridge.telemetry.orders import Order
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.outlets.yamcs import make
from limberjack.bridge.telemetry.sample import Sample
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import LimberjackError


@pytest.fixture(scope="module")
def subject(dock) -> Subject:
    simulation = Simulation(dock)
    return Subject(simulation, dictionary_of(simulation))


@pytest.fixture(scope="module")
def files(subject) -> dict[str, str]:
    return export_of("yamcs").make(subject)


def test_parameters_are_read_by_the_messages_of_yamcs(subject):
    dictionary = subject.dictionary
    vector = np.resize(np.array([0.1, -0.0, 5e-324, math.inf, -math.inf, math.nan, 1 / 3, -1.7e308]), len(dictionary))
    sample = Sample(1, 0.5, 1_700_000_000_123_456_789, vector)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as yamcs:
        yamcs.bind(("127.0.0.1", 0))
        yamcs.settimeout(10.0)
        outlet = make(f"udp://127.0.0.1:{yamcs.getsockname()[1]}", Context(None))
        outlet.open(dictionary)
        outlet.sample(sample)
        outlet.close()
        got: dict[str, float] = {}
        while len(got) < len(dictionary):
            datagram = yamcs.recv(65536)
            assert len(datagram) <= 10 * 1024
            read = json_format.Parse(datagram, pvalue_pb2.ParameterData())
            for each in read.parameter:
                assert each.generationTime.ToNanoseconds() == sample.unix_ns
                got[each.id.name] = each.engValue.doubleValue
    assert list(got) == [f"/dock/{safe_name(quantity.id)}" for quantity in dictionary]
    np.testing.assert_array_equal(list(got.values()), vector)


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("tcp://127.0.0.1:1", "give udp://127.0.0.1:11016"),
        ("udp://127.0.0.1:1?rate=1", "there is no option 'rate'"),
        ("udp://127.0.0.1:1?quantities=p.*", "no quantity fits 'p.*'; the groups are time, q,"),
    ],
)
def test_options_that_cannot_be(uri, says, subject):
    with pytest.raises(LimberjackError) as refusal:
        make(uri, Context(None)).open(subject.dictionary)
    assert says in str(refusal.value)


def test_the_instance_names_what_there_is(files, tmp_path):
    instance = yaml.safe_load(files["etc/yamcs.limberjack.yaml"])
    assert instance["mdb"][0]["args"]["file"] in files
    assert {link["port"] for link in instance["dataLinks"]} == {10015, 10025, 11016}
    (tmp_path / "model.xml").write_text(files["mdb/limberjack.xml"])
    assert validate_xtce(tmp_path / "model.xml", level="schema").valid
    root = tree.fromstring(files["mdb/limberjack.xml"])
    parameters = {each.get("name") for each in root.findall(".//{*}Parameter")}
    verifier_refs = [each.get("parameterRef") for each in root.findall(".//{*}VerifierSet//{*}ParameterInstanceRef")]
    assert {each for each in verifier_refs if not each.startswith("/yamcs/")} <= parameters


class Database:
    """Makes the bits of telecommands by the XTCE alone, as a ground system does."""

    def __init__(self, text: str) -> None:
        self._root = tree.fromstring(text)
        self._types = {each.get("name"): each for each in self._root.find(".//{*}ArgumentTypeSet")}

    def command(self, name: str, values: dict[str, object]) -> bytes:
        meta = self._root.find(f".//{{*}}MetaCommand[@name='{name}']")
        base = self._root.find(".//{*}MetaCommand[@name='telecommand']")
        values = {"source": 4, **values}
        for each in meta.findall("{*}BaseMetaCommand//{*}ArgumentAssignment"):
            values[each.get("argumentName")] = int(each.get("argumentValue"))
        for each in base.findall("{*}ArgumentList/{*}Argument"):
            values.setdefault(each.get("name"), int(each.get("initialValue", 0)))
        kinds = {
            each.get("name"): self._types[each.get("argumentTypeRef")]
            for command in (base, meta)
            for each in command.findall("{*}ArgumentList/{*}Argument")
        }
        bits = "".join(
            self._bits(entry, kinds, values)
            for command in (base, meta)
            for entry in command.find("{*}CommandContainer/{*}EntryList")
        )
        packet = bytearray(int(bits, 2).to_bytes(len(bits) // 8, "big"))
        packet[4:6] = (len(packet) + 2 - 7).to_bytes(2, "big")
        return bytes(packet) + crc(packet).to_bytes(2, "big")

    def _bits(self, entry: tree.Element, kinds: dict, values: dict) -> str:
        if entry.tag.endswith("FixedValueEntry"):
            size = int(entry.get("sizeInBits"))
            return f"{int(entry.get('binaryValue'), 16):0{size}b}"[-size:]
        name = entry.get("argumentRef")
        kind, value = kinds[name], values[name]
        encoding = kind.find("{*}FloatDataEncoding")
        if encoding is not None:
            return f"{int.from_bytes(np.array(value, '>f8').tobytes(), 'big'):064b}"
        if kind.tag.endswith("StringArgumentType"):
            size = int(kind.find(".//{*}FixedValue").text)
            return f"{int.from_bytes(value.encode().ljust(size // 8, bytes(1)), 'big'):0{size}b}"
        if kind.tag.endswith("EnumeratedArgumentType"):
            listed = {each.get("label"): each.get("value") for each in kind.findall(".//{*}Enumeration")}
            value = int(listed[value])
        return f"{value:0{kind.find('{*}IntegerDataEncoding').get('sizeInBits')}b}"


@pytest.mark.parametrize(
    ("name", "values", "order"),
    [
        ("command__elbow", {"value": 0.1}, Order("command", values={"elbow": 0.1})),
        (
            "command_all",
            {"command__elbow": -2.5, "command__dock__closed": 1.0, "command__brake__closed": 0.0},
            Order("command", values={"elbow": -2.5, "dock.closed": 1.0, "brake.closed": 0.0}),
        ),
        ("attach", {"loop": "dock"}, Order("attach", "dock")),
        ("release", {"loop": "brake"}, Order("release", "brake")),
        ("lock", {"hinge": "elbow"}, Order("lock", "elbow")),
        ("unlock", {"hinge": "elbow"}, Order("unlock", "elbow")),
        ("reset", {}, Order("reset")),
        ("fault", {"fault": "wheel 3, ä"}, Order("fault", "wheel 3, ä")),
        ("clear", {"fault": "x" * 64}, Order("clear", "x" * 64)),
        ("give_up", {}, Order("give_up")),
        ("set_parameter", {"parameter": "gravity.z", "value": -9.81}, Order("parameter", "gravity.z", -9.81)),
    ],
)
def test_telecommands_made_by_the_database_alone_are_understood(name, values, order, files, subject):
    plan = plan_of(subject.dictionary, vocabulary_of(subject.simulation, subject.dictionary))
    packet = Database(files["mdb/limberjack.xml"]).command(name, values)
    theirs = PusTc.unpack(packet)
    read = read_telecommand(packet)
    assert (theirs.apid, theirs.source_id, read.acks) == (plan.apid, 4, 0b1001)
    assert decode((theirs.service, theirs.message_subtype), read.data, plan) == order
