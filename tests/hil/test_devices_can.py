"""A CAN device on python-can's virtual bus: a loop in lockstep, frames that are refused, errors of files and names."""

from __future__ import annotations

import os

import can
import numpy as np
import pytest

import limberjack as lj
from limberjack.hil.bench_device import mount
from limberjack.hil.devices.can_codec import Frames, read_dbc
from limberjack.hil.devices.uri import device_from, twin_from
from limberjack.hil.executive import Executive
from limberjack.hil.signals import Signals
from tests.hil.links import WIRING, law, pendulum

DBC = """VERSION ""
NS_ :
BS_:
BU_: Bench Servo

BO_ 256 JointState: 8 Bench
 SG_ Position : 0|32@1- (1E-007,0) [0|0] "rad" Servo
 SG_ Speed : 39|24@0- (1E-005,0) [0|0] "rad/s" Servo
 SG_ Count : 56|8@1+ (1,0) [0|255] "" Servo

BO_ 2147484160 JointCommand: 5 Servo
 SG_ Torque : 0|32@1- (0.0001,0) [-100|100] "N m" Bench
 SG_ Count : 32|8@1+ (1,0) [0|255] "" Bench
"""
NAMES = {"q.pivot": "Position", "v.pivot": "JointState.Speed", "motor": "Torque"}


@pytest.fixture
def place(tmp_path):
    """URI and options of a device on a bus of its own."""
    (tmp_path / "joint.dbc").write_text(DBC, encoding="ascii")
    options = {"names": NAMES, "counter": "Count", "dbc": str(tmp_path / "joint.dbc")}
    return f"can://virtual/bus-{os.getpid()}-{tmp_path.name}", options


def test_lockstep_over_can_is_the_loop_with_rounded_numbers(place, tmp_path):
    simulation, (uri, options) = pendulum(tmp_path), place
    device = device_from(uri, "servo", options)
    mounted = mount(device, Signals(simulation), simulation, ["q.*", "v.*"], ["motor"])
    with twin_from(uri, mounted.wiring, law, options) as twin:
        outcome = Executive(simulation, paced=False, devices=[mounted], answer_limit_s=20.0).run(0.15)
    assert (outcome.reason, outcome.text, twin.error, device.link.rejected) == ("completed", "", None, {})
    over_can = simulation.q[0], simulation.v[0]
    simulation.reset()
    for _ in range(150):
        seen = np.array([round(simulation.q[0] / 1e-7) * 1e-7, round(simulation.v[0] / 1e-5) * 1e-5])
        simulation.command["motor"] = round(law(0.0, seen)[0] / 1e-4) * 1e-4
        simulation.step(1)
    assert over_can == pytest.approx((simulation.q[0], simulation.v[0]), abs=1e-12)


def test_frames_that_are_refused_change_nothing(place):
    uri, options = place
    device, commands = device_from(uri, "servo", options), np.array([7.0])
    device.open(WIRING)
    bus = can.Bus(interface="virtual", channel=uri.rpartition("/")[2])

    def say(data: bytes, **changes: object) -> bool:
        frame = {"arbitration_id": 512, "is_extended_id": True, "data": data} | changes
        bus.send(can.Message(**frame))
        return device.receive(0.5, commands)

    def torque(raw: int, count: int) -> bytes:
        return raw.to_bytes(4, "little", signed=True) + bytes([count])

    assert not say(torque(1, 1)[:4])
    assert not say(torque(1, 1) + b"\0")
    assert not say(torque(1_000_001, 1))
    assert not say(b"", is_remote_frame=True, dlc=5)
    assert not say(torque(1, 1), is_extended_id=False)
    assert device.link.rejected == {"wrong size": 2, "out of range": 1, "not a frame of the device": 1}
    assert (commands[0], device.link.received) == (7.0, 0)
    assert say(torque(-12345, 255))
    assert commands[0] == pytest.approx(-1.2345, abs=1e-15)
    assert not say(torque(9, 255))
    assert say(torque(20000, 0))
    assert device.link.rejected["replayed or late"] == 1
    assert (commands[0], device.link.received, device.link.last_time) == (2.0, 2, 0.5)
    device.send(0, 0.0, np.array([1e9, np.nan]))
    heard = bus.recv(1.0)
    assert bytes(heard.data) == (2**31 - 1).to_bytes(4, "little") + bytes(4)
    bus.shutdown()
    device.close()


ENDS = """VERSION ""
NS_ :
BS_:
BU_: Bench Servo

BO_ 1 Command: 4 Servo
 SG_ Torque : 0|8@1- (0.1,0) [-0.7|0.7] "N m" Bench
 SG_ Offset : 8|8@1+ (1,10) [10|265] "" Bench

BO_ 2 Rate: 4 Servo
 SG_ Rate : 0|32@1- (1,0) [-0.1|0.1] "rad/s" Bench

BO_ 3 Ticks: 8 Servo
 SG_ Ticks : 0|64@1+ (1,0) [0|0] "" Bench
SIG_VALTYPE_ 2 Rate : 1;
"""


def test_values_at_the_ends_of_a_range_go_there_and_back(tmp_path):
    (tmp_path / "ends.dbc").write_text(ENDS, encoding="ascii")
    names = ("Torque", "Rate", "Ticks")
    frames = Frames(read_dbc(tmp_path / "ends.dbc"), names, {}, "")
    for value in (np.inf, -np.inf):
        found = np.full(3, np.nan)
        sent = list(frames.encode(np.full(3, value)))
        assert sent[0][2] == bytes([7 if value > 0 else 256 - 7, 0, 0, 0])  # what nobody sets stays in its range
        for identifier, extended, data in sent:
            message = can.Message(arbitration_id=identifier, is_extended_id=extended, data=data)
            assert frames.decode(message, found) == ""
        assert found[:2] == pytest.approx([np.sign(value) * 0.7, np.sign(value) * 0.1], abs=1e-15)
        assert found[2] == (0.0 if value < 0.0 else pytest.approx(2.0**64, rel=1e-14))


FORMS = """VERSION ""
NS_ :
BS_:
BU_: Bench Servo

BO_ 256 Short: 2 Bench
 SG_ Position : 0|16@1- (1,0) [0|0] "" Servo

BO_ 2147483904 Extended: 2 Bench
 SG_ Speed : 0|16@1- (1,0) [0|0] "" Servo

BO_ 3 Long: 16 Bench
 SG_ Torque : 0|16@1- (1,0) [0|0] "" Servo
"""


def test_one_identifier_in_both_forms_is_two_messages_and_long_ones_are_refused(tmp_path):
    (tmp_path / "forms.dbc").write_text(FORMS, encoding="ascii")
    database, found = read_dbc(tmp_path / "forms.dbc"), np.zeros(2)
    frames = Frames(database, ("Position", "Speed"), {}, "")
    sent = list(frames.encode(np.array([3.0, -4.0])))
    assert [(identifier, extended) for identifier, extended, _ in sent] == [(256, False), (256, True)]
    for identifier, extended, data in sent:
        message = can.Message(arbitration_id=identifier, is_extended_id=extended, data=data)
        assert frames.decode(message, found) == ""
    assert list(found) == [3.0, -4.0]
    with pytest.raises(lj.ArgumentError, match="message 'Long' has 16 bytes, as only CAN FD has"):
        Frames(database, ("Torque",), {}, "")


def test_a_counter_that_no_message_has_is_an_error(place):
    uri, options = place
    with pytest.raises(lj.ArgumentError, match="no message of the device has the signal 'Cuont'"):
        device_from(uri, "servo", options | {"counter": "Cuont"}).open(WIRING)


def test_a_bus_that_nobody_empties_drops_frames_and_never_waits(place):
    uri, options = place
    device = device_from(uri, "servo", options)
    bus = can.Bus(interface="virtual", channel=uri.rpartition("/")[2], rx_queue_size=10)
    device.open(WIRING)
    for frame in range(30):
        device.send(frame, 0.0, np.zeros(2))
    assert (device.link.sent, device.link.dropped) == (10, 20)
    bus.shutdown()
    device.close()


@pytest.mark.parametrize(
    ("uri", "changes", "words"),
    [
        ("can://udp_multicast/239.0.0.1", {}, "without keys"),
        ("can://virtul/x", {}, "interface of: .*virtual"),
        ("can://virtual/x", {"dbc": None}, "dbc is missing"),
        ("can://virtual/x", {"dbc": "nowhere.dbc"}, "cannot be read"),
        ("can://slcan/ttyACM0", {}, "two slashes"),
        ("can://virtual/x", {"names": {**NAMES, "motor": "Torqe"}}, "did you mean 'Torque'"),
        ("can://virtual/x", {"names": {**NAMES, "motr": "Torque"}}, "names maps 'motr'"),
        ("can://virtual/x", {"names": {**NAMES, "motor": "Count"}}, "several messages"),
        ("can://virtual/x", {"names": {**NAMES, "motor": "JointCommand.Count"}}, "used already"),
    ],
)
def test_errors(place, uri, changes, words):
    options = {key: value for key, value in (place[1] | changes).items() if value is not None}
    with pytest.raises(lj.ArgumentError, match=words):
        device_from(uri, "servo", options).open(WIRING)
