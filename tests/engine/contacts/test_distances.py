"""Gaps of pairs of shapes at random places against MuJoCo's distances of geoms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.build import new_state
from limberjack.engine.model.contact_tables import size_of
from limberjack.engine.tables.contacts import C_TOUCHES, TO_GAP, TOUCH
from tests.engine.contacts.scenes import free, scene
from tests.validation.figures import figure

mujoco = pytest.importorskip("mujoco")

#: our fields of a shape, and MuJoCo's of a geom
SHAPES = {
    "sphere": ("radius: 0.13", 'size="0.13"'),
    "capsule": ("radius: 0.07, length: 0.3", 'size="0.07 0.15"'),
    "box": ("size: [0.3, 0.2, 0.4]", 'size="0.15 0.1 0.2"'),
    "cylinder": ("radius: 0.1, length: 0.3", 'size="0.1 0.15"'),
}
PAIRS = [
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "box"),
    ("sphere", "cylinder"),
    ("capsule", "capsule"),
    ("capsule", "box"),
    ("box", "box"),
]


def ours(tmp_path, first: str, second: str) -> lj.System:
    shapes = [f"{{body: {i}, name: {i}, type: {kind}, {SHAPES[kind][0]}}}" for i, kind in (("a", first), ("b", second))]
    bodies = [free(name, 1.0, (0.1, 0.1, 0.1), (0, 0, 0)) for name in "ab"]
    return scene(tmp_path, bodies, shapes, ["{name: c, first: a, second: b}"])


def theirs(first: str, second: str) -> tuple[Any, Any]:
    bodies = "".join(
        f'<body><freejoint/><geom type="{kind}" {SHAPES[kind][1]} mass="1"/></body>' for kind in (first, second)
    )
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
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
        if distance < -0.02 and "capsule" in first + second and "box" in first + second:
            continue  # deep inside of a box the nearest way out for a capsule is not that of its ball
        assert gap <= distance + 1e-6
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
