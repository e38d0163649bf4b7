"""Memory of a served bench stays flat while clients come, go, watch and act, and every frame is recorded."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from limberjack.bridge.client import Client
from limberjack.hil.record.mcap_file import McapFile

#: of the run, s; longer by hand: LIMBERJACK_SOAK_S=600 pytest -n 0 -m long tests/commands/test_soak.py
SECONDS = float(os.environ.get("LIMBERJACK_SOAK_S", "110"))
#: left out at the start: caches fill, the allocator settles
WARM_UP = 0.3
#: growth from the warm-up to the end that the fitted line may show, and for each event, as events are kept, bytes
MOST, EVENT = 500_000, 1000
FRAME_S = 0.004
MODEL = Path(__file__).resolve().parents[2] / "examples" / "torque_arm.yaml"
SCENARIO = f"""
limberjack_scenario: 1
name: soak
model: {MODEL}
steps_per_frame: 4
duration: {SECONDS}
pacing: {{real_time: true, overrun_share: 1, most_late_s: 1000}}
initial: {{commands: {{joint2: -53.823, joint4: 35.339, joint6: -6.422}}}}
devices: [{{name: servo, uri: "python:law:damper", signals: ["v.*"], commands: ["joint*"]}}]
watchdogs: [{{name: range, type: limit, signals: ["v.*"], lower: -50, upper: 50, safe: hold}}]
faults:
  - {{name: weak, type: effectiveness, commands: [joint7], factor: 0.5}}
  - {{name: rough, type: parameter, factors: {{hinge.joint7.damping: 2}}}}
  - {{name: noisy, type: noise, signals: [v.joint7], sigma: 1e-4}}
record: {{csv: false, signals: ["q.*", "v.*", "command.*"]}}
"""
LAW = """
import numpy as np
HOLD = np.array([0, -53.823, 0, 35.339, 0, -6.422, 0])
def damper(wiring):
    return lambda time, signals: HOLD - 20.0 * signals
"""


def resident(pid: int) -> int:
    """Resident memory of a process, bytes; without the ring that it shares, whose pages become its own one by one."""
    _, whole, shared = map(int, Path(f"/proc/{pid}/statm").read_text().split()[:3])
    return (whole - shared) * os.sysconf("SC_PAGESIZE")


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def connected(endpoint: str, bench: subprocess.Popen) -> Client:
    limit = time.monotonic() + 300.0
    while True:
        try:
            return Client(endpoint, name="soak", timeout_s=2.0)
        except Exception:
            assert bench.poll() is None
            assert time.monotonic() < limit


def act(client: Client, turn: int) -> None:
    """What operators do: faults, parameters, commands, the lease, mistakes."""
    for name in ("weak", "rough", "noisy"):
        client.fault(name, turn % 2 == 0)
    client.command({"joint7": 0.01 * (turn % 3)})
    client.parameter("hinge.joint6.damping", 0.5 + 0.001 * (turn % 2))
    with pytest.raises(Exception, match="no fault"):
        client.fault("none", True)
    client.release()


def watched(bench: subprocess.Popen, endpoint: str) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,), s, and resident memory (n, 3) of bench, recorder and progress, while a client is at work."""
    times, memory = [], []
    client, pids = connected(endpoint, bench), [bench.pid, *children(bench.pid)]
    assert len(pids) == 3
    begun = time.monotonic()
    for turn in itertools.count():
        if time.monotonic() - begun > SECONDS - 10.0:
            break
        act(client, turn)
        for _ in range(500):  # 2 s
            client.next_event()
        if turn % 5 == 4:  # another client, which leaves in the middle of everything
            client.close()
            client = connected(endpoint, bench)
        times.append(time.monotonic() - begun)
        memory.append([resident(pid) for pid in pids])
    client.close()
    return np.array(times), np.array(memory, dtype=float)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_served_bench_keeps_its_memory(tmp_path):
    (tmp_path / "soak.yaml").write_text(SCENARIO)
    (tmp_path / "law.py").write_text(LAW)
    endpoint = f"ipc://{tmp_path}/b"
    command = [sys.executable, "-m", "limberjack", "hil", "soak.yaml", "--serve", endpoint, "--out", "out"]
    with (tmp_path / "bench.log").open("wb") as log:
        bench = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
        try:
            times, memory = watched(bench, endpoint)
            assert bench.wait(60.0) == 0, (tmp_path / "bench.log").read_text()
        finally:
            bench.kill()
    events = len((tmp_path / "out" / "events.jsonl").read_text().splitlines())
    late = times > WARM_UP * times[-1]
    for name, part in zip(("bench", "a child", "another child"), memory[late].T, strict=True):
        grown = np.polyfit(times[late], part, 1)[0] * (times[-1] - times[late][0])
        print(f"{name}: {part[0] / 1e6:.2f} MB, {part[-1] / 1e6:.2f} MB, line {grown / 1e6:.3f} MB, {events} events")
        assert grown < MOST + EVENT * events, name
    record = McapFile(tmp_path / "out" / "record.mcap")
    record.read()
    assert record.end["rows_dropped"] == 0
    assert record.end["rows"] == round(SECONDS / FRAME_S) + 1
