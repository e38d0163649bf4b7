"""Consistent initial states: what is held stays, what is not moves until the loops close, failures say why."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import from_axis_angle, to_quaternion
from limberjack.engine.common.errors import ModelError, ModelWarning, UnknownNameError
from limberjack.engine.model.build import build, new_state
from limberjack.engine.model.system import Hinge, Loop, Pose, Term
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.loops import C_ROWS
from tests.engine.kernels.loops.mechanisms import bars, spatial
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import set_state
from tests.engine.model.test_loop_rows import graph_of
from tests.engine.motions import move
from tests.engine.random_systems import random_system

LINKS = (0.2, 0.5, 0.4, 0.45)


def four_bar(theta: float = 1.0, **options):
    return validate(bars.four_bar(theta=theta, links=LINKS, **options))


def moved(system, q, v=None):
    """The system with another, inconsistent initial state."""
    return set_state(system, np.asarray(q, dtype=float), np.zeros(system.nv) if v is None else np.asarray(v))


def test_held_coordinates_keep_their_bits_and_the_rest_closes():
    exact = four_bar(theta=1.3)
    guess = moved(exact, exact.q0 + np.array([0.0, 0.2, -0.3]))
    closed = lj.assemble(guess, hold=("crank",))
    assert closed.q0[0] == exact.q0[0]
    np.testing.assert_allclose(closed.q0, exact.q0, atol=1e-12)
    np.testing.assert_allclose(Oracle(closed).gaps(closed.q0), 0.0, atol=1e-14)


def test_the_free_coordinates_move_little():
    """To first order the step to the constraint is the shortest: normal to the motion that is left."""
    exact = four_bar()
    delta = 1e-4 * np.array([1.0, -2.0, 0.5])
    closed = lj.assemble(moved(exact, exact.q0 + delta))
    step = closed.q0 - exact.q0 - delta
    along = Oracle(closed).null_space(closed.q0)[:, 0]
    assert abs(step @ along) < 1e-3 * np.linalg.norm(step)
    assert np.linalg.norm(step) <= np.linalg.norm(delta)


def test_velocities_are_projected_and_those_held_kept():
    exact = four_bar(rate=2.0)
    closed = lj.assemble(exact, v=[2.0, 0.0, 0.0], hold=["crank"])
    np.testing.assert_allclose(closed.v0, exact.v0, rtol=1e-12)
    free = lj.assemble(exact, v=[2.0, 0.0, 0.0])
    N = Oracle(exact).null_space(exact.q0)
    np.testing.assert_allclose(free.v0, N @ (N.T @ [2.0, 0.0, 0.0]), atol=1e-12)


def test_a_state_that_fits_is_left_alone():
    system = lj.assemble(moved(four_bar(), four_bar().q0 + np.array([0.0, 0.1, 0.1]), [1.0, 0.0, 0.0]))
    again = lj.assemble(system)
    np.testing.assert_allclose(again.q0, system.q0, rtol=0, atol=2e-15)
    np.testing.assert_allclose(again.v0, system.v0, rtol=0, atol=2e-15)


@pytest.mark.parametrize(
    "kind", ["weld", "point", "distance", "coupling", "cut universal", "cut helical", "cut rolling"]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_random_graphs_close_from_nearby(kind, seed):
    graph = graph_of(kind, seed)
    nearby = move(graph.system, graph.q, 0.05 * graph.rng.normal(size=graph.system.nv))
    v = graph.rng.normal(size=graph.system.nv)
    closed = lj.assemble(graph.system, nearby, v)
    np.testing.assert_allclose(graph.oracle.gaps(closed.q0), 0.0, atol=1e-12)
    np.testing.assert_allclose(graph.oracle.rows(closed.q0, closed.v0).C @ closed.v0, 0.0, atol=1e-10)
    assert np.abs(closed.q0 - nearby).max() < 0.5


def test_a_singular_guess_is_left_by_other_starts():
    """All bars on one line: no motion shortens the gap to first order."""
    guess = moved(four_bar(), [0.0, 0.0, 0.0])
    closed = lj.assemble(guess)
    np.testing.assert_allclose(Oracle(closed).gaps(closed.q0), 0.0, atol=1e-13)


def test_what_cannot_close_names_loop_gap_and_unit():
    """A ground link of 2 m is 0.9 m longer than the three bars together."""
    system = replace(four_bar(), bodies=tuple(_shifted(body) for body in four_bar().bodies))
    with pytest.raises(ModelError, match=r"loop 'pin' stays open by 0\.9 m \(ux\)") as caught:
        lj.assemble(system)
    assert "Change lengths" in str(caught.value)


def _shifted(body):
    """The rocker's pivot 2 m away."""
    if body.name != "rocker":
        return body
    hinge = body.hinge
    return replace(body, hinge=replace(hinge, inboard=Pose(hinge.inboard.rotation, np.array([2.0, 0.0, 0.0]))))


def test_what_is_held_too_much_is_named():
    exact = four_bar()
    with pytest.raises(ModelError, match="while 'crank', 'rocker' keep their values") as caught:
        lj.assemble(exact, exact.q0 + np.array([0.0, 0.0, 0.2]), hold=("crank", "rocker"))
    assert "without them the loops close" in str(caught.value)
    with pytest.raises(ModelError, match=r"open by .* m/s .* while 'crank', 'rocker' keep"):
        lj.assemble(exact, v=[1.0, 0.0, 1.0], hold=("crank", "rocker"))


def test_held_names():
    with pytest.raises(UnknownNameError, match="did you mean 'crank'"):
        lj.assemble(four_bar(), hold=("crnk",))
    with pytest.raises(lj.ArgumentError, match="shape"):
        lj.assemble(four_bar(), [0.0])
    assert lj.assemble(four_bar(), hold="crank").q0[0] == four_bar().q0[0]


def floating_on_rod(**loop):
    """A free body whose origin a point loop would put at (1, 0, 0); x axis turned."""
    system = random_system(["free"], np.random.default_rng(1))
    body = replace(system.bodies[0], hinge=Hinge("base", "free", None))
    cut = Hinge(
        "ball", "spherical", None, Pose(position=np.array([1.0, 0.0, 0.0])), Pose(position=np.array([0.3, 0, 0]))
    )
    return validate(replace(system, bodies=(body,), loops=(Loop("ball", "point", cut, body.name, **loop),)))


def test_some_coordinates_of_a_free_hinge_are_held():
    system = floating_on_rod()
    quaternion = to_quaternion(from_axis_angle(np.array([0.0, 0.6, 0.8]), 0.4))
    guess = np.concatenate([quaternion, [0.8, 0.1, 0.0]])
    closed = lj.assemble(system, guess, hold=("base.x",))
    assert closed.q0[4] == pytest.approx(0.8, abs=1e-14)
    np.testing.assert_allclose(Oracle(closed).gaps(closed.q0), 0.0, atol=1e-13)
    upright = lj.assemble(system, guess, hold=("base.qw",))
    np.testing.assert_allclose(upright.q0[:4], quaternion, atol=1e-15)
    np.testing.assert_allclose(Oracle(upright).gaps(upright.q0), 0.0, atol=1e-13)


def test_switchable_loops_hold_what_is_there():
    """Closed at the start: positions stay where they are, velocities must fit, the held frame closes it exactly."""
    system = floating_on_rod(switchable=True)
    guess = np.array([1.0, 0.0, 0.0, 0.0, 0.72, 0.01, 0.0])
    closed = lj.assemble(system, guess, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(closed.q0, guess)
    p = np.array([0.3, 0.0, 0.0])
    np.testing.assert_allclose(closed.v0[3:] + np.cross(closed.v0[:3], p), 0.0, atol=1e-12)
    state = new_state(build(closed), closed)
    held = state[-16:]
    assert held[0] == held[14] == 1.0
    np.testing.assert_allclose(held[10:13] + guess[4:], [1.0, 0.0, 0.0], atol=1e-15)
    opened = replace(closed, loops=(replace(closed.loops[0], closed=False),))
    held = new_state(build(opened), opened)[-16:]
    assert held[0] == held[14] == 0.0
    np.testing.assert_allclose(held[10:13], p)


def test_hand_made_systems_that_are_open_are_sent_to_assemble():
    exact = four_bar()
    with pytest.raises(ModelError, match=r"loop 'pin' is open by 0\..*limberjack\.assemble"):
        build(moved(exact, exact.q0 + np.array([0.0, 0.1, 0.0])))
    with pytest.raises(ModelError, match="loop 'pin' is opening at"):
        build(moved(exact, exact.q0, [1.0, 0.0, 0.0]))
    build(lj.assemble(moved(exact, exact.q0 + np.array([0.0, 0.1, 0.0]))))


def test_locked_hinges_stay_where_the_guess_has_them():
    system = four_bar()
    locked = validate(replace(system, loops=(*system.loops, Loop("brake", "lock", locked="crank"))))
    closed = lj.assemble(locked, locked.q0 + np.array([0.1, 0.0, 0.0]))
    assert closed.q0[0] == pytest.approx(system.q0[0] + 0.1, abs=1e-12)
    np.testing.assert_allclose(closed.v0, 0.0)


def test_redundant_rows_of_rounded_models_may_stay_open():
    """A planar four-bar whose pin is tilted by 1e-6: the tilt can never close and is no degree of freedom."""
    system = four_bar()
    loop = system.loops[0]
    outboard = loop.hinge.outboard
    tilted = Pose(from_axis_angle(np.array([1.0, 0.0, 0.0]), 1e-6) @ outboard.rotation, outboard.position)
    rough = replace(system, loops=(replace(loop, hinge=replace(loop.hinge, outboard=tilted)),))
    closed = lj.assemble(rough, system.q0 + np.array([0.0, 0.01, 0.0]))
    assert re.search(r"e-07 rad \(w[xy]\): other rows make this one redundant", " ".join(closed.warnings))
    np.testing.assert_allclose(Oracle(closed).gaps(closed.q0)[2:], 0.0, atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(Oracle(closed).gaps(closed.q0)[:2]), 1e-6, rtol=1e-6)
    assert build(closed).count(C_ROWS) == 2


YAML = """
limberjack: 1
name: rods
bodies:
  - name: crank
    mass: 1.0
    inertia: {xx: 0.01, yy: 0.01, zz: 0.01}
    hinge: {name: crank, type: revolute, axis: [0, 0, 1], parent: world, initial: {position: CRANK}}
  - name: slider
    mass: 1.0
    inertia: {xx: 0.01, yy: 0.01, zz: 0.01}
    hinge: {name: slider, type: prismatic, axis: [1, 0, 0], parent: world, SLIDER}
loops:
  - {name: rod, type: distance, from: {body: crank, position: [0.3, 0, 0]}, to: slider, length: 0.5}
"""


def load(folder: Path, crank: float, slider: str = "", **options):
    path = folder / "rods.yaml"
    path.write_text(YAML.replace("CRANK", repr(crank)).replace("SLIDER", slider))
    return lj.load(path, **options)


def slider_at(crank: float) -> float:
    """Position of the slider outside the crank's circle, of the slider-crank 0.3, 0.5."""
    return 0.3 * math.cos(crank) + math.sqrt(0.25 - (0.3 * math.sin(crank)) ** 2)


def test_load_assembles_and_holds_what_the_file_gives(tmp_path):
    system = load(tmp_path, 0.8)
    assert system.q0[0] == 0.8
    assert abs(system.q0[1]) == pytest.approx(abs(slider_at(0.8)), rel=0.8)
    np.testing.assert_allclose(Oracle(system).gaps(system.q0), 0.0, atol=1e-13)


def test_load_says_what_the_file_gives_too_much(tmp_path):
    with pytest.raises(ModelError, match=r"rods\.yaml:\d+.*while 'crank', 'slider' keep their values") as caught:
        load(tmp_path, 0.8, "initial: {position: 0.5}")
    assert "without them the loops close" in str(caught.value)


def test_load_moves_rounded_positions_and_says_so(tmp_path):
    position = round(slider_at(0.8), 6)
    with pytest.warns(ModelWarning, match=r"the given initial positions are rounded; moved .*'slider' by"):
        system = load(tmp_path, 0.8, f"initial: {{position: {position}}}")
    np.testing.assert_allclose(Oracle(system).gaps(system.q0), 0.0, atol=1e-13)
    np.testing.assert_allclose(system.q0, [0.8, position], atol=1e-6)
    with pytest.raises(ModelError, match="rounded"):
        load(tmp_path, 0.8, f"initial: {{position: {position}}}", strict=True)
    with pytest.raises(ModelError, match="keep their values"):
        lj.assemble(system, [0.8, position], hold=("crank", "slider"))


def test_limits_are_checked_where_the_loops_close(tmp_path):
    """The guess of zero is outside the limits, the assembled position is not; and the other way round."""
    right = load(tmp_path, 0.8, "limits: {lower: 0.2, upper: 1.0}")
    left = load(tmp_path, 0.8, "limits: {lower: -1.0, upper: 0.0}")
    assert right.warnings == left.warnings == ()
    assert right.q0[1] == pytest.approx(slider_at(0.8), abs=1e-12)
    assert left.q0[1] == pytest.approx(0.6 * math.cos(0.8) - slider_at(0.8), abs=1e-12)
    with pytest.warns(ModelWarning, match="outside its limits"):
        load(tmp_path, 0.8, "limits: {lower: -0.1, upper: 0.1}")


def test_overconstrained_linkages_close_exactly():
    for system in (spatial.bennett(), spatial.bricard()):
        oracle = Oracle(system)
        start = move(system, system.q0, 0.02 * np.random.default_rng(0).normal(size=system.nv))
        closed = lj.assemble(validate(system), start)
        np.testing.assert_allclose(oracle.gaps(closed.q0), 0.0, atol=1e-11)
        assert oracle.rank(closed.q0) == oracle.rank(system.q0)


def test_far_away_loops_close_to_what_rounding_leaves():
    """Two satellites 7000 km from the origin, docked: positions have nine digits after the point."""
    system = random_system(["free", "free"], np.random.default_rng(3), parents=[None, None])
    first, second = (replace(b, hinge=Hinge(b.hinge.name, "free", None)) for b in system.bodies)
    ends = (Pose(position=np.array([x, 0.0, 0.0])) for x in (1.0, -1.0))
    dock = Loop("dock", "weld", Hinge("dock", "fixed", first.name, *ends), second.name)
    system = validate(replace(system, bodies=(first, second), loops=(dock,)))
    guess = np.array([1, 0, 0, 0, 7e6, 0, 1e6, 1, 0, 0, 0, 7e6 + 2.1, 0.1, 1e6])
    closed = lj.assemble(system, guess, hold=(first.hinge.name,))
    np.testing.assert_array_equal(closed.q0[:7], guess[:7])
    np.testing.assert_allclose(closed.q0[11:], [7e6 + 2.0, 0.0, 1e6], rtol=0, atol=1e-8)
    build(closed)


def test_numbers_too_large_are_refused():
    system = four_bar()
    coupling = Loop("huge", "coupling", terms=(Term("crank", (1e30, 0.0, 0.0, 1e30)), Term("rocker", (1.0,))))
    system = replace(system, loops=(validate(replace(system, loops=(coupling,))).loops[0],))
    with pytest.raises(ModelError, match="loop 'huge' has numbers too large to compute with"):
        lj.assemble(system, [1e30, 0.0, 0.0])
