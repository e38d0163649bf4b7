"""The example models with loops, and how their tests change and read them."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import limberjack as lj
from limberjack.engine.model.system import Loop
from tests.engine.kernels.loops.oracle import Oracle

FOLDER = Path(str(files("limberjack.examples")))
CLOSED = (
    "four_bar",
    "four_bar_internal",
    "geared_arm",
    "wishbone",
    "stewart_platform",
    "delta_robot",
    "dual_arm_grasp",
    "solar_array",
    "satellite_grasp",
    "driven_crank",
    "bicycle",
)
#: largest gap that the issue allows: embedded, by force with projection
GAP = {"embed": 1e-10, "force": 1e-8}


def load(name: str) -> lj.System:
    """An example by name."""
    return lj.load(FOLDER / f"{name}.yaml")


def text(name: str) -> dict[str, Any]:
    """What its file says, as plain data: geometry for closed forms that share nothing with the reader."""
    data: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    return data


def by(system: lj.System, method: str) -> lj.System:
    """The same with every loop that can be either by one method."""

    def other(loop: Loop) -> Loop:
        if loop.switchable or loop.type == "lock":
            return loop
        return replace(loop, method=method, independent=loop.independent if method == "embed" else ())

    return replace(system, loops=tuple(other(loop) for loop in system.loops))


def place(system: lj.System, name: str) -> int:
    """Index of a coordinate."""
    return system.coordinate_names.index(name)


def gap(oracle: Oracle, q: np.ndarray) -> float:
    """Largest position residual of the closed loops, by the dense reference."""
    return float(np.abs(oracle.gaps(q)).max(initial=0.0))


def energies(simulation: lj.Simulation) -> float:
    """Kinetic and potential energy, J."""
    return sum(simulation.dynamics.energy(simulation.q, simulation.v))
