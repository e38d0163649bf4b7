"""What tests of devices share: a pendulum, a control law, addresses that are free, the loop without a link."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.hil.devices.device import Wiring

PENDULUM = """
limberjack: 1
name: pendulum
bodies:
  - {name: rod, mass: 1.0, com: [0, 0, -0.5], inertia: {xx: 0.1, yy: 0.1, zz: 0.01},
     hinge: {name: pivot, type: revolute, parent: world, axis: [0, 1, 0], initial: {position: 0.8}}}
actuators:
  - {name: motor, coordinate: pivot}
"""
WIRING = Wiring(("q.pivot", "v.pivot"), ("rad", "rad/s"), ("motor",))


def law(_: float, signals: np.ndarray) -> np.ndarray:
    """A spring and a damper."""
    return np.array([-20.0 * signals[0] - 3.0 * signals[1]])


def pendulum(folder: Path) -> lj.Simulation:
    """One rod on a motor."""
    (folder / "pendulum.yaml").write_text(PENDULUM, encoding="utf-8")
    return lj.Simulation(lj.load(folder / "pendulum.yaml"))


def free_port(kind: int = socket.SOCK_DGRAM) -> int:
    """A port of this machine that was free a moment ago."""
    with socket.socket(socket.AF_INET, kind) as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def in_process(simulation: lj.Simulation, frames: int) -> np.ndarray:
    """Where the same loop ends without a link."""
    for _ in range(frames):
        simulation.command["motor"] = law(0.0, np.array([simulation.q[0], simulation.v[0]]))[0]
        simulation.step(1)
    return np.array([simulation.q[0], simulation.v[0]])
