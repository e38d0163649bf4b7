"""A controller's program is killed at a random moment: the bench notices, says which, and loses nothing."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import threading
import time

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil.record.mcap_file import McapFile
from limberjack.hil.record.replay import replay
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.scenario_file import load_scenario
from tests.hil.links import PENDULUM, free_port

WAIT_S, LIMIT_S, FRAME_S = 30.0, 0.1, 0.002
PROGRAM = """
import sys, threading
from limberjack.hil.devices.device import Wiring
from limberjack.hil.devices.uri import twin_from
wiring = Wiring(("q.pivot", "v.pivot"), ("rad", "rad/s"), ("motor",))
print("ready", flush=True)
twin_from(sys.argv[1], wiring, lambda t, s: -20.0 * s[:1] - 3.0 * s[1:]).run(threading.Event())
"""
SCENARIO = f"""
limberjack_scenario: 1
name: kill
model: pendulum.yaml
dt: 0.001
steps_per_frame: 2
duration: 60
pacing: {{real_time: true}}
devices: [{{name: servo, uri: "none:", signals: [q.pivot, v.pivot], commands: [motor]}}]
watchdogs:
  - {{name: loss, type: command_age, commands: [motor], limit: {LIMIT_S}, safe: zero}}
"""


def uri_of(kind: str) -> str:
    if kind == "shm":
        return f"shm://test-{os.getpid()}-kill"
    return f"{kind}://127.0.0.1:{free_port(socket.SOCK_DGRAM if kind == 'udp' else socket.SOCK_STREAM)}"


class Killer:
    """Waits until the program has been heard, kills it at a random moment, ends the run when that was noticed."""

    def __init__(self, seed: int) -> None:
        self._pause = random.Random(seed).uniform(0.0, 0.3)
        self.pid = 0

    @contextlib.contextmanager
    def watching(self, built):
        self.executive = built.executive
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        yield None
        thread.join(WAIT_S)

    def _work(self) -> None:
        (servo,), log = self.executive.devices, self.executive.log
        self._until(lambda: servo.device.link.received > 20)
        time.sleep(self._pause)
        os.kill(self.pid, signal.SIGKILL)
        self._until(lambda: any(event.source == "servo_program" for event in list(log.events)))
        # a machine that stood still may have tripped the watchdog before; commands came after that
        self._until(lambda: any(event.time > servo.device.link.last_time for event in log.of("trip")))
        time.sleep(0.02)
        self.executive.stop("noticed.")

    @staticmethod
    def _until(condition) -> None:
        limit = time.monotonic() + WAIT_S
        while not condition() and time.monotonic() < limit:
            time.sleep(0.001)


def run(tmp_path, monkeypatch, kind, seed, may_end):
    """A run whose program is killed, and its record."""
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    (tmp_path / "kill.yaml").write_text(SCENARIO)
    uri, killer = uri_of(kind), Killer(seed)
    program = {
        "name": "servo_program",
        "command": ["{python}", "-c", PROGRAM, uri],
        "ready": "ready",
        "start_s": WAIT_S,
    }
    changed = {"devices[servo].uri": uri, "controllers": [{**program, "may_end": may_end}]}
    start = subprocess.Popen

    def popen(*arguments, **options):
        child = start(*arguments, **options)
        killer.pid = child.pid if "-c" in arguments[0] and PROGRAM in arguments[0] else killer.pid
        return child

    monkeypatch.setattr("subprocess.Popen", popen)
    scenario = load_scenario(tmp_path / "kill.yaml", changed)
    result = run_scenario(scenario, out=tmp_path / "out", visit=killer.watching)
    return result, McapFile(tmp_path / "out" / "record.mcap")


def check_record(result, record):
    """Closed, with every frame and every event of the run, and the run can be done again."""
    batch = record.read()
    assert record.trouble == ""
    assert record.end["closed"] is True
    assert batch.numbers.tolist() == list(range(result.outcome.frames.frames + 1))
    assert [(event.kind, event.text) for event in batch.events] == [
        (event.kind, event.text) for event in result.outcome.log.events
    ]
    found = replay(record, lj.load(record.meta["source"]))
    assert found.equal, found.difference or found.stopped
    return batch


def check_noticed(result, batch, names):
    """The watchdog tripped in the first frame in which the last commands were too old; they are zero from there."""
    (servo,) = result.built.executive.devices
    *_, trip = (event for event in result.outcome.log.of("trip") if event.source == "loss")
    age = trip.time - servo.device.link.last_time
    assert LIMIT_S < age < LIMIT_S + 1.01 * FRAME_S
    assert "'servo'" in trip.text
    command, times = batch.rows[:, names.index("command.motor")], batch.rows[:, 0]
    assert np.all(command[times > trip.time + 1e-9] == 0.0)
    assert np.all(command[(times > servo.device.link.last_time + 1e-9) & (times < trip.time + 1e-9)] != 0.0)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [("udp", 0), *(pytest.param(kind, s, marks=pytest.mark.long) for kind in ("tcp", "shm", "zmq") for s in (1, 2, 3))],
)
def test_a_killed_program_that_may_end(kind, seed, tmp_path, monkeypatch):
    result, record = run(tmp_path, monkeypatch, kind, seed, may_end=True)
    assert (result.outcome.reason, result.outcome.text) == ("stopped", "noticed.")
    (reported,) = (event for event in result.outcome.log.of("device") if event.source == "servo_program")
    assert reported.text == "the program of controller 'servo_program' was killed by signal 9"
    check_noticed(result, check_record(result, record), list(record.names))


@pytest.mark.long
@pytest.mark.parametrize("seed", [4, 5, 6])
def test_a_killed_program_that_may_not_end_ends_the_run(seed, tmp_path, monkeypatch):
    result, record = run(tmp_path, monkeypatch, "udp", seed, may_end=False)
    text = "the program of controller 'servo_program' was killed by signal 9"
    assert (result.outcome.reason, result.outcome.text) == ("tripped", text)
    assert not result.passed
    check_record(result, record)
