"""Loops by force in operators: steps A to F and (0.37) of 000 against a dense KKT system and the reference."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Body, Hinge, Inertia, Loop, Pose
from limberjack.engine.model.validate import validate
from limberjack.engine.operators import DiagonalDynamics, LoopForces, Operators
from tests.engine.kernels.loops.mechanisms.bars import four_bar, parallelogram
from tests.engine.kernels.loops.oracle import split
from tests.engine.kernels.loops.random_graphs import joining_loop, set_state
from tests.engine.operators.closed import COUNT, Drawn, embedded, forced, mixed
from tests.engine.operators.parts import same
from tests.engine.random_systems import random_state, random_system


@pytest.fixture(
    params=[(pool, seed) for pool in (forced, mixed) for seed in range(COUNT)], ids=lambda p: f"{p[0].__name__}-{p[1]}"
)
def drawn(request: pytest.FixtureRequest) -> Drawn:
    pool, seed = request.param
    return pool(seed)


def rows(f: LoopForces) -> np.ndarray:
    """A J + C as the operators give it."""
    o = f.ops
    return (f.A * f.B.T * o.phi.T * o.H.T + f.C).to_array()


def kkt(drawn: Drawn, f: LoopForces) -> np.ndarray:
    """θ̈ of (0.22) as one dense system, least squares where rows are redundant."""
    o, C = f.ops, rows(f)
    mass = (o.H * o.phi * o.M * o.phi.T * o.H.T + o.J).to_array()
    n, m = mass.shape[0], len(C)
    whole = np.block([[mass, C.T], [C, np.zeros((m, m))]])
    right = np.concatenate([f.bias_free(o.X.T * drawn.tau).to_array(), f.U.to_array()])
    return np.linalg.lstsq(whole, right, rcond=1e-13)[0][:n]


def close(actual, expected, tolerance: float = 1e-10, size: float = 1.0) -> None:
    size = max(size, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=0, atol=tolerance * size)


def largest_term(f: LoopForces, tau) -> float:
    """What cancels in the accelerations: those of the open loops and their corrections."""
    return float(np.abs(f.free_accelerations(tau).to_array()).max())


def test_rows_span_the_oracles(drawn: Drawn):
    """X takes the null space of the operators' rows to the one of the oracle's."""
    X, (_, N) = drawn.ops.X.to_array(), split(rows(LoopForces(drawn.ops)))
    expected = drawn.graph.oracle.null_space(drawn.graph.q)
    assert N.shape[1] == expected.shape[1]
    same(expected @ (expected.T @ X @ N), X @ N)


def test_accelerations_are_the_oracles(drawn: Drawn):
    """Steps A to F."""
    o, f = drawn.ops, LoopForces(drawn.ops)
    T = o.X.T * drawn.tau
    full = o.X * f.accelerations(T) + o.X_dot * o.beta
    expected = drawn.graph.oracle.solve(drawn.graph.q, drawn.graph.v, drawn.tau).vdot
    close(full, expected, 1e-9, largest_term(f, T))


def test_accelerations_solve_the_dense_system(drawn: Drawn):
    f = LoopForces(drawn.ops)
    T = drawn.ops.X.T * drawn.tau
    close(f.accelerations(T), kkt(drawn, f), 1e-9, largest_term(f, T))


def test_admittance(drawn: Drawn):
    """(0.34): Λ = (HψB)* D⁻¹ (HψB) = B* Ω B = J 𝓜⁻¹ J*, and A Λ A* with the rows over velocities."""
    o, f = drawn.ops, LoopForces(drawn.ops)
    HpsiB = o.H * o.psi * f.B
    mass = (o.H * o.phi * o.M * o.phi.T * o.H.T + o.J).to_array()
    J = (f.B.T * o.phi.T * o.H.T).to_array()
    if J.size:
        for Lambda in (f.Lambda, HpsiB.T * o.D_inverse * HpsiB):
            same(Lambda, J @ np.linalg.solve(mass, J.T))
    C = rows(f)
    same(f.admittance, C @ np.linalg.solve(mass, C.T))
    if not f.C.blocks:
        same(f.admittance, f.A * f.Lambda * f.A.T)


def test_projected_innovations(drawn: Drawn):
    """(0.37), and what U ≠ 0 adds to it: + [I - HψK]* D^-½* b (AΛA*)⁺ U."""
    o, f = drawn.ops, LoopForces(drawn.ops)
    factor, root = o.I - o.H * o.psi * o.K, DiagonalDynamics(o).root.inverse()
    T = o.X.T * drawn.tau
    projected = factor.T * root.T * (f.projection * (root * (factor * f.bias_free(T))))
    prescribed = factor.T * root.T * f.b * f.admittance_inverse * f.U
    close(projected + prescribed, f.accelerations(T), 1e-9, largest_term(f, T))
    P = f.projection.to_array()
    close(P @ P, P)
    close(P, P.T)
    close(f.b.T.to_array() @ P, np.zeros(f.b.T.to_array().shape), 1e-9, float(np.abs(f.b.to_array()).max()))


@pytest.mark.parametrize("seed", range(COUNT))
def test_forces_are_the_oracles(seed):
    """Of least norm where the first loop is there twice; rows of helical and rolling loops are not of unit length."""
    drawn = forced(seed)
    f = LoopForces(drawn.ops)
    forces = f.forces(drawn.tau)
    expected = drawn.graph.oracle.solve(drawn.graph.q, drawn.graph.v, drawn.tau).loop
    size = max(1.0, *(float(np.abs(x).max(initial=0.0)) for x in expected.values()))
    for loop in drawn.graph.system.loops:
        actual = f.wrench(loop.name, forces) if loop.joins else -forces[loop.name]
        close(actual, expected[loop.name], 1e-8, size)


@pytest.mark.parametrize("seed", range(1, COUNT, 2))
def test_forces_have_the_least_norm(seed):
    drawn = forced(seed)
    f = LoopForces(drawn.ops)
    forces = f.forces(drawn.tau).to_array()
    C = rows(f)
    U, s, _ = np.linalg.svd(C)
    idle = U[:, int(np.sum(s > 1e-9 * s[0])) :]
    assert idle.shape[1]
    assert np.abs(idle.T @ forces).max() <= 1e-8 * max(1.0, np.abs(forces).max())


@pytest.mark.parametrize("seed", range(COUNT))
def test_embedding_and_forces_give_the_same_motion(seed):
    drawn = embedded(seed)
    o, f = drawn.ops, LoopForces(drawn.tree)
    H, phi, M = o.H, o.phi, o.M
    mass = (H * phi * M * phi.T * H.T + o.J).to_array()
    right = o.X.T * drawn.tau - o.c - H * phi * (o.b + M * phi.T * (o.a + o.g))
    by_embedding = o.X * np.linalg.solve(mass, right) + o.X_dot * o.beta
    close(f.accelerations(drawn.tau), by_embedding, 1e-9, largest_term(f, drawn.tau))


def test_prescribed_motion():
    """dÛ/dt joins U: the rows' accelerations are what was asked for."""
    drawn = forced(4)
    f, rng = LoopForces(drawn.ops), np.random.default_rng(3)
    asked = rng.normal(size=f.closure.row_space.size)
    acceleration = f.accelerations(drawn.tau, asked).to_array()
    close(rows(f) @ acceleration, f.U.to_array() + asked, 1e-9, largest_term(f, drawn.tau))


def arm_and_satellite() -> tuple[lj.System, np.ndarray, np.ndarray]:
    """A random arm, a free body, and a weld between them that is closed where they are."""
    rng = np.random.default_rng(11)
    arm = random_system(
        ["universal", "revolute", "spherical", "revolute", "prismatic"], rng, parents=[None, 0, 1, 2, 3]
    )
    mass = Inertia(3.0, np.array([0.1, -0.2, 0.05]), np.diag([0.4, 0.5, 0.6]))
    free = Hinge("float", "free", None, Pose(), Pose(), q0=np.array([1.0, 0, 0, 0, 0, 0, 0]))
    whole = validate(dataclasses.replace(arm, bodies=(*arm.bodies, Body("satellite", mass, free))))
    q, v = random_state(whole, rng)
    grasp = dataclasses.replace(joining_loop("grasp", "weld", whole, q, ("b4", "satellite"), rng), method="force")
    return validate(set_state(dataclasses.replace(whole, loops=(grasp,)), q, 0.0 * v)), q, v


def test_primary_and_secondary_system():
    """Steps A to C of the arm and of what it holds apart, step D together (0.35), against the whole."""
    system, q, v = arm_and_satellite()
    whole = LoopForces(Operators(system, q, v, embed=()))
    tau = np.linspace(-2.0, 3.0, system.nv)
    n = system.nv - 6
    primary = Operators(system, q, v, bodies=list(system.body_names[:-1]))
    secondary = Operators(system, q, v, bodies=["satellite"])
    admittance, free, A = 0.0, 0.0, whole.A.to_array()
    for part, side, T in ((primary, 0, tau[:n]), (secondary, 1, tau[n:])):
        B = part.B(part.body_names[-1])
        frame = whole.B.block(len(system.bodies) - 2 + side, side)  # the frame on its body
        at_body = part.B(part.body_names[-1]).block(len(part.block_names) - 1, 0)
        A_part = A[:, 6 * side : 6 * side + 6] @ (np.linalg.solve(at_body, frame)).T
        Lambda = (B.T * part.Omega * B).to_array()
        bias = part.H * part.phi * (part.M * part.phi.T * (part.a + part.g) + part.b)
        factor = part.I - part.H * part.psi * part.K
        alpha = B.T * part.psi.T * part.H.T * part.D_inverse * factor * (-bias + T)
        admittance = admittance + A_part @ Lambda @ A_part.T
        free = free + A_part @ alpha.to_array()
    f = np.linalg.solve(admittance, free - whole.U.to_array())
    close(f, whole.forces(tau).to_array(), 1e-9)


def test_elimination_of_the_primary_system():
    """000 solves for β̇_S with [𝓜_S + J_S* A_S* (A_P Λ_P A_P*)⁻¹ A_S J_S]; a matrix on the way has J_S without star."""
    system, q, v = arm_and_satellite()
    f = LoopForces(Operators(system, q, v))
    tau, n = np.linspace(-2.0, 3.0, system.nv), system.nv - 6
    o, C, U = f.ops, rows(f), f.U.to_array()
    mass, T = (o.H * o.phi * o.M * o.phi.T * o.H.T + o.J).to_array(), f.bias_free(tau).to_array()
    AJ_P, AJ_S, alpha = C[:, :n], C[:, n:], C[:, :n] @ np.linalg.solve(mass[:n, :n], T[:n])
    inverse = np.linalg.inv(AJ_P @ np.linalg.solve(mass[:n, :n], AJ_P.T))
    left = mass[n:, n:] + AJ_S.T @ inverse @ AJ_S
    secondary = np.linalg.solve(left, T[n:] - AJ_S.T @ inverse @ (alpha - U))
    close(secondary, f.accelerations(tau).to_array()[n:], 1e-9)
    close(inverse @ (alpha + AJ_S @ secondary - U), f.forces(tau).to_array(), 1e-9)


def test_singular_position_of_a_loop_by_force():
    """Flat parallelogram: rows fall in rank, forces stay finite and solve the equations."""
    system = parallelogram("force")
    q, v = np.zeros(3), np.array([1.0, -1.0, 1.0])
    f = LoopForces(Operators(system, q, v))
    assert np.linalg.matrix_rank(f.admittance.to_array(), tol=1e-9) == 1
    forces = f.forces(np.zeros(3)).to_array()
    assert np.abs(forces).max() < 100.0


def test_messages():
    system = four_bar("force")
    o = Operators(system, system.q0, system.v0)
    f = LoopForces(o)
    with pytest.raises(lj.UnknownNameError, match="no loop is called 'pim'; did you mean 'pin'"):
        f.wrench("pim", f.forces(np.zeros(3)))
    with pytest.raises(lj.ArgumentError, match="no loop of these bodies acts by force"):
        LoopForces(Operators(system, system.q0, embed=["pin"]))
    with pytest.raises(lj.ArgumentError, match=r"q leaves loop 'pin' open by .* m: give coordinates"):
        LoopForces(Operators(system, system.q0 + 0.1))
    with pytest.raises(lj.ArgumentError, match="tau has shape"):
        f.forces(np.zeros(2))
    with pytest.raises(lj.ArgumentError, match="without velocities"):
        LoopForces(Operators(system, system.q0)).forces(np.zeros(3))


def test_wrench_of_a_coupling_is_refused():
    drawn = next(d for d in map(forced, range(COUNT)) if any(k.type == "coupling" for k in d.graph.system.loops))
    f, name = LoopForces(drawn.ops), next(k.name for k in drawn.graph.system.loops if k.type == "coupling")
    with pytest.raises(lj.ArgumentError, match="joins no frames"):
        f.wrench(name, f.forces(drawn.tau))


def test_switched_loops():
    """Open unless said otherwise; closed they hold what is there."""
    system, q, v = arm_and_satellite()
    loop: Loop = dataclasses.replace(system.loops[0], switchable=True, closed=False, method=None)
    system = dataclasses.replace(system, loops=(loop,))
    with pytest.raises(lj.ArgumentError, match="no loop of these bodies acts by force"):
        LoopForces(Operators(system, q, v))
    away = q.copy()
    away[-3:] += 0.2
    f = LoopForces(Operators(system, away, v, closed=["grasp"]))
    pose = f.closure.poses["grasp"]
    np.testing.assert_allclose(pose.position, 0.0, atol=1e-14)
    np.testing.assert_allclose(pose.rotation, np.eye(3), atol=1e-14)
    with pytest.raises(lj.UnknownNameError, match="no switchable loop is called 'grip'"):
        Operators(system, q, v, closed=["grip"])
