"""Modal bodies: the links that they become, and their tables in the Plant.

A modal body is a massless link that its hinge moves, then a link "modal" with its inertia, whose coordinates η do not
move its frame, then a link "attached" for every node that something hangs on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limberjack.engine.flexible import layout as fl
from limberjack.engine.layout import SLOT
from limberjack.engine.system.frames import Link, skew
from limberjack.engine.system.modal import Attachment, Integrals
from limberjack.engine.system.plant import Plant
from limberjack.engine.system.system import Body, Dof, Hinge, Inertia
from limberjack.engine.views import LANES, padded

_SYM = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def modal_bodies(
    name: str, hinge: Hinge, integrals: Integrals, q0: Sequence[float] = (), where: str = ""
) -> list[Body]:
    """The bodies that stand for a modal body: `name` on its hinge, `name`.modes, `name`.<attachment> for each of them.

    What hangs on a node names `name`.<attachment> as its parent. The frame of `name` is that of the integrals.
    q0 (n,) : initial modal coordinates, in the modes of `normalised`
    """
    made = normalised(integrals)
    frequencies = np.diag(made.K)
    dofs = tuple(Dof(stiffness=float(k), damping=float(c), armature=1.0) for k, c in zip(frequencies, np.diag(made.C)))
    bodies = [Body(name, Inertia(), hinge, where)]
    modes = Hinge(modes_of(name), "modal", name, modes=made, dofs=dofs, q0=np.asarray(q0, dtype=float), where=where)
    bodies.append(Body(modes.name, undeformed(made), modes, where))
    for attachment in made.attachments:
        place = f"{name}.{attachment.name}"
        held = Hinge(place, "attached", modes.name, attachment=attachment, where=where)
        bodies.append(Body(place, Inertia(), held, where))
    return bodies


def undeformed(integrals: Integrals) -> Inertia:
    """The rigid body that it is at rest."""
    centre = integrals.s0 / integrals.m
    return Inertia(integrals.m, centre, integrals.J0 + integrals.m * skew(centre) @ skew(centre))


def modes_of(name: str) -> str:
    """Name of the link, and of the hinge, that stands for the modes of a body."""
    return f"{name}.modes"


def normalised(integrals: Integrals) -> Integrals:
    """The same body in modes of unit modal mass that have diagonal stiffness; damping between modes is left out."""
    L = np.linalg.inv(np.linalg.cholesky(integrals.Mff))
    stiffness, vectors = np.linalg.eigh(L @ integrals.K @ L.T)
    T = L.T @ vectors
    damping = np.diag(np.diag(T.T @ integrals.C @ T))
    kept = tuple(
        replace(a, Pr=a.Pr @ T, Pt=a.Pt @ T, G=np.einsum("irs,ra,sb->iab", a.G, T, T)) for a in integrals.attachments
    )
    return replace(
        integrals,
        S1=integrals.S1 @ T,
        S2=np.einsum("irs,ra,sb->iab", integrals.S2, T, T),
        J1=np.einsum("rij,ra->aij", integrals.J1, T),
        J2=np.einsum("rsij,ra,sb->abij", integrals.J2, T, T),
        N0=integrals.N0 @ T,
        N1=np.einsum("irs,ra,sb->iab", integrals.N1, T, T),
        Mff=np.eye(len(T)),
        K=np.diag(np.maximum(stiffness, 0.0)),
        C=damping,
        attachments=kept,
    )


class FlexibleTables:
    """Sizes and contents of the Plant's tables of modal bodies."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._modal = [(k, link.body.hinge.modes) for k, link in enumerate(links) if link.body.hinge.modes is not None]
        self._attached = [
            (k, link.parent - 1, link.body.hinge.attachment)
            for k, link in enumerate(links)
            if link.body.hinge.attachment is not None
        ]
        row_of = {k: row for row, (k, _) in enumerate(self._modal)}
        self.modal_rows: list[list[int]] = []
        self.attached_rows: list[list[int]] = []
        tables: list[np.ndarray] = []
        at = 0
        for _, modes in self._modal:
            n, full = len(modes.Mff), is_full(modes)
            self.modal_rows.append([n, total_size(tables), at, int(full)])
            tables.append(_modal_table(modes, full))
            at += fl.modal_work_size(n)
        for _, up, attachment in self._attached:
            n, curved = attachment.Pr.shape[1], bool(np.any(attachment.G))
            self.attached_rows.append([row_of[up], total_size(tables), at, int(curved)])
            tables.append(_attached_table(attachment, curved))
            at += fl.attached_work_size(n)
        self.table, self.work = np.concatenate([np.zeros(0), *tables]), at

    def counts(self) -> dict[int, int]:
        """The counts C_… of modal bodies."""
        sizes = len(self._modal), len(self._attached), len(self.table), self.work
        return dict(zip((fl.C_MODAL, fl.C_ATTACHED, fl.C_MODAL_TABLE, fl.C_MODAL_WORK), sizes))

    def fill(self, plant: Plant) -> None:
        """Write the tables, and where each link finds its own."""
        sections = plant.sections
        sections["modal_table"][:, 0] = self.table
        for rows, name, found in (
            (self.modal_rows, "modal_int", self._modal),
            (self.attached_rows, "attached_int", self._attached),
        ):
            for i, row in enumerate(rows):
                sections[name][i] = row
                sections["topo"][found[i][0], SLOT] = i


def total_size(tables: Sequence[np.ndarray]) -> int:
    """Numbers in all tables so far."""
    return sum(len(table) for table in tables)


def is_full(modes: Integrals) -> bool:
    return any(np.any(part) for part in (modes.S2, modes.J1, modes.J2, modes.N1))


def _in_lanes(rows: np.ndarray) -> np.ndarray:
    """(components, n) as blocks of eight modes, component by component."""
    components, n = rows.shape
    full = np.zeros((components, padded(n)))
    full[:, :n] = rows
    return np.ascontiguousarray(full.reshape(components, -1, LANES).swapaxes(0, 1)).ravel()


def _symmetric(matrices: np.ndarray) -> np.ndarray:
    """(n, 3, 3) as (6, n)."""
    return np.array([matrices[:, i, j] for i, j in _SYM])


def _modal_table(modes: Integrals, full: bool) -> np.ndarray:
    n = len(modes.Mff)
    parts = [_in_lanes(np.vstack([modes.N0, modes.S1])), _in_lanes(_symmetric(modes.J1))]
    for s in range(n if full else 0):
        parts.append(_in_lanes(np.vstack([modes.N1[:, :, s], modes.S2[:, :, s]])))
        parts.append(_in_lanes(_symmetric(modes.J2[:, s])))
        parts.append(_in_lanes(modes.N1[:, :, s] - modes.N1[:, s, :]))
    table = np.concatenate(parts)
    assert len(table) == fl.modal_table_size(n, full)
    return table


def _attached_table(attachment: Attachment, curved: bool) -> np.ndarray:
    n = attachment.Pr.shape[1]
    head = np.zeros(fl.ATTACHED_HEAD)
    head[:9], head[9:12] = attachment.R0.ravel(), attachment.p0
    parts = [head, _in_lanes(np.vstack([attachment.Pr, attachment.Pt]))]
    parts += [_in_lanes(attachment.G[:, :, s]) for s in range(n if curved else 0)]
    table = np.concatenate(parts)
    assert len(table) == fl.attached_table_size(n, curved)
    return table
