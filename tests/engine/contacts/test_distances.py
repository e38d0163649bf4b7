"""Gaps of pairs of shapes at random places against MuJoCo's distances of geoms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.build import new_state
from limberjack.engine.model.extents import size_of
from limberjack.engine.model.plant import split
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.contacts import C_TOUCHES, ME_GAP, ME_NEAR, ME_NORMAL, ME_POINT, TO_GAP, TOUCH
from tests.engine.contacts.scenes import FLOOR, free, scene
from tests.validation.figures import figure

mujoco = pytest.importorskip("mujoco")

#: our fields of a shape, and MuJoCo's of a geom
SHAPES = {
    "sphere": ("radius: 0.13", 'size="0.13"'),
    "capsule": ("radius: 0.07, length: 0.3", 'size="0.07 0.15"'),
    "box": ("size: [0.3, 0.2, 0.4]", 'size="0.15 0.1 0.2"'),
    "cylinder": ("radius: 0.1, length: 0.3", 'size="0.1 0.15"'),
    "cone": ("radius: [0.2, 0.05], length: 0.3", 'mesh="cone"'),
    "whole cone": ("radius: [0.2, 0.0], length: 0.3", 'mesh="whole"'),
}
PAIRS = [
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "box"),
    ("sphere", "cylinder"),
    ("capsule", "capsule"),
    ("capsule", "box"),
    ("box", "box"),
    ("capsule", "cylinder"),
    ("sphere", "cone"),
    ("sphere", "whole cone"),
    ("capsule", "cone"),
    ("capsule", "whole cone"),
    ("box", "cylinder"),
    ("box", "cone"),
    ("box", "whole cone"),
    ("cylinder", "cylinder"),
    ("cylinder", "cone"),
]
#: pairs of convex shapes without a closed form: deep inside of each other they have several ways out
CONVEX = [pair for pair in PAIRS if pair[0] not in ("sphere", "capsule") and pair[1] != "box"]
ROUND = ("cylinder", "cone", "whole cone")
#: and those of which MuJoCo's distances are too large by up to 2e-4 m
CONES_BOTH = [("cone", "cone"), ("whole cone", "cone"), ("whole cone", "whole cone")]


def kind_of(name: str, cone: str) -> str:
    """The type of one of SHAPES, where cones have the type that is given."""
    return cone if "cone" in name else name


def corners(low: float, high: float, half: float = 0.15, count: int = 512) -> str:
    """Corners of a mesh for a cone; it is flatter than the cone by the radius times 2e-5."""
    around = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    rims = [
        np.stack([r * np.cos(around), r * np.sin(around), z + 0.0 * around], 1) for r, z in ((low, -half), (high, half))
    ]
    return " ".join(f"{x:.12g}" for x in np.concatenate([rims[0], rims[1] if high else rims[1][:1]]).ravel())


CONES = (
    f'<asset><mesh name="cone" vertex="{corners(0.2, 0.05)}"/><mesh name="whole" vertex="{corners(0.2, 0.0)}"/></asset>'
)


def ours(tmp_path, first: str, second: str) -> lj.System:
    shapes = [
        f"{{body: {i}, name: {i}, type: {kind_of(kind, 'cylinder')}, {SHAPES[kind][0]}}}"
        for i, kind in (("a", first), ("b", second))
    ]
    bodies = [free(name, 1.0, (0.1, 0.1, 0.1), (0, 0, 0)) for name in "ab"]
    return scene(tmp_path, bodies, shapes, ["{name: c, first: a, second: b}"])


def theirs(first: str, second: str) -> tuple[Any, Any]:
    bodies = "".join(
        f'<body><freejoint/><geom type="{kind_of(kind, "mesh")}" {SHAPES[kind][1]} mass="1"/></body>'
        for kind in (first, second)
    )
    assets = CONES if "cone" in first + second else ""
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{assets}<worldbody>{bodies}</worldbody></mujoco>")
    model.opt.ccd_iterations, model.opt.ccd_tolerance = 500, 1e-9
    return model, mujoco.MjData(model)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_gaps_are_mujocos_distances(tmp_path, first, second):
    """Of two boxes only how deep they penetrate: apart, a face or an edge says less than corners do."""
    random, compared = np.random.default_rng(3), 0
    system = ours(tmp_path, first, second)
    plant = lj.Simulation(system).plant
    work, state = plant.new_work(), new_state(plant, system)
    model, data = theirs(first, second)
    reach = sum(size_of(shape)[1] for shape in system.shapes)
    for _ in range(400):
        q = np.concatenate([random.normal(size=4), np.zeros(3), random.normal(size=4), random.uniform(-0.35, 0.35, 3)])
        q[:4] /= np.linalg.norm(q[:4])
        q[7:11] /= np.linalg.norm(q[7:11])
        state[2 : 2 + 14] = q
        entries().gaps(plant.ints, plant.floats, work, state)
        gap = state[-TOUCH * plant.count(C_TOUCHES) :].reshape(-1, TOUCH)[:, TO_GAP].min()
        data.qpos[:] = np.concatenate([q[4:7], q[:4], q[11:14], q[7:11]])
        mujoco.mj_kinematics(model, data)
        distance = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None)
        if first == second == "box" and distance > -1e-6:
            continue
        if distance < -0.02 and first == "capsule" and second != "capsule":
            continue  # deep inside of an edged shape the nearest way out for a capsule is not that of its ball
        assert gap <= distance + 2e-6  # points fixed to a rim may be less near by 1e-5 of the shape's size
        if distance < -0.02 and (first, second) in CONVEX:
            continue
        if np.linalg.norm(q[11:14]) < reach:  # near enough that it is not only bounded
            tolerance = 1e-5 if first != "box" else 1e-3  # MuJoCo finds depths of boxes by iteration
            figure("gap of two shapes", gap, distance, unit="m", oracle="MuJoCo", atol=tolerance)
            compared += 1
    assert compared > 30


def test_a_ball_in_a_funnel_has_the_distance_of_its_wall(tmp_path):
    """Against the distance to many points of the wall."""
    random = np.random.default_rng(5)
    shapes = [
        "{body: a, name: a, type: sphere, radius: 0.05}",
        "{body: b, name: b, type: funnel, radius: [0.1, 0.4], length: 0.5}",
    ]
    bodies = [free(name, 1.0, (0.1, 0.1, 0.1), (0, 0, 0)) for name in "ab"]
    system = scene(tmp_path, bodies, shapes, ["{name: c, first: a, second: b}"])
    plant = lj.Simulation(system).plant
    work, state = plant.new_work(), new_state(plant, system)
    along, around = np.meshgrid(np.linspace(0.0, 1.0, 801), np.linspace(0.0, 2.0 * np.pi, 1601))
    rho = 0.1 + 0.3 * along
    wall = np.stack([rho * np.cos(around), rho * np.sin(around), 0.5 * along - 0.25], axis=-1).reshape(-1, 3)
    for _ in range(20):
        turn = random.normal(size=4)
        turn /= np.linalg.norm(turn)
        place = random.uniform(-0.3, 0.3, 3)
        state[2 : 2 + 14] = np.concatenate([[1.0, 0, 0, 0], place, turn, np.zeros(3)])
        entries().gaps(plant.ints, plant.floats, work, state)
        gap = state[-3 * TOUCH :].reshape(3, TOUCH)[:, TO_GAP].min()
        local = from_quaternion(turn).T @ place
        expected = np.linalg.norm(wall - local, axis=1).min() - 0.05
        figure("gap in a funnel", gap, expected, unit="m", oracle="a million points of its wall", atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "radii"), [("cylinder", [0.2, 0.05]), ("cylinder", [0.2, 0.0]), ("funnel", [0.1, 0.3])]
)
def test_the_lowest_point_of_a_rim_is_the_gap_over_a_plane(tmp_path, kind, radii):
    """A circle of radius r about c, with its axis u at an angle to the plane's normal n, begins at n·c - r |n × u|."""
    random = np.random.default_rng(7)
    shapes = [
        "{body: world, name: a, type: plane}",
        f"{{body: b, name: b, type: {kind}, radius: {radii}, length: 0.4}}",
    ]
    system = scene(tmp_path, [free("b", 1.0, (0.1, 0.1, 0.1), (0, 0, 0))], shapes, ["{name: c, first: b, second: a}"])
    plant = lj.Simulation(system).plant
    work, state = plant.new_work(), new_state(plant, system)
    for _ in range(50):
        turn = random.normal(size=4)
        turn /= np.linalg.norm(turn)
        state[2 : 2 + 7] = np.concatenate([turn, random.uniform(-0.1, 0.1, 3)])
        entries().gaps(plant.ints, plant.floats, work, state)
        gap = state[-8 * TOUCH :].reshape(8, TOUCH)[:, TO_GAP].min()
        axis, height = from_quaternion(turn)[:, 2], state[8]
        tilt = np.hypot(axis[0], axis[1])
        lowest = min(height + end * 0.2 * axis[2] - r * tilt for end, r in zip((-1, 1), radii))
        assert abs(gap - lowest) < 1e-12


@pytest.mark.parametrize("kind", ["cylinder", "funnel"])
def test_a_cone_stands_on_its_rim(tmp_path, kind):
    shapes = [FLOOR, f"{{body: b, name: b, type: {kind}, radius: [0.2, 0.05], length: 0.4}}"]
    body = free("b", 2.0, (0.1, 0.1, 0.05), (0, 0, 0.23))
    sensor = "sensors:\n  - {name: load, type: contact_force, target: c}"
    system = scene(tmp_path, [body], shapes, ["{name: c, first: floor, second: b, friction: 0.5}"], sensor)
    simulation = lj.Simulation(system)
    simulation.step(2000)
    position = simulation.q[4:7]
    assert np.abs(position - [0.0, 0.0, 0.2]).max() < 2e-6
    assert np.abs(simulation.output["load"] - [0.0, 0.0, 2.0 * 9.80665]).max() < 1e-3


@pytest.mark.parametrize(
    ("first", "second"), [pair for pair in PAIRS + CONES_BOTH if pair[1] in ("cylinder", "cone", "whole cone")]
)
def test_normals_are_slopes_of_gaps(tmp_path, first, second):
    """A gap rises with the normal where the second shape moves. Not compared: shapes out of reach, places beside
    edges, where slopes jump, and capsules whose axis is inside, whose depth is that of a ball between two faces."""
    random, compared = np.random.default_rng(9), 0
    system = ours(tmp_path, first, second)
    plant = lj.Simulation(system).plant
    work, state = plant.new_work(), new_state(plant, system)
    met = split(work, layout.work_sections(plant.ints))["met"]

    def nearest(q: np.ndarray) -> np.ndarray:
        state[2 : 2 + 14] = q
        entries().gaps(plant.ints, plant.floats, work, state)
        return np.array(met[met[:, ME_GAP].argmin()])

    # a point that is fixed to a rim, beside the nearest one, has a slope of its own
    step, within = (1e-5, 5e-3) if (first, second) in CONVEX + CONES_BOTH else (1e-6, 1e-4)
    for _ in range(600 if (first, second) in CONVEX + CONES_BOTH else 200):
        q = np.concatenate([random.normal(size=4), np.zeros(3), random.normal(size=4), random.uniform(-0.25, 0.25, 3)])
        q[:4] /= np.linalg.norm(q[:4])
        q[7:11] /= np.linalg.norm(q[7:11])
        moves = step * np.eye(14)[11:]
        row = nearest(q)
        if row[ME_NEAR] == 0.0 or (first == "capsule" and row[ME_GAP] < -0.07):
            continue
        if row[ME_GAP] < -0.03 and (first, second) in CONVEX + CONES_BOTH:
            continue  # there the way out may jump
        ahead = np.array([nearest(q + move)[ME_GAP] for move in moves])
        behind = np.array([nearest(q - move)[ME_GAP] for move in moves])
        if np.abs(ahead + behind - 2.0 * row[ME_GAP]).max() < 1e-4 * step:
            assert np.abs((ahead - behind) / (2.0 * step) - row[ME_NORMAL : ME_NORMAL + 3]).max() < within
            compared += 1
    assert compared > 70


def farthest(kind: str, n: np.ndarray) -> float:
    """How far a shape of SHAPES reaches along n, in its axes."""
    if kind == "box":
        return float(np.abs(n) @ [0.15, 0.1, 0.2])
    low, high = {"cylinder": (0.1, 0.1), "cone": (0.2, 0.05), "whole cone": (0.2, 0.0)}[kind]
    across = float(np.hypot(n[0], n[1]))
    return max(low * across - 0.15 * n[2], high * across + 0.15 * n[2])


def outside(kind: str, x: np.ndarray) -> float:
    """By how much a place, in a shape's axes, is out of the shape."""
    if kind == "box":
        return float(np.max(np.abs(x) - [0.15, 0.1, 0.2]))
    low, high = {"cylinder": (0.1, 0.1), "cone": (0.2, 0.05), "whole cone": (0.2, 0.0)}[kind]
    radius = low + (high - low) * (x[2] + 0.15) / 0.3
    return float(max(np.hypot(x[0], x[1]) - radius, abs(x[2]) - 0.15))


@pytest.mark.parametrize(("first", "second"), CONVEX + CONES_BOTH)
def test_normals_and_points_prove_the_gap(tmp_path, first, second):
    """All of a shape is behind a plane across the normal, so the distance is at least that of the planes; the nearest
    points are in the shapes, so it is at most theirs. Where shapes overlap, the planes are a way out."""
    random, apart, inside = np.random.default_rng(13), 0, 0
    system = ours(tmp_path, first, second)
    plant = lj.Simulation(system).plant
    work, state = plant.new_work(), new_state(plant, system)
    met = split(work, layout.work_sections(plant.ints))["met"]
    for _ in range(400):
        q = np.concatenate([random.normal(size=4), np.zeros(3), random.normal(size=4), random.uniform(-0.35, 0.35, 3)])
        q[:4] /= np.linalg.norm(q[:4])
        q[7:11] /= np.linalg.norm(q[7:11])
        state[2 : 2 + 14] = q
        entries().gaps(plant.ints, plant.floats, work, state)
        row = np.array(met[met[:, ME_GAP].argmin()])
        if row[ME_NEAR] == 0.0 or row[ME_GAP] < -0.03:
            continue
        gap, n, point = row[ME_GAP], row[ME_NORMAL : ME_NORMAL + 3], row[ME_POINT : ME_POINT + 3]
        Ra, Rb, p = from_quaternion(q[:4]), from_quaternion(q[7:11]), q[11:14]
        planes = n @ p - farthest(first, Ra.T @ n) - farthest(second, -Rb.T @ n)
        assert abs(planes - gap) < 2e-6  # points fixed to a rim may be less near by 1e-5 of the shape's size
        assert outside(first, Ra.T @ (point - 0.5 * gap * n)) < 1e-7
        assert outside(second, Rb.T @ (point + 0.5 * gap * n - p)) < 1e-7
        apart, inside = apart + (gap > 0.0), inside + (gap < 0.0)
    assert min(apart, inside) > 25
