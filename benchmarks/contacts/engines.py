"""The engines that step the scenes: ours, MuJoCo as it comes and as stiff as it gets, Drake."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.contacts.scenes import GRAVITY, MASS, RADIUS, SECONDS, Scene
from benchmarks.engines import STEP_SECONDS, Timer
from benchmarks.peer_build import PeerUnavailableError, require
from limberjack.engine.api.simulation import Simulation

STEPS = round(SECONDS / STEP_SECONDS)
#: MuJoCo's default and stiffest contacts: attributes of its geoms
SOFT, STIFF = "", 'solref="0.002 1" solimp="0.9999 0.9999 0.001"'


class Stepped:
    """An engine with a scene.

    places : centres (count, 3) after SECONDS, m;  timers : what a further step takes, while everything touches
    """

    name, note = "", ""

    def __init__(self, scene: Scene) -> None:
        self.timers: dict[str, Timer] = {"step": self._timed}
        self.scene = scene
        self.prepare()
        self.step(STEPS)
        self.places = self.centres()

    def error(self) -> float:
        """The largest distance from the closed form, m."""
        return float(np.linalg.norm(self.places - self.scene.end, axis=1).max())

    def result(self, operation: str, k: int) -> np.ndarray:
        """Places after SECONDS, of the one state that a scene has."""
        return self.places

    def _timed(self, calls: int) -> float:
        begin = time.thread_time()
        self.step(calls)
        return time.thread_time() - begin

    def prepare(self) -> None:
        """Put the scene at its start."""
        raise NotImplementedError

    def step(self, count: int) -> None:
        """Take so many steps of STEP_SECONDS."""
        raise NotImplementedError

    def centres(self) -> np.ndarray:
        """Places (count, 3) of the centres, m."""
        raise NotImplementedError


class Ours(Stepped):
    """Limberjack; integrator as in `Simulation`."""

    integrator = "semi_implicit"
    name = "Limberjack, semi_implicit"

    def prepare(self) -> None:
        self._simulation = Simulation(self.scene.system(), dt=STEP_SECONDS, integrator=self.integrator)

    def step(self, count: int) -> None:
        self._simulation.step(count)

    def centres(self) -> np.ndarray:
        return np.array(self._simulation.q).reshape(-1, 7)[:, 4:]


class OursRungeKutta(Ours):
    """Limberjack with rk4."""

    integrator = "rk4"
    name = "Limberjack, rk4"


class MuJoCo(Stepped):
    """MuJoCo as it comes: elliptic cones, Newton's method, `implicitfast`."""

    name, geom, options = "MuJoCo", SOFT, ""

    def prepare(self) -> None:
        require(["mujoco"])
        import mujoco

        self._mujoco, friction = mujoco, f'friction="{self.scene.friction} 0 0" condim="3" {self.geom}'
        shape = f'type="{"sphere" if self.scene.round else "box"}" size="{RADIUS} {RADIUS} {RADIUS}"'
        moments = " ".join([str(self.scene.moment)] * 3)
        text = f'<geom type="plane" size="0 0 1" {friction}/>'
        for x, y, z in self.scene.start:
            text += f'<body pos="{x} {y} {z}"><freejoint/><inertial pos="0 0 0" mass="{MASS}" diaginertia="{moments}"/>'
            text += f"<geom {shape} {friction}/></body>"
        option = f'<option timestep="{STEP_SECONDS}" gravity="0 0 {-GRAVITY}" cone="elliptic" integrator="implicitfast"'
        model = f"<mujoco>{option} {self.options}/><worldbody>{text}</worldbody></mujoco>"
        self._model = mujoco.MjModel.from_xml_string(model)
        self._data = mujoco.MjData(self._model)
        self._data.qvel.reshape(-1, 6)[:, 1] = self.scene.speed

    def step(self, count: int) -> None:
        self._mujoco.mj_step(self._model, self._data, count)

    def centres(self) -> np.ndarray:
        return np.array(self._data.qpos).reshape(-1, 7)[:, :3]


class StiffMuJoCo(MuJoCo):
    """MuJoCo with its stiffest contacts and friction a hundred times as stiff."""

    name, geom, options = "MuJoCo, stiff", STIFF, 'impratio="100"'


class Drake(Stepped):
    """Drake's discrete plant with the solver SAP and nearly rigid points; its time includes its simulator's."""

    name, note = "Drake", "Drake's time includes that of its Simulator."

    def prepare(self) -> None:
        try:
            from pydrake import all as drake
        except ImportError as error:
            raise PeerUnavailableError("Drake is not installed and left out: pip install drake") from error
        builder = drake.DiagramBuilder()
        plant, _ = drake.AddMultibodyPlantSceneGraph(builder, STEP_SECONDS)
        plant.set_discrete_contact_approximation(drake.DiscreteContactApproximation.kSap)
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
        links = self._bodies(drake, plant)
        plant.Finalize()
        diagram = builder.Build()
        self._simulator = drake.Simulator(diagram)
        self._plant, self._links = plant, links
        self._context = plant.GetMyMutableContextFromRoot(self._simulator.get_mutable_context())
        for link, place in zip(links, self.scene.start, strict=True):
            plant.SetFreeBodyPose(self._context, link, drake.RigidTransform(place))
            velocity = drake.SpatialVelocity(np.zeros(3), np.array([0.0, self.scene.speed, 0.0]))
            plant.SetFreeBodySpatialVelocity(self._context, link, velocity)
        self._simulator.Initialize()

    def _bodies(self, drake: Any, plant: Any) -> list[Any]:
        rubs, made = drake.CoulombFriction(self.scene.friction, self.scene.friction), []
        properties = drake.ProximityProperties()
        drake.AddContactMaterial(0.0, 1e7, rubs, properties)
        properties.AddProperty("material", "relaxation_time", 1e-4)
        plant.RegisterCollisionGeometry(
            plant.world_body(), drake.RigidTransform(), drake.HalfSpace(), "floor", properties
        )
        unit = drake.UnitInertia(*[self.scene.moment / MASS] * 3)
        shape = drake.Sphere(RADIUS) if self.scene.round else drake.Box(*[2.0 * RADIUS] * 3)
        for i in range(self.scene.count):
            made.append(plant.AddRigidBody(f"b{i}", drake.SpatialInertia(MASS, np.zeros(3), unit)))
            plant.RegisterCollisionGeometry(made[-1], drake.RigidTransform(), shape, f"b{i}", properties)
        return made

    def step(self, count: int) -> None:
        self._simulator.AdvanceTo(self._simulator.get_context().get_time() + count * STEP_SECONDS)

    def centres(self) -> np.ndarray:
        return np.array([link.EvalPoseInWorld(self._context).translation() for link in self._links])


ENGINES: tuple[type[Stepped], ...] = (Ours, OursRungeKutta, MuJoCo, StiffMuJoCo, Drake)
