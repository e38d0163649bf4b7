"""Effective masses: how much of a body's rigid inertia each eigenmode carries, and what is left over.

With modes of unit modal mass, L = B M Π (6, n) about the base; mode r carries L_r L_r* of the rigid inertia, and the
residual R = B M B* - Σ L_r L_r* is what all modes left out carry: it is never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.modes.data import ModalData, selected_modes
from limberjack.engine.modes.integrals import integrals, modal_mass_matrix
from limberjack.engine.modes.modal_fields import Stress
from limberjack.engine.modes.reference import shift

DIRECTIONS = ("rx", "ry", "rz", "x", "y", "z")


@dataclass(frozen=True, eq=False)
class EffectiveMass:
    """About the inboard node (free-free: the centre of mass), data axes; eigenmodes ascending.

    frequencies : (n,) Hz;  damping : (n,)
    participation : (6, n) L, [kg·m per √kg; kg per √kg];  effective : (6, n) L², kg·m² and kg
    rigid : (6, 6) spatial inertia;  residual : (6, 6) what the modes do not carry
    """

    frequencies: np.ndarray
    damping: np.ndarray
    participation: np.ndarray
    effective: np.ndarray
    rigid: np.ndarray
    residual: np.ndarray

    def fractions(self) -> np.ndarray:
        """(6, n) effective mass over the body's in each direction; 0 where the body has none."""
        whole = np.diag(self.rigid)[:, None]
        return np.asarray(np.where(whole > 0.0, self.effective / np.where(whole > 0.0, whole, 1.0), 0.0))


def effective_mass(data: ModalData) -> EffectiveMass:
    """Effective masses of the data's eigenmodes. ModelError if the residual mass is negative (masses do not fit)."""
    made = integrals(data, variant="linearized")  # its test of the modal mass matrix is that of the residual
    whole = modal_mass_matrix(made)
    origin = made.s0 / made.m if data.kind == "free-free" else data.positions[data.node(data.inboard)]
    move = shift(origin, np.eye(3))
    rigid = move @ whole[:6, :6] @ move.T
    squares, vectors = data.eigenmodes() if data.modes else (np.zeros(0), np.zeros((0, 0)))
    L = move @ whole[:6, 6:] @ vectors
    frequencies = np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi)
    return EffectiveMass(frequencies, data.damping, L, L**2, rigid, rigid - L @ L.T)


def choose_modes(data: ModalData, least_fraction: float = 0.0, highest_hz: float = np.inf) -> ModalData:
    """The modes up to a frequency that carry at least a fraction of the body's mass or inertia in some direction.

    Raises ArgumentError if no mode is left: free-free modes carry no effective mass.
    """
    if not 0.0 <= least_fraction < 1.0:
        raise ArgumentError(f"the least effective mass is {least_fraction:g}; give a fraction from 0 to below 1.")
    table = effective_mass(data)
    keep = np.flatnonzero((table.fractions().max(axis=0) >= least_fraction) & (table.frequencies <= highest_hz))
    if not len(keep):
        raise ArgumentError(
            f"none of the {data.modes} modes is below {highest_hz:g} Hz with an effective mass of at least "
            f"{least_fraction:g} of the body. Lower the fraction (free-free modes carry none), or raise the frequency."
        )
    return with_modes(eigen_data(data), keep)


def eigen_data(data: ModalData) -> ModalData:
    """The same data in the eigenmodes of (K, M_ff), of unit modal mass."""
    squares, vectors = data.eigenmodes()
    return replace(
        data,
        shapes=data.shapes @ vectors,
        mass=np.eye(data.modes),
        stiffness=np.diag(squares),
        participation=None if data.participation is None else data.participation @ vectors,
        foreshortening=None if data.foreshortening is None else vectors.T @ data.foreshortening @ vectors,
        stress=None if data.stress is None else _map_stress(data.stress, lambda block: vectors.T @ block @ vectors),
    )


def with_modes(data: ModalData, modes: int | Sequence[int] | np.ndarray | None) -> ModalData:
    """The data of some of the modes, by number or indices."""
    chosen = selected_modes(modes if not isinstance(modes, np.ndarray) else modes.tolist(), data.modes)
    pick = np.ix_(chosen, chosen)

    def cut(block: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(block[..., chosen, :][..., chosen])

    return replace(
        data,
        shapes=np.ascontiguousarray(data.shapes[:, :, chosen]),
        mass=data.mass[pick],
        stiffness=data.stiffness[pick],
        damping=data.damping[chosen],
        participation=None if data.participation is None else data.participation[:, chosen],
        foreshortening=None if data.foreshortening is None else cut(data.foreshortening),
        stress=None if data.stress is None else _map_stress(data.stress, cut),
    )


def _map_stress(stress: Stress, change) -> Stress:  # type: ignore[no-untyped-def]
    return Stress(
        change(stress.acceleration),
        change(stress.angular),
        change(stress.centrifugal),
        stress.nodes,
        change(stress.force),
    )
