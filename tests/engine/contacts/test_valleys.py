"""Soft bodies between the flanks of valleys of height fields: both flanks bear them wherever they come from."""

from __future__ import annotations

import math

import numpy as np
import pytest

import limberjack as lj
from tests.engine.contacts.scenes import ball, scene, sphere
from tests.engine.contacts.test_height_fields import G, ground
from tests.validation.figures import figure


@pytest.mark.parametrize("slope", [0.6, 1.0])
@pytest.mark.parametrize("aside", [0.02, -0.05, 0.1])
def test_a_ball_comes_to_rest_in_soft_flanks_from_beside_the_valley(tmp_path, aside, slope):
    """One flank is deeper at first; both count, so that it rests where it does over the axis: by symmetry each is as
    deep as d = m g / (2 k cos α)."""
    radius, mass, stiffness = 0.1, 2.0, 60.0 / math.cos(slope)
    heights = np.tile(math.tan(slope) * np.abs(np.linspace(-1.0, 1.0, 3)), (3, 1))
    start = (aside, 0.11, abs(aside) * math.tan(slope) + radius / math.cos(slope))
    law = f"stiffness: {stiffness}, dissipation: 2"
    system = scene(tmp_path, [ball("b", start, mass=mass, radius=radius)], [ground(heights, (2.0, 2.0)), sphere("b")],
                   [f"{{name: c, first: ground, second: b, {law}}}"])  # fmt: skip
    simulation = lj.Simulation(system)
    simulation.step(30_000)
    height = (radius - mass * G / (2.0 * stiffness * math.cos(slope))) / math.cos(slope)
    figure("height in a soft valley", simulation.q[6], height, unit="m", oracle="closed form", atol=1e-3)
    assert abs(simulation.q[4]) < 2e-3
