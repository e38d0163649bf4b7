"""The catalogue: every number of a model once, and each where it says; values come from other ways to them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby

import numpy as np
import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.model.catalogue.catalogue import GROUPS, SIGNALS, catalogue, units
from limberjack.engine.model.catalogue.number import Number
from limberjack.engine.model.catalogue.parameters import parameters
from limberjack.engine.tables.measures import MEASURES, RATES
from limberjack.hil.signals import Signals
from tests.bridge.telemetry.random_models import random_model
from tests.engine.full_model import full_model
from tests.engine.kernels.flexible.models import boom
from tests.fmu.closed_model import docking
from tests.fmu.device_model import ELASTIC, equipped

MODELS = {"full": full_model, "equipped": equipped, "docking": docking, "boom": boom, "random": lambda: random_model(3)}


@pytest.fixture(scope="module", params=MODELS)
def simulation(request):
    """A simulation that has moved for a while under commands."""
    running, rng = lj.Simulation(MODELS[request.param]()), np.random.default_rng(2)
    for name in running.command:
        running.command[name] = 1.0 if name.endswith(".closed") else running.command[name] + rng.uniform(0.0, 0.2)
    running.step(40)
    return running


def value(simulation: lj.Simulation, number: Number) -> float:
    """What stands where the catalogue says."""
    vectors = {"tau": "tau", "vdot": "vdot", "output": "output_vector"}
    if number.vector in vectors:
        return float(getattr(simulation, vectors[number.vector])[number.place])
    return float((simulation.survey() if number.vector == "survey" else simulation.part(number.vector))[number.place])


def values(simulation: lj.Simulation, group: str) -> dict[str, float]:
    return {number.name: value(simulation, number) for number in catalogue(simulation.system, group)}


def test_no_number_is_there_twice_and_vectors_stand_together(simulation):
    listed = catalogue(simulation.system)
    assert len({number.id for number in listed}) == len(listed)
    assert max(Counter((number.vector, number.place) for number in listed).values()) == 1
    vectors = [tuple(run) for _, run in groupby(listed, key=lambda number: (number.group, number.path))]
    assert len({(vector[0].group, vector[0].path) for vector in vectors}) == len(vectors)
    for first, *rest in vectors:
        for i, number in enumerate(rest, 1):
            assert (number.vector, number.place) == (first.vector, first.place + i)
            assert (number.measure, number.text, number.element) == (first.measure, first.text, first.element)
            assert first.component != number.component != ""


def test_names_are_those_of_the_system_in_its_order(simulation):
    system = simulation.system
    names = {group: tuple(number.name for number in catalogue(system, group)) for group in GROUPS}
    assert names["q"] == names["qdot"] == system.coordinate_names
    assert names["v"] == names["tau"] == names["vdot"] == system.velocity_names
    assert names["output"] == system.output_names == simulation.output_names
    assert names["command"] == system.command_names
    for group in ("q", "v", "command", "output"):
        assert [number.place for number in catalogue(system, group)] == list(range(len(names[group])))


def test_first_values_are_those_of_a_new_simulation(simulation):
    fresh = lj.Simulation(simulation.system)
    for number in catalogue(simulation.system, "q", "v", "command"):
        assert number.start == fresh.part(number.vector)[number.place]


def test_nodes_energies_and_momenta_are_where_it_says(simulation):
    dynamics, q, v = simulation.dynamics, simulation.q, simulation.v
    found = values(simulation, "node")
    for node in simulation.system.node_names:

        def part(leaf: str, axes: str, node: str = node) -> np.ndarray:
            return np.array([found[f"{node}.{leaf}.{axis}"] for axis in axes])

        R, p = dynamics.pose(node, q)
        np.testing.assert_allclose(from_quaternion(part("orientation", "wxyz")), R, atol=1e-12)
        np.testing.assert_allclose(part("position", "xyz"), p, atol=1e-12)
        moved = np.concatenate([part("angular_velocity", "xyz"), part("linear_velocity", "xyz")])
        np.testing.assert_allclose(moved, dynamics.velocity(node, q, v), atol=1e-11)
    energy, strain = values(simulation, "energy"), sum(dynamics.strain_energy(q).values())
    kinetic, potential = dynamics.energy(q, v)
    expected = {"kinetic": kinetic, "potential": potential, "strain": strain, "total": kinetic + potential + strain}
    assert energy == pytest.approx(expected, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(list(values(simulation, "momentum").values()), dynamics.momentum(q, v), atol=1e-10)


def test_states_of_loops_and_devices_are_where_it_says(simulation):
    system, states = simulation.system, values(simulation, "loop") | values(simulation, "device")
    expected: dict[str, float] = {}
    for loop in system.loops:
        if loop.switchable:
            expected[f"{loop.name}.is_closed"] = float(simulation.closed(loop.name))
            expected[f"{loop.name}.energy_loss"] = simulation.impacts[loop.name]
    for sensor in system.sensors:  # ideal ones that read a state
        if sensor.type == "motor_current" and not sensor.errors:
            expected[f"{sensor.target}.current"] = simulation.output[sensor.name]
        if sensor.type == "thrust" and f"{sensor.target}.thrust" in states:
            expected[f"{sensor.target}.thrust"] = simulation.output[sensor.name]
        if sensor.name == "rotor":
            expected[f"{sensor.target}.rotor_position"] = simulation.output["rotor"] / ELASTIC.gear
    assert {name: states[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    assert len([name for name in states if name.endswith(".is_closed")]) == sum(
        loop.switchable for loop in system.loops
    )


def test_parameters_are_where_it_says_and_keep_their_ranges(simulation):
    listed = {each.name: each for each in parameters(simulation.system)}
    assert set(simulation.parameters) <= set(listed)
    masses = {body.name: body.inertia.mass for body in simulation.system.bodies}
    for name in simulation.parameters:
        each, now = listed[name], simulation.parameters[name]
        assert each.measure in (*MEASURES, "")
        assert each.low <= now or now == each.endless
        if each.owner:
            assert now == masses[each.owner]
        if each.low == 0.0:
            with pytest.raises(lj.ArgumentError, match=re.escape(f"parameter '{name}' must")):
                simulation.parameters[name] = -1.0
            assert simulation.parameters[name] == now


def test_what_a_slider_does_is_not_an_angle():
    measures = {number.name: number.measure for number in catalogue(equipped(), "device")}
    assert measures["slide drive.rotor_position"] == "Distance"
    assert measures["slide drive.rotor_rate"] == "Velocity"
    assert "elbow drive.rotor_position" not in measures  # its gear is stiff


def test_rates_have_the_units_of_what_they_are_the_rates_of(simulation):
    system = simulation.system
    per = {"": "", "1": "1/s", "rad": "rad/s", "m": "m/s", "rad/s": "rad/s²", "m/s": "m/s²"}
    assert units(system, "qdot") == tuple(per[unit] for unit in units(system, "q"))
    assert units(system, "vdot") == tuple(per[unit] for unit in units(system, "v"))
    assert set(RATES) - {""} <= set(MEASURES)


def test_groups_are_chosen_in_the_order_asked_for():
    system = docking()
    both = lj.catalogue(system, "command", "time")
    assert [number.id for number in both] == [*(f"command.{name}" for name in system.command_names), "time"]
    with pytest.raises(lj.UnknownNameError, match="'outputs'.*did you mean 'output'"):
        lj.catalogue(system, "outputs")
    with pytest.raises(lj.ArgumentError, match="a System is needed"):
        lj.catalogue("arm.yaml")


def listed(capsys, monkeypatch, system: lj.System, option: str) -> dict[str, list[str]]:
    """The cells behind each name of a list of `limberjack info`; names may have spaces, columns two at least."""
    monkeypatch.setattr("limberjack.commands.info.load", lambda *_, **__: system)
    assert main(["info", "m.yaml", option]) == 0
    rows = [re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines()[4:]]
    return {row[0]: row[1:] for row in rows if len(row) > 1}


@pytest.mark.parametrize("model", MODELS)
def test_info_lists_every_signal_with_its_unit_and_meaning(model, capsys, monkeypatch):
    system = MODELS[model]()
    found = listed(capsys, monkeypatch, system, "--signals")
    numbers = catalogue(system, *SIGNALS)
    assert list(found) == [number.id for number in numbers]
    for number in numbers:
        assert (found[number.id][0], found[number.id][-1]) == (number.unit or "-", number.text)
    bench = Signals(lj.Simulation(system))
    assert set(bench.names) <= set(found)
    assert [found[name][0] for name in bench.names] == [unit or "-" for unit in bench.units]


@pytest.mark.parametrize("model", MODELS)
def test_info_lists_every_parameter_with_its_value(model, capsys, monkeypatch):
    simulation = lj.Simulation(MODELS[model]())
    found = listed(capsys, monkeypatch, simulation.system, "--parameters")
    assert list(found) == list(simulation.parameters)
    assert {name: row[1] for name, row in found.items()} == {n: f"{x:g}" for n, x in simulation.parameters.items()}
    assert found["gravity.x"][0] == "m/s²"
    assert all(row[2] for row in found.values())
    assert {name for name, row in found.items() if name.startswith("body.") and row[0] != "kg"} == set()
