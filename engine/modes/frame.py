"""A frame of straight beams: nodes, sections, materials, point masses; its mesh of beam elements."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.numbers import usable

#: most elements of a frame
MOST_ELEMENTS = 20_000


@dataclass(frozen=True)
class Material:
    """young, shear : moduli, N/m²;  density : kg/m³."""

    young: float
    shear: float
    density: float


@dataclass(frozen=True)
class Section:
    """A beam's cross-section in its own axes y, z (x along the beam).

    area : m²;  y, z : ∫ z² dA, ∫ y² dA, second moments for bending about y and z, m⁴;  torsion : constant J, m⁴
    shear_y, shear_z : effective shear areas κ A for forces along y and z, m²; 0 for none: an Euler-Bernoulli beam
    """

    area: float
    y: float
    z: float
    torsion: float
    shear_y: float = 0.0
    shear_z: float = 0.0


def rectangle(width: float, height: float, timoshenko: bool = False) -> Section:
    """width along y, height along z, m; torsion by Roark's formula (4 digits)."""
    area, long, short = width * height, max(width, height), min(width, height)
    ratio = short / long
    torsion = long * short**3 * (1.0 / 3.0 - 0.21 * ratio * (1.0 - ratio**4 / 12.0))
    shear = 5.0 / 6.0 * area if timoshenko else 0.0
    return Section(area, width * height**3 / 12.0, height * width**3 / 12.0, torsion, shear, shear)


def tube(outer: float, inner: float, timoshenko: bool = False) -> Section:
    """Outer and inner radius, m; inner 0 is a full circle. Shear factor 0.9 for full, 0.5 for thin-walled circles."""
    area, bending = math.pi * (outer**2 - inner**2), 0.25 * math.pi * (outer**4 - inner**4)
    shear = (0.9 - 0.4 * inner / outer) * area if timoshenko else 0.0
    return Section(area, bending, bending, 2.0 * bending, shear, shear)


def box(width: float, height: float, wall: float, timoshenko: bool = False) -> Section:
    """Thin-walled rectangular tube: outer width along y and height along z, wall, m; torsion by Bredt's formula."""
    w, h = width - 2.0 * wall, height - 2.0 * wall
    area = width * height - w * h
    y, z = (width * height**3 - w * h**3) / 12.0, (height * width**3 - h * w**3) / 12.0
    middle_w, middle_h = width - wall, height - wall
    torsion = 2.0 * wall * (middle_w * middle_h) ** 2 / (middle_w + middle_h)
    webs = (2.0 * wall * middle_w, 2.0 * wall * middle_h) if timoshenko else (0.0, 0.0)
    return Section(area, y, z, torsion, *webs)


@dataclass(frozen=True, eq=False)
class Beam:
    """A straight member between two nodes, cut into equal elements.

    up : (3,) the section's z axis lies in the plane of the beam and this direction;  elements : at least 1
    """

    ends: tuple[str, str]
    section: Section
    material: Material
    up: np.ndarray
    elements: int = 8
    where: str = ""


@dataclass(frozen=True, eq=False)
class PointMass:
    """A rigid body at a node: mass, kg; centre from the node (3,), m; inertia about the centre (3, 3), kg·m²."""

    node: str
    mass: float
    centre: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True, eq=False)
class Frame:
    """Named nodes with positions (N, 3), m; beams between them; point masses."""

    name: str
    node_names: tuple[str, ...]
    positions: np.ndarray
    beams: tuple[Beam, ...]
    masses: tuple[PointMass, ...] = ()


@dataclass(frozen=True, eq=False)
class Mesh:
    """Elements of a frame. The frame's nodes come first; the nodes inside beams have no names.

    positions : (N, 3);  ends : (E, 2) indices of nodes;  lengths : (E,);  turn : (E, 3, 3) R (frame ← beam axes)
    beam : (E,) index of the beam
    """

    node_names: tuple[str, ...]
    positions: np.ndarray
    ends: np.ndarray
    lengths: np.ndarray
    turn: np.ndarray
    beam: np.ndarray


def mesh(frame: Frame) -> Mesh:
    """Cut the beams. ModelError for beams without length, along `up`, to absent nodes, or frames in two parts."""
    count = sum(beam.elements for beam in frame.beams)
    if not frame.beams or count > MOST_ELEMENTS:
        what = f"the frame has {count} elements" if frame.beams else "the frame has no beams"
        remedy = f"Give 1 to {MOST_ELEMENTS}"
        raise ModelError(what, where=f"frame '{frame.name}', beams", remedy=remedy)
    _check_numbers(frame)
    positions, ends, turns, owner = list(frame.positions), [], [], []
    for number, beam in enumerate(frame.beams):
        a, b = (_index(frame, beam, name) for name in beam.ends)
        turns += [_turn(frame, beam, a, b)] * beam.elements
        inner = range(len(positions), len(positions) + beam.elements - 1)
        start, end = frame.positions[a], frame.positions[b]
        positions += [start + (end - start) * i / beam.elements for i in range(1, beam.elements)]
        stations = [a, *inner, b]
        ends += list(itertools.pairwise(stations))
        owner += [number] * beam.elements
    nodes, pairs = np.array(positions), np.array(ends)
    names = (*frame.node_names, *[""] * (len(nodes) - len(frame.node_names)))
    _check_connected(frame, names, pairs)
    lengths = np.linalg.norm(nodes[pairs[:, 1]] - nodes[pairs[:, 0]], axis=1)
    return Mesh(names, nodes, pairs, lengths, np.array(turns), np.array(owner))


def _check_numbers(frame: Frame) -> None:
    """Positions must be finite, areas and moduli positive; moments of area too, unless a member is limp on purpose."""
    if frame.positions.shape != (len(frame.node_names), 3) or not usable(frame.positions):
        what = "the positions are not three finite numbers for every node"
        raise ModelError(what, where=f"frame '{frame.name}', nodes", remedy="Give (nodes, 3) finite numbers")
    for beam in frame.beams:
        s, m = beam.section, beam.material
        numbers = (s.area, s.y, s.z, s.torsion, s.shear_y, s.shear_z, m.young, m.shear, m.density)
        if not usable(numbers) or min(numbers) < 0.0 or s.area * m.young == 0.0 or beam.elements < 1:
            what = f"the beam from '{beam.ends[0]}' to '{beam.ends[1]}' has a section or material that no beam has"
            raise ModelError(what, where=beam.where or f"frame '{frame.name}'", remedy="Give positive finite numbers")


def _index(frame: Frame, beam: Beam, name: str) -> int:
    if name not in frame.node_names:
        what = f"a beam ends at the node '{name}', which does not exist"
        raise ModelError(what, where=beam.where, remedy=f"Use one of: {', '.join(frame.node_names)}")
    return frame.node_names.index(name)


def _turn(frame: Frame, beam: Beam, a: int, b: int) -> np.ndarray:
    """Columns x along the beam, y, z: z is the part of `up` across the beam."""
    along = frame.positions[b] - frame.positions[a]
    length = float(np.linalg.norm(along))
    if length < 1e-9:
        what = f"the beam from '{beam.ends[0]}' to '{beam.ends[1]}' has no length"
        raise ModelError(what, where=beam.where, remedy="Give two nodes at different positions")
    x = along / length
    across = beam.up - x * (x @ beam.up)
    size = float(np.linalg.norm(across))
    if size < 1e-6 * np.linalg.norm(beam.up) or size == 0.0:
        what = f"'up' points along the beam from '{beam.ends[0]}' to '{beam.ends[1]}'"
        raise ModelError(what, where=beam.where, remedy="Give the direction of the section's z axis, across the beam")
    z = across / size
    return np.column_stack([x, np.cross(z, x), z])


def _check_connected(frame: Frame, names: tuple[str, ...], ends: np.ndarray) -> None:
    """Every node must hang together with the first by beams (union by repeated relabelling of both ends)."""
    label = np.arange(len(names))
    for _ in range(len(names)):
        least = np.minimum(label[ends[:, 0]], label[ends[:, 1]])
        new = label.copy()
        np.minimum.at(new, ends[:, 0], least)
        np.minimum.at(new, ends[:, 1], least)
        new = new[new]
        if np.array_equal(new, label):
            break
        label = new
    apart = [names[i] for i in np.flatnonzero(label) if names[i]]
    if apart:
        what = f"the node '{apart[0]}' is not connected to '{frame.node_names[0]}'"
        raise ModelError(what, where=f"frame '{frame.name}'", remedy="Connect all nodes by beams, or remove this one")
