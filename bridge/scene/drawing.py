"""A model as it is drawn: surfaces of its bodies and how modes move them, mesh files, rods, plumes of thrusters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limberjack.bridge.scene.looks import looks
from limberjack.bridge.scene.skins import bare, displacements, finest
from limberjack.bridge.scene.surfaces import Surface, joined, surface_of
from limberjack.engine.files.mesh_file import find_mesh
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.system import System
from limberjack.engine.modes.modal import Outline

#: colour of bodies whose shapes have none
_COLOURS = ("#8fa3b8", "#c9a66b", "#7fae8e", "#b98080", "#8c8cc4", "#a9b665", "#c58fb0", "#6fb0b5")
_WORLD_COLOUR = "#6b7076"
#: radius of the rods that stand for distances between bodies, relative to their length
_ROD = 0.012
#: points of all surfaces together: a browser draws a million well
_MOST_POINTS = 1_500_000
#: numbers that the motion of one flexible body's surface may take
_MOST_NUMBERS = 4_000_000
MOST_MESH_BYTES = 64 << 20
#: kinds of mesh files, by the ends of their names
MEDIA = {".stl": "model/stl", ".obj": "model/obj", ".dae": "model/vnd.collada+xml"}


@dataclass(frozen=True, eq=False)
class Painted:
    """A surface of one colour in the frame of a body.

    body : place in `System.bodies`, -1 for the world;  colour : "#rrggbb";  opacity : 0 to 1
    start, moved : of a flexible body's the place of its first modal coordinate among those of `Posed`, and
        (n, V, 3) m how far each point goes per unit of n of them
    """

    body: int
    colour: str
    opacity: float
    surface: Surface
    start: int = 0
    moved: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Mesh:
    """A mesh file at a place in the frame of a body; without a colour it has its own."""

    body: int
    file: Path
    shape: Shape


@dataclass(frozen=True, eq=False)
class Rod:
    """A straight rod between two bodies.

    ends : body and (3,) m in its frame of both ends;  radius : m
    """

    ends: tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]]
    radius: float
    colour: str = _WORLD_COLOUR


@dataclass(frozen=True, eq=False)
class Jet:
    """A thruster: position (3,) m and direction (3,) of its thrust in the frame of a body."""

    body: int
    position: np.ndarray
    direction: np.ndarray


class Drawing:
    """The drawing of a model.

    surfaces, meshes, rods, jets : in the model's order
    warnings : parts of the model that are not drawn, and why
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._index = {name: i for i, name in enumerate(system.body_names)}
        self._outlines = {
            str(body.hinge.parent): body.hinge.modes.outline for body in system.bodies if body.hinge.modes is not None
        }
        self.warnings: list[str] = []
        self._undrawn: list[str] = []
        self._points, self._full = 0, False
        found = [self._mesh(shape) for shape in system.shapes if shape.file]
        self.meshes = [mesh for mesh in found if mesh is not None]
        own = [shape for shape in system.shapes if not shape.file]
        dressed = {shape.body for shape in own} | {mesh.shape.body for mesh in self.meshes}
        more = f", and {len(self._undrawn) - 1} more" if len(self._undrawn) > 1 else ""
        self.warnings += [text + more for text in self._undrawn[:1]]
        self.surfaces = [*self._rigid([*own, *looks(system, dressed)]), *self._flexible(own, dressed)]
        self.rods = self._rods()
        self.jets = [Jet(self._place(each.body), each.position, each.direction) for each in system.thrusters]

    def _rigid(self, shapes: list[Shape]) -> list[Painted]:
        """Surfaces of one colour of one body as one."""
        groups: dict[tuple[str | None, str, float], list[Surface]] = {}
        for shape in shapes:
            if shape.body not in self._outlines and self._room():
                key = shape.body, self._colour(shape), shape.opacity
                groups.setdefault(key, []).append(self._counted(surface_of(shape)))
        return [
            Painted(self._place(body), colour, opacity, joined(surfaces))
            for (body, colour, opacity), surfaces in groups.items()
        ]

    def _counted(self, surface: Surface) -> Surface:
        self._points += len(surface.points)
        return surface

    def _room(self) -> bool:
        """Whether there is room for another surface; the first lack of room is reported."""
        full = self._points > _MOST_POINTS
        if full and not self._full:
            self.warnings.append(f"only some shapes are drawn: all have more than {_MOST_POINTS} points")
        self._full |= full
        return not full

    def _flexible(self, shapes: list[Shape], dressed: set[str | None]) -> list[Painted]:
        made: list[Painted] = []
        at = self._coordinates()
        for name, outline in self._outlines.items():
            if not self._room():
                break
            own = [shape for shape in shapes if shape.body == name]
            place = self._place(name)
            if outline is None:
                self.warnings.append(f"'{name}' is not drawn: its modes came without nodes")
                made += [Painted(place, self._colour(each), each.opacity, surface_of(each)) for each in own]
                continue
            pairs = [(each, surface_of(each, finest(outline))) for each in own]
            parts = [(self._colour(each), each.opacity, surface) for each, surface in pairs]
            parts = parts if name in dressed else [(_COLOURS[place % len(_COLOURS)], 1.0, bare(outline))]
            for colour, opacity, surface in parts:
                moved = self._motion(name, self._counted(surface), outline)
                made.append(Painted(place, colour, opacity, surface, at[name], moved))
        return made

    def _motion(self, name: str, surface: Surface, outline: Outline) -> np.ndarray:
        """How the modes move a surface; of too many the first ones."""
        modes = outline.Pt.shape[2]
        shown = min(modes, _MOST_NUMBERS // (3 * max(1, len(surface.points))))
        if shown < modes:
            self.warnings.append(f"'{name}' is drawn with {shown} of its {modes} modes: its surface is too fine")
        return displacements(surface.points, outline)[:shown]

    def _coordinates(self) -> dict[str, int]:
        """Flexible body → where its modal coordinates begin in those of `Posed`."""
        found, at = {}, 0
        for body in self.system.bodies:
            if body.hinge.modes is not None:
                found[str(body.hinge.parent)] = at
                at += body.hinge.kind.nq
        return found

    def _place(self, body: str | None) -> int:
        return -1 if body is None else self._index[body]

    def _colour(self, shape: Shape) -> str:
        default = _WORLD_COLOUR if shape.body is None else _COLOURS[self._index[shape.body] % len(_COLOURS)]
        return shape.colour or default

    def _mesh(self, shape: Shape) -> Mesh | None:
        path = find_mesh(shape.file, self.system.source)
        if path is None or path.stat().st_size > MOST_MESH_BYTES:
            why = "it is not found" if path is None else f"it has more than {MOST_MESH_BYTES >> 20} MB"
            self._undrawn.append(f"the mesh '{shape.file}' of '{shape.body}' is not drawn: {why}")
            return None
        return Mesh(self._place(shape.body), path, shape)

    def _rods(self) -> list[Rod]:
        """Distances that always act are rods between two bodies."""
        made = []
        for loop in self.system.loops:
            if loop.type == "distance" and loop.hinge is not None and not loop.switchable:
                first = self._place(loop.hinge.parent), loop.hinge.inboard.position
                second = self._place(loop.body), loop.hinge.outboard.position
                made.append(Rod((first, second), _ROD * loop.length))
        return made
