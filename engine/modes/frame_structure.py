"""A frame of beams as a finite-element structure: assembly, nodal bodies, foreshortening."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes import beams
from limberjack.engine.modes.frame import Frame, Mesh, mesh
from limberjack.engine.modes.reference import cross_matrix
from limberjack.engine.modes.structure import Structure, need_scipy


@dataclass(frozen=True, eq=False)
class BeamModel:
    """The elements of a frame: mesh, properties, interpolation; stiffness assembled, sparse (6 N, 6 N)."""

    mesh: Mesh
    properties: beams.Properties
    fields: beams.Fields
    elements: np.ndarray
    stiffness: Any

    def foreshortening(self, shapes: np.ndarray, anchor: int) -> np.ndarray:
        """G (N, 3, n, n) of mode shapes (N, 6, n), the anchor node at rest; those of a consistent mass's bodies, if
        shapes have these behind the nodes, as well.

        Every element's second-order displacement is imposed like a misfit: K δ = Σ K_e [0; Δ_e], the anchor held.
        A frame without closed meshes follows it without stress; in closed ones the stress is the least.
        """
        from scipy.sparse.linalg import splu

        n, nodes = shapes.shape[2], len(self.mesh.positions)
        rows, columns = np.triu_indices(n)
        if not len(rows):
            return np.zeros((len(shapes), 3, n, n))
        turn = to_beam_axes(self.mesh)
        freedoms = element_freedoms(self.mesh)
        local = np.einsum("eab,ebr->ear", turn, shapes.reshape(-1, n)[freedoms])
        misfit = np.zeros((len(local), 12, len(rows)))
        misfit[:, 9:] = beams.second_order(self.properties, local)[:, :, rows, columns]
        loads = np.zeros((6 * nodes, len(rows)))
        np.add.at(loads, freedoms, np.einsum("eab,ebc,ecp->eap", np.swapaxes(turn, 1, 2), self.elements, misfit))
        moving = np.flatnonzero(np.arange(len(loads)) // 6 != anchor)
        moved = np.zeros_like(loads)
        moved[moving] = splu(self.stiffness[moving][:, moving].tocsc()).solve(loads[moving])
        found = moved.reshape(-1, 6, len(rows))[:, 3:]
        if len(shapes) > nodes:
            elastic = np.einsum("eab,ebp->eap", turn, moved[freedoms]) - misfit
            found = np.vstack([found, self._within(local, elastic)])
        G = np.zeros((len(shapes), 3, n, n))
        G[:, :, rows, columns] = found
        G[:, :, columns, rows] = G[:, :, rows, columns]
        return G

    def _within(self, local: np.ndarray, elastic: np.ndarray) -> np.ndarray:
        """Second-order displacements (4 E, 3, pairs) of the bodies in the elements, by pairs of modes.

        local (E, 12, n), elastic (E, 12, pairs) : displacements of the modes, and what the elements yield to beside
        their own second-order ones, in beam axes
        """
        rows, columns = np.triu_indices(local.shape[2])
        found = np.einsum("eqia,eap->eqip", beams.fields(self.properties, beams.BODIES).displacement, elastic)
        for q, station in enumerate(beams.BODIES):
            found[:, q] += beams.second_order(self.properties, local, station)[:, :, rows, columns]
        return np.asarray(np.einsum("eij,eqjp->eqip", self.mesh.turn, found).reshape(-1, 3, len(rows)))

    def motion(self) -> Any:
        """Sparse (6 (N + 4 E), 6 N): displacements of nodes and of a consistent mass's bodies from those of nodes."""
        import scipy.sparse

        made, turn = beams.fields(self.properties, beams.BODIES), to_beam_axes(self.mesh)
        both = np.stack([made.turn, made.displacement], axis=2)
        blocks = np.einsum("eij,eqkja,eab->eqkib", self.mesh.turn, both, turn, optimize=True)
        freedoms, count = element_freedoms(self.mesh), blocks.size // 12
        at = np.repeat(np.arange(count), 12), np.repeat(freedoms, count // len(freedoms), axis=0).ravel()
        size = 6 * len(self.mesh.positions)
        within = scipy.sparse.csr_matrix((blocks.ravel(), at), shape=(count, size))
        return scipy.sparse.vstack([scipy.sparse.eye(size), within], format="csr")

    def stress_stiffness(self, loads: np.ndarray, anchor: int) -> Any:
        """Sparse K_g (6 N, 6 N) of the axial forces that loads (6 N,) cause, the anchor node held."""
        from scipy.sparse.linalg import splu

        moving = np.flatnonzero(np.arange(len(loads)) // 6 != anchor)
        moved = np.zeros(len(loads))
        moved[moving] = splu(self.stiffness[moving][:, moving].tocsc()).solve(loads[moving])
        local = np.einsum("eab,eb->ea", to_beam_axes(self.mesh), moved[element_freedoms(self.mesh)])
        tension = self.properties.axial * (local[:, 9] - local[:, 3]) / self.properties.length
        return assembled(self.mesh, beams.geometric_stiffness(self.properties, self.fields, tension))


def beam_model(frame: Frame) -> BeamModel:
    """Mesh and elements of a frame. ModelError for a frame that cannot be meshed."""
    need_scipy()
    cut = mesh(frame)
    properties = beams.properties(frame, cut)
    fields = beams.fields(properties)
    elements = beams.stiffness(properties, fields)
    return BeamModel(cut, properties, fields, elements, assembled(cut, elements))


def frame_structure(frame: Frame, mass: Literal["lumped", "consistent"] = "lumped") -> Structure:
    """The structure of a frame.

    mass : "lumped": a body at every node; "consistent": the mass matrix of the interpolated displacements, which is
        that of four bodies within every element, nodes of the structure that follow those at its ends
    """
    need_scipy()
    import scipy.sparse

    model = beam_model(frame)
    nodes, positions = len(model.mesh.positions), model.mesh.positions
    extra = _masses(frame, nodes)
    if mass == "lumped":
        masses, moments, inertias = beams.lumped_bodies(model.mesh, model.properties)
        matrix, motion = nodal_matrix(masses, moments, inertias), scipy.sparse.eye(6 * nodes, format="csr")
        masses, moments, inertias = masses + extra[0], moments + extra[1], inertias + extra[2]
    else:
        matrix, motion = assembled(model.mesh, beams.consistent_mass(model.properties, model.fields)), model.motion()
        places, masses, inertias = beams.section_bodies(model.mesh, model.properties)
        positions, moments = np.vstack([positions, places]), np.vstack([extra[1], np.zeros_like(places)])
        masses, inertias = np.append(extra[0], masses), np.concatenate([extra[2], inertias])
    if masses.sum() <= 0.0:
        remedy = "Give a material a density above 0, or add masses"
        raise ModelError("the frame has no mass", where=f"frame '{frame.name}'", remedy=remedy)
    centres = moments / np.where(masses > 0.0, masses, 1.0)[:, None]
    return Structure(
        name=frame.name,
        source=f"{len(model.mesh.ends)} beam elements, {mass} mass",
        node_ids=np.arange(1, len(positions) + 1),
        node_names=(*model.mesh.node_names, *[""] * (len(positions) - nodes)),
        positions=positions,
        stiffness=model.stiffness,
        mass=(matrix + nodal_matrix(*extra)).tocsr(),
        motion=motion,
        kept=np.arange(6 * nodes),
        masses=masses,
        centres=centres,
        inertias=inertias,
        lumped=True,
        foreshortening=model.foreshortening,
        lines=model.mesh.ends,
    )


def _masses(frame: Frame, nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses (N,), first moments (N, 3) and inertias about the nodes (N, 3, 3) of the rigid bodies at nodes."""
    masses, moments, inertias = np.zeros(nodes), np.zeros((nodes, 3)), np.zeros((nodes, 3, 3))
    for body in frame.masses:
        j = _node(frame, body.node)
        masses[j] += body.mass
        moments[j] += body.mass * body.centre
        inertias[j] += body.inertia - body.mass * cross_matrix(body.centre) @ cross_matrix(body.centre)
    return masses, moments, inertias


def _node(frame: Frame, name: str) -> int:
    if name not in frame.node_names:
        what = f"a mass sits on the node '{name}', which does not exist"
        raise ModelError(
            what, where=f"frame '{frame.name}', masses", remedy=f"Use one of: {', '.join(frame.node_names)}"
        )
    return frame.node_names.index(name)


def element_freedoms(mesh: Mesh) -> np.ndarray:
    """(E, 12) places of the elements' degrees of freedom among the 6 N."""
    return np.asarray((6 * mesh.ends[:, :, None] + np.arange(6)).reshape(-1, 12))


def to_beam_axes(mesh: Mesh) -> np.ndarray:
    """(E, 12, 12): displacements in the frame's axes to beam axes."""
    turn = np.zeros((len(mesh.ends), 12, 12))
    for block in range(4):
        turn[:, 3 * block : 3 * block + 3, 3 * block : 3 * block + 3] = np.swapaxes(mesh.turn, 1, 2)
    return turn


def assembled(mesh: Mesh, elements: np.ndarray) -> Any:
    """Sparse (6 N, 6 N) of element matrices (E, 12, 12) in beam axes."""
    import scipy.sparse

    turn = to_beam_axes(mesh)
    turned = np.swapaxes(turn, 1, 2) @ elements @ turn
    freedoms = element_freedoms(mesh)
    rows = np.repeat(freedoms, 12, axis=1).ravel()
    columns = np.tile(freedoms, (1, 12)).ravel()
    size = 6 * len(mesh.positions)
    return scipy.sparse.csr_matrix((turned.ravel(), (rows, columns)), shape=(size, size))


def nodal_matrix(masses: np.ndarray, moments: np.ndarray, inertias: np.ndarray) -> Any:
    """Sparse block diagonal (6 N, 6 N) of nodal bodies [J, m c~; -m c~, m] (003, eqs. 1, 2)."""
    import scipy.sparse

    blocks = np.zeros((len(masses), 6, 6))
    hat = cross_matrix(moments)
    blocks[:, :3, :3], blocks[:, :3, 3:], blocks[:, 3:, :3] = inertias, hat, np.swapaxes(hat, 1, 2)
    blocks[:, 3:, 3:] = masses[:, None, None] * np.eye(3)
    count = len(masses)
    form = scipy.sparse.bsr_matrix((blocks, np.arange(count), np.arange(count + 1)), shape=(6 * count, 6 * count))
    return form.tocsr()
