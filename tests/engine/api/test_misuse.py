"""What users do wrong, or push too far: found by review, kept from coming back."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from tests.engine.full_model import full_model

FREE = """
limberjack: 1
name: brick
gravity: [0, 0, 0]
bodies:
  - {name: b, mass: 1.0, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {type: free, parent: world}}
"""

CHAIN = """
limberjack: 1
name: chain
bodies:
  - {name: a, mass: 0, hinge: {type: revolute, parent: world, axis: [0, 0, 1]}}
  - {name: b, mass: 0, hinge: {type: revolute, parent: a, axis: [1, 0, 0]}}
  - {name: c, mass: 0, hinge: {type: revolute, parent: b, axis: [0, 1, 0]}}
  - {name: d, mass: 1, com: [0, 0, 1], hinge: {type: revolute, parent: c, axis: [1, 0, 0]},
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
"""

GIMBAL = """
limberjack: 1
name: gimbal
bodies:
  - {name: g, mass: 1, inertia: {xx: 1, yy: 1, zz: 1},
     hinge: {type: gimbal, parent: world, axes: [[0, 0, 1], [0, 1, 0], [1, 0, 0]]}}
"""


def load(text: str, folder: Path) -> lj.System:
    file = folder / "model.yaml"
    file.write_text(text)
    return lj.load(file)


def test_implicit_holds_a_stiff_drive_on_a_free_base(tmp_path: Path) -> None:
    """dv/dt = kd (1 - v): linearly implicit Euler gives v = 1 - (1 + h kd)⁻ⁿ after n steps."""
    brick = replace(load(FREE, tmp_path), actuators=(Actuator("push", "b.vx", "velocity", kd=1e4, initial=1.0),))
    sim = lj.Simulation(brick, dt=0.1, integrator="implicit")
    sim.step(5)
    assert sim.v[3] == pytest.approx(1.0 - (1.0 + 1e3) ** -5, rel=1e-12)


def test_an_exactly_and_a_nearly_singular_mass_matrix_are_named(tmp_path: Path) -> None:
    chain = lj.Dynamics(load(CHAIN, tmp_path))
    with pytest.raises(lj.ArgumentError, match="singular"):
        chain.forward(np.zeros(4), np.zeros(4), np.ones(4))
    gimbal = lj.Dynamics(load(GIMBAL, tmp_path))
    for middle in (np.pi / 2, 1.5707963):
        with pytest.raises(lj.ArgumentError, match="singular"):
            gimbal.forward([0.1, middle, 0.2], np.zeros(3), np.ones(3))
    assert np.all(np.isfinite(gimbal.forward([0.1, 1.57, 0.2], np.zeros(3), np.ones(3))))


def test_results_beyond_float64_are_errors_not_infinities() -> None:
    dynamics = lj.Dynamics(full_model())
    q, v = dynamics.system.q0, np.full(dynamics.system.nv, 1e200)
    for call in (dynamics.bias, dynamics.energy, dynamics.momentum):
        if call is not dynamics.momentum:
            with pytest.raises(lj.ArgumentError, match="range of float64"):
                call(q, v)


@pytest.mark.parametrize(
    ("start", "length", "values", "words"),
    [
        ("q", 4, [0.0, 0.0, 0.0, 0.0], "quaternion"),
        ("q", 4, [3.0, 0.0, 0.0, 0.0], "quaternion"),
        ("steps", 1, [0.5], "damaged"),
        ("time", 1, [1e300], "damaged"),
        ("v", 1, [np.nan], "finite"),
    ],
)
def test_a_forged_snapshot_is_refused(start, length, values, words, tmp_path: Path) -> None:
    sim = lj.Simulation(load(FREE, tmp_path))
    sim.step(3)
    state = sim.state
    at = sim.state_layout[start][0]
    forged = bytearray(sim.snapshot())
    offset = len(forged) - 8 * len(state) + 8 * at
    struct.pack_into(f"<{length}d", forged, offset, *values)
    with pytest.raises(lj.ArgumentError, match=words):
        sim.restore(bytes(forged))
    np.testing.assert_array_equal(sim.state, state)


def test_a_snapshot_of_another_step_is_refused(tmp_path: Path) -> None:
    brick = load(FREE, tmp_path)
    with pytest.raises(lj.ArgumentError, match=r"dt = 0\.001 s.*0\.01 s"):
        lj.Simulation(brick, dt=1e-2).restore(lj.Simulation(brick, dt=1e-3).snapshot())


def test_threads_that_share_a_dynamics_get_the_same_bits() -> None:
    dynamics = lj.Dynamics(full_model())
    rng = np.random.default_rng(0)
    q = dynamics.system.q0
    states = [rng.normal(size=dynamics.system.nv) for _ in range(4)]
    wanted = [dynamics.forward(q, v, v) for v in states]
    wrong: list[int] = []

    def work(i: int) -> None:
        wrong.extend(i for _ in range(300) if not np.array_equal(dynamics.forward(q, states[i], states[i]), wanted[i]))

    threads = [Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("name", ["dt", "integrator", "substeps", "command", "parameters", "output"])
def test_settings_of_a_simulation_cannot_be_replaced(name: str, tmp_path: Path) -> None:
    sim = lj.Simulation(load(FREE, tmp_path))
    with pytest.raises(AttributeError):
        setattr(sim, name, 1)


def test_wrong_kinds_of_arguments_are_named(tmp_path: Path) -> None:
    brick = load(FREE, tmp_path)
    sim = lj.Simulation(brick)
    for wrong in (
        lambda: lj.Dynamics("arm.urdf"),
        lambda: lj.Simulation(None),
        lambda: lj.Simulation(brick, integrator=["rk4"]),
        lambda: lj.Simulation(brick, substeps=True),
        lambda: sim.step(2**70),
        lambda: sim.step(1.5),
        lambda: sim.restore(None),
        lambda: sim.command[[1]],
        lambda: sim.output[3],
        lambda: lj.Dynamics(brick).forward(brick.q0, np.zeros(6, "m8[s]"), np.zeros(6)),
    ):
        with pytest.raises(lj.ArgumentError):
            wrong()
    with pytest.raises(lj.ModelError, match="not a path"):
        lj.load(3)
    lj.Simulation(brick, substeps=np.int64(2)).step(np.int64(2))


def test_mappings_keep_their_contract(tmp_path: Path) -> None:
    sim = lj.Simulation(load(FREE, tmp_path))
    assert "nope" not in sim.command
    assert sim.output.get("nope") is None
    with pytest.raises(KeyError, match="no parameter is called 'nope'"):
        sim.parameters["nope"]


@pytest.mark.parametrize("made", [lj.Simulation, lambda system: lj.Batch(system, 2)], ids=["simulation", "batch"])
def test_a_mapping_assigned_in_place_of_its_entries_is_refused(made) -> None:
    sim = made(full_model())
    kept = sim.command, sim.parameters, sim.output
    for name in ("command", "parameters"):
        first = next(iter(getattr(sim, name)))
        remedy = rf"{name} cannot be replaced. Set its entries: {name}\['{first}'\] = …, or {name}.update"
        with pytest.raises(lj.ArgumentError, match=remedy):
            setattr(sim, name, {first: 1.0})
    with pytest.raises(lj.ArgumentError, match="outputs follow from the state .* Set q, v, commands or parameters"):
        sim.output = {}
    assert all(one is other for one, other in zip((sim.command, sim.parameters, sim.output), kept))
