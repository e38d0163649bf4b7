"""Drives move to where their commands have them at the end of the step: closed-form motions, orders, first motions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ModelError, UnknownNameError
from limberjack.engine.model.validate import validate
from tests.engine.api.test_linearize_loops import loaded
from tests.validation.figures import figure

A, W, STIFF = 0.4, 9.0, 150.0

#: a slide that is driven along x, by a coupling or by a rod on the ground, with a mass of 1 kg on a spring
SLIDE = """
limberjack: 1
name: slide
gravity: [0, 0, 0]
bodies:
  - {{name: carriage, mass: 3, inertia: {{xx: 1, yy: 1, zz: 1}},
     hinge: {{name: slide, type: prismatic, parent: world, axis: [1, 0, 0], initial: {{position: {position}}}}}}}
  - {{name: mass, mass: 1, inertia: {{xx: 1, yy: 1, zz: 1}},
     hinge: {{name: spring, type: prismatic, parent: carriage, axis: [1, 0, 0], stiffness: 150,
             initial: {{position: {sag}, velocity: {sway}}}}}}}
loops:
  - {{name: drive, method: {method}, driven: true, initial: {{velocity: {speed}}}, {loop}}}
"""
LOOPS = {
    "coupling": "type: coupling, terms: {slide: 1}",
    "distance": "type: distance, from: world, to: carriage, length: 0.9",
}


def motion(t: float) -> tuple[float, float, float]:
    """A sine, in motion at the start."""
    return A * math.sin(W * t), A * W * math.cos(W * t), -A * W * W * math.sin(W * t)


def sway(t: float) -> tuple[float, float]:
    """y'' + 150 y = -x'': the part of the drive's own frequency, and its rate."""
    size = A * W * W / (STIFF - W * W)
    return size * math.sin(W * t), size * W * math.cos(W * t)


def slide(kind: str, method: str, tmp_path) -> lj.System:
    y, rate = sway(0.0)
    numbers = {"position": 0.9 if kind == "distance" else 0.0, "speed": A * W, "sag": y, "sway": rate}
    return loaded(SLIDE.format(method=method, loop=LOOPS[kind], **numbers), tmp_path)


def command(simulation: lj.Simulation, t: float, name: str = "drive") -> None:
    for word, value in zip(("position", "velocity", "acceleration"), motion(t), strict=True):
        simulation.command[f"{name}.{word}"] = value


def run(system: lj.System, dt: float, until: float, together: int = 1, **options) -> lj.Simulation:
    simulation = lj.Simulation(system, dt, **options)
    for k in range(together, round(until / dt) + 1, together):
        command(simulation, k * dt)
        simulation.step(together)
    return simulation


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("method", ["embed", "force"])
def test_a_drive_is_where_its_command_has_it_when_the_step_ends(kind, method, tmp_path):
    system, dt = slide(kind, method, tmp_path), 1e-2
    start = system.q0[0]
    simulation = lj.Simulation(system, dt)
    for k in range(1, 31):
        command(simulation, k * dt)
        simulation.step()
        x, rate, _ = motion(k * dt)
        figure(
            "place of a drive at the end of a step",
            simulation.q[0] - start,
            x,
            unit="m",
            oracle="its command",
            atol=1e-12,
        )
        figure(
            "rate of a drive at the end of a step", simulation.v[0], rate, unit="m/s", oracle="its command", atol=1e-10
        )


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("method", ["embed", "force"])
def test_what_a_drive_moves_keeps_the_fourth_order(kind, method, tmp_path):
    """The mass on the spring, which only the drive's accelerations move."""
    system, until = slide(kind, method, tmp_path), 0.64
    errors = []
    for dt in (0.01, 0.005, 0.0025):
        found = run(system, dt, until)
        errors.append(np.abs([found.q[1], found.v[1]] - np.array(sway(until))))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    figure("order of convergence", orders, oracle="fourth order", above=3.7)
    figure("error of what it moves", errors[-1][0], unit="m", oracle="sway in closed form", below=2e-8)
    figure("error of its velocity", errors[-1][1], unit="m/s", oracle="sway in closed form", below=1e-7)


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit"])
def test_integrators_of_one_stage_keep_their_order(integrator, tmp_path):
    system, until = slide("coupling", "embed", tmp_path), 0.64
    errors = [
        np.abs(np.array(sway(until)) - (run(system, dt, until, integrator=integrator).q[1], 0.0))[0]
        for dt in (2e-3, 1e-3, 5e-4)
    ]
    assert np.all(np.log2(np.array(errors[:-1]) / errors[1:]) > 0.8), errors


@pytest.mark.parametrize("kind", LOOPS)
def test_steps_that_are_taken_together_end_where_the_command_is(kind, tmp_path):
    """A call of n steps moves along one polynomial from command to command, in whatever pieces it is made."""
    system, dt, n = slide(kind, "embed", tmp_path), 1e-3, 10
    whole, pieces = lj.Simulation(system, dt), lj.Simulation(system, dt)
    for k in range(n, 641, n):
        for simulation in (whole, pieces):
            command(simulation, k * dt)
        whole.step(n)
        pieces.step(4, n)
        pieces.step(6)
        assert whole.q[0] - system.q0[0] == pytest.approx(motion(k * dt)[0], abs=1e-12)
    np.testing.assert_allclose(pieces.q, whole.q, rtol=0, atol=1e-10)
    assert whole.q[1] == pytest.approx(sway(0.64)[0], abs=2e-6)


def test_substeps_follow_the_same_path(tmp_path):
    system = slide("distance", "force", tmp_path)
    found = run(system, 1e-2, 0.64, substeps=4)
    assert found.q[0] - 0.9 == pytest.approx(motion(0.64)[0], abs=1e-12)
    assert found.q[1] == pytest.approx(sway(0.64)[0], abs=5e-7)


def test_a_held_command_at_rest_holds(tmp_path):
    system = slide("coupling", "embed", tmp_path)
    simulation = lj.Simulation(system, 1e-3)
    simulation.command["drive.position"], simulation.command["drive.velocity"] = 0.2, 0.0
    simulation.step(200)
    assert simulation.q[0] == pytest.approx(0.2, abs=1e-12)
    simulation.step(100)
    assert abs(simulation.q[0] - 0.2) < 1e-12
    assert abs(simulation.v[0]) < 1e-10


@pytest.mark.parametrize("kind", LOOPS)
def test_a_drive_that_closes_while_it_moves_goes_on_from_where_the_loop_is(kind, tmp_path):
    """Closing holds the length or offset that is there, and the loop's rate jumps to the drive's."""
    system, dt = slide(kind, "force", tmp_path), 1e-3
    loop = replace(system.loops[0], switchable=True, closed=False, initial=(0.0, 0.0, 0.0))
    simulation = lj.Simulation(validate(replace(system, loops=(loop,))), dt)
    simulation.v = [0.5, 0.0]
    simulation.step(100)
    x, start = simulation.q[0], 0.1
    simulation.command["drive.closed"] = 1.0
    for k in range(1, 201):
        command(simulation, start + k * dt)
        simulation.step()
        assert simulation.closed("drive")
        p, rate, _ = motion(start + k * dt)
        if k == 1:  # where the first command's own acceleration leads back to
            _, first, slope = motion(start + dt)
            held = x - (p - dt * first + 0.5 * dt * dt * slope)
        assert simulation.q[0] == pytest.approx(held + p, abs=1e-12)
        assert simulation.v[0] == pytest.approx(rate, abs=1e-9)
    assert simulation.impacts["drive"] > 0.0


CRANK = """
limberjack: 1
name: crank
bodies:
  - {{name: crank, mass: 1, com: [0.1, 0, 0], inertia: {{xx: 0.01, yy: 0.01, zz: 0.01}},
     hinge: {{name: crank, type: revolute, parent: world, axis: [0, 1, 0]{initial}}}}}
loops:
  - {{name: turn, type: coupling, terms: {{crank: 1}}, driven: true{first}}}
"""


def test_the_error_of_a_command_for_the_end_is_not_a_step(tmp_path):
    """2 rad/s and steps of 10 ms: given for the end of a step, a position is met there, not 0.02 rad beyond."""
    simulation = lj.Simulation(loaded(CRANK.format(initial="", first=", initial: {velocity: 2}"), tmp_path), 1e-2)
    for k in range(1, 11):
        simulation.command["turn.position"], simulation.command["turn.velocity"] = 0.02 * k, 2.0
        simulation.step()
        assert simulation.q[0] == pytest.approx(0.02 * k, abs=1e-13)


def test_a_driven_loop_starts_in_motion(tmp_path):
    system = loaded(CRANK.format(initial="", first=", initial: {position: 0.3, velocity: 2.2}"), tmp_path)
    assert system.q0[0] == pytest.approx(0.3, abs=1e-12)
    assert system.v0[0] == pytest.approx(2.2, abs=1e-12)
    assert lj.Simulation(system).command["turn.velocity"] == 2.2
    given = ", initial: {position: 0.3, velocity: 2.2}"
    assert loaded(CRANK.format(initial=given, first=given), tmp_path).v0[0] == 2.2


def test_a_velocity_that_the_drive_does_not_have_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"stays open by 2\.2 .*'initial' velocity"):
        loaded(CRANK.format(initial=", initial: {velocity: 2.2}", first=""), tmp_path)


def test_first_commands_from_python(tmp_path):
    system = loaded(CRANK.format(initial="", first=""), tmp_path)
    moving = lj.assemble(system, command={"turn.position": -0.2, "turn.velocity": 1.5})
    assert moving.q0[0] == pytest.approx(-0.2, abs=1e-12)
    assert moving.v0[0] == pytest.approx(1.5, abs=1e-12)
    assert moving.loops[0].initial == (-0.2, 1.5, 0.0)
    loop = replace(system.loops[0], initial=(-0.2, 1.5, 0.0))
    assert lj.assemble(validate(replace(system, loops=(loop,)))).q0[0] == pytest.approx(-0.2, abs=1e-12)
    with pytest.raises(UnknownNameError, match=r"'turn\.angle' is not a command of a driven loop.*turn\.position"):
        lj.assemble(system, command={"turn.angle": 1.0})


def test_a_rod_without_a_length_is_as_drawn_with_its_first_position(tmp_path):
    text = SLIDE.format(
        method="embed",
        loop="type: distance, from: world, to: carriage",
        **{"position": 0.9, "speed": 0.0, "sag": 0, "sway": 0},
    )
    system = loaded(text.replace("velocity: 0.0", "position: 0.2"), tmp_path)
    assert system.loops[0].length == pytest.approx(0.7)
    assert system.q0[0] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("first", "wrong"),
    [
        ("driven: false, initial: {position: 1}", "has an initial motion and is not driven"),
        ("driven: true, initial: {position: -2}", "-1.1 m long with its first position"),
        ("driven: true, initial: {position: .nan}", "number"),
    ],
)
def test_bad_first_motions(first, wrong, tmp_path):
    text = SLIDE.format(method="embed", loop=LOOPS["distance"], position=0.9, speed=0.0, sag=0, sway=0)
    with pytest.raises(ModelError, match=wrong):
        loaded(text.replace("driven: true, initial: {velocity: 0.0}", first), tmp_path)
