"""Examples of 001 §5, its (51), and what the papers print otherwise than the numbers have it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Dof, Inertia, Loop, Term
from limberjack.engine.operators import LoopForces, Operators
from limberjack.engine.operators.aggregation import aggregated_bodies
from tests.engine.kernels.loops.mechanisms.bars import four_bar
from tests.engine.kernels.loops.mechanisms.parts import GRAVITY, assembled, pin, rod, turning
from tests.engine.operators.closed import COUNT, Drawn, embedded, forced
from tests.engine.operators.parts import same

RATIO = 50.0


@pytest.fixture(params=range(COUNT))
def drawn(request: pytest.FixtureRequest) -> Drawn:
    return embedded(request.param)


def geared_link(ratio: float = RATIO, armature: float = 0.0) -> lj.System:
    """A motor and the link that it drives, both on the last of two links (001 figure 6)."""
    rotor = Inertia(0.4, np.zeros(3), 2e-4 * np.eye(3))
    bodies = [
        turning("base", None, (0, 0), rod(3.0, (0.6, 0)), 0.3, 0.5),
        turning("motor", "base", (0.5, 0), rotor, 0.2 * ratio, 0.7 * ratio, dofs=(Dof(armature=armature),)),
        turning("link", "base", (0.6, 0), rod(1.5, (0.4, 0)), 0.2, 0.7),
    ]
    gear = Loop("gear", "coupling", terms=(Term("motor", (1.0,)), Term("link", (-ratio,))))
    return assembled("geared", bodies, [dataclasses.replace(gear, independent=("link",))], "embed")


def test_geared_link():
    """(37): X = [μ; 1], constant; the sub-graph are motor and link, φ_S is the identity."""
    system = geared_link()
    o = Operators(system, system.q0, system.v0)
    assert o.block_names == ("base", "motor+link")
    assert o.velocity_names == ("base", "link")
    np.testing.assert_array_equal(o.embeddings[0].X[:, 0], [RATIO, 1.0])
    assert not o.X_dot.to_array().any()
    tree = Operators(system, system.q0, embed=())
    H_S = np.zeros((2, 12))
    H_S[0, :6], H_S[1, 6:] = tree.H["motor"], tree.H["link"]
    np.testing.assert_allclose(o.H["motor+link"], [[RATIO, 1.0]] @ H_S, atol=1e-15)
    reflected = 1.5 * 0.4**2 / 3 + RATIO**2 * 2e-4
    assert o.D["motor+link"].item() == pytest.approx(reflected, rel=1e-12)


def test_rotors_are_reflected():
    """With J the armature in the loop D has X* J X more; the papers have no J."""
    plain, heavy = geared_link(), geared_link(armature=3e-4)
    D = [Operators(s, s.q0).D["motor+link"].item() for s in (plain, heavy)]
    assert D[1] - D[0] == pytest.approx(RATIO**2 * 3e-4, rel=1e-10)


def four_bar_cut_at(cut: str) -> lj.System:
    """The four-bar of `four_bar()`, its tree cut at the ground (terminal) or between coupler and rocker (internal)."""
    system = four_bar("embed", theta=0.8, rate=1.5)
    if cut == "internal":
        return system
    b, c, g = 0.5, 0.4, 0.45
    angle, rate = system.q0, system.v0
    turned = rod(2.0 * c, (-c, 0))
    bodies = [
        *system.bodies[:2],
        turning("rocker", "coupler", (b, 0), turned, angle[2] - angle[0] - angle[1], rate[2] - rate[0] - rate[1]),
    ]
    return assembled("terminal", bodies, [pin("pin", "rocker", (-c, 0), None, (g, 0))], "embed")


def test_terminal_and_internal_cut_agree():
    """(38), (39): other φ_S, E_S and X, the same motion."""
    made = []
    for cut in ("terminal", "internal"):
        system = four_bar_cut_at(cut)
        loop = dataclasses.replace(system.loops[0], independent=("crank",))
        o = Operators(dataclasses.replace(system, loops=(loop,)), system.q0, system.v0)
        assert o.velocity_names == ("crank",)
        mass = o.H * o.phi * o.M * o.phi.T * o.H.T
        force = o.H * o.phi * (o.M * o.phi.T * (o.a + o.g) + o.b)
        made.append((o, mass.to_array(), force.to_array(), o.V["coupler"], o.V["rocker"]))
    (terminal, *first), (internal, *second) = made
    assert terminal.model.phi_S["crank", terminal.block_names[0]][:, 12:].any()  # one chain
    assert not internal.model.phi_S["crank", internal.block_names[0]][:, 12:].any()  # two trees
    for x, y in zip(first[:3], second[:3], strict=True):
        same(x, y)
    np.testing.assert_allclose(first[3][:3], second[3][:3], atol=1e-12)


def test_mass_matrix_of_a_node(drawn: Drawn):
    """(51): D_S = X* [H_S φ_S P_S φ_S* H_S* + J_S] X, the mass matrix of the node with articulated inertias in it."""
    o = drawn.ops
    same(o.D, o.X.T * (o.H_a * o.P * o.H_a.T + drawn.tree.J) * o.X)


# What is printed otherwise


def test_couplings_along_a_chain_need_both_bodies():
    """001 §4.2 takes the root of the smallest tree of the cut edge's nodes away; where one of two bodies whose hinges
    are coupled carries the other, it is that root, and its hinge would be left out of the constraint."""
    bodies = [
        turning("inner", None, (0, 0), rod(1.0, (0.5, 0)), 0.2, 1.0),
        turning("outer", "inner", (0.5, 0), rod(1.0, (0.5, 0)), 0.4, 2.0),
    ]
    belt = Loop("belt", "coupling", terms=(Term("inner", (-2.0,)), Term("outer", (1.0,))))
    system = assembled("chain", bodies, [belt], "embed")
    o = Operators(system, system.q0, system.v0)
    assert aggregated_bodies(o.graph, system.loops[0]) == {0, 1}
    (node,) = o.embeddings
    assert np.abs(node.Y[:, 0]).max() == 2.0
    tree = Operators(system, system.q0, embed=())
    X = o.X.to_array()
    dense = X.T @ (tree.H * tree.phi * tree.M * tree.phi.T * tree.H.T).to_array() @ X
    same(o.H * o.phi * o.M * o.phi.T * o.H.T, dense)


@pytest.mark.parametrize("seed", range(COUNT))
def test_free_accelerations_of_the_bodies(seed):
    """Appendix A of 000 says αf = ψ* D⁻¹ [I - HψK] T; it is ψ* H* D⁻¹ [I - HψK] T, as its step B has it."""
    drawn = forced(seed)
    o, f = drawn.ops, LoopForces(drawn.ops)
    T = f.bias_free(drawn.tau)
    alpha = o.psi.T * o.H.T * o.D_inverse * (o.I - o.H * o.psi * o.K) * T
    expected = o.phi.T * o.H.T * f.free_accelerations(drawn.tau)
    np.testing.assert_allclose(alpha, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    with pytest.raises(lj.ArgumentError, match="cannot multiply"):
        o.psi.T * o.D_inverse * (o.I - o.H * o.psi * o.K)


def sweep(f: LoopForces, forces: np.ndarray, gain: bool, sign: float) -> np.ndarray:
    """(.44): z = ψ z + [K] x̂, ε = sign H z, and the sweep outwards, for x̂ = -B A* f̂."""
    o = f.ops
    x = -(f.B * (f.A.T * forces))
    z = o.psi * (o.K * (o.H * x) if gain else x)
    nu = o.D_inverse * (sign * (o.H * z))
    alpha = o.psi.T * (o.H.T * nu)
    return (nu - o.K.T * alpha).to_array()


@pytest.mark.parametrize("seed", range(COUNT))
def test_correction_sweep(seed):
    """(.44) drives z with K x̂ and takes ε = -H z. x̂ = -B A* f̂ are forces on bodies, not on hinges: z = ψ z + x̂, and
    ε = H z. (The gain cannot even act on them; here it is given H x̂.)"""
    drawn = forced(seed)
    f = LoopForces(drawn.ops)
    if f.C.blocks:
        drawn = forced(0)
        f = LoopForces(drawn.ops)
    forces = np.random.default_rng(seed).normal(size=f.closure.row_space.size)
    o, C = f.ops, (f.A * f.B.T * f.ops.phi.T * f.ops.H.T).to_array()
    mass = (o.H * o.phi * o.M * o.phi.T * o.H.T + o.J).to_array()
    expected = -np.linalg.solve(mass, C.T @ forces)
    size = np.abs(expected).max()
    np.testing.assert_allclose(sweep(f, forces, False, 1.0), expected, rtol=0, atol=1e-9 * size)
    for gain, sign in ((True, -1.0), (True, 1.0), (False, -1.0)):
        assert np.abs(sweep(f, forces, gain, sign) - expected).max() > 1e-2 * size


def test_rates_of_the_rows():
    """(0.22) has U = dÛ/dt - A dJ/dt V; it is dÛ/dt - d(AJ)/dt β: velocities of hinges, and A turns with its frames."""
    system = four_bar("force", theta=0.8, rate=1.5)
    f = LoopForces(Operators(system, system.q0, system.v0))
    A, h = f.A.to_array(), 1e-5

    def J(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moved = LoopForces(Operators(system, q, system.v0))
        jacobian = (moved.B.T * moved.ops.phi.T * moved.ops.H.T).to_array()
        return jacobian, moved.A.to_array() @ jacobian

    step = h * system.v0
    (J_plus, AJ_plus), (J_minus, AJ_minus) = J(system.q0 + step), J(system.q0 - step)
    whole = -(AJ_plus - AJ_minus) @ system.v0 / (2 * h)
    printed = -A @ (J_plus - J_minus) @ system.v0 / (2 * h)
    U = f.U.to_array()
    np.testing.assert_allclose(whole, U, rtol=0, atol=1e-8 * np.abs(U).max())
    assert np.abs(printed - U).max() > 0.1 * np.abs(U).max()


def test_gravity_of_an_aggregated_node():
    """`g` of a node that hangs on the ground is φ_S* of its base bodies': a + g stands for a."""
    system = four_bar("embed", theta=0.8)
    o = Operators(system, system.q0, 0.0 * system.v0)
    weight = (o.H * o.phi * o.M * o.phi.T * o.g).to_array()
    tree = Operators(system, system.q0, 0.0 * system.v0, embed=())
    same(weight, o.X.T * (tree.H * tree.phi * tree.M * tree.phi.T * tree.g).to_array())
    assert np.abs(weight).max() > 0.01 * np.abs(GRAVITY).max()
