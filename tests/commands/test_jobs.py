"""Whole jobs: engine process, controller process, log, plot; and serving until a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from limberjack.bridge import Client
from limberjack.commands.drive import Job, run_job
from limberjack.commands.plots import momentum_drift
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


def test_space_manipulator_follows_and_momentum_stays(tmp_path: Path) -> None:
    """Servo joints follow a six-second trajectory to the second-order lag of their gains; nothing acts from outside."""
    with (tmp_path / "out.txt").open("w") as out:
        run_job(Job(MODEL, tmp_path, 6.0), Console(file=out))
    log = read_csv(tmp_path / "log.csv")
    assert log["time"][-1] == pytest.approx(6.0)
    assert np.abs(log["q.elbow_pitch"] - log["reference.elbow_pitch"]).max() < 0.2
    assert np.ptp(log["q.elbow_pitch"]) > 0.5
    # rk4 at 1 ms with servo poles near 10 rad/s: local error about (10 h)^5, over 6000 steps of a 1e2 N·m·s exchange
    assert momentum_drift(log, ("px", "py", "pz")).max() < 1e-5
    assert momentum_drift(log, ("Lx", "Ly", "Lz")).max() < 1e-5
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert "what happened" in (tmp_path / "out.txt").read_text()


def test_torque_drives_follow_by_computed_torque(tmp_path: Path) -> None:
    model = tmp_path / "pendulum.yaml"
    model.write_text(PENDULUM)
    with (tmp_path / "out.txt").open("w") as out:
        run_job(Job(model, tmp_path / "results", 3.0), Console(file=out))
    log = read_csv(tmp_path / "results" / "log.csv")
    assert np.abs(log["q.pivot"] - log["reference.pivot"]).max() < 0.02


def test_run_serves_until_interrupted() -> None:
    """`limberjack run` answers a client, refuses a wrong command by name, and ends with code 0 on SIGINT."""
    command = [sys.executable, "-m", "limberjack.cli", "run", str(MODEL), "--endpoint", "tcp://127.0.0.1:*"]
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
