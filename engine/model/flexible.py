"""Modal bodies: the links that they become, and their tables in the Plant.

A modal body is a massless link that its hinge moves, then a link "modal" with its inertia, whose coordinates η do not
move its frame, then a link "attached" for every node that something hangs on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limberjack.engine.algebra.array_views import LANES, padded
from limberjack.engine.algebra.eigenbases import own_modes
from limberjack.engine.model.frames import Link, skew
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia
from limberjack.engine.modes.modal import Attachment, Integrals
from limberjack.engine.tables import flexible as fl
from limberjack.engine.tables.plant import SLOT

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
    """The same body in modes of unit modal mass that have diagonal stiffness; damping between modes is left out.

    Modes of one frequency are those nearest to the given coordinates (`eigenbases.py`), which stay as they are where
    they are such modes already.
    """
    stiffness, T = own_modes(integrals.K, integrals.Mff)
    damping = np.diag(np.diag(T.T @ integrals.C @ T))
    kept = tuple(
        replace(a, Pr=a.Pr @ T, Pt=a.Pt @ T, G=np.einsum("irs,ra,sb->iab", a.G, T, T)) for a in integrals.attachments
    )
    seen = integrals.outline
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
        outline=None if seen is None else replace(seen, Pr=seen.Pr @ T, Pt=seen.Pt @ T),
    )


class FlexibleTables:
    """Sizes and contents of the Plant's tables of modal bodies.

    pushed : whether the model has loops or contacts, whose forces need the whole factor of D
    """

    def __init__(self, links: Sequence[Link], pushed: bool) -> None:
        self._modal = [k for k, link in enumerate(links) if link.body.hinge.modes is not None]
        self._attached = [k for k, link in enumerate(links) if link.body.hinge.attachment is not None]
        columns = _columns(links, self._attached)
        self._table, self.work = _Table(), 0
        self.modal_rows = [self._modal_row(links[k].body.hinge, columns.get(k + 1, {}), pushed) for k in self._modal]
        self.attached_rows = []
        for k in self._attached:
            up = links[k].parent
            self.attached_rows.append(
                self._attached_row(links[k].body.hinge, self._modal.index(up - 1), columns[up][k])
            )
        self.table = self._table.content()

    def _modal_row(self, hinge: Hinge, columns: dict[int, int], pushed: bool) -> list[int]:
        modes = hinge.modes
        assert modes is not None
        n, full, rank = len(modes.Mff), is_full(modes), 6 * sum(column >= 0 for column in columns.values())
        condensed = not pushed and n > rank
        row = [n, self._table.place(_modal_table(modes, full)), self.work, int(full), rank, int(condensed)]
        self.work += fl.modal_work_size(n, rank, condensed)
        return row

    def _attached_row(self, hinge: Hinge, modal: int, column: int) -> list[int]:
        attachment = hinge.attachment
        assert attachment is not None
        n, curved = attachment.Pr.shape[1], bool(np.any(attachment.G))
        row = [modal, self._table.place(_attached_table(attachment, curved)), self.work, int(curved), column]
        self.work += fl.attached_work_size(n)
        return row

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
                sections["topo"][found[i], SLOT] = i


class _Table:
    """One vector of all tables, in which equal ones stand once: equal bodies then share the processor's cache."""

    def __init__(self) -> None:
        self._places: dict[bytes, int] = {}
        self._tables: list[np.ndarray] = []
        self._size = 0

    def place(self, table: np.ndarray) -> int:
        """Where the table begins."""
        key = table.tobytes()
        if key not in self._places:
            self._places[key] = self._size
            self._tables.append(table)
            self._size += len(table)
        return self._places[key]

    def content(self) -> np.ndarray:
        """All of it."""
        return np.concatenate([np.zeros(0), *self._tables])


def _columns(links: Sequence[Link], attached: Sequence[int]) -> dict[int, dict[int, int]]:
    """First column of H of every attachment node, by its modal link's place in `parent` and its own; -1: none.

    Nodes take their columns in the order in which they hand inward, last link first.
    """
    carriers = {link.parent for link in links}
    found: dict[int, dict[int, int]] = {}
    for k in reversed(attached):
        columns = found.setdefault(links[k].parent, {})
        loaded = k + 1 in carriers or bool(links[k].parts)  # of parts without mass the inertia, if kept, is not zero
        columns[k] = 6 * sum(column >= 0 for column in columns.values()) if loaded else -1
    return found


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
