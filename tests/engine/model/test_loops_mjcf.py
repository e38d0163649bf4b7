"""MJCF equality constraints against MuJoCo's own residuals (efc_pos), and what is refused or warned of."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.readers.mjcf_reader import read_mjcf
from limberjack.engine.model.validate import validate
from tests.engine.model.kinematics import body_poses

mujoco = pytest.importorskip("mujoco")

HEAD = """
<mujoco model="closed">
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="anchor" pos="0.5 0 0" euler="0 0 30"/>
    <body name="a" pos="0 0 0.1" euler="10 20 30">
      <joint name="ja" axis="0 0 1" ref="20"/>
      <geom size=".1" pos="0.1 0 0"/>
      <site name="sa" pos=".1 .2 .3" euler="5 6 7"/>
      <body name="b" pos="0.3 0 0">
        <joint name="jb" type="slide" axis="1 0 0" ref="0.3"/>
        <geom size=".1" pos="0.1 0 0"/>
      </body>
    </body>
    <body name="c" pos="1 1 1" euler="20 0 0"><freejoint name="float"/><geom size=".2"/>
      <site name="sc" pos=".3 .2 .1" euler="50 60 70"/>
      <body name="plate" pos="0 0 1"><geom size=".1"/></body></body>
  </worldbody>
  <tendon>
    <fixed name="t"><joint joint="ja" coef="1.5"/></fixed>
    <fixed name="both"><joint joint="ja" coef="0.5"/><joint joint="jb" coef="-2"/></fixed>
    <spatial name="string"><site site="sa"/><site site="sc"/></spatial>
  </tendon>
"""
EQUALITIES = """
    <connect name="bodies" body1="b" body2="c" anchor="0.1 0.2 0.3"/>
    <connect name="ground" body1="b" anchor="0.1 0.2 0.3"/>
    <connect name="sites" site1="sa" site2="sc"/>
    <weld name="as_is" body1="b" body2="c"/>
    <weld name="posed" body1="c" body2="b" relpose="0.1 0.2 0.3 0.8 0 0.6 0" anchor="0.3 0.1 0.2"/>
    <weld name="site_weld" site1="sa" site2="anchor"/>
    <weld name="to_ground" body1="c" anchor="0.3 0.1 0.2"/>
    <joint name="cam" joint1="ja" joint2="jb" polycoef="0.1 2 3 4 5"/>
    <joint name="held" joint1="jb" polycoef="0.1 2 3 4 5"/>
    <joint joint1="jb" joint2="ja" polycoef="0.2 0 0 0 0"/>
"""
TENDONS = """
    <tendon name="alone" tendon1="both" polycoef="0.1 2 3 4 5"/>
    <tendon name="tendon_cam" tendon1="both" tendon2="t" polycoef="0.1 2 3 4 5"/>
    <tendon name="pair" tendon1="t" tendon2="both" polycoef="0.3 2 0 0 0"/>
"""


@pytest.fixture
def write(tmp_path):
    def write_text(equalities, more=""):
        path = tmp_path / "closed.xml"
        path.write_text(f"{HEAD}<equality>{equalities}</equality>{more}</mujoco>")
        return path

    return write_text


def read(path):
    """The checked system, its loops as the file has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return validate(read_mjcf(path), inertia="warn")


def by_hinge(system, model, qpos):
    """Our coordinates of each hinge from MuJoCo's qpos."""
    q = {}
    for name in ("ja", "jb"):
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        q[name] = qpos[[model.jnt_qposadr[joint]]]
    start = model.jnt_qposadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, "float")]
    q["float"] = np.concatenate([qpos[start + 3 : start + 7], qpos[start : start + 3]])
    return q


def errors(system, loop, q):
    """How far the loop is open: [a - b in the world; -vector part of b's quaternion in a], or the sum of its terms."""
    if not loop.joins:
        powers = ((factor, q[term.coordinate][0], k) for term in loop.terms for k, factor in enumerate(term.factors, 1))
        return np.array([sum(factor * x**k for factor, x, k in powers) - loop.offset])
    poses = body_poses(system, q)
    a = (poses[loop.hinge.parent] if loop.hinge.parent else type(loop.hinge.inboard)()) @ loop.hinge.inboard
    b = (poses[loop.body] if loop.body else type(loop.hinge.inboard)()) @ loop.hinge.outboard
    turn = Rotation.from_matrix(a.rotation.T @ b.rotation).as_quat(canonical=True)[:3]
    return np.concatenate([a.position - b.position, -turn if loop.type == "weld" else []])


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_loops_are_open_as_far_as_mujocos_constraints(seed, write):
    """efc_pos at qpos0 and at random configurations: position error, turn error, polynomial."""
    path = write(EQUALITIES + TENDONS)
    system, model = read(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    if seed is not None:
        step = np.random.default_rng(seed).uniform(-1, 1, model.nv)
        mujoco.mj_integratePos(model, data.qpos, step, 1.0)
    mujoco.mj_forward(model, data)
    assert len(system.loops) == model.neq
    q = by_hinge(system, model, data.qpos)
    for i, loop in enumerate(system.loops):
        rows = (data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)) & (data.efc_id == i)
        theirs, ours = data.efc_pos[rows], errors(system, loop, q)
        if loop.type == "weld" and theirs[3:] @ ours[3:] < 0.0:  # MuJoCo does not choose the sign of the quaternion
            ours[3:] *= -1.0
        np.testing.assert_allclose(ours, theirs, atol=1e-12, err_msg=loop.name)


def test_types_names_and_coefficients(write):
    system = read(write(EQUALITIES))
    types = {loop.name: loop.type for loop in system.loops}
    assert types == {
        "bodies": "point", "ground": "point", "sites": "point", "as_is": "weld", "posed": "weld", "site_weld": "weld",
        "to_ground": "weld", "cam": "coupling", "held": "coupling", "equality_9": "coupling",
    }  # fmt: skip
    assert all(loop.closed and not loop.switchable and loop.method is None for loop in system.loops)
    cam, held, last = system.loops[-3:]
    assert [term.coordinate for term in cam.terms] == ["ja", "jb"]
    assert cam.terms[1].factors[3] == -5.0  # of the highest power, which moving the origin leaves alone
    assert [(term.coordinate, term.factors) for term in held.terms] == [("jb", (1.0,))]
    assert held.offset == pytest.approx(0.3 + 0.1)
    assert [term.coordinate for term in last.terms] == ["jb"]  # all factors of ja are zero
    assert (system.held, system.held_rates) == ((), ())


@pytest.mark.parametrize("how", ["active", "flag"])
def test_inactive_ones_are_switchable_and_open(how, write):
    if how == "active":
        path = write('<weld name="w" body1="b" body2="c" active="false"/><connect body1="a" body2="c" anchor="0 0 0"/>')
    else:
        path = write('<weld name="w" body1="b" body2="c"/>', '<option><flag equality="disable"/></option>')
    system = read(path)
    assert (system.loops[0].switchable, system.loops[0].closed) == (True, False)
    assert system.command_names[-1] == "w.closed"
    assert [loop.switchable for loop in system.loops[1:]] == [False] * (how == "active")


def test_softness_is_warned_of(write):
    text = '<connect name="soft" body1="b" body2="c" anchor="0 0 0" {}/>'
    for change in ('solref="0.05 1"', 'solimp="0.5 0.9 0.01"'):
        (warning,) = [text for text in read(write(text.format(change))).warnings if "solref and" in text]
        assert warning.endswith("solref and solimp are ignored, loops close exactly: equality 'soft'")
    assert not any("solref and" in text for text in read(write(text.format(""))).warnings)


def test_torquescale(write):
    text = '<weld name="w" body1="b" body2="c" torquescale="{}"/>'
    scaled = read(write(text.format(3)))
    assert any("torquescale is ignored: equality 'w'" in text for text in scaled.warnings)
    assert scaled.loops[0].type == "weld"
    free = read(write(text.format(0)))
    assert not any("torquescale is" in text for text in free.warnings)
    assert (free.loops[0].type, free.loops[0].hinge.type) == ("point", "spherical")


def test_names_that_are_taken_twice_get_a_number(write):
    second = '<connect name="equality_0" body1="a" body2="c" anchor="0 0 0"/>'
    names = read(write(f'<connect body1="b" body2="c" anchor="0 0 0"/>{second}')).loop_names
    assert len(set(names)) == 2
    assert names[0] == "equality_0"


@pytest.mark.parametrize(
    ("equality", "name", "words"),
    [
        ('<tendon name="rope" tendon1="string"/>', "rope", "spatial tendons are not supported"),
        ('<tendon name="bent" tendon1="t" tendon2="both" polycoef="0 0 1 0 0"/>', "bent", "with several joints"),
        (
            '<connect name="same" body1="c" body2="plate" anchor="0 0 0"/>',
            "same",
            "bodies that are fixed to each other",
        ),
    ],
)
def test_refused(equality, name, words, write):
    path = write(equality)
    with pytest.raises(ModelError, match=words) as caught:
        validate(read_mjcf(path), inertia="warn")
    assert caught.value.where.startswith(f"{path}, equality '{name}'")
    assert caught.value.remedy


def test_what_mujoco_refuses_is_reported_in_its_words(write):
    with pytest.raises(ModelError, match="MuJoCo refuses the file"):
        read_mjcf(write('<connect body1="nobody" body2="c" anchor="0 0 0"/>'))
