"""Limberjack: a real-time dynamics engine for flexible spacecraft and closed-chain robots.

import limberjack as lj
system = lj.load("arm.urdf")
dynamics = lj.Dynamics(system)
simulation = lj.Simulation(system, dt=1e-3)
"""

from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.api.linear_model import LinearModel, Mode
from limberjack.engine.api.linearize import linearize
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import (
    ArgumentError,
    LimberjackError,
    MissingExtraError,
    ModelError,
    ModelWarning,
    SimulationError,
    UnknownNameError,
)
from limberjack.engine.model.alarms import Alarm, Bounds
from limberjack.engine.model.catalogue.catalogue import catalogue
from limberjack.engine.model.elements.bushing import Bushing
from limberjack.engine.model.elements.central_gravity import CentralGravity
from limberjack.engine.model.elements.cmg import Cmg
from limberjack.engine.model.elements.external_force import ExternalForce
from limberjack.engine.model.elements.magnetic_field import MagneticField
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.elements.slosh import SloshPendulum
from limberjack.engine.model.elements.spring import Spring
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.elements.wheel import Wheel
from limberjack.engine.model.equip import equip
from limberjack.engine.model.load import load
from limberjack.engine.model.loops.assembly import assemble
from limberjack.engine.model.system import System
from limberjack.engine.operators.workbench import Operators
from limberjack.fmu.controller.controller import FmuController
from limberjack.fmu.controller.errors import FmuError, FmuWarning
from limberjack.fmu.controller.schedule import cosimulate
from limberjack.fmu.export import export_fmu
from limberjack.version import __version__

__all__ = [
    "Alarm",
    "ArgumentError",
    "Bounds",
    "Bushing",
    "CentralGravity",
    "Cmg",
    "Dynamics",
    "ExternalForce",
    "FmuController",
    "FmuError",
    "FmuWarning",
    "LimberjackError",
    "LinearModel",
    "MagneticField",
    "MissingExtraError",
    "Mode",
    "ModelError",
    "ModelWarning",
    "Operators",
    "Rotor",
    "Simulation",
    "SimulationError",
    "SloshPendulum",
    "Spring",
    "System",
    "Thruster",
    "UnknownNameError",
    "Wheel",
    "__version__",
    "assemble",
    "catalogue",
    "cosimulate",
    "equip",
    "export_fmu",
    "linearize",
    "load",
]
