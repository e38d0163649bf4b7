"""Basilisk's Monte-Carlo controller on a spacecraft like solar_satellite, run by a Python that has Basilisk.

python basilisk_campaign.py RUNS PROCESSES FOLDER

A hub with four reaction wheels and two wings, each a chain of eight hinged panels (bending out of its plane), so that
there are as many flexible coordinates as modes in ours. RK4 steps of 1 ms for 10 s; guidance, MRP feedback, wheel
torques and log at 10 Hz, all of them Basilisk's own C modules. Each run has a hub's mass and initial rates of its own.
Prints a line of JSON: runs, processes, wall and processor time, s.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from typing import Any

from Basilisk.architecture import messaging
from Basilisk.fswAlgorithms import attTrackingError, inertial3D, mrpFeedback, rwMotorTorque
from Basilisk.simulation import nHingedRigidBodyStateEffector, reactionWheelStateEffector, simpleNav, spacecraft
from Basilisk.utilities import SimulationBaseClass, macros, simIncludeRW
from Basilisk.utilities.MonteCarlo.Controller import Controller, RetentionPolicy
from Basilisk.utilities.MonteCarlo.Dispersions import UniformDispersion, UniformVectorCartDispersion

DURATION, STEP, CONTROL = 10.0, 0.001, 0.1
#: of the hub, kg and kg·m²
HUB_MASS, HUB_INERTIA = 2900.0, [[3400.0, 0.0, 0.0], [0.0, 2700.0, 0.0], [0.0, 0.0, 3600.0]]
#: of a wing, with the mass, inertia and first frequency of ours: panels, mass, kg; length of a panel, m; stiffness
#: and damping of a hinge, N·m/rad and N·m·s/rad
PANELS, WING_MASS, PANEL_LENGTH, STIFFNESS, DAMPING = 8, 128.4, 2.62, 18330.0, 259.0
#: angle of the slew as a modified Rodrigues parameter about x: tan(0.75° / 4)
TARGET = 0.003272


class Satellite(SimulationBaseClass.SimBaseClass):  # type: ignore[misc]
    """The simulation of one run."""

    def __init__(self) -> None:
        super().__init__()
        dynamics, control = self.CreateNewProcess("dynamics", 2), self.CreateNewProcess("control", 1)
        dynamics.addTask(self.CreateNewTask("dynamics", macros.sec2nano(STEP)))
        control.addTask(self.CreateNewTask("control", macros.sec2nano(CONTROL)))
        self.craft = craft = spacecraft.Spacecraft()
        craft.ModelTag = "craft"
        craft.hub.mHub, craft.hub.IHubPntBc_B = HUB_MASS, HUB_INERTIA
        self.wings = [self._wing(side) for side in (1.0, -1.0)]
        self.wheels, self.factory = self._wheels()
        self.navigation = simpleNav.SimpleNav()
        self.navigation.scStateInMsg.subscribeTo(craft.scStateOutMsg)
        for module in (self.wheels, *self.wings, craft, self.navigation):
            self.AddModelToTask("dynamics", module)
        self._control()
        self.msgRecList = {"attitude": craft.scStateOutMsg.recorder(macros.sec2nano(CONTROL))}
        self.AddModelToTask("dynamics", self.msgRecList["attitude"])

    def _wing(self, side: float) -> Any:
        """A chain of panels along ±y of the hub that bends about x."""
        wing = nHingedRigidBodyStateEffector.NHingedRigidBodyStateEffector()
        wing.ModelTag = f"wing{side:+.0f}"
        wing.r_HB_B = [[0.0], [1.2 * side], [0.0]]
        # panels lie along -s1 and turn about s2
        wing.dcm_HB = [[0.0, -side, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, side]]
        mass = WING_MASS / PANELS
        for _ in range(PANELS):
            panel = nHingedRigidBodyStateEffector.HingedPanel()
            panel.mass, panel.d, panel.k, panel.c = mass, 0.5 * PANEL_LENGTH, STIFFNESS, DAMPING
            along, across = mass * PANEL_LENGTH**2 / 12.0, mass * 2.6**2 / 12.0
            panel.IPntS_S = [[across, 0.0, 0.0], [0.0, along, 0.0], [0.0, 0.0, along + across]]
            wing.addHingedPanel(panel)
        self.craft.addStateEffector(wing)
        return wing

    def _wheels(self) -> tuple[Any, Any]:
        """Four wheels in a pyramid."""
        factory = simIncludeRW.rwFactory()
        wheels = reactionWheelStateEffector.ReactionWheelStateEffector()
        wheels.ModelTag = "wheels"
        for axis in ([1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1]):
            factory.create(
                "custom", [a / 3**0.5 for a in axis], Js=0.239, u_max=1.0, Omega=0.0, Omega_max=6000.0,
                RWModel=messaging.BalancedWheels,
            )  # fmt: skip
        factory.addToSpacecraft("wheels", wheels, self.craft)
        return wheels, factory

    def _control(self) -> None:
        """From an inertial target to torques of the wheels."""
        self.guidance, self.error = inertial3D.inertial3D(), attTrackingError.attTrackingError()
        self.feedback, self.allocation = mrpFeedback.mrpFeedback(), rwMotorTorque.rwMotorTorque()
        self.guidance.sigma_R0N = [TARGET, 0.0, 0.0]
        self.error.attRefInMsg.subscribeTo(self.guidance.attRefOutMsg)
        self.error.attNavInMsg.subscribeTo(self.navigation.attOutMsg)
        vehicle = messaging.VehicleConfigMsgPayload()
        vehicle.ISCPntB_B = [48200.0, 0.0, 0.0, 0.0, 2850.0, 0.0, 0.0, 0.0, 48500.0]
        self.vehicle, self.devices = messaging.VehicleConfigMsg().write(vehicle), self.factory.getConfigMessage()
        self.feedback.K, self.feedback.P, self.feedback.Ki = 60.0, 1700.0, -1.0
        self.feedback.guidInMsg.subscribeTo(self.error.attGuidOutMsg)
        self.feedback.vehConfigInMsg.subscribeTo(self.vehicle)
        self.allocation.controlAxes_B = [1, 0, 0, 0, 1, 0, 0, 0, 1]
        self.allocation.rwParamsInMsg.subscribeTo(self.devices)
        self.allocation.vehControlInMsg.subscribeTo(self.feedback.cmdTorqueOutMsg)
        self.wheels.rwMotorCmdInMsg.subscribeTo(self.allocation.rwMotorTorqueOutMsg)
        for module in (self.guidance, self.error, self.feedback, self.allocation):
            self.AddModelToTask("control", module)


def execute(satellite: Satellite) -> None:
    """One run."""
    satellite.InitializeSimulation()
    satellite.ConfigureStopTime(macros.sec2nano(DURATION))
    satellite.ExecuteSimulation()


def keep(data: dict[str, Any], retention: Any) -> None:
    """What the controller keeps of a run is written by itself."""


def campaign(runs: int, processes: int, folder: str) -> dict[str, Any]:
    """Run all; wall time and processor time, s."""
    controller = Controller()
    controller.setSimulationFunction(Satellite)
    controller.setExecutionFunction(execute)
    controller.setExecutionCount(runs)
    controller.setThreadCount(processes)
    controller.setShouldDisperseSeeds(True)
    controller.setArchiveDir(folder)
    controller.setVerbose(False)
    controller.addDispersion(UniformDispersion("craft.hub.mHub", [2300.0, 2900.0]))
    controller.addDispersion(UniformVectorCartDispersion("craft.hub.omega_BN_BInit", [-1.0e-5, 1.0e-5]))
    policy = RetentionPolicy()
    policy.addMessageLog("attitude", ["sigma_BN", "omega_BN_B"])
    policy.setDataCallback(keep)
    controller.addRetentionPolicy(policy)
    before, begin = used(), time.monotonic()
    with open(os.devnull, "w") as sink, contextlib.redirect_stdout(sink):
        failed = controller.executeSimulations()
    wall, after = time.monotonic() - begin, used()
    if failed:
        raise SystemExit(f"runs of Basilisk failed: {failed}")
    return {"runs": runs, "processes": processes, "wall": wall, "cpu": after - before}


def used() -> float:
    """Processor time of this process and of those that have ended, s."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)


if __name__ == "__main__":
    print(json.dumps(campaign(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
