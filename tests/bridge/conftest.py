"""A small arm, engines in threads and in processes, and short ipc paths."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from limberjack.bridge.server import Server
from limberjack.bridge.settings import Settings
from limberjack.engine.simulation import Simulation
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


@pytest.fixture(scope="session")
def arm() -> System:
    return make_arm()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for a local socket."""
    path = Path(tempfile.mkdtemp(prefix="lj"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def endpoint(folder: Path) -> str:
    return f"ipc://{folder}/e"


@pytest.fixture
def engine(arm: System, endpoint: str) -> Iterator[Callable[..., Server]]:
    """Start engines in threads of this process: `server = engine(lease_s=0.3)`; stopped at the end."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(**options: Any) -> Server:
        settings = Settings(**{"endpoint": endpoint, **options})
        server = Server(Simulation(arm), settings)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()
