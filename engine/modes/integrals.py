"""Modal integrals: the kinetic energy of a flexible body, exact to second order in the modal coordinates.

    T = ½ m v² + v·(ω × s) + v·ṡ + ½ ω·J ω + ω·h + ½ η̇* M_ff η̇
    s(η) = s0 + S1 η + ½ η* S2 η,   J(η) = J0 + J1_r η_r + ½ J2_rs η_r η_s,   h = (N0_r + N1_rs η_s) η̇_r

The sums run over the nodal bodies, each taken at its own centre of mass: r(η) = r0 + P η + ½ η* Q η, turned by
Exp(Π^r η), which turns at the rate Π^r η̇ + ½ Π^r η × Π^r η̇.

Of Q across r the modes' own share is left out of the inertia (`inertial_part`). M_ff is constant: its first order in η,
P*Q, is what this share would need. Without it a slender wing that twists and bends would have an indefinite mass
matrix at deflections of a thousandth of its length.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.modes.data import ModalData, central_inertias, selected_modes
from limberjack.engine.modes.modal import Attachment, Integrals
from limberjack.engine.modes.outline import outline
from limberjack.engine.modes.reference import BodyFrameData, cross_matrix, in_body_frame

VARIANTS = ("full", "linearized")


def integrals(
    data: ModalData,
    inboard: str | None = None,
    attachments: Sequence[str] = (),
    modes: int | Sequence[int] | None = None,
    variant: str = "full",
    geometric: bool = True,
) -> Integrals:
    """The integrals of a body, for the dynamics.

    Parameters
    ----------
    data : the body's modal data
    inboard : node whose frame is the body frame F and which the modes must not move: modes that move it are referred
        to it (a rigid displacement is taken off). None: F is the data's frame and the modes stay as they are
    attachments : names (or ids) of the nodes to keep
    modes : None for all, a number for the first, or indices
    variant : "full", or "linearized" with a constant mass matrix: S2 = J1 = J2 = N1 = 0, G = 0
    geometric : whether the second-order displacements (or the stress stiffness) of the data are used

    Raises
    ------
    ArgumentError for an unknown node, mode or variant; ModelError for a mass matrix that is not positive definite
    """
    if variant not in VARIANTS:
        raise ArgumentError(f"variant is {variant!r}; use one of: {', '.join(VARIANTS)}.")
    chosen = selected_modes(modes, data.modes)
    body = in_body_frame(data, None if inboard is None else data.node(inboard), chosen)
    full = variant == "full"
    if not (full and geometric):
        body.second_order[:] = 0.0
    second, turned = body.second_order, np.zeros_like(body.second_order)
    if inboard is not None:
        second, turned = inertial_part(second, body)
    sums = _nodal_sums(body.positions, body.shapes, (second, turned), body.bodies, full)
    if full and geometric and body.stress is not None:
        _add_stress(sums, body.stress)
    if body.rigid is not None:
        _replace_zeroth_order(sums, body.rigid, body.participation)
    damping = _damping(data)[np.ix_(chosen, chosen)]
    nodes = [data.node(name) for name in attachments]
    G = body.second_order if body.stress is None or not (full and geometric) else body.stress_displacements(nodes, data)
    kept = tuple(
        Attachment(name, body.axes[j], body.positions[j], body.shapes[j, :3], body.shapes[j, 3:], G[j])
        for name, j in zip(attachments, nodes)
    )
    stiffness = data.stiffness[np.ix_(chosen, chosen)].copy()
    mass = float(sums.pop("m"))
    made = Integrals(
        m=mass, Mff=body.mass, K=stiffness, C=damping, attachments=kept, outline=outline(data, body), **sums
    )
    _check_mass(data, made)
    return made


def inertial_part(second: np.ndarray, body: BodyFrameData) -> tuple[np.ndarray, np.ndarray]:
    """Second-order displacements and rotations (N, 3, n, n) of the masses, in coordinates in which M_ff is constant.

        Q = Q_r + Q_t,   Q_t ← Q_t - P Γ,   turns ½ η* Z η, Z = -Π^r Γ,   Γ = M_ff⁻¹ Σ m P* Q_t

    Q_r is along r, from the inboard node: foreshortening, which stiffens. What Q_t across it shares with the modes
    (bending turned by twist) a change of the modal coordinates of second order takes away; strain energy of third order
    then is left out, and with it the twisting of a bent body under its own weight. Forces on nodes feel all of Q.
    """
    r = np.linalg.norm(body.positions, axis=1)
    along = body.positions / np.where(r > 0.0, r, 1.0)[:, None]
    across = second - np.einsum("ji,jk,jkrs->jirs", along, along, second)
    shares = np.einsum("j,jir,jist->rst", body.bodies[0], body.shapes[:, 3:], across)
    made = np.tensordot(np.linalg.inv(body.mass), shares, 1)
    change = np.einsum("jir,rst->jist", body.shapes, made)
    return second - change[:, 3:], -change[:, :3]


def _nodal_sums(
    positions: np.ndarray, shapes: np.ndarray, second: tuple[np.ndarray, np.ndarray], bodies: tuple, full: bool
) -> dict[str, np.ndarray]:
    """The sums over all nodes; those of first and second order are zeros unless `full`."""
    masses, centres, inertias = bodies
    n = shapes.shape[2]
    turn = shapes[:, :3]
    r0 = positions + centres
    P = shapes[:, 3:] + np.cross(turn, centres[:, :, None], axis=1)
    Jc = central_inertias(masses, centres, inertias)
    sums = {
        "m": np.asarray(masses.sum()),
        "s0": masses @ r0,
        "J0": 0.5 * np.einsum("j,jkl->kl", masses, _spread(r0, r0)) + Jc.sum(axis=0),
        "S1": np.einsum("j,jir->ir", masses, P),
        "N0": np.einsum("j,jir->ir", masses, np.cross(r0[:, :, None], P, axis=1)) + np.einsum("jik,jkr->ir", Jc, turn),
    }
    shape = {"S2": (3, n, n), "J1": (n, 3, 3), "J2": (n, n, 3, 3), "N1": (3, n, n)}
    sums |= {name: np.zeros(size) for name, size in shape.items()}
    if full:
        for j in range(len(masses)):
            moved, turned = second[0][j], second[1][j]
            Q = moved + _swing(turn[j], centres[j]) + np.cross(turned, centres[j][:, None, None], axis=0)
            _add_node(sums, masses[j], r0[j], P[j], Q)
            if Jc[j].any():
                _add_turns(sums, turn[j], turned, Jc[j])
    return sums


def _spread(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """2 (a·b) 1 - a b* - b a*, (…, 3, 3): the moment of inertia's bilinear form, twice."""
    outer = a[..., :, None] * b[..., None, :]
    dot = np.einsum("...i,...i->...", a, b)[..., None, None]
    return np.asarray(2.0 * dot * np.eye(3) - outer - np.swapaxes(outer, -1, -2))


def _swing(turn: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """(3, n, n): ∂² of ½ θ × (θ × c) by η, with θ = Π^r η."""
    once = np.cross(turn, centre[:, None], axis=0)
    twice = np.cross(turn[:, :, None], once[:, None, :], axis=0)
    return np.asarray(0.5 * (twice + np.swapaxes(twice, 1, 2)))


def _add_node(sums: dict[str, np.ndarray], m: float, r0: np.ndarray, P: np.ndarray, Q: np.ndarray) -> None:
    """One nodal mass's part of S2, J1, J2 and N1 (module docstring)."""
    Pr, Qrs = P.T, np.moveaxis(Q, 0, 2)
    sums["S2"] += m * Q
    sums["J1"] += m * _spread(r0, Pr)
    sums["J2"] += m * (_spread(Pr[:, None], Pr[None, :]) + _spread(r0, Qrs))
    sums["N1"] += m * (np.cross(P[:, None, :], P[:, :, None], axis=0) + np.cross(r0[:, None, None], Q, axis=0))


def _add_turns(sums: dict[str, np.ndarray], turn: np.ndarray, second: np.ndarray, J: np.ndarray) -> None:
    """The part of one nodal body's own inertia J, which turns by Exp(Π^r η + ½ η* Z η); second : Z (3, n, n)."""
    hat = cross_matrix(turn.T)
    first = hat @ J + np.swapaxes(hat @ J, 1, 2)
    product = hat[:, None] @ hat[None, :]
    even = 0.5 * (product + np.swapaxes(product, 0, 1))
    odd = hat[:, None] @ J @ hat[None, :]
    sums["J1"] += first
    swung = cross_matrix(np.moveaxis(second, 0, 2)) @ J
    sums["J2"] += even @ J + J @ even - odd - np.swapaxes(odd, 0, 1) + swung + np.swapaxes(swung, 2, 3)
    sums["N1"] += np.einsum("sik,kr->irs", first, turn)
    sums["N1"] += 0.5 * np.einsum("ik,krs->irs", J, np.cross(turn[:, None, :], turn[:, :, None], axis=0))
    sums["N1"] += np.einsum("ik,krs->irs", J, second)


def _add_stress(sums: dict[str, np.ndarray], stress: dict[str, np.ndarray]) -> None:
    """Second-order terms from the stress stiffness of unit loads f: f·G = -K_g(f)."""
    sums["S2"] -= stress["acceleration"]
    sums["N1"] -= stress["angular"]
    sums["J2"] -= 2.0 * np.moveaxis(stress["centrifugal"], (0, 1), (2, 3))


def _replace_zeroth_order(sums: dict[str, np.ndarray], rigid: np.ndarray, participation: np.ndarray) -> None:
    """m, s0, J0, S1, N0 of the full mass matrix: rigid = [J0, s~0; -s~0, m], participation = [N0; S1]."""
    tilde = rigid[:3, 3:]
    sums["m"] = rigid[3, 3]
    sums["s0"] = np.array([tilde[2, 1], tilde[0, 2], tilde[1, 0]])
    sums["J0"] = rigid[:3, :3].copy()
    sums["N0"], sums["S1"] = participation[:3].copy(), participation[3:].copy()


def _damping(data: ModalData) -> np.ndarray:
    """C = M Φ diag(2 ζ ω) Φ* M with Φ* M Φ = 1."""
    if not data.modes:
        return np.zeros((0, 0))
    squares, vectors = data.eigenmodes()
    weighted = data.mass @ vectors
    return np.asarray(weighted * (2.0 * data.damping * np.sqrt(np.maximum(squares, 0.0))) @ weighted.T)


def modal_mass_matrix(made: Integrals) -> np.ndarray:
    """(6 + n, 6 + n), undeformed: [J0, s~0, N0; -s~0, m, S1; N0*, S1*, M_ff] for [ω, v, η̇] (003, eq. 25)."""
    tilde = cross_matrix(made.s0)
    rigid = np.block([[made.J0, tilde], [tilde.T, made.m * np.eye(3)]])
    coupling = np.vstack([made.N0, made.S1])
    return np.block([[rigid, coupling], [coupling.T, made.Mff]])


def _check_mass(data: ModalData, made: Integrals) -> None:
    """The residual mass test: what the modes leave of the rigid inertia must not be negative."""
    least = np.linalg.eigvalsh(_scaled(modal_mass_matrix(made)))
    if made.m <= 0.0 or least[0] < -1e-9:
        what = (
            "the modal mass matrix has a negative eigenvalue: modal mass, nodal masses and shapes do not fit together"
        )
        remedy = "Take masses, shapes and modal mass from one and the same model, all in SI units"
        raise ModelError(what, where=f"modal data '{data.name}'", remedy=remedy)


def _scaled(matrix: np.ndarray) -> np.ndarray:
    """The matrix with ones on its diagonal (zeros stay zeros)."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scale[np.diag(matrix) <= 0.0] = 1.0
    return np.asarray(matrix * scale * scale[:, None])
