"""`limberjack run` as a service: checkpoints, a kill, --resume, --continue, --supervise, systemd."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import limberjack as lj
from limberjack.bridge import Client
from limberjack.bridge.checkpoint_writer import newest
from limberjack.cli import main
from limberjack.commands.serving import seconds

MODEL = Path(__file__).resolve().parents[2] / "examples" / "torque_arm.yaml"
WAIT_S = 60.0  # bound on every wait; reached only when something is broken


@pytest.fixture
def run(endpoint):
    """Starts `limberjack run`; returns the process once it answers, and its announcement."""
    running = []

    def start(*words, environment=None):
        command = [sys.executable, "-m", "limberjack", "run", *map(str, words), "--endpoint", endpoint]
        options = {"stderr": subprocess.PIPE, "text": True, "env": {**os.environ, **(environment or {})}}
        running.append(subprocess.Popen(command, **options))
        said = ""
        while "answers at" not in said:
            line = running[-1].stderr.readline()
            assert line, said
            said += line
        return running[-1], said

    yield start
    for each in running:
        each.kill()
        each.wait(WAIT_S)
        each.stderr.close()


def drive(client, first, last):
    """Ten steps at a time with other torques each; states by step."""
    states = {}
    for k in range(first, last):
        state = client.step(10, {"joint2": 3.0 * (k % 7), "joint4": -0.5 * (k % 3)})
        states[state.step] = state.vector.tobytes()
    return states


def until(condition, what):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def ended(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(WAIT_S)


def test_a_run_that_was_killed_is_resumed_bit_for_bit_without_its_model_file(run, endpoint, tmp_path):
    process, _ = run(MODEL)
    with Client(endpoint) as client:
        whole = drive(client, 0, 120)
    assert ended(process) == 0
    folder = tmp_path / "c"
    process, _ = run(MODEL, "--checkpoint", "20ms", "--checkpoint-dir", folder)
    with Client(endpoint) as client:
        assert drive(client, 0, 60).items() <= whole.items()
        until(lambda: newest(folder, pytest.fail)[1].step > 0, "no checkpoint was written")
        process.kill()
    reached = newest(folder, pytest.fail)[1].step
    process, said = run("--resume", folder, "--checkpoint", "1h")
    assert f"goes on from t = {reached * 1e-3:.6g} s ({folder}/" in said
    with Client(endpoint) as client:
        assert client.state().step == reached
        found = drive(client, reached // 10, 120)
    assert len(found) == 120 - reached // 10 > 0
    assert found.items() <= whole.items()
    assert ended(process) == 0
    assert newest(folder, pytest.fail)[1].step == 1200  # written at the end, by default beside the one resumed


def test_a_service_begins_and_continues_with_the_same_words(run, endpoint, tmp_path):
    words = MODEL, "--checkpoint", "1h", "--checkpoint-dir", tmp_path / "c", "--continue"
    for times in range(2):
        process, said = run(*words)
        assert ("goes on from" in said) == bool(times)
        with Client(endpoint) as client:
            assert client.step(10).step == 10 * (times + 1)
        assert ended(process) == 0


def test_a_supervised_engine_outlives_a_kill_and_ends_with_its_supervisor(run, endpoint, tmp_path, folder):
    process, said = run(MODEL, "--supervise", "--checkpoint", "20ms", "--checkpoint-dir", tmp_path / "c", "--real-time")
    assert f"supervisor at {endpoint}.supervisor" in said
    (engine,) = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
    with Client(endpoint) as client:
        client.supervisor()
        until(lambda: newest(tmp_path / "c", pytest.fail)[1].step > 100, "no checkpoint was written")
        os.kill(engine, signal.SIGKILL)
        deadline = time.monotonic() + WAIT_S
        while client.supervisor(timeout_s=WAIT_S)["event"] != "restarted":
            assert time.monotonic() < deadline
    with Client(endpoint) as client:
        assert client.describe().raw["restarted"]["cause"] == "the engine was killed by signal 9."
        assert client.state().step > 100
    assert ended(process) == 0
    assert list(folder.iterdir()) == []


def test_systemd_hears_that_it_is_ready_and_lives(run, tmp_path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(str(tmp_path / "notify"))
    listener.settimeout(WAIT_S)
    process, _ = run(MODEL, environment={"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000"})
    heard = [listener.recv(100) for _ in range(4)]
    assert heard[0] == b"READY=1"
    assert set(heard[1:]) == {b"WATCHDOG=1"}
    os.kill(process.pid, signal.SIGSTOP)  # it hangs: systemd hears nothing more
    listener.settimeout(0.0)
    until(lambda: silent(listener), "it does not stop")
    time.sleep(0.5)
    assert silent(listener)
    os.kill(process.pid, signal.SIGCONT)
    listener.settimeout(WAIT_S)
    assert listener.recv(100) == b"WATCHDOG=1"
    assert ended(process) == 0
    listener.close()


def silent(listener):
    try:
        listener.recv(100)
    except BlockingIOError:
        return True
    return False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "no model is given"),
        (["run", "--resume", "{none}"], "none: there is no such file"),
        (["run", "--resume", "{empty}", str(MODEL)], "this folder has no checkpoint"),
        (["run", "--resume", str(MODEL)], "torque_arm.yaml: it is not a checkpoint"),
        (["run", "--resume", "{damaged}", str(MODEL)], "it is damaged: its checksum does not match"),
        (["run", str(MODEL), "--checkpoint", "soon"], "--checkpoint 'soon' is not a time; write it as 10s"),
        (["run", str(MODEL), "--checkpoint=-1s"], "is not a time"),
        (["run", str(MODEL), "--checkpoint-dir", "x"], "go with --checkpoint TIME"),
        (["run", str(MODEL), "--continue"], "go with --checkpoint TIME"),
        (["run", str(MODEL), "--hung-after", "1"], "--hung-after goes with --supervise"),
        (["run", str(MODEL), "--supervise", "--hung-after", "-1"], "hung_s"),
        (["run", str(MODEL), "--duration", "1", "--supervise"], "--supervise is for serving a model"),
        (["run", str(MODEL), "--duration", "1", "--continue"], "--continue is for serving a model"),
        (["run", str(MODEL), "--parent-folder", "x"], "--parent-folder goes with --with-parent"),
        (["run", "--duration", "1"], "no model is given"),
    ],
)
def test_what_does_not_go_is_reported(words, message, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").write_bytes(b"LJCHECK1" + bytes(100))
    places = {name: str(tmp_path / name) for name in ("none", "empty", "damaged")}
    assert main([word.format(**places) for word in words]) == 2
    assert message in capsys.readouterr().err


def test_times():
    assert [seconds("x", text) for text in ("10s", "500ms", "2min", "1.5", "1h", "1 s")] == [10, 0.5, 120, 1.5, 3600, 1]
    for text in ("", "s", "10 days", "nan", "inf", "0s", "1e999"):
        with pytest.raises(lj.ArgumentError, match="is not a time"):
            seconds("x", text)
