"""Meshes that touch: gaps of random polytopes against quadratic programmes, slopes, files, what is refused."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.common.errors import ModelError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.archive import from_bytes, to_bytes
from limberjack.engine.model.build import build, new_state
from limberjack.engine.model.meshes import body_of
from limberjack.engine.model.plant import split
from limberjack.engine.model.polytope import polytope
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.contacts import ME_GAP, ME_NEAR, ME_NORMAL
from tests.engine.contacts.least import hulls_apart
from tests.engine.contacts.scenes import FLOOR, free, scene
from tests.validation.figures import figure

CUBE = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])


def hull(points: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Corners and triangles of a convex hull, counter-clockwise from outside."""
    found = ConvexHull(points)
    triangles = []
    for triangle, plane in zip(found.simplices, found.equations):
        a, b, c = points[triangle]
        turned = np.dot(np.cross(b - a, c - a), plane[:3]) < 0.0
        triangles.append([int(i) for i in (triangle[::-1] if turned else triangle)])
    return points, triangles


def mesh(name: str, points: np.ndarray, body: str = "") -> str:
    """The line of a mesh that is the hull of points, which are all corners of it."""
    corners, triangles = hull(points)
    return f"{{body: {body or name}, name: {name}, type: mesh, vertices: {corners.tolist()}, faces: {triangles}}}"


def cloud(random: np.random.Generator, count: int) -> np.ndarray:
    """Corners on an ellipsoid."""
    points = random.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None] * random.uniform(0.1, 0.3, 3)


class Pair:
    """Two free bodies whose shapes touch, and what the kernels find of them."""

    def __init__(self, tmp_path: Path, shapes: list[str]) -> None:
        bodies = [free(name, 1.0, (0.1, 0.1, 0.1), (0, 0, 0)) for name in "ab"]
        system = scene(tmp_path, bodies, shapes, ["{name: c, first: a, second: b}"])
        self.plant = lj.Simulation(system).plant
        self._work, self._state = self.plant.new_work(), new_state(self.plant, system)
        self._met = split(self._work, layout.work_sections(self.plant.ints))["met"]

    def nearest(self, q: np.ndarray) -> np.ndarray:
        """(MET,) of the smallest gap at q: [quaternion, position] of both."""
        self._state[2 : 2 + 14] = q
        entries().gaps(self.plant.ints, self.plant.floats, self._work, self._state)
        return np.array(self._met[self._met[:, ME_GAP].argmin()])


def placed(points: np.ndarray, pose: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(pose[:4], scalar_first=True).apply(points) + pose[4:]


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two hulls have a point in common, by a linear programme."""
    n, m = len(a), len(b)
    sums = np.vstack([np.hstack([a.T, -b.T]), np.repeat([1.0, 0.0], [n, m]), np.repeat([0.0, 1.0], [n, m])])
    return bool(linprog(np.zeros(n + m), A_eq=sums, b_eq=[0, 0, 0, 1, 1], bounds=(0, None)).status == 0)


def depth(a: np.ndarray, b: np.ndarray) -> float:
    """How far b has to move to leave a: the smallest depth below the faces of the hull of all differences."""
    differences = (b[:, None] - a[None]).reshape(-1, 3)
    return float(-ConvexHull(differences).equations[:, 3].max())


def test_gaps_of_polytopes_are_those_of_programmes(tmp_path):
    """Apart against distances of a quadratic programme, overlapping against all faces of the Minkowski difference."""
    random, apart, inside = np.random.default_rng(11), 0, 0
    a, b = cloud(random, 12), cloud(random, 20)
    pair = Pair(tmp_path, [mesh("a", a), mesh("b", b)])
    for _ in range(120):
        q = np.concatenate([random.normal(size=4), np.zeros(3), random.normal(size=4), random.uniform(-0.3, 0.3, 3)])
        q[:4] /= np.linalg.norm(q[:4])
        q[7:11] /= np.linalg.norm(q[7:11])
        here, there = placed(a, q[:7]), placed(b, q[7:])
        row = pair.nearest(q)
        gap = row[ME_GAP]
        assert (gap < 0.0) == overlap(here, there)
        if row[ME_NEAR] == 0.0:
            continue
        if gap > 0.0:
            expected = hulls_apart(here, there)
            figure("gap of two meshes", gap, expected, unit="m", oracle="quadratic programme", atol=1e-9)
            apart += 1
        else:
            expected = depth(here, there)
            assert gap <= -expected + 1e-9
            if expected < 0.02:
                figure("depth of two meshes", -gap, expected, unit="m", oracle="Minkowski difference", atol=1e-9)
                inside += 1
    assert apart > 20
    assert inside > 10


@pytest.mark.parametrize(
    "other",
    [
        "type: sphere, radius: 0.1",
        "type: capsule, radius: 0.05, length: 0.2",
        "type: box, size: [0.2, 0.1, 0.3]",
        "type: cylinder, radius: 0.1, length: 0.2",
        "type: cylinder, radius: [0.2, 0.05], length: 0.3",
        "mesh",
    ],
)
def test_normals_are_slopes_of_gaps(tmp_path, other):
    """Not compared: places beside edges, where slopes jump."""
    random, compared = np.random.default_rng(9), 0
    points = cloud(random, 14)
    line = mesh("b", cloud(random, 9)) if other == "mesh" else f"{{body: b, name: b, {other}}}"
    pair = Pair(tmp_path, [mesh("a", points), line])
    for _ in range(250):
        q = np.concatenate([random.normal(size=4), np.zeros(3), random.normal(size=4), random.uniform(-0.2, 0.2, 3)])
        q[:4] /= np.linalg.norm(q[:4])
        q[7:11] /= np.linalg.norm(q[7:11])
        row = pair.nearest(q)
        if not -0.03 < row[ME_GAP] < 0.1:
            continue
        moves = 1e-6 * np.eye(14)[11:]
        ahead = np.array([pair.nearest(q + move)[ME_GAP] for move in moves])
        behind = np.array([pair.nearest(q - move)[ME_GAP] for move in moves])
        if np.abs(ahead + behind - 2.0 * row[ME_GAP]).max() < 1e-10:
            slope = (ahead - behind) / 2e-6
            normal = row[ME_NORMAL : ME_NORMAL + 3]
            assert min(np.abs(slope - normal).max(), np.abs(slope + normal).max()) < 1e-4
            compared += 1
    assert compared > 10


def stl(points: np.ndarray, triangles: list[list[int]]) -> bytes:
    """A binary file of type STL."""
    head = b"solid, although binary".ljust(80, b" ") + struct.pack("<I", len(triangles))
    return head + b"".join(struct.pack("<12fH", *np.zeros(3), *points[t].ravel(), 0) for t in triangles)


def stl_text(points: np.ndarray, triangles: list[list[int]]) -> bytes:
    """The same as text."""
    lines = ["solid cube"]
    for triangle in triangles:
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {x} {y} {z}" for x, y, z in points[triangle])]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid"]).encode()


def obj(points: np.ndarray, faces: list[list[int]]) -> bytes:
    """Type OBJ, with corners of textures and places from the end."""
    lines = [f"v {x} {y} {z}" for x, y, z in points] + ["vt 0 0", "# a comment"]
    lines += ["f " + " ".join(f"{i - len(points)}/1" for i in face) for face in faces]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(("name", "write"), [("a.stl", stl), ("b.STL", stl_text), ("c.obj", obj)])
def test_files_hold_what_was_written(tmp_path, name, write):
    """In millimetres; a mirrored mesh is one as well. The model is whole without the file afterwards."""
    (tmp_path / name).write_bytes(write(*hull(1000.0 * CUBE)))
    for scale in ("0.001", "[-0.001, 0.001, 0.001]"):
        shape = f"{{body: b, name: b, type: mesh, file: {name}, scale: {scale}}}"
        contact = "{name: c, first: floor, second: b}"
        system = scene(tmp_path, [free("b", 1.0, (0.1, 0.1, 0.1), (0, 0, 0.5))], [FLOOR, shape], [contact])
        body = body_of(system.shapes[1])
        assert np.abs(np.sort(body.corners, axis=0) - np.sort(CUBE, axis=0)).max() < 1e-9
        assert sorted(map(len, body.faces)) == [4] * 6
        assert np.abs(np.abs(body.normals).max(axis=1) - 1.0).max() < 1e-6
        for face, normal in zip(body.faces, body.normals):
            assert body.corners[list(face)] @ normal == pytest.approx(0.1, abs=1e-6)
        again = from_bytes(to_bytes(system), "a model")
        assert np.array_equal(again.shapes[1].vertices, system.shapes[1].vertices)
        assert np.array_equal(build(again).floats, build(system).floats)


SHELL = hull(CUBE)[1]
NOTCHED = np.vstack([CUBE, [[0.0, 0.0, 0.05]]])


def opened() -> list[list[int]]:
    """The cube whose top is pulled in to its middle: closed, and not convex."""
    top = [t for t in SHELL if all(CUBE[i, 2] > 0 for i in t)]
    edges = {(t[i], t[(i + 1) % 3]) for t in top for i in range(3)}
    rest = [t for t in SHELL if t not in top]
    return rest + [[a, b, 8] for a, b in edges if (b, a) not in edges]


def wheel(count: int) -> np.ndarray:
    around = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.concatenate([np.stack([np.cos(around), np.sin(around), z + 0.0 * around], 1) for z in (-1.0, 1.0)])


@pytest.mark.parametrize(
    ("points", "faces", "text"),
    [
        (CUBE, SHELL[1:], "its surface is not closed"),
        (CUBE, [SHELL[0][::-1], *SHELL[1:]], "its triangles face different ways"),
        (NOTCHED, opened(), "it is not convex"),
        (CUBE * [1, 1, 0], SHELL, "it has no volume"),
        (wheel(80), hull(wheel(80))[1], "one of its faces has 80 corners. Give at most 64"),
        (wheel(150), hull(wheel(150))[1], "it has 300 corners. Give at most 256"),
        (CUBE, [*SHELL, [0, 1, 9]], "a face names the corner 9 of 8"),
    ],
)
def test_bodies_that_cannot_touch_are_refused_with_their_line(tmp_path, points, faces, text):
    line = f"{{body: b, name: b, type: mesh, vertices: {points.tolist()}, faces: {faces}}}"
    with pytest.raises(ModelError, match=text) as caught:
        scene(tmp_path, [free("b", 1.0, (1, 1, 1), (0, 0, 5))], [FLOOR, line], ["{name: c, first: floor, second: b}"])
    assert "scene.yaml:8, shapes[1].faces" in str(caught.value)


@pytest.mark.parametrize(
    ("file", "content", "text"),
    [
        ("none.stl", None, "the file is not found"),
        ("a.dae", b"", "of a type that is only drawn. Give one of: .stl, .obj, or vertices and faces"),
        ("a.stl", b"nothing", "its length does not fit the number of triangles"),
        ("a.stl", b"solid a\nvertex 1 2 x", "this is not a mesh"),
        ("a.obj", b"v 1 2 3\nf 1 2 3\n", "a face names a corner that the file does not have"),
        ("a.obj", b"v 1 2 3\n", "the mesh has no faces"),
        ("a.obj", b"v 1 2 1e999\nv 1 2 3\nv 3 2 1\nf 1 2 3\n", "not finite"),
    ],
)
def test_files_that_are_no_mesh_are_refused_with_their_line(tmp_path, file, content, text):
    if content is not None:
        (tmp_path / file).write_bytes(content)
    line = f"{{body: b, name: b, type: mesh, file: {file}}}"
    bodies = [free("b", 1.0, (1, 1, 1), (0, 0, 5))]
    with pytest.raises(ModelError, match=text) as caught:
        scene(tmp_path, bodies, [FLOOR, line], ["{name: c, first: floor, second: b}"])
    assert "scene.yaml:8, shapes[1].file" in str(caught.value)
    scene(tmp_path, bodies, [FLOOR, line], [])  # what is only drawn may be anything


def test_corners_in_the_plane_of_a_face_are_not_needed():
    """A cube with a corner in the middle of its top is a cube; nearly flat triangles are one face."""
    top = opened()

    def fail(what: str, remedy: str) -> NoReturn:
        raise AssertionError(f"{what}. {remedy}")

    for height in (0.1, 0.1 - 1e-7):
        body = polytope(np.vstack([CUBE, [[0.0, 0.0, height]]]), top, fail)
        assert (len(body.corners), sorted(map(len, body.faces))) == (8, [4] * 6)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_a_mesh_stands_on_corners_that_others_beside_reach_beyond(tmp_path, integrator):
    """A bowl on the small square below it: its rim is low and wide, and touches nothing."""
    around = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    rim = np.stack([0.3 * np.cos(around), 0.3 * np.sin(around), np.full(12, 0.02)], axis=1)
    foot = np.array([[x, y, 0.0] for x in (-0.05, 0.05) for y in (-0.04, 0.04)])
    bodies = [free("b", 1.0, (0.02, 0.02, 0.02), (0, 0, 0.001))]
    laws = ["{name: c, first: floor, second: b, friction: 0.5}"]
    system = scene(tmp_path, bodies, [FLOOR, mesh("b", np.vstack([foot, rim]))], laws)
    simulation = lj.Simulation(system, dt=1e-3, integrator=integrator)
    simulation.step(1000)
    figure("speed of a mesh that stands", simulation.v, 0.0, oracle="it stands", atol=1e-9)
    assert abs(simulation.q[6]) < 1e-6
