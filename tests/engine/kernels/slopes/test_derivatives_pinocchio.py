"""Analytic derivatives against Pinocchio's computeABADerivatives and computeRNEADerivatives: robots, random trees.

Pinocchio's derivatives in q are along the tangent of its manifold, δR = R δθ~ and δp = R δx in body axes for a free or
spherical joint, as ours are; only the order of the columns differs.
"""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.api.peer_orders import to_pinocchio
from tests.engine.kernels.sweeps.test_pinocchio import SEEDS, Peer, depth_first, mapped, peer_model
from tests.engine.random_systems import random_state, random_system
from tests.engine.robots import FILES
from tests.validation.figures import figure

pin = pytest.importorskip("pinocchio")

#: of the largest number; M⁻¹ also carries the condition of M, of the order of 1e6 for a hand on an arm
TOLERANCE, FORWARD_TOLERANCE = 1e-12, 1e-10
#: joints with velocities like ours up to their order (planar: theirs are along turned axes) and right derivatives: in
#: Pinocchio 4.1 those of a universal joint leave out how its map changes, and differ from differences of its own rnea
SHARED = ("revolute", "prismatic", "helical", "spherical", "free")


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    figure(
        "slopes of forces and accelerations",
        actual,
        expected,
        oracle="Pinocchio",
        atol=tolerance * np.abs(expected).max(),
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", FILES)
def test_robots(name, seed):
    peer = Peer(name, seed)
    ours, model, data = lj.Dynamics(peer.system), peer.model, peer.data
    q, v = to_pinocchio(peer.system, model, peer.q, peer.v)
    tau, vdot = peer.rng.normal(size=(2, peer.system.nv)) * 10.0
    columns = np.ix_(peer.order.v, peer.order.v)
    pin.computeRNEADerivatives(model, data, q, v, peer.to_v(vdot))
    for actual, expected in zip(ours.inverse_derivatives(peer.q, peer.v, vdot), (data.dtau_dq, data.dtau_dv)):
        close(actual, expected[columns], TOLERANCE)
    pin.computeABADerivatives(model, data, q, v, peer.to_v(tau))
    expected = data.ddq_dq, data.ddq_dv, data.Minv
    for actual, theirs in zip(ours.forward_derivatives(peer.q, peer.v, tau), expected):
        close(actual, theirs[columns], FORWARD_TOLERANCE)


@pytest.mark.parametrize("seed", range(12))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    types = [*rng.permutation(SHARED), *rng.choice(SHARED, 4)]
    parents = [None, *(int(rng.integers(max(0, i - 2), i)) for i in range(1, len(types)))]
    system = random_system(types, rng, parents=depth_first(parents), armature=False)
    (q, v), model = random_state(system, rng), peer_model(system)
    data, ours = model.createData(), lj.Dynamics(system)
    peer_q, S, _ = mapped(system, q, v)
    tau, vdot = rng.normal(size=(2, system.nv))
    pin.computeRNEADerivatives(model, data, peer_q, S @ v, S @ vdot)
    for actual, theirs in zip(ours.inverse_derivatives(q, v, vdot), (data.dtau_dq, data.dtau_dv)):
        close(actual, S.T @ theirs @ S, TOLERANCE)
    pin.computeABADerivatives(model, data, peer_q, S @ v, S @ tau)
    tolerance = TOLERANCE * np.linalg.cond(ours.mass_matrix(q))
    for actual, theirs in zip(ours.forward_derivatives(q, v, tau), (data.ddq_dq, data.ddq_dv, data.Minv)):
        close(actual, S.T @ theirs @ S, tolerance)
