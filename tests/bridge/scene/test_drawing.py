"""What is drawn of a model: surfaces, their motion with modes, poses. Against closed forms and Dynamics."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.bridge.scene.drawing import Drawing
from limberjack.bridge.scene.looks import looks
from limberjack.bridge.scene.poses import Posed, Poses
from limberjack.bridge.scene.pushes import level
from limberjack.bridge.scene.surfaces import Surface, surface_of
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.mirror import Mirror
from limberjack.bridge.telemetry.sample import Sample
from limberjack.engine.files.mesh_file import find_mesh
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.system import System
from limberjack.engine.tables import contacts as at
from tests.engine.contacts.scenes import FLOOR, box, free, scene, sensors, solid_box

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def volume(surface: Surface) -> float:
    """By the divergence theorem: right only for a closed surface whose triangles all look outward."""
    a, b, c = (surface.points[surface.triangles[:, i]] for i in range(3))
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0)


def posed(system: System, **parts: np.ndarray) -> Posed:
    """Where everything is when the engine sends these parts of its state, and zeros else."""
    mirror = Mirror(system)
    dictionary = dictionary_of(mirror.simulation)
    vector = np.zeros(len(dictionary))
    for name, values in {"q": system.q0, **parts}.items():
        vector[dictionary.groups[name]] = values
    session = SimpleNamespace(system=system, mirror=mirror, dictionary=dictionary)
    return Poses(session).at(Sample(0, 0.0, 0, vector))


@pytest.mark.parametrize("finest", [math.inf, 0.21])
@pytest.mark.parametrize(
    ("kind", "size", "expected"),
    [
        ("box", [1, 2, 3], 6.0),
        ("sphere", [1], 4 / 3 * math.pi),
        ("ellipsoid", [1, 2, 0.5], 4 / 3 * math.pi),
        ("cylinder", [1, 1, 2], 2 * math.pi),
        ("cylinder", [1, 0, 3], math.pi),
        ("cylinder", [0.5, 1, 3], 1.75 * math.pi),
        ("capsule", [1, 2], 10 / 3 * math.pi),
        ("ring", [1, 0.4], 2 * math.pi**2 * 0.16),
    ],
)
def test_surfaces_are_closed_and_as_large_as_they_should_be(kind, size, expected, finest):
    turn = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix()
    shape = Shape(None, kind, np.array(size, dtype=float), position=np.array([5.0, -2.0, 7.0]), rotation=turn)
    surface = surface_of(shape, finest)
    assert expected * (1.0 if kind == "box" else 0.975) <= volume(surface) * (1 + 1e-12) <= expected * (1 + 1e-9)
    box = surface_of(replace(shape, rotation=np.eye(3), position=np.zeros(3)), finest).points
    np.testing.assert_allclose(box.max(axis=0), -box.min(axis=0), atol=1e-12)
    edges = surface.points[surface.triangles[:, 1]] - surface.points[surface.triangles[:, 0]]
    if kind == "box" and finest < 1:
        assert np.linalg.norm(edges, axis=1).max() <= math.sqrt(2) * finest


BODY = """
limberjack: 1
name: one
bodies:
  - {name: body, mass: 30, com: [1, 2, 3], inertia: {xx: 0.9, yy: 1.1, zz: 0.7, xy: 0.1, xz: -0.05, yz: 0.02},
     hinge: {type: free, parent: world}}
  - {name: point, mass: 1000, inertia: {xx: 0, yy: 0, zz: 0}, hinge: {type: prismatic, parent: body, axis: [1, 0, 0]}}
  - {name: frame, mass: 0, hinge: {type: spherical, parent: body, position: [0, 2, 0]}}
  - {name: dust, mass: 0.01, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {type: fixed, parent: body}}
  - {name: tip, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {type: fixed, parent: frame, position: [0, 0, 3]}}
wheels:
  - {name: wheel, body: body, axis: [1, 1, 1], mass: 18, spin_inertia: 0.239, transverse_inertia: 0.13}
"""


def test_a_body_without_shapes_looks_like_its_inertia(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(BODY)
    system = lj.load(path)
    made = looks(system, set())
    box = next(shape for shape in made if shape.body == "body" and shape.type == "box")
    a, b, c = box.size**2
    inertia = box.rotation @ np.diag([b + c, a + c, a + b]) @ box.rotation.T * 30 / 12
    np.testing.assert_allclose(inertia, [[0.9, 0.1, -0.05], [0.1, 1.1, 0.02], [-0.05, 0.02, 0.7]], atol=1e-12)
    np.testing.assert_array_equal(box.position, [1, 2, 3])
    (wheel,) = (shape for shape in made if shape.body == "wheel")
    radius, same, height = wheel.size
    assert radius == same
    np.testing.assert_allclose([18 * radius**2 / 2, 18 * (radius**2 / 4 + height**2 / 12)], [0.239, 0.13])
    np.testing.assert_allclose(wheel.rotation[:, 2], np.ones(3) / math.sqrt(3))
    (ball,) = (shape for shape in made if shape.body == "point")
    assert ball.size[0] == pytest.approx((3 / (4 * math.pi)) ** (1 / 3))  # a tonne of water
    (speck,) = (shape for shape in made if shape.body == "dust")
    assert speck.type == "sphere", "lighter than air: no box has this inertia"
    (rod,) = (shape for shape in made if shape.body == "frame")
    np.testing.assert_allclose(rod.position + 0.5 * rod.size[1] * rod.rotation[:, 2], [0, 0, 3])
    assert {shape.body for shape in looks(system, {"body"})} == {shape.body for shape in made} - {"body"}


def test_a_surface_moves_as_the_nodes_of_its_body():
    """The end ring of a boom against the pose of the node at its tip, by differences of the dynamics."""
    system = lj.load(EXAMPLES / "long_arm.yaml")
    dynamics, body = lj.Dynamics(system), system.body_names.index("lower_boom")
    entries = [each for each in Drawing(system).surfaces if each.body == body]
    tube = max(entries, key=lambda each: float(each.surface.points[:, 0].max()))
    points, moved, start = tube.surface.points, tube.moved, tube.start
    assert moved is not None
    ring, count = np.abs(points[:, 0] - 10.0) < 1e-6, len(moved)
    assert (int(ring.sum()), count) == (96, 8)  # the end of the side, the rim and the centre of the cap
    modal = [i for i, name in enumerate(system.coordinate_names) if ".modes." in name]

    def tip(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pose of the node in the boom's frame."""
        (R, p), (R_tip, p_tip) = (dynamics.pose(name, q) for name in ("lower_boom", "lower_boom.tip"))
        return R.T @ R_tip, R.T @ (p_tip - p)

    R0, p0 = tip(system.q0)
    for k in range(count):
        ends = []
        for step in (-1e-4, 1e-4):
            q = system.q0
            q[modal[start + k]] += step
            R, p = tip(q)
            ends.append(p + (points[ring] - p0) @ R0 @ R.T)
        np.testing.assert_allclose(moved[k][ring], (ends[1] - ends[0]) / 2e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.yaml")))
def test_drawings_of_all_examples(name):
    system = lj.load(EXAMPLES / f"{name}.yaml")
    drawing = Drawing(system)
    assert drawing.warnings == []
    drawn = {each.body for each in drawing.surfaces}
    assert all(system.body_names.index(body.name) in drawn for body in system.own_bodies if body.inertia.mass > 0)
    for each in drawing.surfaces:
        points = each.surface.points
        assert np.all(np.isfinite(points))
        assert int(each.surface.triangles.max()) < len(points)
        if each.moved is not None:
            assert np.all(np.isfinite(each.moved))
            assert each.moved.shape[1:] == points.shape


def test_poses_are_those_of_the_dynamics():
    system = lj.load(EXAMPLES / "solar_satellite.yaml")
    dynamics, rng = lj.Dynamics(system), np.random.default_rng(1)
    q = system.q0
    q[4:] += 0.1 * rng.normal(size=len(q) - 4)
    q[:4] = Rotation.from_rotvec([0.3, 0.4, -1.0]).as_quat(scalar_first=True)
    state = posed(system, q=q)
    assert (len(state.bodies), state.finite()) == (len(system.body_names), True)
    for name, pose in zip(system.body_names, state.bodies):
        R, p = dynamics.pose(name, q)
        np.testing.assert_allclose(pose[:3], p, atol=1e-12)
        np.testing.assert_allclose(Rotation.from_quat(pose[3:], scalar_first=True).as_matrix(), R, atol=1e-12)
    assert state.modes.tolist() == [q[i] for i, each in enumerate(system.coordinate_names) if ".modes." in each]
    for broken in ("wing_south.modes.1", "hub.x"):
        wrong = q.copy()
        wrong[system.coordinate_names.index(broken)] = np.inf
        assert not posed(system, q=wrong).finite()


def test_plumes_follow_the_commands_of_thrusters():
    system = lj.load(EXAMPLES / "cassini.yaml")
    command = np.zeros(len(system.command_names))
    names = {"main_a": 1e6, "main_b": 222.5, "jet_px": 0.9}
    for name, value in names.items():
        command[system.command_names.index(name)] = value
    assert posed(system, command=command).jets.tolist() == [1.0, 0.5, 1.0, 0.0, 0.0, 0.0]
    jets = Drawing(system).jets
    assert [system.body_names[jet.body] for jet in jets[:3]] == ["engine_a", "engine_b", "bus.lower"]


def test_forces_of_contacts_are_arrows_where_shapes_touch(tmp_path):
    """Against the State of the simulation: where its forces act, their mean by size."""
    system = lj.load(EXAMPLES / "docking" / "docking.yaml")
    simulation = lj.Simulation(system)
    assert simulation.step_until("touch", most=60_000) is not None
    simulation.step(100)
    force = simulation.output["load"]
    touches = simulation.part("touch").reshape(-1, at.TOUCH)
    acting = touches[touches[:, at.TO_ACTS] > 0.0]
    sizes = np.linalg.norm(acting[:, at.TO_FORCE : at.TO_FORCE + 3], axis=1)
    place = sizes @ acting[:, at.TO_POINT : at.TO_POINT + 3] / sizes.sum()
    outputs = simulation.output_vector
    (arrow,) = posed(system, q=simulation.q, v=simulation.v, output=outputs).pushes
    np.testing.assert_allclose(arrow[:3], place, atol=2e-3)
    size = np.linalg.norm(force)
    np.testing.assert_allclose(arrow[3:6], force / size, rtol=1e-12)
    assert arrow[6] == pytest.approx(math.log10(1.0 + size) / 4.0)
    assert [level(each) for each in (0.0, 9.0, 9999.0, 1e9)] == [0.0, 0.25, 1.0, 1.0]
    far = system.q0
    assert posed(system, q=far, output=outputs).pushes.shape == (0, 7)
    outputs[:3] = np.nan
    assert posed(system, q=simulation.q, output=outputs).pushes.shape == (0, 7)


def test_a_force_on_a_face_acts_in_its_middle(tmp_path):
    law = "{name: c, first: floor, second: block, friction: 0.5}"
    block = free("block", 2.0, solid_box((0.4, 0.2, 0.1), 2.0), (0.3, 0, 0.05))
    system = scene(tmp_path, [block], [FLOOR, box("block", (0.4, 0.2, 0.1))], [law], sensors("c"))
    simulation = lj.Simulation(system, dt=1e-3)
    simulation.step(1000)
    (arrow,) = posed(system, q=simulation.q, output=simulation.output_vector).pushes
    np.testing.assert_allclose(arrow[:3], [0.3, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(arrow[3:6], [0.0, 0.0, 1.0], atol=1e-6)
    assert arrow[6] == pytest.approx(math.log10(1.0 + 2.0 * 9.80665) / 4.0, rel=1e-6)


def test_meshes_are_found_beside_the_model_and_in_packages(tmp_path, monkeypatch):
    source = tmp_path / "share" / "bot" / "urdf" / "bot.urdf"
    places = {
        "part.stl": source.parent / "part.stl",
        "package://bot/meshes/arm.dae": tmp_path / "share" / "bot" / "meshes" / "arm.dae",
        "package:///other/hand.OBJ": tmp_path / "ros" / "other" / "hand.OBJ",
        f"file://{tmp_path}/far.stl": tmp_path / "far.stl",
    }
    for place in places.values():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"solid")
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'ros'}")
    for file, place in places.items():
        assert find_mesh(file, str(source)) == place
    assert find_mesh("none.stl", str(source)) is None
    assert find_mesh("package://bot/none.stl", str(source)) is None
    assert find_mesh(str(source), str(source)) is None, "a file that is not a mesh is never given away"


def test_a_mesh_that_is_not_there_is_reported_and_a_body_is_not_left_without_looks(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(BODY + "shapes:\n  - {body: body, type: mesh, file: gone.stl}\n")
    drawing = Drawing(lj.load(path))
    assert drawing.warnings == ["the mesh 'gone.stl' of 'body' is not drawn: it is not found"]
    assert (drawing.meshes, [each.body for each in drawing.surfaces].count(0)) == ([], 1)
    (tmp_path / "gone.stl").write_bytes(b"solid")
    drawing = Drawing(lj.load(path))
    assert (drawing.warnings, [mesh.file for mesh in drawing.meshes]) == ([], [tmp_path / "gone.stl"])
    assert [each.body for each in drawing.surfaces].count(0) == 0


def test_more_than_a_browser_draws_is_left_out_and_reported(monkeypatch):
    monkeypatch.setattr("limberjack.bridge.scene.drawing._MOST_POINTS", 1000)
    drawing = Drawing(lj.load(EXAMPLES / "cassini.yaml"))
    assert drawing.warnings == ["only some shapes are drawn: all have more than 1000 points"]
    assert 1000 < sum(len(each.surface.points) for each in drawing.surfaces) < 2000


def test_a_body_of_many_nodes_shows_some_of_them_without_lines(monkeypatch):
    monkeypatch.setattr("limberjack.engine.modes.outline.MOST_NODES", 5)
    system = lj.load(EXAMPLES / "long_arm.yaml")
    system = replace(system, shapes=tuple(shape for shape in system.shapes if shape.body != "upper_boom"))
    modes = next(body.hinge.modes for body in system.bodies if body.name == "upper_boom.modes")
    assert modes is not None
    outline = modes.outline
    assert outline is not None
    assert (outline.p[:, 0].tolist(), len(outline.lines)) == ([0, 10, 1, 4, 6, 9], 0)  # root and tip come first
    entry = next(each for each in Drawing(system).surfaces if each.body == system.body_names.index("upper_boom"))
    points = entry.surface.points.reshape(6, 24, 3)  # a box at each node
    np.testing.assert_allclose(points.mean(axis=1), outline.p, atol=1e-6)
    assert entry.moved is not None
    moved = entry.moved.reshape(-1, 6, 24, 3).mean(axis=2)
    np.testing.assert_allclose(moved, np.moveaxis(outline.Pt, 2, 0), atol=1e-6)


def test_a_mesh_of_corners_and_faces_is_drawn_as_triangles_that_look_outwards(tmp_path):
    path = tmp_path / "body.yaml"
    corners, faces = "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]", "[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]"
    for scale in ("1", "[-1, 1, 1]"):
        line = f"{{body: body, type: mesh, vertices: {corners}, faces: {faces}, scale: {scale}, position: [5, 0, 0]}}"
        path.write_text(BODY + f"shapes:\n  - {line}\n")
        drawing = Drawing(lj.load(path))
        (painted,) = [each for each in drawing.surfaces if each.body == 0]
        points = painted.surface.points[painted.surface.triangles]
        normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        assert (drawing.warnings, drawing.meshes, len(normals)) == ([], [], 4)
        assert (np.einsum("ij,ij->i", normals, points[:, 0] - points.mean(axis=(0, 1))) > 0.0).all()
