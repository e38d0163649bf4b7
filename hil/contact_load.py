"""The longest step of a model with contacts: measured with all shapes overlapping."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import SimulationError
from limberjack.engine.model.build import build, new_state
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.plant import Plant, split
from limberjack.engine.model.system import System
from limberjack.engine.tables.contacts import C_TOUCHES, TO_FORCE, TO_GAP
from limberjack.engine.tables.plant import state_sections
from limberjack.hil.frame_times import Histogram, Spread
from limberjack.hil.realtime_rights import RealtimeRights

#: how often the shapes' sizes are doubled
_DOUBLINGS = 12
#: number of steps that are timed, and of those before them that are not
STEPS, _UNTIMED = 2000, 20
_FORCE = slice(TO_FORCE, TO_FORCE + 3)
#: of types whose size is not lengths that grow: a plane has no end
_ENDLESS = ("plane",)


@dataclass(frozen=True)
class ContactLoad:
    """Steps with as many touching points as possible.

    touching : points that overlap at the step's start;  acting : those that carried force;  most : those of the model
    spread : times of one step, s;  text : why no step could be timed, "" if they were
    """

    touching: int
    acting: int
    most: int
    spread: Spread
    text: str = ""


def contact_load(
    system: System, dt: float, integrator: str | None = None, placing: RealtimeRights | None = None
) -> ContactLoad | None:
    """Time steps of dt from one state in which the shapes overlap; None for a model without contacts.

    The shapes grow about their centres, and planes rise, until no more points overlap; bodies keep their places and
    inertia. Each step is the first in touch: it finds no forces of a step before.
    """
    if not system.contacts:
        return None
    simulation = Simulation(crowded(system), dt=dt, integrator=integrator)
    start, most = simulation.snapshot(), simulation.plant.count(C_TOUCHES)
    touching = int(np.count_nonzero(_touches(simulation.plant, simulation.state)[:, TO_GAP] < 0.0))
    times = Histogram()
    with (placing or RealtimeRights()).held():
        for k in range(_UNTIMED + STEPS):
            simulation.restore(start)
            before = time.perf_counter_ns()
            try:
                simulation.step()
            except SimulationError as error:
                return ContactLoad(touching, 0, most, times.spread(), str(error))
            if k >= _UNTIMED:
                times.add(time.perf_counter_ns() - before)
    acting = int(np.count_nonzero(np.any(_touches(simulation.plant, simulation.state)[:, _FORCE], axis=1)))
    return ContactLoad(touching, acting, most, times.spread())


def crowded(system: System) -> System:
    """The model with shapes so large that as many of its touches as possible overlap at the start."""
    best, deepest = system, -1
    for k in range(_DOUBLINGS):
        for lift in (0.0, 1.0):
            grown = _grown(system, 2.0**k, lift)
            plant = build(grown)
            gaps = _touches(plant, new_state(plant, grown))[:, TO_GAP]
            count = int(np.count_nonzero(gaps < 0.0))
            if count > deepest:
                best, deepest = grown, count
    return best


def _grown(system: System, factor: float, lift: float) -> System:
    """lift : how far planes rise, as a multiple of the largest size that grew"""
    named = [shape for shape in system.shapes if shape.name and shape.type not in _ENDLESS]
    rise = lift * factor * max((float(np.max(shape.size)) for shape in named), default=0.0)

    def changed(shape: Shape) -> Shape:
        if not shape.name:
            return shape
        if shape.type in _ENDLESS:
            return replace(shape, position=shape.position + rise * shape.rotation[:, 2])
        return replace(shape, size=factor * np.asarray(shape.size, dtype=float))

    return replace(system, shapes=tuple(map(changed, system.shapes)))


def _touches(plant: Plant, state: np.ndarray) -> np.ndarray:
    return split(state, state_sections(plant.ints))["touch"]
