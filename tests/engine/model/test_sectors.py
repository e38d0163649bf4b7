"""Corners of meshes by sectors of directions: the farthest one is among them, in whatever direction."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from limberjack.engine.kernels.contacts import supports
from limberjack.engine.model.sectors import sectors
from limberjack.engine.tables.contacts import SECTORS

AROUND = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
DRUM = np.stack([np.tile(np.cos(AROUND), 2), np.tile(np.sin(AROUND), 2), np.repeat([0.0, 0.1], 64)], axis=1)
#: the kernel as plain Python, compiled or not
sector_of = getattr(supports.sector_of, "py_func", supports.sector_of)
BODIES = {
    "ball": lambda random: [x / np.linalg.norm(x) for x in random.normal(size=(256, 3))],
    "needle": lambda random: random.normal(size=(60, 3)) * (1e-4, 1.0, 1e-2),
    "drum": lambda random: DRUM,
    "box": lambda random: list(itertools.product((-1.0, 1.0), (-2.0, 2.0), (-3.0, 3.0))),
    "tetrahedron": lambda random: random.normal(size=(4, 3)),
}


def directions(random: np.random.Generator) -> np.ndarray:
    """(n, 3) at random, along the borders of sectors, and a little beside these."""
    borders = np.array(list(itertools.product((-1.0, -0.5, -0.0, 0.0, 0.5, 1.0), repeat=3)))
    beside = borders + 1e-14 * random.normal(size=borders.shape)
    return np.concatenate([random.normal(size=(1000, 3)), borders[np.abs(borders).max(axis=1) > 0.0], beside])


@pytest.mark.parametrize("body", BODIES)
def test_the_farthest_corner_is_in_the_sector_of_the_direction(body):
    random = np.random.default_rng(5)
    corners = np.asarray(BODIES[body](random))
    found = sectors(corners)
    assert len(found) == SECTORS
    for n in directions(random):
        reach = corners @ n
        near = found[sector_of(tuple(n))]
        assert reach[near].max() == reach.max()
        assert near[int(reach[near].argmax())] == reach.argmax()


def test_sectors_hold_few_corners():
    corners = np.asarray(BODIES["ball"](np.random.default_rng(6)))
    assert np.mean([len(each) for each in sectors(corners)]) < 0.1 * len(corners)
