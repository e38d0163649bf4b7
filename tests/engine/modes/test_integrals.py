"""Modal integrals against direct sums over nodal bodies at random states."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from limberjack.engine.common.errors import ArgumentError, ModelError, UnknownNameError
from limberjack.engine.modes import Integrals, ModalData, integrals
from limberjack.engine.modes.frame import Beam, Frame, Material, PointMass, Section, mesh, rectangle
from limberjack.engine.modes.frame_structure import frame_structure, nodal_matrix
from limberjack.engine.modes.inertia_range import InertiaRange
from limberjack.engine.modes.integrals import inertial_part, modal_mass_matrix
from limberjack.engine.modes.modal_file import read_modal_data
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from limberjack.engine.modes.reference import in_body_frame
from tests.engine.modes.nodal import (
    energy_and_momentum,
    integral_energy_and_momentum,
    motion,
    nodal_mass,
    nodal_velocities,
    random_data,
    shortened,
    stress_of,
    tilde,
)
from tests.validation.figures import figure

WING = Path(__file__).resolve().parents[3] / "examples" / "modes" / "solar_wing.npz"


def state(seed, modes):
    rng = np.random.default_rng(seed)
    return rng.normal(size=3), rng.normal(size=3), 0.2 * rng.normal(size=modes), rng.normal(size=modes)


@pytest.mark.parametrize("foreshortening", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_energy_is_exact_to_second_order(seed, foreshortening):
    """The error in η is of third order where η̇ is scaled with η: halving both divides it by eight."""
    data = random_data(seed, foreshortening=foreshortening)
    made = integrals(data, geometric=foreshortening)
    scales = np.array([0.1, 0.05, 0.025, 0.0125])
    errors = np.zeros(4)
    for omega, v, eta, rate in (state(8 * seed + i, 3) for i in range(8)):
        for i, scale in enumerate(scales):
            direct, _ = energy_and_momentum(data, omega, v, scale * eta, scale * rate)
            errors[i] += (direct - integral_energy_and_momentum(made, omega, v, scale * eta, scale * rate)[0]) ** 2
    assert errors[0] > 1e-8  # there is something to see
    orders = 0.5 * np.log2(errors[:-1] / errors[1:])
    figure(
        "order of the energy's error in the deformation",
        orders[-1],
        3.0,
        oracle="third: exact to second order",
        atol=0.1,
    )


@pytest.mark.parametrize("seed", range(3))
def test_momentum_is_exact_to_second_order(seed):
    data = random_data(seed)
    made = integrals(data)
    omega, v, eta, rate = state(seed, 3)
    errors = []
    for scale in (0.25, 0.125, 0.0625):
        _, direct = energy_and_momentum(data, omega, v, scale * eta, scale * rate)
        _, summed = integral_energy_and_momentum(made, omega, v, scale * eta, scale * rate)
        errors.append(np.abs(direct - summed))
    for part in (slice(0, 3), slice(3, 6)):
        sizes = [np.linalg.norm(error[part]) for error in errors]
        # linear momentum of particles has no third order; then all that is left is the rounding of the differences
        assert sizes[1] < 1e-9 or np.log2(sizes[1] / sizes[2]) == pytest.approx(3.0, abs=0.3)


def test_the_inertia_and_first_moment_are_those_of_the_deformed_nodes():
    """s, J by their definition at the deformed nodes; derivatives of s by η are S(η) η̇'s columns."""
    data = random_data(5)
    made = integrals(data)
    for direction in np.random.default_rng(2).normal(size=(5, 3)):
        direction /= np.linalg.norm(direction)
        values = []
        for t in (-1e-3, 0.0, 1e-3):
            positions, rotations = motion(data, t * direction)
            centres = np.einsum("jik,jk->ji", rotations, data.centres)
            s = data.masses @ (positions + centres)
            J = np.zeros((3, 3))
            for m, c, Jn, p, R in zip(data.masses, centres, data.inertias, positions, rotations):
                about = R @ Jn @ R.T - m * (c @ c * np.eye(3) - np.outer(c, c))
                x = p + c
                J += about + m * (x @ x * np.eye(3) - np.outer(x, x))
            values.append((s, J))
        (s_minus, J_minus), (s_0, J_0), (s_plus, J_plus) = values
        figure("first moment", s_0, made.s0, unit="kg·m", oracle="sum over nodal bodies", atol=1e-12, rtol=1e-7)
        figure("inertia", J_0, made.J0, unit="kg·m²", oracle="sum over nodal bodies", atol=1e-12, rtol=1e-7)
        figure(
            "slope of the first moment",
            (s_plus - s_minus) / 2e-3,
            made.S1 @ direction,
            oracle="sum over nodal bodies",
            atol=1e-5,
            rtol=1e-7,
        )
        np.testing.assert_allclose((J_plus - J_minus) / 2e-3, np.einsum("rkl,r->kl", made.J1, direction), atol=1e-4)
        second = np.einsum("rskl,r,s->kl", made.J2, direction, direction)
        np.testing.assert_allclose((J_plus - 2 * J_0 + J_minus) / 1e-6, second, atol=1e-3)
        second = np.einsum("irs,r,s->i", made.S2, direction, direction)
        np.testing.assert_allclose((s_plus - 2 * s_0 + s_minus) / 1e-6, second, atol=1e-3)


def test_symmetries_and_the_undeformed_mass_matrix():
    data = random_data(7)
    made = integrals(data)
    np.testing.assert_allclose(made.S2, np.swapaxes(made.S2, 1, 2), atol=1e-14)
    np.testing.assert_allclose(made.J2, np.swapaxes(made.J2, 0, 1), atol=1e-13)
    np.testing.assert_allclose(made.J2, np.swapaxes(made.J2, 2, 3), atol=1e-13)
    np.testing.assert_allclose(made.J1, np.swapaxes(made.J1, 1, 2), atol=1e-13)
    motions = [np.vstack([np.eye(6), np.zeros((3, 6))]), np.vstack([np.zeros((6, 3)), np.eye(3)])]
    W = np.hstack(motions)
    rows = []
    for a in W.T:  # polarisation of the kinetic energy at η = 0
        T = [energy_and_momentum(data, x[:3], x[3:6], np.zeros(3), x[6:])[0] for x in (*(a + W.T), *W.T, a)]
        rows.append(np.array(T[:9]) - T[9:18] - T[18])
    figure(
        "mass matrix at rest",
        modal_mass_matrix(made),
        np.array(rows),
        oracle="kinetic energy of nodal bodies",
        atol=1e-8,
        rtol=1e-7,
    )


@pytest.mark.parametrize("seed", range(3))
def test_modes_that_move_the_inboard_node_are_referred_to_it(seed):
    """Same motion seen from the moving node: T with the frame's motion made up for, to second order."""
    free = random_data(seed)
    shapes = free.shapes.copy()
    shapes[0] = 0.3 * np.random.default_rng(seed).normal(size=(6, 3))
    mass = nodal_mass(free.masses, free.centres, free.inertias, free.axes, shapes)
    free = replace(free, shapes=shapes, mass=mass, kind="free-free", inboard="")
    made = integrals(free, inboard="n2", attachments=["n2", "n4"])
    at_node, other = made.attachments
    np.testing.assert_allclose(at_node.Pr, 0.0, atol=1e-15)
    np.testing.assert_allclose(at_node.Pt, 0.0, atol=1e-15)
    np.testing.assert_allclose(at_node.G, 0.0, atol=1e-13)
    np.testing.assert_allclose(at_node.R0, np.eye(3), atol=1e-15)
    _, _, eta, _ = state(seed, 3)
    errors = []
    for scale in (0.1, 0.05, 0.025):
        positions, rotations = motion(free, scale * eta)
        seen = rotations[2].T @ (positions[4] - positions[2])
        x = scale * eta
        reported = other.p0 + other.Pt @ x + 0.5 * np.einsum("irs,r,s->i", other.G, x, x)
        errors.append(np.linalg.norm(seen - reported))
    assert np.log2(errors[-2] / errors[-1]) == pytest.approx(3.0, abs=0.25)
    direct, _ = energy_and_momentum(free, np.zeros(3), np.zeros(3), np.zeros(3), eta)
    A = free.axes[2].T @ shapes[2].reshape(2, 3, 3)
    omega, v = A @ eta
    reported, _ = integral_energy_and_momentum(made, omega, v, np.zeros(3), eta)
    assert reported == pytest.approx(direct, rel=1e-8)


def test_the_frame_of_the_inboard_node_changes_no_energy():
    data = shortened(random_data(3), 0)
    there, here = integrals(data, inboard="n0"), integrals(data)
    omega, v, eta, rate = state(3, 3)
    R, p = data.axes[0].T, data.positions[0]
    T, _ = integral_energy_and_momentum(here, omega, v, eta, rate)
    moved, _ = integral_energy_and_momentum(there, R @ omega, R @ (v + np.cross(omega, p)), eta, rate)
    assert moved == pytest.approx(T, rel=1e-12)


@pytest.mark.parametrize("inboard", [None, "n0"])
def test_stress_stiffness_of_unit_loads_says_the_same_as_foreshortening(inboard):
    data = shortened(random_data(9), 0)
    particles = replace(data, centres=np.zeros((5, 3)))  # loads act at the nodes
    mass = nodal_mass(particles.masses, particles.centres, particles.inertias, particles.axes, particles.shapes)
    particles = replace(particles, mass=mass)
    stressed = replace(particles, foreshortening=None, stress=stress_of(particles))
    one, two = (integrals(d, inboard=inboard, attachments=["n3"]) for d in (particles, stressed))
    for name in ("S2", "J2", "N1", "J1", "N0"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-12, err_msg=name)
    np.testing.assert_allclose(one.attachments[0].G, two.attachments[0].G, atol=1e-13)
    assert np.abs(one.S2).max() > 0.1


def test_across_the_inboard_node_masses_keep_what_modes_cannot_make():
    """Particles: Σ m P* Q_t = 0, Q along r and the nodes that others hang on as given."""
    data = random_data(4)
    none = np.zeros((5, 3)), np.zeros((5, 3, 3))
    mass = nodal_mass(data.masses, *none, data.axes, data.shapes)
    data = replace(data, centres=none[0], inertias=none[1], mass=mass)
    body = in_body_frame(data, 0, np.arange(3))
    kept, turned = inertial_part(body.second_order, body)
    change = kept - body.second_order
    r = body.positions[1:] / np.linalg.norm(body.positions[1:], axis=1)[:, None]
    across = body.second_order.copy()
    across[1:] -= np.einsum("ji,jk,jkrs->jirs", r, r, across[1:])
    P = body.shapes[:, 3:]
    np.testing.assert_allclose(np.einsum("j,jir,jist->rst", data.masses, P, across + change), 0.0, atol=1e-12)
    turn = np.linalg.lstsq(P.reshape(15, 3), change.reshape(15, 9), rcond=None)[0]
    np.testing.assert_allclose(P.reshape(15, 3) @ turn, change.reshape(15, 9), atol=1e-12)
    np.testing.assert_allclose(
        turned, np.einsum("jir,rst->jist", body.shapes[:, :3], turn.reshape(3, 3, 3)), atol=1e-12
    )
    made = integrals(data, "n0", ["n3"])
    np.testing.assert_allclose(made.attachments[0].G, body.second_order[3], atol=1e-14)
    np.testing.assert_allclose(made.S2, np.einsum("j,jirs->irs", data.masses, kept), atol=1e-12)


def test_a_wing_that_twists_may_bend_by_a_twentieth_of_its_length():
    wing = read_modal_data(WING)
    own, raw = integrals(wing, wing.inboard), integrals(wing)
    largest = np.linalg.norm(wing.shapes[:, 3:], axis=1).max(axis=0)
    np.testing.assert_allclose(own.S1, raw.S1, atol=1e-12)
    reach, before = (InertiaRange(made, 0.1).modes() * largest for made in (own, raw))
    assert before[0] < 0.5 < 2.0 < reach[0]


def test_linearized_and_geometric_switches():
    data = random_data(1)
    linear = integrals(data, attachments=["n1"], variant="linearized")
    for name in ("S2", "J1", "J2", "N1"):
        assert not getattr(linear, name).any()
    assert not linear.attachments[0].G.any()
    full, plain = integrals(data, attachments=["n1"]), integrals(data, attachments=["n1"], geometric=False)
    assert full.attachments[0].G.any()
    assert not plain.attachments[0].G.any()
    without = integrals(replace(data, foreshortening=None), attachments=["n1"])
    for name in ("S2", "J1", "J2", "N1"):
        np.testing.assert_array_equal(getattr(without, name), getattr(plain, name))


def test_selected_modes_are_those_of_the_whole():
    data = random_data(4)
    whole, part = integrals(data, attachments=["n1"]), integrals(data, attachments=["n1"], modes=[2, 0])
    np.testing.assert_allclose(part.N1, whole.N1[:, [2, 0]][:, :, [2, 0]], atol=1e-13)
    np.testing.assert_allclose(part.J2, whole.J2[[2, 0]][:, [2, 0]], atol=1e-13)
    np.testing.assert_allclose(part.C, whole.C[[2, 0]][:, [2, 0]])
    np.testing.assert_array_equal(part.attachments[0].Pt, whole.attachments[0].Pt[:, [2, 0]])
    rigid = integrals(data, modes=0)
    assert rigid.Mff.shape == (0, 0)
    assert rigid.m == pytest.approx(data.masses.sum())


def test_damping_gives_every_eigenmode_its_ratio():
    data = random_data(6)
    made = integrals(data)
    squares, vectors = data.eigenmodes()
    np.testing.assert_allclose(vectors.T @ made.C @ vectors, np.diag(2 * data.damping * np.sqrt(squares)), atol=1e-10)


def test_full_mass_matrix_replaces_the_sums_of_zeroth_order():
    data = random_data(8)
    whole = modal_mass_matrix(integrals(data))
    heavier = replace(data, rigid=1.1 * whole[:6, :6], participation=whole[:6, 6:], masses=data.masses)
    made, moved = integrals(heavier), integrals(heavier, inboard="n1")
    np.testing.assert_allclose(modal_mass_matrix(made)[:6, :6], 1.1 * whole[:6, :6], atol=1e-12)
    assert moved.m == pytest.approx(1.1 * data.masses.sum())
    # the same body from another node: kinetic energy of a motion of the nodes that n1's own displacement is part of
    _, _, _, rate = state(8, 3)
    A = data.axes[1].T @ data.shapes[1].reshape(2, 3, 3) @ rate
    reported = np.r_[A[0], A[1], rate] @ modal_mass_matrix(moved) @ np.r_[A[0], A[1], rate]
    assert reported == pytest.approx(rate @ data.mass @ rate, rel=1e-10)


def test_what_the_caller_can_do_wrong():
    data = random_data(0)
    with pytest.raises(UnknownNameError, match="n9"):
        integrals(data, inboard="n9")
    with pytest.raises(ArgumentError, match="variant"):
        integrals(data, variant="half")
    for modes in (4, -1, [0, 0], [3], "all", [0.5]):
        with pytest.raises(ArgumentError, match="modes"):
            integrals(data, modes=modes)
    with pytest.raises(ModelError, match="negative eigenvalue"):
        integrals(replace(data, mass=1e-3 * data.mass))


def test_consistent_mass_is_that_of_bodies_within_the_elements():
    """The sum over the bodies is the integral over the interpolated displacement, in every order.

    Oracle: the same frame with every element cut into many, whose lumped bodies move as the coarse element does.
    """
    parts, coarse = 40, 3
    frame = beams_frame(coarse)
    made = frame_structure(frame, "consistent")
    bodies = nodal_matrix(made.masses, made.masses[:, None] * made.centres, made.inertias)
    size = abs(made.mass).max()
    assert abs(made.motion.T @ bodies @ made.motion - made.mass).max() < 1e-14 * size
    data = reduce_structure(made, Reduction("cantilever", "root", ("tip",), 4))
    fine = frame_structure(beams_frame(coarse * parts), "lumped")
    shapes = interpolated(frame, data.shapes[: coarse + 1], parts)
    G = fine.foreshortening(shapes, 0)
    smooth = replace(
        data, node_ids=fine.node_ids, node_names=fine.node_names, positions=fine.positions,
        axes=np.tile(np.eye(3), (len(shapes), 1, 1)), masses=fine.masses, centres=fine.centres,
        inertias=fine.inertias, shapes=shapes, foreshortening=G, lines=None,
    )  # fmt: skip
    found, expected = integrals(data, "root"), integrals(smooth, "root")
    for name in ("m", "s0", "J0", "S1", "N0", "S2", "J1", "J2", "N1"):
        value, other = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        np.testing.assert_allclose(value, other, rtol=0, atol=2e-5 * np.abs(other).max(initial=1e-300), err_msg=name)


def beams_frame(elements: int) -> Frame:
    """A bar that bends differently in two planes and twists."""
    section, steel = Section(4e-4, 4e-8, 1e-8, 2e-8), Material(210e9, 80e9, 7800.0)
    bar = Beam(("root", "tip"), section, steel, np.array([0.1, 0.2, 1.0]), elements)
    return Frame("bar", ("root", "tip"), np.array([[0.0, 0, 0], [1.2, 0.5, 0.0]]), (bar,))


def interpolated(frame: Frame, shapes: np.ndarray, parts: int) -> np.ndarray:
    """Shapes (N, 6, n) at the nodes of a mesh that is `parts` times finer, by Hermite's polynomials."""
    coarse = mesh(frame)
    made = {int(end): shapes[end] for end in coarse.ends.ravel()}
    fine = mesh(replace(frame, beams=(replace(frame.beams[0], elements=len(coarse.ends) * parts),)))
    found = np.zeros((len(fine.positions), 6, shapes.shape[2]))
    x = fine.positions @ coarse.turn[0, :, 0]
    for (a, b), L, R in zip(coarse.ends, coarse.lengths, coarse.turn, strict=True):
        start = float(coarse.positions[a] @ R[:, 0])
        first, last = (np.einsum("ji,kjr->kir", R, made[int(end)].reshape(2, 3, -1)) for end in (a, b))
        for node in np.flatnonzero((x >= start - 1e-9) & (x <= start + L + 1e-9)):
            s = (x[node] - start) / L
            value = np.array([1 - 3 * s**2 + 2 * s**3, 3 * s**2 - 2 * s**3, s - 2 * s**2 + s**3, s**3 - s**2])
            slope = np.array([6 * s**2 - 6 * s, 6 * s - 6 * s**2, 1 - 4 * s + 3 * s**2, 3 * s**2 - 2 * s]) / L
            turn, moved = (1 - s) * first[0] + s * last[0], (1 - s) * first[1] + s * last[1]
            for across, about, sign in ((1, 2, 1.0), (2, 1, -1.0)):
                ends = np.array(
                    [first[1, across], last[1, across], sign * L * first[0, about], sign * L * last[0, about]]
                )
                moved[across], turn[about] = value @ ends, sign * (slope @ ends)
            found[node] = np.concatenate([R @ turn, R @ moved])
    return found


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("inertia", [0.0, 1e-2, 1e-1])
def test_rotary_inertia_is_of_the_same_order_as_mass(inertia, mass):
    """Of a bent arm with a wheel at its tip: what a force on its root accelerates, the modes being free to give way.

    Oracle: the nodal bodies where they are, turned by Exp, their velocities by differences. The error is that of the
    energy's third order: it falls with the square of the deflection.
    """
    wheel = PointMass("tip", 0.5, np.zeros(3), inertia * np.eye(3))
    bar = Beam(("root", "tip"), rectangle(0.02, 0.01), Material(70e9, 26e9, 2700.0), np.array([0.0, 0, 1]), 8)
    frame = Frame("arm", ("root", "tip"), np.array([[0.0, 0, 0], [1.0, 0, 0]]), (bar,), (wheel,))
    data = reduce_structure(frame_structure(frame, mass), Reduction("cantilever", "root", ("tip",), 4))
    made, errors = integrals(data, "root"), []
    carried = np.zeros((10, 10))
    carried[:6, :6] = np.diag([*np.diag(made.J0), *[made.m] * 3])  # as much inertia fixed to its root
    for deflection in (0.02, 0.04, 0.08):
        eta = np.zeros(4)
        eta[0] = deflection / np.abs(data.shapes[data.node("tip"), 3:, 0]).max()
        direct, summed = (
            np.linalg.inv(M + carried)[:6, :6] for M in (nodal_matrix_at(data, eta), matrix_at(made, eta))
        )
        size = np.sqrt(np.diag(direct))
        errors.append(np.abs((summed - direct) / size / size[:, None]).max())
    assert errors[0] < 5e-4
    assert np.all(np.log2(np.array(errors[1:]) / errors[:-1]) > 1.8)


def nodal_matrix_at(data: ModalData, eta: np.ndarray) -> np.ndarray:
    """(6 + n, 6 + n) of the nodal bodies at η, node by node."""
    positions, rotations = motion(data, eta)
    rates = [nodal_velocities(data, eta, unit, 1e-6) for unit in np.eye(data.modes)]
    total = np.zeros((6 + data.modes,) * 2)
    for j, (m, R) in enumerate(zip(data.masses, rotations, strict=True)):
        c, turned = R @ data.centres[j], np.array([w[j] for _, w in rates]).T
        W = np.hstack([np.eye(3), np.zeros((3, 3)), turned])
        V = np.hstack([-tilde(positions[j]), np.eye(3), np.array([v[j] for v, _ in rates]).T]) - tilde(c) @ W
        own = data.inertias[j] + m * tilde(data.centres[j]) @ tilde(data.centres[j])
        total += m * V.T @ V + W.T @ R @ own @ R.T @ W
    return total


def matrix_at(made: Integrals, eta: np.ndarray) -> np.ndarray:
    """The same of the integrals, by the formula of the module."""
    s = made.s0 + made.S1 @ eta + 0.5 * np.einsum("irs,r,s->i", made.S2, eta, eta)
    J = made.J0 + np.einsum("rkl,r->kl", made.J1, eta) + 0.5 * np.einsum("rskl,r,s->kl", made.J2, eta, eta)
    S, N = made.S1 + made.S2 @ eta, made.N0 + made.N1 @ eta
    return np.block([[J, tilde(s), N], [tilde(s).T, made.m * np.eye(3), S], [N.T, S.T, made.Mff]])
