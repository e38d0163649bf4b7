"""The flexible spacecraft of examples/: how many times faster than real time they step at 1 kHz, by `implicit`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.measure import Spread, spread
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.load import load

MODELS = ("cassini", "solar_satellite", "long_arm")
STEP = 1e-3
#: initial rates, rad/s and m/s: the spacecraft tumbles slowly and all appendages and modes swing
RATE = 0.01


@dataclass(frozen=True)
class RealTime:
    """One model. modes: in all bodies; us: a step, commands, drives, hinge forces and the check for NaN included."""

    model: str
    velocities: int
    modes: int
    us: Spread

    @property
    def faster(self) -> float:
        """Simulated over elapsed time."""
        return 1e6 * STEP / self.us.median


def real_time(repeats: int, seconds: float) -> list[RealTime]:
    """Time all models, in batches of `seconds` of processor time."""
    return [_measure(name, repeats, seconds) for name in MODELS]


def _measure(name: str, repeats: int, seconds: float) -> RealTime:
    system = load(Path(str(files("limberjack.examples"))) / f"{name}.yaml")
    simulation = Simulation(system, STEP, "implicit")
    simulation.v = RATE * np.random.default_rng(4).normal(size=system.nv)
    _seconds(simulation, 100)
    steps = max(1, round(seconds / (_seconds(simulation, 1000) / 1000)))
    times = [_seconds(simulation, steps) / steps for _ in range(repeats)]
    modes = sum(body.hinge.nv for body in system.bodies if body.hinge.modes is not None)
    return RealTime(name, system.nv, modes, spread(1e6 * np.array(times)))


def _seconds(simulation: Simulation, steps: int) -> float:
    """Processor time of that many steps."""
    begin = time.thread_time()
    simulation.step(steps)
    return time.thread_time() - begin


def show(found: list[RealTime], console: Console) -> None:
    """The table."""
    table = Table("model", "velocities", "of these modes", "µs a step", "times real time", box=None)
    for one in found:
        table.add_row(one.model, str(one.velocities), str(one.modes), f"{one.us.median:.3g}", f"{one.faster:.0f}")
    console.print("examples/: `implicit` steps of 1 ms on one core")
    console.print(table)
