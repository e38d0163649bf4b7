"""Shapes of bodies: what YAML and URDF say arrives, what cannot be drawn is refused or left out with a warning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.validate import validate

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ARM = """
limberjack: 1
name: arm
bodies:
  - {name: arm, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {type: revolute, parent: world, axis: [0, 0, 1]}}
nodes:
  - {name: tool, body: arm, position: [1, 0, 0], rpy: [0, 0, 1.5707963267948966]}
wheels:
  - {name: wheel, body: tool, axis: [0, 1, 0], mass: 1, spin_inertia: 0.1}
shapes:
"""


@pytest.fixture
def load(tmp_path):
    def loaded(*shapes: str) -> tuple[Shape, ...]:
        path = tmp_path / "arm.yaml"
        path.write_text(ARM + "".join(f"  - {shape}\n" for shape in shapes))
        return lj.load(path).shapes

    return loaded


def test_every_type(load):
    box, ball, egg, cone, capsule, mesh = load(
        '{body: world, type: box, size: [1, 2, 3], colour: "#C9a227", opacity: 0.5}',
        "{body: wheel, type: sphere, radius: 0.1, position: [0, 0, 1]}",
        "{body: arm, type: ellipsoid, radii: [1, 2, 3]}",
        "{body: arm, type: cylinder, radius: [0.2, 0], length: 2}",
        "{body: arm, type: capsule, radius: 0.1, length: 1.5, rpy: [0, 1.5707963267948966, 0]}",
        "{body: arm, type: mesh, file: part.STL, scale: [0.001, -0.001, 0.001]}",
    )
    assert (box.body, box.colour, box.opacity, box.size.tolist()) == (None, "#C9a227", 0.5, [1, 2, 3])
    assert (ball.body, ball.size.tolist(), ball.position.tolist(), ball.colour) == ("wheel", [0.1], [0, 0, 1], "")
    assert egg.size.tolist() == [1, 2, 3]
    assert (cone.type, cone.size.tolist()) == ("cylinder", [0.2, 0, 2])
    np.testing.assert_allclose(capsule.rotation[:, 2], [1, 0, 0], atol=1e-15)
    assert (mesh.file, mesh.size.tolist()) == ("part.STL", [0.001, -0.001, 0.001])


def test_an_axis_from_a_point_to_another_on_a_turned_node(load):
    (rod,) = load("{body: tool, type: cylinder, radius: 0.1, from: [1, 0, 0], to: [3, 2, 1], position: [0, 0, 5]}")
    assert rod.body == "arm"
    along = 0.5 * rod.size[2] * rod.rotation[:, 2]
    # the node's x is the arm's y, its y the arm's -x
    np.testing.assert_allclose(rod.position - along, [1 - 0, 1, 5], atol=1e-14)
    np.testing.assert_allclose(rod.position + along, [1 - 2, 3, 6], atol=1e-14)


@pytest.mark.parametrize(
    ("shape", "field", "text"),
    [
        ("{body: leg, type: sphere, radius: 1}", "body", "'leg', which is not a body or node"),
        (
            "{body: arm, type: blob, radius: 1}",
            "type",
            "unknown shape type 'blob'. Use one of: 'box', 'sphere', 'ellipsoid'",
        ),
        ("{body: arm, radius: 1}", "type", "Give the shape type, one of: 'box'"),
        ("{body: arm, type: sphere, size: [1, 1, 1]}", "size", "'size' is not a field of a sphere"),
        ("{body: arm, type: sphere, radius: 0}", "radius", "Give a number above 0"),
        (
            "{body: arm, type: sphere, radius: 1, colour: red}",
            "colour",
            "the colour is 'red'. Give \"#rrggbb\", in quotes",
        ),
        ("{body: arm, type: cylinder, radius: 1}", "", "neither length nor from with to"),
        ("{body: arm, type: cylinder, radius: 1, length: 1, from: [0, 0, 0], to: [0, 0, 1]}", "", "both given"),
        ("{body: arm, type: cylinder, radius: 1, from: [0, 0, 0]}", "", "'to' is missing. Give from and to"),
        ("{body: arm, type: capsule, radius: 1, from: [0, 0, 1], to: [0, 0, 1]}", "", "the same point"),
        ("{body: arm, type: cylinder, radius: [0, 0], length: 1}", "radius", "has no volume"),
        ("{body: arm, type: mesh, file: part.png}", "file", "'part.png' is not a mesh"),
        ("{body: arm, type: mesh, file: part.stl, scale: 0}", "scale", "has no volume"),
        ("{body: arm, type: box, size: [0, 1, 1]}", "size", ""),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(load, shape, field, text):
    with pytest.raises(ModelError) as caught:
        load("{body: arm, type: sphere, radius: 1}", shape)
    assert text in str(caught.value)
    assert f"arm.yaml:12, shapes[1]{'.' + field if field else ''}" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"body": "leg"}, "which is not a body"),
        ({"type": "blob"}, "unknown type of shape"),
        ({"size": np.array([1.0, 2.0])}, "not 3 finite numbers"),
        ({"position": np.array([np.nan, 0, 0])}, "the position"),
        ({"rotation": np.ones((3, 3))}, "not a rotation matrix"),
        ({"colour": "red"}, "the colour is 'red'"),
        ({"opacity": 0.0}, "the opacity is 0"),
    ],
)
def test_systems_made_by_hand_are_checked(load, tmp_path, change, text):
    load("{body: arm, type: box, size: [1, 1, 1]}")
    system = lj.load(tmp_path / "arm.yaml")
    with pytest.raises(ModelError, match=text):
        validate(replace(system, shapes=(replace(system.shapes[0], **change),)))


ROBOT = """<robot name="bot">
  <material name="orange"><color rgba="1 0.5 0 0.25"/></material>
  <link name="base">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry>
      <material name="orange"/></visual>
    <visual><geometry><cylinder radius="0.5" length="2"/></geometry>
      <material name="own"><color rgba="0 0 1 1"/></material></visual>
    <visual><geometry><sphere radius="0.5"/></geometry></visual>
    <visual><geometry><mesh filename="package://bot/arm.dae" scale="2 2 2"/></geometry></visual>
    <!-- more -->
  </link>
</robot>
"""


def test_visuals_of_urdf(tmp_path):
    path = tmp_path / "bot.urdf"
    path.write_text(ROBOT)
    box, cylinder, sphere, mesh = lj.load(path).shapes
    assert (box.body, box.type, box.colour, box.opacity) == ("base", "box", "#ff8000", 0.25)
    np.testing.assert_allclose(box.rotation[:, 0], [0, 1, 0], atol=1e-15)
    assert (box.position.tolist(), box.where) == ([1, 2, 3], f"{path}:5, link 'base'")
    assert (cylinder.size.tolist(), cylinder.colour) == ([0.5, 0.5, 2], "#0000ff")
    assert (sphere.size.tolist(), sphere.colour) == ([0.5], "")
    assert (mesh.type, mesh.file, mesh.size.tolist()) == ("mesh", "package://bot/arm.dae", [2, 2, 2])


@pytest.mark.parametrize(
    ("visual", "text"),
    [
        ("<visual/>", "it needs one <geometry>"),
        ('<visual><geometry><box size="1 1"/></geometry></visual>', "not 3 finite numbers"),
        ('<visual><geometry><torus radius="1"/></geometry></visual>', "not a shape that Limberjack draws"),
        ('<visual><geometry><sphere radius="0"/></geometry></visual>', "it has no volume"),
        (
            '<visual><geometry><mesh filename="a.glb"/></geometry></visual>',
            "'a.glb' is not a mesh that Limberjack draws",
        ),
    ],
)
def test_a_visual_that_cannot_be_drawn_is_left_out_with_a_warning(tmp_path, visual, text):
    path = tmp_path / "bot.urdf"
    path.write_text(ROBOT.replace("<!-- more -->", visual + visual))
    with pytest.warns(ModelWarning, match=r"a <visual> is ignored: .*:11.*1 more like it"):
        system = lj.load(path)
    assert text in system.warnings[0]
    assert len(system.shapes) == 4


def test_the_outline_of_a_flexible_body_moves_as_its_attachments():
    system = lj.load(EXAMPLES / "long_arm.yaml")
    modes = next(body.hinge.modes for body in system.bodies if body.name == "upper_boom.modes")
    assert modes is not None
    assert modes.outline is not None
    (tip,) = (attachment for attachment in modes.attachments if attachment.name == "tip")
    at = int(np.argmin(np.linalg.norm(modes.outline.p - tip.p0, axis=1)))
    np.testing.assert_array_equal(modes.outline.Pt[at], tip.Pt)
    np.testing.assert_array_equal(modes.outline.Pr[at], tip.Pr)
    assert modes.outline.lines.shape == (10, 2)


SCENE = """
<mujoco model="scene">
  <compiler meshdir="parts"/>
  <asset>
    <material name="red" rgba="1 0 0 0.5"/>
    <mesh name="wedge" file="wedge.obj" scale="0.1 0.1 0.2"/>
  </asset>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <geom type="box" size="1 2 3" pos="0 0 1" rgba="0 0 1 1"/>
    <body name="arm" pos="1 2 3" euler="10 20 30">
      <joint name="one" axis="0 1 0" pos="0.1 0 0"/>
      <joint name="two" axis="1 0 0"/>
      <geom type="capsule" fromto="0 0 0 0.6 0 0.8" size="0.05" material="red"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3"/>
      <geom type="cylinder" size="0.1 0.4" euler="90 0 0"/>
      <geom type="sphere" size="0.2" group="3"/>
      <geom type="mesh" mesh="wedge" pos="0.5 0.6 0.7" euler="0 45 0"/>
    </body>
  </worldbody>
</mujoco>
"""
OBJ = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_geoms_of_mjcf(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "wedge.obj").write_text(OBJ)
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    with pytest.warns(ModelWarning):
        system = lj.load(path)
    box, capsule, egg, cylinder, mesh = system.shapes
    assert (box.body, box.size.tolist(), box.colour) == (None, [2, 4, 6], "#0000ff")
    assert (capsule.body, capsule.colour, capsule.opacity) == ("arm", "#ff0000", 0.5)
    np.testing.assert_allclose(capsule.size, [0.05, 1.0])
    ends = [capsule.position + side * capsule.rotation[:, 2] for side in (-0.5, 0.5)]
    np.testing.assert_allclose(sorted(map(list, ends)), [[0, 0, 0], [0.6, 0, 0.8]], atol=1e-12)
    assert egg.size.tolist() == [0.1, 0.2, 0.3]
    np.testing.assert_allclose(np.abs(cylinder.rotation[:, 2]), [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(cylinder.size, [0.1, 0.1, 0.8])
    # every corner of the file where MuJoCo has it
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    geom = 6
    drawn = data.geom_xmat[geom].reshape(3, 3) @ model.mesh_vert.T + data.geom_xpos[geom][:, None]
    R, p = lj.Dynamics(system).pose("arm", system.q0)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]]) * mesh.size
    ours = R @ (mesh.rotation @ corners.T + mesh.position[:, None]) + p[:, None]
    assert mesh.file.endswith("wedge.obj")
    for corner in ours.T:
        assert np.linalg.norm(drawn.T - corner, axis=1).min() < 1e-6
