"""Mass and stiffness matrices of any finite-element program as a structure, with interfaces tied to sets of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes.description import MatricesSpec, TieSpec, vector
from limberjack.engine.modes.matrix_files import read_matrix, read_nodes, read_rows
from limberjack.engine.modes.reference import cross_matrix
from limberjack.engine.modes.structure import Structure, need_scipy

#: place of a freedom in a node's spatial displacement [rotation; translation]
PLACES = {"rx": 0, "ry": 1, "rz": 2, "x": 3, "y": 4, "z": 5}
#: coupled pairs of nodes, beside the nodes, of a structure that is drawn as members; solids and shells have more
MOST_MEMBERS = 2.5


def matrix_structure(name: str, spec: MatricesSpec, folder: Path) -> Structure:
    """The structure of files, no nodes tied. ModelError for files that cannot be read or do not fit together."""
    need_scipy()
    import scipy.sparse

    K, M = read_matrix(spec.stiffness, folder), read_matrix(spec.mass, folder)
    ids, positions = read_nodes(spec.nodes, folder)
    if K.shape != M.shape:
        what = f"the mass matrix has {M.shape[0]} rows, the stiffness matrix {K.shape[0]}"
        raise ModelError(what, where=str(folder / spec.mass), remedy="Give matrices of the same freedoms")
    kept = _kept(spec, ids, K.shape[0], folder)
    length, mass = spec.units.length, spec.units.mass
    scale = scipy.sparse.diags(np.where(kept % 6 < 3, length, 1.0))
    K, M = ((mass * (scale @ matrix @ scale)).tocsr() for matrix in (K, M))
    source = f"matrices {Path(spec.stiffness).name}, {Path(spec.mass).name}"
    return sparse_structure(name, source, ids, length * positions, K, M, kept)


def _kept(spec: MatricesSpec, ids: np.ndarray, rows: int, folder: Path) -> np.ndarray:
    """(d,) place of every row among the 6 N nodal displacements."""
    where = str(folder / spec.stiffness)
    if isinstance(spec.freedoms, list):
        if len(set(spec.freedoms)) < len(spec.freedoms) or rows != len(ids) * len(spec.freedoms):
            what = f"the matrices have {rows} rows, but {len(ids)} nodes with {len(spec.freedoms)} freedoms are given"
            remedy = "Correct freedoms (each once), or name a file that gives node and freedom of every row"
            raise ModelError(what, where=where, remedy=remedy)
        order = np.array([PLACES[name] for name in spec.freedoms])
        return np.asarray((6 * np.arange(len(ids))[:, None] + order).ravel())
    pairs = read_rows(spec.freedoms, folder)
    index = {int(identity): j for j, identity in enumerate(ids)}
    wrong = [pair for pair in pairs if pair[0] not in index or pair[1] not in PLACES]
    if wrong or len(pairs) != rows or len(set(pairs)) < rows:
        what = f"'{wrong[0][0]}, {wrong[0][1]}' is not a freedom" if wrong else f"has {len(set(pairs))} of {rows} rows"
        raise ModelError(
            what, where=str(folder / spec.freedoms), remedy="Give node and freedom of every row, each once"
        )
    return np.array([6 * index[node] + PLACES[freedom] for node, freedom in pairs])


def sparse_structure(
    name: str, source: str, ids: np.ndarray, positions: np.ndarray, K: Any, M: Any, kept: np.ndarray
) -> Structure:
    """The structure of SI matrices. ModelError if it resists rigid motions, or has no mass."""
    import scipy.sparse

    masses, centres, inertias, lumped = nodal_bodies(M, kept, positions)
    made = Structure(
        name=name,
        source=source,
        node_ids=ids,
        node_names=("",) * len(ids),
        positions=positions,
        stiffness=K,
        mass=M,
        motion=scipy.sparse.csr_matrix(
            (np.ones(len(kept)), (kept, np.arange(len(kept)))), shape=(6 * len(ids), len(kept))
        ),
        kept=kept,
        masses=masses,
        centres=centres,
        inertias=inertias,
        lumped=lumped,
        lines=_lines(K, kept, len(ids)),
    )
    _check_floats(made)
    return made


def _lines(K: Any, kept: np.ndarray, nodes: int) -> np.ndarray | None:
    """(E, 2) nodes that the stiffness couples, where these are few enough to be members; else None."""
    coo = K.tocoo()
    ends = np.sort(np.stack([kept[coo.row] // 6, kept[coo.col] // 6], axis=1), axis=1)
    pairs = np.unique(ends[(ends[:, 0] < ends[:, 1]) & (coo.data != 0.0)], axis=0)
    return pairs.astype(np.int64) if 0 < len(pairs) <= MOST_MEMBERS * nodes else None


def _check_floats(structure: Structure) -> None:
    if structure.resists_rigid_motions():
        what = "the stiffness matrix resists rigid motions: it has supports, or its rows are other freedoms than said"
        remedy = "Write it without supports, check the order of freedoms, the nodes and the units"
        raise ModelError(what, where=f"structure '{structure.name}'", remedy=remedy)


def nodal_bodies(M: Any, kept: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Masses (N,), centres (N, 3), inertias (N, 3, 3), and whether M is exactly theirs.

    A mass matrix that couples nodes is lumped by its diagonal, scaled to the whole mass; then only the terms of
    first and second order in the modes use it.
    """
    nodes = len(positions)
    coo = M.tocoo()
    own = kept[coo.row] // 6 == kept[coo.col] // 6
    blocks = np.zeros((nodes, 6, 6))
    row, column = kept[coo.row[own]], kept[coo.col[own]]
    np.add.at(blocks, (row // 6, row % 6, column % 6), coo.data[own])
    masses = np.trace(blocks[:, 3:, 3:], axis1=1, axis2=2) / 3.0
    along = np.zeros((len(kept), 3))
    along[np.arange(len(kept)), kept % 6 - 3] = kept % 6 >= 3
    whole = np.trace(along.T @ (M @ along)) / 3.0
    if whole <= 0.0 or np.any(masses < 0.0):
        remedy = "Give the mass matrix itself, all freedoms of translation included"
        raise ModelError("the mass matrix gives no positive masses", where="mass matrix", remedy=remedy)
    hats = np.where(masses > 0.0, 1.0 / np.where(masses > 0.0, masses, 1.0), 0.0)[:, None, None] * blocks[:, :3, 3:]
    centres = np.stack([hats[:, 2, 1], hats[:, 0, 2], hats[:, 1, 0]], axis=1)
    rest = blocks.copy()
    rest[:, 3:, 3:] -= masses[:, None, None] * np.eye(3)
    rest[:, :3, 3:] -= masses[:, None, None] * cross_matrix(centres)
    rest[:, :3, :3] = 0.0
    across = np.abs(coo.data[~own]).max(initial=0.0)
    if max(across, np.abs(rest[:, :3]).max(), np.abs(rest[:, 3:, 3:]).max()) <= 1e-9 * np.abs(coo.data).max():
        return masses, centres, blocks[:, :3, :3], True
    return masses * whole / masses.sum(), np.zeros((nodes, 3)), np.zeros((nodes, 3, 3)), False


def tied(structure: Structure, ties: Sequence[TieSpec]) -> Structure:
    """The structure with an interface node for each tie, which its nodes follow as a rigid body.

    Their freedoms give way to the six of the interface node: u_j = φ*(i, j) u_i. ModelError for unknown nodes, nodes
    tied twice, or sets of nodes in a line.
    """
    if not ties:
        return structure
    import scipy.sparse

    nodes = len(structure.positions)
    groups = [tied_nodes(structure.positions, structure.node_ids, tie) for tie in ties]
    followers = np.concatenate(groups)
    if len(set(followers.tolist())) < len(followers):
        raise ModelError("a node is tied to two interfaces", where="interface", remedy="Tie every node once")
    places = [structure.positions[g].mean(axis=0) if t.position is None else vector(t.position)
              for t, g in zip(ties, groups)]  # fmt: skip
    free = np.flatnonzero(~np.isin(structure.kept // 6, followers))
    size = len(free) + 6 * len(ties)
    rows, columns, values = [structure.kept[free]], [np.arange(len(free))], [np.ones(len(free))]
    for i, (group, place) in enumerate(zip(groups, places)):
        follow = np.tile(np.eye(6), (len(group) + 1, 1, 1))
        follow[:, 3:, :3] = -cross_matrix(np.vstack([structure.positions[group], place]) - place)
        r = 6 * np.append(group, nodes + i)[:, None, None] + np.arange(6)[:, None] + np.zeros((1, 1, 6), dtype=int)
        c = len(free) + 6 * i + np.arange(6) + np.zeros_like(r)
        rows, columns, values = [*rows, r.ravel()], [*columns, c.ravel()], [*values, follow.ravel()]
    shape = (6 * (nodes + len(ties)), size)
    motion = scipy.sparse.csr_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape
    )
    T = motion[structure.kept]
    none = np.zeros(len(ties))
    return replace(
        structure,
        node_ids=np.append(structure.node_ids, structure.node_ids.max() + 1 + np.arange(len(ties))),
        node_names=(*structure.node_names, *(tie.name for tie in ties)),
        positions=np.vstack([structure.positions, *places]),
        stiffness=(T.T @ structure.stiffness @ T).tocsr(),
        mass=(T.T @ structure.mass @ T).tocsr(),
        motion=motion,
        kept=np.append(structure.kept[free], 6 * nodes + np.arange(6 * len(ties))),
        masses=np.append(structure.masses, none),
        centres=np.vstack([structure.centres, np.zeros((len(ties), 3))]),
        inertias=np.concatenate([structure.inertias, np.zeros((len(ties), 3, 3))]),
    )


def tied_nodes(positions: np.ndarray, ids: np.ndarray, tie: TieSpec) -> np.ndarray:
    """Indices of the nodes of a tie. ModelError for unknown ids, or nodes in a line."""
    index = {int(identity): j for j, identity in enumerate(ids)}
    absent = [identity for identity in tie.nodes if identity not in index]
    if absent:
        what = f"there is no node {absent[0]}"
        raise ModelError(what, where=f"interface '{tie.name}'", remedy="Name ids of the node table")
    group = np.array(sorted({index[identity] for identity in tie.nodes}))
    spread = np.linalg.svd(positions[group] - positions[group].mean(axis=0), compute_uv=False)
    if len(group) < 3 or spread[1] <= 1e-6 * spread[0]:
        what = "the tied nodes lie in a line, so that they do not hold the interface's turns"
        raise ModelError(what, where=f"interface '{tie.name}'", remedy="Tie at least three nodes that span a surface")
    return group


def lumped_diagonal(M: Any) -> np.ndarray:
    """(N,) masses of a mass matrix of translations (N, N): its diagonal, scaled to the whole mass."""
    diagonal = np.asarray(M.diagonal())
    return np.asarray(diagonal * (M.sum() / diagonal.sum()))
