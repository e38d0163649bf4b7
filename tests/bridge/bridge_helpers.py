"""What several bridge tests need: a small arm, bounded waits, raw requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Loop, Pose, System
from limberjack.engine.model.validate import validate

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


def make_dock() -> System:
    """A free base with an arm and a free target: weld "dock" within 0.2 m, lock "brake" of the arm's hinge "elbow"."""
    solid = Inertia(2.0, np.array([0.1, 0.0, 0.0]), np.diag([0.2, 0.3, 0.4]))
    level = np.array([1.0, 0.0, 0.0, 0.0])
    still, spin = np.zeros(6), np.array([0.02, 0.1, -0.05, -0.3, 0.1, 0.02])
    apart = np.concatenate([level, [1.1, 0.05, 0.0]])
    bodies = (
        Body("base", solid, Hinge("base", "free", None, q0=np.concatenate([level, np.zeros(3)]), v0=still)),
        Body(
            "arm",
            Inertia(1.0, np.array([0.3, 0.0, 0.0]), np.diag([0.01, 0.05, 0.05])),
            Hinge(
                "elbow", "revolute", "base", Pose(position=np.array([0.4, 0.0, 0.0])),
                axes=np.array([[0.0, 0.0, 1.0]]), q0=np.array([0.1]), v0=np.array([0.5]),
            ),
        ),
        Body("target", solid, Hinge("target", "free", None, q0=apart, v0=spin)),
    )  # fmt: skip
    tip = Pose(position=np.array([0.6, 0.0, 0.0]))
    weld = Loop("dock", "weld", Hinge("dock", "fixed", "arm", inboard=tip), "target", switchable=True, closed=False)
    brake = Loop("brake", "lock", locked="elbow", switchable=True, closed=False)
    actuators = (Actuator("elbow", "elbow"),)
    loops = (replace(weld, reach=0.2), brake)
    return validate(System("dock", bodies, actuators=actuators, loops=loops, gravity=np.zeros(3)))


def until(condition: Callable[[], object], what: str) -> None:
    """Wait, with a bound, for something that another thread or process does."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
