"""Whole jobs: engine process, controller process, log, plot; and serving until a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from limberjack.bridge import Client
from limberjack.bridge.settings import Settings
from limberjack.commands.conservation import log_conserves, momentum_drift
from limberjack.commands.drive import Job, JobError, run_job, watch
from limberjack.commands.record import read_csv

MODEL = Path(str(files("limberjack.examples") / "space_manipulator.yaml"))
PENDULUM = """
limberjack: 1
name: pendulum
bodies:
  - name: arm
    mass: 2.0
    com: [0.5, 0, 0]
    inertia: {xx: 0.01, yy: 0.1, zz: 0.1}
    hinge: {name: pivot, type: revolute, parent: world, axis: [0, 1, 0], friction: 0.2, damping: 0.1}
actuators:
  - {name: pivot, coordinate: pivot}
"""


@pytest.mark.long
def test_space_manipulator_follows_and_momentum_stays(tmp_path: Path) -> None:
    """Servo joints follow to the second-order lag of their gains, in a time that leaves every drive below its limit;
    nothing acts from outside."""
    with (tmp_path / "out.txt").open("w") as out:
        run_job(Job(MODEL, tmp_path, 12.0), Console(file=out))
    log = read_csv(tmp_path / "log.csv")
    assert log["time"][-1] == pytest.approx(12.0)
    assert np.abs(log["q.elbow_pitch"] - log["reference.elbow_pitch"]).max() < 0.2
    assert np.ptp(log["q.elbow_pitch"]) > 0.5
    assert np.abs(log["tau.elbow_pitch"]).max() < 1000.0
    # rk4 at 1 ms with servo poles near 10 rad/s: local error about (10 h)^5, over 12000 steps of a 1e2 N·m·s exchange
    assert momentum_drift(log, ("px", "py", "pz")).max() < 1e-5
    assert momentum_drift(log, ("Lx", "Ly", "Lz")).max() < 1e-5
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert log_conserves(log)
    words = (tmp_path / "out.txt").read_text()
    assert "what happened" in words
    assert "angular momentum drift" in words


def test_torque_drives_follow_by_computed_torque(tmp_path: Path) -> None:
    model = tmp_path / "pendulum.yaml"
    model.write_text(PENDULUM)
    with (tmp_path / "out.txt").open("w") as out:
        run_job(Job(model, tmp_path / "results", 3.0), Console(file=out))
    log = read_csv(tmp_path / "results" / "log.csv")
    assert np.abs(log["q.pivot"] - log["reference.pivot"]).max() < 0.02


BALL_ARM = """
limberjack: 1
name: ball_arm
bodies:
  - name: ball
    mass: 2.0
    com: [0, 0, -0.5]
    inertia: {xx: 0.6, yy: 0.6, zz: 0.1}
    hinge: {name: ball, type: spherical, parent: world, damping: 1.0}
  - name: arm
    mass: 1.0
    inertia: {xx: 0.1, yy: 0.1, zz: 0.1}
    hinge: {name: elbow, type: revolute, parent: ball, position: [0, 0, -1], axis: [0, 1, 0]}
  - name: hand
    mass: 0.2
    inertia: {xx: 0.01, yy: 0.01, zz: 0.01}
    hinge: {name: wrist, type: revolute, parent: arm, position: [0, 0, -0.2], axis: [0, 1, 0], friction: 2.0}
actuators:
  - {name: twist, coordinate: ball.wx}
  - {name: elbow, coordinate: elbow}
  - {name: weak, coordinate: wrist, limit: 1.0}
"""


def test_quasi_velocities_are_held_weak_drives_rest_and_nothing_is_said_to_be_conserved(tmp_path: Path) -> None:
    model = tmp_path / "ball_arm.yaml"
    model.write_text(BALL_ARM)
    with (tmp_path / "out.txt").open("w") as out:
        run_job(Job(model, tmp_path / "results", 3.0), Console(file=out, width=500))
    log = read_csv(tmp_path / "results" / "log.csv")
    words = (tmp_path / "out.txt").read_text()
    assert "held at 0, because a quasi-velocity is not the rate of a coordinate: twist\n" in words
    assert "at rest, weaker than the dry friction of their hinges: weak\n" in words
    assert "(elbow)" in words
    assert "momentum" not in words
    assert not log_conserves(log)
    assert "reference.ball.wx" not in log
    assert np.ptp(log["reference.elbow"]) > 0.5
    assert np.abs(log["q.elbow"] - log["reference.elbow"]).max() < 0.02


def test_paced_run_takes_the_time_it_simulates_and_keeps_endpoint_and_rate(tmp_path: Path) -> None:
    model, address = tmp_path / "pendulum.yaml", f"ipc://{tmp_path}/engine"
    model.write_text(PENDULUM)
    settings = Settings(endpoint=address, rate_hz=100.0)
    start = time.monotonic()
    with (tmp_path / "out.txt").open("w") as out:
        run_job(Job(model, tmp_path / "r", 2.0, settings=settings, real_time=True), Console(file=out, width=500))
    assert time.monotonic() - start >= 2.0  # never faster than the clock
    assert f"answers at {address}" in (tmp_path / "out.txt").read_text()
    assert len(read_csv(tmp_path / "r" / "log.csv")["time"]) == 201


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import time; print(0.5, flush=True); time.sleep(600)", "sent nothing for 1 s"),
        ("import sys; sys.stderr.write('x' * 10**6 + '\\nthe reason\\n'); sys.exit(3)", "exit code 3: the reason"),
    ],
)
def test_a_silent_or_failing_controller_is_bounded(code: str, words: str) -> None:
    heard: list[str] = []
    with pytest.raises(JobError, match=words):
        watch([sys.executable, "-c", code], 1.0 if "sleep" in code else 60.0, heard.append)
    assert heard == (["0.5"] if "sleep" in code else [])


def test_run_serves_until_interrupted() -> None:
    """`limberjack run` answers a client, refuses a wrong command by name, and ends with code 0 on SIGINT."""
    command = [sys.executable, "-m", "limberjack", "run", str(MODEL), "--endpoint", "tcp://127.0.0.1:*"]
    engine = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        assert engine.stderr is not None
        line = engine.stderr.readline()
        endpoint = line.split("answers at ")[1].split(",")[0]
        with Client(endpoint, timeout_s=20.0) as client:
            assert client.step(5, command={"elbow_pitch": 1.8}).step == 5
        engine.send_signal(signal.SIGINT)
        assert engine.wait(20.0) == 0
    finally:
        engine.kill()
        engine.wait()
