"""States carried to Pinocchio and MuJoCo mean the same motion there, and come back unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.api import peer_orders as peers
from tests.engine.model.robot_files import ROBOTS
from tests.engine.robots import FILES, load_robot, robot_state

pin = pytest.importorskip("pinocchio")
mujoco = pytest.importorskip("mujoco")

PLANAR = """<robot name="cart">
  <link name="world"/>
  <link name="cart"><inertial><mass value="3"/>
    <inertia ixx=".3" iyy=".2" izz=".4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="wheel"><inertial><mass value="1"/>
    <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="planar"><parent link="world"/><child link="cart"/><axis xyz="0 0 1"/></joint>
  <joint name="spin" type="continuous"><parent link="cart"/><child link="wheel"/>
    <origin xyz="1 0 0"/><axis xyz="1 0 0"/></joint>
</robot>"""

MJCF = """<mujoco><worldbody><body name="base" pos="0 0 1"><freejoint name="base"/>
  <inertial pos=".1 0 0" mass="5" diaginertia=".2 .3 .4"/>
  <body name="arm" pos="1 0 0"><joint name="ball" type="ball"/><inertial pos="0 .3 0" mass="2" diaginertia=".1 .1 .1"/>
    <body name="hand" pos="0 .6 0"><joint name="hinge" axis="0 1 0"/>
      <inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/></body></body></body></worldbody></mujoco>"""


def same_energy(system: lj.System, model, q: np.ndarray, v: np.ndarray, peer_q: np.ndarray, peer_v: np.ndarray) -> None:
    data = model.createData()
    kinetic, _ = lj.Dynamics(system).energy(q, v)
    assert pin.computeKineticEnergy(model, data, peer_q, peer_v) == pytest.approx(kinetic, rel=1e-12)


@pytest.mark.parametrize("name", ["panda", "anymal", "talos"])
def test_robots_in_pinocchio(name: str) -> None:
    system, rng = load_robot(name), np.random.default_rng(3)
    file, base = FILES[name]
    root = (pin.JointModelFreeFlyer(),) if base == "free" else ()
    model = pin.buildModelFromUrdf(str(ROBOTS / file), *root)
    q, v = robot_state(system, rng)
    peer = peers.to_pinocchio(system, model, q, v)
    same_energy(system, model, q, v, *peer)
    back = peers.from_pinocchio(system, model, *peer)
    np.testing.assert_allclose(np.concatenate(back), np.concatenate([q, v]), rtol=0, atol=1e-14)


def test_planar_and_unlimited_joints_in_pinocchio(tmp_path: Path) -> None:
    file = tmp_path / "cart.urdf"
    file.write_text(PLANAR)
    system, model = lj.load(file), pin.buildModelFromUrdf(str(file))
    q, v = np.array([0.4, 1.0, -2.0, 2.5]), np.array([0.7, 0.3, -0.2, 1.1])
    peer = peers.to_pinocchio(system, model, q, v)
    same_energy(system, model, q, v, *peer)
    back = peers.from_pinocchio(system, model, *peer)
    np.testing.assert_allclose(np.concatenate(back), np.concatenate([q, v]), rtol=0, atol=1e-14)


@pytest.mark.parametrize("named", [True, False])
def test_free_and_ball_joints_in_mujoco(tmp_path: Path, named: bool) -> None:
    """Joints without a name too, as the free joints of most robots."""
    file = tmp_path / "arm.xml"
    file.write_text(MJCF if named else re.sub(r'(<(?:free)?joint)([^>]*?) name="[^"]*"', r"\1\2", MJCF))
    system, model = lj.load(file), mujoco.MjModel.from_xml_path(str(file))
    q, v = robot_state(system, np.random.default_rng(5))
    (ball,) = (i for i, name in enumerate(system.coordinate_names) if name.endswith(".qw") and i > 0)
    q[ball : ball + 4] = np.array([0.8, 0.0, -0.6, 0.0])
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = peers.to_mujoco(system, model, q, v)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(model, data)
    assert data.energy[1] == pytest.approx(lj.Dynamics(system).energy(q, v)[0], rel=1e-11)
    back = peers.from_mujoco(system, model, data.qpos, data.qvel)
    np.testing.assert_allclose(np.concatenate(back), np.concatenate([q, v]), rtol=0, atol=1e-14)


def test_a_foreign_model_is_refused() -> None:
    system = load_robot("panda")
    with pytest.raises(lj.ArgumentError, match="no joint 'panda_joint1'"):
        peers.to_pinocchio(system, pin.Model(), system.q0, system.v0)
