"""The answer to hello and describe: what the engine runs, under which names and units."""

from __future__ import annotations

import math
from typing import Any

from limberjack.bridge.messages import PROTOCOL_VERSION
from limberjack.bridge.settings import Settings
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.catalogue.catalogue import units
from limberjack.engine.model.system import Loop
from limberjack.version import __version__

#: part of a state → its group in the catalogue, where that is called otherwise
_GROUPS = {"outputs": "output"}


def describe(simulation: Simulation, settings: Settings) -> dict[str, dict[str, Any]]:
    """Two maps of constants: "hello" (short) and "names" (names and units)."""
    sim, system = simulation, simulation.system
    hello = {
        "protocol": PROTOCOL_VERSION,
        "engine": f"limberjack {__version__}",
        "model": system.name,
        "model_hash": sim.model_hash,
        "mode": settings.mode,
        "dt": float(sim.dt),
        "integrator": sim.integrator,
        "substeps": sim.substeps,
        "lease_s": float(settings.lease_s),
        "steps_max": settings.steps_max,
        "encrypted": settings.keys is not None,
    }
    if settings.mode == "free-running":
        steps = settings.steps_per_cycle(sim.dt)
        hello |= {"steps_per_cycle": steps, "rate_hz": 1.0 / (steps * sim.dt)}
    names = {
        "q": list(system.coordinate_names),
        "v": list(system.velocity_names),
        "tau": list(system.velocity_names),
        "outputs": list(sim.output_names),
        "command": list(sim.command_names),
    }
    hello["shape"] = {part: len(values) for part, values in names.items()}
    return {
        "hello": hello,
        "names": {
            "names": names,
            "units": {part: list(units(system, _GROUPS.get(part, part))) for part in names},
            "bodies": list(system.body_names),
            "nodes": list(system.node_names),
            "parameters": list(sim.parameters),
            "sensors": {sensor.name: list(system.output_places[sensor.name]) for sensor in system.sensors},
            "loops": [_loop(loop) for loop in system.loops],
        },
    }


def _loop(loop: Loop) -> dict[str, Any]:
    """What a client needs to know of a closed loop."""
    reach = float(loop.reach) if math.isfinite(loop.reach) else None
    return {
        "name": loop.name,
        "type": loop.type,
        "switchable": loop.switchable,
        "driven": loop.driven,
        "reach": reach,
        "hinge": loop.locked or None,
    }
