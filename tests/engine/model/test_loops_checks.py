"""Loops of Systems made by hand: what is filled in, and what is refused with place and words."""

import math
from dataclasses import replace

import numpy as np
import pytest

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Loop, Pose, System, Term
from limberjack.engine.model.validate import validate
from tests.engine.model.kinematics import body_poses

SOLID = Inertia(1.0, np.zeros(3), np.eye(3))
Z = np.array([[0.0, 0.0, 1.0]])
AWAY = Pose(np.eye(3), np.array([0.0, 0.0, 2.0]))


def chain() -> System:
    """Two turning bodies one after the other, a plate fixed on the second, a free body."""
    first = Body("a", SOLID, Hinge("p", "revolute", None, axes=Z, q0=np.array([0.3])))
    second = Body("b", SOLID, Hinge("q", "revolute", "a", inboard=Pose(np.eye(3), np.array([1.0, 0, 0])), axes=Z))
    plate = Body("plate", SOLID, Hinge("bolt", "fixed", "b"))
    stiff = Body("stiff", SOLID, Hinge("glue", "fixed", "b", merge=False))
    ship = Body("ship", SOLID, Hinge("f", "free", None, inboard=AWAY))
    return System("chain", (first, second, plate, stiff, ship))


def joining(kind: str, hinge_type: str, first: str | None = "b", second: str | None = None, **fields) -> Loop:
    hinge = fields.pop("hinge_fields", {})
    return Loop("l", kind, hinge=Hinge("l", hinge_type, first, **hinge), body=second, **fields)


def point(**fields) -> Loop:
    return joining("point", "spherical", **fields)


def coupling(*terms: Term, **fields) -> Loop:
    return Loop("l", "coupling", terms=terms, **fields)


def with_loops(*loops: Loop, **changes) -> System:
    return replace(chain(), loops=loops, **changes)


PQ = (Term("p", (1.0,)), Term("q", (-2.0,)))


def test_what_is_filled_in():
    loops = (
        joining("hinge", "revolute", second="ship", hinge_fields={"axes": 3 * Z}),
        replace(joining("distance", "free", second="ship"), name="rod"),
        replace(coupling(*PQ, independent=("p",)), name="gear"),
    )
    cut, rod, gear = validate(with_loops(*loops)).loops
    np.testing.assert_array_equal(cut.hinge.axes, Z)
    assert cut.hinge.dofs == ()
    assert cut.hinge.name == "l"
    assert rod.hinge.name == "rod"
    assert (cut.length, gear.length) == (0.0, 0.0)
    assert gear.method == "embed"  # because of what stays independent
    assert cut.method is None


def test_a_length_that_is_left_out_is_that_of_the_start():
    at_b, at_ship = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6])
    poses = {"inboard": Pose(np.eye(3), at_b), "outboard": Pose(np.eye(3), at_ship)}
    loop = joining("distance", "free", second="ship", hinge_fields=poses)
    system = validate(with_loops(loop))
    where = body_poses(system, {"p": np.array([0.3]), "q": np.zeros(1), "f": np.array([1.0, 0, 0, 0, 0, 0, 0])})
    ends = [where[name].position + where[name].rotation @ p for name, p in (("b", at_b), ("ship", at_ship))]
    assert system.loops[0].length == pytest.approx(np.linalg.norm(ends[0] - ends[1]), rel=1e-14)
    again = validate(system)
    assert again.loops[0].length == system.loops[0].length


def test_checked_loops_pass_the_checks_again():
    loops = (
        point(second="ship"),
        replace(coupling(*PQ, independent=("q",)), name="gear"),
        Loop("k", "lock", locked="p"),
    )
    once = validate(with_loops(*loops))
    twice = validate(once)
    for a, b in zip(once.loops, twice.loops):
        assert (a.name, a.type, a.method, a.length, a.terms, a.locked) == (
            b.name, b.type, b.method, b.length, b.terms, b.locked
        )  # fmt: skip


CUSTOM = {"map": np.eye(6)}
BAD = [
    (Loop("l", "chain"), "type", "unknown type 'chain'"),
    (Loop(" l", "lock", locked="p"), "name", "begins or ends with a space"),
    (Loop("l", "point"), "hinge", "has no hinge, which says what frames it joins"),
    (joining("point", "revolute", hinge_fields={"axes": Z}), "hinge", "is revolute; that of a point loop is spherical"),
    (joining("weld", "spherical"), "hinge", "that of a weld loop is fixed"),
    (joining("distance", "fixed"), "hinge", "that of a distance loop is free"),
    (joining("hinge", "free"), "hinge", "a free hinge with six freedoms forbids nothing"),
    (joining("hinge", "custom", hinge_fields=CUSTOM), "hinge", "a custom hinge with six freedoms forbids nothing"),
    (joining("hinge", "revolut"), "type", "unknown type 'revolut'"),
    (joining("hinge", "revolute"), "axes", "axes of shape"),
    (point(first="z"), "parent", "joins 'z', which does not exist"),
    (point(second="z"), "body", "joins 'z', which does not exist"),
    (point(first=None), "body", "joins the world with the world: both frames are on the same body"),
    (point(second="b"), "body", "joins 'b' with 'b': both frames are on the same body"),
    (point(second="plate"), "body", "joins 'b' with 'plate': both frames are on bodies that are fixed to each other"),
    (point(hinge_fields={"inboard": Pose(2 * np.eye(3))}), "inboard", "not orthonormal"),
    (point(hinge_fields={"outboard": Pose(np.eye(3), np.full(3, np.nan))}), "outboard", "finite numbers"),
    (point(hinge_fields={"dofs": (Dof(damping=1),) * 3}), "hinge", "a cut hinge has none of its own"),
    (point(hinge_fields={"q0": np.array([1.0, 0, 0, 0])}), "hinge", "a cut hinge has none of its own"),
    (joining("distance", "free", second="ship", length=0.0), "length", "length of loop 'l' is 0.0 m"),
    (joining("distance", "free", second="ship", length=-1.0), "length", "length of loop 'l' is -1.0 m"),
    (joining("distance", "free", second="ship", length=math.inf), "length", "length of loop 'l' is inf m"),
    (joining("distance", "free", "a"), "length", "its frames are at the same place at the start"),
    (point(length=1.0), "length", "a point loop has no length"),
    (point(terms=PQ), "terms", "a point loop has no terms"),
    (point(offset=1.0), "offset", "a point loop has no offset"),
    (point(locked="p"), "locked", "a point loop has no locked"),
    (point(driven=True), "driven", "a point loop has no driven"),
    (coupling(*PQ, hinge=Hinge("h", "fixed", "a")), "hinge", "a coupling loop has no hinge"),
    (coupling(*PQ, body="a"), "body", "a coupling loop has no body"),
    (coupling(*PQ, reach=1.0, switchable=True), "reach", "a coupling loop has no reach"),
    (coupling(*PQ, length=2.0), "length", "a coupling loop has no length"),
    (coupling(), "terms", "couples no coordinates"),
    (coupling(Term("z", (1.0,))), "terms.z", "couples 'z', which is not a coordinate"),
    (coupling(Term("f.qx", (1.0,))), "terms.f.qx", "whose rate is not a velocity of its hinge"),
    (coupling(Term("f.x", (1.0,))), "terms.f.x", "whose rate is not a velocity of its hinge"),
    (coupling(Term("f.wx", (1.0,))), "terms.f.wx", "which is not a coordinate"),
    (coupling(Term("p", ())), "terms.p", "has 0 factors of 'p'"),
    (coupling(Term("p", (1.0,) * 5)), "terms.p", "has 5 factors of 'p'"),
    (coupling(Term("p", (0.0, 0.0))), "terms.p", r"are \[0.0, 0.0\]"),
    (coupling(Term("p", (math.nan,))), "terms.p", r"are \[nan\]"),
    (coupling(PQ[0], PQ[0]), "terms.p", "has two terms of the coordinate 'p'"),
    (coupling(*PQ, offset=math.inf), "offset", "the offset of loop 'l' is inf"),
    (Loop("l", "lock"), "locked", "locks '', which is not a hinge"),
    (Loop("l", "lock", locked="b"), "locked", "locks 'b', which is not a hinge"),
    (Loop("l", "lock", locked="bolt"), "locked", "'bolt', which is fixed already"),
    (Loop("l", "lock", locked="glue"), "locked", "'glue', which is fixed already"),
    (point(method="lagrange"), "method", "unknown method 'lagrange'"),
    (point(method="embed", switchable=True), "method", "acts by force; it cannot be embedded"),
    (point(independent=("p",), switchable=True), "independent", "acts by force; it cannot be embedded"),
    (point(independent=("p",), method="force"), "independent", "leaves no velocities independent"),
    (point(independent=("a",)), "independent", "'a' is not a velocity coordinate"),
    (point(independent=("p", "p")), "independent", "names 'p' twice"),
    (point(closed=False), "closed", "starts open and is not switchable"),
    (point(stabilisation=-1.0), "stabilisation", "stabilisation of loop 'l' is -1.0"),
    (point(stabilisation=math.nan), "stabilisation", "stabilisation of loop 'l' is nan"),
    (point(stabilisation=1.0, method="embed"), "stabilisation", "is embedded, so that it stays closed without"),
    (point(projection=False, method="embed"), "projection", "is embedded, so that it stays closed without"),
    (point(reach=1.0), "reach", "a loop that is not switchable has no reach"),
    (point(reach=0.0, switchable=True), "reach", "reach of loop 'l' is 0.0 m"),
    (point(reach=-1.0, switchable=True), "reach", "reach of loop 'l' is -1.0 m"),
    (point(reach=math.nan, switchable=True), "reach", "reach of loop 'l' is nan m"),
]  # fmt: skip


@pytest.mark.parametrize(("loop", "field", "words"), BAD, ids=[f"{b[1]}: {b[2][:50]}" for b in BAD])
def test_refused(loop, field, words):
    with pytest.raises(ModelError, match=words) as caught:
        validate(with_loops(loop))
    kind = "hinge" if field in ("inboard", "outboard", "axes") or "revolut'" in words else "loop"
    assert caught.value.where == f"{kind} '{loop.name}', {field}"
    assert caught.value.remedy


def test_places_of_a_reader_are_kept():
    with pytest.raises(ModelError) as caught:
        validate(with_loops(point(closed=False, where="robot.xml, equality 'l'")))
    assert caught.value.where == "robot.xml, equality 'l', closed"
    loop = replace(joining("hinge", "revolute"), where="robot.xml, equality 'l'")
    with pytest.raises(ModelError) as caught:
        validate(with_loops(loop))
    assert caught.value.where == "robot.xml, equality 'l', axes"


CLASHES = [
    ({"loops": (coupling(*PQ), Loop("l", "lock", locked="p"))}, "loop 'l', name", "'l' is used twice among the loops"),
    (
        {"loops": (coupling(*PQ, driven=True),), "actuators": (Actuator("l.position", "p"),)},
        "loop 'l', name",
        "actuator 'l.position' and loop 'l' both take the command 'l.position'",
    ),
    (
        {"loops": (coupling(*PQ, driven=True, switchable=True),), "actuators": (Actuator("l.closed", "p"),)},
        "loop 'l', name",
        "both take the command 'l.closed'",
    ),
    (
        {"loops": (coupling(*PQ),), "sensors": (Sensor("s", "loop_wrench", "l"),)},
        "sensor 's', target",
        "measures 'l', which is not a loop that joins two frames",
    ),
    ({"sensors": (Sensor("s", "loop_force", "p"),)}, "sensor 's', target", "measures 'p', which is not a loop"),
    ({"held": ("p", "z")}, "system 'chain', held", "'z' is to be held, but is not a coordinate"),
    ({"held": ("f.wx",)}, "system 'chain', held", "'f.wx' is to be held, but is not a coordinate"),
    ({"held_rates": ("f.x",)}, "system 'chain', held_rates", "'f.x' is to be held, but is not a velocity"),
]


@pytest.mark.parametrize(("changes", "where", "words"), CLASHES, ids=[c[2][:50] for c in CLASHES])
def test_names_that_clash_or_are_missing(changes, where, words):
    with pytest.raises(ModelError, match=words) as caught:
        validate(replace(chain(), **changes))
    assert caught.value.where == where
    assert caught.value.remedy


def test_commands_and_sensors_of_loops():
    loops = (coupling(*PQ, driven=True, switchable=True, closed=False), replace(point(second="ship"), name="ball"))
    sensors = (Sensor("force", "loop_force", "l"), Sensor("wrench", "loop_wrench", "ball"))
    system = validate(with_loops(*loops, sensors=sensors, held=("p",), held_rates=("f.wx",)))
    assert system.command_names == ("l.closed", "l.position", "l.velocity", "l.acceleration")
    assert system.loops[0].first_commands == (0.0, 0.0, 0.0, 0.0)
    assert system.loop_names == ("l", "ball")
