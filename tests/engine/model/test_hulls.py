"""Convex hulls of meshes: their corners, how far they lack, and what has none; `hull: true` and URDF."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

import limberjack as lj
from limberjack.engine.common.errors import MissingExtraError, ModelError, ModelWarning
from limberjack.engine.model.archive import from_bytes, to_bytes
from limberjack.engine.model.hulls import convex_hull
from limberjack.engine.model.meshes import body_of
from limberjack.engine.model.polytope import MOST_VERTICES, polytope
from limberjack.engine.tables.contacts import MOST_CORNERS
from tests.engine.contacts.scenes import FLOOR, free, scene
from tests.validation.figures import figure

CUBE = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
#: an L: two boxes, which together are not convex
ANGLE = np.vstack([CUBE * [3.0, 1.0, 0.5], CUBE * [0.5, 1.0, 2.0] + [-0.25, 0.0, 0.15]])


def fail(what: str, remedy: str) -> NoReturn:
    raise ModelError(what, remedy=remedy)


def ball(count: int, radii: tuple[float, float, float] = (0.1, 0.2, 0.3)) -> np.ndarray:
    """Points spread over an ellipsoid."""
    turns, z = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count), np.linspace(-1.0, 1.0, count)
    around = np.sqrt(1.0 - z * z)
    return np.stack([around * np.cos(turns), around * np.sin(turns), z], axis=1) * radii


def wheel(count: int) -> np.ndarray:
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    rim = np.stack([np.cos(angles), np.sin(angles), np.zeros(count)], axis=1)
    return np.vstack([rim + np.array([0.0, 0.0, side]) for side in (-0.2, 0.2)])


def distance(point: np.ndarray, corners: np.ndarray) -> float:
    """Of a point from a hull, by non-negative least squares (Lawson and Hanson's nearest point)."""
    rows = np.vstack([(corners - point).T, np.ones(len(corners))])
    shares = nnls(rows, np.array([0.0, 0.0, 0.0, 1.0]), maxiter=10_000)[0]
    return float(np.linalg.norm(shares @ (corners - point)) / shares.sum())


@pytest.mark.parametrize("seed", range(20))
def test_a_hull_has_the_corners_of_the_hull(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(4, 120)), 3)) * rng.uniform(0.1, 3.0, 3) + rng.normal(size=3)
    hull = convex_hull(points, fail)
    assert np.array_equal(hull.corners, points[np.sort(ConvexHull(points).vertices)])
    assert hull.lack == 0.0
    polytope(hull.corners, hull.triangles.tolist(), fail)


@pytest.mark.parametrize("points", [ball(1500), ball(600, (0.002, 0.2, 0.3)), wheel(150)], ids=["egg", "disc", "wheel"])
def test_a_hull_of_many_corners_says_how_far_it_lacks(points):
    hull = convex_hull(points, fail)
    assert len(hull.corners) <= MOST_VERTICES
    body = polytope(hull.corners, hull.triangles.tolist(), fail)
    assert max(map(len, body.faces)) <= MOST_CORNERS
    assert {tuple(corner) for corner in hull.corners} <= {tuple(point) for point in points}
    lack = max(distance(point, hull.corners) for point in points)
    figure("how far a hull of few corners lacks", hull.lack, lack, unit="m", oracle="nearest points", atol=1e-9)
    # support functions: nowhere outside, nowhere farther inside
    ways = np.random.default_rng(1).normal(size=(500, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    short = (points @ ways.T).max(axis=0) - (hull.corners @ ways.T).max(axis=0)
    assert -1e-15 < short.min() <= short.max() <= hull.lack + 1e-12
    assert hull.lack < 0.02 * np.ptp(points, axis=0).max()


def test_corners_that_are_one_to_rounding_are_one():
    """Files write a corner once for each triangle, with seven digits."""
    noise = np.random.default_rng(2).uniform(-1e-8, 1e-8, (12, 8, 3))
    middles = 0.5 * (CUBE[:, None] + CUBE[None]).reshape(-1, 3)
    hull = convex_hull(np.vstack([(CUBE + noise).reshape(-1, 3), middles]), fail)
    assert len(hull.corners) == 8
    assert np.abs(np.sort(hull.corners, axis=0) - np.sort(CUBE, axis=0)).max() < 1e-7


@pytest.mark.parametrize(
    ("points", "text"),
    [
        (CUBE[:3], "it has 3 corners. Give a solid body"),
        (np.zeros((0, 3)), "it has 0 corners"),
        (CUBE * [1, 1, 0], "its hull is flat. Give a solid body, or a box that is as thick as it"),
        (CUBE * [1, 1, 1e-5], "its hull is flat"),
        (CUBE * [1, 0, 0], "its hull is flat"),
        (CUBE * [1, 1e-6, 1e-6], "its hull is flat"),
        (CUBE * 0.0, "its hull is flat"),
    ],
)
def test_what_is_flat_has_no_hull(points, text):
    with pytest.raises(ModelError, match=text):
        convex_hull(points, fail)


def test_a_plate_has_a_hull():
    assert len(convex_hull(CUBE * [1, 1, 1e-3], fail).corners) == 8


def stl(path: Path, points: np.ndarray, flatten: float = 1.0) -> None:
    """A file whose triangles are those of the hulls of each eight points, with a factor along z."""
    triangles = [block[face] for block in points.reshape(-1, 8, 3) for face in ConvexHull(block).simplices]
    head = bytes(80) + struct.pack("<I", len(triangles))
    body = (struct.pack("<12fH", 0, 0, 0, *(corners * [1, 1, flatten]).ravel(), 0) for corners in triangles)
    path.write_bytes(head + b"".join(body))


def resting(system: lj.System, steps: int = 1500) -> np.ndarray:
    """Coordinates after a while."""
    simulation = lj.Simulation(system, dt=1e-3)
    simulation.step(steps)
    return simulation.q


def test_a_mesh_that_is_not_convex_touches_by_its_hull(tmp_path):
    """An angle stands on its long leg, as the closed form says; without hull it is refused."""
    stl(tmp_path / "angle.stl", ANGLE)
    bodies = [free("b", 1.0, (0.1, 0.1, 0.1), (0, 0, 0.2))]
    line = "{body: b, name: b, type: mesh, file: angle.stl, scale: [1, -1, 1]%s}"
    laws = ["{name: c, first: floor, second: b, friction: 0.5}"]
    with pytest.raises(ModelError, match=r"let its convex hull touch with hull: true"):
        scene(tmp_path, bodies, [FLOOR, line % ""], laws)
    system = scene(tmp_path, bodies, [FLOOR, line % ", hull: true"], laws)
    assert system.warnings == ()
    assert len(body_of(system.shapes[1]).corners) == len(ConvexHull(ANGLE).vertices)
    height = resting(system)[6]
    figure("rest of a hull on a floor", height, 0.05, unit="m", oracle="lowest corner", atol=2e-6)
    again = from_bytes(to_bytes(system), "a model")
    assert np.array_equal(again.shapes[1].vertices, system.shapes[1].vertices)
    assert lj.equip(system).shapes[1] is system.shapes[1]


def test_a_hull_of_too_many_corners_is_said(tmp_path):
    points = ball(700)
    hull = ConvexHull(points)
    line = f"{{body: b, name: b, type: mesh, hull: true, vertices: {points.tolist()}, "
    line += f"faces: {hull.simplices.tolist()}}}"
    bodies = [free("b", 1.0, (0.1, 0.1, 0.1), (0, 0, 0.5))]
    laws = ["{name: c, first: floor, second: b}"]
    with pytest.warns(
        ModelWarning, match=r"scene.yaml:8, shapes\[1\].faces: the mesh touches up to 0.00\d+ m inside its "
    ):
        system = scene(tmp_path, bodies, [FLOOR, line], laws)
    assert len(system.shapes[1].vertices) == MOST_VERTICES
    assert system.warnings[0].endswith("contacts take 256 corners at most, 64 of a face")
    assert lj.equip(system).warnings == system.warnings


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (
            "vertices: {flat}, faces: {faces}",
            r"scene.yaml:8, shapes\[1\].faces: the mesh cannot touch: its hull is flat",
        ),
        ("file: none.stl", r"scene.yaml:8, shapes\[1\].file: .* the file is not found"),
        ("file: a.dae", r"scene.yaml:8, shapes\[1\].file: .* of a type that is only drawn"),
    ],
)
def test_hulls_that_cannot_be_are_refused_with_their_line(tmp_path, shape, text):
    given = shape.format(flat=(CUBE * [1, 1, 0]).tolist(), faces=ConvexHull(CUBE).simplices.tolist())
    bodies = [free("b", 1.0, (0.1, 0.1, 0.1), (0, 0, 0.5))]
    line = f"{{body: b, name: b, type: mesh, hull: true, {given}}}"
    with pytest.raises(ModelError, match=text):
        scene(tmp_path, bodies, [FLOOR, line], ["{name: c, first: floor, second: b}"])


def test_only_meshes_have_hulls(tmp_path):
    line = "{body: b, name: b, type: sphere, radius: 1, hull: true}"
    with pytest.raises(ModelError, match="'hull' is not a field of a sphere"):
        scene(tmp_path, [free("b", 1.0, (0.1, 0.1, 0.1), (0, 0, 0.5))], [line], [])


def test_without_scipy_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    with pytest.raises(MissingExtraError, match=r"convex hulls of meshes.*limberjack\[hulls\]"):
        convex_hull(CUBE, fail)


URDF = """<robot name="r"><link name="base">
<collision name="foot"><origin xyz="0 0 0.1"/><geometry><mesh filename="{file}" scale="1 1 2"/></geometry></collision>
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_collision_meshes_of_urdf_touch_by_their_hulls(tmp_path):
    stl(tmp_path / "angle.stl", ANGLE)
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(file="angle.stl"))
    system = lj.load(path, contacts=True, base="free")
    (foot,) = system.shapes
    assert (foot.name, foot.hull, foot.file) == ("foot", True, "angle.stl")
    assert from_bytes(to_bytes(system), "a model").shapes[0].hull
    floor = lj.Shape(None, "plane", np.ones(2), name="floor", position=np.array([0.0, 0.0, -0.01]))
    standing = lj.equip(system, floor, lj.Contact("ground", ("floor",), ("foot",), friction=0.5))
    assert resting(standing)[6] == pytest.approx(-0.01, abs=2e-6)  # corners at 2 · -0.05 + 0.1


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, "the file is not found"), (b"", "its hull is flat"), (b"solid", "the mesh has no faces")],
)
def test_collision_meshes_that_cannot_touch_are_refused_with_their_line(tmp_path, content, text):
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(file="a.stl"))
    if content == b"":
        stl(tmp_path / "a.stl", CUBE, flatten=0.0)
    elif content is not None:
        (tmp_path / "a.stl").write_bytes(content)
    system = lj.load(path, contacts=True, base="free")
    floor = lj.Shape(None, "plane", np.ones(2), name="floor")
    with pytest.raises(ModelError, match=f"r.urdf:2, link 'base'.*{text}"):
        lj.equip(system, floor, lj.Contact("ground", ("floor",), ("foot",)))
