"""Cost over the number of bodies at a fixed number of modes: linear for articulated bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.flexible.chain import Articulated, States, chain
from benchmarks.measure import Spread, compare
from benchmarks.states import COUNT
from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.common.errors import LimberjackError

MODES = 5
BODIES, QUICK_BODIES = (1, 2, 5, 10, 20, 50, 100), (2, 10)
#: forces of inverse dynamics at the accelerations found, against those given, relative to the largest inertia force
AGREEMENT = 1e-9


@dataclass(frozen=True)
class Length:
    """A chain of beams with `MODES` modes each: error of the forces, time of forward dynamics."""

    bodies: int
    modes: int
    error: float
    us: Spread


def over_lengths(quick: bool, repeats: int, seconds: float) -> list[Length]:
    """Forward dynamics of chains, checked by inverse dynamics. Raises LimberjackError where they differ."""
    return [_measured(bodies, repeats, seconds) for bodies in (QUICK_BODIES if quick else BODIES)]


def _measured(bodies: int, repeats: int, seconds: float) -> Length:
    system = chain(bodies, MODES)
    states = States(system)
    engine, error = Articulated(system, states), 0.0
    dynamics = Dynamics(system)
    for k in range(COUNT):
        found = engine.result("forward", k)
        M = np.abs(dynamics.mass_matrix(states.q[k]))
        force = dynamics.inverse(states.q[k], states.v[k], found)
        error = max(error, float(np.abs(force - states.tau[k]).max() / (M @ np.abs(found)).max()))
    if not error <= AGREEMENT:
        raise LimberjackError(f"{system.name}: inverse and forward dynamics differ by {error:.1e}.")
    return Length(bodies, MODES, error, compare([engine], "forward", repeats, seconds)[0].us)
