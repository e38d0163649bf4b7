"""The YAML format: values arrive where they belong, defaults are the documented ones."""

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from limberjack.engine.model.load import load
from limberjack.engine.model.readers.schema import json_schema
from limberjack.engine.model.system import Dof, Interface
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs"


@pytest.fixture(scope="module")
def arm():
    return load(HERE / "arm.yaml")


def test_names_and_sizes(arm):
    assert arm.name == "space_arm"
    assert arm.body_names == ("base", "upper_arm", "hand")
    assert arm.node_names == ("base", "upper_arm", "hand", "tool", "target")
    assert arm.velocity_names[6:] == ("shoulder", "wrist.angle1", "wrist.angle2")
    assert (arm.nq, arm.nv, arm.mass) == (10, 9, 513.0)
    assert arm.command_names == ("shoulder", "shoulder.rate", "shoulder.torque", "wrist_1")
    assert (arm.dt, arm.integrator, arm.warnings) == (1e-3, "rk4", ())
    np.testing.assert_array_equal(arm.gravity, np.zeros(3))


def test_mass_properties(arm):
    base = arm.bodies[0].inertia
    np.testing.assert_array_equal(base.com, [0.1, 0, 0])
    np.testing.assert_array_equal(base.about_com, [[80, 1.5, 0], [1.5, 80, 0], [0, 0, 60]])
    np.testing.assert_array_equal(arm.bodies[1].inertia.about_com, np.diag([1, 1, 0.2]))


def test_one_dof_hinge(arm):
    hinge = arm.bodies[1].hinge
    assert (hinge.name, hinge.type, hinge.parent) == ("shoulder", "revolute", "base")
    np.testing.assert_array_equal(hinge.axes, [[0, 0, 1]])
    np.testing.assert_allclose(hinge.inboard.rotation, Rotation.from_euler("xyz", [0, 0, 0.5]).as_matrix())
    np.testing.assert_array_equal(hinge.inboard.position, [0, 0, 0.5])
    assert hinge.dofs == (Dof(5, 0.1, 0.2, 0.3, 0.02, 0.4, -2, 2, 1e4, 10),)
    assert (hinge.q0.tolist(), hinge.v0.tolist()) == ([0.3], [0.7])


def test_hinge_on_a_node_takes_the_nodes_frame(arm):
    hinge = arm.bodies[2].hinge
    assert hinge.parent == "upper_arm"
    np.testing.assert_array_equal(hinge.inboard.position, [0, 0, 1.2])
    np.testing.assert_allclose(hinge.inboard.rotation @ hinge.inboard.rotation.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(hinge.inboard.rotation[:, 1], [0, 0, 1], atol=1e-15)
    assert arm.nodes[1].body is None


def test_several_dofs_spread_numbers_mappings_and_lists(arm):
    first, second = arm.bodies[2].hinge.dofs
    assert first == Dof(damping=0.5)
    assert second == Dof(damping=0.5, lower=-1, upper=1)
    assert arm.bodies[2].hinge.q0.tolist() == [0.1, 0.2]


def test_free_hinge_starts_as_written(arm):
    hinge = arm.bodies[0].hinge
    expected = Rotation.from_euler("z", 1).as_quat(scalar_first=True)
    np.testing.assert_allclose(hinge.q0, [*expected, 1, 2, 3], atol=1e-15)
    assert hinge.v0.tolist() == [0, 0, 0.1, 2, 0, 0]
    assert hinge.name == "base"


def test_actuators_and_sensors(arm):
    servo, torque = arm.actuators
    assert (servo.mode, servo.kp, servo.kd, servo.limit, servo.initial) == ("servo", 400, 40, 150, 0.3)
    assert (torque.mode, torque.coordinate, torque.limit) == ("torque", "wrist.angle1", math.inf)
    assert [(s.name, s.type, s.target) for s in arm.sensors] == [
        ("base_rate", "gyro", "base"),
        ("wrist_load", "reaction", "wrist"),
    ]


PARAMETERS = {
    "revolute": "axis: [1, 0, 0]",
    "prismatic": "axis: [1, 0, 0]",
    "helical": "axis: [1, 0, 0], pitch: 0.01",
    "cylindrical": "axis: [1, 0, 0]",
    "universal": "axes: [[0, 3, 0], [1, 0, 0]]",
    "gimbal": "axes: [[0, 0, 1], [0, 1, 0], [1, 0, 0]]",
    "planar": "axes: [[0, 0, 1], [0, 1, 0]]",
    "rolling": "axes: [[0, 1, 0], [1, 0, 0]], radius: 0.3",
    "custom": "map: [[1, 0], [0, 0], [0, 0], [0, 0], [0.1, 0], [0, 1]]",
}
MODEL = """
limberjack: 1
name: one
bodies:
  - {{name: b, mass: 1, inertia: {{xx: 1, yy: 1, zz: 1}}, hinge: {{name: h, type: {kind}, parent: world{more}}}}}
"""


@pytest.mark.parametrize("kind", HINGE_TYPES)
def test_every_hinge_type(kind, tmp_path):
    more = f", {PARAMETERS[kind]}" if kind in PARAMETERS else ""
    path = tmp_path / "one.yaml"
    path.write_text(MODEL.format(kind=kind, more=more))
    system = load(path)
    hinge = system.bodies[0].hinge
    row = HINGE_TYPES[kind]
    nv = 2 if kind == "custom" else row.nv
    assert (system.nq, system.nv, len(hinge.dofs)) == (row.nq, nv, nv)
    assert hinge.dofs == (Dof(),) * nv
    np.testing.assert_allclose(np.linalg.norm(hinge.axes, axis=1), 1.0)
    expected = [1.0] + [0.0] * (row.nq - 1) if row.q[:1] == ("qw",) else [0.0] * row.nq
    assert hinge.q0.tolist() == expected
    np.testing.assert_array_equal(system.gravity, [0, 0, -9.80665])
    if kind == "helical":
        assert hinge.pitch == 0.01
    if kind == "rolling":
        assert hinge.radius == 0.3
    if kind == "custom":
        assert hinge.map.shape == (6, 2)
        assert hinge.map[4, 0] == 0.1


def test_bodies_come_base_to_tip_whatever_the_order(tmp_path):
    lines = ["limberjack: 1", "name: chain", "bodies:"]
    for name, parent in (("c", "b"), ("a", "world"), ("d", "a"), ("b", "a")):
        inertia, hinge = "{xx: 1, yy: 1, zz: 1}", f"{{type: revolute, parent: {parent}, axis: [0, 0, 1]}}"
        lines.append(f"  - {{name: {name}, mass: 1, inertia: {inertia}, hinge: {hinge}}}")
    path = tmp_path / "chain.yaml"
    path.write_text("\n".join(lines))
    assert load(path).body_names == ("a", "d", "b", "c")


def test_aliases_and_numbers_of_yaml_1_2(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("""
limberjack: 1
name: "on"
bodies:
  - {name: no, mass: 1e0, inertia: &I {xx: 1e-3, yy: 1E-3, zz: .001}, hinge: {type: free, parent: world}}
  - {name: off, mass: 0x2, inertia: *I, hinge: {type: free, parent: world}}
""")
    system = load(path)
    assert system.body_names == ("no", "off")
    assert system.mass == 3.0
    np.testing.assert_array_equal(system.bodies[1].inertia.about_com, np.diag([1e-3] * 3))


def test_base_can_be_held_where_it_starts(arm):
    held = load(HERE / "arm.yaml", base="fixed")
    assert held.nv == 3
    root = held.bodies[0].hinge
    assert root.type == "fixed"
    np.testing.assert_allclose(root.inboard.position, [1, 2, 3])
    np.testing.assert_allclose(root.inboard.rotation, Rotation.from_euler("z", 1).as_matrix(), atol=1e-15)


def test_fmu_section_reaches_the_system(arm, tmp_path):
    assert arm.interface == Interface()
    path = tmp_path / "arm.yaml"
    section = "fmu:\n  inputs: [hinge.*.torque_command]\n  outputs: []\n"
    path.write_text((HERE / "arm.yaml").read_text() + section)
    assert load(path).interface == Interface(("hinge.*.torque_command",), (), None)


def test_json_schema_accepts_the_arm_and_refuses_a_typo():
    schema = json.loads(json_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    text = (HERE / "arm.yaml").read_text().replace("1e-3", "0.001").replace("1e4", "10000")
    model = yaml.safe_load(text)
    jsonschema.validate(model, schema)
    model["bodies"][1]["hinge"]["dampng"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(model, schema)


#: sensor types that a file has beside those of the engine
OF_THE_FILE = {"encoder", "resolver", "imu", "joint_torque", "force_torque"}


def test_schema_lists_the_sensor_and_hinge_types_of_the_engine():
    definitions = json.loads(json_schema())["$defs"]
    assert set(definitions["SensorSpec"]["properties"]["type"]["enum"]) == set(SENSOR_TYPES) | OF_THE_FILE
    assert set(definitions["BodySpec"]["properties"]["hinge"]["discriminator"]["mapping"]) == set(HINGE_TYPES)


def test_docs_name_every_field_of_the_schema():
    text = (DOCS / "reference" / "model-format.md").read_text(encoding="utf-8")
    schema = json.loads(json_schema())
    parts = [schema, *schema["$defs"].values()]
    fields = {name for part in parts for name in part.get("properties", {})}
    missing = {name for name in fields | set(HINGE_TYPES) | set(SENSOR_TYPES) if f"`{name}`" not in text}
    assert not missing
