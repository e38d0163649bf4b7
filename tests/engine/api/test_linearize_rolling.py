"""Small motions of what rolls: the benchmark bicycle, and sleighs, whose positions are freer than their velocities."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from tests.engine.api.test_linearize_loops import loaded
from tests.validation.figures import figure

BICYCLE = Path(str(files("limberjack.examples"))) / "bicycle.yaml"
#: poles at 5 m/s, table 2 of Meijaard, Papadopoulos, Ruina and Schwab (2007)
PUBLISHED = (-0.775341882195845 + 4.464867713788230j, -0.322866429004087, -14.078389692798218)
#: their canonical matrices, section 5: M q'' + v C1 q' + (g K0 + v² K2) q = 0, q = (lean, steer)
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])


def canonical(speed: float) -> np.ndarray:
    """The four poles of the published equations."""
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ (9.81 * K0 + speed**2 * K2), -inverse @ (speed * C1)]])
    return np.linalg.eigvals(A)


@pytest.fixture(scope="module")
def bicycle() -> lj.System:
    return lj.load(BICYCLE)


def test_the_bicycle_is_loaded_closed_and_rolling(bicycle):
    assert bicycle.warnings == ()
    speed = dict(zip(bicycle.velocity_names, bicycle.v0, strict=True))
    assert speed["frame.vx"] == 5.0
    assert speed["rear_axle"] == pytest.approx(5.0 / 0.3)
    assert speed["front_axle"] == pytest.approx(5.0 / 0.35)


def test_the_bicycle_has_the_published_poles(bicycle):
    model = lj.linearize(bicycle)
    for pole in PUBLISHED:
        figure(
            "distance of a pole from the published one, 5 m/s",
            np.abs(model.poles - pole).min(),
            unit="rad/s",
            oracle="Meijaard et al. (2007), table 2",
            below=1e-9,
        )
    assert len(model.states) == 7 + 3
    assert model.A.shape == (10, 10)
    rigid = [mode for mode in model.modes() if mode.rigid]
    assert sum(1 + (mode.pole.imag != 0.0) for mode in rigid) == 6


@pytest.mark.parametrize("speed", [0.0, 2.0, 4.3, 9.0])
def test_the_bicycle_has_the_canonical_poles_at_any_speed(bicycle, speed):
    model = lj.linearize(bicycle, bicycle.q0, bicycle.v0 * (speed / 5.0))
    for pole in canonical(speed):
        figure(
            "distance of a pole from the canonical one",
            np.abs(model.poles - pole).min(),
            unit="rad/s",
            oracle="Meijaard et al. (2007), section 5",
            below=1e-9,
        )


@pytest.mark.parametrize("method", ["embed", "force"])
def test_a_small_disturbance_moves_the_bicycle_as_the_linear_model(bicycle, method, tmp_path):
    text = BICYCLE.read_text().replace("     independent: [steer, rear_axle, frame.wx]}", "     method: METHOD}")
    text = text.replace("from: world, to: front_wheel}", "from: world, to: front_wheel, method: METHOD}")
    system = loaded(text.replace("METHOD", method), tmp_path)
    size, model = 1e-4, lj.linearize(system)
    lean = system.velocity_names.index("frame.wx")
    steer = system.coordinate_names.index("steer")
    v = system.v0.copy()
    v[lean] = size
    simulation = lj.Simulation(
        lj.assemble(system, system.q0, v, hold=["frame.wx", "frame.vx", *system.coordinate_names])
    )
    x = np.array([simulation.v[system.velocity_names.index(name.removesuffix(".rate"))] for name in model.states[7:]])
    x = np.concatenate(
        [np.zeros(7), x - [system.v0[system.velocity_names.index(n.removesuffix(".rate"))] for n in model.states[7:]]]
    )
    poles, vectors = np.linalg.eig(model.A)
    simulation.step(1000)
    moved = (vectors @ (np.exp(poles * simulation.time) * np.linalg.solve(vectors, x))).real
    figure(
        "steering after 1 s",
        simulation.q[steer],
        moved[model.states.index("steer")],
        unit="rad",
        oracle="linear model",
        atol=1e-10,
        rtol=1e-5,
    )


def test_the_bicycle_keeps_its_energy(bicycle):
    v = bicycle.v0.copy()
    v[bicycle.velocity_names.index("frame.wx")] = 0.5
    system = lj.assemble(bicycle, bicycle.q0, v, hold=["frame.wx", "frame.vx", *bicycle.coordinate_names])
    simulation = lj.Simulation(system)
    energy = simulation.output["energy.total"]
    simulation.step(3000)
    assert abs(simulation.q[system.coordinate_names.index("steer")]) > 1e-3
    figure(
        "energy of the bicycle", simulation.output["energy.total"], energy, unit="J", oracle="conservation", atol=1e-6
    )
    load = simulation.output["rear_load"][5] + simulation.output["front_load"][5]
    assert load == pytest.approx(94.0 * 9.81, rel=0.05)


SLEIGH = """
limberjack: 1
name: sleigh
gravity: [0, 0, 0]
bodies:
  - {name: sleigh, mass: 3, com: [0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15},
     hinge: {name: at, type: planar, parent: world, axes: [[0, 0, 1], [1, 0, 0]], initial: {velocity: {x: 1.4}}}}
loops:
  - {name: edge, type: hinge, hinge: custom, from: world, to: sleigh, method: METHOD,
     map: [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]}
"""


@pytest.mark.parametrize("method", ["embed", "force"])
def test_a_custom_cut_holds_velocities_alone(method, tmp_path):
    """Chaplygin's sleigh: (I + m a²) dω/dt = -m a u ω; three displacements, two velocities."""
    model = lj.linearize(loaded(SLEIGH.replace("METHOD", method), tmp_path))
    assert model.states[:3] == ("at.angle", "at.x", "at.y")
    assert len(model.states) == 5
    pole = -3.0 * 0.2 * 1.4 / (0.15 + 3.0 * 0.2**2)
    figure("pole of Chaplygin's sleigh", model.poles[-1], pole, unit="1/s", oracle="-m a u / (I + m a²)", rtol=1e-9)
    angle, sideways = model.states.index("at.angle"), model.states.index("at.y")
    assert model.A[sideways, angle] == pytest.approx(1.4, rel=1e-9)  # it goes where it points
    assert model.rate[model.states.index("at.x")] == 1.4
