"""Fixed tendons of MJCF files against MuJoCo: forces along them, in random trees."""

import warnings

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.api.peer_orders import from_mujoco, to_mujoco
from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.build import build
from limberjack.engine.model.load import load
from limberjack.engine.model.stops import LIMIT_TIME
from limberjack.engine.tables import plant as at
from tests.engine.model.written import writes

mujoco = pytest.importorskip("mujoco")
write = writes("model.xml")

#: gear, gain and bias of each kind of drive in the random models
DRIVES = {
    "motor": '<motor {} gear="2"/>',
    "position": '<position {} kp="7" kv=".3" gear="-1.5" forcerange="-1 1"/>',
    "velocity": '<velocity {} kv=".4"/>',
    "general": '<general {} gainprm="3" biastype="affine" biasprm=".2 -4 -.5"/>',
}


def read(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(path)


def random_model(rng, free):
    """A tree with up to two joints a body, three tendons with springs and dampers, and one drive of each kind."""
    joints = []

    def body(depth):
        i = len(joints)
        made = []
        for k in range(rng.integers(1, 3)):
            kind = rng.choice(["hinge", "slide"])
            axis, pos = " ".join(map(str, np.eye(3)[k])), " ".join(map(str, rng.uniform(-0.2, 0.2, 3)))
            made.append(f'<joint name="j{i}_{k}" type="{kind}" axis="{axis}" pos="{pos}" ref="{rng.uniform(0, 1)}"/>')
            joints.append(f"j{i}_{k}")
        size = " ".join(map(str, rng.uniform(0.05, 0.2, 3)))
        children = "".join(body(depth - 1) for _ in range(rng.integers(0, 3))) if depth else ""
        place = " ".join(map(str, rng.uniform(-0.3, 0.3, 3)))
        return f'<body pos="{place}">{"".join(made)}<geom type="box" size="{size}" mass="1"/>{children}</body>'

    base = body(3) + body(3)
    if free:
        base = f'<body name="base"><freejoint/><geom type="box" size=".3 .2 .1" mass="3"/>{base}</body>'
    tendons = ""
    for t in range(3):
        some = rng.choice(joints, size=min(len(joints), int(rng.integers(1, 5))), replace=False)
        shares = "".join(f'<joint joint="{name}" coef="{rng.uniform(-1, 1)}"/>' for name in some)
        given = f'stiffness="{rng.uniform(1, 5)}" springlength="{rng.uniform(-1, 1)}" damping=".2"'
        tendons += f'<fixed name="t{t}" {given if rng.uniform() < 0.7 else ""}>{shares}</fixed>'
    drives = "".join(text.format(f'tendon="t{rng.integers(3)}"') for text in DRIVES.values())
    return (
        '<mujoco><option integrator="implicitfast"/><default><geom contype="0" conaffinity="0"/></default>'
        f"<worldbody>{base}</worldbody><tendon>{tendons}</tendon><actuator>{drives}</actuator></mujoco>"
    )


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_accelerations_are_mujocos(seed, free, write):
    rng = np.random.default_rng(seed)
    path = write(random_model(rng, free))
    system, model = read(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, rng.uniform(-1, 1, model.nv), 1.0)
    data.qvel[:], data.ctrl[:] = rng.uniform(-1, 1, model.nv), rng.uniform(-1, 1, model.nu)
    mujoco.mj_forward(model, data)
    simulation = lj.Simulation(system)
    simulation.q, simulation.v = from_mujoco(system, model, data.qpos, data.qvel)
    motor, position, velocity, general = data.ctrl
    wanted = (2.0 * motor, position / -1.5, velocity, (3.0 * general + 0.2) / 4.0)
    commands = {actuator.name: value for actuator, value in zip(system.actuators, wanted)}
    simulation.command_vector = np.array([commands.get(name, 0.0) for name in simulation.command_names])
    qpos, qvel = to_mujoco(system, model, simulation.q, simulation.v)
    np.testing.assert_allclose(qpos, data.qpos, atol=1e-14)
    np.testing.assert_allclose(qvel, data.qvel, atol=1e-14)
    turning = slice(3 if free else 0, None)  # the other three of a free joint are in other axes
    _, found = to_mujoco(system, model, simulation.q, simulation.vdot)
    scale = np.abs(data.qacc).max()
    np.testing.assert_allclose(found[turning], data.qacc[turning], rtol=0, atol=1e-10 * scale)


HAND = """
<mujoco model="hand">
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="palm"><freejoint name="float"/><geom type="box" size=".1 .1 .02" mass="1"/>
      <body name="left" pos="0 .05 0"><joint name="l" type="slide" axis="0 1 0" range="0 .04"/>
        <geom size=".02" mass=".1"/></body>
      <body name="right" pos="0 -.05 0"><joint name="r" type="slide" axis="0 -1 0" range="0 .04"/>
        <geom size=".02" mass=".1"/></body>
    </body>
  </worldbody>
  {}
</mujoco>
"""
SHARES = '<joint joint="l" coef="0.5"/><joint joint="r" coef="0.5"/>'


def test_a_gripper_whose_fingers_move_together(write):
    """One drive on the mean of two fingers, which an equality couples: both close at the same rate, in closed form."""
    more = (
        f'<tendon><fixed name="split">{SHARES}</fixed></tendon><equality><joint joint1="l" joint2="r"/></equality>'
        '<actuator><motor name="grip" tendon="split"/></actuator><option gravity="0 0 0"/>'
    )
    system = read(write(HAND.format(more)))
    assert [loop.name for loop in system.loops] == ["equality_0", "split"]
    simulation = lj.Simulation(system)
    simulation.command_vector = np.array([3.0])
    at_finger = [system.velocity_names.index(name) for name in ("l", "r", "split")]
    # the mean moves as far as each finger: 3 N on 2 × 0.1 kg; opposite fingers do not move the palm
    np.testing.assert_allclose(simulation.vdot[at_finger], 15.0, rtol=1e-12)
    simulation.step(50)
    np.testing.assert_allclose(simulation.q[-1], simulation.q[-3:-1], rtol=1e-12)


@pytest.mark.parametrize(
    ("tendon", "sliders"),
    [
        ("", 0),
        ('range="-0.001 0.041"', 0),  # the fingers' limits keep it within its own
        ('range="0 0.03"', 1),
        ('stiffness="2"', 1),
        ('damping="2"', 1),
        ('frictionloss="2"', 1),
        ('armature="2"', 1),
    ],
)
def test_only_tendons_that_act_become_sliders(tendon, sliders, write):
    system = read(write(HAND.format(f'<tendon><fixed name="split" {tendon}>{SHARES}</fixed></tendon>')))
    assert len(system.loops) == sliders
    assert system.nv == 8 + sliders
    assert [body.hinge.parent for body in system.bodies][3:] == ["palm"] * sliders


def test_limits_are_stops_of_the_tendons_inertia(write):
    """D = 1 / (c M⁻¹ cᵀ), which MuJoCo calls invweight0."""
    path = write(HAND.format(f'<tendon><fixed name="split" range="0 0.03">{SHARES}</fixed></tendon>'))
    model = mujoco.MjModel.from_xml_path(str(path))
    stop = build(read(path)).sections["dof"][-1]
    D = 1.0 / model.tendon_invweight0[0]
    np.testing.assert_allclose(stop[[at.D_LOWER, at.D_UPPER]], [0.0, 0.03])
    np.testing.assert_allclose(stop[at.D_LIMIT_K], D / LIMIT_TIME**2, rtol=1e-10)
    np.testing.assert_allclose(stop[at.D_LIMIT_C], 2.0 * D / LIMIT_TIME, rtol=1e-10)


def test_armature_is_inertia_along_the_tendon(write):
    """(M + I cᵀ c) v̇ = τ. MuJoCo leaves out its terms between joints of which none carries the other."""
    bodies = "".join(
        f'<body><joint name="{n}" type="slide"/><geom size=".1" mass="{m}"/></body>' for n, m in ("l1", "r2")
    )
    path = write(
        '<mujoco><default><geom contype="0" conaffinity="0"/></default><option gravity="0 0 0"/>'
        f'<worldbody>{bodies}</worldbody><tendon><fixed armature="3">{SHARES}</fixed></tendon>'
        '<actuator><motor joint="l"/></actuator></mujoco>'
    )
    simulation = lj.Simulation(read(path))
    simulation.command_vector = np.ones(1)
    c = np.array([0.5, 0.5])
    expected = np.linalg.solve(np.diag([1.0, 2.0]) + 3.0 * np.outer(c, c), [1.0, 0.0])
    np.testing.assert_allclose(simulation.vdot, [*expected, c @ expected], rtol=1e-12)


@pytest.mark.parametrize("length", [-0.3, 0.0, 0.4])
def test_springs_that_are_slack_between_two_lengths(length, write):
    given = 'stiffness="2" springlength="-0.1 0.2" damping=".5"'
    path = write(HAND.format(f'<tendon><fixed name="split" {given}>{SHARES}</fixed></tendon>').replace("range", "user"))
    model = mujoco.MjModel.from_xml_path(str(path))
    data, system = mujoco.MjData(model), read(path)
    data.qpos[-2:], data.qvel[-2:] = (length + 0.1, length - 0.1), (0.1, 0.3)
    mujoco.mj_forward(model, data)
    simulation = lj.Simulation(system)
    simulation.q, simulation.v = from_mujoco(system, model, data.qpos, data.qvel)
    fingers = [system.velocity_names.index(name) for name in "lr"]
    np.testing.assert_allclose(simulation.vdot[fingers], data.qacc[-2:], atol=1e-10)


def test_spatial_tendons_are_refused_where_they_drive(write):
    path = write(
        HAND.format(
            '<tendon><spatial name="string"><site site="b"/><site site="c"/></spatial></tendon>'
            '<actuator><motor name="pull" tendon="string"/></actuator>'
        ).replace('<geom type="box"', '<site name="b"/><site name="c" pos="1 0 0"/><geom type="box"')
    )
    with pytest.raises(ModelError, match="acts on a spatial tendon") as caught:
        load(path)
    assert "'pull'" in caught.value.where


@pytest.mark.parametrize(
    ("tendon", "words"),
    [
        ('stiffness="2" springlength="0 0.1" range="0 0.03"', "limits of a tendon whose spring is slack"),
        ('stiffness="2 1"', "polynomial springs are not supported"),
    ],
)
def test_what_a_tendon_cannot_have(tendon, words, write):
    path = write(HAND.format(f'<tendon><fixed name="split" {tendon}>{SHARES}</fixed></tendon>'))
    with pytest.raises(ModelError, match=words) as caught:
        load(path)
    assert "'split'" in caught.value.where
    assert caught.value.remedy


def test_names_that_tendons_share_with_joints_change(write):
    with pytest.warns(ModelWarning, match="tendon 'l' is called 'l_tendon'"):
        system = load(write(HAND.format(f'<tendon><fixed name="l" damping="1">{SHARES}</fixed></tendon>')))
    assert system.velocity_names[-3:] == ("l", "r", "l_tendon")
