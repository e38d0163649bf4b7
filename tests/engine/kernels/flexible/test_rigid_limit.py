"""Flexible bodies whose modes do not move are rigid: the same trees with rigid bodies, by the rigid kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Body, Hinge, Pose, System
from limberjack.engine.model.validate import validate
from tests.engine.kernels.flexible.particles import random_flexible, random_state
from tests.validation.figures import figure

SEEDS = range(6)


def stiffened(system: System, factor: float) -> System:
    """All modes so many times stiffer, and damped critically."""

    def hinge(given: Hinge) -> Hinge:
        if given.modes is None:
            return given
        springs = [dof.stiffness * factor for dof in given.dofs]
        dofs = tuple(replace(dof, stiffness=k, damping=2.0 * k**0.5) for dof, k in zip(given.dofs, springs))
        return replace(given, dofs=dofs)

    return replace(system, bodies=tuple(replace(body, hinge=hinge(body.hinge)) for body in system.bodies))


def rigid_twin(system: System) -> System:
    """Modal links become rigid bodies welded to the links that carry them, their nodes too."""

    def body(given: Body) -> Body:
        hinge = given.hinge
        if hinge.modes is None and hinge.attachment is None:
            return given
        at = Pose() if hinge.attachment is None else Pose(hinge.attachment.R0, hinge.attachment.p0)
        return replace(given, hinge=Hinge(hinge.name, "fixed", hinge.parent, inboard=at))

    return validate(replace(system, bodies=tuple(body(given) for given in system.bodies)))


class Pair:
    """A random flexible tree without deformation, its rigid twin, and where the twin's coordinates are in it."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.flexible = random_flexible(self.rng, 0.1).system
        self.rigid = rigid_twin(self.flexible)
        self.q_in, self.v_in = (
            [names.index(name) for name in wanted]
            for names, wanted in (
                (self.flexible.coordinate_names, self.rigid.coordinate_names),
                (self.flexible.velocity_names, self.rigid.velocity_names),
            )
        )
        self.q, self.v = random_state(self.rigid, self.rng, 0.0)
        self.modes = np.setdiff1d(np.arange(self.flexible.nv), self.v_in)

    def whole(self, places: list[int], size: int, values: np.ndarray) -> np.ndarray:
        out = np.zeros(size)
        out[places] = values
        return out

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v of the flexible tree."""
        system = self.flexible
        return self.whole(self.q_in, system.nq, self.q), self.whole(self.v_in, system.nv, self.v)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_modes_held_still_forces_masses_and_motions_are_those_of_rigid_bodies(seed):
    pair = Pair(seed)
    flexible, rigid, (q, v) = lj.Dynamics(pair.flexible), lj.Dynamics(pair.rigid), pair.state()
    vdot = pair.rng.normal(size=pair.rigid.nv)
    forces = flexible.inverse(q, v, pair.whole(pair.v_in, pair.flexible.nv, vdot))[pair.v_in]
    expected = rigid.inverse(pair.q, pair.v, vdot)
    figure("forces with modes held still", forces, expected, oracle="rigid bodies", atol=1e-12 * np.abs(expected).max())
    M = flexible.mass_matrix(q)[np.ix_(pair.v_in, pair.v_in)]
    figure(
        "mass matrix with modes held still",
        M,
        rigid.mass_matrix(pair.q),
        oracle="rigid bodies",
        atol=1e-12 * np.abs(M).max(),
    )
    np.testing.assert_allclose(flexible.momentum(q, v), rigid.momentum(pair.q, pair.v), rtol=1e-11, atol=1e-10)
    assert flexible.energy(q, v) == pytest.approx(rigid.energy(pair.q, pair.v), rel=1e-12)
    for node in ("hand", "wheel", "boom.node1"):
        twist = rigid.velocity(node, pair.q, pair.v)
        np.testing.assert_allclose(flexible.velocity(node, q, v), twist, rtol=0, atol=1e-12 * np.abs(twist).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations_tend_to_those_of_rigid_bodies(seed):
    """Modes deformed as their loads ask (K η = -f): hinges then accelerate as rigid ones do, but for O(1/K)."""
    pair = Pair(seed)
    tau, errors = pair.rng.normal(size=pair.rigid.nv), []
    expected = lj.Dynamics(pair.rigid).forward(pair.q, pair.v, tau)
    for factor in (1e4, 1e5):
        system = stiffened(pair.flexible, factor)
        dynamics, (q, v) = lj.Dynamics(system), pair.state()
        springs = np.array([dof.stiffness for body in system.bodies for dof in body.hinge.dofs])[pair.modes]
        loads = dynamics.inverse(q, v, pair.whole(pair.v_in, system.nv, expected))[pair.modes]
        names = [system.coordinate_names.index(system.velocity_names[i]) for i in pair.modes]
        q[names] = -loads / springs
        forces = pair.whole(pair.v_in, system.nv, tau)
        forces[pair.modes] = -springs * q[names]
        errors.append(np.abs(dynamics.forward(q, v, forces)[pair.v_in] - expected).max() / np.abs(expected).max())
    assert errors[1] < 0.12 * errors[0] + 1e-12
    figure("distance from rigid accelerations and motions, stiff modes", errors[1], oracle="rigid bodies", below=1e-3)


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_motions_tend_to_those_of_rigid_bodies(seed):
    """Ten times stiffer modes move a tenth from the rigid path, in implicit steps far longer than their periods."""
    pair = Pair(seed)
    base = lj.Simulation(pair.rigid, dt=1e-3, integrator="implicit")
    base.q, base.v = pair.q, 0.3 * pair.v
    base.step(200)
    errors = []
    for factor in (1e5, 1e6):
        simulation = lj.Simulation(stiffened(pair.flexible, factor), dt=1e-3, integrator="implicit")
        simulation.q, simulation.v = pair.state()[0], 0.3 * pair.state()[1]
        simulation.step(200)
        errors.append(np.abs(simulation.q[pair.q_in] - base.q).max())
    assert errors[1] < 0.15 * errors[0] + 1e-11
    figure("distance from rigid motions, stiff modes", errors[1], oracle="rigid bodies", below=1e-3)
