"""Limberjack: a real-time dynamics engine for flexible spacecraft and closed-chain robots.

import limberjack as lj
system = lj.load("arm.urdf")
dynamics = lj.Dynamics(system)
simulation = lj.Simulation(system, dt=1e-3)
"""

from importlib.metadata import PackageNotFoundError, version

from limberjack.engine.dynamics import Dynamics
from limberjack.engine.errors import (
    ArgumentError,
    LimberjackError,
    MissingExtraError,
    ModelError,
    ModelWarning,
    SimulationError,
    UnknownNameError,
)
from limberjack.engine.simulation import Simulation
from limberjack.engine.system.load import load
from limberjack.engine.system.system import System
from limberjack.fmu.controller import FmuController
from limberjack.fmu.controller_schedule import cosimulate
from limberjack.fmu.export import export_fmu

try:
    __version__ = version("limberjack")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "ArgumentError",
    "Dynamics",
    "FmuController",
    "LimberjackError",
    "MissingExtraError",
    "ModelError",
    "ModelWarning",
    "Simulation",
    "SimulationError",
    "System",
    "UnknownNameError",
    "cosimulate",
    "export_fmu",
    "load",
]
