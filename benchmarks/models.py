"""The models of the benchmarks: robots of the package example-robot-data and random chains."""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.load import load
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate

ROBOT_PACKAGE = "example-robot-data"
ARMATURE = 0.01


@dataclass(frozen=True)
class Robot:
    """file : end of the URDF's path in the package; free : floats; locked : hinges held at zero."""

    file: str
    free: bool = False
    locked: tuple[str, ...] = ()
    armature: float = 0.0


ROBOTS = {
    "panda": Robot("panda_description/urdf/panda.urdf", locked=("panda_finger_joint1", "panda_finger_joint2")),
    "anymal": Robot("anymal_b_simple_description/robots/anymal.urdf", free=True),
    "talos": Robot("talos_data/robots/talos_reduced.urdf", free=True),
    "talos_armature": Robot("talos_data/robots/talos_reduced.urdf", free=True, armature=ARMATURE),
}


def robot_system(name: str) -> System:
    """One of ROBOTS, prepared. Raises ModelError when the robot is unknown or the package is not installed."""
    if name not in ROBOTS:
        raise ModelError(f"no benchmark robot '{name}'", where="bench", remedy=f"Use one of: {', '.join(ROBOTS)}")
    robot = ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # their inertias are known to be odd, and are kept
        system = load(_robot_file(robot.file), base="free" if robot.free else "fixed", mimic="independent")
        return _prepare(replace(system, name=name), robot.locked, robot.armature)


def _robot_file(end: str) -> Path:
    try:
        files = importlib.metadata.files(ROBOT_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.as_posix().endswith(end):
            return Path(str(file.locate()))
    raise ModelError(
        f"the package {ROBOT_PACKAGE} with '{end}' is not installed",
        where="bench",
        remedy='Install it with: pip install "limberjack[bench]"',
    )


def chain_system(bodies: int, seed: int = 3) -> System:
    """A fixed-base chain of revolute hinges with random axes, placements and inertias."""
    if bodies < 1:
        raise ModelError(f"a chain of {bodies} bodies", where="bench", remedy="Give at least 1")
    rng = np.random.default_rng(seed)
    made = [_chain_body(rng, i) for i in range(bodies)]
    return _prepare(System(f"chain {bodies}", tuple(made)), (), 0.0)


def _chain_body(rng: np.random.Generator, index: int) -> Body:
    pose = Pose(_rotation(rng), 0.3 * rng.normal(size=3))
    axis = rng.normal(size=(1, 3))
    parent = f"b{index - 1}" if index else None
    hinge = Hinge(f"j{index}", "revolute", parent, inboard=pose, axes=axis / np.linalg.norm(axis))
    return Body(f"b{index}", _inertia(rng), hinge)


def _rotation(rng: np.random.Generator) -> np.ndarray:
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return np.asarray(Q * np.linalg.det(Q))


def _inertia(rng: np.random.Generator) -> Inertia:
    """Mass properties of a random cloud of points."""
    spread = 0.1 * rng.normal(size=(3, 3))
    second = spread @ spread.T + 0.01 * np.eye(3)
    return Inertia(1.0 + rng.random(), 0.1 * rng.normal(size=3), np.trace(second) * np.eye(3) - second)


def _prepare(system: System, locked: tuple[str, ...], armature: float) -> System:
    """Hold the locked hinges, take away springs, dampers, friction and limits, drive every hinge by a torque.

    The peers then solve the very same problem.
    """
    bodies = tuple(replace(body, hinge=_bare(body.hinge, locked, armature)) for body in system.bodies)
    driven = [body.hinge.name for body in bodies if body.hinge.type in ("revolute", "prismatic")]
    drives = tuple(Actuator(f"{name} drive", name) for name in driven)
    return validate(replace(system, bodies=bodies, actuators=drives, sensors=(), nodes=()), inertia="warn")


def _bare(hinge: Hinge, locked: tuple[str, ...], armature: float) -> Hinge:
    if hinge.name in locked:
        nothing = np.zeros(0)
        return replace(hinge, type="fixed", dofs=(), q0=nothing, v0=nothing, axes=np.zeros((0, 3)))
    if hinge.type in ("revolute", "prismatic"):
        return replace(hinge, dofs=(Dof(armature=armature),))
    return replace(hinge, dofs=())


def models(robots: tuple[str, ...], chains: tuple[int, ...]) -> list[tuple[str, Callable[[], System]]]:
    """(name, maker) of every model of a run."""

    def robot(name: str) -> Callable[[], System]:
        return lambda: robot_system(name)

    def chain(n: int) -> Callable[[], System]:
        return lambda: chain_system(n)

    return [*((name, robot(name)) for name in robots), *((f"chain {n}", chain(n)) for n in chains)]
