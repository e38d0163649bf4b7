"""Modal data in the body frame F: at the inboard node, in its axes, with modes that leave that node at rest.

A rigid displacement [θ; u] of the body moves node j by φ*(F, j) [θ; u] = [θ; u + θ × r_j] (003, eq. 8).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes.modal_fields import ModalFields


@dataclass
class BodyFrameData:
    """Modal data of the chosen modes in F; shapes as in ModalData, second_order is G (zeros if there is none)."""

    positions: np.ndarray
    axes: np.ndarray
    bodies: tuple[np.ndarray, np.ndarray, np.ndarray]
    shapes: np.ndarray
    second_order: np.ndarray
    mass: np.ndarray
    rigid: np.ndarray | None
    participation: np.ndarray
    stress: dict[str, np.ndarray] | None

    def stress_displacements(self, nodes: list[int], data: ModalFields) -> dict[int, np.ndarray]:
        """G of nodes from the stress stiffness of unit forces at them: f·G = -K_g(f); 0 for the node that is held.

        ModelError if not given.
        """
        assert self.stress is not None
        assert data.stress is not None
        rows = {int(node): row for row, node in enumerate(data.stress.nodes)}
        held = data.node(data.inboard) if data.inboard else -1
        for node in nodes:
            if node not in rows and node != held:
                what = f"there is no stress stiffness of unit forces at the node '{data.labels()[node]}'"
                remedy = "Add the node to stress.nodes with its stiffness, or switch geometric stiffening off"
                raise ModelError(what, where=f"modal data '{data.name}', stress.force", remedy=remedy)
        none = np.zeros_like(self.second_order[0])
        return {node: none if node == held else -self.stress["force"][rows[node]] for node in nodes}


def in_body_frame(data: ModalFields, inboard: int | None, modes: np.ndarray) -> BodyFrameData:
    """The data with F's origin at the inboard node and in its axes; None leaves the data's frame."""
    R = np.eye(3) if inboard is None else data.axes[inboard].T
    origin = np.zeros(3) if inboard is None else data.positions[inboard]
    axes = R @ data.axes
    chosen = data.shapes[:, :, modes]
    shapes = np.concatenate([np.einsum("ik,jkr->jir", R, part) for part in (chosen[:, :3], chosen[:, 3:])], axis=1)
    pick = np.ix_(modes, modes)
    second = np.zeros((len(axes), 3, len(modes), len(modes)))
    if data.foreshortening is not None:
        second[:] = np.einsum("ik,jkrs->jirs", R, data.foreshortening[:, :, modes][:, :, :, modes])
    rigid, participation = None, np.zeros((6, len(modes)))
    if data.rigid is not None and data.participation is not None:
        move = shift(origin, R)
        rigid, participation = move @ data.rigid @ move.T, move @ data.participation[:, modes]
    body = BodyFrameData(
        positions=(data.positions - origin) @ R.T,
        axes=axes,
        bodies=(
            data.masses,
            np.einsum("jik,jk->ji", axes, data.centres),
            axes @ data.inertias @ np.swapaxes(axes, 1, 2),
        ),
        shapes=shapes,
        second_order=second,
        mass=data.mass[pick].copy(),
        rigid=rigid,
        participation=participation,
        stress=_stress(data, origin, R, modes),
    )
    if inboard is not None and np.any(body.shapes[inboard]):
        _refer(body, inboard, data)
    return body


def _refer(body: BodyFrameData, inboard: int, data: ModalFields) -> None:
    """Take the rigid displacement A = Π_d off all nodes: Π_j ← Π_j - φ*(F, j) A, F being at node d.

    With r' = Exp(-θ) (r - u_d - ½ η* G_d η) the second order of the positions is
    G_j ← G_j - G_d - 2 θ × (u_j - u_d) + θ × (θ × r_j), symmetrised, where θ = Π_d^r η and u = Π^t η.
    """
    if body.stress is not None:
        what = "modes that move the inboard node come with stress stiffness, which holds for that node at rest"
        remedy = "Compute cantilever or Craig-Bampton modes that hold this node, or switch to another inboard node"
        raise ModelError(what, where=f"modal data '{data.name}', stress", remedy=remedy)
    A = body.shapes[inboard].copy()
    theta = A[:3]
    relative = body.shapes[:, 3:] - A[3:]
    across = np.cross(theta[:, :, None], relative[:, :, None, :], axisa=0, axisb=1, axisc=1)
    inner = np.cross(theta, body.positions[:, :, None], axisa=0, axisb=1, axisc=1)
    twice = np.cross(theta[:, :, None], inner[:, :, None, :], axisa=0, axisb=1, axisc=1)
    change = twice - 2.0 * across
    body.second_order += 0.5 * (change + np.swapaxes(change, 2, 3)) - body.second_order[inboard]
    body.shapes[:, :3] -= theta
    body.shapes[:, 3:] = relative - inner
    if body.rigid is not None:
        rigid, coupling = body.rigid, body.participation
        body.mass += A.T @ rigid @ A - A.T @ coupling - coupling.T @ A
        body.participation = coupling - rigid @ A
    else:
        body.mass += _lumped_change(body, A)


def _lumped_change(body: BodyFrameData, A: np.ndarray) -> np.ndarray:
    """Change of M_ff = Π* M Π under Π' = Π - B* A: with nodal masses, -(A* B M Π' + its transpose + A* B M B* A)."""
    masses, centres, inertias = body.bodies
    first = cross_matrix(masses[:, None] * centres)
    nodal = np.zeros((len(masses), 6, 6))
    nodal[:, :3, :3], nodal[:, :3, 3:], nodal[:, 3:, :3] = inertias, first, np.swapaxes(first, 1, 2)
    nodal[:, 3:, 3:] = masses[:, None, None] * np.eye(3)
    rigid_motion = np.array([shift(-position, np.eye(3)).T for position in body.positions]) @ A
    cross = np.einsum("jar,jab,jbs->rs", rigid_motion, nodal, body.shapes)
    both = np.einsum("jar,jab,jbs->rs", rigid_motion, nodal, rigid_motion)
    return np.asarray(-cross - cross.T - both)


def _stress(data: ModalFields, origin: np.ndarray, R: np.ndarray, modes: np.ndarray) -> dict[str, np.ndarray] | None:
    """Stress stiffness in F's axes and about F's origin: r_F = R (r - p), so the loads of angular fields change."""
    if data.stress is None:
        return None
    cut = {name: getattr(data.stress, name)[..., modes, :][..., modes] for name in ("acceleration", "angular", "force")}
    centrifugal = data.stress.centrifugal[..., modes, :][..., modes]
    linear = cut["acceleration"]
    # m e × (r - p): less the field of the constant acceleration e × p
    angular = cut["angular"] - np.einsum("ikl,k,lrs->irs", _LEVI_CIVITA, origin, linear)
    dot = np.einsum("k,krs->rs", origin, linear)
    outer = origin[:, None, None, None] * linear[None]
    centrifugal = centrifugal - (np.eye(3)[:, :, None, None] * dot - 0.5 * (outer + np.swapaxes(outer, 0, 1)))
    return {
        "acceleration": np.einsum("ik,krs->irs", R, linear),
        "angular": np.einsum("ik,krs->irs", R, angular),
        "centrifugal": np.einsum("ik,jl,klrs->ijrs", R, R, centrifugal),
        "force": np.einsum("ik,jkrs->jirs", R, cut["force"]),
    }


def shift(origin: np.ndarray, R: np.ndarray) -> np.ndarray:
    """(6, 6) X: forces [moment; force] about the old origin to those about `origin`, in axes turned by R."""
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = R
    turn[:3, 3:] = -R @ cross_matrix(origin)
    return turn


def cross_matrix(vector: np.ndarray) -> np.ndarray:
    """x~ (…, 3, 3) with x~ y = x × y."""
    return np.asarray(np.einsum("ikl,...k->...il", _LEVI_CIVITA, vector))


_LEVI_CIVITA = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _LEVI_CIVITA[_i, _j, _k], _LEVI_CIVITA[_i, _k, _j] = 1.0, -1.0
