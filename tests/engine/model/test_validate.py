"""Systems made by hand go through the same checks as those from files."""

import math
from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import from_quaternion, from_rpy, nearest, to_quaternion
from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Interface, Loop, Node, Pose, System, Term
from limberjack.engine.model.validate import validate

SOLID = Inertia(1.0, np.zeros(3), np.eye(3))
Z = np.array([[0.0, 0.0, 1.0]])


def body(name, parent=None, **hinge):
    settings = {"type": "revolute", "axes": Z} | hinge
    return Body(name, SOLID, Hinge(f"{name}_hinge", parent=parent, **settings))


def chain():
    return System("chain", (body("b", "a"), body("a"), body("c", "b")), (Node("tip", "c"),))


def with_hinge(**changes):
    system = chain()
    first = system.bodies[0]
    return replace(system, bodies=(replace(first, hinge=replace(first.hinge, **changes)), *system.bodies[1:]))


def with_inertia(*args):
    return replace(chain(), bodies=(replace(body("a"), inertia=Inertia(*args)),), nodes=())


def test_sorts_fills_in_and_leaves_the_original_alone():
    given = with_hinge(axes=np.array([[0.0, 0.0, 5.0]]))
    checked = validate(given)
    assert checked.body_names == ("a", "b", "c")
    np.testing.assert_array_equal(checked.bodies[1].hinge.axes, Z)
    np.testing.assert_array_equal(given.bodies[0].hinge.axes, 5 * Z)
    assert all(b.hinge.dofs == (Dof(),) for b in checked.bodies)
    np.testing.assert_array_equal(checked.q0, np.zeros(3))
    np.testing.assert_array_equal(checked.v0, np.zeros(3))
    again = validate(checked)
    assert again.body_names == checked.body_names
    assert again.warnings == ()


def test_several_roots_and_depth_first_order():
    bodies = (body("a"), body("x"), body("b", "a"), body("y", "x"), body("c", "a"))
    assert validate(System("two", bodies)).body_names == ("a", "b", "c", "x", "y")


def test_a_deep_chain_needs_no_deep_stack():
    bodies = [body("b0"), *(body(f"b{i}", f"b{i - 1}") for i in range(1, 3000))]
    assert validate(System("long", tuple(reversed(bodies)))).body_names[-1] == "b2999"


def test_free_and_spherical_start_at_the_unit_quaternion():
    system = System(
        "s", (body("a", type="free", axes=np.zeros((0, 3))), body("b", "a", type="spherical", axes=np.zeros((0, 3))))
    )
    np.testing.assert_array_equal(validate(system).q0, [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])


def test_quaternion_is_made_unit():
    q0 = np.array([1.0005, 0, 0, 0])
    checked = validate(System("s", (body("a", type="spherical", axes=np.zeros((0, 3)), q0=q0),)))
    np.testing.assert_array_equal(checked.q0, [1, 0, 0, 0])


BROKEN = (2.0, np.zeros(3), np.diag([1.0, 1.0, 3.0]))


def test_inertia_policy():
    with pytest.raises(ModelError, match="body 'a': the principal moments 1, 1, 3 kg·m² break the triangle"):
        validate(with_inertia(*BROKEN))
    with pytest.warns(ModelWarning, match="body 'a'.*triangle"):
        checked = validate(with_inertia(*BROKEN), inertia="warn")
    assert len(checked.warnings) == 1
    np.testing.assert_array_equal(checked.bodies[0].inertia.about_com, BROKEN[2])


def test_start_beyond_a_limit_is_reported():
    with pytest.warns(ModelWarning, match="'b_hinge' starts at 3, outside its limits"):
        validate(with_hinge(q0=np.array([3.0]), dofs=(Dof(lower=-1, upper=1),)))


EMPTY = np.zeros((0, 3))
TWINS = (Sensor("s", "gyro", "a"), Sensor("s.x", "rate", "a_hinge"))
CLASH = System(
    "s",
    (
        body("a", type="universal", axes=np.eye(3)[:2]),
        replace(body("b", "a"), hinge=Hinge("a_hinge.angle1", "revolute", "a", axes=Z)),
    ),
)
CASES = [
    (with_hinge(type="wobbly"), "unknown type 'wobbly'"),
    (with_hinge(parent="nobody"), "hangs on 'nobody', which does not exist"),
    (with_hinge(parent="c"), "cycle"),
    (with_hinge(parent="b"), "cycle"),
    (with_hinge(name="a_hinge"), "the name 'a_hinge' is used twice among the hinges"),
    (with_hinge(name=""), "empty"),
    (with_hinge(name="x" * 201), "longer than 200"),
    (with_hinge(axes=EMPTY), r"axes of shape \(0, 3\)"),
    (with_hinge(axes=np.ones((2, 3))), r"axes of shape \(2, 3\)"),
    (with_hinge(axes=np.full((1, 3), np.nan)), "zero length or is not finite"),
    (with_hinge(axes=Z * 0), "zero length"),
    (with_hinge(type="universal", axes=np.array([[0, 0, 1.0], [0, 1, 1]])), "not at right angles"),
    (with_hinge(type="gimbal", axes=np.array([[0, 0, 1.0], [0, 1, 0], [0, 1, 0]])), "not at right angles"),
    (with_hinge(type="rolling", axes=np.eye(3)[:2]), "radius of hinge 'b_hinge' is 0.0"),
    (with_hinge(radius=1.0), "only a rolling hinge has a radius"),
    (with_hinge(pitch=1.0), "only a helical hinge has a pitch"),
    (with_hinge(type="helical", pitch=math.nan), "pitch of hinge 'b_hinge' is not finite"),
    (with_hinge(map=np.eye(6)), "type revolute has a map"),
    (with_hinge(type="custom", axes=EMPTY), "type custom has no map"),
    (with_hinge(type="custom", axes=EMPTY, map=np.ones((6, 2))), "linearly dependent"),
    (with_hinge(type="custom", axes=EMPTY, map=np.ones((5, 1))), r"shape \(5, 1\)"),
    (with_hinge(inboard=Pose(2 * np.eye(3))), "not orthonormal"),
    (with_hinge(outboard=Pose(np.diag([1.0, 1, -1]))), "not orthonormal and right-handed"),
    (with_hinge(inboard=Pose(np.eye(3), np.zeros(2))), "finite numbers"),
    (with_hinge(outboard=Pose(np.eye(3), np.array([0, 0, np.inf]))), "finite numbers"),
    (with_hinge(dofs=(Dof(), Dof())), "2 dof parameter sets"),
    (with_hinge(dofs=(Dof(damping=-1),)), "damping of 'b_hinge' is -1"),
    (with_hinge(dofs=(Dof(armature=math.inf),)), "armature of 'b_hinge' is inf"),
    (with_hinge(dofs=(Dof(friction_rate=0),)), "friction_rate of 'b_hinge' is 0"),
    (with_hinge(dofs=(Dof(lower=1, upper=0),)), "lower 1 is not below upper 0"),
    (with_hinge(dofs=(Dof(lower=math.inf),)), "lower of 'b_hinge' is inf"),
    (with_hinge(dofs=(Dof(upper=math.nan),)), "upper of 'b_hinge' is nan"),
    (with_hinge(dofs=(Dof(upper=1, limit_stiffness=0.0),)), "limit stiffness of 'b_hinge' is 0"),
    (with_hinge(type="spherical", axes=EMPTY, dofs=(Dof(stiffness=1),) * 3), "quasi-velocity of a spherical hinge"),
    (with_hinge(type="free", axes=EMPTY, dofs=(Dof(upper=1),) * 6), "no spring and no limits"),
    (with_hinge(q0=np.zeros(2)), r"initial q0 of hinge 'b_hinge' is \[0.0, 0.0\]"),
    (with_hinge(v0=np.array([np.nan])), "initial v0 of hinge"),
    (with_hinge(type="spherical", axes=EMPTY, q0=np.ones(4)), "has the norm 2"),
    (with_inertia(-1.0), "mass of body 'a' is -1.0"),
    (with_inertia(math.nan), "mass of body 'a' is nan"),
    (with_inertia(1.0, np.zeros(2), np.eye(3)), "'com' of body 'a'"),
    (with_inertia(1.0, np.zeros(3), np.full((3, 3), np.nan)), "'inertia' of body 'a'"),
    (with_inertia(1.0, np.zeros(3), np.eye(3) + np.eye(3, k=1)), "not symmetric"),
    (with_inertia(1.0, np.zeros(3), -np.eye(3)), "not positive"),
    (with_inertia(0.0), "against no inertia"),
    (replace(chain(), bodies=()), "no bodies"),
    (replace(chain(), gravity=np.zeros(2)), "gravity is not 3"),
    (replace(chain(), dt=0.0), "dt is 0.0"),
    (replace(chain(), dt=math.nan), "dt is nan"),
    (replace(chain(), integrator="euler"), "unknown integrator 'euler'"),
    (replace(chain(), nodes=(Node("a", "c"),)), "'a' is used twice among the bodies and nodes"),
    (replace(chain(), nodes=(Node("n", "z"),)), "node 'n' sits on body 'z', which does not exist"),
    (replace(chain(), nodes=(Node("n", None, Pose(np.ones((3, 3)))),)), "not orthonormal"),
    (replace(chain(), actuators=(Actuator("m", "z"),)), "drives 'z', which is not a velocity coordinate"),
    (replace(chain(), actuators=(Actuator("m", "a_hinge", "pid"),)), "unknown mode 'pid'"),
    (replace(chain(), actuators=(Actuator("m", "a_hinge", "servo", kp=-1),)), "kp of actuator 'm' is -1"),
    (replace(chain(), actuators=(Actuator("m", "a_hinge", "velocity"),)), "of mode velocity has no kd"),
    (replace(chain(), actuators=(Actuator("m", "a_hinge", kd=1),)), "kd, which mode torque does not use"),
    (replace(chain(), actuators=(Actuator("m", "a_hinge", limit=math.nan),)), "limit of actuator 'm' is nan"),
    (replace(chain(), actuators=(Actuator("m", "a_hinge", initial=math.inf),)), "initial of actuator 'm' is inf"),
    (replace(chain(), sensors=(Sensor("s", "nose", "a"),)), "unknown type 'nose'"),
    (replace(chain(), sensors=(Sensor("s", "position", "a"),)), "measures 'a', which is not a coordinate"),
    (replace(chain(), sensors=(Sensor("s", "gyro", "z"),)), "measures 'z', which is not a node"),
    (replace(chain(), sensors=TWINS), "both have the output 's.x'"),
    (CLASH, "both have the coordinate 'a_hinge.angle1'"),
]  # fmt: skip


@pytest.mark.parametrize(("system", "words"), CASES, ids=[c[1] for c in CASES])
def test_refused(system, words):
    with pytest.raises(ModelError, match=words) as caught:
        validate(system)
    assert caught.value.where
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("com", "hinge", "movable"),
    [
        ([0, 0, 1], {}, False),  # point mass on the axis
        ([1, 0, 0], {}, True),
        ([0, 0, 1], {"type": "prismatic"}, True),
        ([0, 0, 1], {"type": "cylindrical"}, False),
        ([0, 0, 1], {"type": "universal", "axes": np.eye(3)[:2]}, True),
        ([0, 0, 1], {"type": "universal", "axes": np.eye(3)[1:]}, False),
        ([1, 1, 1], {"type": "gimbal", "axes": np.eye(3)}, False),
        ([0, 0, 1], {"type": "planar", "axes": np.eye(3)[:2]}, False),
        ([0, 0, 1], {"type": "rolling", "axes": np.eye(3)[1:], "radius": 0.5}, True),
        ([0, 0, 1], {"type": "helical", "pitch": 0.1}, True),
        ([0, 0, 1], {"outboard": Pose(np.eye(3), np.array([1.0, 0, 0]))}, True),
        ([0, 0, 1], {"dofs": (Dof(armature=0.1),)}, True),
    ],
)  # fmt: skip
def test_a_point_mass_moves_only_where_it_resists(com, hinge, movable):
    """A leaf is refused exactly when some motion of its hinge leaves its point mass at rest."""
    carrier = Body("carrier", SOLID, Hinge("mount", "fixed", None))
    point = Body("p", Inertia(1.0, np.array(com, dtype=float)), body("p", "carrier", **hinge).hinge)
    system = System("s", (carrier, point))
    if movable:
        assert validate(system).nv >= 1
    else:
        with pytest.raises(ModelError, match="against no inertia"):
            validate(system)


def test_what_is_fixed_on_a_massless_leaf_counts():
    wrist = replace(body("wrist"), inertia=Inertia())
    away = Pose(np.eye(3), np.array([1.0, 0, 0]))
    for pose, resists in ((away, True), (Pose(), False)):
        tool = replace(body("tool", "wrist", type="fixed", axes=EMPTY, inboard=pose), inertia=Inertia(1.0))
        if resists:
            assert validate(System("s", (wrist, tool))).nv == 1
        else:
            with pytest.raises(ModelError, match="against no inertia"):
                validate(System("s", (wrist, tool)))


def test_rotations_agree_and_invert():
    rng = np.random.default_rng(4)
    for _ in range(200):
        q = rng.normal(size=4) * rng.choice([1, 1e-3], size=4)
        q /= np.linalg.norm(q) * (1 if q[0] >= 0 else -1)
        np.testing.assert_allclose(to_quaternion(from_quaternion(q)), q, atol=1e-14)
    R = from_rpy([0.1, 0.2, 0.3])
    np.testing.assert_allclose(nearest(R + 1e-4), R, atol=1e-3)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)


@pytest.mark.parametrize(
    ("interface", "words"),
    [
        (Interface(inputs=("",)), r"fmu.inputs\[0\]: the pattern '' is empty"),
        (Interface(outputs=("a", "b\n")), r"fmu.outputs\[1\]: the pattern 'b\\n'"),
        (Interface(parameters=(1,)), "1 is not text"),
        (Interface(parameters=["*"]), "not a tuple"),
        (Interface(outputs="hinge.*"), "not a tuple"),
    ],
)
def test_patterns_that_no_name_can_match_are_refused(interface, words):
    with pytest.raises(ModelError, match=words):
        validate(replace(chain(), interface=interface))


def cable(**loop):
    """A pendulum, and two massless sliders; the loops tie the first to the pendulum and the second to the first."""
    pendulum = Hinge("swing", "revolute", None, axes=np.array([[1.0, 0, 0]]))
    sliders = [Hinge(name, "prismatic", None, axes=np.array([[1.0, 0, 0]])) for name in ("cable", "end")]
    bodies = [Body("bob", Inertia(1.0, np.array([0, 0, -1.0]), np.zeros((3, 3))), pendulum)]
    bodies += [Body(hinge.name, Inertia(), hinge) for hinge in sliders]
    terms = (
        (Term("cable", (-1.0,)), Term("swing", (0.5,))),
        (Term("end", (-1.0,)), Term(loop.pop("to", "swing"), (2.0,))),
    )
    loops = tuple(Loop(f"loop{i}", "coupling", terms=each, **loop) for i, each in enumerate(terms))
    return System("cable", tuple(bodies), loops=loops, actuators=(Actuator("pull", "cable"),))


def test_an_embedded_coupling_moves_massless_bodies():
    """0.5 N·m at the pendulum for each newton of the cable: 1 kg m² turns at 0.5 rad/s², the others follow."""
    simulation = lj.Simulation(validate(cable(method="embed")))
    simulation.command["pull"] = 1.0
    np.testing.assert_allclose(simulation.vdot, [0.5, 0.25, 1.0], rtol=1e-12)


@pytest.mark.parametrize(
    "loop", [{}, {"method": "force"}, {"method": "embed", "switchable": True}, {"method": "embed", "to": "cable"}]
)
def test_massless_bodies_that_nothing_with_mass_must_move(loop):
    with pytest.raises(ModelError, match="against no inertia") as caught:
        validate(cable(**loop))
    assert "coupling with 'method: embed'" in caught.value.remedy
