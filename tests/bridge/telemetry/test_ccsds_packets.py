"""CCSDS packets and their XTCE, read by programs that share nothing with what wrote them."""

from __future__ import annotations

import io
import math
import re
import struct
import xml.etree.ElementTree as tree
from dataclasses import replace
from pathlib import Path

import ccsdspy
import numpy as np
import pytest
import space_packet_parser as spp
from hypothesis import given
from hypothesis import strategies as st
from space_packet_parser.xtce.validation import validate_xtce
from spacepackets.ecss import PusTc
from spacepackets.ecss.tm import PusTm

from limberjack.bridge.telemetry.ccsds.packets import (
    HOUSEKEEPING,
    REPORT,
    Packer,
    PacketError,
    read_telecommand,
    telecommand,
)
from limberjack.bridge.telemetry.ccsds.schema import DEFAULT, read_packets
from limberjack.bridge.telemetry.ccsds.sets import Plan, Schedule, Schedules, plan_of
from limberjack.bridge.telemetry.ccsds.vocabulary import Vocabulary, vocabulary_of
from limberjack.bridge.telemetry.ccsds.xtce import parameter_names, xtce
from limberjack.bridge.telemetry.dictionary import Dictionary, dictionary_of
from limberjack.bridge.telemetry.sample import Sample
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError, LimberjackError
from tests.bridge.bridge_helpers import make_arm, make_dock

BOTH_WIDTHS = """
limberjack_packets: 1
apid: 40
clock: simulated
epoch: 2026-01-31T12:00:00Z
largest: 256
sets:
  - {name: all, quantities: ["*"]}
  - {name: short, quantities: ["q.*", "momentum.*"], rate_hz: 5, type: float32, apid: 1200}
"""
NOW_NS = 1_700_000_000_123_456_789


@pytest.fixture(scope="module")
def dock() -> Simulation:
    simulation = Simulation(make_dock())
    simulation.step(7)
    return simulation


@pytest.fixture(scope="module")
def dictionary(dock) -> Dictionary:
    return dictionary_of(dock)


@pytest.fixture(scope="module")
def vocabulary(dock, dictionary) -> Vocabulary:
    return vocabulary_of(dock, dictionary)


def sample_of(dictionary: Dictionary, simulation: Simulation) -> Sample:
    """The engine's own numbers where it has them, awkward ones elsewhere."""
    awkward = [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 1e39, 1 / 3]
    vector = np.resize(np.array(awkward), len(dictionary))
    vector[dictionary.groups["q"]], vector[dictionary.groups["v"]] = simulation.q, simulation.v
    vector[0] = simulation.time
    return Sample(4_294_967_300, simulation.time, NOW_NS, vector)


def plan_from(text: str, tmp_path: Path, dictionary: Dictionary, vocabulary: Vocabulary) -> Plan:
    file = tmp_path / "packets.yaml"
    file.write_text(text)
    return plan_of(dictionary, vocabulary, read_packets(file))


def packed(plan: Plan, sample: Sample, packer: Packer, lost: int = 0) -> list[bytes]:
    return [
        packer.telemetry(each.apid, HOUSEKEEPING, REPORT, sample.unix_ns, each.data(sample, plan.signature, lost))
        for each in plan.packets
    ]


def test_space_packet_parser_reads_the_engines_numbers_bit_by_bit(dock, dictionary, vocabulary, tmp_path):
    plan = plan_from(BOTH_WIDTHS, tmp_path, dictionary, vocabulary)
    file = tmp_path / "dock.xml"
    file.write_text(xtce(plan))
    decoder, names, sample = spp.load_xtce(file), parameter_names(plan), sample_of(dictionary, dock)
    assert len(plan.packets) > 3  # the first set needs several packets of 256 bytes
    seen = set()
    for packet, raw in zip(plan.packets, packed(plan, sample, Packer(), 3), strict=True):
        read = decoder.parse_bytes(raw)
        assert len(raw) <= 256
        assert (read["packet_apid"], read["packet_structure"]) == (packet.apid, packet.structure)
        assert (read["packet_publication"], read["packet_lost"]) == (4, 3)
        assert read["packet_signature"] == plan.signature
        assert 0.0 <= NOW_NS / 1e9 - read["packet_time"] < 3e-7  # 2^-24 s, and the rounding of a double
        assert struct.pack("<d", read["time"]) == struct.pack("<d", dock.time)
        for quantity, place in zip(packet.quantities, packet.places, strict=True):
            value = sample.vector[place]
            with np.errstate(over="ignore"):
                sent = value if packet.bits == 64 else float(np.float32(value))
            assert struct.pack("<d", read[names[quantity.id, packet.bits]]) == struct.pack("<d", sent)
            seen.add((quantity.id, packet.bits))
    assert {id for id, bits in seen if bits == 64} == set(dictionary.places) - {"time"}


def test_exported_xtce_is_valid_and_gives_units_and_alarms(dictionary, vocabulary, tmp_path):
    limits = {"low": -2.0, "warning": (-1.5, 1.5), "critical": (-math.inf, 1.75)}
    limited = tuple(replace(each, **limits) if each.id == "q.elbow" else each for each in dictionary)
    file = tmp_path / "dock.xml"
    plan = plan_of(replace(dictionary, quantities=limited), vocabulary)
    file.write_text(xtce(plan))
    assert validate_xtce(file, level="schema").valid
    kind = next(e for e in _tree(file).findall(".//{*}FloatParameterType") if e.get("name") == "q__elbow_type")
    assert kind.findtext("{*}UnitSet/{*}Unit") == "rad"
    assert kind.find("{*}ValidRange") is None  # beyond its stops a coordinate is telemetry all the same
    ranges = kind.find("{*}DefaultAlarm/{*}StaticAlarmRanges")
    assert dict(ranges.find("{*}WarningRange").attrib) == {"minInclusive": "-1.5", "maxInclusive": "1.5"}
    assert dict(ranges.find("{*}CriticalRange").attrib) == {"maxInclusive": "1.75"}
    commands = {e.get("name") for e in _tree(file).findall(".//{*}MetaCommand")}
    assert {"command__elbow", "attach", "release", "lock", "unlock", "reset", "set_parameter"} <= commands


def _tree(file: Path) -> tree.Element:
    return tree.parse(file).getroot()


def test_ccsdspy_reads_a_file_of_packets(dock, dictionary, vocabulary):
    plan, packer = plan_of(dictionary, vocabulary), Packer()
    motion, fields = plan.packets[0], [ccsdspy.PacketField("secondary", "fill", 21 * 8 - 48)]
    fields += [ccsdspy.PacketField(name, "uint", bits) for name, bits in (("structure", 16), ("signature", 32))]
    fields += [ccsdspy.PacketField(name, "uint", 32) for name in ("publication", "lost")]
    fields += [ccsdspy.PacketField(name, "float", 64) for name in ("time", *(q.id for q in motion.quantities))]
    fields.append(ccsdspy.PacketField("crc", "uint", 16))
    samples, raw = [], b""
    for k in range(5):
        samples.append(replace(sample_of(dictionary, dock), time=0.1 * k))
        raw += packed(plan, samples[-1], packer)[0]
    read = ccsdspy.FixedLength(fields).load(io.BytesIO(raw), include_primary_header=True)
    assert list(read["CCSDS_SEQUENCE_COUNT"]) == [0, 1, 2, 3, 4]
    assert list(read["time"]) == [each.time for each in samples]
    for quantity, place in zip(motion.quantities, motion.places, strict=True):
        np.testing.assert_array_equal(read[quantity.id], [each.vector[place] for each in samples])


def test_spacepackets_reads_the_headers_of_ecss(dock, dictionary, vocabulary):
    plan, packer = plan_of(dictionary, vocabulary), Packer()
    for count in range(3):
        raw = packed(plan, sample_of(dictionary, dock), packer)[1]
        packet = PusTm.unpack(raw, timestamp_len=8)  # it checks the CRC
        assert (packet.apid, packet.service, packet.message_subtype, packet.seq_count) == (102, 3, 25, count)
        assert packet.pus_tm_sec_header.message_counter == count
    for _ in range(1 << 14):
        raw = packer.telemetry(102, 3, 25, NOW_NS, b"")
    assert PusTm.unpack(raw, timestamp_len=8).seq_count == 2  # 14 bits


def test_telecommands_of_spacepackets_are_read(dock):
    theirs = PusTc(apid=100, service=8, message_subtype=1, app_data=b"\x01\x02", seq_count=77, source_id=5)
    order = read_telecommand(bytes(theirs.pack()))
    assert (order.apid, order.service, order.subtype, order.sequence, order.source) == (100, 8, 1, 77, 5)
    assert (order.acks, order.data, order.request) == (0b1111, b"\x01\x02", bytes(theirs.pack())[:4])
    assert telecommand(100, 77, 8, 1, 5, 0b1111, b"\x01\x02") == bytes(theirs.pack())


@given(st.binary(max_size=40), st.integers(0, 13), st.integers(1, 255))
def test_what_is_no_telecommand_is_refused(noise, place, flip):
    with pytest.raises(PacketError):
        read_telecommand(noise)
    damaged = bytearray(telecommand(100, 1, 17, 1, 0, 9, b"abc"))
    damaged[place] ^= flip
    with pytest.raises(PacketError):
        read_telecommand(bytes(damaged))


@pytest.mark.parametrize("step", [0.001, 0.0003, 0.1])
def test_a_rate_is_kept_in_simulated_time(step):
    schedule = Schedule(10.0)
    sent = [time for k in range(int(2.0 / step) + 1) if schedule.due(time := k * step)]
    assert len(sent) in (20, 21)
    assert all(-1e-9 <= time - 0.1 * k < step + 1e-6 for k, time in enumerate(sent))
    assert schedule.due(0.0)  # the simulation was reset
    assert schedule.due(0.0)  # it stands still, and the same state comes again
    assert not schedule.due(1e-5)
    assert all(Schedule(None).due(0.0) for _ in range(3))


@given(
    rates=st.lists(st.one_of(st.none(), st.floats(1e-2, 1e3)), max_size=4),
    steps=st.lists(st.sampled_from([1e-3, 1e-3, 1e-3, 0.02, 0.1, 0.0, -0.4567, 7.3]), min_size=1, max_size=60),
)
def test_a_sample_is_due_if_it_is_at_any_rate(rates, steps):
    """Also at times that stand still, or go back: one look at all rates sees what a look at each of them sees."""
    schedules, each, time = Schedules(rates), [Schedule(rate) for rate in rates], math.nan
    for step in steps:
        before, time = time, step + (0.0 if math.isnan(time) else time)
        due = [one.due(time) for one in each]
        assert schedules.due(time) == (any(due) or time == before)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"q.*", "m', '"q.elbw", "m', "set 'short': no quantity fits 'q.elbw'; did you mean q.elbow"),
        ("apid: 1200", "apid: 40", "set 'short': APID 40 is in use already"),
        ("rate_hz: 5", "rate_hz: -5", "packets.yaml:9, sets[1].rate_hz: rate_hz is -5. Give a number above 0"),
        ("rate_hz: 5", "rate: 5", "packets.yaml:9, sets[1].rate"),
        ("name: short", "name: all_1", "two packets are called 'all_1'"),
        ("name: short", "name: a b", "packets.yaml:9, sets[1].name: 'a b': write letters, digits and _"),
        ("2026-01-31T12:00:00Z", "31.1.2026", "packets.yaml:5, epoch: '31.1.2026': is not a date"),
        ("limberjack_packets: 1", "- 1", "packets.yaml"),
        ('"q.*", "momentum.*"', '"time"', "set 'short' holds only the time"),
    ],
)
def test_a_wrong_file_says_where_and_why(old, new, says, tmp_path, dictionary, vocabulary):
    assert old in BOTH_WIDTHS
    with pytest.raises(LimberjackError) as refusal:
        plan_from(BOTH_WIDTHS.replace(old, new), tmp_path, dictionary, vocabulary)
    assert says in str(refusal.value)


def test_the_default_fits_any_model_and_its_packets_have_signatures_of_their_own():
    simulation = Simulation(make_arm())
    arm = dictionary_of(simulation)
    words = vocabulary_of(simulation, arm)
    plan = plan_of(arm, words)
    assert [packet.name for packet in plan.packets] == ["motion", "sensors", "balance", "engine"]
    fewer = plan_of(arm, replace(words, parameters=words.parameters[1:]))
    moved = plan_of(arm, words, DEFAULT.model_copy(update={"apid": 7}))
    assert len({plan.signature, fewer.signature, moved.signature}) == 3
    with pytest.raises(ArgumentError, match="APID"):
        plan_of(arm, words, DEFAULT.model_copy(update={"apid": 2045}))


def test_the_file_in_the_documentation_is_one(tmp_path, dictionary, vocabulary):
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "telemetry.md").read_text()
    parts = ("limberjack_packets", "sources")
    blocks = [re.search(rf"```yaml\n({name}:.*?)```", page, re.DOTALL)[1] for name in parts]
    plan = plan_from("".join(blocks), tmp_path, dictionary, vocabulary)
    assert [(packet.name, packet.apid) for packet in plan.packets] == [("arm", 101), ("balance", 300)]
    assert [source.name for source in plan.spec.sources] == ["houston", "visitor"]
