"""Finite elements to modes: cantilever, Craig-Bampton and free-free, with damping, checks and selection.

Craig-Bampton: u = Ψ u_b + Φ q, with the interface freedoms b, Ψ = [-K_ii⁻¹ K_ib; 1] and the modes Φ that hold them;
then the reduced problem's own eigenmodes, so that modal mass is 1 and stiffness ω².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limberjack.engine.algebra.eigenbases import fixed
from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.modes.data import KINDS, ModalData
from limberjack.engine.modes.eigen import RIGID, Problem, lowest_modes, rounding_of
from limberjack.engine.modes.reference import cross_matrix
from limberjack.engine.modes.structure import Structure, need_scipy

#: rotations count so much beside translations when modes of one frequency are distinguished: those that only twist have
#: rows of their own, and others are distinguished by their displacements
TURNED = 1e-3
#: inertia of a rigid motion beside the largest one: rounding
MASSLESS = 1e-14


@dataclass(frozen=True)
class Reduction:
    """How a structure is reduced.

    kind : "cantilever", "craig-bampton" or "free-free"
    inboard : node that the modes hold; "" for free-free
    interface : nodes where other bodies attach (the inboard node may be among them)
    modes : number of eigenmodes; Craig-Bampton and free-free modes with an interface have six more for each
        interface node that is not held
    damping : ratio of every mode, or of each
    """

    kind: str
    inboard: str = ""
    interface: tuple[str, ...] = ()
    modes: int = 10
    damping: float | Sequence[float] = 0.0


def reduce_structure(structure: Structure, how: Reduction) -> ModalData:
    """The modal data. Raises ModelError for a structure that cannot be reduced so, ArgumentError for a bad request."""
    need_scipy()
    held, boundary = _check(structure, how)
    where = f"structure '{structure.name}'"
    free = np.setdiff1d(np.arange(len(structure.kept)), structure.freedoms([held] if held is not None else []))
    K, M = structure.stiffness[free][:, free].tocsr(), structure.mass[free][:, free].tocsr()
    static = np.flatnonzero(np.isin(free, structure.freedoms(boundary)))
    problem = Problem(K, M, _units(structure)[free], held is None, held is not None, where)
    if problem.floats and structure.resists_rigid_motions():
        what = "free-free modes are asked for, but the structure is held: it has no six motions without strain"
        raise ModelError(what, where=where, remedy="Remove the supports from the stiffness matrix")
    basis = _basis(structure, problem, static, how.modes)
    squares, own = _own_modes(structure, problem, basis)
    modes = np.zeros((len(structure.kept), len(squares)))
    modes[free] = own
    return modal_data(structure, how, modes, squares)


def _units(structure: Structure) -> np.ndarray:
    """(d,) what makes every freedom's displacement a length."""
    extent = float(np.ptp(structure.positions, axis=0).max()) or 1.0
    return np.where(structure.kept % 6 < 3, TURNED * extent, 1.0)


def modal_data(structure: Structure, how: Reduction, modes: np.ndarray, squares: np.ndarray) -> ModalData:
    """Modal data of mass-normalised modes (d, n) with ω² (n,)."""
    shapes = np.asarray(structure.motion @ modes).reshape(len(structure.positions), 6, -1)
    anchor = structure.node(how.inboard) if how.inboard else 0
    G = structure.foreshortening(shapes, anchor) if structure.foreshortening else None
    rigid, participation = None, None
    if not structure.lumped:
        B = structure.rigid_motions()
        rigid, participation = _symmetric(B.T @ (structure.mass @ B)), B.T @ (structure.mass @ modes)
    names = {how.inboard, *how.interface} - {""}
    return ModalData(
        name=structure.name,
        source=structure.source,
        kind=how.kind,
        inboard=how.inboard,
        interface=tuple(label for label in structure.labels() if label in names),
        node_ids=structure.node_ids,
        node_names=structure.node_names,
        positions=structure.positions,
        axes=np.tile(np.eye(3), (len(shapes), 1, 1)),
        masses=structure.masses,
        centres=structure.centres,
        inertias=structure.inertias,
        shapes=shapes,
        mass=_symmetric(modes.T @ (structure.mass @ modes)),
        stiffness=np.diag(np.maximum(squares, 0.0)),
        damping=damping_ratios(how.damping, modes.shape[1]),
        rigid=rigid,
        participation=participation,
        foreshortening=G,
        stress=structure.stress(shapes) if structure.stress else None,
        lines=structure.lines,
    )


def damping_ratios(given: float | Sequence[float], modes: int) -> np.ndarray:
    """(n,) of one number for all or a list; a list may be longer than the modes. ArgumentError if it is shorter."""
    ratios = np.asarray(given, dtype=float)
    if ratios.ndim == 0:
        ratios = np.full(modes, float(ratios))
    if ratios.ndim != 1 or len(ratios) < modes or not np.all(ratios >= 0.0):
        raise ArgumentError(f"damping is {given!r:.60}; give a ratio of at least 0, or one for each of {modes} modes.")
    return ratios[:modes]


def _check(structure: Structure, how: Reduction) -> tuple[int | None, list[int]]:
    """Index of the held node, and of the nodes with static modes."""
    if how.kind not in KINDS:
        raise ArgumentError(f"kind is {how.kind!r}; use one of: {', '.join(KINDS)}.")
    if how.kind == "free-free" and how.inboard:
        raise ArgumentError(f"free-free modes hold no node, but inboard is '{how.inboard}'. Leave inboard out.")
    if how.kind != "free-free" and not how.inboard:
        raise ArgumentError(f"{how.kind} modes hold the inboard node. Name it, or use free-free modes.")
    if structure.stress is not None and not how.inboard:
        what = "stress stiffness under unit loads is that of a body held at its inboard node, but the modes are free"
        remedy = "Use cantilever or Craig-Bampton modes, or leave stress out"
        raise ModelError(what, where=f"structure '{structure.name}'", remedy=remedy)
    interface = [structure.node(name) for name in how.interface]
    held = structure.node(how.inboard) if how.inboard else None
    outer = [node for node in interface if node != held]
    if how.kind == "craig-bampton" and not outer:
        raise ArgumentError("Craig-Bampton modes need an interface node besides the inboard node. Name one.")
    if how.modes < 0 or (how.modes == 0 and how.kind == "cantilever"):
        raise ArgumentError(f"modes is {how.modes}; give at least 1.")
    for node in [*interface, *([held] if held is not None else [])]:
        if len(structure.freedoms([node])) < RIGID:
            what = f"the node '{structure.labels()[node]}' has no rotations, so that nothing can be attached to it"
            remedy = "Attach to an interface that is tied to a set of nodes (interface: {name: …, nodes: […]})"
            raise ModelError(what, where=f"structure '{structure.name}'", remedy=remedy)
    return held, outer if how.kind != "cantilever" else []


def _basis(structure: Structure, problem: Problem, static: np.ndarray, modes: int) -> np.ndarray:
    """(d, n) modes that hold the static freedoms, and the static modes of these; or eigenmodes alone, the rigid ones of
    a structure that floats among them."""
    K, rigid = problem.K, RIGID if problem.floats else 0
    inner = np.setdiff1d(np.arange(K.shape[0]), static)
    _check_count(modes + (rigid if not len(static) else 0), len(inner), problem.where)
    if not len(static):
        shift = -_anchored_square(structure, problem) if rigid else 0.0
        return lowest_modes(problem, modes + rigid, shift)[1]
    from scipy.sparse.linalg import splu

    basis = np.zeros((K.shape[0], len(static) + modes))
    inside = K[inner][:, inner]
    if modes:
        basis[inner, len(static) :] = lowest_modes(problem.part(inner), modes)[1]
    basis[static, np.arange(len(static))] = 1.0
    basis[inner, : len(static)] = -splu(inside.tocsc()).solve(K[inner][:, static].toarray())
    return basis


def _check_count(wanted: int, available: int, where: str) -> None:
    if wanted > available:
        what = f"{wanted} modes are asked for, but the structure has only {available} freedoms for them"
        raise ModelError(what, where=where, remedy="Ask for fewer modes, or cut the beams into more elements")


def _anchored_square(structure: Structure, problem: Problem) -> float:
    """Lowest ω² with six freedoms held: a shift of the right size for a structure that floats.

    The six are chosen so that they pin the rigid motions best: pivots of B* (rank-revealing QR).
    """
    from scipy.linalg import qr

    pivots = qr(_rigid_motions(structure).T, pivoting=True, mode="r")[1][:RIGID]
    moving = np.setdiff1d(np.arange(len(problem.units)), pivots)
    return float(lowest_modes(problem.part(moving), 1)[0][0])


def _rigid_motions(structure: Structure) -> np.ndarray:
    """(d, 6) B*, turns about the middle of the nodes and by as much as move them by about one."""
    B = structure.rigid_motions()
    middle = structure.positions.mean(axis=0)
    extent = max(float(np.abs(structure.positions - middle).max()), 1e-6)
    B[:, :3] = (B[:, :3] + B[:, 3:] @ cross_matrix(middle)) / extent
    return B


def _without_rigid(structure: Structure, problem: Problem, basis: np.ndarray) -> np.ndarray:
    """The part of a basis that is orthogonal to the rigid motions. ModelError where one of these moves no mass."""
    B = _rigid_motions(structure)
    inertia = B.T @ (problem.M @ B)
    size = np.sqrt(np.maximum(np.diag(inertia), 0.0))
    if np.linalg.eigvalsh(inertia)[0] <= MASSLESS * size.max() ** 2:
        what = "free-free modes are asked for, but one of the six rigid motions moves no mass"
        remedy = "Give the structure inertia about every axis: masses beside a line, or sections with second moments"
        raise ModelError(what, where=problem.where, remedy=remedy)
    moved = B.T @ (problem.M @ basis) / size[:, None]
    return np.asarray(basis @ np.linalg.svd(moved)[2][RIGID:].T)


def _own_modes(structure: Structure, problem: Problem, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ω² and mass-normalised modes (d, n) of the reduced problem, of a structure that floats those with strain.

    These are what is orthogonal to the six rigid motions, which are known: however stiff the structure is in other
    directions, rounding of their strain energy does not decide.
    """
    from scipy.linalg import eigh

    if problem.floats:
        basis = _without_rigid(structure, problem, basis)
    K, M = (_symmetric(basis.T @ (matrix @ basis)) for matrix in (problem.K, problem.M))
    squares, vectors = eigh(K, M)
    modes = basis @ vectors
    return fixed(squares, modes, problem.units[:, None] * modes, rounding_of(problem, modes))


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (matrix + matrix.T))
