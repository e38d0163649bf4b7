"""The bench of many worlds: the executive's frame for all worlds of a batch at once.

What every world does in every frame is arithmetic over arrays; what a world does now and then (an action of its
timeline, a fault, a watchdog that finds something) is done by the parts of the bench of one run, on that world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from limberjack.engine.api.batch import Batch
from limberjack.engine.api.switch_watch import switchable, switched
from limberjack.engine.common.errors import LimberjackError, SimulationError
from limberjack.hil.bench_device import BenchDevice
from limberjack.hil.bench_interfaces import Bench
from limberjack.hil.events import Event, EventLog, SwitchReports
from limberjack.hil.faults import FaultBoard
from limberjack.hil.timeline import DUE, Timeline
from limberjack.hil.watchdogs import Watch
from limberjack.hil.worlds.screens import WatchRow
from limberjack.hil.worlds.world import World
from limberjack.hil.worlds.world_contacts import WorldsContacts
from limberjack.hil.worlds.world_device import WorldsDevice
from limberjack.hil.worlds.world_signals import WorldsSignals


@dataclass
class Run:
    """One world's parts, and how its run ended.

    reason, text, error : as of an `Outcome`;  frames : whole frames
    """

    world: World
    board: FaultBoard
    timeline: Timeline
    watches: list[Watch]
    bench: Bench
    devices: list[BenchDevice]
    reason: str = ""
    text: str = ""
    error: Exception | None = None
    frames: int = 0

    @property
    def log(self) -> EventLog:
        """Its events."""
        return self.bench.log


@dataclass
class Rows:
    """What all runs leave.

    places : (m,) of signals;  table : (frames + 1, n, m) their values, a row before the first frame
    """

    places: np.ndarray
    table: np.ndarray = field(repr=False)


class WorldsBench:
    """Runs all worlds of a batch to the end.

    runs : one of each world of the batch
    signals : of all worlds;  commands : (n, nu), rows of which the runs' worlds have
    contacts : steps the batch and reports touches; None where no criterion asks for them
    """

    def __init__(
        self,
        batch: Batch,
        runs: Sequence[Run],
        signals: WorldsSignals,
        commands: np.ndarray,
        devices: Sequence[WorldsDevice],
        steps: int,
        contacts: WorldsContacts | None = None,
    ) -> None:
        self._batch, self._runs, self._signals = batch, runs, signals
        self._commands, self._devices, self._steps, self._contacts = commands, devices, steps, contacts
        start, size = batch.layout["command"]
        self._places = slice(start, start + size)
        start, size = batch.layout["switch"]
        self._switches, self._loops = slice(start, start + size), switchable(batch.system)
        self._switched = [SwitchReports(run.log) for run in runs]
        self._running = np.ones(batch.n, dtype=bool)
        #: worlds whose commands are not as given, whose commands and whose signals a fault changes
        self._disturbed, self._acting, self._measured = np.zeros((3, batch.n), dtype=bool)
        self._applied, self._sent = commands.copy(), signals.table.copy()
        for run, applied, sent in zip(runs, self._applied, self._sent, strict=True):
            run.timeline.begin()
            run.board.applied, run.board.sent = applied, sent
        self._due = np.array([run.timeline.next_time for run in runs])
        self._period = runs[0].bench.period
        self._watches = [WatchRow(watches, devices) for watches in zip(*(run.watches for run in runs), strict=True)]
        self._times = batch.time

    def run(self, frames: int, rows: Rows) -> None:
        """Run so many frames, or until all runs have ended. ControllerError where a law raises."""
        self._send_and_record(0, rows)
        for frame in range(1, frames + 1):
            if not self._running.any():
                break
            self._frame(frame)
            self._send_and_record(frame, rows)
            for i in _where(self._running):
                self._runs[i].frames = frame
        for i in _where(self._running):
            self._end(i, "completed", "")

    def _frame(self, frame: int) -> None:
        """One frame's commands and steps."""
        commands = self._commands
        for i in _where(self._disturbed):
            self._runs[i].board.restore(commands[i])
        self._disturbed[:] = False
        for device in self._devices:
            device.receive(self._times, commands)
        for i in _where(self._running & (self._due <= self._times + DUE * self._period)):
            self._guarded(i, lambda run: self._fire(run, frame))
        for watches in self._watches:
            self._watch(watches)
        for i in _where(self._running):
            if self._runs[i].reason:
                self._close(i)
        self._applied[:] = commands
        for i in _where(self._running & self._acting):
            self._guarded(i, self._disturb)
            self._disturbed[i] = True
        self._batch.states.put(self._places, commands)
        self._step(frame)
        self._times = self._batch.time
        for i, why in self._batch.errors.items():
            if self._running[i]:
                self._end(i, "failed", why, SimulationError(why))

    def _step(self, frame: int) -> None:
        """The steps of a frame, and what they reported."""
        before = self._batch.states.get(self._switches)
        if self._contacts is None:
            self._batch.step(self._steps)
        else:
            self._contacts.step(frame, self._steps, self._running)
        now, times = self._batch.states.get(self._switches), self._batch.time
        for i in _where(self._running & (now != before).any(axis=1)):
            self._switched[i].add(switched(self._loops, before[i], now[i]), float(times[i]), frame)

    def _disturb(self, run: Run) -> None:
        """Faults of the commands of a world."""
        i = run.world.index
        run.board.apply(float(self._times[i]), self._commands[i])

    def _fire(self, run: Run, frame: int) -> None:
        """The timeline of a world."""
        i, bench = run.world.index, run.bench
        bench.frame, bench.time = frame, float(self._times[i])
        try:
            run.timeline.fire(bench)
        finally:
            self._due[i] = run.timeline.next_time
            self._acting[i], self._measured[i] = bool(run.board.commands), bool(run.board.measurements)
        if bench.end_text and not run.reason:
            run.reason, run.text = "completed", bench.end_text

    def _watch(self, watches: WatchRow) -> None:
        for i in watches.looking(self._times, self._signals.table):
            if self._running[i]:
                self._guarded(i, lambda run: self._check(run, watches.watches[run.world.index]))
                watches.looked(i)
        watches.keep(self._commands)

    def _check(self, run: Run, watch: Watch) -> None:
        """One watchdog of one world."""
        i = run.world.index
        for trip in watch.check(float(self._times[i]), self._signals.rows[i], run.devices):
            run.log.add(trip.event)
            if trip.ends and not run.reason:
                run.reason, run.text = "tripped", trip.event.text

    def _guarded(self, i: int, work: Callable[[Run], None]) -> None:
        """Work on one world; what is raised ends its run."""
        try:
            work(self._runs[i])
        except LimberjackError as error:
            self._end(i, "failed", str(error), error)
        except Exception as error:
            self._end(i, "failed", f"{type(error).__name__}: {error}", error)

    def _end(self, i: int, reason: str, text: str, error: Exception | None = None) -> None:
        """A run ends here, unless there is a reason already."""
        run = self._runs[i]
        if error is not None or not run.reason:
            run.reason, run.text, run.error = reason, text, error
        self._close(i)

    def _close(self, i: int) -> None:
        run = self._runs[i]
        self._running[i] = False
        for device in self._devices:
            device.controller.leave(i)
        if self._contacts is not None:
            self._contacts.finish(i)
        run.log.add(Event(float(self._batch.time[i]), "end", run.reason, run.text, {"frames": run.frames}))

    def _send_and_record(self, frame: int, rows: Rows) -> None:
        signals, sent = self._signals.refresh(self._times, self._commands), self._sent
        if self._devices:
            sent[:] = signals
            for i in _where(self._running & self._measured):
                self._guarded(i, self._measure)
            at = _where(self._running)
            if at:
                for device in self._devices:
                    device.send(frame, float(self._times[at[0]]), sent)
        np.take(signals, rows.places, axis=1, out=rows.table[frame], mode="clip")

    def _measure(self, run: Run) -> None:
        """Faults of the signals of a world."""
        run.board.measured(self._signals.table[run.world.index])


def _where(worlds: np.ndarray) -> list[int]:
    """The worlds of a mask (n,)."""
    found: list[int] = np.flatnonzero(worlds).tolist()
    return found
