"""Replay: a recorded run done again in lockstep, from its start, its commands and its switch events, bit for bit."""

from __future__ import annotations

import base64
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from limberjack.engine.api.named_values import assign
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError, LimberjackError
from limberjack.engine.model.system import System
from limberjack.hil.events import BY_COMMAND, Event
from limberjack.hil.record.mcap_file import Batch, McapFile
from limberjack.hil.signals import Signals

#: kinds of events that close or open a loop named in their data, and what that is of a Simulation
_SWITCHES = {"attach": "attach", "lock": "attach", "release": "release", "unlock": "release"}


@dataclass(frozen=True)
class Difference:
    """The first number that differs.

    frame : its row;  time : simulated time, s;  others : further signals that differ in the same row
    """

    frame: int
    time: float
    signal: str
    recorded: float
    replayed: float
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = f" ({len(self.others)} other signals differ there too)" if self.others else ""
        return (
            f"at t = {self.time:.9g} s (frame {self.frame}) '{self.signal}' is {self.replayed!r}; the record has "
            f"{self.recorded!r}, a difference of {self.replayed - self.recorded:.3g}{more}"
        )


@dataclass
class Replay:
    """The result of a replay.

    frames : that were done again and came out equal, the start included;  signals : compared in each
    difference : None if everything is equal;  stopped : why it ended before the record's end, "" if it did not
    """

    frames: int = 0
    signals: int = 0
    difference: Difference | None = None
    stopped: str = ""

    @property
    def equal(self) -> bool:
        """Whether every frame of the record came out with the same bits."""
        return self.difference is None and not self.stopped


def replay(record: McapFile, system: System) -> Replay:
    """Repeat a record with a model.

    Each frame: parameters, switches and commands as recorded, then the steps; every recorded signal is compared bit
    for bit. It ends at the first difference, or where rows are missing.

    ArgumentError if the record is of another model, or does not hold what replay needs.
    """
    return _Replaying(record, system).run()


def check_replayable(record: McapFile) -> None:
    """Raise ArgumentError if a record lacks the start of the run."""
    missing = [key for key in ("dt", "integrator", "substeps", "steps_per_frame", "snapshot") if key not in record.meta]
    if missing and record.meta.get("source") == "gateway":
        raise ArgumentError(
            f"{record.path}: a gateway wrote this record, and those cannot be replayed. Replay the record of a run of "
            "'limberjack hil'; 'limberjack plot', 'compare' and 'parquet' read this one."
        )
    if missing:
        raise ArgumentError(f"{record.path}: the record does not hold {', '.join(missing)}; it cannot be replayed.")


class _Replaying:
    def __init__(self, record: McapFile, system: System) -> None:
        check_replayable(record)
        self._record, meta = record, record.meta
        self._sim = Simulation(system, dt=meta["dt"], integrator=meta["integrator"], substeps=meta["substeps"])
        if self._sim.model_hash != meta["model_hash"]:
            raise ArgumentError(
                f"{record.path}: the record is of the model '{meta['model']}' ({meta['model_hash']}), not of "
                f"'{system.name}' ({self._sim.model_hash}). Give the same file, with the same load options."
            )
        self._steps = int(meta["steps_per_frame"])
        self._signals = Signals(self._sim)
        unknown = [name for name in record.names if name not in self._signals.names]
        unknown += [name for name in meta.get("parameters", {}) if name not in self._sim.parameters]
        if unknown:
            raise ArgumentError(
                f"{record.path}: the record holds '{unknown[0]}', which the model '{system.name}' does not have. Give "
                "the model as it was when it was recorded."
            )
        self._places = np.array([self._signals.index(name) for name in record.names], dtype=np.intp)
        wanted = [f"command.{name}" for name in self._sim.command_names]
        if not set(wanted) <= set(record.names):
            raise ArgumentError(f"{record.path}: the record holds no commands; it cannot be replayed.")
        self._commands = np.array([record.names.index(name) for name in wanted], dtype=np.intp)
        self._pending: dict[int, list[Event]] = defaultdict(list)
        self._result = Replay(signals=len(record.names))
        self._next = 0

    def run(self) -> Replay:
        """From the start to the end, or to the first difference."""
        assign(self._sim.parameters, self._record.meta.get("parameters", {}))
        self._sim.restore(base64.b64decode(self._record.meta["snapshot"]))
        for batch in self._record.batches():
            for event in batch.events:
                self._pending[int(event.data.get("frame", -1))].append(event)
            if not self._batch(batch):
                return self._result
        if self._record.trouble:
            self._result.stopped = f"{self._record.path}: {self._record.trouble}."
        return self._result

    def _batch(self, batch: Batch) -> bool:
        """All rows of a chunk; whether to go on."""
        for number, row in zip(batch.numbers.tolist(), batch.rows):
            if number != self._next:
                self._result.stopped = f"rows {self._next} to {number - 1} are missing in the record."
                return False
            if number > 0 and not self._frame(number, row):
                return False
            self._result.difference = self._compared(number, row)
            if self._result.difference:
                return False
            self._result.frames += 1
            self._next += 1
        return True

    def _frame(self, number: int, row: np.ndarray) -> bool:
        try:
            for event in self._pending.pop(number, ()):
                self._apply(event)
            self._sim.part("command")[:] = row[self._commands]
            self._sim.step(self._steps)
        except LimberjackError as error:
            self._result.stopped = f"frame {number} (t = {self._sim.time:.9g} s) cannot be replayed: {error}"
            return False
        return True

    def _apply(self, event: Event) -> None:
        """Repeat the effect of an event on the model."""
        data = event.data
        assign(self._sim.parameters, data.get("parameters", {}))
        if event.kind in _SWITCHES and data.get("by") != BY_COMMAND:
            getattr(self._sim, _SWITCHES[event.kind])(data["loop"])
        for word, work in (("attached", self._sim.attach), ("released", self._sim.release)):
            for loop in data.get(word, ()):
                work(loop)

    def _compared(self, number: int, row: np.ndarray) -> Difference | None:
        """The first signal of a row that has other bits than recorded."""
        found = self._signals.refresh()[self._places]
        if found.tobytes() == row.tobytes():
            return None
        both_nan = np.isnan(found) & np.isnan(row)
        unequal = np.flatnonzero((found.view(np.int64) != row.view(np.int64)) & ~both_nan)
        if len(unequal) == 0:
            return None
        first, names = int(unequal[0]), self._record.names
        others = tuple(names[i] for i in unequal[1:])
        return Difference(number, float(row[0]), names[first], float(row[first]), float(found[first]), others)
