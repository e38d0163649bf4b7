"""Closed loops with flexible bodies, embedded and by force: dense system, minimal coordinates, steps, forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.engine.model.archive import to_bytes
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.plan import plan
from limberjack.engine.model.system import Body, Loop, Pose, System, Term
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.plant import work_sections
from tests.engine.kernels.flexible.closed import PLACES, Closed, accelerations, closed, gaps, onto, rows
from tests.engine.kernels.flexible.linkages import four_bar, parallelogram, revolute, rod, two_arms
from tests.engine.kernels.flexible.particles import random_flexible, random_state
from tests.validation.figures import figure

MIXED = [("embed",), ("force",), ("embed", "force"), ("force", "embed")]
METHODS = ["embed", "force"]


def moving(made: Closed, speed: float = 1.0) -> np.ndarray:
    """Velocities that keep the loops closed."""
    return onto(rows(made.system, lj.Dynamics(made.open), made.q), speed * made.v)


def check_accelerations(made: Closed) -> None:
    v, tau = moving(made), made.rng.normal(size=made.system.nv)
    expected = accelerations(made, v, tau)
    for methods in MIXED[: 2 if len(made.system.loops) == 1 else 4]:
        found = lj.Dynamics(made.by(*methods)).forward(made.q, v, tau)
        figure(
            "accelerations of flexible bodies in loops",
            found,
            expected,
            oracle="dense system",
            atol=1e-9 * np.abs(expected).max(),
        )


@pytest.mark.parametrize("kind", ["point", "pin", "weld"])
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_accelerations_are_those_of_the_dense_system(places, kind):
    """Bodies on nodes inside a group and outside, loops that share a flexible body; free base and ground."""
    seed = PLACES.index(places) % 2
    check_accelerations(closed(seed, places, kind, "free" if seed else "revolute"))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["point", "pin", "weld"])
@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_many_accelerations(seed, places, kind):
    check_accelerations(closed(seed, places, kind, "free" if seed % 2 else "revolute"))


@pytest.mark.parametrize("places", [PLACES[0], PLACES[6]], ids=str)
def test_minimal_coordinates(places):
    made = closed(1, places, "pin")
    dynamics, v = lj.Dynamics(made.by("embed")), moving(made)
    names = made.system.velocity_names
    minimal, independent = dynamics.minimal, [names.index(name) for name in dynamics.minimal.names(made.q)]
    X, tau = minimal.X(made.q), made.rng.normal(size=len(independent))
    figure(
        "X times independent velocities", X @ v[independent], v, oracle="the velocities", atol=1e-9 * np.abs(v).max()
    )
    if len(places) == 1:  # here hinges alone can close the loop
        assert {j for j, name in enumerate(names) if ".modes." in name} <= set(independent)
    rates = minimal.forward(made.q, v[independent], tau)
    left = minimal.mass_matrix(made.q) @ rates + minimal.bias(made.q, v[independent])
    figure("minimal equations of motion", left, tau, oracle="identity", atol=1e-9 * np.abs(rates).max())


@pytest.mark.parametrize("places", [PLACES[3], PLACES[6]], ids=str)
def test_both_methods_carry_the_same_forces(places):
    made = closed(0, places, "weld")
    v, tau = moving(made), made.rng.normal(size=made.system.nv)
    embedded, by_force = (lj.Dynamics(made.by(m)).loop_forces(made.q, v, tau) for m in METHODS)
    for name, wrench in by_force.items():
        np.testing.assert_allclose(embedded[name], wrench, rtol=0, atol=1e-8 * np.abs(wrench).max())


def coupled(kind: str) -> Closed:
    """A gear between hinges on two nodes of one flexible body, or between a hinge and a mode of it."""
    rng = np.random.default_rng(3)
    system = random_flexible(rng, 0.05).system
    q, v = random_state(system, rng, 0.03)
    places = dict(zip(system.coordinate_names, q))
    pair = {"gear": ("spin", "panel.modes.1"), "modes": ("boom.modes.1", "panel.modes.1")}[kind]
    terms = (Term(pair[0], (1.0,)), Term(pair[1], (0.5,)))
    offset = places[pair[0]] + 0.5 * places[pair[1]]
    return Closed(replace(system, loops=(Loop("gear", "coupling", terms=terms, offset=offset),)), q, v, rng)


@pytest.mark.parametrize("kind", ["gear", "modes"])
def test_couplings_of_modes(kind):
    made = coupled(kind)
    J, names = np.zeros((1, made.system.nv)), made.system.velocity_names
    for term in made.system.loops[0].terms:
        J[0, names.index(term.coordinate)] = term.factors[0]
    v, tau = onto(J, made.v), made.rng.normal(size=made.system.nv)
    free = lj.Dynamics(made.open)
    W, left = np.linalg.inv(free.mass_matrix(made.q)), tau - free.bias(made.q, v)
    expected = W @ (left - J.T @ np.linalg.solve(J @ W @ J.T, J @ W @ left))
    for method in METHODS:
        found = lj.Dynamics(at(made.by(method), made.q)).forward(made.q, v, tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def at(system: System, q: np.ndarray) -> System:
    return lj.assemble(system, q, hold=system.coordinate_names)


def stored(simulation: lj.Simulation) -> float:
    """Kinetic and potential energy, and that of the modes' springs."""
    system = simulation.system
    stiffness = [dof.stiffness for body in system.bodies for dof in body.hinge.dofs if body.hinge.modes]
    places = [i for i, name in enumerate(system.coordinate_names) if ".modes." in name]
    strain = 0.5 * np.array(stiffness) @ simulation.q[places] ** 2
    return float(sum(simulation.dynamics.energy(simulation.q, simulation.v)) + strain)


def undamped(system: System) -> System:
    bodies = [
        replace(body, hinge=replace(body.hinge, dofs=tuple(replace(dof, damping=0.0) for dof in body.hinge.dofs)))
        for body in system.bodies
    ]
    return replace(system, bodies=tuple(bodies), gravity=np.zeros(3))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("places", [PLACES[0], PLACES[4]], ids=str)
def test_steps_keep_loops_closed_energy_and_momentum(places, method):
    made = closed(0, places, "pin")
    v, drifts = moving(made, 0.3), []
    for dt in (2e-3, 1e-3):
        simulation = lj.Simulation(undamped(made.by(method)), dt=dt)
        simulation.q, simulation.v = made.q, v
        free = lj.Dynamics(undamped(made.open))
        energy, momentum = stored(simulation), free.momentum(made.q, v)
        simulation.step(round(0.3 / dt))
        moved = np.abs(free.momentum(simulation.q, simulation.v) - momentum).max()
        drifts.append((abs(stored(simulation) / energy - 1.0), moved / np.abs(momentum).max()))
        np.testing.assert_allclose(gaps(made.system, free, simulation.q), 0.0, rtol=0, atol=1e-10)
    for coarse, fine in zip(*drifts):
        assert fine < max(coarse / 11.0, 1e-11)  # fourth order: sixteen times less


def test_rigid_loops_beside_flexible_bodies():
    """What closes the velocities of a rigid loop must not feel the modes' rates elsewhere: momentum is kept."""
    system = random_flexible(np.random.default_rng(4), 0.05).system
    fingers = [Body(f"finger{i}", rod(0.3, 0.2), revolute(f"finger{i}", "base", (0.1 * i, 0, 0), 0.2)) for i in (1, 2)]
    loop = Loop("gear", "coupling", terms=(Term("finger1", (1.0,)), Term("finger2", (-1.5,))), offset=-0.1)
    system = replace(system, bodies=(*system.bodies, *fingers), loops=(replace(loop, method="embed"),))
    system = undamped(validate(system))
    simulation, rng = lj.Simulation(system, dt=5e-4), np.random.default_rng(0)
    v, names = 0.3 * rng.normal(size=system.nv), system.velocity_names
    v[names.index("finger1")] = 1.5 * v[names.index("finger2")]
    simulation.v = v
    energy, momentum = stored(simulation), simulation.dynamics.momentum(simulation.q, v)
    simulation.step(400)
    after = simulation.dynamics.momentum(simulation.q, simulation.v)
    assert stored(simulation) == pytest.approx(energy, rel=1e-8)
    np.testing.assert_allclose(after, momentum, rtol=0, atol=1e-9 * np.abs(momentum).max())


@pytest.mark.parametrize("make", [four_bar, two_arms])
def test_flexible_linkages_move_alike_by_both_methods(make):
    ends = []
    for method in METHODS:
        simulation = lj.Simulation(make(2, method=method), dt=1e-4)
        energy = stored(simulation)
        simulation.step(2000)
        assert stored(simulation) == pytest.approx(energy, rel=1e-7)
        ends.append(np.concatenate([simulation.q, simulation.v]))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-8 * np.abs(ends[1]).max())


@pytest.mark.parametrize("method", METHODS)
def test_implicit_keeps_stiff_couplers_stable(method):
    """Modes up to 3.6 kHz at steps of 1 ms, some of them dependent; the linkage turns as with small steps."""
    system = four_bar(2, "craig-bampton", method, damping=0.02)
    simulation = lj.Simulation(system, dt=1e-3, integrator="implicit")
    simulation.step(400)
    exact = lj.Simulation(system, dt=2e-5)
    exact.step(20000)
    np.testing.assert_allclose(simulation.q, exact.q, rtol=0, atol=0.05)
    assert abs(simulation.v[0] / exact.v[0] - 1.0) < 0.02


@pytest.mark.parametrize("method", METHODS)
def test_a_parallelogram_passes_its_flat_positions(method):
    """A coupler that gives along itself takes the place of the row that vanishes there."""
    simulation = lj.Simulation(parallelogram(method), dt=1e-3, integrator="implicit")
    energy = stored(simulation)
    simulation.step(1000)
    assert stored(simulation) == pytest.approx(energy, rel=1e-4)
    rocker = simulation.system.coordinate_names.index("rocker")
    assert simulation.q[0] > 6.0  # past both
    assert simulation.q[rocker] == pytest.approx(simulation.q[0], abs=1e-4)


def test_nothing_is_left_over_in_the_scratch():
    made = closed(2, PLACES[4], "pin")
    v, tau = moving(made), np.ones(made.system.nv)
    for methods in MIXED:
        dynamics = lj.Dynamics(made.by(*methods))
        first, start = dynamics.forward(made.q, v, tau), 0
        for name, count, width in work_sections(dynamics.plant.ints):
            dynamics._work[start : start + count * width] = 0.0 if name == "zeros" else np.nan
            start += count * width
        assert np.array_equal(dynamics.forward(made.q, v, tau), first)


def test_info_shows_the_modes_of_a_group(tmp_path, capsys):
    path = tmp_path / "four_bar.ljm"
    path.write_bytes(to_bytes(four_bar(4, method="embed")))
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    assert "4 modes, 43.26 … 675 Hz, 0.16848 kg  group 1" in out
    assert "node that moves with the modes  group 1" in out
    assert "degrees of freedom: 3 (7 velocities in the tree, 4 of them dependent in 1 group)" in out


def test_repeats_and_snapshots_have_the_same_bits():
    runs = []
    for _ in range(2):
        simulation = lj.Simulation(four_bar(4, method="embed"), dt=1e-4)
        simulation.step(50)
        snapshot = simulation.snapshot()
        simulation.step(50)
        runs.append(simulation.q)
        simulation.restore(snapshot)
        simulation.step(50)
        runs.append(simulation.q)
    assert all(np.array_equal(runs[0], run) for run in runs)


def test_assembly_bends_bodies_only_where_hinges_cannot_close():
    closed_by_hinges = four_bar(4)
    modes = [i for i, name in enumerate(closed_by_hinges.coordinate_names) if ".modes." in name]
    assert not closed_by_hinges.q0[modes].any()
    assert not closed_by_hinges.v0[modes].any()
    assert not closed_by_hinges.warnings
    q = closed_by_hinges.q0
    q[closed_by_hinges.coordinate_names.index("elbow")] += 0.01
    bent = lj.assemble(closed_by_hinges, q, hold=["crank", "elbow"])
    assert bent.q0[modes].any()
    assert "closes only with flexible bodies bent at the start" in bent.warnings[0]


def test_loops_with_modes_are_embedded_where_asked_for():
    for system, method, why in (
        (four_bar(2), "force", "a flexible body is in it"),
        (four_bar(20, method="embed"), "embed", "the model says so"),
    ):
        choice = plan(system, assemble(system)).loops[0].choice
        assert (choice.method, choice.why) == (method, why)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_twenty_seconds_without_drift(method):
    """Modes of 43 and 108 Hz at 1 kHz; fourth order keeps their energy as well as the linkage's."""
    simulation = lj.Simulation(four_bar(2, method=method), dt=1e-3)
    energy, dynamics = stored(simulation), simulation.dynamics
    simulation.step(20000)
    assert stored(simulation) == pytest.approx(energy, rel=1e-3)
    ends = (
        dynamics.pose("coupler.tip", simulation.q)[1],
        Pose(*dynamics.pose("rocker", simulation.q)) @ Pose(position=np.array([0.273, 0.0, 0.0])),
    )
    np.testing.assert_allclose(ends[0], ends[1].position, rtol=0, atol=1e-11)
