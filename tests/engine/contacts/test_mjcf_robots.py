"""Legged robots of MJCF stand on the feet of their files as they do in MuJoCo."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import limberjack as lj
from tests.engine.model.robot_files import ROBOTS
from tests.validation.figures import figure

#: robot → (file, last letters of joints → angle in the stance)
ROBOT = {
    "go2": ("go2_description/urdf/go2.urdf", {"hip_joint": 0.0, "thigh_joint": 0.8, "calf_joint": -1.6}),
    "anymal_c": ("anymal_c_simple_description/urdf/anymal.urdf", {"HAA": 0.0, "HFE": 0.6, "KFE": -1.2}),
}
STIFFNESS, DAMPING = 300.0, 6.0
DROP, DT = 0.002, 1e-4


def stance(name: str, angles: dict[str, float]) -> float:
    """Angle of a joint; ANYmal's hind knees bend the other way."""
    angle = next(value for end, value in angles.items() if name.endswith(end))
    return -angle if name[1] == "H" and name[-3:] in angles else angle


def as_mjcf(robot: str, path: Path) -> Path:
    """The robot's URDF as an MJCF file, floating, over a floor, with springs that hold the stance."""
    file, angles = ROBOT[robot]
    text = re.sub(r"<visual.*?</visual>", "", (ROBOTS / file).read_text(), flags=re.S)
    text = text.replace("package://example-robot-data/robots", str(ROBOTS))
    text = text.replace('ixy="0.001" ixz="0.001"', 'ixy="0" ixz="0"').replace('iyz="0.001"', 'iyz="0"')  # of no body
    compiler = '<compiler discardvisual="true" strippath="false" fusestatic="true" balanceinertia="true"/>'
    spec = mujoco.MjSpec.from_string(re.sub(r"(<robot[^>]*>)", rf"\1<mujoco>{compiler}</mujoco>", text, count=1))
    spec.worldbody.first_body().add_freejoint(name="root")
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    spec.option.timestep = DT
    spec.compile()
    root = ElementTree.fromstring(spec.to_xml())
    springs = {"stiffness": f"{STIFFNESS}", "damping": f"{DAMPING}", "frictionloss": "0"}
    for joint in (each for each in root.iter("joint") if each.get("type") != "free"):
        joint.attrib.update(springs, springref=f"{stance(joint.attrib['name'], angles)}")
    for geom in (each for each in root.iter("geom") if each.get("name") != "floor"):
        geom.set("contype", "0")  # links touch the floor alone: hulls of neighbours overlap
    path.write_text(ElementTree.tostring(root, encoding="unicode"))
    return path


def lowest(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Height of the lowest point of each ball and mesh."""
    found = []
    for i in range(model.ngeom):
        mesh = int(model.geom_dataid[i])
        if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_SPHERE:
            found.append(data.geom_xpos[i][2] - model.geom_size[i][0])
        elif mesh >= 0:
            corners = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
            found.append((corners @ data.geom_xmat[i].reshape(3, 3).T)[:, 2].min() + data.geom_xpos[i][2])
    return np.array(found)


@pytest.mark.parametrize("robot", ROBOT)
def test_a_robot_stands_as_in_mujoco(robot, tmp_path):
    """A second after a drop: MuJoCo's contacts, as hard and as sticky as its step allows, nearly do what these do."""
    path = as_mjcf(robot, tmp_path / f"{robot}.xml")
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.cone, model.opt.impratio, model.geom_solref[:] = mujoco.mjtCone.mjCONE_ELLIPTIC, 1000.0, (5.0 * DT, 1.0)
    data = mujoco.MjData(model)
    for j in range(1, model.njnt):
        data.qpos[model.jnt_qposadr[j]] = model.qpos_spring[model.jnt_qposadr[j]]
    mujoco.mj_forward(model, data)
    data.qpos[2] += DROP - lowest(model, data).min()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lj.ModelWarning)
        simulation = lj.Simulation(lj.load(path, contacts=True))
    simulation.q = np.concatenate([data.qpos[3:7], data.qpos[:3], data.qpos[7:]])
    mujoco.mj_step(model, data, round(1.0 / DT))
    simulation.step(round(1.0 / DT))
    ours, feet = mujoco.MjData(model), np.argsort(lowest(model, data))[:4]
    ours.qpos[:] = np.concatenate([simulation.q[4:7], simulation.q[:4], simulation.q[7:]])
    mujoco.mj_kinematics(model, ours)
    assert (np.sort(lowest(model, data))[4:] > 0.01).all(), "it lies"
    figure("feet of robots that stand", lowest(model, ours)[feet], 0.0, unit="m", oracle="the floor", atol=1e-5)
    figure(
        "links of robots that stand", ours.geom_xpos[1:], data.geom_xpos[1:], unit="m", oracle="MuJoCo, hard", atol=5e-5
    )
    figure("joints of robots that stand", ours.qpos[7:], data.qpos[7:], unit="rad", oracle="MuJoCo, hard", atol=5e-5)
