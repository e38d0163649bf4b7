"""Chains whose shapes overlap around their joints, as those of many public robots do: jams of dozens of touches, near
the axes of hinges, with friction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.tables.contacts import FO_FAILED, FO_TOUCHES
from limberjack.engine.tables.plant import work_sections
from tests.cases import long_only
from tests.engine.contacts.scenes import FLOOR, free, scene
from tests.validation.figures import figure

LINKS, STEPS = 6, 250
SPACE = "gravity: [0, 0, 0]\nsimulation: {dt: 0.002}\n"


def written(numbers: np.ndarray) -> str:
    return "[" + ", ".join(f"{x:.4f}" for x in numbers) + "]"


def tangled(folder: Path, seed: int, shape: str, friction: float) -> lj.System:
    """Links of 4 cm in random directions, with shapes three times as long, of which any two may touch."""
    random, bodies, shapes, parent = np.random.default_rng(seed), [], [], "world"
    for i in range(LINKS):
        axis, position = random.normal(size=3), random.uniform([-0.02, -0.02, 0.02], [0.02, 0.02, 0.06])
        hinge = f"{{name: h{i}, type: revolute, parent: {parent}, position: {written(position)}, axis: {written(axis)}"
        hinge += f", friction: {friction}, initial: {{velocity: {random.normal():.3f}}}}}"
        bodies.append(
            f"{{name: b{i}, mass: {random.uniform(0.2, 1.0):.3f}, com: [0, 0, 0.02], inertia: "
            f"{{xx: 5.0e-4, yy: 6.0e-4, zz: 4.0e-4}}, hinge: {hinge}}}"
        )
        size = f"size: {written(random.uniform(0.06, 0.14, 3))}"
        if shape == "cylinder":
            turn = written([*random.normal(size=2), 0.0])
            size = f"radius: {random.uniform(0.03, 0.06):.3f}, length: {random.uniform(0.06, 0.14):.3f}, rpy: {turn}"
        shapes.append(f"{{body: b{i}, name: s{i}, type: {shape}, position: [0, 0, 0.02], {size}}}")
        parent = f"b{i}"
    names = ", ".join(f"s{i}" for i in range(LINKS))
    return scene(folder, bodies, shapes, [f"{{name: all, first: [{names}], friction: 1.0}}"], SPACE)


def found(simulation: lj.Simulation) -> np.ndarray:
    """How many touches the last step was solved for, and how often without success."""
    start = 0
    for name, rows, columns in work_sections(simulation.plant.ints):
        if name == "found":
            return simulation._work[start : start + columns * rows]
        start += rows * columns
    raise AssertionError("no such table")


@pytest.mark.parametrize("friction", [0.0, 0.05])
@pytest.mark.parametrize("integrator", ["implicit", "semi_implicit", "rk4"])
@pytest.mark.parametrize("shape", ["box", "cylinder"])
@pytest.mark.parametrize("seed", [1, *long_only(range(2, 8))])
def test_a_tangle_gains_no_energy(tmp_path, seed, shape, integrator, friction):
    """A step gained up to 3e5 J, and one of nine models diverged: what was no solution acted in part, and forces were
    held at other places than they were taken back."""
    simulation = lj.Simulation(tangled(tmp_path, seed, shape, friction), integrator=integrator)
    before = start = simulation.survey()[2]
    step, run = 0.0, 0.0
    for _ in range(STEPS):
        simulation.step()
        now = simulation.survey()[2]
        step, run, before = max(step, now - before), max(run, now - start), now
    figure("energy that a step adds in a tangle", step, unit="J", oracle="none", below=0.02)
    figure("energy above that at the start", run, unit="J", oracle="none", below=2e-3)


def test_touches_stay_with_the_motion_where_friction_on_hinges_does_not_settle(tmp_path):
    """The last of the solutions of an implicit step keeps its touches; the next step began with those before it."""
    simulation = lj.Simulation(tangled(tmp_path, 1, "box", 0.05), integrator="implicit")
    for _ in range(STEPS):
        before = simulation.part("touch").copy()
        simulation.step()
        assert found(simulation)[FO_TOUCHES] == 0 or not np.array_equal(before, simulation.part("touch"))


@pytest.mark.parametrize("kind", ["cylinder", "funnel"])
def test_forces_at_their_bound_are_found_at_once(tmp_path, kind):
    """A cone that falls on its rim: six points overlap deeply and share its weight. Every other step went without a
    solution, and the weight changed from 0 to 38 N from step to step."""
    shapes = [FLOOR, f"{{body: b, name: b, type: {kind}, radius: [0.2, 0.05], length: 0.4}}"]
    body = free("b", 2.0, (0.1, 0.1, 0.05), (0, 0, 0.23))
    sensor = "sensors:\n  - {name: load, type: contact_force, target: c}"
    contact = "{name: c, first: floor, second: b, friction: 0.5}"
    simulation, failed, loads = lj.Simulation(scene(tmp_path, [body], shapes, [contact], sensor)), 0, []
    for _ in range(400):
        simulation.step()
        failed += found(simulation)[FO_FAILED] > 0
        loads.append(float(simulation.output["load"][2]))
    assert failed == 0
    assert np.abs(np.array(loads[90:]) / (2.0 * 9.80665) - 1.0).max() < 0.1


def test_what_slides_turns_with_its_velocity(tmp_path):
    """A disc that spins and slides on eight points of its rim, each in a direction of its own."""
    shapes = [FLOOR, "{body: b, name: b, type: cylinder, radius: 0.2, length: 0.1}"]
    body = free("b", 1.0, (0.02, 0.02, 0.02), (0, 0, 0.05), "{wz: 5.0, vx: 0.3, vy: 0.2}")
    contact = "{name: c, first: floor, second: b, friction: 0.3}"
    simulation, failed = lj.Simulation(scene(tmp_path, [body], shapes, [contact])), 0
    for _ in range(800):
        simulation.step()
        failed += found(simulation)[FO_FAILED] > 0
    assert failed == 0
    assert np.abs(simulation.v).max() < 1e-9


@pytest.mark.parametrize("rest", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("seed", [0, 1, *long_only(range(2, 8))])
def test_touches_around_the_axis_of_a_hinge_come_to_rest(tmp_path, seed, rest):
    """A spring turns a box against another around the axis of its hinge, or nothing does. Across the axis' motion the
    touches answer with rounding, and so did their friction: hardly a step had a solution, and the box crept on."""
    axis = written(np.random.default_rng(seed).normal(size=3))
    hinge = f"{{name: h, type: revolute, parent: world, axis: {axis}, stiffness: 5.0, rest: {rest}}}"
    inertia = "{xx: 5.0e-4, yy: 6.0e-4, zz: 4.0e-4}"
    body = f"{{name: b, mass: 1.0, com: [0, 0, 0.02], inertia: {inertia}, hinge: {hinge}}}"
    shapes = [
        "{body: world, name: w, type: box, size: [0.1, 0.1, 0.1], position: [0, 0, -0.04], rpy: [0.1, 0.2, 0.3]}",
        "{body: b, name: s, type: box, size: [0.08, 0.06, 0.1], position: [0, 0, 0.05]}",
    ]
    simulation = lj.Simulation(scene(tmp_path, [body], shapes, ["{name: c, first: w, second: s, friction: 1.0}"]))
    failed = []
    for _ in range(300):
        simulation.step()
        failed.append(found(simulation)[FO_FAILED] > 0)
    assert found(simulation)[FO_TOUCHES] == 5
    assert sum(failed) <= 5
    figure("rate of a box that friction holds", abs(simulation.v[0]), unit="rad/s", oracle="none", below=1e-9)
