"""The servo in C on both of its links, beside the same law in Python with the links' rounding."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import threading
import tty
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.examples.servo_controller.build import build
from limberjack.hil.bench_device import mount
from limberjack.hil.devices.uri import device_from
from limberjack.hil.executive import Executive
from limberjack.hil.signals import Signals
from tests.hil.links import free_port

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SERVO = EXAMPLES / "servo_controller"
GOAL = np.array([0.6, 0.7, -0.3, -0.8, 0.4, 0.8, -0.5])
KP = np.array([600.0, 600.0, 400.0, 400.0, 150.0, 150.0, 100.0])
KD = np.array([60.0, 60.0, 40.0, 40.0, 10.0, 10.0, 6.0])
KI = np.array([1200.0, 2400.0, 800.0, 1600.0, 300.0, 600.0, 200.0])
LIMIT = np.array([30.0, 120.0, 30.0, 60.0, 20.0, 25.0, 10.0])


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("servo") / "servo")


@pytest.fixture(scope="module")
def arm():
    return lj.Simulation(lj.load(EXAMPLES / "torque_arm.yaml"))


class Running:
    """The program, from "ready" on; what it said at its end is in `text`."""

    def __init__(self, program: Path, *words: str) -> None:
        self.process = subprocess.Popen([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.text = ""

    def __enter__(self) -> Running:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.text = self.process.communicate(timeout=20.0)[0]


class NullModem:
    """Two pseudo-terminals, each the other's line."""

    def __init__(self) -> None:
        pairs = [os.openpty() for _ in range(2)]
        for _, slave in pairs:
            tty.setraw(slave)
        self._open = [descriptor for pair in pairs for descriptor in pair]
        self._masters = [master for master, _ in pairs]
        self.names = [os.ttyname(slave) for _, slave in pairs]
        self._ends = os.pipe()
        self._thread = threading.Thread(target=self._relay, daemon=True)

    def _relay(self) -> None:
        other = dict(zip(self._masters, self._masters[::-1]))
        while True:
            found = select.select([*self._masters, self._ends[0]], [], [])[0]
            if self._ends[0] in found:
                return
            for master in found:
                os.write(other[master], os.read(master, 4096))

    def __enter__(self) -> list[str]:
        self._thread.start()
        return self.names

    def __exit__(self, *_: object) -> None:
        os.write(self._ends[1], b".")
        self._thread.join(10.0)
        for descriptor in (*self._open, *self._ends):
            os.close(descriptor)


def in_process(arm: lj.Simulation, frames: int, rate_step: float, torque_of) -> None:
    """The same law without a link; torque_of: what the link makes of torques."""
    reference, integral = 1e-6 * np.rint(arm.q / 1e-6), np.zeros(7)
    for _ in range(frames):
        angle, rate = 1e-6 * np.rint(arm.q / 1e-6), rate_step * np.rint(arm.v / rate_step)
        reference += np.clip(GOAL - reference, -0.8 * 1e-3, 0.8 * 1e-3)
        error = reference - angle
        integral = np.clip(integral + KI * error * 1e-3, -LIMIT, LIMIT)
        arm.command_vector = torque_of(np.clip(KP * error - KD * rate + integral, -LIMIT, LIMIT))
        arm.step(1)


def run(arm: lj.Simulation, uri: str, options: dict, frames: int):
    """In lockstep; the device and how it ended."""
    arm.reset()
    device = device_from(uri, "servo", options, folder=SERVO)
    mounted = mount(device, Signals(arm), arm, ["q.*", "v.*"], ["*"])
    return device, Executive(arm, paced=False, devices=[mounted], answer_limit_s=20.0).run(frames * arm.dt)


def test_over_udp_in_lockstep_bit_for_bit_what_the_law_says(program, arm):
    frames, port = 1500, free_port()
    with Running(program, "udp", str(port), "0.001") as servo:
        device, outcome = run(arm, f"udp://127.0.0.1:{port}?layout=servo_layout.yaml", {}, frames)
    assert (outcome.reason, outcome.text, device.link.rejected) == ("completed", "", {})
    assert servo.text in [f"{count} cycles, 0 messages refused\n" for count in (frames, frames + 1)]
    over_udp = np.concatenate([arm.q, arm.v])
    assert np.abs(arm.q - GOAL).max() < 0.02
    arm.reset()
    in_process(arm, frames, 1e-6, np.float32)
    assert np.array_equal(over_udp, np.concatenate([arm.q, arm.v]))


def test_over_can_behind_a_serial_adapter(program, arm):
    frames = 200
    with NullModem() as (ours, theirs), Running(program, "slcan", theirs, "0.001") as servo:
        device, outcome = run(arm, f"can://slcan/{ours}", {"dbc": "servo.dbc", "counter": "Count"}, frames)
    assert (outcome.reason, outcome.text, device.link.rejected) == ("completed", "", {})
    assert servo.text in [f"{count} cycles, 0 messages refused\n" for count in (frames, frames + 1)]
    over_can = np.concatenate([arm.q, arm.v])
    arm.reset()
    in_process(arm, frames, 1e-5, lambda torque: 1e-5 * np.rint(torque * 1e5))
    assert np.allclose(over_can, np.concatenate([arm.q, arm.v]), rtol=0.0, atol=1e-9)


def test_an_adapter_that_sends_junk_is_heard_again(arm):
    master, slave = os.openpty()
    tty.setraw(slave)
    device = device_from(f"can://slcan/{os.ttyname(slave)}", "servo", {"dbc": "servo.dbc"}, folder=SERVO)
    mounted = mount(device, Signals(arm), arm, ["q.*", "v.*"], ["*"])
    mounted.open()
    commands = np.zeros(7)

    def say(line: bytes) -> None:
        os.write(master, line + b"\r")
        device.answer(0.0, commands, 0.02)

    device.send(0, 0.0, np.zeros(14))
    os.write(master, b"A" * 3000)
    while "oversized" not in device.link.rejected:
        device.receive(0.0, commands)
    for i, junk in enumerate(
        (b"t2018zz", b"\xff\xfe", b"A" * 3000, b"t", b"t20", b"r2015", b"T0000020158600000000", b"d201F")
    ):
        device.send(0, 0.0, np.zeros(14))
        say(junk)
        value = 1.5 + i
        while abs(commands[0] - value) > 1e-9:
            say(b"t2015" + round(1e5 * value).to_bytes(4, "little").hex().upper().encode() + b"00")
    assert "wrong frame" in device.link.rejected
    device.close()
    os.close(master)
    os.close(slave)


def test_paced_over_udp_commands_come_while_the_clock_runs(program, arm):
    arm.reset()
    port = free_port()
    with Running(program, "udp", str(port), "0.001") as servo:
        device = device_from(f"udp://127.0.0.1:{port}?layout=servo_layout.yaml", "servo", folder=SERVO)
        mounted = mount(device, Signals(arm), arm, ["q.*", "v.*"], ["*"])
        outcome = Executive(arm, paced=True, devices=[mounted]).run(0.5)
    assert (outcome.reason, device.link.rejected) == ("completed", {})
    assert device.link.received > 0
    assert servo.text.endswith(" 0 messages refused\n")


def test_datagrams_that_are_none_do_not_move_the_servo(program):
    port = free_port()
    with Running(program, "udp", str(port), "0.001") as servo, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        for junk in (b"", b"x", bytes(72), bytes(5000)):
            made.sendto(junk, ("127.0.0.1", port))
        made.settimeout(0.2)
        with pytest.raises(TimeoutError):
            made.recv(100)
    assert servo.text == "0 cycles, 4 messages refused\n"
