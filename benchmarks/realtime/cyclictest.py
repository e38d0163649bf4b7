"""The loop of cyclictest (package rt-tests), the usual measure of how late Linux wakes a task up."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peer_build import PeerUnavailableError
from benchmarks.realtime.loops import Loop
from limberjack.hil.realtime_rights import RealtimeRights

#: latencies counted one by one, µs; larger ones count as the largest that occurred
_MOST_US = 100_000


def cyclictest_loop(rate_hz: float, placing: RealtimeRights) -> Loop:
    """Runs cyclictest at a rate. PeerUnavailableError where it is not on PATH, or may not be placed so.

    What it returns is late (n,) in ns, sorted, in steps of 1 µs, and no work.
    """
    program = shutil.which("cyclictest")
    if program is None:
        raise PeerUnavailableError("cyclictest is not on PATH (package rt-tests)")

    _measured(program, 1000, 10, placing)

    def run(seconds: float, placing: RealtimeRights) -> tuple[np.ndarray, np.ndarray]:
        found = _measured(program, round(1e6 / rate_hz), round(seconds * rate_hz), placing)
        late = latencies(found)
        return late, np.zeros(len(late), dtype=np.int64)

    return run


def _measured(program: str, interval_us: int, loops: int, placing: RealtimeRights) -> dict[str, Any]:
    """The report of one run. PeerUnavailableError if it could not be made."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [program, "--quiet", "--default-system", "--threads=1", f"--interval={interval_us}"]
        command += [f"--loops={loops}", f"--histogram={_MOST_US}", "--histfile=/dev/null", f"--json={report}"]
        command += [f"--affinity={','.join(map(str, placing.cpus))}"] if placing.cpus else []
        command += [f"--priority={placing.priority}"] if placing.priority else []
        command += ["--mlockall"] if placing.lock_memory else []
        limit = 60.0 + 10e-6 * interval_us * loops
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        if done.returncode or not report.is_file():
            raise PeerUnavailableError(f"cyclictest did not run: {(done.stderr or done.stdout).strip()[-200:]}")
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return found


def latencies(report: dict[str, Any]) -> np.ndarray:
    """The latency (n,) of each cycle of a report's one thread, ns, sorted."""
    thread = report["thread"]["0"]
    counts = {int(value): int(count) for value, count in thread["histogram"].items()}
    counts[int(thread["max"])] = counts.get(int(thread["max"]), 0) + int(thread["cycles"]) - sum(counts.values())
    values = np.array(sorted(counts), dtype=np.int64)
    return 1000 * np.repeat(values, [counts[value] for value in values.tolist()])
