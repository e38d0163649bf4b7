"""Bushings: closed forms, energy of large turns, momentum, slopes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from tests.engine.kernels.forces.test_springs import drift, loaded
from tests.validation.figures import figure

HELD = """
limberjack: 1
name: held
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 2.0, inertia: {xx: 0.2, yy: 0.3, zz: 0.4}, hinge: {type: free, parent: world}}
nodes:
  - {name: mount, body: world}
"""
FREE = """
limberjack: 1
name: pair
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 3.0, com: [0.1, 0, 0], inertia: {xx: 0.2, yy: 0.3, zz: 0.4}, hinge: {type: free, parent: world,
     initial: {velocity: {wx: 1.3, vy: 0.1}}}}
  - {name: b, mass: 1.0, inertia: {xx: 0.1, yy: 0.2, zz: 0.15}, hinge: {type: free, parent: world,
     initial: {position: [0.3, 0.2, 0], rpy: [0.9, -0.5, 1.2], velocity: {wz: -0.5, vx: 0.2}}}}
nodes:
  - {name: on_a, body: a, position: [0.3, 0.1, -0.2]}
  - {name: on_b, body: b, position: [-0.1, 0.2, 0.1], rpy: [0.3, 0, 0]}
"""
_FACTOR = np.random.default_rng(3).normal(size=(6, 6))
FULL = _FACTOR @ _FACTOR.T + 5.0 * np.eye(6)


def bushing(ends: str, stiffness: object, damping: object = "[0, 0, 0, 0, 0, 0]") -> str:
    return f"bushings: [{{name: m, {ends}, stiffness: {stiffness}, damping: {damping}}}]"


def test_small_motions_are_those_of_the_matrices(tmp_path):
    C = 0.1 * FULL
    system = loaded(tmp_path, HELD + bushing("from: mount, to: a", FULL.tolist(), C.tolist()))
    model = lj.linearize(system)
    M = np.diag([0.2, 0.3, 0.4, 2.0, 2.0, 2.0])
    figure(
        "slopes of the accelerations by position",
        model.A[6:, :6],
        -np.linalg.solve(M, FULL),
        oracle="-M⁻¹ K",
        atol=1e-8,
        rtol=1e-8,
    )
    figure(
        "slopes of the accelerations by velocity",
        model.A[6:, 6:],
        -np.linalg.solve(M, C),
        oracle="-M⁻¹ C",
        atol=1e-8,
        rtol=1e-8,
    )


def test_the_moment_of_a_plain_turn_is_its_stiffness(tmp_path):
    system = loaded(tmp_path, HELD + bushing("from: mount, to: a", "[7, 7, 7, 1, 1, 1]"))
    simulation = lj.Simulation(system)
    turn = np.array([0.8, -1.1, 0.6])
    x, y, z, w = Rotation.from_rotvec(turn).as_quat()
    simulation.q = [w, x, y, z, 0.0, 0.0, 0.0]
    figure(
        "moment of a turn", simulation.vdot[:3] * [0.2, 0.3, 0.4], -7.0 * turn, unit="N·m", oracle="-k θ", rtol=1e-12
    )


def test_energy_and_momentum_are_kept_through_large_turns(tmp_path):
    simulation = lj.Simulation(loaded(tmp_path, FREE + bushing("from: on_a, to: on_b", FULL.tolist())), dt=1e-3)

    def whole() -> float:
        def pose(name: str) -> tuple[Rotation, np.ndarray]:
            w, *xyz = simulation.output[f"{name}.orientation"]
            return Rotation.from_quat([*xyz, w]), simulation.output[f"{name}.position"]

        (A, a), (B, b) = pose("on_a"), pose("on_b")
        e = np.concatenate([(A.inv() * B).as_rotvec(), A.inv().apply(b - a)])
        return float(simulation.output["energy.total"] + 0.5 * e @ FULL @ e)

    before = whole()
    simulation.step(1500)
    figure("energy with the bushing's own", whole(), before, unit="J", oracle="conservation", rtol=1e-9)
    drifts = [drift(simulation.system, n) for n in (250, 500)]
    figure("drift of momentum in 1 s", drifts[0], oracle="conservation, to the integrator's order", below=1e-3)
    figure(
        "drift at half the step", drifts[1], oracle="a twelfth of that at the whole step", below=drifts[0] / 12.0
    )  # of the integrator, of fourth order


def test_six_numbers_are_the_diagonal_and_wrong_matrices_are_refused(tmp_path):
    six = loaded(tmp_path, FREE + bushing("from: on_a, to: on_b", "[1, 2, 3, 4, 5, 6]"))
    assert np.array_equal(six.bushings[0].stiffness, np.diag([1.0, 2, 3, 4, 5, 6]))
    crooked = FULL.copy()
    crooked[0, 3] += 1.0
    for stiffness, said in (
        (crooked.tolist(), "not symmetric and positive semidefinite"),
        ((-FULL).tolist(), "not symmetric and positive semidefinite"),
        ("[1, 2, 3]", "3 entries"),
    ):
        with pytest.raises(lj.ModelError, match=said) as refused:
            loaded(tmp_path, FREE + bushing("from: on_a, to: on_b", stiffness))
        assert "model.yaml:" in str(refused.value)
