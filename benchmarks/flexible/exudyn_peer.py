"""Exudyn's ObjectFFRFreducedOrder with the particles and modes of a floating beam (compiled C++, no user functions)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.engines import Timer
from benchmarks.flexible.chain import States
from limberjack.engine.algebra.eigenbases import own_modes
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.model.system import System
from limberjack.engine.modes.data import ModalData

STEP_SECONDS = 1e-6


class Exudyn:
    """The beam in Exudyn, in the modal coordinates of our system.

    q : position, rotation vector, modes; its explicit solver updates the rotation on the group, so that the velocities
    are [v in inertial axes; ω in body axes; η̇] and nothing constrains them.
    """

    name = "Exudyn"
    note = "a quarter of a step of its explicit RK4, C++"

    def __init__(self, data: ModalData, system: System, states: States) -> None:
        import exudyn as exu
        from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
        from scipy.sparse import csr_matrix, diags

        self._exu, self._states = exu, states
        fem, size = FEMinterface(), 3 * len(data.masses)
        fem.nodes = {"Position": data.positions}
        fem.massMatrix = csr_matrix(diags(np.repeat(data.masses, 3)))
        fem.stiffnessMatrix = csr_matrix((size, size))
        fem.modeBasis = {"matrix": data.shapes[:, 3:].reshape(size, -1) @ _to_ours(data), "type": "NormalModes"}
        body = ObjectFFRFreducedOrderInterface(fem, rigidBodyNodeType="NodeType.RotationRotationVector")
        body.stiffnessMatrixReduced = np.diag([dof.stiffness for dof in system.bodies[1].hinge.dofs])
        self._container = exu.SystemContainer()
        self._mbs = self._container.AddSystem()
        body.AddObjectFFRFreducedOrder(self._mbs)
        self._mbs.Assemble()
        self._solver = exu.MainSolverImplicitSecondOrder()
        self._settings = self._quiet()
        self._solver.InitializeSolver(self._mbs, self._settings)
        self.timers: dict[str, Timer] = {"forward": self._time}

    def _quiet(self) -> Any:
        """Settings without files and screen."""
        settings = self._exu.SimulationSettings()
        settings.solution.file.write = False
        settings.timeIntegration.verboseMode = 0
        return settings

    def _time(self, calls: int) -> float:
        """Four right-hand sides a step; starting a run takes as long as some thirty, which is left in."""
        settings, steps = self._settings.timeIntegration, max(1, calls // 4)
        settings.numberOfSteps, settings.endTime = steps, steps * STEP_SECONDS
        begin = time.thread_time()
        self._mbs.SolveDynamic(self._settings, solverType=self._exu.DynamicSolverType.RK44)
        return (time.thread_time() - begin) * calls / (4 * steps)

    def result(self, operation: str, k: int) -> np.ndarray:
        """Accelerations in our order: ω̇, v̇ in body axes, then the modes."""
        q, v = self._states.q[k], self._states.v[k]
        R, system = from_quaternion(q[:4]), self._mbs.systemData
        turn = 2.0 * np.arctan2(np.linalg.norm(q[1:4]), q[0]) * q[1:4] / np.linalg.norm(q[1:4])
        system.SetODE2Coordinates([*q[4:7], *turn, *q[7:]])
        system.SetODE2Coordinates_t([*(R @ v[3:6]), *v[:3], *v[6:]])
        self._solver.ComputeODE2RHS(self._mbs)
        self._solver.ComputeMassMatrix(self._mbs)
        force = np.array(self._solver.GetSystemResidual())[: len(v)]
        found = np.linalg.solve(np.array(self._solver.GetSystemMassMatrix()), force)
        return np.concatenate([found[3:6], R.T @ found[:3] - np.cross(v[:3], v[3:6]), found[6:]])


def _to_ours(data: ModalData) -> np.ndarray:
    """(n, n) T with T* M_ff T = 1 and T* K T diagonal: the coordinates that `normalised` takes."""
    return own_modes(data.stiffness, data.mass)[1]
