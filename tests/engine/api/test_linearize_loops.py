"""`lj.linearize` with closed loops: closed forms, trees, and differences between states that `assemble` closed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Loop, System
from limberjack.engine.model.validate import validate
from tests.engine.full_model import full_model
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.motions import move
from tests.validation.figures import figure

EXAMPLES = Path(__file__).parents[3] / "examples"

GEARS = """
limberjack: 1
name: gears
gravity: [0, 0, 0]
bodies:
  - {name: rotor, mass: 1, inertia: {xx: 0.001, yy: 0.001, zz: 0.002},
     hinge: {name: motor, type: revolute, parent: world, axis: [0, 0, 1], damping: 0.01}}
  - {name: arm, mass: 1, inertia: {xx: 2, yy: 2, zz: 3.0},
     hinge: {name: joint, type: revolute, parent: world, axis: [0, 0, 1], stiffness: 40, friction: 0.3}}
loops:
  - {name: gear, type: coupling, terms: {motor: 1, joint: -50}, independent: [joint]}
actuators:
  - {name: drive, coordinate: motor}
sensors:
  - {name: effort, type: effort, target: motor}
  - {name: turn, type: position, target: motor}
"""


def loaded(text: str, folder: Path) -> System:
    (folder / "model.yaml").write_text(text)
    return lj.load(folder / "model.yaml")


def test_a_geared_arm_is_an_oscillator(tmp_path):
    """(I + n² J) dω/dt = -k θ - (n² d + F / w) ω + n u with friction slope F / w at rest."""
    model = lj.linearize(loaded(GEARS, tmp_path))
    inertia, n, friction = 3.0 + 50.0**2 * 0.002, 50.0, 0.3 / 0.01
    assert model.states == ("joint", "joint.rate")
    damping = n**2 * 0.01 + friction
    figure(
        "A of a geared arm",
        model.A,
        [[0, 1], [-40 / inertia, -damping / inertia]],
        oracle="by hand",
        atol=1e-11,
        rtol=1e-11,
    )
    np.testing.assert_allclose(model.B, [[0], [n / inertia]], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(model.C, [[0, -0.01 * n], [n, 0]], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(model.D, [[1], [0]], atol=1e-12)
    assert model.is_equilibrium()


def test_a_loop_that_is_open_changes_nothing():
    system = full_model()
    arm = next(body.hinge.name for body in system.bodies if body.hinge.type == "revolute")
    lock = Loop("lock", "lock", locked=arm, switchable=True, closed=False)
    rng = np.random.default_rng(4)
    v = np.where([name.startswith("h11") for name in system.velocity_names], 0.0, 0.1 * rng.normal(size=system.nv))
    tree = lj.linearize(system, v=v)
    looped = lj.linearize(validate(replace(system, loops=(lock,))), v=v)
    assert looped.states == tree.states
    assert looped.inputs == (*tree.inputs, "lock.closed")
    for name in "ABCD":
        expected, found = getattr(tree, name), getattr(looped, name)[:, : getattr(tree, name).shape[1]]
        for a, b in zip(found, expected):
            np.testing.assert_allclose(a, b, rtol=0, atol=2e-9 * max(1.0, np.abs(b).max(initial=0.0)))
    assert not looped.B[:, -1].any()
    assert not looped.D[:, -1].any()


def differences(system: System, model: lj.LinearModel, h: float = 1e-4) -> np.ndarray:
    """Slopes of [dv_R/dt; outputs] in displacements and velocities along the independent ones, by differences between
    states that the dense reference closed: its rows Y v = 0 give v_D, its corrections of second order close q."""
    oracle, n = Oracle(system), len(model.v)
    own = [system.velocity_names.index(name.removesuffix(".rate")) for name in model.states[n:]]
    rest = [j for j in range(system.nv) if j not in own]
    sim = lj.Simulation(system)
    sim.command_vector = model.u

    def whole(q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        C, v = oracle.rows(q, np.zeros(system.nv)).C, np.zeros(system.nv)
        v[own] = rates
        v[rest] = -np.linalg.lstsq(C[:, rest], C[:, own] @ rates)[0]
        return v

    def at(x: np.ndarray) -> np.ndarray:
        sim.q = oracle.close(move(oracle.tree, model.q, whole(model.q, x[:n])))
        sim.v = whole(sim.q, model.v + x[n:])
        return np.concatenate([sim.vdot[own], sim.output_vector])

    columns = [(at(h * row) - at(-h * row)) / (2 * h) for row in np.eye(2 * n)]
    return np.column_stack(columns)


@pytest.mark.parametrize("name", ["four_bar", "four_bar_internal", "wishbone", "delta_robot"])
def test_slopes_are_those_between_closed_states(name):
    """At velocities whose drives and dampers stay off their limits, where the slopes of their forces jump."""
    system = lj.load(EXAMPLES / f"{name}.yaml")
    system = lj.assemble(system, v=0.3 * np.random.default_rng(1).normal(size=system.nv))
    model = lj.linearize(system, system.q0, system.v0)
    n = len(model.v)
    expected = differences(system, model)
    for row, other in zip(np.vstack([model.A[n:], model.C]), expected):
        figure(
            "slopes", row, other, oracle="differences between closed states", atol=1e-6 * max(1.0, np.abs(other).max())
        )


def test_inputs_of_a_four_bar():
    """The torque of the crank moves it by 1 / (X* M X)."""
    system = lj.load(EXAMPLES / "four_bar.yaml")
    model, minimal = lj.linearize(system, tau=np.zeros(system.nv)), lj.Dynamics(system).minimal
    names = minimal.names(system.q0)
    assert model.states[: len(names)] == names
    assert model.inputs == system.velocity_names
    X, M = minimal.X(system.q0), minimal.mass_matrix(system.q0)
    figure("inputs of a four-bar", model.B[len(names) :], np.linalg.solve(M, X.T), oracle="M⁻¹ X*", rtol=1e-10)


@pytest.mark.parametrize("word", ["open by", "opens at"])
def test_states_that_do_not_fit_the_loops_are_refused(word):
    system = lj.load(EXAMPLES / "four_bar.yaml")
    q, v = system.q0, system.v0
    (q if word == "open by" else v)[0] += 0.3
    with pytest.raises(lj.ArgumentError, match=word):
        lj.linearize(system, q, v)


FLAT = """
limberjack: 1
name: flat
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 1, inertia: {xx: 1, yy: 1, zz: 1},
     hinge: {type: revolute, parent: world, axis: [0, 0, 1]}}
  - {name: b, mass: 1, inertia: {xx: 1, yy: 1, zz: 1},
     hinge: {type: revolute, parent: a, position: [1, 0, 0], axis: [0, 0, 1]}}
  - {name: c, mass: 1, inertia: {xx: 1, yy: 1, zz: 1},
     hinge: {type: revolute, parent: world, position: [2, 0, 0], axis: [0, 0, 1]}}
loops:
  - {name: pin, type: hinge, hinge: revolute, axis: [0, 0, 1], from: {body: b, position: [2, 0, 0]},
     to: {body: c, position: [1, 0, 0]}}
"""


def test_a_flat_parallelogram_is_refused(tmp_path):
    """Where it may become a parallelogram or cross itself, no tangent determines the motion."""
    with pytest.raises(lj.ArgumentError, match="singular configuration"):
        lj.linearize(loaded(FLAT, tmp_path))


def test_outputs_of_loops_have_slopes(tmp_path):
    text = GEARS + "  - {name: force, type: loop_force, target: gear}\n"
    model = lj.linearize(loaded(text, tmp_path))
    assert model.outputs[-1] == "force"
    assert np.abs(model.C[-1]).max() > 0.0


def test_derivatives_of_trees_are_refused_where_loops_close():
    system = lj.load(EXAMPLES / "four_bar.yaml")
    dynamics = lj.Dynamics(system)
    with pytest.raises(lj.ArgumentError, match="limberjack.linearize"):
        dynamics.forward_derivatives(system.q0, system.v0, np.zeros(system.nv))
    slopes = dynamics.inverse_derivatives(system.q0, system.v0, np.zeros(system.nv))
    assert all(slope.shape == (system.nv, system.nv) for slope in slopes)


def test_no_sensor_shows_the_states():
    system = replace(lj.load(EXAMPLES / "four_bar.yaml"), sensors=())
    model = lj.linearize(system)
    assert model.outputs == model.states
    assert np.array_equal(model.C, np.eye(len(model.states)))
    assert isinstance(model.sensors if hasattr(model, "sensors") else (), tuple)


def test_a_driven_loop_is_an_input(tmp_path):
    """A rod of prescribed length holds a slider: q = L + p, and all follows the three commands."""
    text = """
limberjack: 1
name: rod
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 2, inertia: {xx: 0, yy: 0, zz: 0},
     hinge: {name: slide, type: prismatic, parent: world, axis: [1, 0, 0], initial: {position: 0.75}}}
  - {name: b, mass: 1, hinge: {name: turn, type: revolute, parent: a, axis: [0, 0, 1]},
     inertia: {xx: 1, yy: 1, zz: 1}}
loops:
  - {name: leg, type: distance, from: {body: a, position: [0, 1, 0]}, to: world, length: 1.25, driven: true}
sensors:
  - {name: where, type: position, target: slide}
  - {name: fast, type: rate, target: slide}
"""
    model = lj.linearize(loaded(text, tmp_path))
    assert model.states == ("turn", "turn.rate")
    assert model.inputs == ("slide", "turn", "leg.position", "leg.velocity", "leg.acceleration")
    assert model.input_units == ("N", "N·m", "m", "m/s", "m/s²")
    slope = 1.25 / 0.75  # of x = √(L² - 1) in L
    np.testing.assert_allclose(model.D[:, 2:], [[slope, 0, 0], [0, slope, 0]], rtol=1e-10, atol=1e-10)


def test_sensor_types_of_systems(tmp_path):
    sensor = Sensor("gap", "loop_residual", "gear")
    system = loaded(GEARS, tmp_path)
    model = lj.linearize(validate(replace(system, sensors=(sensor,))))
    np.testing.assert_allclose(model.C, np.zeros((1, 2)), atol=1e-9)
