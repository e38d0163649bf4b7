"""Articulated bodies against composite bodies and inverse dynamics: large random trees of many modes and nodes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve

import limberjack as lj
from limberjack.engine.model.flexible import modal_bodies
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from tests.engine.kernels.flexible.linkages import beam
from tests.engine.kernels.flexible.particles import cloud, hinge, random_state, rigid

KINDS = ("revolute", "prismatic", "universal", "spherical", "free")


def random_tree(rng: np.random.Generator, modes: list[int]) -> System:
    """A floating flexible base; on its nodes and theirs flexible and rigid bodies in turn, anywhere."""
    bodies, places = [], [None]
    for k, n in enumerate(modes):
        kind, parent = ("free", None) if k == 0 else (str(rng.choice(KINDS)), str(rng.choice(places)))
        nodes = int(rng.integers(1, 5))
        made = cloud(rng, n, nodes, 0.05).integrals()
        bodies += modal_bodies(f"soft{k}", hinge(rng, f"hinge{k}", kind, parent), made)
        places = [place for place in places if place] + [f"soft{k}.node{j}" for j in range(nodes)]
        held = hinge(rng, f"grip{k}", str(rng.choice(KINDS[:4])), str(rng.choice(places)))
        bodies.append(Body(f"rigid{k}", rigid(rng), held))
        places.append(f"rigid{k}")
    return validate(System("tree", tuple(bodies)))


@pytest.mark.parametrize(
    "modes", [[64, 64], [1, 7, 8, 9, 15, 16, 17], [33, 2, 64, 1, 5], [3] * 12, [24, 40, 48, 56]], ids=str
)
def test_accelerations_of_both_routes_agree_to_1e_9(modes):
    rng = np.random.default_rng(sum(modes))
    system = random_tree(rng, modes)
    dynamics = lj.Dynamics(system)
    for _ in range(3):
        q, v = random_state(system, rng, 0.01)
        tau = 10.0 * rng.normal(size=system.nv)
        articulated = dynamics.forward(q, v, tau)
        M, bias = dynamics.mass_matrix(q), dynamics.bias(q, v)
        composite = solve(M, tau - bias, assume_a="pos")
        size = np.abs(composite).max()
        np.testing.assert_allclose(articulated, composite, rtol=0, atol=1e-9 * size)
        np.testing.assert_allclose(dynamics.inverse(q, v, articulated), tau, rtol=0, atol=1e-9 * size)


def test_a_ring_without_mass_on_a_node_counts():
    """An inertia that no real body has is kept where the user asks for it; the modes feel it too."""
    rng = np.random.default_rng(0)
    soft = modal_bodies("soft", hinge(rng, "root", "free", None), cloud(rng, 4, 2, 0.05).integrals())
    ring = Body("ring", Inertia(0.0, np.zeros(3), np.diag([3.0, 4.0, 5.0])), Hinge("glue", "fixed", "soft.node1"))
    with pytest.warns(lj.ModelWarning, match="without mass"):
        system = validate(System("ring", (*soft, ring)), inertia="warn")
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng, 0.01)
    vdot, J = rng.normal(size=system.nv), dynamics.jacobian("ring", q)[:3]
    M, R = lj.Dynamics(System("bare", tuple(soft))).mass_matrix(q), dynamics.pose("ring", q)[0]
    M += J.T @ R @ np.diag([3.0, 4.0, 5.0]) @ R.T @ J
    np.testing.assert_allclose(dynamics.mass_matrix(q), M, rtol=0, atol=1e-12 * np.abs(M).max())
    found = dynamics.forward(q, v, M @ vdot + dynamics.bias(q, v))
    np.testing.assert_allclose(found, vdot, rtol=0, atol=1e-10 * np.abs(vdot).max())


def test_a_bent_body_whose_own_inertia_is_indefinite_is_carried():
    """Eight cantilever modes leave near nothing of a beam where it is held; with what carries it M is definite."""
    made = beam(0.6, 8, "cantilever")
    hub = Body("hub", Inertia(2.0, np.zeros(3), 0.02 * np.eye(3)), Hinge("root", "free", None))
    held = (Hinge("drive", "revolute", "hub", axes=np.eye(3)[:1]), Hinge("weld", "fixed", "upper.tip"))
    beams = [*modal_bodies("upper", held[0], made), *modal_bodies("fore", held[1], made)]
    system = validate(System("bent", (hub, *beams), gravity=np.zeros(3)))
    dynamics, tau, indefinite = lj.Dynamics(system), np.random.default_rng(1).normal(size=system.nv), []
    alone = lj.Dynamics(validate(System("alone", tuple(modal_bodies("fore", Hinge("fore", "free", None), made)))))
    for size in (0.001, 0.004, 0.01, 0.016):
        q, bent = system.q0, alone.system.q0
        q[system.coordinate_names.index("fore.modes.1")] = bent[7] = size
        M = dynamics.mass_matrix(q)
        assert np.linalg.eigvalsh(M)[0] > 0.0
        indefinite.append(np.linalg.eigvalsh(alone.mass_matrix(bent))[0] < 0.0)
        expected = solve(M, tau - dynamics.bias(q, np.zeros(system.nv)), assume_a="pos")
        found = dynamics.forward(q, np.zeros(system.nv), tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        if indefinite[-1]:  # free, it has left its range
            with pytest.raises(lj.ArgumentError, match="the flexible body 'fore' .* has left the range"):
                alone.forward(bent, np.zeros(len(bent) - 1), np.zeros(len(bent) - 1))
    assert any(indefinite)
