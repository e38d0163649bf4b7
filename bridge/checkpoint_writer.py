"""Checkpoints of a running engine: taken between two steps, written by a thread, so that no step waits for a disk."""

from __future__ import annotations

import logging
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from limberjack.bridge.checkpoint_file import Checkpoint, CheckpointError, read_checkpoint, write_whole
from limberjack.bridge.file_lock import hold
from limberjack.engine.api.simulation import Simulation

log = logging.getLogger("limberjack.bridge")

#: number of checkpoints that are kept, so that there is another one if the newest cannot be read
KEPT = 2
MODEL = "model.ljm"
_NAME = re.compile(r"(\d{10})\.checkpoint")
_LOCK = "lock"
#: when a checkpoint is due but the state has not changed, period of the check, s
_IDLE_S = 0.1
#: longest wait for the disk at the end of a run, s
_END_S = 10.0


def listed(folder: Path) -> list[Path]:
    """Checkpoints in a folder, newest first."""
    names = sorted((entry.name for entry in folder.iterdir() if _NAME.fullmatch(entry.name)), reverse=True)
    return [folder / name for name in names]


def newest(folder: Path, warn: Callable[[str], None]) -> tuple[Path, Checkpoint] | None:
    """The newest checkpoint of a folder that can be read; None if the folder has none.

    warn : called with the errors of checkpoints that cannot be read. Raises CheckpointError if none can be read.
    """
    troubles = []
    for path in listed(folder) if folder.is_dir() else []:
        try:
            return path, read_checkpoint(path)
        except CheckpointError as error:
            troubles.append(str(error))
            warn(str(error))
    if troubles:
        raise CheckpointError(f"{folder}: no checkpoint in it can be used. {troubles[0]}")
    return None


class Checkpoints:
    """The checkpoints of one engine, the newest two of them; one engine at a time writes to a folder.

    parameters : those that clients set, as they are now
    trouble : why the last one could not be written, "" if it could
    """

    def __init__(
        self, simulation: Simulation, archive: bytes, parameters: Mapping[str, float], folder: Path, period_s: float
    ) -> None:
        """Lock the folder, write the model and the first checkpoint to it. Raises CheckpointError if that fails."""
        self._simulation, self._parameters, self._period_s = simulation, parameters, period_s
        self.folder, self.trouble = folder, ""
        self.last = self._taken()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._take()
            write_whole(folder / MODEL, archive)
            self._next = self._number(listed(folder))
            self._write(self.last)
        except OSError as error:
            text = f"{folder}: checkpoints cannot be written there, {error.strerror or error}."
            raise CheckpointError(f"{text} Free some disk space, or give another --checkpoint-dir.") from error
        self._due = time.monotonic() + period_s
        self._waiting: queue.Queue[Checkpoint | None] = queue.Queue(1)
        self._troubles: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="checkpoints", daemon=True)
        self._thread.start()

    def _take(self) -> int:
        try:
            return hold(self.folder / _LOCK)
        except BlockingIOError:
            text = f"{self.folder}: another engine writes its checkpoints there. Give another --checkpoint-dir."
            raise CheckpointError(text) from None

    @staticmethod
    def _number(found: list[Path]) -> int:
        return int(found[0].stem) + 1 if found else 1

    def look(self) -> Iterator[str]:
        """Take a checkpoint if one is due, the state has changed and the last one is written; yields new errors."""
        while not self._troubles.empty():
            yield self._troubles.get()
        now = time.monotonic()
        if now < self._due or self._waiting.full():
            return
        if not self._changed():
            self._due = now + _IDLE_S
            return
        self._due = now + self._period_s
        self.last = self._taken()
        self._waiting.put_nowait(self.last)

    def _taken(self) -> Checkpoint:
        return Checkpoint.of(self._simulation, self._parameters)

    def _changed(self) -> bool:
        return self._simulation.snapshot() != self.last.snapshot or self._parameters != self.last.parameters

    def close(self) -> None:
        """Write the final state and unlock the folder, within 10 s whatever the disk does; may be called twice."""
        if self._lock < 0:
            return
        until = time.monotonic() + _END_S
        try:
            for last in (self._taken() if self._changed() else None, None):
                self._waiting.put(last, timeout=max(0.0, until - time.monotonic()))
            self._thread.join(max(0.0, until - time.monotonic()))
        except queue.Full:
            log.error("%s: the disk did not accept the last checkpoint within %g s.", self.folder, _END_S)
        os.close(self._lock)
        self._lock = -1

    # ---- the thread

    def _work(self) -> None:
        while (checkpoint := self._waiting.get()) is not None:
            try:
                self._write(checkpoint)
                self.trouble = ""
            except OSError as error:
                self.trouble = f"{self.folder}: a checkpoint cannot be written, {error.strerror or error}."
                log.error("%s Free some disk space; the earlier checkpoints are kept.", self.trouble)
                self._troubles.put(self.trouble)

    def _write(self, checkpoint: Checkpoint) -> None:
        write_whole(self.folder / f"{self._next:010d}.checkpoint", checkpoint.to_bytes())
        self._next += 1
        for old in listed(self.folder)[KEPT:]:
            old.unlink(missing_ok=True)
