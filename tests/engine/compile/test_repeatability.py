"""Same inputs, same bits: repeat runs, snapshots, two simulations, reset."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile import sources
from limberjack.engine.tables.reports import INTEGRATORS
from tests.engine.full_model import full_model

DT = 1e-3
integrators = pytest.mark.parametrize("integrator", INTEGRATORS)


@pytest.fixture(scope="module")
def system() -> lj.System:
    return full_model()


def drive(sim: lj.Simulation, first: int, last: int) -> None:
    """Steps with commands that change every tenth step, the same for the same step numbers."""
    names = sim.command_names
    for k in range(first, last):
        if k % 10 == 0:
            sim.command[names[(k // 10) % len(names)]] = np.sin(0.37 * k)
        sim.step()


def same(a: lj.Simulation, b: lj.Simulation) -> None:
    assert np.array_equal(a.state, b.state)
    assert np.array_equal(a.output_vector, b.output_vector)
    assert np.array_equal(a.vdot, b.vdot)


@integrators
def test_repeat_runs_and_two_simulations_are_bit_equal(system, integrator):
    first, second = (lj.Simulation(system, dt=DT, integrator=integrator) for _ in range(2))
    drive(first, 0, 300)
    drive(second, 0, 300)
    assert np.all(np.isfinite(first.state))
    assert not np.array_equal(first.q, system.q0)
    same(first, second)


@integrators
def test_snapshot_and_restore_mid_run(system, integrator):
    sim = lj.Simulation(system, dt=DT, integrator=integrator)
    drive(sim, 0, 150)
    snapshot = sim.snapshot()
    drive(sim, 150, 300)
    end = sim.state
    sim.restore(snapshot)
    assert sim.step_count == 150
    drive(sim, 150, 300)
    assert np.array_equal(sim.state, end)
    other = lj.Simulation(system, dt=DT, integrator=integrator)
    drive(other, 0, 37)  # its scratch arrays hold something else
    other.restore(snapshot)
    drive(other, 150, 300)
    same(sim, other)


@integrators
def test_one_call_of_many_steps_equals_many_calls(system, integrator):
    one, many = (lj.Simulation(system, dt=DT, integrator=integrator) for _ in range(2))
    one.step(250)
    for _ in range(50):
        many.step(5)
    same(one, many)
    one.step(0)
    same(one, many)


def test_looking_at_outputs_changes_nothing(system):
    watched, alone = lj.Simulation(system, dt=DT), lj.Simulation(system, dt=DT)
    for _ in range(50):
        watched.step()
        assert np.all(np.isfinite(watched.output_vector))
        assert all(np.all(np.isfinite(value)) for value in watched.output.values())
        alone.step()
    same(watched, alone)


def test_reset_returns_to_the_first_bits(system):
    sim = lj.Simulation(system, dt=DT)
    start = sim.state
    drive(sim, 0, 100)
    first = sim.state
    sim.reset()
    assert sim.time == 0.0
    assert np.array_equal(sim.state, start)
    drive(sim, 0, 100)
    assert np.array_equal(sim.state, first)


def test_time_does_not_gather_rounding(system):
    sim = lj.Simulation(system, dt=0.1e-3)
    sim.step(3000)
    assert sim.time == 3000 * 0.1e-3
    assert sim.step_count == 3000


def test_a_snapshot_is_the_state_and_nothing_else(system):
    sim = lj.Simulation(system, dt=DT)
    sim.step(10)
    assert sim.snapshot().endswith(sim.state.tobytes())
    assert len(sim.snapshot()) < len(sim.state.tobytes()) + 100


def test_equal_models_have_equal_hashes_and_others_do_not(system):
    a, b = lj.Simulation(system), lj.Simulation(full_model())
    assert a.model_hash == b.model_hash
    b.parameters["gravity.z"] = -1.62
    assert b.model_hash == a.model_hash  # of the model as loaded
    b.restore(a.snapshot())
    drive(a, 0, 20)
    drive(b, 0, 20)
    assert not np.array_equal(a.q, b.q)


def test_dynamics_calls_do_not_depend_on_earlier_ones(system):
    """Every result is a function of its arguments, whatever the scratch arrays hold."""
    fresh, used = lj.Dynamics(system), lj.Dynamics(system)
    q, v = system.q0, system.v0
    tau = np.linspace(-1.0, 1.0, system.nv)
    used.inverse(q, 10.0 * v, tau, {"n3": np.ones(6)})
    used.jacobian("n9", q)
    used.mass_matrix(q)
    calls = (
        lambda d: d.forward(q, v, tau),
        lambda d: d.inverse(q, v, tau),
        lambda d: d.mass_matrix(q),
        lambda d: d.jacobian("n5", q),
        lambda d: d.momentum(q, v),
        lambda d: d.reaction("h4", q, v, tau),
        lambda d: d.passive(q, v),
        lambda d: d.jacobian_rate("n7", q, v),
    )
    for call in calls:
        assert np.array_equal(call(used), call(fresh))


def test_the_library_is_named_by_every_module_that_compiled_code_comes_from():
    root = Path(sources.__file__).resolve().parents[1]
    covered = {path.relative_to(root).as_posix() for path in sources.library_sources()}
    pattern = re.compile(r"^from limberjack\.engine\.?([\w.]*) import (\w+)", re.M)
    for name in sorted(name for name in covered if name.endswith(".py") and not name.startswith("compile/")):
        used = set()
        for module, first in pattern.findall((root / name).read_text()):
            place = module.replace(".", "/")
            used.add(f"{place}.py" if (root / f"{place}.py").is_file() else f"{place}/{first}.py".lstrip("/"))
        assert used <= covered, name
