"""Closed loops with flexible bodies, by force: accelerations of the dense system, closing, momentum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.system.system import Hinge, Loop, Pose, System
from limberjack.engine.system.validate import validate
from tests.flexible.particles import random_flexible, random_state, rotation

SEEDS = range(8)


def looped(seed: int, kind: str) -> tuple[System, np.ndarray, np.ndarray, np.random.Generator]:
    """A random flexible tree; its hand, on two flexible bodies, is tied to its wheel or to the ground as it stands."""
    rng = np.random.default_rng(seed)
    system = random_flexible(rng, 0.05).system
    q, v = random_state(system, rng, 0.03)
    dynamics, to = lj.Dynamics(system), "wheel" if seed % 2 else None
    a = Pose(rotation(rng), 0.3 * rng.normal(size=3))
    place = Pose(*dynamics.pose("hand", q)) @ a
    other = Pose(*dynamics.pose("wheel", q)) if to else Pose()
    b = other.inverse() @ place
    hinge = Hinge("tie", "fixed" if kind == "weld" else "spherical", "hand", inboard=a, outboard=b.inverse())
    loop = Loop("tie", kind, replace(hinge, outboard=b), to)
    return validate(replace(starting_at(system, q), loops=(loop,))), q, v, rng


def starting_at(system: System, q: np.ndarray) -> System:
    """The system with q as its initial coordinates."""
    bodies, start = [], 0
    for body in system.bodies:
        end = start + body.hinge.kind.nq
        bodies.append(replace(body, hinge=replace(body.hinge, q0=q[start:end])))
        start = end
    return replace(system, bodies=tuple(bodies))


def frames(system: System) -> tuple[tuple[str, Pose], tuple[str | None, Pose]]:
    hinge = system.loops[0].hinge
    return (hinge.parent, hinge.inboard), (system.loops[0].body, hinge.outboard)


def rows(system: System, dynamics: lj.Dynamics, q: np.ndarray) -> np.ndarray:
    """J (3 or 6, nv): velocity of frame b against frame a where they coincide, inertial axes, [angular; linear]."""
    total = np.zeros((6, system.nv))
    for sign, (body, pose) in zip((-1.0, 1.0), frames(system)):
        if body is not None:
            J = dynamics.jacobian(body, q)
            lever = dynamics.pose(body, q)[0] @ pose.position
            total[:3] += sign * J[:3]
            total[3:] += sign * (J[3:] - np.cross(lever, J[:3].T).T)
    return total if system.loops[0].type == "weld" else total[3:]


def onto(J: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The nearest velocities that keep the loop closed."""
    return v - np.linalg.pinv(J) @ (J @ v)


@pytest.mark.parametrize("kind", ["point", "weld"])
@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations_are_those_of_the_dense_system(seed, kind):
    system, q, v, rng = looped(seed, kind)
    dynamics, free = lj.Dynamics(system), lj.Dynamics(replace(system, loops=()))
    J, tau = rows(system, free, q), rng.normal(size=system.nv)
    v = onto(J, v)
    M, bias, drift = free.mass_matrix(q), free.bias(q, v), rate(system, free, q, v)
    W = np.linalg.inv(M)
    f = np.linalg.solve(J @ W @ J.T, -J @ W @ (tau - bias) - drift)
    expected = W @ (tau - bias + J.T @ f)
    np.testing.assert_allclose(dynamics.forward(q, v, tau), expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def rate(system: System, dynamics: lj.Dynamics, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(dJ/dt) v: what accelerations of the frames leave for dv/dt = 0."""
    still, total = np.zeros(system.nv), np.zeros(6)
    for sign, (body, pose) in zip((-1.0, 1.0), frames(system)):
        if body is not None:
            w, a = (x[:3] for x in (dynamics.velocity(body, q, v), dynamics.acceleration(body, q, v, still)))
            lever = dynamics.pose(body, q)[0] @ pose.position
            moved = dynamics.acceleration(body, q, v, still)[3:] + np.cross(a, lever) + np.cross(w, np.cross(w, lever))
            total += sign * np.concatenate([a, moved])
    return total if system.loops[0].type == "weld" else total[3:]


@pytest.mark.parametrize("kind", ["point", "weld"])
@pytest.mark.parametrize("seed", SEEDS)
def test_steps_keep_loops_closed_and_momentum(seed, kind):
    system, q, v, _ = looped(seed, kind)
    system = replace(system, gravity=np.zeros(3))
    free = lj.Dynamics(replace(system, loops=()))
    simulation = lj.Simulation(system, dt=1e-3)
    simulation.q, simulation.v = q, onto(rows(system, free, q), 0.2 * v)
    before = free.momentum(q, simulation.v)
    simulation.step(300)
    (a, at_a), (b, at_b) = frames(system)
    A, B = (Pose(*free.pose(body, simulation.q)) @ at if body else at for body, at in ((a, at_a), (b, at_b)))
    np.testing.assert_allclose(A.position, B.position, rtol=0, atol=1e-9)
    if b is not None:  # nothing holds it to the ground
        after = free.momentum(simulation.q, simulation.v)
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-5 * np.abs(before).max())


def test_such_loops_act_by_force():
    system, *_ = looped(0, "point")
    with pytest.raises(lj.ModelError, match="loop 'tie' cannot be embedded because a flexible body is in it"):
        lj.Dynamics(replace(system, loops=(replace(system.loops[0], method="embed"),)))
