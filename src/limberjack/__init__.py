"""Limberjack: a real-time dynamics engine for flexible spacecraft and closed-chain robots.

import limberjack as lj
system = lj.load("arm.urdf")
dynamics = lj.Dynamics(system)
simulation = lj.Simulation(system, dt=1e-3)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from limberjack.engine.api.batch import Batch
    from limberjack.engine.api.contact_events import ContactEvent, ContactWatch
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
    from limberjack.engine.model.catalogue.catalogue import catalogue
    from limberjack.engine.model.elements.alarm import Alarm, Bounds
    from limberjack.engine.model.elements.bushing import Bushing
    from limberjack.engine.model.elements.central_gravity import CentralGravity
    from limberjack.engine.model.elements.cmg import Cmg
    from limberjack.engine.model.elements.contact import Contact
    from limberjack.engine.model.elements.external_force import ExternalForce
    from limberjack.engine.model.elements.magnetic_field import MagneticField
    from limberjack.engine.model.elements.rotor import Rotor
    from limberjack.engine.model.elements.sensor import Sensor, SensorErrors
    from limberjack.engine.model.elements.shape import Shape
    from limberjack.engine.model.elements.slosh import SloshPendulum
    from limberjack.engine.model.elements.spring import Spring
    from limberjack.engine.model.elements.thruster import Thruster
    from limberjack.engine.model.elements.wheel import Wheel
    from limberjack.engine.model.equip import equip
    from limberjack.engine.model.load import load
    from limberjack.engine.model.loops.assembly import assemble
    from limberjack.engine.model.system import System
    from limberjack.engine.native.compiled_model import compile_model
    from limberjack.engine.operators.workbench import Operators
    from limberjack.fmu.controller.controller import FmuController
    from limberjack.fmu.controller.errors import FmuError, FmuWarning
    from limberjack.fmu.controller.schedule import cosimulate
    from limberjack.fmu.export import export_fmu
    from limberjack.version import __version__

__all__ = [
    "Alarm",
    "ArgumentError",
    "Batch",
    "Bounds",
    "Bushing",
    "CentralGravity",
    "Cmg",
    "Contact",
    "ContactEvent",
    "ContactWatch",
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
    "Sensor",
    "SensorErrors",
    "Shape",
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
    "compile_model",
    "cosimulate",
    "equip",
    "export_fmu",
    "linearize",
    "load",
]

#: name → its module, which is imported when the name is first used, so that nobody waits for unused modules
_HOMES = {
    "Batch": "engine.api.batch",
    "ContactEvent": "engine.api.contact_events",
    "ContactWatch": "engine.api.contact_events",
    "Dynamics": "engine.api.dynamics",
    "LinearModel": "engine.api.linear_model",
    "Mode": "engine.api.linear_model",
    "linearize": "engine.api.linearize",
    "Simulation": "engine.api.simulation",
    "ArgumentError": "engine.common.errors",
    "LimberjackError": "engine.common.errors",
    "MissingExtraError": "engine.common.errors",
    "ModelError": "engine.common.errors",
    "ModelWarning": "engine.common.errors",
    "SimulationError": "engine.common.errors",
    "UnknownNameError": "engine.common.errors",
    "Alarm": "engine.model.elements.alarm",
    "Bounds": "engine.model.elements.alarm",
    "catalogue": "engine.model.catalogue.catalogue",
    "Bushing": "engine.model.elements.bushing",
    "CentralGravity": "engine.model.elements.central_gravity",
    "Cmg": "engine.model.elements.cmg",
    "Contact": "engine.model.elements.contact",
    "ExternalForce": "engine.model.elements.external_force",
    "MagneticField": "engine.model.elements.magnetic_field",
    "Rotor": "engine.model.elements.rotor",
    "Sensor": "engine.model.elements.sensor",
    "SensorErrors": "engine.model.elements.sensor",
    "SloshPendulum": "engine.model.elements.slosh",
    "Spring": "engine.model.elements.spring",
    "Thruster": "engine.model.elements.thruster",
    "Wheel": "engine.model.elements.wheel",
    "Shape": "engine.model.elements.shape",
    "equip": "engine.model.equip",
    "load": "engine.model.load",
    "assemble": "engine.model.loops.assembly",
    "System": "engine.model.system",
    "compile_model": "engine.native.compiled_model",
    "Operators": "engine.operators.workbench",
    "FmuController": "fmu.controller.controller",
    "FmuError": "fmu.controller.errors",
    "FmuWarning": "fmu.controller.errors",
    "cosimulate": "fmu.controller.schedule",
    "export_fmu": "fmu.export",
    "__version__": "version",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'limberjack' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(f"limberjack.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
