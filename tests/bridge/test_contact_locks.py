"""Contacts across checkpoints, snapshots and processes: equal bits, wherever a run is cut."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.checkpoint_file import Checkpoint, Resume, read_checkpoint, write_whole
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from tests.engine.contacts.scenes import FLOOR, box, free, scene, sensors, solid_box
from tests.engine.contacts.touching import bouncing, latched

SIZE = (0.4, 0.2, 0.1)


def sliding(folder):
    """A box that falls askew on a floor, slides, and sticks after 0.4 s."""
    law = "{name: c, first: floor, second: block, stiffness: 1.0e5, exponent: 1.5, dissipation: 0.5, friction: 0.4}"
    body = free("block", 2.0, solid_box(SIZE, 2.0), (0, 0, 0.08), "{vx: 1.0, wy: 0.5, wz: 2.0}")
    return scene(folder, [body], [FLOOR, box("block", SIZE)], [law], sensors("c"))


@pytest.mark.parametrize("make", [bouncing, latched, sliding])
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_a_checkpoint_in_the_middle_of_contact_goes_on_with_the_same_bits(tmp_path, make, integrator):
    """Cut in each of the steps about the first touch, where forces, laws and counts of steps begin to matter."""
    system = make(tmp_path)
    simulation = lj.Simulation(system, dt=1e-3, integrator=integrator)
    parameter = next(name for name in simulation.parameters if name.endswith(".friction"))
    simulation.parameters[parameter] = 0.3
    assert simulation.step_until("touch", most=1000) is not None
    for _ in range(4):
        write_whole(tmp_path / "c", Checkpoint.of(simulation, {parameter: 0.3}).to_bytes())
        found = Resume("c", read_checkpoint(tmp_path / "c"))
        other = lj.Simulation(system, *found.steps(None, None, 1))
        found.apply(other)
        before = simulation.snapshot()
        for each in (simulation, other):
            each.step(300)
        assert other.state.tobytes() == simulation.state.tobytes()
        assert other.output_vector.tobytes() == simulation.output_vector.tobytes()
        simulation.restore(before)
        simulation.step()


def test_an_engine_process_has_the_bits_of_a_simulation_through_contacts(tmp_path, endpoint):
    """Stepped in one request and in many, and after a snapshot of a box that slides was restored in another engine."""
    system, rows = sliding(tmp_path), {}
    local = lj.Simulation(system, dt=1e-3)
    for _ in range(60):
        local.step(10)
        rows[local.step_count] = np.concatenate([local.q, local.v, local.tau, local.output_vector]).tobytes()
    assert local.output["touching"] == 1.0
    assert local.output["slip"] < 1e-3
    with EngineProcess(system, Settings(endpoint), dt=1e-3) as engine, engine.client() as client:
        for steps in (10, 90, 150):
            state = client.step(steps)
            assert state.vector.tobytes() == rows[state.step]
        assert state.output["slip"] > 0.05
        snapshot = client.snapshot()
        assert client.step(350).vector.tobytes() == rows[600]
        assert client.status()["touches"]["c"] >= 1
    with EngineProcess(system, Settings(endpoint), dt=1e-3) as engine, engine.client() as client:
        assert client.restore(snapshot).vector.tobytes() == rows[250]
        for step in range(260, 601, 10):
            assert client.step(10).vector.tobytes() == rows[step]
