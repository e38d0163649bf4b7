"""Beam elements against analytic frequencies and deflections; reductions; foreshortening against stress stiffness."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.modes import integrals
from limberjack.engine.modes.effective_mass import choose_modes, effective_mass
from limberjack.engine.modes.frame import Beam, Frame, Material, PointMass, Section, box, rectangle, tube
from limberjack.engine.modes.frame_structure import beam_model, frame_structure
from limberjack.engine.modes.integrals import modal_mass_matrix
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from tests.validation.figures import figure

ALUMINIUM = Material(70e9, 26e9, 2700.0)
UP = np.array([0.0, 0.0, 1.0])
#: slender, bending about z much softer than about y, so that planes do not mix
SECTION = Section(area=4e-4, y=4e-8, z=1e-8, torsion=2e-8)


def straight(elements: int, section: Section = SECTION, length: float = 2.0, name: str = "rod") -> Frame:
    beam = Beam(("root", "tip"), section, ALUMINIUM, UP, elements)
    return Frame(name, ("root", "tip"), np.array([[0.0, 0, 0], [length, 0, 0]]), (beam,))


def beta_l(kind: str, number: int) -> float:
    """Root of the frequency equation of a uniform beam."""
    if kind == "pinned":
        return number * np.pi
    sign = 1.0 if kind == "clamped-free" else -1.0
    middle = (number - 0.5 if kind == "clamped-free" else number + 0.5) * np.pi
    return brentq(lambda x: np.cos(x) + sign / np.cosh(x), middle - 0.5, middle + 0.5, xtol=1e-14)


def exact(kind: str, number: int, stiffness: float, mass: float, length: float) -> float:
    return beta_l(kind, number) ** 2 * np.sqrt(stiffness / mass) / length**2 / (2 * np.pi)


def bending(frame: Frame, kind: str, mass: str, count: int) -> np.ndarray:
    """Frequencies of bending in the soft plane: freedoms z-turn and y of every node, by the dense solver."""
    made = frame_structure(frame, mass)
    plane = np.ravel([[6 * j + 2, 6 * j + 4] for j in range(len(made.kept) // 6)])
    last = 6 + 4  # node "tip" is the second
    held = {"clamped-free": [2, 4], "free-free": [], "pinned": [4, last]}[kind]
    moving = [i for i in plane if i not in held]
    K, M = made.stiffness.toarray()[np.ix_(moving, moving)], made.mass.toarray()[np.ix_(moving, moving)]
    inverse = eigh(M, K + M, eigvals_only=True)[::-1]
    squares = (1 / inverse - 1)[2 if kind == "free-free" else 0 :]
    return np.sqrt(squares[:count]) / (2 * np.pi)


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("kind", ["clamped-free", "free-free", "pinned"])
def test_bending_frequencies_converge_to_beta_l(kind, mass):
    """Fourth order with the consistent mass; at least third with nodal bodies (fourth where the ends are held)."""
    E, rho = ALUMINIUM.young, ALUMINIUM.density
    slender = Section(4e-4, 4e-12, 1e-12, 2e-8)  # rotary inertia of the section is nothing beside the mass
    counts, errors = (8, 16, 32), []
    reference = np.array([exact(kind, i, E * slender.z, rho * slender.area, 2.0) for i in (1, 2, 3)])
    for n in counts:
        errors.append(np.abs(bending(straight(n, slender), kind, mass, 3) / reference - 1))
    orders = np.log2(errors[0] / errors[1]), np.log2(errors[1] / errors[2])
    figure("error of three bending frequencies, 16 elements", errors[1], oracle="βL in closed form", below=2e-3)
    least = 3.7 if mass == "consistent" else 2.8
    figure("order of convergence", orders[1], oracle="of the elements", above=least)


def test_static_tip_deflections_are_exact():
    """P L³/3EI, T L/GJ, N L/EA, and with shear + P L/κGA, for any number of elements."""
    for elements in (1, 3):
        for shear in (0.0, 3e-4):
            s = Section(4e-4, 4e-8, 1e-8, 2e-8, shear, shear)
            K = frame_structure(straight(elements, s)).stiffness.toarray()
            moving = np.setdiff1d(np.arange(len(K)), np.arange(6))
            tip = [list(moving).index(6 + i) for i in range(6)]
            flexibility = np.linalg.inv(K[np.ix_(moving, moving)])[np.ix_(tip, tip)]
            L, E, G = 2.0, 70e9, 26e9
            slip = L / (G * shear) if shear else 0.0
            expected = [L / (G * 2e-8), L / (E * 4e-8), L / (E * 1e-8), L / (E * 4e-4),
                        L**3 / (3 * E * 1e-8) + slip, L**3 / (3 * E * 4e-8) + slip]  # fmt: skip
            figure("tip flexibilities", np.diag(flexibility), expected, oracle="P L³/3EI, T L/GJ, N L/EA", rtol=1e-9)
            figure(
                "tip deflection by a moment", flexibility[4, 2], L**2 / (2 * E * 1e-8), oracle="L²/2EI", rtol=1e-6
            )  # y by the moment about z
            assert flexibility[5, 1] == pytest.approx(-(L**2) / (2 * E * 4e-8))


def test_timoshenko_frequencies_of_a_pinned_beam():
    """With v = sin kx and its turn cos kx the equations are two by two; second order of convergence to its root:
    within an element the shear does not vary."""
    section = rectangle(0.1, 0.2, timoshenko=True)
    EI, S = ALUMINIUM.young * section.z, ALUMINIUM.shear * section.shear_y
    inertia = np.diag([ALUMINIUM.density * section.area, ALUMINIUM.density * section.z])
    exact_hz = []
    for k in np.arange(1, 5) * np.pi / 2.0:
        K = np.array([[S * k**2, -S * k], [-S * k, S + EI * k**2]])
        exact_hz.append(np.sqrt(eigh(K, inertia, eigvals_only=True)[0]) / (2 * np.pi))
    errors = [np.abs(bending(straight(n, section), "pinned", "consistent", 4) / exact_hz - 1) for n in (8, 16, 32)]
    slender = np.sqrt(EI / inertia[0, 0]) * (np.arange(1, 5) * np.pi / 2.0) ** 2 / (2 * np.pi)
    assert np.all(np.abs(slender / exact_hz - 1) > 100 * errors[2])  # shear matters far beyond the error
    figure("error of Timoshenko frequencies, 32 elements", errors[2], oracle="roots of two equations", below=1e-3)
    figure(
        "order of convergence of Timoshenko beams",
        np.log2(errors[1] / errors[2]),
        2.0,
        oracle="second order",
        atol=0.15,
        rtol=1e-7,
    )


def test_nodal_bodies_have_the_beams_rigid_inertia():
    """Mass and centre exactly; moments of inertia with an error that falls with the cube of the element."""
    errors = []
    for n in (4, 8, 16):
        lumped, consistent = (frame_structure(elbow(n), mass) for mass in ("lumped", "consistent"))
        B = lumped.rigid_motions()
        one, two = (B.T @ (s.mass @ B) for s in (lumped, consistent))
        np.testing.assert_allclose(one[3:], two[3:], rtol=1e-12, atol=1e-12)
        errors.append(np.abs(one - two).max() / np.abs(two).max())
    assert np.all(np.log2(np.array(errors[:-1]) / errors[1:]) > 2.9)


def elbow(n: int) -> Frame:
    """Two beams at a right angle and a third out of their plane, with a mass at the end."""
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [1.0, 0.8, 0], [1.0, 0.8, 0.5]])
    names = ("root", "knee", "elbow", "hand")
    ups = (UP, UP, np.array([1.0, 0, 0]))
    sections = (box(0.05, 0.08, 0.002), tube(0.03, 0.025), rectangle(0.02, 0.03))
    beams = tuple(Beam((a, b), s, ALUMINIUM, u, n) for a, b, s, u in zip(names[:-1], names[1:], sections, ups))
    tool = PointMass("hand", 0.7, np.array([0.0, 0.05, 0.1]), np.diag([0.01, 0.02, 0.015]))
    return Frame("elbow", names, points, beams, (tool,))


def test_cantilever_data_of_nodal_bodies_fit_their_integrals():
    data = reduce_structure(frame_structure(elbow(6)), Reduction("cantilever", "root", ("root", "hand"), 8, 0.01))
    made = integrals(data, "root", ["hand", "knee"])
    shapes = data.shapes
    sums = sum(
        Pi.T @ np.block([[J, m * _tilde(c)], [-m * _tilde(c), m * np.eye(3)]]) @ Pi
        for Pi, J, m, c in zip(shapes, data.inertias, data.masses, data.centres)
    )
    np.testing.assert_allclose(sums, np.eye(8), atol=1e-9)
    np.testing.assert_allclose(made.K, np.diag((2 * np.pi * data.frequencies()) ** 2), rtol=1e-9)
    np.testing.assert_allclose(np.diag(made.C), 0.02 * np.sqrt(np.diag(made.K)), rtol=1e-9)
    assert np.linalg.eigvalsh(modal_mass_matrix(made))[0] > 0.0


def _tilde(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def test_sparse_and_dense_solvers_agree():
    structure = frame_structure(elbow(40))  # 726 freedoms: Lanczos
    data = reduce_structure(structure, Reduction("cantilever", "root", (), 6))
    K, M = structure.stiffness.toarray()[6:, 6:], structure.mass.toarray()[6:, 6:]
    np.testing.assert_allclose(data.frequencies(), np.sqrt(eigh(K, M, eigvals_only=True)[:6]) / 2 / np.pi, rtol=1e-7)
    free = reduce_structure(structure, Reduction("free-free", modes=6))
    K, M = structure.stiffness.toarray(), structure.mass.toarray()
    np.testing.assert_allclose(free.frequencies(), np.sqrt(eigh(K, M, eigvals_only=True)[6:12]) / 2 / np.pi, rtol=1e-5)


def test_craig_bampton_answers_loads_at_the_interface_exactly():
    structure = frame_structure(elbow(6))
    data = reduce_structure(structure, Reduction("craig-bampton", "root", ("hand",), 3))
    assert data.modes == 9
    Pi = data.shapes[data.node("hand")]
    modal = Pi @ np.linalg.solve(data.stiffness, Pi.T)
    whole = np.linalg.inv(structure.stiffness.toarray()[6:, 6:])
    hand = slice(6 * data.node("hand") - 6, 6 * data.node("hand"))
    figure(
        "flexibility at a Craig-Bampton interface",
        modal,
        whole[hand, hand],
        oracle="the whole structure",
        atol=1e-9 * np.abs(modal).max(),
        rtol=1e-6,
    )
    exact_hz = reduce_structure(structure, Reduction("cantilever", "root", (), 3)).frequencies()
    np.testing.assert_allclose(data.frequencies()[:2], exact_hz[:2], rtol=1e-3)


def test_free_free_modes_have_no_momentum_and_reduce_with_an_interface():
    structure = frame_structure(elbow(6))
    data = reduce_structure(structure, Reduction("free-free", modes=5))
    made = integrals(data)
    np.testing.assert_allclose(np.vstack([made.N0, made.S1]), 0.0, atol=1e-7)
    ports = reduce_structure(structure, Reduction("free-free", interface=("root", "hand"), modes=4))
    assert ports.modes == 4 + 12 - 6
    np.testing.assert_allclose(ports.frequencies()[:3], data.frequencies()[:3], rtol=1e-3)


def test_free_modes_with_an_interface_held_at_the_inboard_node_are_cantilever_modes():
    """Free-free modes referred to the root span what holds it: the cantilever frequencies come from below M_ff'."""
    structure = frame_structure(elbow(4))
    ports = reduce_structure(structure, Reduction("free-free", interface=("root",), modes=40))
    made = integrals(ports, "root")
    held = np.sqrt(eigh(made.K, made.Mff, eigvals_only=True)[:4]) / (2 * np.pi)
    cantilever = reduce_structure(structure, Reduction("cantilever", "root", (), 4)).frequencies()
    np.testing.assert_allclose(held, cantilever, rtol=1e-6)


def test_effective_masses_of_a_cantilever_and_their_residual():
    """A uniform cantilever's first bending mode carries 61.3 % of the mass, the second 18.8 %, the third 6.5 %."""
    data = reduce_structure(frame_structure(straight(40)), Reduction("cantilever", "root", ("tip",), 30))
    table = effective_mass(data)
    soft = [i for i in range(30) if table.fractions()[4, i] > 1e-3][:3]
    figure(
        "effective masses of a cantilever",
        table.fractions()[4, soft],
        [0.6131, 0.1883, 0.0647],
        oracle="published for a uniform cantilever",
        atol=3e-4,
        rtol=1e-7,
    )
    assert np.linalg.eigvalsh(table.residual)[0] > -1e-9
    assert np.all(table.fractions().sum(axis=1) <= 1.0 + 1e-12)
    some = choose_modes(data, least_fraction=0.05)
    assert 4 < some.modes < 15
    assert effective_mass(some).fractions().max(axis=0).min() >= 0.05
    few = choose_modes(data, highest_hz=100.0)
    assert few.frequencies()[-1] <= 100.0
    with pytest.raises(ArgumentError, match="none of the"):
        choose_modes(data, highest_hz=0.1)


def test_foreshortening_of_a_tip_turn_is_that_of_an_arc():
    """A cantilever under an end moment bends to a circle: tip at (sin κL, 1 - cos κL)/κ, to third order."""
    model = beam_model(straight(5))
    load = np.zeros(36)
    load[6 + 2] = 1.0
    u = np.zeros(36)
    K = model.stiffness.toarray()
    u[6:] = np.linalg.solve(K[6:, 6:], load[6:])
    kappa = u[8] / 2.0
    G = model.foreshortening((u / kappa).reshape(6, 6, 1), 0)
    figure(
        "foreshortening of a tip turn",
        G[1, :, 0, 0],
        [-(2.0**3) / 3.0, 0.0, 0.0],
        unit="m",
        oracle="arc of a circle",
        atol=1e-9,
        rtol=1e-7,
    )  # sin κL/κ = L - κ² L³/6
    np.testing.assert_allclose(G[0], 0.0, atol=1e-15)


def test_foreshortening_of_a_rigid_turn_is_the_turns_second_order():
    """Held at the root but turned there with a very soft root: all nodes move as Exp(θ) r to second order."""
    frame = elbow(3)
    model = beam_model(frame)
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(3, 2))
    r = model.mesh.positions
    shapes = np.zeros((len(r), 6, 2))
    shapes[:, :3] = theta
    shapes[:, 3:] = np.cross(theta.T[None], r[:, None, :]).swapaxes(1, 2)
    G = model.foreshortening(shapes, 0)
    for a in range(2):
        for b in range(2):
            first = np.cross(theta[:, a], np.cross(theta[:, b], r))
            second = np.cross(theta[:, b], np.cross(theta[:, a], r))
            np.testing.assert_allclose(G[:, :, a, b], 0.5 * (first + second), atol=1e-9)


def test_foreshortening_is_stress_stiffness_of_a_straight_beam():
    """f·G_t = -K_g(f) for the axial tip force; S2 along the beam from -K_g of the axial acceleration."""
    frame = straight(10)
    structure, model = frame_structure(frame), beam_model(frame)
    data = reduce_structure(structure, Reduction("cantilever", "root", ("tip",), 6))
    assert data.foreshortening is not None
    flat = data.shapes.reshape(-1, 6)
    load = np.zeros(len(flat))
    load[6 + 3] = 1.0
    Kg = flat.T @ (model.stress_stiffness(load, 0) @ flat)
    figure(
        "foreshortening",
        -Kg,
        data.foreshortening[1, 0],
        oracle="stress stiffness of a straight beam",
        atol=1e-9 * np.abs(Kg).max(),
        rtol=1e-7,
    )
    fields = np.zeros_like(load)
    fields[3::6] = data.masses
    Kg = flat.T @ (model.stress_stiffness(fields, 0) @ flat)
    lateral = data.shapes[:, 1:3]
    swing = np.einsum("j,jir,jis->rs", data.masses * data.centres[:, 0], lateral, lateral)  # of the nodes' own centres
    np.testing.assert_allclose(integrals(data, "root").S2[0], -Kg - swing, atol=1e-9 * np.abs(Kg).max())


def test_a_closed_frame_keeps_its_corners_together():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    names = ("a", "b", "c", "d")
    pairs = (("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"))
    frame = Frame("ring", names, points, tuple(Beam(p, SECTION, ALUMINIUM, UP, 4) for p in pairs))
    data = reduce_structure(frame_structure(frame), Reduction("cantilever", "a", ("c",), 5))
    made = integrals(data, "a", ["c"])
    assert made.attachments[0].G.any()
    np.testing.assert_allclose(data.foreshortening[0], 0.0, atol=1e-15)


def test_faults_of_frames_and_requests():
    for frame, words in (
        (Frame("f", ("a",), np.zeros((1, 3)), ()), "no beams"),
        (Frame("f", ("a", "b"), np.zeros((2, 3)), straight(1).beams), "node 'root', which does not exist"),
        (Frame("f", ("root", "tip"), np.zeros((2, 3)), straight(1).beams), "has no length"),
        (Frame("f", ("root", "tip"), np.array([[0.0, 0, 0], [0, 0, 1]]), straight(1).beams), "points along the beam"),
        (Frame("f", ("root", "tip", "far"), np.eye(3), straight(1).beams), "'far' is not connected"),
    ):
        with pytest.raises(ModelError, match=words):
            frame_structure(frame)
    light = Frame("f", ("root", "tip"), np.eye(3)[:2], (Beam(("root", "tip"), SECTION, Material(1e9, 1e9, 0), UP),))
    with pytest.raises(ModelError, match="no mass"):
        frame_structure(light)
    structure = frame_structure(straight(2))
    for how, words in (
        (Reduction("clamped", "root"), "kind is 'clamped'"),
        (Reduction("cantilever"), "hold the inboard node"),
        (Reduction("free-free", "root"), "Leave inboard out"),
        (Reduction("cantilever", "hub"), "no node of 'rod' is called 'hub'"),
        (Reduction("craig-bampton", "root", ("root",)), "besides the inboard node"),
        (Reduction("cantilever", "root", (), 0), "give at least 1"),
        (Reduction("cantilever", "root", (), 100), "only 12 freedoms"),
        (Reduction("cantilever", "root", (), 3, [0.1]), "damping is"),
        (Reduction("cantilever", "root", (), 3, -0.1), "damping is"),
    ):
        with pytest.raises((ArgumentError, ModelError), match=words):
            reduce_structure(structure, how)
    limp = Section(4e-4, 4e-8, 1e-8, 0.0)
    with pytest.raises(ModelError, match="without strain"):
        reduce_structure(frame_structure(straight(3, limp)), Reduction("cantilever", "root", (), 2))
