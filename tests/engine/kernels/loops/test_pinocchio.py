"""Point and weld loops against Pinocchio's constraint dynamics on random trees.

Tolerance: Pinocchio's proximal iterations stop at 1e-13 of the constraint and solve with M⁻¹ of condition up to 1e4:
1e-9 of the size of the accelerations is the contract and holds with room. Its composite-body recursions are right only
for joints added depth first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Loop
from tests.engine.kernels.loops.agreement import close
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import Closed, close_tree
from tests.engine.kernels.sweeps.test_pinocchio import depth_first, mapped, peer_model, planar_axes
from tests.engine.random_systems import random_state, random_system

pin = pytest.importorskip("pinocchio")

KNOWN = ["revolute", "prismatic", "helical", "universal", "spherical", "planar", "free"]


def closed_tree(seed: int, kinds: list[str], twice: bool = False) -> Closed:
    rng = np.random.default_rng(seed)
    types = [*rng.permutation(KNOWN), *rng.choice(KNOWN, 2)]
    parents = [None, *(int(rng.integers(max(0, i - 2), i)) for i in range(1, len(types)))]
    tree = random_system(types, rng, parents=depth_first(parents), armature=False)
    return close_tree(tree, random_state(tree, rng)[0], kinds, rng, twice=twice)


def peer_constraint(system: lj.System, model, loop: Loop):
    """Frame b against frame a, b first: Pinocchio measures in the axes of its first frame."""

    def end(body: str | None, pose):
        X = pin.SE3(pose.rotation, pose.position)
        if body is None:
            return 0, X
        hinge = next(b.hinge for b in system.bodies if b.name == body)
        joint = model.getJointId(hinge.name)
        return joint, _body_in_joint(model, system, hinge) * X

    kind = pin.ContactType.CONTACT_6D if loop.type == "weld" else pin.ContactType.CONTACT_3D
    joint_a, X_a = end(loop.hinge.parent, loop.hinge.inboard)
    joint_b, X_b = end(loop.body, loop.hinge.outboard)
    return pin.RigidConstraintModel(kind, model, joint_a, X_a, joint_b, X_b, pin.ReferenceFrame.LOCAL)


def _body_in_joint(model, system: lj.System, hinge):
    """Pose of the body's frame in its joint's, as `peer_model` placed it."""
    A = pin.SE3(planar_axes(hinge), np.zeros(3))
    return (pin.SE3(hinge.outboard.rotation, hinge.outboard.position) * A).inverse()


def peer_forward(graph: Closed, tau: np.ndarray) -> np.ndarray:
    """Pinocchio's accelerations in our coordinates."""
    system, q, v = graph.oracle.tree, graph.q, graph.v
    model = peer_model(system)
    data = model.createData()
    constraints = pin.StdVec_RigidConstraintModel()
    for loop in graph.system.loops:
        constraints.append(peer_constraint(system, model, loop))
    found = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        found.append(constraint.createData())
    pin_q, S, S_rate_v = mapped(system, q, v)
    pin.initConstraintDynamics(model, data, constraints, found)
    settings = pin.ProximalSettings(1e-13, 1e-13, 1e-10, 200)
    pin_tau = np.linalg.solve(S.T, tau)
    vdot = pin.constraintDynamics(model, data, pin_q, S @ v, pin_tau, constraints, found, settings)
    return np.linalg.solve(S, vdot - S_rate_v)


Solver = Callable[[Closed, np.ndarray], np.ndarray]
SOLVERS: dict[str, Solver] = {
    "reference": lambda graph, tau: graph.oracle.solve(graph.q, graph.v, tau).vdot,
    "embed": lambda graph, tau: lj.Dynamics(graph.by("embed")).forward(graph.q, graph.v, tau),
    "force": lambda graph, tau: lj.Dynamics(graph.by("force")).forward(graph.q, graph.v, tau),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kinds", [["point"], ["weld"], ["point", "point"], ["point", "weld"]], ids="-".join)
@pytest.mark.parametrize("seed", range(5))
def test_accelerations(solver, kinds, seed):
    graph = closed_tree(seed, kinds)
    assert len(graph.system.loops) == len(kinds)
    tau = graph.rng.normal(size=graph.system.nv)
    close(SOLVERS[solver](graph, tau), peer_forward(graph, tau), name="accelerations", oracle="Pinocchio")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_redundant_loops(solver, seed):
    graph = closed_tree(50 + seed, ["point"], twice=True)
    assert len(graph.system.loops) == 2
    tau = graph.rng.normal(size=graph.system.nv)
    close(SOLVERS[solver](graph, tau), peer_forward(graph, tau), name="accelerations", oracle="Pinocchio")


def test_the_loops_matter():
    graph = closed_tree(1, ["point"])
    tau = graph.rng.normal(size=graph.system.nv)
    free = Oracle(graph.system, closed=()).solve(graph.q, graph.v, tau).vdot
    assert np.abs(free - peer_forward(graph, tau)).max() > 1e-2
