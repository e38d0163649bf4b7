"""A model as the 3-D view gets it: bodies, their surfaces and how modes move them; and the poses of every state.

The browser is told numbers only: poses as [x, y, z, qw, qx, qy, qz], places in lists, vectors of float32 or uint32 in
base64, little-endian.
"""

from __future__ import annotations

import base64
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.bridge.console.looks import looks
from limberjack.bridge.console.skins import bare, displacements, finest
from limberjack.bridge.console.surfaces import Surface, joined, surface_of
from limberjack.engine.layout import SURVEY_HEAD, SURVEY_NODE
from limberjack.engine.system.modal import Outline
from limberjack.engine.system.rotations import to_quaternion
from limberjack.engine.system.shapes import MESHES, Shape
from limberjack.engine.system.system import System

#: of bodies whose shapes have none
_COLOURS = ("#8fa3b8", "#c9a66b", "#7fae8e", "#b98080", "#8c8cc4", "#a9b665", "#c58fb0", "#6fb0b5")
_WORLD_COLOUR = "#6b7076"
#: radius of the rods that stand for distances between bodies, relative to their length
_ROD = 0.012
#: points of all surfaces together: a browser draws a million well
_MOST_POINTS = 1_500_000
#: numbers that the motion of one flexible body's surface may take
_MOST_NUMBERS = 4_000_000
MOST_MESH_BYTES = 64 << 20


class Scene:
    """What there is to draw of a model.

    content : as JSON;  meshes : files that it names by place, in the order of ``content["meshes"]``
    warnings : what of the model is not drawn, and why
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._index = {name: i for i, name in enumerate(system.body_names)}
        self._outlines = {
            str(body.hinge.parent): body.hinge.modes.outline for body in system.bodies if body.hinge.modes is not None
        }
        self.warnings: list[str] = []
        self._undrawn: list[str] = []
        self._points, self._full = 0, False
        self.meshes: list[Path] = []
        self.content = self._content()

    def _content(self) -> dict[str, Any]:
        system = self._system
        pairs = [(shape, self._mesh(shape) if shape.type == "mesh" else None) for shape in system.shapes]
        meshes = [(shape.body, mesh) for shape, mesh in pairs if mesh is not None]
        own = [shape for shape in system.shapes if shape.type != "mesh"]
        dressed = {shape.body for shape in own} | {body for body, _ in meshes}
        more = f", and {len(self._undrawn) - 1} more" if len(self._undrawn) > 1 else ""
        self.warnings += [text + more for text in self._undrawn[:1]]
        return {
            "model": system.name,
            "bodies": [self._body(i) for i in range(len(system.bodies))],
            "surfaces": [*self._rigid([*own, *looks(system, dressed)]), *self._flexible(own, dressed)],
            "meshes": [mesh for _, mesh in meshes],
            "rods": self._rods(),
            "jets": [
                {
                    "body": self._place(each.body),
                    "position": each.position.tolist(),
                    "direction": each.direction.tolist(),
                }
                for each in system.thrusters
            ],
            "ground": bool(np.any(system.gravity)),
            "warnings": self.warnings,
        }

    def _body(self, i: int) -> dict[str, Any]:
        """Name, place of the parent, and of an attachment node its pose on its undeformed body."""
        body = self._system.bodies[i]
        made: dict[str, Any] = {"name": body.name, "parent": self._index.get(body.hinge.parent or "", -1)}
        if body.hinge.attachment is not None:
            made["rest"] = _pose(body.hinge.attachment.p0, body.hinge.attachment.R0)
        made["inner"] = body.hinge.modes is not None or body.hinge.attachment is not None
        return made

    def _rigid(self, shapes: list[Shape]) -> list[dict[str, Any]]:
        """Surfaces of one colour of one body as one."""
        groups: dict[tuple[str | None, str, float], list[Surface]] = {}
        for shape in shapes:
            if shape.body not in self._outlines and self._room():
                key = shape.body, self._colour(shape), shape.opacity
                groups.setdefault(key, []).append(self._counted(surface_of(shape)))
        return [self._surface(*key, joined(surfaces)) for key, surfaces in groups.items()]

    def _counted(self, surface: Surface) -> Surface:
        self._points += len(surface.points)
        return surface

    def _room(self) -> bool:
        """Whether there is room for one more surface; the first time that there is none is told."""
        full = self._points > _MOST_POINTS
        if full and not self._full:
            self.warnings.append(f"only some shapes are drawn: all have more than {_MOST_POINTS} points")
        self._full |= full
        return not full

    def _flexible(self, shapes: list[Shape], dressed: set[str | None]) -> list[dict[str, Any]]:
        made, at = [], self._coordinates()
        for name, outline in self._outlines.items():
            if not self._room():
                break
            own = [shape for shape in shapes if shape.body == name]
            if outline is None:
                self.warnings.append(f"'{name}' is not drawn: its modes came without nodes")
                made += [self._surface(name, self._colour(each), each.opacity, surface_of(each)) for each in own]
                continue
            pairs = [(each, surface_of(each, finest(outline))) for each in own]
            parts = [(self._colour(each), each.opacity, surface) for each, surface in pairs]
            parts = parts if name in dressed else [(_COLOURS[self._index[name] % len(_COLOURS)], 1.0, bare(outline))]
            for colour, opacity, surface in parts:
                entry = self._surface(name, colour, opacity, self._counted(surface))
                made.append(entry | self._motion(name, surface, outline, at[name]))
        return made

    def _motion(self, name: str, surface: Surface, outline: Outline, start: int) -> dict[str, Any]:
        """How the modes move a surface; of too many the first ones."""
        modes = outline.Pt.shape[2]
        shown = min(modes, _MOST_NUMBERS // (3 * max(1, len(surface.points))))
        if shown < modes:
            self.warnings.append(f"'{name}' is drawn with {shown} of its {modes} modes: its surface is too fine")
        moved = displacements(surface.points, outline)[:shown]
        return {"modes": [start, shown], "moved": _packed(moved, "<f4")}

    def _coordinates(self) -> dict[str, int]:
        """Flexible body → where its modal coordinates begin in those of `poses`."""
        found, at = {}, 0
        for body in self._system.bodies:
            if body.hinge.modes is not None:
                found[str(body.hinge.parent)] = at
                at += body.hinge.kind.nq
        return found

    def _surface(self, body: str | None, colour: str, opacity: float, surface: Surface) -> dict[str, Any]:
        return {
            "body": self._place(body),
            "colour": colour,
            "opacity": opacity,
            "points": _packed(surface.points, "<f4"),
            "triangles": _packed(surface.triangles, "<u4"),
        }

    def _place(self, body: str | None) -> int:
        return -1 if body is None else self._index[body]

    def _colour(self, shape: Shape) -> str:
        default = _WORLD_COLOUR if shape.body is None else _COLOURS[self._index[shape.body] % len(_COLOURS)]
        return shape.colour or default

    def _mesh(self, shape: Shape) -> dict[str, Any] | None:
        path = find_mesh(shape.file, self._system.source)
        if path is None or path.stat().st_size > MOST_MESH_BYTES:
            why = "it is not found" if path is None else f"it has more than {MOST_MESH_BYTES >> 20} MB"
            self._undrawn.append(f"the mesh '{shape.file}' of '{shape.body}' is not drawn: {why}")
            return None
        if path not in self.meshes:
            self.meshes.append(path)
        return {
            "body": self._place(shape.body),
            "file": self.meshes.index(path),
            "format": path.suffix.lower().removeprefix("."),
            "pose": _pose(shape.position, shape.rotation),
            "scale": shape.size.tolist(),
            "colour": shape.colour,
            "opacity": shape.opacity,
        }

    def _rods(self) -> list[dict[str, Any]]:
        """Distances that always act are rods between two bodies."""
        made = []
        for loop in self._system.loops:
            if loop.type == "distance" and loop.hinge is not None and not loop.switchable:
                ends = (loop.hinge.parent, loop.hinge.inboard), (loop.body, loop.hinge.outboard)
                entry: dict[str, Any] = {"radius": _ROD * loop.length, "colour": _WORLD_COLOUR}
                made.append(entry | {"ends": [[self._place(body), pose.position.tolist()] for body, pose in ends]})
        return made


class Poses:
    """Of every state the poses of all bodies and how hard thrusters push, in the order of the scene's, and the modal
    coordinates."""

    def __init__(self, system: System) -> None:
        self._bodies = len(system.bodies)
        modal = [np.full(body.hinge.kind.nq, body.hinge.modes is not None) for body in system.bodies]
        self._modal = np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *modal]))
        places = {name: i for i, name in enumerate(system.command_names)}
        self._jets = [(places[each.name], each.minimum, each.thrust) for each in system.thrusters]

    def content(self, survey: np.ndarray, q: np.ndarray, command: np.ndarray) -> dict[str, Any]:
        """From `Simulation.survey`, coordinates (nq,) and commands (nu,). Empty lists where a number is not finite."""
        nodes = survey[SURVEY_HEAD:].reshape(-1, SURVEY_NODE)[: self._bodies, :7].ravel().tolist()
        modes = q[self._modal].tolist()
        jets = [min(command[i], most) / most if command[i] >= least else 0.0 for i, least, most in self._jets]
        if not all(map(math.isfinite, (*nodes, *modes, *jets))):
            return {"poses": [], "modes": [], "jets": []}
        return {"poses": nodes, "modes": modes, "jets": jets}


def find_mesh(file: str, source: str) -> Path | None:
    """The file of a mesh that a model in ``source`` names: absolute, beside it, file:// or package://."""
    folder = Path(source).absolute().parent
    if not file.lower().endswith(MESHES):
        return None
    if not file.startswith("package://"):
        path = folder / file.removeprefix("file://")
        return path if path.is_file() else None
    inside = file.removeprefix("package://").lstrip("/")  # of what others write, package:///…
    roots = [Path(each) for each in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if each]
    found = (root / inside for root in (folder, *folder.parents, *roots))
    return next((path for path in found if path.is_file()), None)


def _pose(position: np.ndarray, rotation: np.ndarray) -> list[float]:
    return [*position.tolist(), *to_quaternion(rotation).tolist()]


def _packed(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()
