"""Which variables an FMU has: names, places, types, starts, selections."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.model.build import build
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Interface, Node, System
from limberjack.engine.model.validate import validate
from limberjack.engine.native.plant_file import Region, labels
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from limberjack.fmu.variables.listing import variables_of
from limberjack.fmu.variables.variable import Variable
from tests.engine.full_model import full_model
from tests.engine.random_systems import trees
from tests.fmu.test_naming import STRUCTURED

ALL = {"inputs": ["*"], "outputs": ["*"], "parameters": ["*"]}
SOLID = Inertia(1.0, np.zeros(3), np.eye(3))


def link(name: str, kind: str, parent: str | None, *dofs: Dof, hinge: str = "", **more: object) -> Body:
    axes = np.eye(3)[: HINGE_TYPES[kind].axes]
    return Body(name, SOLID, Hinge(hinge or name, kind, parent, axes=axes, dofs=dofs, **more))  # type: ignore[arg-type]


def arm(**changes: object) -> System:
    """A turning and a sliding hinge, a servo and a force drive, sensors, a node."""
    elbow = Dof(stiffness=2.0, damping=0.1, lower=-2.0, upper=2.5)
    system = System(
        "arm",
        (link("upper", "revolute", None, elbow, hinge="elbow", q0=np.array([0.3])), link("rod", "prismatic", "upper")),
        nodes=(Node("tool", "rod"),),
        actuators=(
            Actuator("elbow", "elbow", "servo", kp=5.0, kd=1.0, limit=9.0, initial=0.7),
            Actuator("push", "rod"),
        ),
        sensors=(Sensor("rate", "rate", "rod"), Sensor("imu", "gyro", "tool"), Sensor("load", "reaction", "rod")),
    )
    return validate(replace(system, **changes))  # type: ignore[arg-type]


def listed(system: System, variant: str = "scalar", coupling: str = "embedded", **chosen: list[str]) -> list[Variable]:
    return variables_of(system, build(system), variant, coupling, **chosen)  # type: ignore[arg-type]


def named(
    system: System, variant: str = "scalar", coupling: str = "embedded", **chosen: list[str]
) -> dict[str, Variable]:
    return {variable.name: variable for variable in listed(system, variant, coupling, **chosen)}


def of(variables: dict[str, Variable], causality: str) -> list[str]:
    return [name for name, variable in variables.items() if variable.causality == causality]


def test_the_default_variables_of_the_scalar_variant():
    found = named(arm())
    assert of(found, "independent") == ["time"]
    assert of(found, "input") == [
        "hinge.elbow.angle_command",
        "hinge.elbow.rate_command",
        "hinge.elbow.torque_command",
        "hinge.rod.force_command",
    ]
    assert of(found, "output") == [
        *("hinge.elbow.angle", "hinge.rod.distance", "hinge.elbow.rate", "hinge.rod.speed"),
        *("hinge.elbow.torque", "hinge.rod.force", "sensor.rate", "sensor.imu[1]", "sensor.imu[2]", "sensor.imu[3]"),
        *(f"sensor.load.{part}[{i}]" for part in ("moment", "force") for i in (1, 2, 3)),
        *(f"node.tool.position[{i}]" for i in (1, 2, 3)),
        "energy.total",
    ]
    assert of(found, "parameter") == [
        *("body.upper.mass", "body.rod.mass", "hinge.elbow.damping", "hinge.elbow.stiffness", "hinge.elbow.rest"),
        *("actuator.elbow.kp", "actuator.elbow.kd", "actuator.elbow.limit", "gravity[1]", "gravity[2]", "gravity[3]"),
    ]
    assert of(found, "local") == [
        *("der(hinge.elbow.angle)", "der(hinge.rod.distance)", "der(hinge.elbow.rate)", "der(hinge.rod.speed)"),
        *("hinge.elbow.upper_stop", "hinge.elbow.lower_stop"),
        *("actuator.elbow.above_limit", "actuator.elbow.below_limit"),
    ]


def test_arrays_keep_vectors_whole_and_name_every_coordinate():
    found = named(arm(), "arrays")
    assert of(found, "input") == ["command"]
    assert found["command"].start == (0.7, 0.0, 0.0, 0.0)
    assert of(found, "output") == [
        *("q", "v", "hinge.elbow.angle", "hinge.rod.distance", "hinge.elbow.rate", "hinge.rod.speed", "tau"),
        *("hinge.elbow.torque", "hinge.rod.force", "sensor.rate", "sensor.imu", "sensor.load.moment"),
        *("sensor.load.force", "node.tool.position", "energy.total"),
    ]
    arrays = {name: variable.size for name, variable in found.items() if variable.array}
    vectors = {"q": 2, "v": 2, "der(q)": 2, "der(v)": 2, "tau": 2, "command": 4, "gravity": 3}
    triples = ("sensor.imu", "sensor.load.moment", "sensor.load.force", "node.tool.position")
    assert arrays == vectors | dict.fromkeys(triples, 3)
    assert [name for name, variable in found.items() if variable.is_state] == ["q", "v"]
    assert found["hinge.elbow.angle"].start == ()
    assert (found["der(q)"].derivative_of, found["der(v)"].derivative_of) == ("q", "v")


def test_types_starts_and_bounds():
    found = named(arm())
    angle, speed, push = found["hinge.elbow.angle"], found["hinge.rod.speed"], found["hinge.rod.force_command"]
    assert (angle.type_name, angle.unit, angle.display_unit, angle.start) == ("Angle", "rad", "deg", (0.3,))
    assert (angle.nominal, angle.minimum, angle.maximum) == (2.5, -math.inf, math.inf)
    assert "stops at -2 and 2.5 rad" in angle.description
    assert (speed.unit, push.unit, found["hinge.elbow.torque"].unit) == ("m/s", "N", "N.m")
    assert found["hinge.elbow.angle_command"].start == (0.7,)
    damping, rest = found["hinge.elbow.damping"], found["hinge.elbow.rest"]
    assert (damping.unit, damping.minimum, damping.variability) == ("N.m.s/rad", 0.0, "tunable")
    assert rest.minimum == -math.inf
    assert found["body.rod.mass"].unit == "kg"
    assert found["gravity[3]"].start == (-9.80665,)
    assert found["der(hinge.elbow.rate)"].unit == "rad/s2"


def test_a_hinge_without_limits_or_drive_has_no_indicators():
    plain = arm(
        bodies=(link("upper", "revolute", None, hinge="elbow"), link("rod", "prismatic", "upper")), actuators=()
    )
    assert [v.name for v in listed(plain) if v.region is Region.SWITCH] == []
    half = arm(
        bodies=(link("upper", "revolute", None, Dof(upper=1.0), hinge="elbow"), link("rod", "prismatic", "upper"))
    )
    assert next(v.name for v in listed(half) if v.region is Region.SWITCH) == "hinge.elbow.upper_stop"
    assert "hinge.elbow.lower_stop" not in named(half)
    assert "hinge.elbow.lower" not in named(half, **ALL)
    assert named(half, **ALL)["hinge.elbow.upper"].start == (1.0,)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("helical", "angle rate torque"),
        ("rolling", "angle rate torque"),
        ("cylindrical", "angle distance angle_rate distance_rate angle_torque distance_force"),
        ("universal", "angle1 angle2 angle1_rate angle2_rate angle1_torque angle2_torque"),
        ("planar", "angle x y angle_rate x_rate y_rate angle_torque x_force y_force"),
        ("spherical", "qw qx qy qz wx wy wz wx_torque wy_torque wz_torque"),
        ("custom", "qw qx qy qz x y z rate1 rate2 rate1_force rate2_force"),
    ],
)
def test_names_of_hinges(kind, names):
    more = {"radius": 0.1} if kind == "rolling" else {"pitch": 0.1} if kind == "helical" else {}
    if kind == "custom":
        more = {"map": np.eye(6)[:, :2]}
    system = validate(System("one", (link("h", kind, None, **more),)))
    assert [
        name[8:] for name in of(named(system, outputs=["hinge.*"]), "output") if name[:8] == "hinge.h."
    ] == names.split()


def test_two_drives_on_one_coordinate_are_distinguished():
    both = arm(actuators=(Actuator("a", "rod"), Actuator("b", "rod", "velocity", kd=1.0), Actuator("c", "elbow")))
    assert of(named(both), "input") == [
        "actuator.a.force_command",
        "actuator.b.speed_command",
        "actuator.b.force_command",
        "hinge.elbow.torque_command",
    ]


@settings(max_examples=30, deadline=None)
@given(trees(most_bodies=6), st.sampled_from(["arrays", "scalar"]), st.sampled_from(["embedded", "process"]))
def test_names_are_unique_and_structured_and_places_exist(tree, variant, coupling):
    system, _ = tree
    plant = build(system)
    lengths = {
        Region.TIME: 1,
        Region.PARAMETER: len(plant.floats),
        Region.Q: system.nq,
        Region.V: system.nv,
        Region.COMMAND: len(system.command_names),
        Region.OBSERVED: plant.observed_size,
        Region.SURVEYED: plant.surveyed_size,
        Region.RATE: system.nq,
        Region.SWITCH: plant.switches_size,
        Region.SETTING: 4,
    }
    outputs = ["*"] if system.nq else []
    found = listed(system, variant, coupling, outputs=outputs, parameters=["*"])
    names = [variable.name for variable in found]
    assert len(set(names)) == len(names)
    assert all(STRUCTURED.fullmatch(name) for name in names)
    for variable in found:
        assert 0 <= variable.offset <= lengths[variable.region] - variable.size
        assert variable.start == () or len(variable.start) == variable.size
        assert variable.array or variable.size == 1
        assert all(variable.text or variable.minimum <= x <= variable.maximum for x in variable.start)


def test_user_names_that_look_like_each_other_stay_apart():
    bodies = (
        link("a", "universal", None, hinge="a"),
        link("b", "revolute", "a", hinge="a.angle1_rate"),
        link("c", "revolute", "b", hinge="'a'"),
        link("d", "revolute", "c", hinge="a}{U+0061}"),
    )
    found = listed(validate(System("twins", bodies)), **{"outputs": ["*"], "parameters": ["*"]})
    assert len({variable.name for variable in found}) == len(found)
    assert "hinge.'a.angle1_rate'.angle" in {variable.name for variable in found}


def numbers_of(simulation: lj.Simulation) -> dict[Region, np.ndarray]:
    observed = np.concatenate([simulation.tau, simulation.vdot, simulation.output_vector])
    return {
        Region.Q: simulation.q,
        Region.V: simulation.v,
        Region.COMMAND: simulation.command_vector,
        Region.OBSERVED: observed,
        Region.SURVEYED: simulation.survey(),
        Region.PARAMETER: simulation.plant.floats,
    }


def test_variables_hold_the_numbers_that_the_engine_gives_by_name():
    system = full_model()
    simulation = lj.Simulation(system)
    simulation.step(20)
    numbers, found = numbers_of(simulation), named(system, **ALL)

    def value(name: str) -> float:
        return float(numbers[found[name].region][found[name].offset])

    p = simulation.output["n5.position"]
    assert [value(f"node.n5.position[{i}]") for i in (1, 2, 3)] == pytest.approx(p)
    velocity = [value(f"node.n5.{word}_velocity[{i}]") for word in ("angular", "linear") for i in (1, 2, 3)]
    assert velocity == pytest.approx(simulation.output["n5.velocity"])
    assert value("energy.kinetic") == pytest.approx(simulation.output["energy.kinetic"])
    assert value("energy.total") == pytest.approx(sum(simulation.dynamics.energy(simulation.q, simulation.v)))
    momentum = [value(f"momentum.{word}[{i}]") for word in ("angular", "linear") for i in (1, 2, 3)]
    assert momentum == pytest.approx(simulation.output["momentum"])
    for sensor in ("gyro", "accelerometer", "node_orientation"):
        measured = simulation.output[sensor]
        assert [value(f"sensor.{sensor}[{i + 1}]") for i in range(len(measured))] == list(measured)
    weld = [value(f"sensor.weld.{part}[{i}]") for part in ("moment", "force") for i in (1, 2, 3)]
    assert weld == list(simulation.output["weld"])
    j = system.velocity_names.index("h2")
    assert value("der(hinge.h2.rate)") == simulation.vdot[j]
    assert value("hinge.h2.torque") == simulation.tau[j]
    assert value("hinge.h2.stiffness") == simulation.parameters["hinge.h2.stiffness"]
    assert value("body.b5.mass") == simulation.parameters["body.b5.mass"]
    commands = [name for name in found if found[name].region is Region.COMMAND]
    assert [value(name) for name in commands] == list(simulation.command_vector)


def test_every_parameter_of_the_engine_that_has_an_effect_can_be_shown():
    system = full_model()
    plant = build(system)
    found = {
        variable.offset + i
        for variable in listed(system, "arrays", **ALL)
        for i in range(variable.size)
        if variable.region is Region.PARAMETER
    }
    missing = {name for name, index in plant.parameters.items() if index not in found}
    unused = {f"actuator.{a.name}.{gain}" for a in system.actuators for gain in ("kp", "kd") if not getattr(a, gain)}
    infinite = {name for name, index in plant.parameters.items() if not math.isfinite(plant.floats[index])}
    assert missing == unused | infinite


def test_the_start_values_are_the_plants():
    system = arm()
    plant = build(system)
    plant.floats[plant.parameters["hinge.elbow.damping"]] = 0.25
    found = {variable.name: variable for variable in variables_of(system, plant, "scalar")}
    assert found["hinge.elbow.damping"].start == (0.25,)


def test_selections_choose_and_what_is_not_an_output_is_local():
    found = named(arm(), inputs=["hinge.rod.*"], outputs=["hinge.*.angle", "node.tool.position"], parameters=[])
    assert of(found, "input") == ["hinge.rod.force_command"]
    assert of(found, "output") == ["hinge.elbow.angle", *(f"node.tool.position[{i}]" for i in (1, 2, 3))]
    assert of(found, "parameter") == []
    assert found["hinge.rod.speed"].causality == "local"
    assert found["hinge.rod.speed"].is_state


@pytest.mark.parametrize(
    ("pattern", "scalars", "arrays"),
    [
        ("node.tool.position[2]", ["node.tool.position[2]"], ["node.tool.position"]),
        ("energy.?o*", ["energy.potential", "energy.total"], ["energy.potential", "energy.total"]),
        ("q", ["hinge.elbow.angle", "hinge.rod.distance"], ["q"]),
        ("v", ["hinge.elbow.rate", "hinge.rod.speed"], ["v"]),
        ("tau", ["hinge.elbow.torque", "hinge.rod.force"], ["tau"]),
        ("der(v)", ["der(hinge.elbow.rate)", "der(hinge.rod.speed)"], ["der(v)"]),
        ("sensor.load*", [f"sensor.load.{w}[{i}]" for w in ("moment", "force") for i in (1, 2, 3)],
         ["sensor.load.moment", "sensor.load.force"]),
    ],
)  # fmt: skip
def test_patterns_mean_the_same_in_both_variants(pattern, scalars, arrays):
    assert of(named(arm(), "scalar", outputs=[pattern]), "output") == scalars
    assert of(named(arm(), "arrays", outputs=[pattern]), "output") == arrays


def test_some_commands_of_an_fmu_with_arrays_are_scalars_and_all_are_one():
    assert of(named(arm(), "arrays", inputs=["*.torque_command"]), "input") == ["hinge.elbow.torque_command"]
    assert of(named(arm(), "arrays", inputs=["command"]), "input") == ["command"]
    assert len(of(named(arm(), "scalar", inputs=["command"]), "input")) == 4
    assert of(named(arm(), "arrays", inputs=[]), "input") == []


def test_the_model_files_selection_counts_unless_the_caller_gives_one():
    system = arm(interface=Interface(outputs=("energy.total",), parameters=()))
    assert of(named(system), "output") == ["energy.total"]
    assert of(named(system, outputs=["energy.*"]), "output") == ["energy.kinetic", "energy.potential", "energy.total"]
    assert of(named(system), "parameter") == []
    assert len(of(named(system), "input")) == 4


def test_a_pattern_that_matches_nothing_names_the_nearest_and_the_place():
    system = arm(interface=Interface(outputs=("energy.total", "hinge.elbw.angle")), source="arm.yaml")
    with pytest.raises(ModelError, match=r"arm\.yaml, fmu\.outputs\[1\]: .*'hinge.elbw.angle'.*'hinge\.elbow\.angle'"):
        listed(system)
    with pytest.raises(ArgumentError, match=r"parameters\[0\]: .*nearest name is 'hinge\.elbow\.damping'"):
        listed(arm(), parameters=["hinge.elbow.dampin"])


def test_a_pattern_of_another_group_or_coupling_says_where_it_belongs():
    with pytest.raises(ArgumentError, match="It matches inputs; name it there"):
        listed(arm(), outputs=["hinge.rod.force_command"])
    with pytest.raises(ArgumentError, match="outputs of the embedded coupling only"):
        listed(arm(), coupling="process", outputs=["energy.total"])
    with pytest.raises(ArgumentError, match="no inputs to choose from; remove the pattern"):
        listed(arm(actuators=()), inputs=["*_command"])


@pytest.mark.parametrize("given", ["hinge.*", [1], [""], 5, ["a`"]])
def test_selections_that_are_no_lists_of_patterns_are_refused(given):
    with pytest.raises(ArgumentError, match="outputs"):
        listed(arm(), outputs=given)


def test_many_stars_take_no_time():
    with pytest.raises(ArgumentError, match="matches none"):
        listed(arm(), outputs=["*a" * 400 + "!"])


def test_the_process_coupling_has_no_derivatives_and_has_settings():
    found = named(arm(), "scalar", "process")
    assert not any(variable.derivative_of for variable in found.values())
    assert {variable.region for variable in found.values()} == {
        *(Region.TIME, Region.PARAMETER, Region.COMMAND, Region.Q, Region.V, Region.OBSERVED, Region.SETTING)
    }
    settings_ = [variable for variable in found.values() if variable.region is Region.SETTING]
    assert [v.name for v in settings_] == ["engine.endpoint", "engine.keys", "engine.command", "engine.timeout"]
    assert [v.text for v in settings_] == [True, True, True, False]
    assert all(v.variability == "fixed" and v.causality == "parameter" for v in settings_)
    assert named(arm(), "arrays", "process")["q"].start == (0.3, 0.0)
    assert "hinge.elbow.angle" not in named(arm(), "scalar", "process", outputs=["*.rate"])


def test_unknown_variants_are_refused():
    with pytest.raises(ArgumentError, match="no variant 'vector'"):
        listed(arm(), "vector")


def test_labels_are_for_log_lines():
    assert labels(arm()) == [
        "coordinate 'elbow' of body 'upper'",
        "coordinate 'rod' of body 'rod'",
        "velocity 'elbow' of body 'upper'",
        "velocity 'rod' of body 'rod'",
    ]
    system = full_model()
    assert len(labels(system)) == system.nq + system.nv
    assert labels(system)[0] == "coordinate 'h0.qw' of body 'b0'"


def test_order_of_states_is_that_of_the_state_vector():
    system = full_model()
    states = [variable for variable in listed(system) if variable.is_state]
    start = lj.Simulation(system).state[layout.S_Q : layout.S_Q + system.nq + system.nv]
    assert [variable.start[0] for variable in states] == list(start)


def test_a_mass_of_zero_is_out_of_range():
    """0 kg would leave the hinge without inertia; `Simulation` refuses it too."""
    system = arm()
    masses = [v for v in variables_of(system, build(system), "scalar") if v.name.endswith(".mass")]
    assert masses
    assert all(0.0 < variable.minimum < 1e-200 for variable in masses)
