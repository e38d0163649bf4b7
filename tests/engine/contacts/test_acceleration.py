"""Accelerated sweeps: islands in which plain sweeps take hundreds, and heaps of more points than a robot ever has."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile.interpreted import interpreted
from limberjack.engine.compile.kernel import FUNCTIONS
from limberjack.engine.kernels.contacts import acceleration, relaxation, speeds
from limberjack.engine.kernels.contacts.push_out import ENDLESS
from limberjack.engine.tables import contacts as t
from tests.engine.contacts.scenes import FLOOR, box, free, scene, solid_box
from tests.engine.contacts.test_interior import VIEWS, island, misses
from tests.validation.figures import figure

accelerate = interpreted(FUNCTIONS[acceleration.accelerate_routine.__name__].function, *VIEWS)
sweep, start_speeds = interpreted(relaxation.sweep, *VIEWS), interpreted(speeds.start_speeds, *VIEWS)
#: bodies in a column, each of which touches the next one
COLUMN = 24


def column(seed: int) -> tuple[SimpleNamespace, SimpleNamespace]:
    """(plant, work) of the touches of a column of bodies with random arms that are pressed onto each other."""
    random, (plant, work) = np.random.default_rng(seed), island(seed, COLUMN, 6, False)
    J = np.zeros((COLUMN, 3, COLUMN, 6))
    for i in range(COLUMN):
        J[i, :, i, :3] = np.eye(3)
        J[i, :, i, 3:] = 0.05 * random.normal(size=(3, 3))
        if i > 0:
            J[i, :, i - 1] = -J[i, :, i]
            J[i, :, i - 1, 3:] = 0.05 * random.normal(size=(3, 3))
    J = J.reshape(3 * COLUMN, 6 * COLUMN)
    contacts, active = work.contacts, work.contacts.active
    contacts.answer[:], contacts.tried = 1e-3 * J @ J.T, np.zeros((t.TRIED, 3 * COLUMN))
    falls = np.tile([-1.0, 0.1, 0.0, 0.0, 0.0, 0.0], COLUMN)
    active[:, t.AC_FREE : t.AC_FREE + 3] = (J @ falls).reshape(COLUMN, 3)
    active[:, t.AC_SOFT], active[:, t.AC_MOST], active[:, t.AC_AIM] = 1e-3 * np.diag(contacts.answer)[::3], ENDLESS, 0.0
    start_speeds(work, COLUMN)
    return plant, work


@pytest.mark.parametrize("seed", range(3))
def test_a_column_is_solved_in_fewer_sweeps(seed):
    plant, work = column(seed)
    for _ in range(120):
        sweep(plant, work, COLUMN, False)
    plain = misses(plant, work)
    plant, work = column(seed)
    accelerate(plant, None, work, COLUMN, 120)
    figure("forces beside their laws", misses(plant, work), unit="", oracle="Coulomb's laws", below=0.01 * plain)


def test_forces_do_not_depend_on_what_was_tried_before():
    plant, work = column(1)
    accelerate(plant, None, work, COLUMN, 60)
    forces = work.contacts.active[:, t.AC_FORCE : t.AC_FORCE + 3].copy()
    plant, work = column(1)
    work.contacts.tried[:] = np.nan
    accelerate(plant, None, work, COLUMN, 60)
    assert np.array_equal(work.contacts.active[:, t.AC_FORCE : t.AC_FORCE + 3], forces)


def test_a_wall_of_bricks_stands(tmp_path):
    """36 boxes, 264 points of which touch at once."""
    size, bodies, shapes = (0.2, 0.1, 0.1), [], [FLOOR]
    for row in range(6):
        for k in range(6):
            place = (0.21 * k + 0.06 * (row % 2), 0.0, 0.05 + 0.1 * row)
            bodies.append(free(f"b{row}{k}", 1.0, solid_box(size, 1.0), place))
            shapes.append(box(f"b{row}{k}", size))
    names = ", ".join(f"b{row}{k}" for row in range(6) for k in range(6))
    laws = [f"{{name: wall, first: [{names}], friction: 0.6}}", f"{{name: floor, first: floor, second: [{names}]}}"]
    simulation = lj.Simulation(scene(tmp_path, bodies, shapes, laws), dt=1e-3, integrator="semi_implicit")
    start = simulation.q
    simulation.step(100)
    assert np.abs(simulation.q - start).max() < 1e-4
