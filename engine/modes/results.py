"""Eigenmodes that a finite-element program has computed, as modal data: nodes, shapes, frequencies, masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes.calculix_stress import LoadSteps
from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.description import ReductionSpec, TieSpec, vector
from limberjack.engine.modes.eigen import RIGID
from limberjack.engine.modes.matrices import tied_nodes
from limberjack.engine.modes.modal_fields import Stress
from limberjack.engine.modes.reduction import damping_ratios
from limberjack.engine.modes.reference import cross_matrix
from limberjack.engine.modes.unit_loads import fit, load_names, spread_forces, stress_of_loads, unit_loads

#: how far a modal mass may be from 1: by a consistent mass matrix of the mesh, and by lumped masses
FULL_TOLERANCE, LUMPED_TOLERANCE = 0.02, 0.2
#: largest motion of the held node beside the largest of all: digits of text files
AT_REST = 1e-4


@dataclass(frozen=True, eq=False)
class Results:
    """Mass-normalised eigenmodes, SI.

    ids : (N,);  positions : (N, 3) m;  shapes : (N, 6, n) [rotation; translation];  frequencies : (n,) Hz
    masses : (N,) kg;  centres : (N, 3);  inertias : (N, 3, 3), as in ModalData
    full_mass : sparse (N, N) mass matrix of each translation, or None if the nodal bodies are all there is
    turns : whether the shapes have rotations;  lines : (E, 2) for drawings
    deck : static steps under unit loads, of programs that have them
    """

    source: str
    ids: np.ndarray
    positions: np.ndarray
    shapes: np.ndarray
    frequencies: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    inertias: np.ndarray
    full_mass: Any
    turns: bool
    lines: np.ndarray | None
    deck: LoadSteps | None = None


def results_modal_data(
    name: str, found: Results, ties: Sequence[TieSpec], interface: Sequence[str], how: ReductionSpec
) -> ModalData:
    """The modal data. ModelError for masses that do not fit the modes, or a request that the results cannot meet."""
    where = f"structure '{name}'"
    inboard = "" if how.inboard is None else str(how.inboard)
    if how.kind == "craig-bampton":
        remedy = "Give mass and stiffness matrices, or use cantilever or free-free modes"
        raise ModelError("results hold eigenmodes, from which no static modes can be made", where=where, remedy=remedy)
    if (how.kind == "free-free") != (not inboard):
        remedy = "Name it for cantilever modes; leave it out for free-free modes"
        raise ModelError(f"{how.kind} modes and inboard '{inboard}' cannot be combined", where=where, remedy=remedy)
    first = _first_mode(found, how, where)
    chosen = slice(first, first + how.modes)
    shapes, omega = found.shapes[:, :, chosen], 2.0 * np.pi * found.frequencies[chosen]
    mass, rigid, participation = _masses(found, shapes, where)
    groups, places = _groups(found, ties)
    added = [fitted(found.positions[group] - place, shapes[group, 3:]) for group, place in zip(groups, places)]
    labels = [*map(str, found.ids), *(tie.name for tie in ties)]
    everywhere = np.concatenate([shapes, np.array(added).reshape(-1, 6, len(omega))])
    for label in (*interface, *([inboard] if inboard else [])):
        _check_node(label, labels, found, where)
    if inboard:
        _hold(everywhere, labels.index(inboard), inboard, where)
    none = np.zeros(len(ties))
    return ModalData(
        name=name,
        source=found.source,
        kind=how.kind,
        inboard=inboard,
        interface=tuple(interface),
        node_ids=np.append(found.ids, found.ids.max() + 1 + np.arange(len(ties))),
        node_names=(*[""] * len(found.ids), *(tie.name for tie in ties)),
        positions=np.vstack([found.positions, *places]),
        axes=np.tile(np.eye(3), (len(labels), 1, 1)),
        masses=np.append(found.masses, none),
        centres=np.vstack([found.centres, np.zeros((len(ties), 3))]),
        inertias=np.concatenate([found.inertias, np.zeros((len(ties), 3, 3))]),
        shapes=everywhere,
        mass=mass,
        stiffness=omega * omega[:, None] * mass,
        damping=damping_ratios(how.damping, len(omega)),
        rigid=rigid,
        participation=participation,
        stress=_stress(found, ties, inboard, shapes, where),
        lines=found.lines,
    )


def _groups(found: Results, ties: Sequence[TieSpec]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Nodes and place of every tie."""
    groups = [tied_nodes(found.positions, found.ids, tie) for tie in ties]
    places = [found.positions[group].mean(axis=0) if tie.position is None else vector(tie.position)
              for tie, group in zip(ties, groups)]  # fmt: skip
    return groups, places


def result_loads(found: Results, ties: Sequence[TieSpec], inboard: str) -> tuple[list[str], np.ndarray]:
    """Names and nodal forces (L, N, 3) of the unit loads; forces at the ties that are not held."""
    groups, places = _groups(found, ties)
    forces = [spread_forces(len(found.ids), group, found.positions[group] - place)
              for tie, group, place in zip(ties, groups, places) if tie.name != inboard]  # fmt: skip
    mass = found.full_mass
    inertia = (lambda field: found.masses[:, None] * field) if mass is None else (lambda field: mass @ field)
    return load_names([tie.name for tie in ties if tie.name != inboard]), unit_loads(inertia, found.positions, forces)


def _stress(found: Results, ties: Sequence[TieSpec], inboard: str, shapes: np.ndarray, where: str) -> Stress | None:
    """Stress stiffness under unit loads, where the deck has run them."""
    if found.deck is None or found.deck.results is None:
        return None
    if not inboard:
        what = "stresses under unit loads are those of a body held at its inboard node, but the modes are free-free"
        raise ModelError(what, where=where, remedy="Use cantilever modes, or leave stress out")
    nodes = [len(found.ids) + i for i, tie in enumerate(ties) if tie.name != inboard]
    return stress_of_loads(found.deck.stiffness(shapes[:, 3:], *result_loads(found, ties, inboard)), nodes)


def _first_mode(found: Results, how: ReductionSpec, where: str) -> int:
    """Index of the first mode that is wanted: free-free modes begin after six rigid motions."""
    first, count = RIGID if how.kind == "free-free" else 0, len(found.frequencies)
    if count < first + how.modes or not how.modes:
        what = f"{how.modes} modes are asked for, but the results hold {max(count - first, 0)}"
        raise ModelError(what, where=where, remedy="Ask for fewer, at least 1, or compute more")
    low = found.frequencies[: first + 1]
    if first and low[first - 1] > 0.01 * low[first]:
        what = (
            f"the first six modes of the floating body should be near 0 Hz, but the sixth has {low[first - 1]:.4g} Hz"
        )
        raise ModelError(what, where=where, remedy="Compute the modes without supports, or use cantilever modes")
    if not first and low[0] <= 0.0:
        raise ModelError("the first mode has 0 Hz", where=where, remedy="Use free-free modes, or hold the body")
    return first


def _masses(found: Results, shapes: np.ndarray, where: str) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Modal mass by the body's masses, near 1; rigid inertia and participation of a full mass matrix."""
    from limberjack.engine.modes.frame_structure import nodal_matrix

    n, count = shapes.shape[2], len(shapes)
    B = np.zeros((count, 6, 6))
    B[:, :3, :3] = B[:, 3:, 3:] = np.eye(3)
    B[:, 3:, :3] = -cross_matrix(found.positions)
    both = np.concatenate([B, shapes], axis=2)
    if found.full_mass is None:
        tolerance = LUMPED_TOLERANCE
        flat = both.reshape(6 * count, 6 + n)
        whole = flat.T @ (nodal_matrix(found.masses, found.masses[:, None] * found.centres, found.inertias) @ flat)
    else:
        tolerance = FULL_TOLERANCE
        whole = sum((both[:, i].T @ (found.full_mass @ both[:, i]) for i in (3, 4, 5)), np.zeros((6 + n, 6 + n)))
    whole = 0.5 * (whole + whole.T)
    mass = whole[6:, 6:]
    _check_modal_mass(np.diag(mass), tolerance, lumped=found.full_mass is None, where=where)
    if found.full_mass is None:
        return _completed(mass), None, None
    return mass, whole[:6, :6], whole[:6, 6:]


def _check_modal_mass(mass: np.ndarray, tolerance: float, lumped: bool, where: str) -> None:
    """By a full mass matrix every modal mass must be near 1; nodal masses may miss rotary inertia in some modes."""
    worst = int(np.argmax(mass if lumped and mass.max() > 1.0 + tolerance else np.abs(mass - 1.0)))
    low = 1.0 - (np.median(mass) if lumped else mass.min())
    if mass.max() > 1.0 + tolerance or low > tolerance:
        what = f"with these masses mode {worst + 1} has the modal mass {mass[worst]:.4g} instead of 1"
        remedy = "Correct densities, masses and units, all of them of the same model"
        if not lumped:
            remedy += "; coarse C3D8I, S4, B31, and full beside reduced integration, need masses or matrices"
        raise ModelError(what, where=where, remedy=remedy)


def _completed(mass: np.ndarray) -> np.ndarray:
    """Modal mass by nodal masses, and what they miss of the program's own, which is 1: M + positive part of 1 - M."""
    values, vectors = np.linalg.eigh(np.eye(len(mass)) - mass)
    return np.asarray(mass + (vectors * np.maximum(values, 0.0)) @ vectors.T)


def fitted(arms: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """(6, n) rigid displacement of a point that fits those of the nodes at `arms` (k, 3) best; moved : (k, 3, n)."""
    return np.asarray(fit(arms) @ moved.reshape(3 * len(arms), -1))


def _check_node(label: str, labels: list[str], found: Results, where: str) -> None:
    if label not in labels:
        remedy = "Name an id of the results, or a set of nodes: {name: …, nodes: […]}"
        raise ModelError(f"there is no node '{label}'", where=where, remedy=remedy)
    if labels.index(label) < len(found.ids) and not found.turns:
        what = f"the node '{label}' has no rotations, so that nothing can be attached to it"
        raise ModelError(what, where=where, remedy="Name a set of nodes that it stands for: {name: …, nodes: […]}")


def _hold(shapes: np.ndarray, node: int, name: str, where: str) -> None:
    """Clear the rounding of the held node's shapes; ModelError if it moves."""
    moved, most = np.abs(shapes[node]).max(), np.abs(shapes).max()
    if moved > AT_REST * most:
        what = f"the modes move the inboard node '{name}' by {moved / most:.2g} of their largest displacement"
        raise ModelError(what, where=where, remedy="Hold this node when computing the modes, or use free-free modes")
    shapes[node] = 0.0
