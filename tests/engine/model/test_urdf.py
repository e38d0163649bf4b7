"""URDF: what every element becomes, and the error for every wrong one."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.load import load
from limberjack.engine.model.system import Dof
from tests.engine.model.written import writes

ROBOT = """<?xml version="1.0"?>
<robot name="bot">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/>
    </inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link>
  <link name="slider"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="tool"/>
  <joint name="elbow" type="revolute">
    <parent link="base"/>
    <child link="arm"/>
    <origin xyz="0 0 1" rpy="0 0 1.5"/>
    <axis xyz="0 2 0"/>
    <dynamics damping="0.5" friction="0.25"/>
    <limit lower="0.5" upper="1.5" effort="30" velocity="2"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="arm"/><child link="slider"/>
    <limit lower="-1" upper="1" effort="7" velocity="2"/>
  </joint>
  <joint name="mount" type="fixed"><parent link="slider"/><child link="tool"/></joint>
</robot>
"""


write = writes("bot.urdf")


def test_everything_arrives(write):
    system = load(write(ROBOT))
    assert system.name == "bot"
    assert system.body_names == ("base", "arm", "slider", "tool")
    root, elbow, slide, mount = (body.hinge for body in system.bodies)
    assert (root.name, root.type, root.parent) == ("root", "fixed", None)
    assert (elbow.type, elbow.parent, mount.type, mount.merge) == ("revolute", "base", "fixed", True)
    assert elbow.dofs == (Dof(damping=0.5, friction=0.25, lower=0.5, upper=1.5),)
    assert elbow.q0.tolist() == [1.0]  # zero is outside the limits: the middle
    np.testing.assert_array_equal(elbow.axes, [[0, 1, 0]])
    np.testing.assert_array_equal(slide.axes, [[1, 0, 0]])  # URDF's default
    np.testing.assert_allclose(elbow.inboard.rotation, Rotation.from_euler("z", 1.5).as_matrix(), atol=1e-15)
    arm = system.bodies[1].inertia
    R = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix()
    np.testing.assert_allclose(arm.about_com, R @ np.diag([1, 2, 2.5]) @ R.T, atol=1e-14)
    np.testing.assert_array_equal(arm.com, [1, 2, 3])
    assert [(a.name, a.mode, a.limit) for a in system.actuators] == [("elbow", "torque", 30), ("slide", "torque", 7)]
    assert system.warnings == ()


def test_base_free_and_file_says_fixed(write):
    path = write(ROBOT)
    assert load(path, base="fixed").nv == load(path).nv == 2
    assert load(path, base="free").velocity_names[:6] == tuple(
        f"root.{v}" for v in ("wx", "wy", "wz", "vx", "vy", "vz")
    )


def test_root_hinge_avoids_the_name_of_a_joint(write):
    assert load(write(ROBOT.replace('"elbow"', '"root"'))).bodies[0].hinge.name == "root_2"


def test_continuous_floating_planar(write):
    text = ROBOT.replace('type="revolute"', 'type="continuous"').replace('type="prismatic"', 'type="planar"')
    system = load(write(text))
    assert system.bodies[1].hinge.dofs[0].upper == math.inf
    planar = system.bodies[2].hinge
    assert planar.type == "planar"
    np.testing.assert_array_equal(planar.axes, [[1, 0, 0], [0, 1, 0]])
    assert [a.name for a in system.actuators] == ["elbow"]
    floating = load(write(ROBOT.replace('type="prismatic"', 'type="floating"')))
    assert floating.bodies[2].hinge.type == "free"
    assert floating.nv == 7


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('effort="30"', 'effort="0"', "effort limit 0 is read as no limit, for the joints 'elbow'"),
        ('lower="0.5" upper="1.5" ', "", "read as no limits, for the joints 'elbow'"),
        ("<visual>", "<viusal/><visual>", "element <viusal> in <link> is not part of URDF"),
        ('izz="2.5"', 'izz="3.5"', "link 'arm': the principal moments 1, 2, 3.5 kg·m² break the triangle inequality"),
        ('ixx="1" ixy="0" ixz="0" iyy="2"', 'ixx="-.1" ixy="0" ixz="0" iyy="2"', "link 'arm': the inertia is not"),
        ('<link name="base"/>', '<link name="base"><inertial><mass value="0"/><inertia ixx="1" ixy="0" ixz="0" '
         'iyy="1" iyz="0" izz="1"/></inertial></link>', "link 'base': a body without mass"),
    ],
)  # fmt: skip
def test_warned_of_kept_and_refused_when_strict(old, new, words, write):
    assert old in ROBOT
    path = write(ROBOT.replace(old, new, 1))
    with pytest.warns(ModelWarning, match=words):
        system = load(path)
    assert len(system.warnings) == 1
    with pytest.raises(ModelError, match=words):
        load(path, strict=True)


CASES = [
    ('mass value="2"', 'mass value="-2"', 'link name="arm"', "mass of body 'arm' is -2.0 kg"),
    ('mass value="2"', 'mass value="2kg"', 'value="2kg"', "attribute 'value' is \"2kg\", not one finite number"),
    ('mass value="2"', 'mass value="nan"', 'value="nan"', "not one finite number"),
    ('mass value="2"', 'mass value="1_0"', 'value="1_0"', "not one finite number"),
    ('<mass value="2"/>', "", "<inertial>", "<inertial> needs <mass> and <inertia>"),
    ('izz="2.5"', "", "<inertia ixx", "attribute 'izz' is missing or empty"),
    ('xyz="1 2 3"', 'xyz="1 2"', 'xyz="1 2"', "not 3 finite numbers"),
    ('rpy="0 0 1.5"', 'rpy="0 0 inf"', 'rpy="0 0 inf"', "not 3 finite numbers"),
    ('axis xyz="0 2 0"', 'axis xyz="0 0 0"', 'name="elbow"', "axis has zero length"),
    ('type="revolute"', 'type="revolut"', 'name="elbow"', "unknown joint type 'revolut'"),
    (' type="revolute"', "", 'name="elbow"', "attribute 'type' is missing"),
    ('<parent link="base"/>', '<parent link="bse"/>', 'name="elbow"', "the parent link 'bse' does not exist"),
    ('<child link="arm"/>', '<child link="ram"/>', 'name="elbow"', "the child link 'ram' does not exist"),
    ('<child link="arm"/>', "", 'name="elbow"', "the joint has no <child>"),
    ('<child link="arm"/>', '<child link="arm"/><child link="arm"/>', 'link="arm"', "has 2 elements <child>"),
    ('<child link="arm"/>', '<child link="tool"/>', 'name="mount"', "child of two joints"),
    ('<link name="tool"/>', '<link name="tool"/><link name="lost"/>', 'name="lost"', "no parent joint"),
    ('<link name="tool"/>', '<link name="arm"/><link name="tool"/>', 'name="tool"', "'arm' is used twice"),
    ('<link name="tool"/>', '<link/><link name="tool"/>', 'name="tool"', "attribute 'name' is missing"),
    ('name="slide"', 'name="elbow"', 'type="prismatic"', "'elbow' is used twice"),
    ('<parent link="base"/>', '<parent link="tool"/>', 'name="elbow"', "form a cycle"),
    ('lower="0.5"', 'lower="2"', 'name="elbow"', "lower 2.0 is not below upper 1.5"),
    ('effort="30"', 'effort="-3"', 'name="elbow"', "limit of actuator 'elbow' is -3.0"),
    ('damping="0.5"', 'damping="-1"', 'name="elbow"', "damping of 'elbow' is -1.0"),
    ('<limit lower="0.5" upper="1.5" effort="30" velocity="2"/>', "", 'name="elbow"', "needs <limit>"),
    ('<link name="base"/>', '<link name="base"/><xacro:macro name="x"/>', 'name="base"', "xacro"),
    ('mass value="2"', 'mass value="${m}"', "${m}", "\"${m}\", not one finite number"),
    ('<robot name="bot">', '<robot name="$(arg n)">', "<robot", "xacro"),
    ("</robot>", "", "</joint>", "not well-formed XML"),
    ("<robot", "<robott", "<robott", "not well-formed XML"),
    ('name="mount" type="fixed"', 'name="mount" type="continuous"', 'link name="tool"', "against no inertia"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "words"), CASES, ids=[f"{c[3][:50]}" for c in CASES])
def test_error_names_line_and_remedy(old, new, line, words, write):
    assert old in ROBOT
    text = ROBOT.replace(old, new, 1)
    path = write(text)
    with pytest.raises(ModelError) as caught:
        load(path)
    error = caught.value
    assert words in error.what
    assert error.remedy
    if "not well-formed" not in words:
        number = next(i for i, row in enumerate(text.splitlines(), 1) if line in row)
        assert error.where.startswith(f"{path}:{number}, ")
    else:
        assert error.where.startswith(f"{path}:")


LAUGHS = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><robot name="&b;"/>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAUGHS, "entities are refused"),
        ('<!DOCTYPE robot SYSTEM "file:///etc/hostname"><robot/>', "entities are refused"),
        ("<robot>" + "<a>" * 3000 + "</a>" * 3000 + "</robot>", "nested deeper"),
        ("", "not well-formed XML"),
        ("<sdf/>", "the root element is <sdf>"),
        ('<?xml version="1.0" encoding="klingon"?><robot/>', "XML"),
        ("<robot/>", "the robot has no link"),
        ("<robot><robot/></robot>", "the robot has no link"),
    ],
)
def test_hostile_text(text, words, write):
    path = write(text)
    with pytest.raises(ModelError, match=words) as caught:
        load(path)
    assert str(path) in caught.value.where


def test_suffix_xml_is_read_by_its_root(write):
    assert load(write(ROBOT, "bot.xml")).body_names[0] == "base"
