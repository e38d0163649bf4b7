"""What several bridge tests need: a small arm, bounded waits, raw requests."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from limberjack.engine.system.system import Actuator, Body, Dof, Hinge, Inertia, Pose, Sensor, System

WAIT_S = 20.0  # bound on every wait; reached only when something is broken


def make_arm(links: int = 3) -> System:
    """Pendulum chain about y: hinges shoulder, j1, …; a torque drive on each and a servo on the last."""
    bodies = []
    for k in range(links):
        inertia = Inertia(1.0 + 0.1 * k, np.array([0.2, 0.0, 0.0]), np.diag([0.01, 0.03, 0.03]))
        hinge = Hinge(
            name="shoulder" if k == 0 else f"j{k}",
            type="revolute",
            parent=None if k == 0 else f"link{k - 1}",
            inboard=Pose(position=np.array([0.4 if k else 0.0, 0.0, 0.0])),
            axes=np.array([[0.0, 1.0, 0.0]]),
            dofs=(Dof(damping=0.05),),
            q0=np.array([0.1 * (k + 1)]),
            v0=np.zeros(1),
        )
        bodies.append(Body(f"link{k}", inertia, hinge))
    names = [body.hinge.name for body in bodies]
    actuators = [Actuator(name, name) for name in names[:-1]]
    actuators.append(Actuator(names[-1], names[-1], mode="servo", kp=20.0, kd=1.0, limit=50.0))
    sensors = (Sensor("shoulder.angle", "position", "shoulder"),)
    return System("test arm", tuple(bodies), actuators=tuple(actuators), sensors=sensors)


def until(condition: Callable[[], object], what: str) -> None:
    """Wait, with a bound, for something that another thread or process does."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
