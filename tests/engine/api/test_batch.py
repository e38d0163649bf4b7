"""`Batch`: each world has the bits that a `Simulation` of it has, whatever its neighbours do."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.api import batch as batches
from limberjack.engine.api import simulation as simulations
from limberjack.engine.api import world_threads
from limberjack.engine.compile.library import LibraryError, load
from limberjack.engine.compile.targets import TARGETS, host
from limberjack.engine.kernels.entry_points import entries
from tests.cases import long_only

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
N = 11  # no whole number of groups on any processor
MODELS = sorted(path.name for path in EXAMPLES.glob("*.yaml"))
#: models in which products and sums fuse another way in code for several worlds, and by how much numbers differ
FUSED_OTHERWISE: dict[str, float] = {"bicycle.yaml": 1e-30}


def worlds_of(name: str, **options):
    """A batch and as many simulations, in the same states, each with commands and velocities of its own."""
    system = lj.load(EXAMPLES / name)
    batch, sims = lj.Batch(system, N, **options), [lj.Simulation(system, **without_threads(options)) for _ in range(N)]
    rng = np.random.default_rng(3)
    if not system.loops:
        batch.v = sims[0].v + 0.05 * rng.normal(size=(N, system.nv))
        for world, sim in enumerate(sims):
            sim.v = batch.v[world]
    for command in system.command_names:
        batch.command[command] = sims[0].command[command] + 0.01 * rng.normal(size=N)
        for world, sim in enumerate(sims):
            sim.command[command] = batch.command[command][world]
    return batch, sims


def without_threads(options):
    return {name: value for name, value in options.items() if name != "threads"}


@pytest.mark.parametrize("integrator", ["rk4", *long_only(("semi_implicit", "implicit"))])
@pytest.mark.parametrize("name", MODELS)
def test_every_world_has_the_bits_that_it_has_alone(name, integrator):
    batch, sims = worlds_of(name, integrator=integrator, threads=2)
    batch.step(70)
    for sim in sims:
        sim.step(70)
    expected = np.array([sim.state for sim in sims])
    if name in FUSED_OTHERWISE:
        assert np.max(np.abs(batch.state - expected)) <= FUSED_OTHERWISE[name]
    else:
        assert np.array_equal(batch.state, expected)
    for output, values in batch.output.items():
        assert np.allclose(values, [sim.output[output] for sim in sims], rtol=0.0, atol=1e-12), output


def test_worlds_may_go_different_ways_without_leaving_their_group():
    """Stops of an arm: some worlds press against them, others do not."""
    system = lj.load(EXAMPLES / "long_arm.yaml")
    batch, sims = lj.Batch(system, N, threads=1), [lj.Simulation(system) for _ in range(N)]
    batch.v = np.linspace(-0.2, 0.2, N)[:, None] * np.ones(system.nv)
    for world, sim in enumerate(sims):
        sim.v = batch.v[world]
        sim.step(200)
    batch.step(200)
    assert np.array_equal(batch.state, [sim.state for sim in sims])


def test_a_world_that_diverges_stops_alone():
    batch, sims = worlds_of("space_manipulator.yaml", threads=1)
    v = batch.v
    v[4] = 1e9
    batch.v = v
    batch.step(50)
    for world, sim in enumerate(sims):
        if world != 4:
            sim.step(50)
            assert np.array_equal(batch.state[world], sim.state)
    assert list(batch.errors) == [4]
    assert "finite" in batch.errors[4]
    assert np.all(batch.v[4] == 1e9)
    kinetic = [lj.Simulation(batch.system).output["energy.kinetic"], batch.output["energy.kinetic"][4]]
    assert kinetic[1] > 1e15 > kinetic[0]  # of the state at which it stands, not of a neighbour
    name = mass_of(batch)
    batch.parameters[name] = batch.parameters[name] * np.linspace(0.9, 1.1, N)
    for world, sim in enumerate(sims):
        sim.parameters[name] = batch.parameters[name][world]
    batch.step(5)
    assert np.all(batch.v[4] == 1e9)
    for world in (3, 5):
        sims[world].step(5)
        assert np.array_equal(batch.state[world], sims[world].state)
    batch.reset([4])
    assert not batch.errors
    assert batch.time[4] == 0.0
    assert batch.time[3] > 0.0


def test_worlds_have_parameters_of_their_own():
    batch, sims = worlds_of("torque_arm.yaml", threads=2)
    name = next(name for name in batch.parameters if name.endswith(".mass"))
    masses = batch.parameters[name] * np.linspace(0.8, 1.2, N)
    batch.parameters[name] = masses
    for world, sim in enumerate(sims):
        sim.parameters[name] = masses[world]
        sim.step(60)
    batch.step(60)
    assert np.array_equal(batch.parameters[name], masses)
    assert np.array_equal(batch.state, [sim.state for sim in sims])


def test_forces_commands_and_chosen_numbers_are_those_of_simulations():
    batch, sims = worlds_of("torque_arm.yaml")
    batch.step(5)
    for sim in sims:
        sim.step(5)
    assert np.array_equal(batch.tau, [sim.tau for sim in sims])
    assert np.array_equal(batch.command_vector, [sim.command_vector for sim in sims])
    motion, tau, outputs = batch.read(np.array([2, 8]), np.array([0]), np.array([], dtype=int))
    assert np.array_equal(motion, [[sim.q[2], sim.v[1]] for sim in sims])
    assert np.array_equal(tau, [[sim.tau[0]] for sim in sims])
    assert outputs.shape == (N, 0)
    batch.command_vector = np.arange(7.0)
    assert np.array_equal(batch.command["joint3"], np.full(N, 2.0))
    with pytest.raises(lj.ArgumentError, match="command"):
        batch.command_vector = np.zeros((N, 6))


def test_some_worlds_are_moved():
    batch, _ = worlds_of("torque_arm.yaml")
    before, q = batch.state, np.arange(14.0).reshape(2, 7) / 10.0
    batch.move([3, 9], q=q, v=np.ones(7))
    assert np.array_equal(batch.q[[3, 9]], q)
    assert (batch.v[[3, 9]] == 1.0).all()
    others = np.delete(np.arange(N), [3, 9])
    assert np.array_equal(batch.state[others], before[others])
    with pytest.raises(lj.ArgumentError, match="q has shape"):
        batch.move([3, 9], q=np.zeros((3, 7)))
    with pytest.raises(lj.ArgumentError, match="world"):
        batch.move([N], v=np.zeros(7))


def test_snapshots_are_those_of_simulations():
    batch, sims = worlds_of("solar_satellite.yaml")
    batch.step(20)
    for sim in sims:
        sim.step(20)
    assert batch.snapshot() == [sim.snapshot() for sim in sims]
    kept, states = batch.snapshot(), batch.state
    batch.step(20)
    batch.restore(kept)
    assert np.array_equal(batch.state, states)
    with pytest.raises(lj.ArgumentError, match="world 1: .*snapshot"):
        batch.restore([kept[0], b"nothing"], [0, 1])


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("n", [N, 64])
def test_dynamics_of_many_states(n, stopped, monkeypatch):
    """Those of worlds that stopped as well, whichever thread computes them."""
    monkeypatch.setattr(world_threads, "_WORTH_WAKING", 0.0)
    system = lj.load(EXAMPLES / "space_manipulator.yaml")
    dynamics, rng, batch = lj.Dynamics(system), np.random.default_rng(1), lj.Batch(system, n, threads=2)
    if stopped:
        batch.move([1], v=np.full((1, system.nv), 1e200))
        batch.step()
    assert list(batch.errors) == [1] * stopped
    q = np.array([lj.Simulation(system).q] * n)
    v, tau = rng.normal(size=(2, n, system.nv))
    found = batch.forward_dynamics(q, v, tau), batch.inverse_dynamics(q, v, tau), batch.mass_matrix(q)
    for world in range(n):
        assert np.array_equal(found[0][world], dynamics.forward(q[world], v[world], tau[world]))
        assert np.array_equal(found[1][world], dynamics.inverse(q[world], v[world], tau[world]))
        assert np.array_equal(found[2][world], dynamics.mass_matrix(q[world]))


def test_jacobians_and_derivatives_of_many_states():
    """The bits of `Dynamics`, also of worlds whose parameters differ."""
    system, rng = lj.load(EXAMPLES / "space_manipulator.yaml"), np.random.default_rng(2)
    batch, tip = lj.Batch(system, N, threads=2), system.body_names[-1]
    q = np.array([lj.Simulation(system).q] * N)
    v, tau = rng.normal(size=(2, N, system.nv))
    heavy = next(name for name in batch.parameters if name.endswith(".mass"))
    for masses in (None, np.linspace(1.0, 2.0, N)):
        if masses is not None:
            batch.parameters[heavy] = masses * batch.parameters[heavy]
        J, forward = batch.jacobian(tip, q), batch.forward_derivatives(q, v, tau)
        inverse = batch.inverse_derivatives(q, v, tau)
        for world in range(N):
            sim = lj.Simulation(system)
            sim.parameters[heavy] = batch.parameters[heavy][world]
            dynamics = sim.dynamics
            assert np.array_equal(J[world], dynamics.jacobian(tip, q[world]))
            for ours, one in zip(forward, dynamics.forward_derivatives(q[world], v[world], tau[world]), strict=True):
                assert np.array_equal(ours[world], one)
            for ours, one in zip(inverse, dynamics.inverse_derivatives(q[world], v[world], tau[world]), strict=True):
                assert np.array_equal(ours[world], one)


def test_derivatives_of_models_that_have_none_are_refused():
    flexible, closed = (lj.Batch(lj.load(EXAMPLES / f"{name}.yaml"), 2) for name in ("solar_satellite", "four_bar"))
    with pytest.raises(lj.ArgumentError, match="flexible"):
        flexible.forward_derivatives(
            *(np.zeros(k) for k in (flexible.system.nq, flexible.system.nv, flexible.system.nv))
        )
    with pytest.raises(lj.ArgumentError, match="closed loops"):
        closed.forward_derivatives(closed.q, closed.v, closed.v)
    with pytest.raises(lj.ArgumentError, match="body or node"):
        closed.jacobian("nowhere", closed.q)


def test_each_world_waits_for_its_event():
    system = lj.load(EXAMPLES / "torque_arm.yaml")
    batch = lj.Batch(system, N)
    ends = np.arange(N) * 3
    taken = batch.step_until(lambda worlds: worlds.step_count >= ends, most=20)
    assert np.array_equal(taken, np.where(ends <= 20, ends, -1))
    assert np.array_equal(batch.step_count, np.minimum(ends, 20))


def test_equal_worlds_have_equal_bits_with_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(world_threads, "_WORTH_WAKING", 0.0)
    states = []
    for threads in (1, 2, 3):
        batch, _ = worlds_of("four_bar.yaml", threads=threads)
        batch.step(40)
        states.append(batch.state)
    assert np.array_equal(states[0], states[1])
    assert np.array_equal(states[0], states[2])


@pytest.mark.parametrize("copied", [lambda batch: pickle.loads(pickle.dumps(batch)), copy.deepcopy])
@pytest.mark.parametrize("name", ["four_bar.yaml", "lander.yaml", "solar_satellite.yaml", "torque_arm.yaml"])
def test_a_copy_goes_on_with_equal_bits(name, copied):
    """States, parameters that differ, and worlds that stopped, which a reset starts again."""
    batch, _ = worlds_of(name)
    parameter = next(each for each in batch.parameters if each.endswith(".mass"))
    batch.parameters[parameter] = batch.parameters[parameter] * np.linspace(1.0, 1.2, N)
    batch.step(3)
    batch.take(batch.state, {4: "a reason"})
    other = copied(batch)
    for each in (batch, other):
        each.step(5)
    assert np.array_equal(batch.state, other.state)
    assert batch.step_count.tolist() == [3 if world == 4 else 8 for world in range(N)]
    assert other.errors == {4: "a reason"}
    for each in (batch, other):
        each.reset([4])
        each.step(5)
    assert np.array_equal(batch.state, other.state)
    assert np.array_equal(batch.parameters[parameter], other.parameters[parameter])


def test_threads_take_turns_at_a_batch():
    batch, _ = worlds_of("torque_arm.yaml", threads=2)

    def steps() -> None:
        for _ in range(50):
            batch.step(3)
            assert np.isfinite(batch.vdot).all()

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(steps) for _ in range(3)]:
            done.result()
    alone, _ = worlds_of("torque_arm.yaml", threads=1)
    alone.step(450)
    assert np.array_equal(batch.state, alone.state)


def test_bad_input_is_refused_with_the_world():
    system = lj.load(EXAMPLES / "torque_arm.yaml")
    batch = lj.Batch(system, 3)
    before = batch.state
    for wrong, words in (
        (lambda: lj.Batch(system, 0), "number of worlds"),
        (lambda: setattr(batch, "v", np.zeros((2, system.nv))), "shape"),
        (lambda: setattr(batch, "v", np.full((3, system.nv), np.nan)), "finite"),
        (lambda: batch.command.__setitem__("no such", 1.0), "no such"),
        (lambda: batch.parameters.__setitem__(mass_of(batch), [1.0, -1.0, 1.0]), "world 1"),
        (lambda: batch.reset([3]), "world"),
        (lambda: batch.step(-1), "number of steps"),
    ):
        with pytest.raises(lj.ArgumentError, match=words):
            wrong()
    assert np.array_equal(batch.state, before)
    assert np.all(batch.parameters[mass_of(batch)] == lj.Simulation(system).parameters[mass_of(batch)])


def test_values_that_are_no_arrays_of_numbers_are_refused():
    system = lj.load(EXAMPLES / "torque_arm.yaml")
    batch = lj.Batch(system, 3)
    for wrong in ("heavy", [1.0, [2.0]], [1.0, 2.0], [1.0, np.nan, 1.0]):
        with pytest.raises(lj.ArgumentError):
            batch.parameters[mass_of(batch)] = wrong
    assert batch.floats is None  # worlds still share the model's constants
    with pytest.raises(lj.ArgumentError, match="numbers of shape"):
        batch.v = [[1.0], [1.0, 2.0]]
    with pytest.raises(lj.ArgumentError, match="twice"):
        batch.restore(batch.snapshot([0, 1]), [2, 2])


def test_quaternions_of_many_states_are_checked():
    system = lj.load(EXAMPLES / "solar_satellite.yaml")
    batch, zero = lj.Batch(system, 3), np.zeros(system.nv)
    q = batch.q
    q[1] *= 2.0
    for wrong in (
        lambda: batch.forward_dynamics(q, zero, zero),
        lambda: batch.inverse_dynamics(q, zero, zero),
        lambda: batch.mass_matrix(q),
        lambda: setattr(batch, "q", q),
    ):
        with pytest.raises(lj.ArgumentError, match="world 1: the quaternion"):
            wrong()


def test_an_event_that_fails_leaves_no_world_waiting():
    system = lj.load(EXAMPLES / "torque_arm.yaml")
    batch, sim = lj.Batch(system, N), lj.Simulation(system)

    def failing(worlds):
        if worlds.step_count.max() == 2:
            raise RuntimeError("the event failed")
        return np.arange(N) < 4

    with pytest.raises(RuntimeError, match="the event failed"):
        batch.step_until(failing, 9)
    for wrong in (True, np.ones(2, dtype=bool), np.full(N, np.nan)):
        with pytest.raises(lj.ArgumentError, match="of bool"):
            batch.step_until(lambda _, wrong=wrong: wrong, 2)
    batch.step(3)
    assert np.array_equal(batch.step_count, np.where(np.arange(N) < 4, 3, 5))
    sim.step(3)
    assert np.array_equal(batch.state[0], sim.state)
    sim.step(2)
    assert np.array_equal(batch.state[N - 1], sim.state)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_steps_with_threads_of_its_own():
    batch, sims = worlds_of("torque_arm.yaml", threads=2)
    batch.step(1)
    sims[5].step(2)
    receiver, sender = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: (batch.step(1), sender.send(batch.state)))
    child.start()
    try:
        assert receiver.poll(60.0), "the fork did not step"
        assert np.array_equal(receiver.recv()[5], sims[5].state)
    finally:
        child.kill()
        child.join()
    assert np.all(batch.step_count == 1)


def mass_of(batch) -> str:
    return next(name for name in batch.parameters if name.endswith(".mass"))


def test_a_step_of_a_batch_is_one_call_for_each_thread():
    """Worlds that agree are never taken alone."""
    batch, _ = worlds_of("space_manipulator.yaml", threads=1)
    alone = []
    batch._advance._alone = lambda *given: alone.append(given)
    batch.step(10)
    assert not alone
    assert entries().width > 1


@pytest.mark.parametrize("name", MODELS)
def test_steps_keep_no_memory(name):
    system = lj.load(EXAMPLES / name)
    for threads in (1, 2):
        batch = lj.Batch(system, 4 * entries().width, threads=threads)
        batch.step(2)
        tracemalloc.start()
        try:
            batch.step()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(100):
                batch.step()
            grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
        assert grown < 2048, f"{grown} bytes in 100 steps with {threads} threads"


def _levels() -> list[str]:
    """Those of this platform, but for the one that all tests run."""
    return [level for level in TARGETS[host()].processors if level != entries().level]


@pytest.mark.parametrize("level", _levels())
@pytest.mark.parametrize("name", ["space_manipulator.yaml", "long_arm.yaml", "four_bar.yaml", "cassini.yaml"])
def test_code_of_every_level_gives_the_bits_of_one_world(name, level, monkeypatch):
    try:
        library = load(level=level)
    except LibraryError as error:
        pytest.skip(str(error))
    for module in (batches, simulations):
        monkeypatch.setattr(module, "entries", lambda: library)
    batch, sims = worlds_of(name, threads=1)
    assert batch.width == TARGETS[host()].worlds[level]
    batch.step(40)
    for sim in sims:
        sim.step(40)
    assert np.array_equal(batch.state, [sim.state for sim in sims])
