"""From a scenario to an executive that is ready to run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System
from limberjack.hil.bench_device import BenchDevice, mount
from limberjack.hil.bench_interfaces import Fault, Recorder, Watchdog
from limberjack.hil.bench_model import BenchModel
from limberjack.hil.devices.compensation import CompensatedDevice
from limberjack.hil.devices.device import Device
from limberjack.hil.devices.in_process import SCHEME, in_process
from limberjack.hil.devices.over_arrays import FACTORIES, array_device, scheme_of
from limberjack.hil.devices.uri import device_from
from limberjack.hil.events import EventLog
from limberjack.hil.executive import Executive
from limberjack.hil.faults import FaultBoard
from limberjack.hil.link_faults import DisturbedDevice
from limberjack.hil.overruns import OverrunPolicy
from limberjack.hil.realtime_rights import RealtimeRights
from limberjack.hil.record.mcap_file import McapRecorder, require_mcap
from limberjack.hil.scenario.contact_setup import check_contacts, envelope_signals
from limberjack.hil.scenario.fault_setup import check_overlaps, make_fault, make_watchdog
from limberjack.hil.scenario.scenario_file import Scenario
from limberjack.hil.scenario.schema import DeviceSpec
from limberjack.hil.scenario.schema_criteria import CaptureSpec, OnSignals
from limberjack.hil.scenario.schema_faults import LinkFault
from limberjack.hil.scenario.schema_timeline import TimelineSpec
from limberjack.hil.scenario.tape import Recorders, Tape
from limberjack.hil.signals import Signals
from limberjack.hil.timeline import Action, Arm, At, Command, End, Ramp, SetFault, SetParameter, Switch, Timeline
from limberjack.hil.watchdogs import Watch

#: beginning of a URI → what makes a device of this process
INSIDE: dict[str, Callable[..., Device]] = {SCHEME: in_process, **dict.fromkeys(FACTORIES, array_device)}


@dataclass(frozen=True)
class Built:
    """A bench ready to run.

    faults : by name
    judged : criterion → its signals;  plotted : (title, signals) of the diagrams;  listed : signals of the table
    recorded : whether a full record is written
    """

    executive: Executive
    tape: Tape
    faults: dict[str, Fault]
    judged: dict[str, tuple[str, ...]]
    plotted: list[tuple[str, tuple[str, ...]]]
    listed: tuple[str, ...]
    recorded: bool


def build(
    scenario: Scenario, seed: int, paced: bool, watching: Iterable[Watchdog] = (), out: Path | None = None
) -> Built:
    """Load the model, compile, wire everything; nothing is opened. ModelError with the place in the file.

    watching : watchdogs beside those of the file;  out : folder of the record; None: there is none
    """
    spec = scenario.spec
    with scenario.at("model"):
        system = load_system(scenario)
        simulation = Simulation(system, dt=spec.dt, integrator=spec.integrator, substeps=spec.substeps)
    prepare(scenario, simulation, seed)
    signals, period, log = Signals(simulation), spec.steps_per_frame * simulation.dt, EventLog()
    board = FaultBoard(simulation, signals, period, seed)
    devices = [_device(scenario, i, part, signals, simulation, seed) for i, part in enumerate(spec.devices)]
    watchdogs = [make_watchdog(scenario, i, simulation, signals, devices) for i in range(len(spec.watchdogs))]
    links = {part.name: part.device for part in devices}
    faults = {part.name: make_fault(scenario, i, board, links) for i, part in enumerate(spec.faults)}
    frames = int(-(-spec.duration // period)) + 2
    judged = judged_signals(scenario, signals, system)
    plotted, listed = _shown(scenario, signals, judged)
    tape = Tape(
        signals, {name for part in (*judged.values(), *(p for _, p in plotted), listed) for name in part}, frames
    )
    pacing, records = spec.pacing, _record(scenario, out, log)
    counts = {name: getattr(pacing, name) for name in ("most_total", "most_consecutive", "start_up_frames")}
    with scenario.at("pacing"):
        executive = Executive(
            simulation,
            steps_per_frame=spec.steps_per_frame,
            paced=paced,
            policy=OverrunPolicy(pacing.policy, most_start_up=pacing.most_start_up, **counts),
            devices=devices,
            timeline=timeline_of(scenario, simulation, faults, {part.name: part for part in watchdogs}),
            watchdogs=[*watching, *watchdogs],
            recorder=Recorders([*records, tape]),
            log=log,
            faults=board,
            answer_limit_s=pacing.answer_limit_s,
            placing=RealtimeRights(pacing.priority, tuple(pacing.cpus), pacing.lock_memory, freeze=paced),
            signals=signals,
            meta={
                "scenario": spec.name,
                "seed": seed,
                "source": str(scenario.folder / spec.model),
                "load": spec.load.model_dump(),
            },
        )
    return Built(executive, tape, faults, judged, plotted, listed, bool(records))


def load_system(scenario: Scenario) -> System:
    """The model. ArgumentError where there is no such file: a path begins at the scenario, not at the command."""
    spec, path = scenario.spec, scenario.folder / scenario.spec.model
    if not path.exists():
        raise ArgumentError(f"there is no file {path}; give its path as seen from the scenario's folder.")
    return load(path, **spec.load.model_dump())


def _record(scenario: Scenario, out: Path | None, log: EventLog) -> list[Recorder]:
    """The full record, where one is written; lost rows go to the log. MissingExtraError if mcap is missing."""
    spec = scenario.spec.record
    wanted = importlib.util.find_spec("mcap") is not None if spec.mcap is None else spec.mcap
    if out is None or not wanted:
        return []
    require_mcap()
    return [McapRecorder(out / "record.mcap", signals=spec.signals, log=log)]


def prepare(scenario: Scenario, simulation: Simulation, seed: int) -> None:
    """Put a simulation that was just made where the scenario begins. ModelError with the place in the file."""
    _set_seed(simulation, seed)
    _set_initial(scenario, simulation)


def _set_seed(simulation: Simulation, seed: int) -> None:
    """The noise of instruments follows the scenario's seed, folded into the 32 bits that it has."""
    if "noise.seed" in simulation.plant.parameters:
        simulation.parameters["noise.seed"] = float((seed ^ (seed >> 32)) & 0xFFFFFFFF)


def _set_initial(scenario: Scenario, simulation: Simulation) -> None:
    """Parameters, coordinates, velocities and commands where the scenario gives them."""
    initial, system = scenario.spec.initial, simulation.system
    for group, target in (("parameters", simulation.parameters), ("commands", simulation.command)):
        for name, value in getattr(initial, group).items():
            with scenario.at("initial", group, name):
                target[name] = value
    q, v = simulation.q, simulation.v
    for group, names, values in (
        ("coordinates", system.coordinate_names, q),
        ("velocities", system.velocity_names, v),
    ):
        for name, value in getattr(initial, group).items():
            with scenario.at("initial", group, name):
                values[arguments.index_of(group.replace("ies", "y").rstrip("s"), name, names)] = value
    with scenario.at("initial"):
        if initial.coordinates:
            simulation.q = _unit_quaternions(simulation, q)
        if initial.velocities:
            simulation.v = v


def _unit_quaternions(simulation: Simulation, q: np.ndarray) -> np.ndarray:
    """Coordinates with quaternions of length 1; ArgumentError for one of length 0."""
    names = list(simulation.system.coordinate_names)
    for start, name in enumerate(names):
        if name.endswith(".qw") and names[start + 3] == f"{name[:-1]}z":
            length = float(np.linalg.norm(q[start : start + 4]))
            if length == 0.0:
                raise ArgumentError(f"the quaternion of '{name[:-3]}' is zero; give w, x, y, z.")
            q[start : start + 4] /= length
    return q


def _device(
    scenario: Scenario, i: int, spec: DeviceSpec, signals: Signals, simulation: Simulation, seed: int
) -> BenchDevice:
    """BenchDevice; behind a link that can be disturbed where a fault does that."""
    device: Device
    with scenario.at("devices", i, "uri"):
        make: Callable[..., Device] = INSIDE.get(scheme_of(spec.uri), device_from)
        device = make(spec.uri, spec.name, spec.options, scenario.folder)
    if spec.compensate is not None:
        device = CompensatedDevice(device, spec.compensate.delay, spec.compensate.over or spec.compensate.delay)
    if any(isinstance(fault, LinkFault) and fault.device == spec.name for fault in scenario.spec.faults):
        device = DisturbedDevice(device, seed)
    with scenario.at("devices", i):
        frame_s = scenario.spec.steps_per_frame * simulation.dt
        return mount(device, signals, simulation, spec.signals, spec.commands, spec.every, frame_s)


def timeline_of(
    scenario: Scenario, simulation: BenchModel, faults: Mapping[str, Fault], watchdogs: Mapping[str, Watch]
) -> Timeline:
    """The timeline of a scenario, every action checked against the model. ModelError with the place in the file."""
    entries = []
    for i, entry in enumerate(scenario.spec.timeline):
        where = scenario.place("timeline", i, entry.action)
        actions: list[Action] = []
        if entry.fault is not None:
            actions = [SetFault(faults[entry.fault])]
        elif entry.clear is not None:
            actions = [SetFault(faults[entry.clear], active=False)]
        elif entry.arm is not None:
            actions = [Arm(watchdogs[entry.arm])]
        else:
            actions = _actions(entry)
        with scenario.at("timeline", i, entry.action):
            for action in actions:
                action.check(simulation)
        entries += [At(entry.at, action, where) for action in actions]
    timeline = Timeline(entries)
    check_overlaps(timeline)
    return timeline


def _actions(entry: TimelineSpec) -> list[Action]:
    """What an entry means that names neither a fault nor a watchdog."""
    if entry.command is not None:
        return [Command(name, value) for name, value in entry.command.items()]
    if entry.ramp is not None:
        return [Ramp(name, value, entry.ramp.duration) for name, value in entry.ramp.to.items()]
    if entry.parameter is not None:
        return [SetParameter(name, value) for name, value in entry.parameter.items()]
    if entry.end:
        return [End()]
    return [Switch(entry.action, str(getattr(entry, entry.action)))]


def _by_signals(judged: dict[str, tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    """One diagram for each set of signals, titled with the criteria that judge it."""
    titles: dict[tuple[str, ...], list[str]] = {}
    for name, chosen in judged.items():
        titles.setdefault(chosen, []).append(name)
    return [(", ".join(names), chosen) for chosen, names in titles.items()]


def judged_signals(scenario: Scenario, signals: Signals, system: System) -> dict[str, tuple[str, ...]]:
    """Criterion → its signals. ModelError with the place in the file, also for contacts that are not there."""
    found: dict[str, tuple[str, ...]] = {}
    for i, part in enumerate(scenario.spec.criteria):
        check_contacts(scenario, i, system)
        if isinstance(part, CaptureSpec) and part.envelope is not None:
            found[part.name] = envelope_signals(scenario, i, part.envelope, system)
        elif isinstance(part, OnSignals):
            found[part.name] = _named(scenario, signals, part.signals, "criteria", i, "signals")
            if part.norm:
                _check_norm(scenario, i, signals, found[part.name])
    return found


def _check_norm(scenario: Scenario, i: int, signals: Signals, names: tuple[str, ...]) -> None:
    units = sorted({signals.units[signals.index(name)] for name in names})
    if len(units) > 1:
        what = f"the norm of signals in {', '.join(unit or 'no unit' for unit in units)} means nothing"
        remedy = "Name signals of one unit"
        raise ModelError(what, where=scenario.place("criteria", i, "signals"), remedy=remedy)


def _shown(
    scenario: Scenario, signals: Signals, judged: dict[str, tuple[str, ...]]
) -> tuple[list[tuple[str, tuple[str, ...]]], tuple[str, ...]]:
    """Titles and signals of the diagrams, and signals of the table."""
    spec = scenario.spec
    plots = [
        (plot.title, _named(scenario, signals, plot.signals, "plots", i, "signals"))
        for i, plot in enumerate(spec.plots)
    ]
    table = _named(scenario, signals, spec.record.signals, "record", "signals") if spec.record.csv else ()
    drawn = {part.name: judged[part.name] for part in spec.criteria if isinstance(part, OnSignals)}
    return plots or _by_signals(drawn), table


def _named(scenario: Scenario, signals: Signals, patterns: list[str], *path: str | int) -> tuple[str, ...]:
    with scenario.at(*path):
        return tuple(signals.names[i] for i in signals.select(patterns))
