"""What holds for every kind of shape: equal bits wherever a run is cut or computed, loads, momentum, energy."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from tests.engine.contacts.heaps import heap
from tests.validation.figures import figure

LAWS = ["friction: 0.4, restitution: 0.2", "stiffness: 5.0e4, dissipation: 0.5, friction: 0.4"]
SEEDS = [0, 1, 2]


def step_until_touching(simulation: lj.Simulation) -> None:
    for _ in range(2000):
        simulation.step()
        if simulation.output["ground_touching"] or simulation.output["mutual_touching"]:
            return
    raise AssertionError("nothing touched in 2000 steps")


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_snapshot_taken_while_touching_continues_with_equal_bits(tmp_path, seed, law, integrator):
    simulation = lj.Simulation(heap(tmp_path, seed, law=law), integrator=integrator)
    for _ in range(5):
        step_until_touching(simulation)
        kept, ends = simulation.snapshot(), []
        for _ in range(2):
            simulation.restore(kept)
            simulation.step(60)
            ends.append(simulation.state.tobytes() + simulation.output_vector.tobytes())
        assert ends[0] == ends[1]
        assert np.isfinite(simulation.output_vector).all()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", SEEDS)
def test_worlds_have_the_bits_that_they_have_alone(tmp_path, seed, law):
    system = heap(tmp_path, seed, law=law)
    batch, random = lj.Batch(system, 5), np.random.default_rng(seed)
    v = system.v0 + random.normal(0.0, 0.2, (5, system.nv))
    batch.v = v
    batch.step(500)
    for world in range(5):
        alone = lj.Simulation(system)
        alone.v = v[world]
        alone.step(500)
        assert np.array_equal(batch.state[world], alone.state)


@pytest.mark.parametrize("law", LAWS)
def test_an_engine_process_has_the_bits_of_a_simulation(tmp_path, endpoint, law):
    system = heap(tmp_path, 3, law=law)
    local = lj.Simulation(system, dt=1e-3)
    with EngineProcess(system, Settings(endpoint), dt=1e-3) as engine, engine.client() as client:
        for steps in (150, 1, 99, 250):
            state = client.step(steps)
            local.step(steps)
            rows = np.concatenate([local.q, local.v, local.tau, local.output_vector])
            assert state.vector.tobytes() == rows.tobytes()
    assert local.output["ground_touching"] == 1.0


@pytest.mark.parametrize("law", LAWS, ids=["nearly rigid", "compliant"])
@pytest.mark.parametrize("seed", [0, 1, 12, 15, 24])
def test_momentum_is_kept_and_no_energy_added_in_free_space(tmp_path, seed, law):
    """Also where points of a compliant contact change in a collision: one that begins deep has nothing to give."""
    system = heap(tmp_path, seed, "gravity: [0, 0, 0]\n", law=law)
    simulation = lj.Simulation(system, dt=2e-4)
    q, v = simulation.q.reshape(-1, 7), simulation.v.reshape(-1, 6)
    q[:, 6] = 20.0 + 2.0 * q[:, 6]  # far over the ground, and apart
    v[:, 3:] = -1.5 * (q[:, 4:] - q[:, 4:].mean(axis=0))
    simulation.q, simulation.v = q.ravel(), v.ravel()
    start, touching, impacts = simulation.survey(), False, 0
    energy, gained = start[2], 0.0
    for _ in range(3000):
        simulation.step()
        now = simulation.output["mutual_touching"] > 0.5
        impacts += now and not touching
        touching = now
        if not now:
            total = simulation.survey()[2]
            gained, energy = max(gained, total / energy - 1.0), total
    assert impacts >= 3
    assert simulation.output["ground_touching"] == 0.0
    figure("energy that a collision adds", gained, oracle="of the energy before", below=1e-9)
    change = np.abs(simulation.survey() - start)
    figure("change of angular momentum", change[3:6].max(), unit="N·m·s", oracle="conservation", below=2e-8)
    figure("change of linear momentum", change[6:9].max(), unit="N·s", oracle="conservation", below=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ground_bears_the_weight_of_all(tmp_path, seed):
    """Impulse: the ground's and the funnel's mean forces over a run are the weight and the change of momentum."""
    simulation = lj.Simulation(heap(tmp_path, seed), dt=5e-4)
    before, borne, steps = simulation.survey()[6:9], np.zeros(3), 1600
    for _ in range(steps):
        simulation.step()
        borne += simulation.dt * (simulation.output["ground_force"] + simulation.output["throat_force"])
    masses = sum(body.inertia.mass for body in simulation.system.bodies)
    weight = np.array([0.0, 0.0, 9.80665]) * masses * steps * simulation.dt
    figure(
        "impulse of all", borne, simulation.survey()[6:9] - before + weight, unit="N·s", oracle="momentum", atol=1e-8
    )
