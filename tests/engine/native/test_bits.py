"""What C computes has the bits of `Simulation`: every quantity of models of every kind, commands and parameters set."""

from __future__ import annotations

import math
import threading
from functools import partial

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region
from limberjack.fmu.variables.listing import variables_of
from limberjack.fmu.variables.units import spelled
from tests.engine.full_model import full_model
from tests.engine.kernels.flexible.models import MODELS as FLEXIBLE
from tests.engine.native.c_model import OK, CModel, in_python
from tests.engine.native.conftest import EXAMPLES
from tests.fmu.closed_model import docking
from tests.fmu.device_model import equipped

MADE = {"full": full_model, "docking": docking, "devices": equipped, **FLEXIBLE}
MADE |= {path.stem: partial(lj.load, path) for path in sorted(EXAMPLES.glob("*.yaml"))}


def compare(model: CModel, simulation: lj.Simulation) -> None:
    expected = in_python(simulation)
    status, values = model.get(*range(len(expected)))
    assert status == OK, model.error
    assert model.names() == list(expected)
    assert values.tobytes() == np.array(list(expected.values())).tobytes()


@pytest.mark.parametrize("name", MADE)
def test_every_quantity_of_a_run(name, opened):
    system = MADE[name]()
    model, simulation, rng = opened(system), lj.Simulation(system), np.random.default_rng(5)
    compare(model, simulation)
    for round_ in range(3):
        for command in simulation.command_names:
            value = float(rng.uniform(-0.1, 0.1)) if not command.endswith(".closed") else simulation.command[command]
            simulation.command[command] = value
            assert model.assign(f"command.{command}", value) == OK
        steps = (1, 7, 20)[round_]
        simulation.step(steps)
        assert model.step(steps) == OK, model.error
        compare(model, simulation)
    assert model.call("lj_time") == simulation.time
    assert model.call("lj_dt") == simulation.dt


@pytest.mark.parametrize(("dt", "integrator", "substeps"), [(5e-4, "semi_implicit", 1), (0.002, "implicit", 3)])
def test_steps_as_they_were_compiled(opened, dt, integrator, substeps):
    system = full_model()
    options = {"dt": dt, "integrator": integrator, "substeps": substeps}
    model, simulation = opened(system, **options), lj.Simulation(system, **options)
    simulation.step(50)
    assert model.step(50) == OK
    compare(model, simulation)


def test_parameters_act(opened):
    system = full_model()
    model, simulation = opened(system), lj.Simulation(system)
    names = [name for name in simulation.parameters if name.endswith((".mass", ".damping", ".kp"))]
    for name in names:
        simulation.parameters[name] = 1.25 * simulation.parameters[name] + 0.01
        assert model.assign(f"parameter.{name}", simulation.parameters[name]) == OK, model.error
    assert len(names) > 10
    simulation.step(20)
    assert model.step(20) == OK
    compare(model, simulation)
    simulation.reset()
    assert model.call("lj_reset", 0) == OK
    compare(model, simulation)
    simulation.reset(parameters=True)
    assert model.call("lj_reset", 1) == OK
    compare(model, simulation)


@pytest.mark.parametrize("make", [full_model, docking, equipped])
def test_units(make, opened):
    system = make()
    model = opened(system)
    units = {name: model.quantity(i).unit.decode() for i, name in enumerate(model.names())}
    for number in lj.catalogue(system):
        assert number.group == "qdot" or units[number.id] == number.unit
    variables = variables_of(system, lj.Simulation(system).plant, "scalar", parameters=["*"])
    parameters = lj.Simulation(system).plant.parameters
    of_fmu = {each.offset: each.unit for each in variables if each.region is Region.PARAMETER}
    named = {name: index for name, index in parameters.items() if index in of_fmu}
    assert {name: spelled(units[f"parameter.{name}"]) for name in named} == {
        name: of_fmu[index] for name, index in named.items()
    }
    assert len(named) > 5


def test_coordinates_and_velocities_are_set(opened, arm):
    model, simulation = opened(arm), lj.Simulation(arm)
    simulation.q, simulation.v = np.linspace(-1.0, 1.0, 7), np.linspace(0.5, -0.5, 7)
    for j in range(7):
        assert model.assign(f"q.joint{j + 1}", simulation.q[j]) == OK
        assert model.assign(f"v.joint{j + 1}", simulation.v[j]) == OK
    compare(model, simulation)
    simulation.step(10)
    assert model.step(10) == OK
    compare(model, simulation)


def test_a_compiled_model_is_a_model_for_python_too(arm, tmp_path):
    path = lj.compile_model(arm, tmp_path / "arm.ljm", dt=5e-4, integrator="implicit")
    ours, again = lj.Simulation(arm, dt=5e-4, integrator="implicit"), lj.Simulation(lj.load(path))
    assert (again.dt, again.integrator) == (5e-4, "implicit")
    ours.step(10)
    again.step(10)
    assert ours.state.tobytes() == again.state.tobytes()


def test_the_same_arguments_give_the_same_file(arm, tmp_path):
    first, second = (lj.compile_model(arm, tmp_path / name) for name in ("a.ljm", "b.ljm"))
    assert first.read_bytes() == second.read_bytes()


def run(model: CModel, commands: np.ndarray, found: list[bytes]) -> None:
    places = [model.find(f"command.joint{j + 1}") for j in range(7)]
    for command in commands:
        assert model.set(places, command) == OK
        assert model.step(5) == OK
        found.append(model.get(*range(40))[1].tobytes())


def test_two_models_in_two_threads_give_the_bits_of_one(arm: System, opened):
    rng = np.random.default_rng(1)
    inputs = [rng.normal(size=(300, 7)) for _ in range(2)]
    alone: list[list[bytes]] = [[], []]
    together: list[list[bytes]] = [[], []]
    for commands, found in zip(inputs, alone):
        run(opened(arm), commands, found)
    threads = [
        threading.Thread(target=run, args=(opened(arm), commands, found)) for commands, found in zip(inputs, together)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
    assert math.prod(len(found) for found in alone) == 300**2
    assert alone[0] != alone[1]
