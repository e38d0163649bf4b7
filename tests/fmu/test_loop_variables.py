"""What an FMU of a model with closed loops has: Boolean inputs, prescribed motions, outputs; no Model Exchange."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from limberjack.engine.model.build import build
from limberjack.engine.native.plant_file import TYPE_BOOLEAN, Region, read_plant_file
from limberjack.engine.tables.loops import SWITCH
from limberjack.fmu.plant_file import plant_file
from limberjack.fmu.variables.dependencies import dependencies_of
from limberjack.fmu.variables.listing import variables_of
from limberjack.fmu.variables.variable import Variable
from tests.fmu.closed_model import docking
from tests.fmu.contents import content, document

LOOPED = [
    "loop.grasp.closed",
    "loop.brake.closed",
    *(f"loop.rod.{word}_command" for word in ("position", "velocity", "acceleration")),
]


def listed(variant: str = "scalar", coupling: str = "embedded", **chosen: list[str]) -> list[Variable]:
    system = docking()
    return variables_of(system, build(system), variant, coupling, **chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize("coupling", ["embedded", "process"])
def test_inputs(coupling):
    inputs = [v for v in listed(coupling=coupling) if v.causality == "input"]
    assert [v.name for v in inputs] == ["hinge.motor.torque_command", "hinge.slide.force_command", *LOOPED]
    assert [v.boolean for v in inputs] == [False, False, True, True, False, False, False]
    assert [v.variability for v in inputs[2:4]] == ["discrete", "discrete"]
    assert [v.unit for v in inputs[4:]] == ["m", "m/s", "m/s2"]
    assert [v.start for v in inputs] == [(0.0,)] * 7
    assert [(v.region, v.offset) for v in inputs] == [(Region.COMMAND, i) for i in range(7)]
    assert "within reach" in inputs[2].description


def test_arrays_join_the_commands_of_drives_only():
    inputs = [v for v in listed("arrays") if v.causality == "input"]
    assert [(v.name, v.size) for v in inputs] == [("command", 2), *((name, 1) for name in LOOPED)]
    assert [v.name for v in listed("arrays", inputs=["loop.grasp.*"]) if v.causality == "input"] == LOOPED[:1]
    chosen = listed("arrays", inputs=["command", "loop.rod.*"])
    assert [v.name for v in chosen if v.causality == "input"] == ["command", *LOOPED]  # it answers for all


def test_a_loop_that_starts_closed_starts_true():
    system = docking()
    loops = tuple(replace(loop, closed=True) if loop.name == "brake" else loop for loop in system.loops)
    closed = replace(system, loops=loops)
    found = {v.name: v for v in variables_of(closed, build(closed), "scalar")}
    assert found["loop.brake.closed"].start == (1.0,)


def test_outputs():
    found = {v.name: v for v in listed() if v.causality == "output"}
    assert found["sensor.held"].boolean
    assert found["sensor.held"].variability == "discrete"
    units = {name: found[f"sensor.{name}"].unit for name in ("lost", "torque", "pull", "gap", "held")}
    assert units == {"lost": "J", "torque": "N.m", "pull": "N", "gap": "m", "held": ""}
    assert found["sensor.load.moment[1]"].unit == "N.m"
    assert found["sensor.load.force[3]"].unit == "N"
    first = found["sensor.load.moment[1]"].offset
    assert [found[f"sensor.{name}"].offset - first for name in ("held", "lost", "torque", "pull", "gap", "turn")] == [
        *range(6, 12)
    ]


def test_there_are_no_states_to_integrate():
    found = listed()
    assert not [v.name for v in found if v.derivative_of or v.region is Region.SWITCH]
    assert "der(hinge.elbow.rate)" in [v.name for v in listed(outputs=["der(*)"])]


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
@pytest.mark.parametrize("coupling", ["embedded", "process"])
def test_the_description_has_booleans_and_no_model_exchange(fmi, coupling):
    root = ElementTree.fromstring(document(content("docking", fmi, "scalar", coupling)))
    assert root.find("ModelExchange") is None
    assert root.find("CoSimulation") is not None
    tag = "ScalarVariable" if fmi == "2.0" else "*"
    variables = {each.get("name"): each for each in root.find("ModelVariables").findall(tag)}
    grasp, held = variables["loop.grasp.closed"], variables["sensor.held"]
    assert (grasp.get("causality"), grasp.get("variability"), grasp.get("initial")) == ("input", "discrete", None)
    assert (held.get("causality"), held.get("variability"), held.get("initial")) == (
        *("output", "discrete", "calculated"),
    )
    kinds = [each.find("Boolean") if fmi == "2.0" else each for each in (grasp, held)]
    assert [each.tag for each in kinds] == ["Boolean", "Boolean"]
    assert [each.get("start") for each in kinds] == ["false", None]
    structure = root.find("ModelStructure")
    for name in ("Derivatives", "ContinuousStateDerivative", "EventIndicator"):
        assert structure.find(name) is None


def test_the_file_knows_loops_and_types():
    system = docking()
    plant = build(system)
    read = read_plant_file(plant_file(system, plant, listed(), "token"))
    assert read.header["n_loops"] == 4
    assert read.labels[-4:] == ("loop 'grasp'", "loop 'brake'", "loop 'gear'", "loop 'rod'")
    types = {row["name"]: row["type"] for row in read.variables}
    assert types["loop.grasp.closed"] == types["sensor.held"] == TYPE_BOOLEAN
    assert len(read.state) == 2 + system.nq + system.nv + 7 + 2 * SWITCH


def test_loops_join_the_trees_that_depend_on_each_other():
    """A drive on one tree moves another that may be joined to it; the slider stays by itself."""
    system = docking()
    plant, found = build(system), listed(outputs=["der(*)", "sensor.*"])
    places = {v.name: i for i, v in enumerate(found)}
    dependencies = dependencies_of(system, plant, found)

    def inputs_of(name: str) -> set[str]:
        return {found[i].name for i in dependencies[places[name]] if found[i].causality == "input"}

    assert inputs_of("der(hinge.target.vx)") == {"hinge.motor.torque_command"}
    assert inputs_of("sensor.load.force[1]") == {"hinge.motor.torque_command"}
    assert inputs_of("der(hinge.slide.speed)") == {"hinge.slide.force_command", *LOOPED[2:]}
    assert inputs_of("sensor.pull") == {"hinge.slide.force_command", *LOOPED[2:]}
    assert inputs_of("sensor.held") == inputs_of("sensor.lost") == set()
