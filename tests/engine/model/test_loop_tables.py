"""The tables of loops in the Plant and the switches of the first State, read back as the kernels read them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.kernels.nodes.kinds import NUMBERS
from limberjack.engine.model.archive import to_bytes
from limberjack.engine.model.build import build, new_state
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.plan import plan
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import Loop, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as at
from limberjack.engine.tables.hinge_types import SPHERICAL, UNIVERSAL
from tests.engine.kernels.loops.random_graphs import KINDS, random_closed
from tests.engine.model.test_loop_groups import gear, point, tree_of


def listed(plant: Plant, group: np.ndarray, at_: int) -> list[int]:
    start, count = group[at_ : at_ + 2]
    return plant.sections["listed"][start : start + count, 0].tolist()


def walked(plant: Plant, loop: np.ndarray, at_: int) -> list[int]:
    start, count = loop[at_ : at_ + 2]
    return plant.sections["walk"][start : start + count, 0].tolist()


@pytest.fixture(scope="module")
def mixed() -> System:
    """Every method at once, with drives, switches and commands of actuators before them.

    Rows: 1 ← 2 ← 3, 1 ← 4, 4 ← 5, 0 ← 6.
    """
    loops = (
        replace(gear("geared", 4, 5), driven=True),
        replace(point("grasp", 3, 6), switchable=True, closed=False, reach=0.5),
        Loop("brake", "lock", locked="b2", switchable=True),
        gear("doubled", 2, 3),
        replace(gear("forced", 2, 5), method="force", stabilisation=3.0, projection=False),
    )
    system = tree_of([0, 1, 2, 1, 4, 0], loops)
    actuators = (Actuator("servo", "b1", "servo", kp=1.0, initial=0.25), Actuator("motor", "b6"))
    return validate(replace(system, actuators=actuators, sensors=(Sensor("gap", "loop_residual", "doubled"),)))


def test_slices_of_the_loops(mixed):
    plant = build(mixed)
    loops = plant.sections["loop_int"]
    assert loops[:, lp.L_KIND].tolist() == [lp.COUPLING, SPHERICAL, lp.LOCK, lp.COUPLING, lp.COUPLING]
    assert loops[:, lp.L_ROWS].tolist() == [1, 3, 1, 1, 1]
    assert loops[:, lp.L_GROUP].tolist() == [1, -1, -1, 0, -1]
    assert loops[:, lp.L_SWITCH].tolist() == [-1, 0, 1, -1, -1]
    assert loops[:, lp.L_DRIVE].tolist() == [0, -1, -1, -1, -1]
    assert loops[:, lp.L_FORCED].tolist() == [-1, 0, 1, -1, 2]
    assert loops[:, lp.L_ROW].tolist() == [0, 0, 3, 0, 4]
    assert loops[:, lp.L_PROJECT].tolist() == [0, 1, 1, 0, 0]
    assert loops[:, lp.L_COMMAND].tolist() == [4, 7, 8, -1, -1]
    assert loops[:, lp.L_TERMS].tolist() == [2, 0, 1, 2, 2]
    assert plant.sections["loop"][4, lp.LP_FADE] == 3.0
    assert plant.sections["loop"][1, lp.LP_REACH] == 0.5
    counts = {lp.C_ROWS: 7, lp.C_FORCED: 3, lp.C_FORCE_ROWS: 5, lp.C_SWITCHES: 2, lp.C_DRIVES: 1}
    assert {which: plant.count(which) for which in counts} == counts
    assert plant.sections["sensor_int"][0, at.SI_TARGET] == 3


def test_chains_and_walks(mixed):
    """Bodies count from 0: chains end before the last common body, walks go on to the base and take in whole groups."""
    plant = build(mixed)
    loops = plant.sections["loop_int"]
    assert (walked(plant, loops[1], lp.L_CHAIN_A), walked(plant, loops[1], lp.L_CHAIN_B)) == ([2, 1, 0], [5])
    assert walked(plant, loops[1], lp.L_WALK) == [5, 2, 1, 0]
    assert walked(plant, loops[2], lp.L_WALK) == [2, 1, 0]
    assert walked(plant, loops[4], lp.L_WALK) == [4, 3, 2, 1, 0]
    assert [walked(plant, loops[i], lp.L_WALK) for i in (0, 3)] == [[], []]


def test_groups_of_the_plant(mixed):
    plant = build(mixed)
    groups, topo, dof = (plant.sections[name] for name in ("group_int", "topo", "dof_int"))
    assert [listed(plant, group, lp.GI_BODY) for group in groups] == [[1, 2], [3, 4]]
    assert [listed(plant, group, lp.GI_LOOP) for group in groups] == [[3], [0]]
    assert groups[:, [lp.GI_PARENT, lp.GI_RANK, lp.GI_DOFS]].tolist() == [[1, 1, 2], [1, 1, 2]]
    assert topo[:, at.GROUP].tolist() == [-1, 0, 0, 1, 1, -1]
    assert topo[:, at.MEMBER].tolist() == [-1, 0, 1, 0, 1, -1]
    for group in groups:
        velocities = listed(plant, group, lp.GI_DOF)
        assert [dof[v, at.DI_MEMBER] for v in velocities] == [0, 1]
    assert groups[:, lp.GI_WORK].tolist() == [0, lp.group_work_size(2, 1, 2)]
    assert plant.count(lp.C_GROUP_WORK) == 2 * lp.group_work_size(2, 1, 2)


def test_first_commands_and_switches(mixed):
    plant = build(mixed)
    state = new_state(plant, mixed)
    head = at.S_Q + mixed.nq + mixed.nv
    assert state[head : head + 9].tolist() == [0.25, 0, 0, 0, 0, 0, 0, 0.0, 1.0]
    assert len(mixed.command_names) == 9
    switches = state[head + 9 :].reshape(2, lp.SWITCH)
    assert switches[:, lp.SW_CLOSED].tolist() == switches[:, lp.SW_WANTED].tolist() == [0.0, 1.0]
    assert switches[:, lp.SW_LOSS].tolist() == [0.0, 0.0]
    assert switches[0, lp.SW_HELD : lp.SW_HELD + 12].tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    assert len(state) == plant.state_size


def test_models_with_loops_have_no_fast_path_of_a_free_base():
    graph = random_closed(np.random.default_rng(0), bodies=3, kinds=("point",), loops=1, root="free")
    assert NUMBERS["base"] not in build(graph.system).sections["topo"][:, at.PATH]
    bare = replace(graph.system, loops=())
    assert build(bare).sections["topo"][0, at.KIND] == build(graph.system).sections["topo"][0, at.KIND]


@pytest.mark.parametrize("seed", range(8))
def test_tables_of_random_graphs(seed):
    """What the Plant says of rows, frames and coordinates is the plan, whatever fixed bodies are merged."""
    graph = random_closed(np.random.default_rng(seed), kinds=KINDS, loops=3)
    system = graph.system
    plant, made = build(system), plan(system, assemble(system))
    for number, group in enumerate(made.groups):
        row = plant.sections["group_int"][number]
        assert listed(plant, row, lp.GI_DOF) == group.dependent + group.independent
        start, count = row[lp.GI_DOF : lp.GI_DOF + 2]
        np.testing.assert_array_equal(plant.sections["scale"][start : start + count, 0], group.scale)
    for row, loop, numbers in zip(plant.sections["loop_int"], made.loops, plant.sections["loop"]):
        block = numbers[lp.LP_ROWS : lp.LP_ROWS + 48].reshape(6, 8)
        np.testing.assert_array_equal(block[:, : row[lp.L_ROWS]], loop.closure.vectors[loop.kept].T)
        assert not block[:, row[lp.L_ROWS] :].any()
        np.testing.assert_array_equal(numbers[lp.LP_SCALE : lp.LP_SCALE + len(loop.kept)], loop.scale)
        if row[lp.L_KIND] == UNIVERSAL:
            assert numbers[lp.LP_X] == (loop.kept.index(3) if 3 in loop.kept else -1.0)


def test_models_without_loops_have_empty_tables():
    plant = build(validate(tree_of([0, 1])))
    assert [plant.count(c) for c in range(lp.C_LOOPS, lp.C_FORCE_ROWS + 1)] == [0] * 11
    assert plant.sections["dof_int"][:, at.DI_MEMBER].tolist() == [-1, -1]


def test_loading_leaves_what_an_archive_holds(tmp_path):
    """A model that Limberjack wrote is assembled already: not a bit of it moves."""
    system = lj.load("examples/stewart_platform.yaml")
    path = tmp_path / "platform.ljm"
    path.write_bytes(to_bytes(system))
    again = lj.load(path)
    np.testing.assert_array_equal(again.q0, system.q0)
    assert build(again).digest() == build(system).digest()
