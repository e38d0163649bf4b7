"""The algebra itself: what is lazy, what is stored, names, blocks, vectors, and the messages of what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.operators import BlockOperator, DiagonalDynamics, Operators, PropagationOperator, Sensitivity
from limberjack.engine.operators.algebra import Product, Sum
from limberjack.engine.operators.spatial import force_cross, motion_cross, phi, skew
from tests.engine.operators.parts import same
from tests.engine.random_systems import pose, random_state, random_system

TREE = ["free", "revolute", "universal", "fixed", "prismatic", "spherical"]


@pytest.fixture(scope="module")
def o() -> Operators:
    rng = np.random.default_rng(5)
    system = random_system(TREE, rng, parents=[None, 0, 1, 0, 3, 2])
    q, v = random_state(system, rng)
    return Operators(system, q, v)


def test_products_with_phi_stay_lazy_and_stored_neighbours_are_joined(o):
    mass = o.H * o.phi * o.M * o.phi.T * o.H.T
    assert isinstance(mass, Product)
    assert len(mass.factors) == 5
    assert isinstance(o.H * o.P * o.H.T, BlockOperator)
    joined = o.phi * o.M * o.M
    assert isinstance(joined, Product)
    assert len(joined.factors) == 2
    assert isinstance(o.I + o.H * o.phi * o.K, Sum)
    assert isinstance((o.I - o.E_psi).inverse(), PropagationOperator)


def test_stored_operators_are_as_sparse_as_the_tree(o):
    assert o.body_names == ("b0", "b1", "b2", "b5", "b3", "b4")
    assert set(o.E_phi.blocks) == {(0, 1), (1, 2), (2, 3), (0, 4), (4, 5)}
    assert set(o.K.blocks) == set(o.E_phi.blocks)
    assert all(i == j for X in (o.H, o.M, o.P, o.D, o.G, o.tau_bar, o.R, o.Upsilon) for i, j in X.blocks)


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        (lambda o: o.H * o.phi * o.M * o.phi.T * o.H.T + o.J, "H phi M phi* H* + J"),
        (lambda o: (o.I + o.H * o.phi * o.K) * o.D, "(I + H phi K) D"),
        (lambda o: (o.I - o.H * o.psi * o.K).T, "I - K* psi* H*"),
        (lambda o: 2 * o.phi - o.psi, "2 phi - psi"),
        (lambda o: -(o.phi * o.M), "-phi M"),
        (lambda o: (o.E_phi * o.tau_bar).T, "(E_phi tau_bar)*"),
        (lambda o: (o.I - o.E_phi).inverse(), "(I - E_phi)^-1"),
        (lambda o: (o.M * o.phi).T.T, "M phi"),
        (lambda o: o.H.T.T, "H"),
    ],
)
def test_names_are_what_was_typed(o, expression, name):
    assert expression(o).name == name
    assert repr(expression(o)).startswith(f"<{name}: the ")


def test_arithmetic(o):
    A, B, C = o.phi * o.M, o.psi, o.M
    a, b, c = A.to_array(), B.to_array(), C.to_array()
    same(2 * A - B / 4 + C * 0.5, 2 * a - b / 4 + 0.5 * c)
    same(-(A + C), -a - c)
    same((A + C) * (B - C), (a + c) @ (b - c))
    same(sum([A, B, C]), a + b + c)
    same((A * B + C).T, (a @ b + c).T)
    same(A @ B, a @ b)
    same(3 * o.I * C - C * o.I, 2 * c)
    same(2 * o.I + o.H * o.psi * o.K, 2 * np.eye(len(o.velocity_names)) + (o.H * o.psi * o.K).to_array())
    same(o.I - o.I, np.zeros((36, 36)))


def test_inverses(o):
    A = o.phi * o.M * o.phi.T
    same(A.inverse(), np.linalg.inv(A.to_array()))
    mass = o.H * A * o.H.T + o.J
    same(mass.inverse(), np.linalg.inv(mass.to_array()))
    same((o.M + o.E_phi).inverse(), np.linalg.inv((o.M + o.E_phi).to_array()))
    same(o.M.inverse() * o.M, np.eye(36))
    same((2 * o.I + o.H * o.phi * o.K).inverse() * (2 * o.I + o.H * o.phi * o.K), np.eye(len(o.velocity_names)))


@pytest.mark.parametrize(
    "expression",
    [
        lambda o: o.phi,
        lambda o: o.psi.T,
        lambda o: o.H * o.phi * o.K,
        lambda o: o.Omega,
        lambda o: o.I - o.phi * o.M,
        lambda o: (o.phi * o.M * o.phi.T).inverse(),
        lambda o: o.E_phi.T,
    ],
)
def test_blocks_by_name_are_those_of_the_array(o, expression):
    A = expression(o)
    array = A.to_array()
    for i, row in enumerate(A.rows.names):
        for j, column in enumerate(A.columns.names):
            block = array[A.rows.slices[i], A.columns.slices[j]]
            np.testing.assert_allclose(A[row, column], block, rtol=0, atol=1e-12 * np.max(np.abs(array)))
    assert A.rows.kind != A.columns.kind or A["b2"].shape == A["b2", "b2"].shape


def test_results_are_fresh(o):
    o.M["b1"][:] = 0.0
    o.M.to_array()[:] = 0.0
    o.V["b1"][:] = 0.0
    o.V.to_array()[:] = 0.0
    np.asarray(o.V)[:] = 0.0
    assert np.all(np.diag(o.M.to_array()) > 0)
    assert np.any(np.asarray(o.V))


def test_vectors(o):
    f = o.M * o.V
    assert o.V.T * f == pytest.approx(np.asarray(o.V) @ o.M.to_array() @ np.asarray(o.V))
    energy = o.V.T * o.M * o.V
    assert energy == pytest.approx(o.V.T * f)
    assert 0.5 * o.V.T * f == pytest.approx(0.5 * (o.V.T * f))
    assert o.V.T @ np.ones(36) == pytest.approx(np.sum(o.V))
    numbers = np.arange(36.0)
    np.testing.assert_array_equal(numbers - o.V, numbers - np.asarray(o.V))
    np.testing.assert_array_equal(o.V - numbers, np.asarray(o.V) - numbers)
    np.testing.assert_array_equal(numbers + 2 * o.V / 4, numbers + np.asarray(o.V) / 2)
    np.testing.assert_array_equal(-o.V, -np.asarray(o.V))
    np.testing.assert_array_equal(f["b5"], np.asarray(f)[18:24])
    assert len(o.V) == 36
    assert (numbers - o.V).name == "the array - V"
    same((o.phi * np.ones((36, 2))), o.phi.to_array() @ np.ones((36, 2)))


def test_own_diagonal_operator(o):
    X = o.diagonal({"b1": np.eye(6), "b4": 2 * np.eye(6)}, "X")
    assert X["b4"][0, 0] == 2.0
    assert not X["b2"].any()
    assert X.name == "X"
    same(o.phi * X, o.phi.to_array() @ X.to_array())


def test_spatial_algebra():
    rng = np.random.default_rng(0)
    A, B, V = pose(rng), pose(rng), rng.normal(size=6)
    same(phi(A @ B), phi(A) @ phi(B))
    same(phi(A.inverse()), np.linalg.inv(phi(A)))
    same(motion_cross(V) @ V, np.zeros(6), 1e-15)
    same(force_cross(V), -motion_cross(V).T)
    same(skew(V[:3]) @ V[3:], np.cross(V[:3], V[3:]))


MISFITS = {
    "shapes": (lambda o: o.H * o.H, "H cannot multiply H: its columns are the 6 bodies of 'random', the rows of H are"),
    "sum": (lambda o: o.H + o.M, "M cannot be added to H"),
    "identity": (lambda o: o.H + o.I, "I cannot be added to H"),
    "number in a sum": (lambda o: o.H + 1, "H and 1 cannot be added"),
    "number before a sum": (lambda o: 1 + o.H, "1 and H cannot be added"),
    "vector": (
        lambda o: o.M * o.beta,
        "M cannot act on beta: it needs the 6 bodies of 'random', got the 13 velocities",
    ),
    "array": (lambda o: o.M * np.ones(7), r"M cannot act on an array of shape \(7,\): it needs \(36,\)"),
    "text": (lambda o: o.M * "V", "M cannot act on 'V'"),
    "array on the left": (lambda o: np.ones(36) * o.M, "an array cannot be the left factor of M; write M.T"),
    "two columns": (lambda o: o.V * o.V, "V is a column; write V.T"),
    "two vectors": (lambda o: o.V + o.beta, r"V \+ beta does not fit"),
    "row": (lambda o: o.V.T * o.beta, r"V\* beta does not fit"),
    "inverse": (lambda o: o.H.inverse(), "H cannot be inverted: it maps"),
    "singular": (lambda o: (0.0 * o.M).inverse(), r"0 M\['b0'\] is singular"),
    "recursion": (lambda o: o.M.lyapunov(o.M), "M cannot drive a recursion"),
    "not diagonal": (lambda o: o.E_phi.lyapunov(o.E_phi), "E_phi cannot enter a recursion of E_phi: it is not block"),
    "lazy": (lambda o: o.E_phi.lyapunov(o.phi * o.M), "phi M cannot enter a recursion of E_phi"),
    "joint map": (lambda o: o.E_phi.riccati(o.M, o.M * o.phi), "M phi cannot be the joint map"),
    "armature": (lambda o: o.E_phi.riccati(o.M, o.H, o.M), "M cannot be the armature"),
    "name": (lambda o: o.phi["b0", "b9"], "no body is called 'b9'"),
    "node": (lambda o: o.B("n9"), "no body or node is called 'n9'"),
    "ground": (lambda o: o.B("anchor"), "node 'anchor' is on the ground"),
    "axes": (lambda o: o.B("n1", axes="world"), "axes is 'world'; give 'node' or 'inertial'"),
    "no node": (lambda o: o.B(), "B needs node or body names"),
    "node twice": (lambda o: o.B("n1", "n1"), "each of them once"),
    "own block": (lambda o: o.diagonal({"b1": np.eye(5)}), r"X\['b1'\] has shape \(5, 5\)"),
    "comparison": (lambda o: o.H.equals(o.M), "M cannot be compared with H"),
    "comparison with a number": (lambda o: o.H.equals(3), "H cannot be compared with 3; give an operator"),
    "number minus operator": (lambda o: 1 - o.H, "1 and H cannot be added; give two operators, I for the identity"),
    "division by zero": (lambda o: o.phi / 0, "phi cannot be divided by 0"),
    "division by operator": (lambda o: o.phi / o.M, "phi cannot be divided by <M: the 6 bodies"),
    "vector by zero": (lambda o: o.V / 0, "V cannot be divided by 0"),
    "vector by text": (lambda o: o.V * "x", "V is a column"),
    "row and column": (lambda o: o.V.T + o.V, r"V\* is a row"),
    "index": (lambda o: o.phi[3], r"phi\[3\] is not a block; give the names of its row and its column"),
    "three indices": (lambda o: o.phi["b0", "b1", "b2"], "is not a block"),
    "number in a recursion": (lambda o: o.E_phi.lyapunov(3), "3 cannot enter a recursion of E_phi"),
    "number as joint map": (lambda o: o.E_phi.riccati(o.M, 3), "3 cannot be the joint map"),
    "number as armature": (lambda o: o.E_phi.riccati(o.M, o.H, 3), "3 cannot be the armature"),
    "full armature": (lambda o: o.E_phi.riccati(o.M, o.H, o.H * o.phi * o.H.T), r"H phi H\* cannot be the armature"),
    "full joint map": (lambda o: o.E_phi.riccati(o.M, o.H * o.E_phi), "H E_phi cannot be the joint map"),
    "list of nodes": (lambda o: o.B(["n1", "n2"]), "B needs node or body names"),
    "list of blocks": (lambda o: o.diagonal([np.eye(6)]), "X needs its blocks as a mapping from body names"),
    "sensitivity of a system": (lambda o: Sensitivity(o.system, "h1"), "an Operators is needed, got System"),
    "diagonal dynamics of a system": (lambda o: DiagonalDynamics(o.system), "an Operators is needed, got System"),
}


@pytest.mark.parametrize("case", MISFITS)
def test_what_does_not_fit_is_named(o, case):
    wrong, message = MISFITS[case]
    with pytest.raises(lj.ArgumentError, match=message):
        wrong(o)


def test_sub_graphs(o):
    system, q = o.system, o.q
    part = Operators(system, q, bodies=["b2", "b5", "b1"])
    assert part.body_names == ("b1", "b2", "b5")
    with pytest.raises(lj.ArgumentError, match="belong to different sub-graphs: 'random' .b1, b2, b5.; 'random'"):
        part.phi * o.M
    with pytest.raises(lj.ArgumentError, match="not connected: they start from 'b1' .on 'b0'., 'b3' .on 'b0'"):
        Operators(system, q, bodies=["b1", "b3"])
    with pytest.raises(lj.UnknownNameError, match="b7"):
        Operators(system, q, bodies=["b7"])
    for nothing in ([], "b1"):
        with pytest.raises(lj.ArgumentError, match="list with at least one body"):
            Operators(system, q, bodies=nothing)
    with pytest.raises(lj.ArgumentError, match="node 'n3' is on b3, which is not one of these bodies"):
        part.B("n3")
    again = Operators(system, q, bodies=["b1", "b2", "b5"])
    same(again.phi * part.M, part.phi * part.M)


def test_operators_of_two_states_of_one_system_mix(o):
    moved = o.q.copy()
    moved[7] += 0.1
    other = Operators(o.system, moved)
    assert not (other.phi - o.phi).is_zero()
    assert (other.M - o.M).is_zero()


def test_state_arguments(o):
    with pytest.raises(lj.ArgumentError, match="without velocities"):
        _ = Operators(o.system, o.q).V
    with pytest.raises(lj.ArgumentError, match="q has shape"):
        Operators(o.system, o.q[1:])
    with pytest.raises(lj.ArgumentError, match="v has shape"):
        Operators(o.system, o.q, np.zeros(3))
    with pytest.raises(lj.ArgumentError, match="System is needed"):
        Operators("arm.urdf", o.q)
    with pytest.raises(lj.ArgumentError, match="imaginary part of q"):
        Operators(o.system, o.q + np.full(o.system.nq, complex(0.0, np.inf)))


def test_a_hinge_that_moves_no_mass_is_named():
    rng = np.random.default_rng(1)
    system = random_system(["revolute", "revolute"], rng, armature=False)
    massless = lj.System("light", (system.bodies[0], _without_mass(system.bodies[1])))
    with pytest.raises(lj.ArgumentError, match=r"D\['b1'\] is singular"):
        _ = Operators(massless, system.q0).psi


def _without_mass(body):
    from dataclasses import replace

    from limberjack.engine.model.system import Inertia

    return replace(body, inertia=Inertia())


class Counted(np.ndarray):
    """An array that counts its matrix products."""

    products = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        Counted.products += ufunc is np.matmul
        plain = [np.asarray(x) if isinstance(x, Counted) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)


@pytest.mark.parametrize("bodies", [10, 100, 1000])
def test_products_with_propagation_operators_take_one_block_a_body(bodies):
    rng = np.random.default_rng(bodies)
    system = random_system(["prismatic", "revolute"] * (bodies // 2), rng, armature=False)
    o = Operators(system, system.q0)
    blocks = {place: block.view(Counted) for place, block in o.E_phi.blocks.items()}
    E = BlockOperator(o.body_space, o.body_space, blocks, "E_phi")
    for A in (PropagationOperator(E, "phi"), PropagationOperator(E, "phi").T):
        Counted.products = 0
        A * np.ones(6 * bodies)
        assert Counted.products == bodies - 1


def test_an_identity_holds_as_a_factor_too(o):
    left = o.M - (o.R - o.E_phi * o.R * o.E_phi.T)
    lazy = (o.I - o.H * o.psi * o.K) * o.H * o.phi - o.H * o.psi
    for zero in (left, o.H * left * o.H.T, 3 * left.T * o.M, lazy * o.M, o.D * lazy, (lazy * o.M).T, lazy.T * o.D):
        assert zero.is_zero()
    for other in (o.M, o.H * o.M * o.H.T, (o.I - o.tau) * o.P, (o.psi - o.phi) * o.M):
        assert not other.is_zero()
    assert not ((left + 1e-7 * o.M) * o.P).is_zero()


def test_numpy_takes_an_operator_as_its_matrix(o):
    assert np.asarray(o.M).shape == (36, 36)
    assert np.allclose(o.phi.T * o.M, o.phi.to_array().T @ o.M.to_array())
    assert np.isclose(np.linalg.det(o.phi), 1.0)


def test_rows(o):
    row, numbers = o.V.T * o.M, o.M.to_array().T @ o.V.to_array()
    same(row, numbers)
    same(-2 * row * 3 + row / 2 - row, -6.5 * numbers)
    assert repr(row).startswith("transpose of <M* V: the 6 bodies")
    assert repr(o) == "<Operators of 'random': 6 bodies, 13 velocities>"


def test_bodies_may_come_as_any_collection(o):
    for bodies in (np.array(["b1", "b2"]), {"b2", "b1"}, ("b1", "b2"), (name for name in ("b2", "b1"))):
        assert Operators(o.system, o.q, bodies=bodies).body_names == ("b1", "b2")
    with pytest.raises(lj.ArgumentError, match="bodies is 5; give a list"):
        Operators(o.system, o.q, bodies=5)


def test_names_stay_short_in_a_loop(o):
    x, X = o.V, 0.5 * o.D_inverse
    for _ in range(40):
        x = x - 1e-9 * (o.M * x)
        X = 2 * X - X * o.D * X  # Newton's iteration for the inverse
    assert max(len(x.name), len(X.name)) < 1000
    assert X.equals(o.D_inverse)
