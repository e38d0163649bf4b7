"""A hub with two hinged panels, one RK4 step: ours, and Basilisk's with its HingedRigidBodyStateEffector."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.engines import Timer
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate

STEP_SECONDS = 1e-3
HUB_MASS, HUB_INERTIA = 750.0, np.diag([900.0, 800.0, 600.0])
PANEL_MASS, PANEL_INERTIA = 100.0, np.diag([100.0, 50.0, 50.0])
#: hinge to the panel's centre of mass, along -x of the panel, m; spring, N·m/rad; damper, N·m·s/rad
ARM, SPRING, DAMPER = 1.5, 100.0, 5.0
#: for each panel: the hinge's place on the hub (m), R (panel axes from the hub's), initial angle (rad)
SIDES = (
    (np.array([0.5, 0.0, 1.0]), np.diag([-1.0, -1.0, 1.0]), 0.1),
    (np.array([-0.5, 0.0, 1.0]), np.eye(3), -0.05),
)
SPIN = np.array([0.1, -0.2, 0.3])


def spacecraft() -> System:
    """A free hub and two panels on hinges about their y axes, with springs and dampers; no gravity."""
    bodies = [Body("hub", Inertia(HUB_MASS, np.zeros(3), HUB_INERTIA), Hinge("base", "free", None))]
    for k, (place, turn, angle) in enumerate(SIDES):
        hinge = Hinge(
            f"hinge{k}",
            "revolute",
            "hub",
            inboard=Pose(turn.T, place),
            axes=np.array([[0.0, 1.0, 0.0]]),
            dofs=(Dof(stiffness=SPRING, damping=DAMPER),),
            q0=np.array([angle]),
        )
        bodies.append(Body(f"panel{k}", Inertia(PANEL_MASS, np.array([-ARM, 0.0, 0.0]), PANEL_INERTIA), hinge))
    return validate(System("hub with two panels", tuple(bodies), gravity=np.zeros(3)))


class Ours:
    """Steps of a Simulation; q = [attitude, position of the hub, panel angles] and v from `start`."""

    name, note = "Limberjack", "Simulation.step"

    def __init__(self, start: tuple[np.ndarray, np.ndarray]) -> None:
        self._simulation, self._start = Simulation(spacecraft(), dt=STEP_SECONDS, integrator="rk4"), start
        self.timers: dict[str, Timer] = {"step": self._time}

    def _time(self, calls: int) -> float:
        begin = time.thread_time()
        self._simulation.step(calls)
        return time.thread_time() - begin

    def result(self, operation: str, k: int) -> np.ndarray:
        """q after k steps from the start."""
        self._simulation.reset()
        self._simulation.q, self._simulation.v = self._start
        self._simulation.step(k)
        return self._simulation.q.copy()


class Basilisk:
    """The same spacecraft in Basilisk, one task of one process; a step advances the simulation by one task period."""

    name, note = "Basilisk", "ExecuteSimulation, its three modules a step"

    def __init__(self) -> None:
        from Basilisk.simulation.hingedRigidBodyStateEffector import HingedRigidBodyStateEffector
        from Basilisk.simulation.spacecraft import Spacecraft
        from Basilisk.utilities.SimulationBaseClass import SimBaseClass

        self._base = SimBaseClass()
        self._base.CreateNewProcess("dynamics").addTask(self._base.CreateNewTask("step", _nanos(1)))
        self._craft = Spacecraft()
        self._craft.hub.mHub, self._craft.hub.r_BcB_B = HUB_MASS, np.zeros((3, 1)).tolist()
        self._craft.hub.IHubPntBc_B, self._craft.hub.omega_BN_BInit = HUB_INERTIA.tolist(), SPIN[:, None].tolist()
        self._panels = [HingedRigidBodyStateEffector() for _ in SIDES]
        for panel, (place, turn, angle) in zip(self._panels, SIDES):
            panel.mass, panel.IPntS_S, panel.d, panel.k, panel.c = (
                PANEL_MASS, PANEL_INERTIA.tolist(), ARM, SPRING, DAMPER
            )  # fmt: skip
            panel.r_HB_B, panel.dcm_HB, panel.thetaInit = place[:, None].tolist(), turn.tolist(), angle
            self._craft.addStateEffector(panel)
            self._base.AddModelToTask("step", panel)
        self._base.AddModelToTask("step", self._craft)
        self._base.InitializeSimulation()
        self._steps = 0
        self.start = self._state()
        self.timers: dict[str, Timer] = {"step": self._time}

    def _run(self, steps: int) -> None:
        self._steps += steps
        self._base.ConfigureStopTime(_nanos(self._steps))
        self._base.ExecuteSimulation()

    def _time(self, calls: int) -> float:
        begin = time.process_time()  # it steps in a thread of its own
        self._run(calls)
        return time.process_time() - begin

    def _state(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v in our order; its attitude is in modified Rodrigues parameters, its velocity inertial."""
        hub, states = self._craft.hub, self._craft.dynManager

        def value(name: str) -> np.ndarray:
            return np.array(states.getStateObject(name).getState()).ravel()

        sigma = value(hub.nameOfHubSigma)
        quaternion = np.concatenate([[1.0 - sigma @ sigma], 2.0 * sigma]) / (1.0 + sigma @ sigma)
        R = from_quaternion(quaternion)
        angles = [value(panel.nameOfThetaState)[0] for panel in self._panels]
        rates = [value(panel.nameOfThetaDotState)[0] for panel in self._panels]
        q = np.concatenate([quaternion, value(hub.nameOfHubPosition), angles])
        return q, np.concatenate([value(hub.nameOfHubOmega), R.T @ value(hub.nameOfHubVelocity), rates])

    def result(self, operation: str, k: int) -> np.ndarray:
        """q after k steps from the start; the first call only."""
        self._run(k)
        return self._state()[0]


def _nanos(steps: int) -> int:
    return round(steps * STEP_SECONDS * 1e9)
