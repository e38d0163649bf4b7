"""Modal data at random and the direct route: motion of every nodal body by differences, energy and momentum summed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

from limberjack.engine.modes import ModalData, Stress


def random_data(seed: int, nodes: int = 5, modes: int = 3, foreshortening: bool = True) -> ModalData:
    """A body of random nodal bodies; node "n0" is at rest in all modes."""
    rng = np.random.default_rng(seed)
    shapes = 0.4 * rng.normal(size=(nodes, 6, modes))
    shapes[0] = 0.0
    masses = rng.uniform(0.5, 2.0, nodes)
    centres = 0.3 * rng.normal(size=(nodes, 3))
    spread = rng.normal(size=(nodes, 3, 3))
    inertias = np.array([m * (c @ c * np.eye(3) - np.outer(c, c)) + 0.1 * s @ s.T + 0.1 * np.eye(3)
                         for m, c, s in zip(masses, centres, spread)])  # fmt: skip
    axes = np.array(Rotation.random(nodes, random_state=seed).as_matrix())
    second = rng.normal(size=(nodes, 3, modes, modes))
    second[0] = 0.0
    stiffness = rng.normal(size=(modes, modes))
    return ModalData(
        name="random", source="test", kind="cantilever", inboard="n0", interface=("n0", "n1"),
        node_ids=np.arange(10, 10 + nodes), node_names=tuple(f"n{i}" for i in range(nodes)),
        positions=rng.normal(size=(nodes, 3)), axes=axes, masses=masses, centres=centres, inertias=inertias,
        shapes=shapes, mass=nodal_mass(masses, centres, inertias, axes, shapes), stiffness=stiffness @ stiffness.T,
        damping=rng.uniform(0.0, 0.1, modes),
        foreshortening=second + np.swapaxes(second, 2, 3) if foreshortening else None,
    )  # fmt: skip


def shortened(data: ModalData, node: int) -> ModalData:
    """The same with second-order displacements towards a node alone."""
    r = data.positions - data.positions[node]
    along = r / np.maximum(np.linalg.norm(r, axis=1), 1e-300)[:, None]
    return replace(data, foreshortening=np.einsum("ji,jk,jkrs->jirs", along, along, data.foreshortening))


def tilde(x: np.ndarray) -> np.ndarray:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def nodal_mass(masses, centres, inertias, axes, shapes) -> np.ndarray:
    """Π* M_s Π, node by node."""
    total = np.zeros((shapes.shape[2],) * 2)
    for m, c, J, R, Pi in zip(masses, centres, inertias, axes, shapes):
        first = m * tilde(R @ c)
        M = np.block([[R @ J @ R.T, first], [first.T, m * np.eye(3)]])
        total += Pi.T @ M @ Pi
    return total


def motion(data: ModalData, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and rotations of all nodes in the data's frame."""
    second = 0.0 if data.foreshortening is None else 0.5 * np.einsum("jirs,r,s->ji", data.foreshortening, eta, eta)
    positions = data.positions + data.shapes[:, 3:] @ eta + second
    return positions, Rotation.from_rotvec(data.shapes[:, :3] @ eta).as_matrix() @ data.axes


def nodal_velocities(data: ModalData, eta: np.ndarray, rate: np.ndarray, step: float = 1e-5):
    """Central differences of `motion`: velocities and angular velocities relative to the frame, in its axes."""
    p_plus, R_plus = motion(data, eta + step * rate)
    p_minus, R_minus = motion(data, eta - step * rate)
    turned = Rotation.from_matrix(R_plus @ np.swapaxes(R_minus, 1, 2)).as_rotvec()
    return (p_plus - p_minus) / (2 * step), turned / (2 * step)


def energy_and_momentum(data: ModalData, omega, v, eta, rate) -> tuple[float, np.ndarray]:
    """T and [angular about the frame's origin; linear] momentum in frame axes: direct sums over the nodal bodies."""
    positions, rotations = motion(data, eta)
    rates, turns = nodal_velocities(data, eta, rate)
    T, momentum = 0.0, np.zeros(6)
    for m, c, J, p, R, dp, w in zip(data.masses, data.centres, data.inertias, positions, rotations, rates, turns):
        turn, centre = omega + w, R @ c
        speed = v + np.cross(omega, p) + dp
        linear = m * (speed + np.cross(turn, centre))
        angular = R @ J @ R.T @ turn + m * np.cross(centre, speed)
        T += 0.5 * (turn @ angular + speed @ linear)
        momentum += np.r_[angular + np.cross(p, linear), linear]
    return T, momentum


def integral_energy_and_momentum(made, omega, v, eta, rate) -> tuple[float, np.ndarray]:
    """The same from the integrals, by the formula of the module."""
    s = made.s0 + made.S1 @ eta + 0.5 * np.einsum("irs,r,s->i", made.S2, eta, eta)
    S = made.S1 + np.einsum("irs,s->ir", made.S2, eta)
    J = made.J0 + np.einsum("rkl,r->kl", made.J1, eta) + 0.5 * np.einsum("rskl,r,s->kl", made.J2, eta, eta)
    h = (made.N0 + np.einsum("irs,s->ir", made.N1, eta)) @ rate
    T = 0.5 * made.m * v @ v + v @ np.cross(omega, s) + v @ S @ rate + 0.5 * omega @ J @ omega + omega @ h
    T += 0.5 * rate @ made.Mff @ rate
    linear = made.m * v + np.cross(omega, s) + S @ rate
    return T, np.r_[J @ omega + np.cross(s, v) + h, linear]


def mass_matrix_modes(K: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All eigenmodes by LAPACK's dense generalized solver."""
    return eigh(K, M)


def stress_of(data: ModalData) -> Stress:
    """The stress stiffness of unit loads that says the same as the data's foreshortening: K_g(f) = -Σ f·G."""
    G, m, r = data.foreshortening, data.masses, data.positions
    unit = np.eye(3)
    loads = np.zeros((3, 3, len(m), 3))
    for i in range(3):
        for j in range(3):
            loads[i, j] = m[:, None] * ((i == j) * r - 0.5 * (np.outer(r[:, j], unit[i]) + np.outer(r[:, i], unit[j])))
    return Stress(
        acceleration=-np.einsum("j,jirs->irs", m, G),
        angular=np.array([-np.einsum("ji,jirs->rs", m[:, None] * np.cross(e, r), G) for e in unit]),
        centrifugal=-np.einsum("abji,jirs->abrs", loads, G),
        nodes=np.arange(len(m)),
        force=-G,
    )
