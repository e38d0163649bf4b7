"""MJCF against MuJoCo itself: sizes, mass, poses at random qpos, passive and actuator forces."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.common.errors import MissingExtraError, ModelError, ModelWarning
from limberjack.engine.model.load import load
from tests.engine.model.kinematics import body_poses
from tests.engine.model.written import writes
from tests.validation.figures import figure

mujoco = pytest.importorskip("mujoco")
write = writes("model.xml")

ARM = """
<mujoco model="arm">
  <option timestep="0.004" gravity="0 0 -3.7" integrator="RK4"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="target" pos="1 0 2"/>
    <body name="stand" pos="0.1 0 0.2" euler="0 0 30">
      <geom type="box" size=".1 .2 .3"/>
      <body name="turret" pos="0 0 0.5" quat="0.8 0 0.6 0">
        <joint name="pan" axis="0 0 1" ref="30" range="-100 100" pos="0.1 0.2 0.3" damping="0.7"
               stiffness="5" springref="10" armature="0.3" frictionloss="0.2"/>
        <joint name="lift" type="slide" axis="0 1 1" ref="0.2" range="-1 1"/>
        <joint name="tilt" axis="1 0 0" pos="0 0 -.3"/>
        <geom type="capsule" size=".05 .3" pos="0.1 0.2 0.3" euler="10 20 30"/>
        <body name="ball" pos="0 0 .6">
          <joint name="socket" type="ball" pos="0.01 0.02 0.03" damping="0.2" armature="0.1"/>
          <geom type="ellipsoid" size=".1 .2 .3"/>
          <site name="tip" pos="0 0 .3" euler="0 90 0"/>
          <body><geom size=".1" pos=".3 0 0"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="pan_motor" joint="pan" gear="3" ctrlrange="-2 2"/>
    <position name="tilt_servo" joint="tilt" kp="40" kv="3" gear="2" forcerange="-5 5"/>
    <velocity joint="lift" kv="7"/>
  </actuator>
</mujoco>
"""
SATELLITE = """
<mujoco>
  <option gravity="0 0 0" integrator="implicitfast"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="bus" pos="1 2 3" euler="10 20 30">
      <freejoint name="float"/>
      <geom type="box" size=".5 .6 .7" mass="100"/>
      <body name="panel" pos="0 1 0">
        <joint type="hinge" axis="0 1 0"/>
        <geom type="box" size="1 .3 .02" mass="5"/>
      </body>
    </body>
    <body name="stone"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""
WRAP = (
    '<mujoco><worldbody><body name="b"><joint name="j" type="slide"/>{body}'
    '<geom size=".1" contype="0" conaffinity="0"/>'
    "</body></worldbody>{more}</mujoco>"
)
FILES = {"arm": ARM, "satellite": SATELLITE}


def _by_hinge(system, model, qpos):
    """Our coordinates of each hinge from MuJoCo's qpos, and the same as one vector."""
    ours = {}
    for j in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)
        kind, address = model.jnt_type[j], model.jnt_qposadr[j]
        hinge = [b.hinge for b in system.bodies if b.hinge.type != "fixed"][j]
        assert name is None or hinge.name == name
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            ours[hinge.name] = np.concatenate([qpos[address + 3 : address + 7], qpos[address : address + 3]])
        else:
            ours[hinge.name] = qpos[address : address + (4 if kind == mujoco.mjtJoint.mjJNT_BALL else 1)]
    return ours


@pytest.mark.parametrize("name", FILES)
def test_sizes_mass_and_options(name, write):
    path = write(FILES[name])
    system, model = load(path), mujoco.MjModel.from_xml_path(str(path))
    assert (system.nq, system.nv) == (model.nq, model.nv)
    assert system.mass == pytest.approx(model.body_mass.sum(), rel=1e-12)
    np.testing.assert_array_equal(system.gravity, model.opt.gravity)
    assert system.dt == model.opt.timestep
    assert system.integrator == {"arm": "rk4", "satellite": "implicit"}[name]
    assert system.name == {"arm": "arm", "satellite": "model"}[name]
    assert system.warnings == ()


DAMPED = """<mujoco><option {integrator}><flag {flag}/></option><worldbody><body>
<joint name="j" axis="0 1 0" damping="{damping}"/>
<geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""


def damped(integrator: str = "", flag: str = "", damping: float = 0.05) -> str:
    return DAMPED.format(integrator=integrator, flag=flag, damping=damping)


def test_eulers_method_is_implicit_where_joints_are_damped(write):
    """As MuJoCo's is: a light rod in honey diverged."""
    assert load(write(damped())).integrator == "implicit"
    assert load(write(damped(damping=0.0))).integrator == "semi_implicit"
    assert load(write(damped(flag='eulerdamp="disable"'))).integrator == "semi_implicit"
    assert load(write(damped(integrator='integrator="RK4"'))).integrator == "rk4"
    path = write(damped(damping=2.0))
    simulation, model = lj.Simulation(load(path)), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    simulation.step(500)
    mujoco.mj_step(model, data, 500)
    figure("angle of a rod in honey", simulation.q[0], data.qpos[0], unit="rad", oracle="MuJoCo", rtol=1e-3)


@pytest.mark.parametrize("name", FILES)
def test_coordinates_are_mujocos(name, write):
    """Body and site poses, and the inertia in the world, at qpos0 and at random qpos."""
    path = write(FILES[name])
    system, model = load(path), mujoco.MjModel.from_xml_path(str(path))
    start = np.concatenate(list(_by_hinge(system, model, model.qpos0).values()))
    np.testing.assert_allclose(system.q0, start, atol=1e-15)
    data, rng = mujoco.MjData(model), np.random.default_rng(2)
    for _ in range(5):
        mujoco.mj_integratePos(model, data.qpos, rng.uniform(-1, 1, model.nv), 1.0)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        poses = body_poses(system, _by_hinge(system, model, data.qpos))
        for i in range(1, model.nbody):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, i) or f"body_{i}"
            R, p = data.xmat[i].reshape(3, 3), data.xpos[i]
            np.testing.assert_allclose(poses[name].position, p, atol=1e-12)
            np.testing.assert_allclose(poses[name].rotation, R, atol=1e-12)
            inertia = system.bodies[system.body_names.index(name)].inertia
            np.testing.assert_allclose(p + R @ inertia.com, data.xipos[i], atol=1e-12)
            principal = data.ximat[i].reshape(3, 3)
            expected = principal @ np.diag(model.body_inertia[i]) @ principal.T
            np.testing.assert_allclose(R @ inertia.about_com @ R.T, expected, rtol=1e-10, atol=1e-13)
        for i, node in enumerate(system.nodes):
            pose = poses[node.body] @ node.pose if node.body else node.pose
            np.testing.assert_allclose(pose.position, data.site_xpos[i], atol=1e-12)
            np.testing.assert_allclose(pose.rotation, data.site_xmat[i].reshape(3, 3), atol=1e-12)


def test_chain_of_massless_bodies(write):
    system = load(write(ARM))
    assert system.body_names == ("stand", "turret_after_pan", "turret_after_lift", "turret", "ball", "body_4")
    assert [b.hinge.type for b in system.bodies] == ["fixed", "revolute", "prismatic", "revolute", "spherical", "fixed"]
    assert [b.inertia.mass > 0 for b in system.bodies] == [True, False, False, True, True, True]
    assert system.node_names[-2:] == ("target", "tip")
    assert system.nodes[0].body is None


def test_forces_of_hinges(write):
    """Spring and damper as MuJoCo's qfrc_passive, armature, friction and limits as its fields."""
    path = write(ARM)
    system, model = load(path), mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(3)
    data.qpos[:3], data.qvel[:] = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, model.nv)
    mujoco.mj_forward(model, data)
    dofs = [dof for body in system.bodies for dof in body.hinge.dofs]
    q = [*data.qpos[:3], 0, 0, 0]
    ours = [-d.stiffness * (x - d.rest) - d.damping * v for d, x, v in zip(dofs, q, data.qvel)]
    np.testing.assert_allclose(ours, data.qfrc_passive, atol=1e-12)
    assert [d.armature for d in dofs] == model.dof_armature.tolist()
    assert [d.friction for d in dofs] == model.dof_frictionloss.tolist()
    pan, lift = dofs[:2]
    np.testing.assert_allclose([pan.lower, pan.upper], np.deg2rad([-100, 100]))
    assert (lift.lower, lift.upper) == (-1, 1)
    assert dofs[2].upper == np.inf


def test_actuators_give_mujocos_forces(write):
    """With the command in our units (motor: joint force; servo, velocity: ctrl / gear)."""
    path = write(ARM)
    system, model = load(path), mujoco.MjModel.from_xml_path(str(path))
    motor, servo, velocity = system.actuators
    assert [(a.name, a.coordinate, a.mode) for a in system.actuators] == [
        ("pan_motor", "pan", "torque"),
        ("tilt_servo", "tilt", "servo"),
        ("lift", "lift", "velocity"),
    ]
    assert (motor.limit, servo.limit, velocity.limit) == (6.0, 10.0, np.inf)
    data = mujoco.MjData(model)
    for ctrl in ([0.5, 0.06, 0.3], [5.0, 3.0, -2.0]):
        data.qpos[:3], data.qvel[:3], data.ctrl[:] = [0.1, 0.2, 0.03], [0.3, 0.4, 0.01], ctrl
        mujoco.mj_forward(model, data)
        q, v = data.qpos[2], data.qvel
        raw = [
            3 * ctrl[0],
            servo.kp * (ctrl[1] / 2 - q) - servo.kd * v[2],
            velocity.kd * (ctrl[2] - v[1]),
        ]
        forces = [np.clip(f, -a.limit, a.limit) for f, a in zip(raw, system.actuators)]
        np.testing.assert_allclose(np.array(forces)[[0, 2, 1]], data.qfrc_actuator[:3], atol=1e-12)


@pytest.mark.parametrize(
    ("gain", "bias", "mode"),
    [
        (500.0, (0.0, -200.0, 0.0), "servo"),
        (30.0, (2.0, -40.0, -3.0), "servo"),
        (7.0, (0.0, 0.0, -4.0), "velocity"),
        (-5.0, (1.5, 0.0, -4.0), "velocity"),
        (3.0, (0.5, 0.0, 0.0), "torque"),
        (2.0, (0.0, -2.0, 0.0), ""),
    ],
)
def test_affine_actuators_give_mujocos_forces(gain, bias, mode, write):
    """The text about the command says which one gives the force of a control; an actuator of the usual law has none."""
    law = f'gear="1.5" gainprm="{gain}" biastype="affine" biasprm="{bias[0]} {bias[1]} {bias[2]}"'
    path = write(WRAP.format(body="", more=f'<actuator><general name="a" joint="j" {law}/></actuator>'))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        system = load(path)
    texts = [text for each in found for text in str(each.message).splitlines() if "the command of" in text]
    assert bool(texts) == bool(mode)
    if not mode:
        return
    factor, offset = re.search(r": (\S+) u(?: (\S+))? for MuJoCo", texts[0]).groups(default="0")
    (a,), model = system.actuators, mujoco.MjModel.from_xml_path(str(path))
    assert a.mode == mode
    data, q, v, u = mujoco.MjData(model), 0.2, -0.3, 0.7
    data.qpos[0], data.qvel[0], data.ctrl[0] = q, v, u
    mujoco.mj_forward(model, data)
    command = float(factor) * u + float(offset)
    force = {"torque": command, "servo": a.kp * (command - q) - a.kd * v, "velocity": a.kd * (command - v)}[mode]
    assert force == pytest.approx(data.qfrc_actuator[0], rel=1e-5)


@pytest.mark.parametrize(
    ("base", "text", "words"),
    [
        ("fixed", SATELLITE, "several bodies hang on the world"),
        ("free", WRAP.format(body="", more=""), "cannot replace the prismatic hinge 'j'"),
    ],
)
def test_base_that_cannot_be_changed(base, text, words, write):
    with pytest.raises(ModelError, match=words):
        load(write(text), base=base)


def test_base_free_and_fixed(write):
    assert load(write(ARM), base="free").nv == 12
    one = SATELLITE.replace('<body name="stone"><freejoint/><geom size=".1"/></body>', "")
    held = load(write(one), base="fixed")
    assert held.nv == 1
    np.testing.assert_allclose(held.bodies[0].hinge.inboard.position, [1, 2, 3])
    R = Rotation.from_euler("XYZ", [10, 20, 30], degrees=True).as_matrix()
    np.testing.assert_allclose(held.bodies[0].hinge.inboard.rotation, R, atol=1e-12)


ROPE = '<tendon><spatial name="t"><site site="p"/><site site="q"/></spatial></tendon>'
SITES = '<site name="p"/><site name="q" pos="1 0 0"/>'
BALL = '<joint name="k" type="ball"{}/>'


@pytest.mark.parametrize(
    ("body", "more", "words"),
    [
        ("", '<actuator><adhesion body="b" ctrlrange="0 1"/></actuator>', "it acts on a body, not on a joint"),
        ("", '<actuator><intvelocity joint="j" actrange="-1 1"/></actuator>', "dynamics 'integrator'"),
        ("", '<actuator><position joint="j" timeconst="1"/></actuator>', "activation dynamics"),
        ("", '<actuator><damper joint="j" kv="1" ctrlrange="0 1"/></actuator>', "gain is not a constant"),
        ("", '<actuator><motor joint="j" gear="0"/></actuator>', "gear 0"),
        ("", '<actuator><general joint="j" biastype="affine" biasprm="0 1 0"/></actuator>', "bias"),
        ("", '<actuator><general joint="j" gainprm="2" biastype="affine" biasprm="0 -1 2"/></actuator>', "bias"),
        (BALL.format(""), '<actuator><motor joint="k"/></actuator>', "acts on a ball or free joint"),
        (BALL.format(' stiffness="1"'), "", "a spring on a ball or free joint"),
        ("<foo/>", "", "MuJoCo refuses the file: .*unrecognized element"),
        ('<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>', "", "MuJoCo refuses the file"),
        ('<body name="b"/>', "", "MuJoCo refuses the file: .*repeated name"),
    ],
)
def test_refused(body, more, words, write):
    path = write(WRAP.format(body=body, more=more))
    with pytest.raises(ModelError, match=words) as caught:
        load(path)
    assert caught.value.where.startswith(str(path))
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("body", "more", "words"),
    [
        ('<geom size="1"/>', "", "contacts are not simulated"),
        (SITES, ROPE.replace('t">', 't" stiffness="2 1">'), "spatial tendons are not simulated"),
        (SITES, ROPE, "spatial tendons are not simulated"),
        (BALL.format(' range="0 30"'), "", "limits of ball joints are ignored"),
        ("", '<option density="1.2"/>', "fluid forces are ignored"),
        ("", '<option><flag limit="disable"/></option>', "these forces act"),
        ("", '<sensor><jointpos joint="j"/></sensor>', "sensors are not read"),
        ('<site name="b"/>', "", "site 'b' is called 'b_site'"),
        ("", '<actuator><motor joint="j" ctrlrange="-1 2"/></actuator>', "not symmetric: ±2 is used"),
    ],
)
def test_warned_of(body, more, words, write):
    path = write(WRAP.format(body=body, more=more))
    with pytest.warns(ModelWarning, match=words):
        system = load(path)
    assert len(system.warnings) == 1
    with pytest.raises(ModelError, match="strict"):
        load(path, strict=True)


def test_what_the_compiler_warns_of_is_reported_and_not_logged_to_a_file(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(WRAP.format(body='<joint name="a"/><joint name="c" type="ball"/>', more=""))
    with pytest.warns(ModelWarning, match="MuJoCo warns: Inertia matrix is too close to singular"):
        load(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.xml"]


def test_long_chains_are_nested_deep(write):
    opening = '<body pos="0 0 -1"><joint/><geom size=".1" contype="0" conaffinity="0"/>'
    count = 100
    text = f"<mujoco><worldbody>{opening * count}{'</body>' * count}</worldbody></mujoco>"
    assert load(write(text)).nv == count


def test_gravity_switched_off(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = load(write(WRAP.format(body="", more='<option><flag gravity="disable"/></option>')))
    np.testing.assert_array_equal(system.gravity, np.zeros(3))


def test_without_mujoco_the_extra_is_named(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r'pip install "limberjack\[mjcf\]"'):
        load(write(ARM))


SITE = '<site pos="0 0 0.1"/>'


@pytest.mark.parametrize(
    ("body", "more", "words"),
    [
        (f'<replicate count="100000000" offset="0 0 1">{SITE}</replicate>', "", "expands to more than 20000"),
        (f'<replicate count="1e8">{SITE}</replicate>', "", "expands to more than 20000"),
        (f'<replicate count="0x5F5E100">{SITE}</replicate>', "", "'count' is \"0x5F5E100\""),
        ("<replicate count='300'>" * 2 + SITE + "</replicate>" * 2, "", "expands to more than 20000"),
        ('<composite type="grid" count="9999 9999 1"/>', "", "expands to more than 20000"),
        ('<flexcomp name="f" type="grid" count="999 999 999"/>', "", "expands to more than 20000"),
        ("", '<asset><hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/></asset>', "asks for 9999800001"),
        ("", '<asset><texture name="t" builtin="flat" type="2d" width="99999" height="99999"/></asset>', "asks for"),
        ("", '<size nuser_body="2000000000"/>', "asks for 2000000000 numbers"),
    ],
)
def test_what_would_hang_mujoco_is_refused_before_it_sees_it(body, more, words, write):
    """In a process of its own, so that a hang is seen as one: the compiler cannot be interrupted."""
    path = write(WRAP.format(body=body, more=more))
    code = f"from limberjack.engine.model.load import load; load({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60.0, check=False)
    assert "ModelError" in done.stderr
    assert words in done.stderr


def test_includes_are_counted_and_their_cycles_end(write, tmp_path):
    (tmp_path / "many.xml").write_text(f'<mujocoinclude><replicate count="30000">{SITE}</replicate></mujocoinclude>')
    with pytest.raises(ModelError, match=r"many\.xml:1.*expands to more than 20000"):
        load(write(WRAP.format(body='<include file="many.xml"/>', more="")))
    (tmp_path / "many.xml").write_text('<mujocoinclude><include file="many.xml"/></mujocoinclude>')
    with pytest.raises(ModelError, match="expands to more than 20000"):
        load(write(WRAP.format(body='<include file="many.xml"/>', more="")))


def test_attached_models_are_counted(write, tmp_path):
    child = f'<mujoco><worldbody><body name="c"><replicate count="30000">{SITE}</replicate></body></worldbody></mujoco>'
    (tmp_path / "child.xml").write_text(child)
    asset = '<asset><model name="m" file="child.xml"/></asset>'
    with pytest.raises(ModelError, match=r"child\.xml:1.*expands to more than 20000"):
        load(write(WRAP.format(body='<attach model="m" body="c" prefix="p"/>', more=asset)))


def test_modest_replication_is_read(write):
    body = (
        '<replicate count="5" offset="0 0 1"><body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    )
    assert load(write(WRAP.format(body=body + "</replicate>", more=""))).nv == 6


def test_inertias_that_no_body_has_are_kept_as_given_with_a_warning(write):
    """MuJoCo refuses them or, balancing, replaces them by their mean; results must equal those of other engines."""
    full = '<inertial pos="0 0 .2" mass="1" fullinertia="1 1 4 .1 .2 .3"/>'
    turned = '<inertial pos="0 .1 0" euler="0 30 0" mass="2" diaginertia="1 1 5"/>'
    child = f'<body name="c"><joint axis="1 0 0"/>{full}</body>'
    path = write(WRAP.format(body=turned + child, more=""))
    with pytest.warns(ModelWarning, match="break the triangle inequality; kept as given") as caught:
        bodies = {body.name: body.inertia.about_com for body in load(path).bodies}
    assert str(caught[0].message).count("kept as given") == 2
    c, s = np.cos(np.radians(30.0)), np.sin(np.radians(30.0))
    R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    np.testing.assert_allclose(bodies["b"], R @ np.diag([1.0, 1.0, 5.0]) @ R.T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(bodies["c"], [[1, 0.1, 0.2], [0.1, 1, 0.3], [0.2, 0.3, 4]], rtol=0, atol=1e-14)
    with pytest.raises(ModelError, match="strict"):
        load(path, strict=True)
