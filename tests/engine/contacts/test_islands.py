"""Groups of bodies that do not touch each other are solved alone: equal bits, no common room, no common cost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.tables import contacts as t
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, solid_box, sphere

SIZE = (0.3, 0.2, 0.25)


def block(name, x):
    return free(name, 2.0, solid_box(SIZE, 2.0), (x, 0, 0.126), "{vx: 0.3, wz: 0.5}")


def stacks(tmp_path, names):
    """For each name a box that slides, and a ball on top of it."""
    bodies, shapes, laws = [], [FLOOR], []
    for name in names:
        x = 2.0 * (ord(name) - ord("a"))
        bodies += [block(name, x), ball(f"{name}_ball", (x, 0, 0.352))]
        shapes += [box(name, SIZE), sphere(f"{name}_ball")]
        laws.append(f"{{name: {name}, first: floor, second: {name}, friction: 0.3, rolling_friction: 1.0e-3}}")
        laws.append(f"{{name: {name}_top, first: {name}, second: {name}_ball, friction: 0.5}}")
    return scene(tmp_path, bodies, shapes, laws)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_an_island_has_the_bits_that_it_has_alone(tmp_path, integrator):
    together = lj.Simulation(stacks(tmp_path, "abc"), dt=1e-3, integrator=integrator)
    alone = lj.Simulation(stacks(tmp_path, "b"), dt=1e-3, integrator=integrator)
    for _ in range(5):
        together.step(60)
        alone.step(60)
        assert np.array_equal(together.v[12:24], alone.v)
        assert np.array_equal(together.q[14:28], alone.q)
    assert abs(alone.q[4] - 2.0) > 0.01, "nothing has moved"


def test_many_islands_have_room_for_more_points_than_one(tmp_path):
    names = [f"b{i}" for i in range(40)]
    bodies = [free(name, 1.0, solid_box((0.2,) * 3, 1.0), (0.5 * i, 0, 0.1)) for i, name in enumerate(names)]
    law = f"{{name: c, first: floor, second: [{', '.join(names)}], friction: 0.5}}"
    simulation = lj.Simulation(scene(tmp_path, bodies, [FLOOR, *(box(name, (0.2,) * 3) for name in names)], [law]))
    simulation.step(100)
    assert np.abs(simulation.v).max() < 1e-5
    touch = simulation.state[-8 * len(names) * t.TOUCH :].reshape(-1, t.TOUCH)
    assert (touch[:, t.TO_ACTS] > 1.0).sum() == 4 * len(names)


def test_one_island_with_too_many_points_is_refused_with_a_remedy(tmp_path):
    """A plate of 40 boxes, each on four corners."""
    shapes = [
        f"{{body: plate, type: box, size: [0.1, 0.1, 0.1], position: [{0.2 * i}, 0, 0], name: s{i}}}" for i in range(40)
    ]
    names = ", ".join(f"s{i}" for i in range(40))
    plate = free("plate", 1.0, solid_box((8.0, 0.1, 0.1), 1.0), (0, 0, 0.05))
    law = f"{{name: c, first: floor, second: [{names}], friction: 0.5}}"
    simulation = lj.Simulation(scene(tmp_path, [plate], [FLOOR, *shapes], [law]))
    with pytest.raises(lj.LimberjackError, match=r"160 points of bodies that push each other .* fewer or rounder"):
        simulation.step(2)


def test_a_loop_that_acts_by_force_joins_islands(tmp_path):
    """Two balls that a rod holds apart on a slope: one has no friction, and the other one holds both."""
    law = "{{name: {0}, first: floor, second: {0}, friction: {1}}}"
    rod = "loops:\n  - {name: rod, type: distance, from: a, to: b, length: 0.5, method: force}\n"
    system = scene(
        tmp_path,
        [ball("a", (0, 0, 0.1)), ball("b", (0.5, 0, 0.1))],
        [FLOOR, sphere("a"), sphere("b")],
        [law.format("a", 0.0), law.format("b", "0.8, rolling_friction: 0.1")],
        "gravity: [2.0, 0, -9.8]\n" + rod,
    )
    simulation = lj.Simulation(system, dt=1e-3)
    simulation.step(500)
    assert np.abs(simulation.v.reshape(2, 6)[:, 3:]).max() < 1e-9


def row_of_balls(tmp_path, order):
    """Twelve balls in a row on the floor, the first of which pushes the others; contacts in this order."""
    names, place = [f"b{i}" for i in range(12)], 0.199999
    bodies = [ball(name, (place * i, 0, 0.1), "{vx: 1.0, vy: 0.2}" if i == 0 else "{}") for i, name in enumerate(names)]
    laws = [f"{{name: f{i}, first: floor, second: {name}, friction: 0.2}}" for i, name in enumerate(names)]
    laws += [f"{{name: n{i}, first: {a}, second: {b}, friction: 0.4}}" for i, (a, b) in enumerate(pairwise(names))]
    return scene(tmp_path, bodies, [FLOOR, *(sphere(name) for name in names)], [laws[i] for i in order])


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_contacts_does_not_matter(tmp_path, seed):
    """Which touches answer to which, near to each other in a list or far apart, changes what is computed, not what
    follows."""
    shuffled = np.random.default_rng(seed).permutation(23)
    simulations = [lj.Simulation(row_of_balls(tmp_path, order), dt=1e-3) for order in (range(23), shuffled)]
    for simulation in simulations:
        simulation.step(40)
    one, other = (simulation.v for simulation in simulations)
    assert np.abs(one[-6:]).max() > 1e-3, "the last ball has not been pushed"
    assert np.abs(one - other).max() < 1e-9
