"""Methods, kept rows and dependent velocities, judged by the dense reference of the tests of the kernels' loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.choice import FREE_MOST
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.plan import UNKNOWN, Plan, plan
from limberjack.engine.model.system import Hinge, Loop, Pose, Term
from limberjack.engine.model.validate import validate
from tests.engine.kernels.loops.mechanisms import bars, spatial
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import EMBEDDABLE, random_closed
from tests.engine.kernels.loops.test_mechanism_models import MODELS
from tests.engine.model.test_loop_groups import gear, point, tree_of


def planned(system: lj.System) -> Plan:
    return plan(validate(system), assemble(validate(system)))


def names(made: Plan, velocities: list[int]) -> list[str]:
    return [made.system.velocity_names[v] for v in velocities]


def kept_rows(made: Plan, group, q: np.ndarray) -> np.ndarray:
    """The kept rows of a group over all velocities of the model, unscaled."""
    mechanism = Mechanism(made.tree, [made.loops[i].closure for i in group.loops])
    rows = np.zeros((mechanism.count, made.system.nv))
    rows[:, mechanism.dofs] = mechanism.evaluate(q)[1]
    kept = [start + k for start, i in zip(mechanism.starts, group.loops) for k in made.loops[i].kept]
    return rows[kept]


@pytest.mark.parametrize("name", MODELS)
def test_redundant_rows_of_linkages_are_dropped(name):
    """Of planar linkages in three dimensions. Of Bennett's and Bricard's, which only their lengths make movable, other
    rows are independent at other configurations: those that follow from constant combinations are dropped."""
    system, rank, _ = MODELS[name]
    made = planned(system)
    kept = {"Bennett": 4, "Bricard": 5}.get(name, rank)
    assert sum(len(loop.kept) for loop in made.loops) == kept
    assert sum(len(group.dependent) for group in made.groups) == rank


@pytest.mark.parametrize(("name", "rank"), [("Bennett", 2), ("Bricard", 4), ("four-bar", 2)])
def test_the_rank_of_loops_by_force_is_known(name, rank):
    system = MODELS[name][0]
    made = planned(replace(system, loops=tuple(replace(loop, method="force") for loop in system.loops)))
    assert sum(loop.rank for loop in made.loops) == rank
    assert sum(len(loop.kept) for loop in made.loops) == 5


@pytest.mark.parametrize(("start", "ranks"), [((True, True), [2, 2]), ((True, False), [UNKNOWN, UNKNOWN])])
def test_the_rank_of_loops_that_switch_is_known_where_they_add_up(start, ranks):
    system = bars.parallelogram("force", windows=2)
    loops = (replace(loop, switchable=True, closed=closed) for loop, closed in zip(system.loops, start))
    assert [loop.rank for loop in planned(replace(system, loops=tuple(loops))).loops] == ranks


def test_the_rank_of_loops_that_switch_is_unknown_where_one_repeats_another():
    """Released, the other one still holds: no number of rows is that of each."""
    system = bars.parallelogram("force")
    loops = (*system.loops, replace(system.loops[0], name="again"))
    made = planned(replace(system, loops=tuple(replace(loop, switchable=True) for loop in loops)))
    assert [loop.rank for loop in made.loops] == [UNKNOWN, UNKNOWN]


def test_rows_of_a_planar_pin_that_are_kept():
    (loop,) = planned(MODELS["four-bar"][0]).loops
    assert [loop.closure.names[row] for row in loop.kept] == ["ux", "uy"]


@pytest.mark.parametrize("theta", [0.0, np.pi, 1e-7, 0.7])
@pytest.mark.parametrize("windows", [1, 2])
def test_rows_that_only_a_singular_start_makes_redundant_are_kept(windows, theta):
    """A parallelogram that starts flat: its pin's rows are dependent there, and nowhere else on its way."""
    system = bars.parallelogram(windows=windows, theta=theta)
    if theta in (0.0, np.pi):
        assert Oracle(system).rank(system.q0) < 2 * windows
    made = planned(system)
    assert sum(len(loop.kept) for loop in made.loops) == 2 * windows


@pytest.mark.parametrize("seed", range(12))
def test_loops_written_twice_keep_one_set_of_rows(seed):
    """Random graphs: as many rows as are independent; the dependent velocities follow from the others."""
    graph = random_closed(np.random.default_rng(seed), bodies=5, kinds=EMBEDDABLE, loops=2, twice=True)
    made = planned(graph.by("embed"))
    full = graph.oracle.rows(graph.q, graph.v).C
    assert sum(len(loop.kept) for loop in made.loops) == np.linalg.matrix_rank(full)
    for group in made.groups:
        rows = kept_rows(made, group, graph.q)
        X = np.zeros((graph.system.nv, len(group.independent)))
        X[group.independent] = np.eye(len(group.independent))
        X[group.dependent] = -np.linalg.solve(rows[:, group.dependent], rows[:, group.independent])
        own = sorted(group.dependent + group.independent)
        other = np.setdiff1d(np.arange(graph.system.nv), own)
        assert not rows[:, other].any()
        moved = full[np.abs(full[:, own]).max(axis=1) > 0.0]
        np.testing.assert_allclose(moved @ X, 0.0, atol=1e-9 * np.abs(X).max())


def test_scaled_rows_and_columns_are_of_order_one():
    """A four-bar of millimetres and one of kilometres have the same scaled rows."""
    for size in (1e-3, 1.0, 1e3):
        system = bars.four_bar(links=tuple(size * x for x in (0.2, 0.5, 0.4, 0.45)))
        made = planned(system)
        (group,) = made.groups
        rows = kept_rows(made, group, system.q0)
        rows = np.array(made.loops[0].scale)[:, None] * rows[:, group.dependent + group.independent] * group.scale
        assert np.all((np.abs(rows).max(axis=1) > 0.3) & (np.abs(rows).max(axis=1) <= 1.01))
        assert np.all((np.abs(rows).max(axis=0) > 0.3) & (np.abs(rows).max(axis=0) <= 1.01))


def test_a_motor_turns_as_much_faster_as_its_gear_says():
    made = planned(tree_of([0, 1, 1], [replace(gear("gear", 2, 3), terms=(Term("b2", (1.0,)), Term("b3", (-100.0,))))]))
    (group,) = made.groups
    sizes = dict(zip(names(made, group.dependent + group.independent), group.scale))
    assert sizes["b2"] / sizes["b3"] == pytest.approx(100.0)


def test_a_stewart_platform_keeps_its_platform_and_a_block_for_each_leg():
    system = lj.load("examples/stewart_platform.yaml")
    (group,) = planned(system).groups
    made = planned(system)
    platform = [name for name in system.velocity_names if name.startswith("platform")]
    assert names(made, group.independent) == platform
    for leg, block in enumerate(np.array(names(made, group.dependent)).reshape(6, 3), start=1):
        assert {name.split(".")[0] for name in block} == {f"foot_{leg}", f"strut_{leg}"}
    rows = kept_rows(made, group, system.q0)[:, group.dependent]
    assert not (rows * (np.kron(np.eye(6), np.ones((3, 3))) == 0)).any()


@pytest.mark.parametrize("drive", ["crank", "coupler"])
def test_driven_coordinates_stay_independent(drive):
    system = replace(MODELS["four-bar"][0], actuators=(Actuator("motor", drive),))
    made = planned(system)
    assert names(made, made.groups[0].independent) == [drive]


@pytest.mark.parametrize("asked", ["crank", "coupler", "rocker"])
def test_the_model_chooses_independent_velocities(asked):
    system = MODELS["four-bar"][0]
    made = planned(replace(system, loops=(replace(system.loops[0], independent=(asked,)),)))
    assert names(made, made.groups[0].independent) == [asked]
    assert made.loops[0].choice.why == "it names independent velocities"


def test_independent_velocities_that_cannot_be_are_refused():
    system = MODELS["four-bar"][0]
    loop = system.loops[0]
    with pytest.raises(ModelError, match=r"these have 1 degree of freedom.*these can be: '") as caught:
        planned(replace(system, loops=(replace(loop, independent=("crank", "rocker")),)))
    assert "loop 'pin'" in str(caught.value)
    wanted = replace(gear("a", 2, 3), independent=("b2", "b3"))
    gears = tree_of([0, 1, 1, 1], [wanted, gear("b", 3, 4), gear("c", 2, 4)])
    with pytest.raises(ModelError, match="these have 0 degrees of freedom. Remove 'independent'"):
        planned(gears)
    gears = tree_of([0, 1, 1, 1], [wanted, gear("b", 2, 3, 4)])
    with pytest.raises(ModelError, match="'b2', 'b3' cannot all be independent .* 1 degree of freedom"):
        planned(gears)
    gears = tree_of([0, 1, 1, 1, 1], [wanted, gear("b", 3, 4, 5)])
    with pytest.raises(ModelError, match="'b2', 'b3' cannot all be independent .*: one fixes another"):
        planned(gears)
    far = replace(gear("a", 2, 3), independent=("b1",))
    with pytest.raises(ModelError, match="does not move 'b1'.*Name some of: 'b2', 'b3'"):
        planned(tree_of([0, 1, 1], [far]))


def long_loop(count: int, **options) -> lj.System:
    """A chain of revolute hinges whose ends a gear couples."""
    return tree_of(list(range(count)), [replace(gear("belt", 1, count), **options)])


def test_method_by_size_of_the_group():
    small, large = planned(long_loop(FREE_MOST + 1)), planned(long_loop(FREE_MOST + 2))
    assert [small.loops[0].method, large.loops[0].method] == ["embed", "force"]
    assert large.loops[0].choice.why == f"its group of {FREE_MOST + 2} velocities and 1 row is large"
    assert planned(long_loop(FREE_MOST + 2, method="embed")).loops[0].method == "embed"
    assert planned(long_loop(3, method="force")).loops[0].method == "force"


def test_methods_mix_in_one_model():
    """A loop by force does not enlarge the groups of others; switchable ones and locks are by force."""
    loops = [gear("a", 2, 3), replace(gear("b", 3, 4), method="force"), replace(gear("c", 4, 5), switchable=True)]
    made = planned(tree_of([0, 1, 1, 1, 1, 1], [*loops, gear("d", 5, 6), Loop("brake", "lock", locked="b1")]))
    assert [loop.method for loop in made.loops] == ["embed", "force", "force", "embed", "force"]
    assert [group.bodies for group in made.groups] == [[2, 3], [5, 6]]
    assert [loop.choice.why for loop in made.loops][2:] == [
        "it can be switched",
        "its group of 2 velocities and 1 row is small",
        "it locks a hinge",
    ]


def test_loops_that_leave_no_motion_are_a_group_without_independent_velocities():
    rigid = [gear("same", 2, 3), replace(gear("opposite", 2, 3), terms=(Term("b2", (1.0,)), Term("b3", (-1.0,))))]
    made = planned(tree_of([0, 1, 1], rigid))
    assert [(len(group.dependent), group.independent) for group in made.groups] == [(2, [])]
    dynamics = lj.Dynamics(validate(made.system))
    q, v, tau = np.zeros(3), np.array([0.7, 0.0, 0.0]), np.array([0.3, 1.0, -2.0])
    expected = Oracle(made.system).solve(q, v, tau).vdot
    np.testing.assert_allclose(dynamics.forward(q, v, tau), expected, atol=1e-12)


def test_loops_by_force_keep_every_row():
    system = MODELS["four-bar"][0]
    made = planned(replace(system, loops=(replace(system.loops[0], method="force"),)))
    assert made.loops[0].kept == [0, 1, 2, 3, 4]
    assert not made.groups


def test_custom_cuts_have_rows_of_velocities():
    """A skate on a planar body: no sideways motion; it is embedded and closes wherever it stands."""
    body = tree_of([0]).bodies[0]
    planar = Hinge("b1", "planar", None, axes=np.array([[0, 0, 1.0], [1.0, 0, 0]]), q0=np.array([0.3, 1.0, 2.0]))
    free_but_sideways = np.delete(np.eye(6), 4, axis=1)
    skate = Loop("skate", "hinge", Hinge("skate", "custom", None, map=free_but_sideways), "b1")
    system = replace(tree_of([0]), bodies=(replace(body, hinge=planar),), loops=(skate,))
    made = planned(system)
    (group,) = made.groups
    np.testing.assert_allclose(abs(kept_rows(made, group, planar.q0)), [[0.0, np.sin(0.3), np.cos(0.3)]], atol=1e-15)


def test_a_helical_cut_without_pitch_is_a_revolute_one():
    system = MODELS["four-bar"][0]
    hinge = replace(system.loops[0].hinge, type="helical", pitch=0.0)
    made = planned(replace(system, loops=(replace(system.loops[0], hinge=hinge),)))
    assert [len(loop.kept) for loop in made.loops] == [2]


def test_loops_to_one_link_are_refused():
    """Bodies with an unmerged fixed hinge between them cannot move against each other."""
    body = tree_of([0, 1]).bodies[1]
    fixed = Hinge("b2", "fixed", "b1", merge=False)
    system = replace(tree_of([0, 1]), bodies=(tree_of([0]).bodies[0], replace(body, hinge=fixed)))
    with pytest.raises(ModelError, match="loop 'ball' joins bodies that cannot move against each other"):
        planned(replace(system, loops=(point("ball", 1, 2),)))


def test_plans_repeat():
    """The random motions that look for redundant rows are the same every time."""
    system = spatial.bricard()
    first, second = planned(system), planned(system)
    assert first.groups[0].dependent == second.groups[0].dependent
    assert first.groups[0].scale == second.groups[0].scale


def test_a_redundant_loop_in_space_may_be_wholly_dropped():
    """Two balls at the same place."""
    system = bars.four_bar()
    ball = Loop(
        "ball", "point", Hinge("ball", "spherical", "coupler", Pose(position=np.array([0.5, 0, 0.0]))), "rocker"
    )
    at = Pose(position=np.array([0.4, 0.0, 0.0]))
    made = planned(replace(system, loops=(*system.loops, replace(ball, hinge=replace(ball.hinge, outboard=at)))))
    assert sum(len(loop.kept) for loop in made.loops) == 2
