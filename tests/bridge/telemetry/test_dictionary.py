"""The dictionary of random models: every number of the wire once, ranges that hold, alarms that are right."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.description import describe
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.dictionary import GROUPS, Quantity, dictionary_of
from limberjack.bridge.telemetry.identifiers import original_name, safe_name, upper_names
from limberjack.hil.signals import Signals
from tests.bridge.telemetry.random_models import random_model

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="module", params=range(6))
def simulation(request):
    return lj.Simulation(random_model(request.param))


def test_every_number_of_the_wire_is_there_once_and_in_order(simulation):
    dictionary, reported = dictionary_of(simulation), describe(simulation, Settings())["names"]
    ids = [quantity.id for quantity in dictionary]
    groups = {"q": "q", "v": "v", "tau": "tau", "output": "outputs", "command": "command"}
    for group, part in groups.items():
        named = [f"{group}.{each}" for each in reported["names"][part]]
        assert ids[dictionary.groups.get(group, slice(0, 0))] == named
        units = [quantity.unit or "1" for quantity in dictionary.quantities[dictionary.groups.get(group, slice(0, 0))]]
        assert units == [unit or "1" for unit in reported["units"][part]]
    assert ids[: len(Signals(simulation).names)] == list(Signals(simulation).names)
    assert list(dictionary.groups) == [group for group in GROUPS if group in dictionary.groups]
    assert all(quantity.description for quantity in dictionary)


def test_no_two_quantities_are_alike_in_any_format(simulation):
    ids = [quantity.id for quantity in dictionary_of(simulation)]
    safe = [safe_name(id) for id in ids]
    assert len(set(ids)) == len(set(safe)) == len(set(upper_names(ids))) == len(ids)
    assert [original_name(each) for each in safe] == ids


def test_forces_and_readings_stay_in_their_ranges_whatever_is_commanded(simulation):
    dictionary, rng = dictionary_of(simulation), np.random.default_rng(1)
    simulation.reset()
    soft = {f"output.{each.name}" for each in simulation.system.sensors if each.type == "position" and not each.errors}
    hard = (q for q in dictionary if q.group in ("tau", "output") and q.id not in soft)  # stops of hinges are springs
    bounded = {quantity.id: quantity for quantity in hard if math.isfinite(quantity.high)}
    assert bounded
    for _ in range(20):
        simulation.command_vector = rng.normal(scale=50.0, size=len(simulation.command_names))
        simulation.step(5)
        values = dict(zip([f"tau.{each}" for each in simulation.system.velocity_names], simulation.tau, strict=True))
        values |= {f"output.{name}": value for name, value in zip(simulation.output_names, simulation.output_vector)}
        for id, quantity in bounded.items():
            assert quantity.low - 1e-12 <= values[id] <= quantity.high + 1e-12, id


def test_ranges_of_commands_are_the_limits_of_what_takes_them(simulation):
    dictionary = dictionary_of(simulation)
    for drive in simulation.system.actuators:
        force = dictionary[f"command.{drive.name}" + (".torque" if drive.mode != "torque" else "")]
        assert (force.low, force.high) == (-drive.limit, drive.limit)
    assert (dictionary["command.jet"].low, dictionary["command.jet"].high) == (0.0, 0.5)


def test_alarms_reach_the_quantities_and_no_others(simulation):
    for quantity in dictionary_of(simulation):
        if quantity.group == "q":
            assert (quantity.warning, quantity.critical) == ((-1.0, 1.0), (-math.inf, 2.0))
            assert [quantity.severity(value) for value in (-1.0, -1.1, 2.0, 2.1, 0.0)] == [0, 1, 1, 2, 0]
        elif quantity.group != "engine":
            assert [quantity.severity(value) for value in (-1e300, 0.0, 1e300)] == [0, 0, 0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_critical_with_and_without_limits(value):
    plain = Quantity("q.a", "q", "rad", "coordinate a")
    assert plain.severity(value) == 2
    assert replace(plain, warning=(-1.0, 1.0)).severity(value) == 2


def test_times_of_frames_may_lack_without_an_alarm_and_nothing_else_may(simulation):
    lacking = {quantity.id for quantity in dictionary_of(simulation) if quantity.severity(math.nan) == 0}
    assert lacking == {"engine.frame_p50", "engine.frame_p99"}
    assert all(dictionary_of(simulation)[id].severity(math.inf) == 2 for id in lacking)


def test_an_engine_that_stands_is_critical(simulation):
    running = dictionary_of(simulation)["engine.running"]
    assert (running.severity(1.0), running.severity(0.0)) == (0, 2)


def test_an_unknown_quantity_is_refused_with_the_nearest(simulation):
    with pytest.raises(lj.LimberjackError, match=r"no quantity is called 'energy.totl'; did you mean 'energy.total'"):
        dictionary_of(simulation)["energy.totl"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_all_numbers_of_all_examples_are_described(path):
    assert all(quantity.description for quantity in dictionary_of(lj.Simulation(lj.load(path))))


def test_commands_of_external_forces_say_what_they_ask_for():
    dictionary = dictionary_of(lj.Simulation(lj.load(EXAMPLES / "docking" / "docking.yaml")))
    said = {quantity.id: quantity.description for quantity in dictionary}
    assert said["command.thrust.fx"] == "commanded fx of external force 'thrust'"
