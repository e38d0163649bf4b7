"""Contacts as tables of the Plant: the shapes that can touch, their pairs, and the links that forces move."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.model.elements.contact import Contact
from limberjack.engine.model.elements.facts import fill_row
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.extents import box_of, kind_of, middle_of, size_of
from limberjack.engine.model.frames import Frames
from limberjack.engine.model.grounds import ground_corners
from limberjack.engine.model.meshes import body_of
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.polytope import Polytope
from limberjack.engine.model.sectors import sectors
from limberjack.engine.model.system import System
from limberjack.engine.tables import contacts as at

#: touches of bodies that touch each other that may act at once, of those with moments half as many: so many for each
#: link with shapes, within bounds; the largest takes 40 MB
_FOR_EACH, _LEAST_ACTIVE, _MOST_ACTIVE = 16, 128, 512


def touches_of(a: Shape, b: Shape) -> int:
    """How many points of two shapes may touch; 0 for a pair that is not supported."""
    if a.type not in at.SHAPES or b.type not in at.SHAPES:
        return 0
    first, second = sorted(at.SHAPES.index(kind_of(shape)) for shape in (a, b))
    return at.TOUCHES.get((first, second), 0)


def _fault(shape: Shape) -> str:
    """Why a shape cannot touch, "" if it can."""
    if shape.type not in at.SHAPES:
        return f"is {'an' if shape.type[0] in 'aeiou' else 'a'} {shape.type}, which cannot touch"
    return ""


class _Meshes:
    """The tables of meshes, whose corners are those about their middle, and of height fields."""

    def __init__(self) -> None:
        self.slices: dict[int, tuple[int, int, int]] = {}
        self.corners: list[np.ndarray] = []
        self.normals: list[np.ndarray] = []
        self.at_corner: list[list[int]] = []
        self.of_face: list[list[int]] = []
        self.of_sector: dict[int, list[list[int]]] = {}

    def add(self, collider: int, body: Polytope) -> None:
        start, face, about = len(self.corners), len(self.normals), body.corners - middle_of(body)
        self.slices[collider] = start, len(body.corners), 0
        self.corners += list(about)
        self.normals += list(body.normals)
        around: list[list[int]] = [[] for _ in body.corners]
        for i, corners in enumerate(body.faces):
            for corner in corners:
                around[corner].append(face + i)
        self.at_corner += around
        self.of_face += [[start + corner for corner in corners] for corners in body.faces]
        self.of_sector[collider] = [[start + corner for corner in far] for far in sectors(about)]

    def add_ground(self, collider: int, corners: np.ndarray) -> None:
        """corners : (rows, columns, 3) of a height field"""
        flat = corners.reshape(-1, 3)
        self.slices[collider] = len(self.corners), len(flat), corners.shape[1]
        self.corners += list(flat)
        self.at_corner += [[] for _ in flat]

    @property
    def links(self) -> int:
        """How many numbers all lists have."""
        return sum(map(len, itertools.chain(self.at_corner, self.of_face, *self.of_sector.values())))

    def fill(self, tables: dict[str, np.ndarray]) -> None:
        """Copy everything."""
        for collider, part in self.slices.items():
            tables["mesh_int"][collider] = part
        links: list[int] = []

        def fill_slices(slices: np.ndarray, lists: list[list[int]]) -> None:
            for i, each in enumerate(lists):
                slices[i] = len(links), len(each)
                links.extend(each)

        fill_slices(tables["mesh_corner_int"], self.at_corner)
        fill_slices(tables["mesh_face_int"], self.of_face)
        for collider, lists in self.of_sector.items():
            fill_slices(tables["mesh_sector_int"][at.SECTORS * collider :], lists)
        if self.corners:
            tables["mesh_corner"][:] = self.corners
        if links:
            tables["mesh_link"][:, 0], tables["mesh_face"][:] = links, self.normals


class ContactTables:
    """The tables of contacts of one model, ready to be copied into a Plant.

    groups : rows (k + 1) of the links of each group of embedded loops, which move together
    """

    def __init__(self, system: System, frames: Frames, groups: Sequence[Sequence[int]]) -> None:
        self._system, self._frames = system, frames
        self._moved = [set(group) for group in groups]
        self._shapes = {shape.name: shape for shape in system.shapes if shape.name}
        self._used: dict[str, int] = {}
        self._walk: list[int] = []
        self._slices: list[tuple[int, int]] = []
        self._pairs: list[list[int]] = []
        self._touching: list[tuple[str, str]] = []
        self._touches = 0
        for number, contact in enumerate(system.contacts):
            self._add(number, contact)
        self._bodies = {name: body_of(self._shapes[name]) for name in self._used if self._shapes[name].type == "mesh"}
        self._meshes = _Meshes()
        for name, body in self._bodies.items():
            self._meshes.add(self._used[name], body)
        for name, number in self._used.items():
            if self._shapes[name].type == "height_field":
                self._meshes.add_ground(number, ground_corners(self._shapes[name]))

    def counts(self) -> dict[int, int]:
        """The counts C_… of contacts."""
        return {
            at.C_CONTACTS: len(self._system.contacts),
            at.C_COLLIDERS: len(self._used),
            at.C_PAIRS: len(self._pairs),
            at.C_CONTACT_WALK: len(self._walk),
            at.C_TOUCHES: self._touches,
            at.C_ACTIVE: min(2 * self._touches, self._most_active()),
            at.C_MESH_CORNERS: len(self._meshes.corners),
            at.C_MESH_FACES: len(self._meshes.normals),
            at.C_MESH_LINKS: self._meshes.links,
        }

    def _most_active(self) -> int:
        links = {self._frames.of_body[self._shapes[name].body][0] for name in self._used}
        return min(max(_LEAST_ACTIVE, _FOR_EACH * len(links)), _MOST_ACTIVE)

    def fill(self, plant: Plant) -> None:
        """Copy everything into the Plant, which has the counts above."""
        tables = plant.sections
        for name, i in self._used.items():
            shape = self._shapes[name]
            row, frame = self._frames.of_body[shape.body]
            body = self._bodies.get(name)
            middle = middle_of(body) if body else np.zeros(3)
            R = frame.rotation @ shape.rotation
            p = frame.position + frame.rotation @ (shape.position + shape.rotation @ middle)
            size, reach = size_of(shape, body)
            tables["collider_int"][i] = row, at.SHAPES.index(kind_of(shape))
            tables["collider"][i] = np.concatenate([R.ravel(), p, size, [reach], *box_of(shape, body)])
        for i, contact in enumerate(self._system.contacts):
            tables["contact_int"][i] = self._slices[i]
            fill_row(tables["contact"][i], contact)
        if self._pairs:
            tables["pair_int"][:], tables["contact_walk"][:, 0] = self._pairs, self._walk
        self._meshes.fill(tables)
        plant.touching = tuple(self._touching)

    def _add(self, number: int, contact: Contact) -> None:
        start = len(self._pairs)
        for first, second in contact.pairs():
            rows = [self._frames.of_body[self._shapes[name].body][0] for name in (first, second)]
            if rows[0] != rows[1]:
                self._add_pair(number, contact, first, second)
        if len(self._pairs) == start:
            what = f"the shapes of contact '{contact.name}' are all fixed to each other"
            self._fail(contact, what, "Name shapes of bodies that move relative to each other")
        self._slices.append((start, len(self._pairs) - start))

    def _add_pair(self, number: int, contact: Contact, first: str, second: str) -> None:
        codes = [at.SHAPES.index(kind_of(self._shapes[name])) for name in (first, second)]
        flip = codes[0] > codes[1]
        a, b = (second, first) if flip else (first, second)
        touches = touches_of(self._shapes[a], self._shapes[b])
        if not touches:
            what = f"contact '{contact.name}' is between the {kind_of(self._shapes[a])} '{a}' and the "
            what += f"{kind_of(self._shapes[b])} '{b}', a pair that is not supported"
            able = "; ".join(_partners(kind_of(self._shapes[name])) for name in (a, b))
            self._fail(contact, what, f"Build one of them of other shapes: {able}")
        places = [self._used.setdefault(name, len(self._used)) for name in (a, b)]
        walk = self._links(a, b)
        self._touching.append((a, b))
        self._pairs.append([number, *places, self._touches, touches, len(self._walk), len(walk), int(flip)])
        self._walk += walk
        self._touches += touches

    def _links(self, a: str, b: str) -> list[int]:
        """Links k that a force between two shapes moves, tip to base."""
        moved: set[int] = set()
        for name in (a, b):
            row = self._frames.of_body[self._shapes[name].body][0]
            while row:
                moved.add(row)
                row = self._frames.links[row - 1].parent
        for group in self._moved:
            if moved & group:
                moved |= group
        return [row - 1 for row in sorted(moved, reverse=True)]

    def _fail(self, contact: Contact, what: str, remedy: str) -> NoReturn:
        raise ModelError(what, where=contact.where or self._system.source or self._system.name, remedy=remedy)


def _partners(kind: str) -> str:
    """What a shape of a kind can touch, in words."""
    code = at.SHAPES.index(kind)
    able = [other for i, other in enumerate(at.SHAPES) if (min(i, code), max(i, code)) in at.TOUCHES]
    return f"a {kind} touches {', '.join(able)}"


def contact_fault(system: System, contact: Contact) -> tuple[str, str]:
    """(what is wrong with the shapes that a contact names, remedy), ("", "") if nothing is."""
    shapes = {shape.name: shape for shape in system.shapes if shape.name}
    for name in (*contact.first, *contact.second):
        if name not in shapes:
            remedy = f"Name one of: {some_names(set(shapes))}" if shapes else "Give the model shapes with names"
            return f"names '{name}', which is not a shape", remedy
        if fault := _fault(shapes[name]):
            return f"names '{name}', which {fault}", f"Use one of: {', '.join(at.SHAPES)}"
        if shapes[name].body in system.flexible_names:
            what = f"names '{name}', a shape of the flexible body '{shapes[name].body}'"
            return what, "Fix the shape to an attachment node of the body"
    return "", ""
