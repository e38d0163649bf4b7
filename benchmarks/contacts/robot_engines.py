"""The engines that step scenes of robots, from the scene's System: ours, and MuJoCo as it comes and at its best."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.contacts.robots import RobotScene
from benchmarks.engines import STEP_SECONDS, Timer
from benchmarks.mujoco_peer import model_of
from benchmarks.peer_build import require
from benchmarks.trees import tree_of
from limberjack.engine.algebra.rotations import to_quaternion
from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.system import Pose, System


class Robot:
    """An engine with a robot's scene at its end.

    first, places : centres of the watched shapes (count, 3) at `settle` and at `seconds`, m
    timers : what a further step takes, the commands held
    """

    name, note = "", ""

    def __init__(self, scene: RobotScene, dt: float = STEP_SECONDS) -> None:
        self.scene, self.dt, self.steps = scene, dt, 0
        self.timers: dict[str, Timer] = {"step": self._timed}
        self.system = scene.make()
        self.commands = scene.commands(self.system)
        self.prepare()
        self._advance(scene.settle)
        self.first = self.centres()
        self._advance(scene.seconds)
        self.places = self.centres()

    def error(self) -> float:
        """How far a shape crept since `settle`, or is from where smaller steps bring it, m."""
        refined = self.scene.refined
        expected = type(self)(self.scene, self.dt / refined).places if refined else self.first
        return float(np.linalg.norm(self.places - expected, axis=1).max())

    def result(self, operation: str, k: int) -> np.ndarray:
        """Places at the scene's end, of the one state that it has."""
        return self.places

    def _advance(self, until: float) -> None:
        last = round(until / self.dt)
        if not self.scene.turned:
            self.step(last - self.steps)
            self.steps = last
        while self.steps < last:
            turned = self.scene.turned
            self.command(turned, self.commands[turned] + self.scene.turn(self.steps * self.dt))
            self.step(1)
            self.steps += 1

    def _timed(self, calls: int) -> float:
        begin = time.thread_time()
        self.step(calls)
        return time.thread_time() - begin

    def prepare(self) -> None:
        """Put the scene at its start."""
        raise NotImplementedError

    def command(self, name: str, value: float) -> None:
        """Give a servo its angle, rad."""
        raise NotImplementedError

    def step(self, count: int) -> None:
        """Take so many steps of `dt`."""
        raise NotImplementedError

    def centres(self) -> np.ndarray:
        """Places (count, 3) of the watched shapes, m."""
        raise NotImplementedError

    def support(self) -> np.ndarray:
        """Force (3,) of the contact `ground`, in inertial axes, N."""
        raise NotImplementedError


class OurRobot(Robot):
    """Limberjack; servos at the end of the step, as MuJoCo's `implicitfast` has them."""

    name = "Limberjack, implicit"

    def prepare(self) -> None:
        self._simulation = Simulation(self.system, dt=self.dt, integrator="implicit")
        self._bodies = {shape.name: shape.body for shape in self.system.shapes}
        self._dynamics = Dynamics(self.system)
        for name, value in self.commands.items():
            self.command(name, value)

    def command(self, name: str, value: float) -> None:
        self._simulation.command[name] = value

    def step(self, count: int) -> None:
        self._simulation.step(count)

    def centres(self) -> np.ndarray:
        q = self._simulation.q
        return np.array([self._dynamics.pose(str(self._bodies[name]), q)[1] for name in self.scene.watched])

    def support(self) -> np.ndarray:
        return np.array(self._simulation.output["ground"])


class MuJoCoRobot(Robot):
    """MuJoCo: elliptic cones, Newton's method, `implicitfast`, the declared pairs of shapes only."""

    name, impratio, sweeps = "MuJoCo", 1.0, 0

    def prepare(self) -> None:
        require(["mujoco"])
        import mujoco

        self._mujoco, tree = mujoco, tree_of(self.system)
        self._model = model_of(mujoco, tree, self._dress)
        self._data = mujoco.MjData(self._model)
        self._data.qpos[:] = self.system.q0
        for kind, i, _ in tree.coordinates():
            if kind == "free":
                self._data.qpos[i : i + 7] = np.roll(self.system.q0[i : i + 7], 3)
        for name, value in self.commands.items():
            self.command(name, value)
        mujoco.mj_forward(self._model, self._data)

    def _dress(self, spec: Any, bodies: list[Any]) -> None:
        option, mujoco = spec.option, self._mujoco
        option.disableflags, option.timestep, option.impratio = 0, self.dt, self.impratio
        option.integrator, option.cone = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, mujoco.mjtCone.mjCONE_ELLIPTIC
        option.solver, option.iterations, option.tolerance = mujoco.mjtSolver.mjSOL_NEWTON, 100, 1e-12
        option.noslip_iterations = self.sweeps
        for shape in self.system.shapes:
            _add_shape(mujoco, spec, bodies, self.system, shape)
        for law in self.system.contacts:
            for first in law.first:
                for second in law.second:
                    rubs = [law.friction, law.friction, 0.0, 0.0, 0.0]
                    spec.add_pair(geomname1=first, geomname2=second, friction=rubs, condim=3)
        joints = {link.name: body.joints[0] for link, body in zip(tree_of(self.system).links, bodies, strict=True)}
        for servo in self.system.actuators:
            joints[servo.coordinate].name = servo.coordinate
            made = spec.add_actuator(name=servo.name, target=servo.coordinate, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            made.biastype = mujoco.mjtBias.mjBIAS_AFFINE
            made.gainprm[0], made.biasprm[1], made.biasprm[2] = servo.kp, -servo.kp, -servo.kd

    def command(self, name: str, value: float) -> None:
        self._data.ctrl[self._model.actuator(name).id] = value

    def step(self, count: int) -> None:
        self._mujoco.mj_step(self._model, self._data, count)

    def centres(self) -> np.ndarray:
        self._mujoco.mj_kinematics(self._model, self._data)
        return np.array([self._data.geom(name).xpos for name in self.scene.watched])

    def support(self) -> np.ndarray:
        found, one = np.zeros(3), np.zeros(6)
        for i, contact in enumerate(self._data.contact):
            names = [self._model.geom(int(g)).name for g in contact.geom]
            if "floor" in names:
                self._mujoco.mj_contactForce(self._model, self._data, i, one)
                found += (1.0 if names[0] == "floor" else -1.0) * contact.frame.reshape(3, 3).T @ one[:3]
        return found


class BestMuJoCoRobot(MuJoCoRobot):
    """MuJoCo with friction a hundred times as stiff and ten sweeps against slip, the least creep that we found.

    Its stiffest normal law (`STIFF` in the other scenes) makes the robot's feet chatter and walk by 0.3 m in a minute.
    """

    name, impratio, sweeps = "MuJoCo, no slip", 100.0, 10


def _add_shape(mujoco: Any, spec: Any, bodies: list[Any], system: System, shape: Shape) -> None:
    kinds = {"plane": "mjGEOM_PLANE", "sphere": "mjGEOM_SPHERE", "box": "mjGEOM_BOX"}
    index, pose = _on_link(system, shape)
    sizes = {"plane": [0.0, 0.0, 1.0], "sphere": [shape.size[0], 0.0, 0.0], "box": list(0.5 * shape.size)}
    geom = (spec.worldbody if index < 0 else bodies[index]).add_geom(name=shape.name, size=sizes[shape.type])
    geom.type, geom.contype, geom.conaffinity = getattr(mujoco.mjtGeom, kinds[shape.type]), 0, 0
    geom.pos, geom.quat = pose.position, to_quaternion(pose.rotation)


def _on_link(system: System, shape: Shape) -> tuple[int, Pose]:
    """The index of the moving body that carries the shape, -1 for the world, and the pose in its joint frame."""
    by_name = {body.name: body for body in system.bodies}
    moving = [body.name for body in system.bodies if body.hinge.type != "fixed"]
    name, pose = shape.body, Pose(np.eye(3), np.array(shape.position))
    while name is not None:
        hinge = by_name[name].hinge
        pose = hinge.outboard.inverse() @ pose
        if hinge.type != "fixed":
            return moving.index(name), pose
        name, pose = hinge.parent, hinge.inboard @ pose
    return -1, pose


ROBOT_ENGINES: tuple[type[Robot], ...] = (OurRobot, MuJoCoRobot, BestMuJoCoRobot)
