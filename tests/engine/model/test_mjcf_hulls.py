"""Meshes of MJCF touch by their convex hulls, where MuJoCo has them."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.common.errors import ModelWarning
from tests.engine.model.test_hulls import ANGLE, CUBE, ball, stl
from tests.validation.figures import figure

FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'


def numbers(values: np.ndarray) -> str:
    return " ".join(f"{each:.9g}" for each in np.ravel(values))


def write(path: Path, assets: str, world: str, more: str = "") -> Path:
    path.write_text(
        f'<mujoco><option timestep="0.001"/><asset>{assets}</asset><worldbody>{FLOOR}{world}</worldbody>{more}</mujoco>'
    )
    return path


def quietly(path: Path) -> lj.System:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return lj.load(path, contacts=True)


def random_file(rng: np.random.Generator, folder: Path) -> Path:
    """A chain of bodies with meshes of files and of numbers, moved, turned, scaled and mirrored."""
    assets, world = [], []
    for i in range(4):
        points = rng.normal(size=(rng.integers(8, 60), 3)) * rng.uniform(0.05, 0.3, 3) + rng.normal(size=3)
        turn, scale = rng.normal(size=4), rng.uniform(0.5, 2.0, 3) * rng.choice([-1.0, 1.0], 3)
        where = f'vertex="{numbers(points)}"'
        if i % 2:
            stl(folder / f"m{i}.stl", ANGLE + rng.normal(size=3))
            where = f'file="m{i}.stl"'
        refer = f'refpos="{numbers(rng.normal(size=3))}" refquat="{numbers(turn)}" scale="{numbers(scale)}"'
        few = 'maxhullvert="12"' if i == 2 else ""
        assets.append(f'<mesh name="m{i}" {where} {refer} {few}/>')
        pose = f'pos="{numbers(rng.normal(size=3))}" quat="{numbers(rng.normal(size=4))}"'
        joint = '<joint type="ball"/>' if i % 2 else '<joint axis="1 2 3" pos="0.1 0 0"/><joint type="slide"/>'
        world.append(f'<body name="b{i}" {pose}>{joint}<geom name="g{i}" type="mesh" mesh="m{i}" {pose}/>')
    return write(folder / "chain.xml", "".join(assets), "".join(world) + "</body>" * 4)


@pytest.mark.parametrize("seed", range(12))
def test_corners_of_hulls_are_where_mujoco_has_them(tmp_path, seed):
    """In random configurations; and support functions are those of all corners of MuJoCo's hulls."""
    rng = np.random.default_rng(seed)
    path = random_file(rng, tmp_path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data, system = mujoco.MjData(model), quietly(path)
    shapes = {shape.name: shape for shape in system.shapes}
    for _ in range(5):
        data.qpos[:] = rng.normal(size=model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_kinematics(model, data)
        for i in range(4):
            shape, geom = shapes[f"g{i}"], model.geom(f"g{i}").id
            R, p = lj.Dynamics(system).pose(f"b{i}", data.qpos)
            ours = (shape.vertices * shape.size) @ (R @ shape.rotation).T + R @ shape.position + p
            mesh, graph = int(model.geom_dataid[geom]), int(model.mesh_graphadr[model.geom_dataid[geom]])
            corners = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
            count = int(model.mesh_graph[graph])
            theirs = corners[model.mesh_graph[graph + 2 + count :][:count]] @ data.geom_xmat[geom].reshape(3, 3).T
            theirs = theirs.astype(float) + data.geom_xpos[geom]
            apart = np.linalg.norm(ours[:, None] - theirs[None], axis=2)
            figure("corners of hulls", apart.min(axis=1), 0.0, unit="m", oracle="MuJoCo's mesh_vert", atol=1e-9)
            ways = rng.normal(size=(50, 3))
            gap = np.abs((ours @ ways.T).max(axis=0) - (theirs @ ways.T).max(axis=0))
            assert gap.max() < 2e-5 * np.ptp(theirs, axis=0).max() * np.linalg.norm(ways, axis=1).max()


def lying(points: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """(points turned so that the centre of the hull is above a face, its height over that)."""
    hull = ConvexHull(points)
    triangles = points[hull.simplices]
    middle = points.mean(axis=0)
    weights = np.abs(
        np.einsum("ij,ij->i", np.cross(*(triangles[:, i] - middle for i in (0, 1))), triangles[:, 2] - middle)
    )
    centre = (weights[:, None] * (triangles.sum(axis=1) + middle) / 4.0).sum(axis=0) / weights.sum()
    heights = -(hull.equations[:, :3] @ centre + hull.equations[:, 3])
    face = int(heights.argmin())  # a body rests on the face that is nearest to its centre
    turn = Rotation.align_vectors([[0.0, 0.0, -1.0]], [hull.equations[face, :3]])[0]
    return turn.apply(points - centre), float(heights[face])


@pytest.mark.parametrize("seed", range(6))
def test_a_mesh_rests_where_mujocos_does(tmp_path, seed):
    """Dropped on the face on which it rests: its lowest corner is on the floor."""
    rng = np.random.default_rng(seed)
    points, height = lying(rng.normal(size=(20, 3)) * [0.1, 0.1, 0.06], rng)
    geom = '<geom name="g" type="mesh" mesh="m" density="800"/>'
    body = f'<body name="b" pos="0 0 {height + 0.005:.12g}"><freejoint/>{geom}</body>'
    path = write(tmp_path / "drop.xml", f'<mesh name="m" vertex="{numbers(points)}"/>', body)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    simulation = lj.Simulation(quietly(path))
    simulation.step(3000)
    mujoco.mj_step(model, data, 3000)
    assert np.abs(simulation.v).max() < 1e-6
    figure("rest of a dropped mesh", simulation.q[6], height, unit="m", oracle="lowest corner", atol=2e-6)
    figure("rest of a dropped mesh", simulation.q[6], data.qpos[2], unit="m", oracle="MuJoCo", atol=1e-3)
    assert np.abs(np.abs(simulation.q[:4] @ data.qpos[3:7]) - 1.0) < 1e-5


def test_meshes_touch_each_other_and_other_shapes(tmp_path):
    """A stack of a box and two cubes, at the sum of the heights."""
    stl(tmp_path / "cube.stl", CUBE)
    body = '<body name="{0}" pos="0 0 {1}"><freejoint/><geom name="{0}" {2} mass="1"/></body>'
    world = body.format("low", 0.1001, 'type="box" size="0.1 0.1 0.1"')
    world += body.format("middle", 0.3002, 'type="mesh" mesh="cube"') + body.format(
        "top", 0.5003, 'type="mesh" mesh="cube"'
    )
    simulation = lj.Simulation(quietly(write(tmp_path / "stack.xml", '<mesh name="cube" file="cube.stl"/>', world)))
    simulation.step(1000)
    heights = simulation.q.reshape(3, 7)[:, 6]
    figure("heights of a stack of meshes", heights, np.array([0.1, 0.3, 0.5]), unit="m", oracle="sizes", atol=5e-6)


def test_a_file_that_is_drawn_touches_by_its_hull(tmp_path):
    stl(tmp_path / "angle.stl", ANGLE)
    world = '<body name="b" pos="0 0 1"><freejoint/><geom name="g" type="mesh" mesh="m" pos="1 2 3"/></body>'
    path = write(tmp_path / "a.xml", '<mesh name="m" file="angle.stl"/>', world)
    system = quietly(path)
    (shape,) = (shape for shape in system.shapes if shape.name == "g")
    assert (Path(shape.file).name, shape.hull) == ("angle.stl", False)
    assert len(shape.vertices) == len(ConvexHull(ANGLE).vertices)
    assert system.warnings == ()


@pytest.mark.parametrize(
    ("points", "text"),
    [
        (CUBE * [1.0, 1.0, 1e-6], "mesh 'm' does not touch: its hull is flat. Give a solid body, or a box"),
        (ball(800), r"mesh 'm': the mesh touches up to 0\.00\d+ m inside its convex hull: contacts take 256 corners"),
    ],
)
def test_what_is_not_as_in_the_file_is_said(tmp_path, points, text):
    world = '<body name="b" pos="0 0 1"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    world += '<geom name="g" type="mesh" mesh="m"/></body>'
    path = write(tmp_path / "a.xml", f'<mesh name="m" vertex="{numbers(points)}"/>', world)
    with pytest.warns(ModelWarning, match=text):
        system = lj.load(path, contacts=True)
    assert len(system.contacts) == ("does not touch" not in text)
    lj.Simulation(system).step(2)
    with pytest.raises(lj.ModelError, match="refused because of strict"):
        lj.load(path, contacts=True, strict=True)


def test_without_contacts_meshes_are_only_drawn(tmp_path):
    stl(tmp_path / "angle.stl", ANGLE)
    world = '<body name="b" pos="0 0 1"><freejoint/><geom name="g" type="mesh" mesh="m"/></body>'
    path = write(tmp_path / "a.xml", '<mesh name="m" file="angle.stl"/>', world)
    with pytest.warns(ModelWarning, match="contacts=True"):
        (shape,) = lj.load(path).shapes
    assert (shape.name, len(shape.vertices)) == ("", 0)
    simulation = lj.Simulation(quietly(path))
    simulation.step(100)
    assert simulation.v[5] == pytest.approx(-0.1 * 9.81, rel=1e-3)
