"""Shapes whose boxes are apart are not looked at closer in a step: their gap is a lower bound, that of others exact."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.tables.contacts import ME_GAP, NEARBY, SHAPES, TO_GAP, TOUCH, TOUCHES
from tests.engine.contacts.scenes import free, scene
from tests.engine.contacts.test_height_fields import random_pose
from tests.engine.contacts.test_meshes import Pair, cloud, mesh

FIELDS = {
    "plane": "type: plane",
    "sphere": "type: sphere, radius: 0.13",
    "capsule": "type: capsule, radius: 0.05, length: 0.5",
    "box": "type: box, size: [0.1, 0.6, 0.2]",
    "cylinder": "type: cylinder, radius: 0.07, length: 0.5",
    "funnel": "type: funnel, radius: [0.1, 0.3], length: 0.3",
    "cone": "type: cylinder, radius: [0.2, 0.05], length: 0.4",
    "ring": "type: ring, radius: 0.3, tube: 0.04",
}
PAIRS = [(SHAPES[a], SHAPES[b]) for a, b in TOUCHES if "height_field" not in (SHAPES[a], SHAPES[b])]
#: points of a manifold may miss the least gap by this (`kernels/contacts/manifold.py`), m
MISSED = 1e-8
#: pairs whose boxes are compared, here in poses where the boxes are apart and the spheres around them are not
BOXED = [("capsule", "box"), ("box", "box"), ("cylinder", "cone"), ("mesh", "mesh"), ("box", "ring")]


def line(kind: str, body: str) -> str:
    """The shape; the middle of the mesh is far from the centre of its frame."""
    if kind == "mesh":
        return mesh(body, cloud(np.random.default_rng(8), 30) + np.array([0.2, -0.1, 0.3]))
    return f"{{body: {body}, name: {body}, {FIELDS[kind]}}}"


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_gaps_in_a_step_are_exact_or_lower_bounds(tmp_path, first, second):
    """The bodies rest, and nothing moves them."""
    random, bounded = np.random.default_rng(4), 0
    lines = [line(first, "a"), line(second, "b")]
    bodies = [free(name, 1.0, (0.1, 0.1, 0.1), (0, 0, 0)) for name in "ab"]
    pair = ["{name: c, first: a, second: b}"]
    simulation = lj.Simulation(scene(tmp_path, bodies, lines, pair, "gravity: [0, 0, 0]"), dt=1e-3)
    alone = Pair(tmp_path, lines)
    for _ in range(200):
        q = np.concatenate([random_pose(random, 0.0), random_pose(random, 0.6)])
        exact = float(alone.nearest(q)[ME_GAP])
        simulation.q, simulation.v = q, np.zeros(12)
        simulation.step()
        gap = float(simulation.part("touch").reshape(-1, TOUCH)[:, TO_GAP].min())
        if exact < 0.0:
            assert gap < NEARBY
        elif gap <= NEARBY or exact <= NEARBY:
            assert gap == pytest.approx(exact, abs=MISSED)
        else:
            assert gap <= exact + MISSED
            bounded += gap < exact - 1e-6
    assert bounded > 5 or (first, second) not in BOXED
