"""Exudyn with balls on a floor: its `GeneralContact` knows spheres and triangles, springs and regularized friction."""

from __future__ import annotations

import numpy as np

from benchmarks.contacts.engines import Stepped
from benchmarks.contacts.scenes import GRAVITY, MASS, RADIUS
from benchmarks.engines import STEP_SECONDS
from benchmarks.peer_build import PeerUnavailableError, version_of

#: N/m: a ball sinks by 5 µm; N·s/m, critical: without it a ball hops by 3 mm; m/s, below which friction is viscous
STIFFNESS, DAMPING, VISCOUS = 2e6, 2.8e3, 1e-4
#: one triangle wider than all scenes, so that no ball crosses an edge
FLOOR = [[-100.0, -100.0, 0.0], [300.0, -100.0, 0.0], [0.0, 400.0, 0.0]]


class ExudynBalls(Stepped):
    """Exudyn's generalized α on balls in a row; other scenes raise PeerUnavailableError."""

    name = "Exudyn"
    note = "Exudyn's time includes the start of its solver, once a batch."

    def prepare(self) -> None:
        if version_of("exudyn") == "none":
            raise PeerUnavailableError("Exudyn is not installed and left out: pip install exudyn")
        if not self.scene.round or self.scene.stacked:
            raise PeerUnavailableError(
                "Exudyn is left out of boxes and stacks: its contacts are of spheres and triangles"
            )
        import exudyn as exu
        from exudyn.itemInterface import MarkerBodyRigid
        from exudyn.rigidBodyUtilities import InertiaSphere

        self._exu, self._container = exu, exu.SystemContainer()
        self._mbs = mbs = self._container.AddSystem()
        contact = mbs.AddGeneralContact()
        contact.SetFrictionPairings(self.scene.friction * np.eye(1))
        contact.frictionProportionalZone = VISCOUS
        contact.SetSearchTreeCellSize([4 * self.scene.count, 4, 2])
        contact.SetSearchTreeBox([-1.0, -1.0, -1.0], [0.5 * self.scene.count + 1.0, 3.0, 1.0])
        ground = mbs.AddMarker(MarkerBodyRigid(bodyNumber=mbs.CreateGround()))
        contact.AddTrianglesRigidBodyBased(ground, STIFFNESS, DAMPING, 0, FLOOR, [[0, 1, 2]], True)
        self._bodies = []
        for place in self.scene.start:
            state = {"referencePosition": list(place), "initialVelocity": [0.0, self.scene.speed, 0.0]}
            body = mbs.CreateRigidBody(inertia=InertiaSphere(MASS, RADIUS), gravity=[0.0, 0.0, -GRAVITY], **state)
            marker = mbs.AddMarker(MarkerBodyRigid(bodyNumber=body))
            contact.AddSphereWithMarker(marker, RADIUS, STIFFNESS, 0.0, 0)
            self._bodies.append(body)
        mbs.Assemble()

    def step(self, count: int) -> None:
        settings = self._exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = count
        settings.timeIntegration.endTime = count * STEP_SECONDS
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        if self.scene.count > 4:
            settings.linearSolver.solverType = self._exu.LinearSolverType.EigenSparse
        self._mbs.SolveDynamic(settings, updateInitialValues=True)

    def centres(self) -> np.ndarray:
        kind = self._exu.OutputVariableType.Position
        return np.array([self._mbs.GetObjectOutputBody(body, kind) for body in self._bodies])
