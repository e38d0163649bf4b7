"""How a model is stepped: what simulations, FMUs and compiled models are asked for, checked."""

from __future__ import annotations

from dataclasses import dataclass

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.device_tables import for_step
from limberjack.engine.model.system import System
from limberjack.engine.tables.reports import INTEGRATORS

#: most steps of one call, and of a run: beyond, a float64 no longer counts them
MOST_STEPS = 2**53
#: most substeps of one step
MOST_SUBSTEPS = 1000


@dataclass(frozen=True)
class Stepping:
    """A model as it is built for steps of dt seconds, and how they are made."""

    system: System
    dt: float
    integrator: str
    substeps: int


def stepping(system: System, dt: float | None, integrator: str | None, substeps: int) -> Stepping:
    """What was asked for, the model's own where that is None. Raises ArgumentError."""
    step = arguments.positive("dt", model_arguments.system_of(system).dt if dt is None else dt)
    built = for_step(system, step)
    name = system.integrator if integrator is None else integrator
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise ArgumentError(f"no integrator is called {name!r}; choose one of {', '.join(INTEGRATORS)}.")
    return Stepping(built, step, name, arguments.count("substeps", substeps, 1, MOST_SUBSTEPS))
