"""Geometric stiffness of bodies that come as matrices: stress stiffness matrices, or CalculiX's stresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes.calculix import load_steps, read_frd
from limberjack.engine.modes.calculix_stress import LoadSteps, Solids
from limberjack.engine.modes.description import MatricesSpec, StressSpec, TieSpec, vector
from limberjack.engine.modes.matrices import tied_nodes
from limberjack.engine.modes.matrix_files import read_element_numbers, read_matrix
from limberjack.engine.modes.modal_fields import Stress
from limberjack.engine.modes.structure import Structure
from limberjack.engine.modes.unit_loads import load_names, spread_forces, stress_of_loads, unit_loads

Projection = Callable[[np.ndarray], Stress]


def matrix_stress(
    spec: MatricesSpec, structure: Structure, ties: Sequence[TieSpec], inboard: str, folder: Path
) -> Projection | None:
    """What turns mode shapes (N + ties, 6, n) into their stress stiffness. ModelError for files that do not fit.

    structure : before nodes are tied; the ties follow its nodes
    """
    if spec.stress is None:
        return None
    if isinstance(spec.stress, StressSpec):
        return _of_matrices(spec, spec.stress, structure, [tie.name for tie in ties], folder)
    path = folder / spec.stress
    frd = read_frd(path.with_suffix(".frd"), modes=False)
    index = {int(identity): i for i, identity in enumerate(structure.node_ids)}
    absent = [int(identity) for identity in frd.ids if int(identity) not in index]
    if absent:
        what = f"has the node {absent[0]}, which the matrices do not have"
        raise ModelError(what, where=str(path.with_suffix(".frd")), remedy="Run both with the same mesh, of solids")
    order = np.array([index[int(identity)] for identity in frd.ids])
    steps = load_steps(frd, structure.positions[order], spec.stress, folder, spec.units)
    names, loads = structure_loads(structure, ties, inboard)
    nodes = [len(index) + i for i, tie in enumerate(ties) if tie.name != inboard]

    def project(shapes: np.ndarray) -> Stress:
        return stress_of_loads(steps.stiffness(shapes[order, 3:], names, loads[:, order]), nodes)

    return project


def structure_loads(structure: Structure, ties: Sequence[TieSpec], inboard: str) -> tuple[list[str], np.ndarray]:
    """Names and nodal forces (L, N, 3) of the unit loads, by the mass matrix; forces at the ties that are not held."""
    count = len(structure.positions)
    outer = [tie for tie in ties if tie.name != inboard]
    forces = []
    for tie in outer:
        group = tied_nodes(structure.positions, structure.node_ids, tie)
        place = structure.positions[group].mean(axis=0) if tie.position is None else vector(tie.position)
        forces.append(spread_forces(count, group, structure.positions[group] - place))

    def inertia(field: np.ndarray) -> np.ndarray:
        moved = np.zeros((count, 6))
        moved[:, 3:] = field
        loaded = np.zeros(6 * count)
        loaded[structure.kept] = structure.mass @ moved.ravel()[structure.kept]
        return loaded.reshape(count, 6)[:, 3:]

    return load_names([tie.name for tie in outer]), unit_loads(inertia, structure.positions, forces)


def deck_steps(spec: MatricesSpec, structure: Structure, folder: Path) -> LoadSteps:
    """What writes the unit loads for the deck that `nodes` names. ModelError if it is none."""
    numbers, force = read_element_numbers(spec.nodes, folder), spec.units.mass * spec.units.length
    mesh = Solids(structure.positions, structure.node_ids, numbers, [])
    return LoadSteps(mesh, None, force, force / spec.units.length**2)


def _of_matrices(
    spec: MatricesSpec, stress: StressSpec, structure: Structure, ties: Sequence[str], folder: Path
) -> Projection:
    """Projection of given matrices; in SI units per unit load in SI units."""
    import scipy.sparse

    length, mass = spec.units.length, spec.units.mass
    scale = scipy.sparse.diags(np.where(structure.kept % 6 < 3, length, 1.0))
    loads = [length] * 3 + [1.0] * 9 + [mass * length] * 3 * len(stress.forces)  # of a unit load of the files
    matrices = []
    for name, load in zip(stress.files(), loads):
        matrix = read_matrix(name, folder)
        if matrix.shape[0] != len(structure.kept):
            what = f"has {matrix.shape[0]} rows, the stiffness matrix {len(structure.kept)}"
            raise ModelError(what, where=str(folder / name), remedy="Give matrices of the same freedoms")
        matrices.append((mass / load) * (scale @ matrix @ scale))
    labels = [*structure.labels(), *ties]
    for name in stress.forces:
        if name not in labels:
            what, remedy = f"stress.forces names the node '{name}', which does not exist", "Name an interface node"
            raise ModelError(what, where=f"structure '{structure.name}'", remedy=remedy)
    nodes = [labels.index(name) for name in stress.forces]

    def project(shapes: np.ndarray) -> Stress:
        modes = shapes.reshape(-1, shapes.shape[2])[structure.kept]
        return stress_of_loads(np.array([modes.T @ (matrix @ modes) for matrix in matrices]), nodes)

    return project
