"""URDF joints that mimic another become couplings, in files made here and in public robots."""

import numpy as np
import pytest

from limberjack.cli import main
from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.load import load
from limberjack.engine.model.system import Term
from tests.engine.model.robot_files import ROBOTS
from tests.engine.model.written import writes

LINK = (
    '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial></link>\n"
)
HAND = (
    '<robot name="hand">\n'
    + "".join(LINK.format(name) for name in ("palm", "a", "b", "c", "d"))
    + """<joint name="first" type="revolute"><parent link="palm"/><child link="a"/><axis xyz="0 0 1"/>
  <limit lower="0.2" upper="1.2" effort="5" velocity="1"/></joint>
<joint name="second" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <limit lower="-9" upper="9" effort="5" velocity="1"/>
  <mimic joint="first" multiplier="2" offset="0.5"/>
</joint>
<joint name="third" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
  <limit lower="-9" upper="9" effort="5" velocity="1"/>
  <mimic joint="second" multiplier="-0.1"/>
</joint>
<joint name="float" type="floating"><parent link="c"/><child link="d"/></joint>
</robot>
"""
)


write = writes("hand.urdf")


def test_a_mimic_is_a_coupling_without_an_actuator(write):
    system = load(write(HAND))
    assert system.warnings == ()
    assert system.loop_names == ("second_mimic", "third_mimic")
    second, third = system.loops
    assert (second.type, third.type) == ("coupling", "coupling")
    assert second.terms == (Term("second", (1.0,)), Term("first", (-2.0,)))
    assert third.terms == (Term("third", (1.0,)), Term("second", (0.1,)))
    assert (second.offset, third.offset) == (0.5, 0.0)
    assert (second.method, second.switchable, second.driven) == (None, False, False)
    assert [actuator.name for actuator in system.actuators] == ["first"]
    assert system.command_names == ("first",)


def test_a_chain_of_mimics_starts_where_the_first_puts_it(write):
    """q = multiplier q_other + offset, link by link from the middle of the first joint's range."""
    system = load(write(HAND))
    start = dict(zip(system.coordinate_names, system.q0))
    assert start["first"] == pytest.approx(0.7)
    assert start["second"] == pytest.approx(2 * 0.7 + 0.5)
    assert start["third"] == pytest.approx(-0.1 * (2 * 0.7 + 0.5))
    for loop in system.loops:
        assert sum(term.factors[0] * start[term.coordinate] for term in loop.terms) == pytest.approx(loop.offset)


def test_a_start_beyond_the_limits_is_reported(write):
    """No position of the first joint's range, 0.2 to 1.2, puts the second one below 0.9."""
    with pytest.warns(ModelWarning, match=r"'second' starts at \d.*, outside its limits \[-9, 0\]"):
        load(write(HAND.replace('lower="-9" upper="9"', 'lower="-9" upper="0"', 1)))


def test_a_multiplier_of_zero_holds_the_joint(write):
    system = load(write(HAND.replace('multiplier="2"', 'multiplier="0"')))
    assert system.loops[0].terms == (Term("second", (1.0,)),)
    assert system.q0[1] == 0.5


def test_independent_and_refused(write):
    path = write(HAND)
    with pytest.warns(ModelWarning, match="joint 'third': <mimic> is ignored, the joint moves on its own"):
        free = load(path, mimic="independent")
    assert free.loops == ()
    assert [actuator.name for actuator in free.actuators] == ["first", "second", "third"]
    with pytest.raises(ModelError, match="joint 'second' mimics another joint") as caught:
        load(path, mimic="refuse")
    assert caught.value.where.startswith(f"{path}:9, joint 'second'")
    assert "mimic='couple'" in caught.value.remedy


def test_a_fixed_joint_cannot_follow_and_is_named(write):
    text = HAND.replace('name="third" type="prismatic"', 'name="third" type="fixed"')
    with pytest.warns(ModelWarning, match="<mimic> has no effect on joints that are fixed: 'third'"):
        assert load(write(text)).loop_names == ("second_mimic",)


def test_free_base_and_archive(write):
    system = load(write(HAND), base="free")
    assert system.loop_names == ("second_mimic", "third_mimic")
    assert system.nv == 15


BAD = [
    ('joint="first"', 'joint="frist"', 11, "mimics 'frist', which does not exist (did you mean 'first'?)"),
    ('joint="first"', 'joint="xyz"', 11, "joint 'second' mimics 'xyz', which does not exist"),
    ('joint="first"', 'joint="second"', 11, "joint 'second' mimics itself"),
    ('joint="first"', 'joint="third"', 9, "in a circle: second → third → second"),
    ('joint="first"', 'joint="float"', 11, "mimics 'float', a floating joint, which has no single position"),
    ('joint="first" ', "", 11, "attribute 'joint' is missing"),
    ('multiplier="2"', 'multiplier="two"', 11, "attribute 'multiplier' is \"two\", not one finite number"),
    ('offset="0.5"', 'offset="nan"', 11, "attribute 'offset' is \"nan\", not one finite number"),
    ("</joint>\n</robot>", '<mimic joint="first"/></joint>\n</robot>', 17, "the floating joint 'float' cannot mimic"),
    ("<mimic", '<mimic joint="first"/><mimic', 11, "has 2 elements <mimic>"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), BAD, ids=[b[3][:40] for b in BAD])
def test_error_names_line_and_remedy(old, new, line, words, write):
    assert old in HAND
    path = write(HAND.replace(old, new, 1))
    with pytest.raises(ModelError) as caught:
        load(path)
    assert words in caught.value.what
    assert caught.value.where.startswith(f"{path}:{line}, ")
    assert caught.value.remedy


def test_a_mimic_of_a_fixed_joint_is_refused(write):
    text = HAND.replace('name="first" type="revolute"', 'name="first" type="fixed"')
    with pytest.raises(ModelError, match="mimics 'first', a fixed joint, which has no single position"):
        load(write(text))


def test_the_command_line_couples_unless_asked_otherwise(write, capsys):
    path = str(write(HAND))
    assert main(["check", path]) == 0
    assert "0 warnings" in capsys.readouterr().out
    assert main(["check", path, "--mimic", "independent"]) == 0
    assert "2 warnings" in capsys.readouterr().out
    assert main(["check", path, "--mimic", "refuse"]) == 2
    assert "mimics another joint" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "loops", "follower", "leader", "factor"),
    [
        ("panda_description/urdf/panda.urdf", 1, "panda_finger_joint2", "panda_finger_joint1", -1.0),
        ("talos_data/robots/talos_full_v2.urdf", 12, "gripper_left_fingertip_1_joint", "gripper_left_joint", 1.0),
        ("baxter_description/urdf/baxter.urdf", 2, "l_gripper_r_finger_joint", "l_gripper_l_finger_joint", 1.0),
    ],
)
def test_public_robots_have_coupled_fingers(file, loops, follower, leader, factor):
    path = ROBOTS / file
    if not path.is_file():
        pytest.skip("example-robot-data is not installed")
    system = load(path)
    assert len(system.loops) == loops
    loop = system.loops[system.loop_names.index(f"{follower}_mimic")]
    assert loop.terms == (Term(follower, (1.0,)), Term(leader, (factor,)))
    drives = {actuator.coordinate for actuator in system.actuators}
    assert leader in drives
    assert follower not in drives
    np.testing.assert_array_equal(system.v0, np.zeros(system.nv))
