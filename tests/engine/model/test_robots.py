"""Every robot of example-robot-data: loads and agrees with Pinocchio's own reading, or says why not."""

import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.load import load
from tests.engine.model.kinematics import body_poses
from tests.engine.model.robot_files import ROBOTS, urdf_files

pinocchio = pytest.importorskip("pinocchio")
FILES = urdf_files()

# Files that cannot be simulated at all, and why. ur3: no links. romeo: a thumb's last link, a gripper without inertia.
REFUSED = {
    "ur3.urdf": "the robot has no link",
    "romeo_laas_small.urdf": "against no inertia",
    "romeo.urdf": "against no inertia",
}
# Its mimic joints name joints that it does not have; they can move on their own.
MISNAMED = {"alex_psyonic_hands.urdf": r"mimics 'index_q1', which does not exist \(did you mean 'Left_index_q1'\?\)"}


def _name(path: Path) -> str:
    return str(path.relative_to(ROBOTS))


def _quiet_load(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(path, **options)


def test_the_package_has_robots():
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_loads_with_every_mimic_joint_coupled(path):
    words = (REFUSED | MISNAMED).get(path.name)
    if words is None:
        system = _quiet_load(path)
        text = re.sub(r"<!--.*?-->", "", path.read_text(errors="replace"), flags=re.S)
        joints = ElementTree.fromstring(text.encode()).findall("joint")
        mimicking = {j.get("name") for j in joints if j.find("mimic") is not None and j.get("type") != "fixed"}
        assert set(system.loop_names) == {f"{name}_mimic" for name in mimicking}
    else:
        with pytest.raises(ModelError, match=words) as caught:
            load(path)
        assert re.match(rf"{re.escape(str(path))}:\d+, ", caught.value.where)


@pytest.mark.parametrize("path", [path for path in FILES if path.name not in REFUSED], ids=_name)
def test_agrees_with_pinocchio(path):
    system = _quiet_load(path, mimic="independent")
    model = pinocchio.buildModelFromUrdf(str(path))
    links = {f.name for f in model.frames if f.type == pinocchio.FrameType.BODY and f.name != "universe"}
    assert set(system.body_names) == links
    movable = {body.hinge.name for body in system.bodies if body.hinge.type != "fixed"}
    assert movable == set(list(model.names)[1:])
    assert system.nv == model.nv
    assert system.mass == pytest.approx(sum(inertia.mass for inertia in model.inertias), rel=1e-12)
    _compare_poses(system, model)


def _compare_poses(system, model):
    """Link poses at a random configuration, and the centre of mass there."""
    rng = np.random.default_rng(1)
    q, ours = np.zeros(model.nq), {}
    for name, joint in zip(list(model.names)[1:], list(model.joints)[1:]):
        angle = rng.uniform(-1, 1)
        ours[name] = np.array([angle])
        q[joint.idx_q : joint.idx_q + joint.nq] = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    poses = body_poses(system, ours)
    for body in system.bodies:
        theirs = data.oMf[model.getFrameId(body.name, pinocchio.FrameType.BODY)]
        np.testing.assert_allclose(poses[body.name].position, theirs.translation, atol=1e-10)
        np.testing.assert_allclose(poses[body.name].rotation, theirs.rotation, atol=1e-10)
    if model.inertias[0].mass == 0.0:  # Pinocchio leaves what is fixed to the world out of the centre of mass
        com = sum(
            b.inertia.mass * (poses[b.name].position + poses[b.name].rotation @ b.inertia.com) for b in system.bodies
        )
        np.testing.assert_allclose(com / system.mass, pinocchio.centerOfMass(model, data, q), atol=1e-10)


def test_unphysical_inertias_are_named_kept_and_refused_when_strict():
    path = ROBOTS / "allegro_hand_description" / "urdf" / "allegro_right_hand.urdf"
    with pytest.warns(ModelWarning, match="triangle inequality") as caught:
        system = load(path)
    links = ("link_3.0", "link_7.0", "link_11.0", "link_15.0")
    assert len(system.warnings) == len(links)
    for link in links:
        text = next(text for text in system.warnings if f"link '{link}'" in text)
        assert text in str(caught[0].message)
        inertial = ElementTree.parse(path).find(f"link[@name='{link}']/inertial")
        R = pinocchio.rpy.rpyToMatrix(*map(float, inertial.find("origin").get("rpy").split()))
        given = {key: float(value) for key, value in inertial.find("inertia").items()}
        I = np.array([[given[f"i{min(a, b)}{max(a, b)}"] for b in "xyz"] for a in "xyz"])
        body = system.bodies[system.body_names.index(link)]
        np.testing.assert_allclose(body.inertia.about_com, R @ I @ R.T, rtol=1e-12, atol=1e-18)
    with pytest.raises(ModelError, match="refused because of strict.*link_3.0"):
        load(path, strict=True)


def test_free_base_adds_six():
    path = ROBOTS / "ur_description" / "urdf" / "ur5_robot.urdf"
    fixed, free = _quiet_load(path), _quiet_load(path, base="free")
    assert (free.nv, free.nq) == (fixed.nv + 6, fixed.nq + 7)
    assert free.bodies[0].hinge.type == "free"
    assert free.coordinate_names[:2] == ("root.qw", "root.qx")
    assert free.mass == fixed.mass
