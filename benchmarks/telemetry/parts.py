"""The processes of the measurement: an engine that notes its frames, a gateway and readers that note what comes when.

Each is a child that gets its job as JSON in its first argument, says "ready", ends with SIGTERM and then writes its
notes to the file of its job. All times are of the monotonic clock, which the processes of one machine share.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.bridge import server
from limberjack.bridge.pacing import Pacer
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.outlets.registry import Context, kind_of
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.model.load import load

MOST = 1_000_000  # notes of one process


class Notes:
    """Rows of whole numbers, taken without allocation."""

    def __init__(self, columns: int) -> None:
        self._rows, self.count = np.zeros((MOST, columns), dtype=np.int64), 0

    def add(self, *row: int) -> None:
        """One more row; beyond MOST they are left out."""
        if self.count < MOST:
            self._rows[self.count] = row
            self.count += 1

    def save(self, path: str) -> None:
        """Write them to a .npy file."""
        np.save(path, self._rows[: self.count])


class NotingPacer(Pacer):
    """Notes when each frame's work ended, and its deadline, in ns."""

    notes = Notes(2)

    def advance(self) -> float:
        now = time.monotonic_ns()
        deadline = super().advance()
        self.notes.add(now, int(1e9 * deadline))
        return deadline


def engine(job: dict[str, Any]) -> None:
    """Job: model, endpoint, rate, priority, cpus, out."""
    vars(server)["Pacer"] = NotingPacer
    settings = Settings(
        endpoint=job["endpoint"],
        mode="free-running",
        rate_hz=job["rate"],
        cpus=tuple(job["cpus"]),
        priority=job["priority"],
    )
    server.serve(load(job["model"]), settings, dt=1.0 / job["rate"], ready=lambda _: print("ready", flush=True))
    NotingPacer.notes.save(job["out"])


class Witness:
    """An outlet that notes the engine's step, when it came, and what was lost before."""

    name = "witness"

    def __init__(self) -> None:
        self.notes = Notes(3)

    def open(self, dictionary: Dictionary) -> None:
        self._step = dictionary.place("engine.step")

    def sample(self, sample: Sample) -> None:
        self.notes.add(int(sample.vector[self._step]), time.monotonic_ns(), sample.gap)

    def notice(self, notice: Notice) -> None:
        """Not of interest here."""

    def close(self) -> None:
        """Nothing to close."""


def gateway(job: dict[str, Any]) -> None:
    """Job: endpoint, outlets (kind and text), cpus, out."""
    os.sched_setaffinity(0, job["cpus"])
    witness, telemetry = Witness(), Gateway(job["endpoint"])
    telemetry.connect(30.0)
    telemetry.add(witness)
    for name, text in job["outlets"]:
        kind = kind_of(name)
        assert kind is not None
        telemetry.add(kind.make(text, Context(telemetry)))
    telemetry.start()
    print("ready", flush=True)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    started = time.process_time()
    while not ended.wait(0.2):
        pass
    used = time.process_time() - started
    status = telemetry.status()
    telemetry.stop()
    witness.notes.save(job["out"])
    report = {"cpu_s": used, "status": status}
    Path(job["out"]).with_suffix(".json").write_text(json.dumps(report), encoding="utf-8")


def main() -> None:
    """Do the job of the command line: PART JSON."""
    from benchmarks.telemetry.readers import readers

    part, job = sys.argv[1], json.loads(sys.argv[2])
    {"engine": engine, "gateway": gateway, "readers": readers}[part](job)


if __name__ == "__main__":
    main()
