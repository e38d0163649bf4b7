"""Flexible beams in models: known frequencies at rest and while spinning, stiff modes in implicit steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.archive import from_bytes, to_bytes
from limberjack.engine.modes import write_modal_data
from limberjack.engine.modes.frame import Beam, Frame, Material, rectangle
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from tests.validation.figures import figure

LENGTH, WIDTH, HEIGHT = 4.0, 0.03, 0.02
ALUMINIUM = Material(70e9, 26e9, 2700.0)
MODEL = """
limberjack: 1
name: spinner
gravity: [0, 0, 0]
bodies:
  - name: boom
    hinge: {name: spin, type: revolute, parent: world, axis: [0, 0, 1]}
    flexible: {file: boom.npz}
"""
TIP = """
  - name: camera
    mass: 0.5
    inertia: {xx: 0.001, yy: 0.001, zz: 0.001}
    hinge: {name: mount, type: fixed, parent: boom.tip}
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with a slender beam of twenty elements, eight modes, clamped at its root."""
    pytest.importorskip("scipy", reason="modes need scipy")
    ends = np.array([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]])
    beam = Beam(("root", "tip"), rectangle(WIDTH, HEIGHT), ALUMINIUM, np.array([0.0, 0.0, 1.0]), 20)
    structure = frame_structure(Frame("boom", ("root", "tip"), ends, (beam,)))
    write_modal_data(reduce_structure(structure, Reduction("cantilever", "root", ("tip",), 8)), tmp_path / "boom.npz")
    return tmp_path


def model(folder: Path, text: str) -> lj.System:
    path = folder / "model.yaml"
    path.write_text(text)
    return lj.load(path)


def squares(system: lj.System, rate: float) -> np.ndarray:
    """ω² of the modes (rad²/s²), ascending, at a constant rate of the hinge."""
    dynamics, n = lj.Dynamics(system), system.nv - 1
    v, h, columns = np.eye(system.nv)[0] * rate, 1e-5, []
    for i in range(n):
        unit = np.eye(system.nq)[1 + i]
        columns.append((dynamics.bias(h * unit, v) - dynamics.bias(-h * unit, v))[1:] / (2.0 * h))
    stiffness = np.diag([dof.stiffness for dof in system.bodies[1].hinge.dofs]) + np.array(columns).T
    mass = dynamics.mass_matrix(np.zeros(system.nq))[1:, 1:]
    return np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)


def bending(beta: float, height: float) -> float:
    """ω² of a clamped beam, β⁴ E I / (ρ A L⁴), without its rotary inertia."""
    return beta**4 * ALUMINIUM.young * height**2 / (12.0 * ALUMINIUM.density * LENGTH**4)


def test_a_clamped_beam_has_its_frequencies(folder):
    found = squares(model(folder, MODEL), 0.0)
    expected = sorted(bending(beta, height) for beta in (1.8751041, 4.6940911) for height in (HEIGHT, WIDTH))
    figure(
        "squared frequencies of a clamped beam",
        found[:4],
        expected,
        unit="rad²/s²",
        oracle="β⁴ E I / ρ A L⁴",
        rtol=2e-3,
    )  # twenty lumped elements


def test_spin_stiffens_a_beam_as_southwell_found(folder):
    """ω² = ω₀² + K Ω²: out of the plane K = 1.193 and 6.478 (uniform clamped beam at the axis), in it one less."""
    system = model(folder, MODEL)
    still, turning = squares(system, 0.0), squares(system, 2.0)
    gained = (turning[:4] - still[:4]) / 2.0**2
    figure(
        "gain of squared frequencies by spin",
        gained,
        [1.193, 0.193, 6.478, 5.478],
        oracle="Southwell's coefficients",
        atol=5e-3,
        rtol=1e-7,
    )


def test_without_geometric_stiffening_it_softens(folder):
    """The classical error of linear displacements: in the plane of rotation ω² falls by Ω², out of it it stays."""
    system = model(folder, MODEL.replace("boom.npz", "boom.npz, geometric: false"))
    gained = (squares(system, 2.0)[:4] - squares(system, 0.0)[:4]) / 2.0**2
    figure(
        "gain without geometric stiffening",
        gained,
        [0.0, -1.0, 0.0, -1.0],
        oracle="linear kinematics",
        atol=0.03,
        rtol=1e-7,
    )  # bent nodes have rotary inertia


def test_a_mass_at_the_tip_lowers_the_first_frequency(folder):
    """Rayleigh: the first mode of a clamped beam with a mass M at its end has ω² = 3 E I / ((M + 33/140 m) L³)."""
    found = squares(model(folder, MODEL + TIP), 0.0)[0]
    beam = ALUMINIUM.density * WIDTH * HEIGHT * LENGTH
    stiffness = 3.0 * ALUMINIUM.young * WIDTH * HEIGHT**3 / 12.0 / LENGTH**3
    figure(
        "squared frequency with a mass at the tip",
        found,
        stiffness / (0.5 + 33.0 / 140.0 * beam),
        unit="rad²/s²",
        oracle="Rayleigh's quotient",
        rtol=0.02,
    )


def test_implicit_steps_stay_stable_with_modes_beyond_the_step(folder):
    """Eight modes up to 53 Hz at steps of 20 ms: explicit steps diverge, implicit ones end where damping leads."""
    system = model(folder, MODEL.replace("boom.npz", "boom.npz, damping: 0.05"))
    with pytest.raises(lj.SimulationError):
        run(system, "rk4")
    simulation = run(system, "implicit")
    figure("deflection where implicit steps end", np.abs(simulation.q[1:]).max(), oracle="rest", below=1e-6)


def run(system: lj.System, integrator: str) -> lj.Simulation:
    simulation = lj.Simulation(system, dt=0.02, integrator=integrator)
    simulation.q = np.concatenate([[0.0], np.full(system.nq - 1, 0.01)])
    simulation.step(5000)
    return simulation


def test_rk4_and_implicit_meet_as_the_step_shrinks(folder):
    system = model(folder, MODEL + TIP)
    ends = []
    for dt in (2e-4, 1e-4):
        simulations = [lj.Simulation(system, dt=dt, integrator=name) for name in ("rk4", "implicit")]
        for simulation in simulations:
            simulation.q = np.concatenate([[0.0], [0.1], np.zeros(system.nq - 2)])
            simulation.step(round(0.1 / dt))
        ends.append(np.abs(simulations[0].q - simulations[1].q).max())
    figure(
        "difference of rk4 and implicit at half the step", ends[1], oracle="first order", below=0.6 * ends[0]
    )  # first order


def test_what_does_not_take_flexible_bodies_says_so(folder):
    system = model(folder, MODEL + TIP)
    dynamics, zero = lj.Dynamics(system), np.zeros(system.nv)
    for call in (
        lambda: dynamics.forward_derivatives(system.q0, zero, zero),
        lambda: dynamics.inverse_derivatives(system.q0, zero, zero),
    ):
        with pytest.raises(lj.ArgumentError, match="boom is flexible, and .* takes rigid bodies only so far.*slopes"):
            call()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("boom.npz", "bom.npz"), "model.yaml:8, bodies.0..flexible.file: the file 'bom.npz' does not exist"),
        (
            ("boom.npz", "boom.npz, attachments: [end]"),
            "model.yaml:8.*no node of the modal data is called 'end'.*interface",
        ),
        (("boom.npz", "boom.npz, modes: 9"), "model.yaml:8.*8"),
        (("boom.npz}", "boom.npz}\n    mass: 3.0"), "model.yaml:9.*has its mass from its modes"),
    ],
)
def test_mistakes_in_the_model_are_reported_with_their_place(folder, change, words):
    with pytest.raises(lj.ModelError, match=words):
        model(folder, MODEL.replace(*change))


def test_a_model_file_in_one_piece_holds_the_modes(folder):
    system = model(folder, MODEL + TIP)
    again = from_bytes(to_bytes(system), "boom.ljm")
    q, v = np.full(system.nq, 0.05), np.full(system.nv, 0.3)
    assert np.array_equal(lj.Dynamics(again).mass_matrix(q), lj.Dynamics(system).mass_matrix(q))
    assert np.array_equal(lj.Dynamics(again).bias(q, v), lj.Dynamics(system).bias(q, v))
