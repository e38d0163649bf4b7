"""Faults and watchdogs of a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.hil import faults, watchdogs
from limberjack.hil.bench_device import BenchDevice, places_of
from limberjack.hil.bench_interfaces import Fault
from limberjack.hil.bench_model import BenchModel
from limberjack.hil.devices.device import Device
from limberjack.hil.link_faults import Disturbance, DisturbedDevice, LinkFault
from limberjack.hil.scenario import schema_faults as schema
from limberjack.hil.scenario.scenario_file import Scenario
from limberjack.hil.signals import Signals
from limberjack.hil.timeline import SetFault, Timeline


def make_fault(
    scenario: Scenario, i: int, board: faults.FaultBoard, devices: Mapping[str, Device | DisturbedDevice]
) -> Fault:
    """The i-th fault of a scenario; devices by name. ModelError for names that model or scenario do not have."""
    spec, simulation = scenario.spec.faults[i], board.simulation
    if isinstance(spec, schema.LinkFault):
        with scenario.at("faults", i, "device"):
            arguments.index_of("device", spec.device, list(devices))
        device = devices[spec.device]
        assert isinstance(device, DisturbedDevice)
        parts = (Disturbance(**part.model_dump()) for part in (spec.signals, spec.commands))
        return LinkFault(spec.name, device, *parts)
    if isinstance(spec, (schema.ParameterFault, schema.FrequencyFault)):
        return _of_parameters(scenario, i, board)
    if isinstance(spec, schema.LockFault):
        with scenario.at("faults", i, "hinge"):
            _check_lock(simulation, spec.hinge)
        return faults.Locked(spec.name, spec.hinge)
    if hasattr(spec, "commands"):
        with scenario.at("faults", i, "commands"):
            return _of_commands(spec, board, command_places(simulation, spec.commands))
    with scenario.at("faults", i, "signals"):
        return _of_signals(spec, board, board.signals.select(spec.signals))


def check_overlaps(timeline: Timeline) -> None:
    """Refuse a timeline in which a fault begins while another one holds one of its parameters. ModelError."""
    holders: dict[str, str] = {}
    for entry in timeline.entries:
        if not isinstance(entry.action, SetFault) or not isinstance(entry.action.fault, faults.ChangedParameters):
            continue
        fault = entry.action.fault
        shared = [name for name in fault.parameters if holders.get(name, fault.name) != fault.name]
        if shared and entry.action.active:
            what = (
                f"fault '{fault.name}' changes parameter '{shared[0]}', which fault '{holders[shared[0]]}' holds then"
            )
            raise ModelError(what, where=entry.where, remedy=f"Clear '{holders[shared[0]]}' before {entry.time:g} s")
        if entry.action.active:
            holders.update(dict.fromkeys(fault.parameters, fault.name))
        else:
            holders = {name: holder for name, holder in holders.items() if holder != fault.name}


def _check_lock(simulation: BenchModel, hinge: str) -> None:
    """ArgumentError if the model has no lock for a hinge."""
    arguments.index_of("hinge", hinge, [body.hinge.name for body in simulation.system.bodies])
    if not any(loop.type == "lock" and loop.locked == hinge and loop.switchable for loop in simulation.system.loops):
        raise ArgumentError(
            f"hinge '{hinge}' has no lock that can be switched; declare one among the model's loops: "
            f"{{name: {hinge}_lock, type: lock, hinge: {hinge}, switchable: true, closed: false}}."
        )


def _of_parameters(scenario: Scenario, i: int, board: faults.FaultBoard) -> Fault:
    spec, parameters = scenario.spec.faults[i], list(board.simulation.parameters)
    if isinstance(spec, schema.FrequencyFault):
        modes = f"hinge.{spec.body}.modes.{spec.mode}"
        with scenario.at("faults", i, "mode"):
            arguments.index_of("parameter", f"{modes}.stiffness", parameters)
        # ω = √(k/m) and ζ = c / (2 m ω): k by the factor's square and c by the factor keep m and ζ
        factors = {f"{modes}.stiffness": spec.factor**2, f"{modes}.damping": spec.factor}
        return faults.ChangedParameters(spec.name, board, {}, factors)
    assert isinstance(spec, schema.ParameterFault)
    for group in ("values", "factors"):
        for name in getattr(spec, group):
            with scenario.at("faults", i, group, name):
                arguments.index_of("parameter", name, parameters)
    return faults.ChangedParameters(spec.name, board, spec.values, spec.factors)


def _of_commands(spec: schema.FaultSpec, board: faults.FaultBoard, places: np.ndarray) -> Fault:
    match spec:
        case schema.StuckFault():
            return faults.Stuck(spec.name, board, places, spec.value)
        case schema.EffectivenessFault():
            return faults.Scaled(spec.name, board, places, spec.factor)
        case schema.ReversedFault():
            return faults.Scaled(spec.name, board, places, -1.0)
        case schema.RunawayFault():
            return faults.Runaway(spec.name, board, places, spec.rate, np.inf if spec.most is None else spec.most)
        case schema.DelayFault():
            return faults.Delay(spec.name, board, places, spec.delay)
    raise AssertionError(spec.type)


def _of_signals(spec: schema.FaultSpec, board: faults.FaultBoard, places: np.ndarray) -> Fault:
    match spec:
        case schema.BiasFault():
            return faults.Drift(spec.name, board, places, spec.value)
        case schema.DriftFault():
            return faults.Drift(spec.name, board, places, 0.0, spec.rate)
        case schema.FreezeFault():
            return faults.Freeze(spec.name, board, places)
        case schema.DropoutFault():
            return faults.Freeze(spec.name, board, places, spec.value)
        case schema.SpikeFault():
            return faults.Spikes(spec.name, board, places, spec.value, spec.every_s)
        case schema.NoiseFault():
            return faults.Noise(spec.name, board, places, spec.sigma)
    raise AssertionError(spec.type)


def make_watchdog(
    scenario: Scenario, i: int, simulation: BenchModel, signals: Signals, devices: Sequence[BenchDevice]
) -> watchdogs.Watch:
    """The i-th watchdog of a scenario. ModelError for names that the model or the scenario does not have."""
    spec = scenario.spec.watchdogs[i]
    if isinstance(spec, schema.HeartbeatSpec):
        with scenario.at("watchdogs", i, "device"):
            place = arguments.index_of("device", spec.device, [mounted.name for mounted in devices])
            if not len(devices[place].commands):
                raise ArgumentError(f"device '{spec.device}' sets no commands, so nothing is taken from it.")
    own = next((m.commands for m in devices if m.name == getattr(spec, "device", None)), None)
    with scenario.at("watchdogs", i, "commands"):
        everything = np.arange(len(simulation.command_names)) if own is None else own
        places = command_places(simulation, spec.commands) if spec.commands else everything
    with scenario.at("watchdogs", i, "safe"):
        safe = watchdogs.SafeState(spec.safe, simulation, places, spec.brake_gain)
    match spec:
        case schema.CommandAgeSpec():
            with scenario.at("watchdogs", i, "commands"):
                setters = _setters(devices, places, simulation)
            return watchdogs.CommandAge(spec.name, safe, setters, spec.limit, spec.latched, places)
        case schema.HeartbeatSpec():
            return watchdogs.Heartbeat(spec.name, safe, spec.device, spec.limit, spec.latched)
        case schema.LimitSpec():
            with scenario.at("watchdogs", i, "signals"):
                chosen = signals.select(spec.signals)
            bounds = -np.inf if spec.lower is None else spec.lower, np.inf if spec.upper is None else spec.upper
            return watchdogs.SignalLimit(spec.name, safe, chosen, bounds, spec.latched)
        case schema.EngineSpec():
            return watchdogs.EngineStatus(spec.name, safe, spec.latched)
    raise AssertionError(spec.type)


def _setters(devices: Sequence[BenchDevice], places: np.ndarray, simulation: BenchModel) -> list[str]:
    """Names of the devices that set these commands. ArgumentError for a command that none sets."""
    by_place = {place: mounted.name for mounted in devices for place in mounted.commands.tolist()}
    for place in places.tolist():
        if place not in by_place:
            raise ArgumentError(f"no device sets command '{simulation.command_names[place]}', so it has no age.")
    return sorted({by_place[place] for place in places.tolist()})


def command_places(simulation: BenchModel, patterns: Iterable[str]) -> np.ndarray:
    """Places (m,) in the command vector. UnknownNameError for a pattern that matches no command."""
    return np.sort(places_of("command", patterns, simulation.command_names))
