"""Scenarios of one kind run as the worlds of one batch, with the verdicts that each would have alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limberjack.engine.api.batch import Batch
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import LimberjackError
from limberjack.engine.model.system import System
from limberjack.hil.bench_device import mount
from limberjack.hil.bench_interfaces import Bench
from limberjack.hil.devices import arrays
from limberjack.hil.devices.over_arrays import array_factory
from limberjack.hil.events import EventLog
from limberjack.hil.executive import Outcome, frames_of
from limberjack.hil.faults import FaultBoard
from limberjack.hil.frame_times import FrameLog
from limberjack.hil.scenario.bench_setup import judged_signals, load_system, prepare, timeline_of
from limberjack.hil.scenario.evidence import Verdict
from limberjack.hil.scenario.execution import conclude, ending_of
from limberjack.hil.scenario.fault_setup import make_fault, make_watchdog
from limberjack.hil.scenario.programs import Programs
from limberjack.hil.scenario.scenario_file import Scenario
from limberjack.hil.scenario.schema_criteria import needs_contacts
from limberjack.hil.scenario.tape import Columns
from limberjack.hil.signals import Signals
from limberjack.hil.watchdogs import EngineStatus, SignalLimit
from limberjack.hil.worlds.world import World, device_of
from limberjack.hil.worlds.world_contacts import WorldsContacts
from limberjack.hil.worlds.world_device import WorldsDevice
from limberjack.hil.worlds.world_signals import WorldsSignals
from limberjack.hil.worlds.worlds_bench import Rows, Run, WorldsBench

#: most bytes of the rows that criteria need, of one batch
MOST_BYTES = 1 << 28

#: verdicts, and criterion → what was measured; or why a scenario cannot be run
Concluded = tuple[list[Verdict], dict[str, float]] | LimberjackError


@dataclass(frozen=True)
class _Start:
    """Where a world begins: state (ns,) and constants of the model, by the scenario."""

    scenario: Scenario
    seed: int
    state: np.ndarray
    floats: np.ndarray


def run_worlds(scenarios: Sequence[Scenario], seeds: Sequence[int], threads: int = 1) -> list[Concluded]:
    """Run scenarios of one kind (`kind_of`) at once, in lockstep; what became of each, in their order.

    LimberjackError for what concerns all of them: a model that cannot be read, a controller that raises.
    """
    first = scenarios[0]
    with first.at("model"):
        system, spec = load_system(first), first.spec
        one = Simulation(system, dt=spec.dt, integrator=spec.integrator, substeps=spec.substeps)
    found: dict[int, Concluded] = {}
    starts = _starts(scenarios, seeds, one, found)
    while starts:
        group = _Group(system, list(starts.values()), one, threads)
        refused = group.wire()
        keys = list(starts)
        if not refused:
            found.update(zip(keys, group.run(), strict=True))
            break
        for world, error in refused.items():  # the others are a batch without them
            found[keys[world]] = error
            del starts[keys[world]]
    return [found[i] for i in range(len(scenarios))]


def _starts(
    scenarios: Sequence[Scenario], seeds: Sequence[int], one: Simulation, found: dict[int, Concluded]
) -> dict[int, _Start]:
    """Where the worlds begin; what cannot be so goes into `found`."""
    floats, starts = one.plant.floats.copy(), {}
    for i, (scenario, seed) in enumerate(zip(scenarios, seeds, strict=True)):
        one.reset(parameters=True)
        one.plant.floats[:] = floats
        try:
            prepare(scenario, one, seed)
            starts[i] = _Start(scenario, seed, one.state, one.plant.floats.copy())
        except LimberjackError as error:
            found[i] = error
    one.reset(parameters=True)
    one.plant.floats[:] = floats
    return starts


class _Group:
    """A batch, its benches and what they leave."""

    def __init__(self, system: System, starts: list[_Start], one: Simulation, threads: int) -> None:
        self._starts, self._one, spec = starts, one, starts[0].scenario.spec
        self._batch = batch = Batch(system, len(starts), one.dt, one.integrator, one.substeps, threads)
        every = np.arange(batch.n)
        batch.states.put_rows(every, np.array([start.state for start in starts]))
        if any(not np.array_equal(start.floats, batch.plant.floats, equal_nan=True) for start in starts):
            batch.own_floats().put_rows(every, np.array([start.floats for start in starts]))
        batch.changed()
        self._period = spec.steps_per_frame * one.dt
        self._names = Signals(one)
        self._signals = WorldsSignals(batch, self._names)
        self._commands = batch.command_vector
        self._devices = [self._device(i) for i in range(len(spec.devices))]
        self._runs: list[Run] = []
        self._judged: list[dict[str, tuple[str, ...]]] = []

    def _device(self, i: int) -> WorldsDevice:
        """The i-th controller, of all worlds."""
        scenario = self._starts[0].scenario
        spec = scenario.spec.devices[i]
        with scenario.at("devices", i, "uri"):
            factory = array_factory(spec.uri, spec.options, scenario.folder)
        options = [start.scenario.spec.devices[i].options for start in self._starts]
        with scenario.at("devices", i):
            alone = arrays.ArrayDevice(spec.name, factory, options[0])
            like = mount(alone, self._names, self._one, spec.signals, spec.commands, spec.every, self._period)
        return WorldsDevice(arrays.ArrayController(spec.name, factory, options), like, self._batch.n)

    def wire(self) -> dict[int, LimberjackError]:
        """Make every world's bench; worlds whose scenario cannot be run, and why."""
        refused = {}
        for i, start in enumerate(self._starts):
            try:
                self._wire(i, start)
            except LimberjackError as error:
                refused[i] = error
        return refused

    def _wire(self, i: int, start: _Start) -> None:
        scenario, spec = start.scenario, start.scenario.spec
        world = World(self._batch, self._one, i, self._commands[i], start.floats)
        signals, log = self._signals.rows[i], EventLog()
        board = FaultBoard(world, signals, self._period, start.seed)
        devices = [device_of(device, i) for device in self._devices]
        watches = [make_watchdog(scenario, k, world, signals, devices) for k in range(len(spec.watchdogs))]
        faults = {part.name: make_fault(scenario, k, board, {}) for k, part in enumerate(spec.faults)}
        self._judged.append(judged_signals(scenario, self._names, self._one.system))
        timeline = timeline_of(scenario, world, faults, {watch.name: watch for watch in watches})
        self._runs.append(Run(world, board, timeline, watches, Bench(world, log, self._period), devices))

    def run(self) -> list[Concluded]:
        """Run all and judge them."""
        spec = self._starts[0].scenario.spec
        frames = frames_of(spec.duration, self._period)
        kept = {name for judged in self._judged for names in judged.values() for name in names}
        places = self._names.select(["time", *sorted(kept)])
        self._signals.look_at(self._looked_at(places))
        rows = Rows(places, np.full((frames + 1, self._batch.n, len(places)), np.nan))
        for device in self._devices:
            device.controller.open(device.wiring)
        parts = self._signals, self._commands, self._devices, spec.steps_per_frame, self._contacts()
        WorldsBench(self._batch, self._runs, *parts).run(frames, rows)
        return [self._concluded(i, rows) for i in range(self._batch.n)]

    def _contacts(self) -> WorldsContacts | None:
        """What reports contacts, where a criterion asks for that."""
        asked = any(needs_contacts(each) for start in self._starts for each in start.scenario.spec.criteria)
        return WorldsContacts(self._batch, self._one, [run.log for run in self._runs]) if asked else None

    def _looked_at(self, kept: np.ndarray) -> np.ndarray:
        """Places of the signals that criteria, controllers and watchdogs look at."""
        watches = [watch for run in self._runs for watch in run.watches]
        if any(isinstance(watch, EngineStatus) for watch in watches):
            return np.arange(len(self._names.names))
        limits = [watch.places for watch in watches if isinstance(watch, SignalLimit)]
        return np.unique(np.concatenate([kept, *(device.signals for device in self._devices), *limits]))

    def _concluded(self, i: int, rows: Rows) -> Concluded:
        run, start = self._runs[i], self._starts[i]
        names, units = ([part[k] for k in rows.places] for part in (self._names.names, self._names.units))
        tape = Columns(names, units, np.ascontiguousarray(rows.table[: run.frames + 1, i]))
        tape.count = len(tape.rows)
        frames = FrameLog(round(1e9 * self._period), 1)
        outcome = Outcome(run.reason, run.text, frames, run.log, error=run.error)
        ending = ending_of(start.scenario, outcome, Programs(start.scenario, None), run.devices)
        return conclude(start.scenario, outcome, ending, run.devices, tape, self._judged[i])
