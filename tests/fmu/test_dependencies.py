"""Dependencies of the model structure against the real engine: what is not listed must have no effect."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.build import build, new_state
from limberjack.engine.model.elements.bushing import Bushing
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.external_force import ExternalForce
from limberjack.engine.model.elements.magnetic_field import MagneticField
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.spring import Spring
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, System
from limberjack.engine.model.validate import validate
from limberjack.engine.native.plant_file import Region
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from limberjack.fmu.variables.dependencies import dependencies_of
from limberjack.fmu.variables.listing import variables_of
from limberjack.fmu.variables.variable import Variable
from tests.engine.full_model import full_model
from tests.engine.kernels.flexible.models import MODELS as FLEXIBLE
from tests.engine.kernels.flexible.particles import random_state as flexible_state
from tests.engine.random_systems import MOVING, random_state, random_system
from tests.fmu.device_model import equipped

EVERYTHING = {"inputs": ["*"], "outputs": ["*"], "parameters": ["*"]}
#: changes below this part of a number's size are rounding
ROUNDING = 1e-9


def some_dofs(body: Body, rng: np.random.Generator) -> Body:
    """Springs, dampers, friction, stops and armature on some of the velocities."""
    hinge = body.hinge
    q = hinge.q0 if not hinge.kind.quasi else np.zeros(hinge.nv)

    def number(low: float, high: float) -> float:
        return float(rng.choice([0.0, rng.uniform(low, high)]))

    def one(i: int) -> Dof:
        dof = Dof(damping=number(0.1, 0.5), friction=number(0.1, 0.5), friction_rate=2.0, armature=number(0.1, 0.5))
        if hinge.kind.quasi or rng.random() < 0.5:
            return dof
        stops = {"lower": q[i] - 0.1, "upper": q[i] + 0.1} if rng.random() < 0.5 else {}
        return replace(dof, stiffness=number(1.0, 3.0), rest=float(q[i] + 0.2), **stops)

    return replace(body, hinge=replace(hinge, dofs=tuple(one(i) for i in range(hinge.nv))))


def some_drives(system: System, rng: np.random.Generator) -> list[Actuator]:
    """Drives of every mode on some velocities; now and then two on one."""
    quasi = {name for body in system.bodies if body.hinge.kind.quasi for name in body.hinge.velocity_names}
    drives: list[Actuator] = []
    for name in system.velocity_names:
        for _ in range(int(rng.choice([0, 1, 2], p=[0.5, 0.4, 0.1]))):
            mode = str(rng.choice(["torque", "velocity"] if name in quasi else ["torque", "velocity", "servo"]))
            gains = {"kp": 3.0 if mode == "servo" else 0.0, "kd": 0.0 if mode == "torque" else 1.0}
            limit = float(rng.choice([2.0, 20.0, np.inf]))
            drives.append(Actuator(f"d{len(drives)}", name, mode, **gains, limit=limit, initial=float(rng.normal())))
    return drives


def driven_tree(seed: int) -> System:
    """Three trees or more, some on unmerged parts of the ground, with forces, drives and a sensor of every type."""
    rng = np.random.default_rng(seed)
    types = ["fixed", *rng.choice([*MOVING, "fixed"], 8)]
    parents = [None, 0, None, *(int(rng.integers(0, i)) if rng.random() < 0.8 else None for i in range(3, 9))]
    merge = bool(rng.random() < 0.3)
    system = random_system(types, rng, parents=parents, merge=merge, gravity=np.zeros(3) if seed % 3 == 0 else None)
    system = replace(system, bodies=tuple(some_dofs(body, rng) for body in system.bodies))
    targets = {
        "coordinate": system.coordinate_names,
        "velocity": system.velocity_names,
        "node": system.node_names,
        "hinge": [b.hinge.name for b in system.bodies if b.hinge.type != "fixed" or not merge],
    }
    sensors = [
        Sensor(f"{name} {i}", name, str(rng.choice(targets[kind.target])))
        for name, kind in SENSOR_TYPES.items()
        for i in range(2)
        if len(targets.get(kind.target, ()))
    ]
    drives = some_drives(system, rng)
    return validate(replace(system, actuators=tuple(drives), sensors=tuple(sensors)))


@dataclass
class Model:
    """A model whose every number can be set and read through its variables."""

    plant: Plant
    state: np.ndarray

    def at(self, variable: Variable) -> tuple[np.ndarray, int]:
        """The vector that a known lives in, and its place there."""
        nq, nv = (self.plant.count(c) for c in (layout.C_Q, layout.C_V))
        first = {Region.Q: layout.S_Q, Region.V: layout.S_Q + nq, Region.COMMAND: layout.S_Q + nq + nv}
        if variable.region is Region.PARAMETER:
            return self.plant.floats, variable.offset
        return self.state, first[variable.region] + variable.offset

    def numbers(self, raw: bool) -> dict[Region, np.ndarray]:
        """Every computed vector; with `raw`, only the rates, of quaternions as they are."""
        plant, state = self.plant, self.state.copy()
        nq, nv = (plant.count(c) for c in (layout.C_Q, layout.C_V))
        q, v = state[layout.S_Q :][:nq].copy(), state[layout.S_Q + nq :][:nv].copy()
        entries().refresh(plant.ints, plant.floats)
        rates = np.empty(nq)
        entries().rates(plant.ints, plant.floats, state, rates)
        if raw:
            return {Region.Q: q, Region.V: v, Region.RATE: rates}
        entries().normalise(plant.ints, plant.floats, state)
        tau, vdot, out = np.empty(nv), np.empty(nv), np.empty(plant.count(layout.C_OUTPUTS))
        entries().observe(plant.ints, plant.floats, plant.new_work(), state, tau, vdot, out)
        surveyed, switched = np.empty(plant.surveyed_size), np.empty(plant.switches_size)
        entries().survey(plant.ints, plant.floats, plant.new_work(), state, surveyed)
        entries().switches(plant.ints, plant.floats, state, switched)
        return {
            Region.Q: q,
            Region.V: v,
            Region.RATE: rates,
            Region.OBSERVED: np.concatenate([tau, vdot, out]),
            Region.SURVEYED: surveyed,
            Region.SWITCH: switched,
        }


def effects(system: System, variables: list[Variable], seed: int, rounds: int = 2, size: float = 1.0) -> np.ndarray:
    """Whether unknown i moves when known j does (variables, variables), tried at several states; size: of changes."""
    rng = np.random.default_rng(seed)
    found = np.zeros((len(variables), len(variables)), dtype=bool)
    knowns = [j for j, x in enumerate(variables) if x.is_state or x.causality in ("input", "parameter")]
    for _ in range(rounds):
        model = Model(build(system), new_state(build(system), system))
        q, v = flexible_state(system, rng, 0.003) if system.flexible_names else random_state(system, rng)
        model.state[layout.S_Q : layout.S_Q + system.nq + system.nv] = np.concatenate([q, v])
        model.state[layout.S_Q + system.nq + system.nv :] += rng.normal(size=len(system.command_names))
        before = values(variables, model.numbers(False))
        for j in knowns:
            vector, place = model.at(variables[j])
            kept = vector[place]
            for change in (0.37 * size, -0.23 * size):
                vector[place] = kept + change * (1.0 + abs(kept) * (variables[j].region is not Region.Q))
                if vector[place] >= variables[j].minimum:
                    after = values(variables, model.numbers(False))
                    found[:, j] |= np.abs(after - before) > ROUNDING * (1.0 + np.abs(before) + np.abs(after))
            vector[place] = kept
    return found


def values(variables: list[Variable], numbers: dict[Region, np.ndarray]) -> np.ndarray:
    """The number of every scalar variable; 0 for those that are not computed."""
    return np.array([numbers[x.region][x.offset] if x.region in numbers else 0.0 for x in variables])


def listed(variables: list[Variable], system: System) -> np.ndarray:
    """Dependencies as a table (variables, variables)."""
    table = np.zeros((len(variables), len(variables)), dtype=bool)
    for unknown, knowns in dependencies_of(system, build(system), variables).items():
        table[unknown, list(knowns)] = True
    return table


def names_of(variables: list[Variable], table: np.ndarray) -> list[tuple[str, str]]:
    return [(variables[i].name, variables[j].name) for i, j in zip(*np.nonzero(table))]


@pytest.mark.parametrize("parameters", [["*"], []], ids=["tunable", "no-parameters"])
@pytest.mark.parametrize("seed", range(12))
def test_nothing_outside_the_listed_dependencies_has_an_effect(seed, parameters):
    system = driven_tree(seed)
    variables = variables_of(system, build(system), "scalar", **EVERYTHING | {"parameters": parameters})
    found, given = effects(system, variables, seed), listed(variables, system)
    computed = [i for i, x in enumerate(variables) if x.causality == "output" or x.region is Region.SWITCH]
    hidden = np.zeros_like(found)
    hidden[computed] = found[computed] & ~given[computed]
    assert names_of(variables, hidden) == []
    states = [j for j, x in enumerate(variables) if x.is_state]
    assert found[np.ix_(computed, states)].sum() > 0.8 * given[np.ix_(computed, states)].sum()


def tied(system: System, rng: np.random.Generator) -> System:
    """The same with elements between some of its nodes."""
    a, b, c, d, e = (str(name) for name in rng.choice(system.node_names, 5, replace=False))
    matrix = np.array([2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    return lj.equip(
        system,
        Spring("strut", a, b, length=0.3, stiffness=4.0, damping=1.0, preload=2.0),
        Bushing("mount", c, d, stiffness=matrix, damping=0.3 * matrix),
        ExternalForce("push", e),
        ExternalForce("pull", a, follows=True),
        MagneticField("earth", np.array([1.0, -2.0, 3.0]), commanded=True),
    )


@pytest.mark.parametrize("seed", range(6))
def test_nothing_outside_the_listed_dependencies_of_elements_at_nodes_has_an_effect(seed):
    system = tied(driven_tree(seed), np.random.default_rng(seed))
    variables = variables_of(system, build(system), "scalar", **EVERYTHING)
    assert {"spring.strut.preload", "external_force.push.fx_command", "magnetic_field.earth.x_command"} <= {
        x.name for x in variables
    }
    found, given = effects(system, variables, seed, 1), listed(variables, system)
    computed = [i for i, x in enumerate(variables) if x.causality == "output" or x.region is Region.SWITCH]
    hidden = np.zeros_like(found)
    hidden[computed] = found[computed] & ~given[computed]
    assert names_of(variables, hidden) == []


@pytest.mark.parametrize("name", ["boom", "flexible base", "spacecraft"])
def test_nothing_outside_the_listed_dependencies_of_flexible_bodies_has_an_effect(name):
    """Small changes: far from its shape at rest a modal body is none."""
    system = FLEXIBLE[name]()
    variables = variables_of(system, build(system), "scalar", **EVERYTHING)
    found, given = effects(system, variables, 0, 1, 0.005), listed(variables, system)
    computed = [i for i, x in enumerate(variables) if x.causality == "output" or x.region is Region.SWITCH]
    hidden = np.zeros_like(found)
    hidden[computed] = found[computed] & ~given[computed]
    assert names_of(variables, hidden) == []


@pytest.mark.parametrize("steps", [0, 12], ids=["initial", "running"])
def test_what_readings_motors_and_thrusts_depend_on(steps):
    """Until the first step a reading is made from what is; afterwards only steps change it."""
    system = equipped()
    variables = variables_of(system, build(system), "scalar", **EVERYTHING)
    simulation = lj.Simulation(system)
    simulation.step(steps)
    model = Model(simulation.plant, simulation.state)
    knowns = [
        j for j, x in enumerate(variables) if x.causality in ("input", "parameter") or (steps == 0 and x.is_state)
    ]
    before, found = values(variables, model.numbers(False)), np.zeros((len(variables),) * 2, dtype=bool)
    for j in knowns:
        vector, place = model.at(variables[j])
        kept = vector[place]
        vector[place] = kept + 0.37 * (1.0 + abs(kept))
        found[:, j] = np.abs(values(variables, model.numbers(False)) - before) > ROUNDING * (1.0 + np.abs(before))
        vector[place] = kept
    given = np.zeros_like(found)
    for unknown, listed_ in dependencies_of(system, build(system), variables, initial=steps == 0).items():
        given[unknown, list(listed_)] = True
    computed = [i for i, x in enumerate(variables) if x.causality == "output"]
    hidden = np.zeros_like(found)
    hidden[computed] = found[computed] & ~given[computed]
    assert names_of(variables, hidden) == []
    sampled = [i for i, x in enumerate(variables) if x.description.startswith("instrument")]
    assert bool(given[np.ix_(sampled, knowns)].any()) == (steps == 0)


def test_readings_are_discrete_and_thrusts_without_valve_follow_the_command():
    system = equipped()
    variables = variables_of(system, build(system), "scalar", outputs=["*"], parameters=[])
    kinds = {x.name: x.variability for x in variables if x.name.startswith("sensor.")}
    smooth = {
        "sensor.current",
        "sensor.rotor",
        "sensor.push",
        "sensor.press",
        *(f"sensor.sight[{i}]" for i in (1, 2, 3)),
    }
    assert {name for name, kind in kinds.items() if kind == "continuous"} == smooth
    found = by_name(system, variables)
    assert found["sensor.press"] == {"thruster.quick.force_command": "dependent"}
    assert found["sensor.push"] == found["hinge.elbow.torque"] == found["sensor.encoder"] == {}
    assert set(found["der(hinge.bus.vx)"]) == {"thruster.quick.force_command"}
    start = by_name(system, variables, initial=True)
    assert "hinge.elbow.rate" in start["hinge.elbow.torque"]  # friction of the motor


def test_strain_energy_depends_on_the_modes_of_its_body():
    system = FLEXIBLE["flexible base"]()
    variables = variables_of(system, build(system), "scalar", outputs=["energy.strain", "sensor.*"], parameters=[])
    found = by_name(system, variables)
    panel = {f"flexible.panel.mode{i + 1}" for i in range(9)}
    assert set(found["sensor.strain_energy"]) == panel
    assert set(found["energy.strain"]) == panel | {f"flexible.bus.mode{i + 1}" for i in range(5)}


def by_name(system: System, variables: list[Variable], **options: bool) -> dict[str, dict[str, str]]:
    """Dependencies by name: unknown → {known: kind}."""
    found = dependencies_of(system, build(system), variables, **options)
    return {
        variables[unknown].name: {variables[known].name: kind for known, kind in knowns.items()}
        for unknown, knowns in found.items()
    }


def link(name: str, kind: str, parent: str | None, dof: Dof | None = None) -> Body:
    """A body of 1 kg on a hinge 'j<name>'."""
    axes = np.eye(3)[: HINGE_TYPES[kind].axes]
    hinge = Hinge(f"j{name}", kind, parent, axes=axes, dofs=(dof,) if dof else ())
    return Body(name, Inertia(1.0, np.array([0.3, 0.2, 0.1]), 0.01 * np.eye(3)), hinge)


def two_trees() -> System:
    """A cart with a pendulum, and a separate arm of two links with a fork."""
    bodies = (
        link("cart", "prismatic", None),
        link("pendulum", "revolute", "cart", Dof(damping=0.1)),
        link("arm", "revolute", None),
        link("left", "revolute", "arm"),
        link("right", "revolute", "arm"),
    )
    drive = Actuator("motor", "jleft", "servo", kp=1.0, kd=1.0, limit=3.0)
    return validate(
        System("two trees", bodies, nodes=(Node("tip", "left"), Node("bob", "pendulum")), actuators=(drive,))
    )


def test_trees_are_independent_and_nodes_follow_their_path():
    system = two_trees()
    variables = variables_of(system, build(system), "scalar", outputs=["*"], parameters=[])
    found = by_name(system, variables)
    assert set(found["node.tip.position[1]"]) == {"hinge.jarm.angle", "hinge.jleft.angle"}
    assert set(found["node.bob.position[1]"]) == {"hinge.jcart.distance", "hinge.jpendulum.angle"}
    assert set(found["node.bob.orientation[1]"]) == {"hinge.jpendulum.angle"}
    commands = {f"hinge.jleft.{word}_command" for word in ("angle", "rate", "torque")}
    arm = {f"hinge.j{name}.{word}" for name in ("arm", "left", "right") for word in ("angle", "rate")}
    assert set(found["der(hinge.jright.rate)"]) == arm | commands
    # Where the cart stands, and how fast it goes, changes no acceleration.
    assert set(found["der(hinge.jcart.speed)"]) == {"hinge.jpendulum.angle", "hinge.jpendulum.rate"}
    assert found["hinge.jcart.force"] == {}
    assert set(found["hinge.jleft.torque"]) == {"hinge.jleft.angle", "hinge.jleft.rate"} | commands
    assert set(found["actuator.motor.above_limit"]) == {"hinge.jleft.angle", "hinge.jleft.rate"} | commands


def test_a_parameter_that_the_fmu_has_counts_even_at_zero():
    system = two_trees()
    variables = variables_of(system, build(system), "scalar", outputs=["*"], parameters=["hinge.jcart.stiffness"])
    found = by_name(system, variables)
    assert set(found["hinge.jcart.force"]) == {"hinge.jcart.distance", "hinge.jcart.stiffness"}
    assert "hinge.jcart.distance" in found["der(hinge.jcart.speed)"]
    assert "hinge.jcart.stiffness" not in by_name(system, variables, parameters=False)["hinge.jcart.force"]


def test_every_output_derivative_and_indicator_has_an_entry_and_no_others():
    system = full_model()
    for variant in ("arrays", "scalar"):
        variables = variables_of(system, build(system), variant)
        entries_ = {variables[i].name for i in dependencies_of(system, build(system), variables)}
        wanted = {x.name for x in variables if x.causality == "output" or x.derivative_of or x.region is Region.SWITCH}
        assert entries_ == wanted


def test_knowns_are_in_order_and_only_what_the_importer_gives():
    system = full_model()
    for variant in ("arrays", "scalar"):
        variables = variables_of(system, build(system), variant, **EVERYTHING)
        for knowns in dependencies_of(system, build(system), variables).values():
            assert list(knowns) == sorted(knowns)
            assert all(variables[k].is_state or variables[k].causality in ("input", "parameter") for k in knowns)


def test_arrays_depend_on_what_their_elements_depend_on():
    system = full_model()
    scalars = by_name(system, variables_of(system, build(system), "scalar", **EVERYTHING))
    arrays = by_name(system, variables_of(system, build(system), "arrays", **EVERYTHING))
    position = {name for i in (1, 2, 3) for name in scalars[f"node.n5.position[{i}]"]}
    assert position
    assert all(name.startswith("hinge.") for name in position)
    assert set(arrays["node.n5.position"]) == {"q"}
    assert set(arrays["der(q)"]) == {"q", "v"}
    assert {"q", "v", "command", "gravity"} < set(arrays["der(v)"])
    assert arrays["q"] == {"q": "constant"}


def test_constant_factors_are_constant():
    system = driven_tree(4)
    plant = build(system)
    variables = variables_of(system, plant, "scalar", **EVERYTHING)
    model = Model(plant, new_state(plant, system))
    before, tried = values(variables, model.numbers(False)), 0
    for unknown, knowns in dependencies_of(system, plant, variables).items():
        for known in (k for k, kind in knowns.items() if kind == "constant"):
            vector, place = model.at(variables[known])
            vector[place] += 0.5
            change = values(variables, model.numbers(False))[unknown] - before[unknown]
            vector[place] -= 0.5
            assert change == pytest.approx(0.5, abs=1e-12), (variables[unknown].name, variables[known].name)
            tried += 1
    assert tried > system.nv


def test_rates_of_raw_quaternions_depend_on_what_is_listed():
    system = full_model()
    plant = build(system)
    variables = variables_of(system, plant, "scalar")
    given = listed(variables, system)
    model = Model(plant, new_state(plant, system))
    rates = [i for i, x in enumerate(variables) if x.region is Region.RATE]
    model.state[layout.S_Q + system.nq :][: system.nv] = np.random.default_rng(3).normal(size=system.nv)
    before = values(variables, model.numbers(True))
    for known in (j for j, x in enumerate(variables) if x.is_state):
        vector, place = model.at(variables[known])
        vector[place] += 0.3
        moved = np.abs(values(variables, model.numbers(True)) - before) > ROUNDING
        vector[place] -= 0.3
        assert not any(moved[i] and not given[i, known] for i in rates)


def test_with_an_engine_process_only_inputs_and_parameters_are_known():
    system = full_model()
    variables = variables_of(system, build(system), "scalar", "process")
    found = dependencies_of(system, build(system), variables)
    assert {variables[k].causality for knowns in found.values() for k in knowns} == {"input", "parameter"}
    start = dependencies_of(system, build(system), variables, initial=True)
    moving = {variables[k].region for k in start[next(i for i, x in enumerate(variables) if x.name == "sensor.effort")]}
    assert moving == {Region.Q, Region.V, Region.COMMAND, Region.PARAMETER}
