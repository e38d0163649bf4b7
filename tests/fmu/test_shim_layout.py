"""The shim's own view of ints: the constants are the engine's, and no index that leads outside passes the check."""

from __future__ import annotations

import functools
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile import targets
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.kernels.nodes.kinds import NUMBERS
from limberjack.engine.kernels.sensors import outputs
from limberjack.engine.model.build import build
from limberjack.engine.model.plant import Plant
from limberjack.engine.native import plant_file
from limberjack.engine.tables import drives, elements, flexible, hinge_types, instruments, loops
from limberjack.engine.tables import plant as layout
from tests.engine.full_model import full_model
from tests.engine.kernels.flexible.models import MODELS as FLEXIBLE
from tests.engine.random_systems import MOVING, random_system
from tests.fmu.device_model import equipped
from tests.fmu.looped import looped
from tests.fmu.shim_build import CO_SIMULATION, OK, Fmu
from tests.fmu.shim_model import sealed

#: columns of topo that no kernel uses as an index
_FLAGS = (layout.TURN, layout.LEAF, layout.FIRST, layout.GROUNDED, 15)
#: columns of the tables of loops that no kernel uses as an index
_LOOP_FLAGS = {"loop_int": (loops.L_PROJECT, loops.L_RANK)}
_ENDLESS = 2**62
#: where a plant file says where its ints begin: the sixth place before the end of its header
AT_INTS = struct.calcsize("<" + "".join(form for _, form in plant_file._HEADER)) - 6 * 8


def refuse_(ints: np.ndarray) -> str | None:
    """What is wrong with the ints of a plant, or None."""
    own, report = np.array(ints, dtype=np.int64), np.full(1, -1, dtype=np.int64)
    entries().trust(own if len(own) else np.zeros(1, dtype=np.int64), np.zeros(1), len(own), report)
    return layout.WRONG[report[0] - 1] if report[0] else None


@pytest.fixture(scope="module")
def refuse():
    return refuse_


@functools.cache
def plants() -> list[Plant]:
    """Models with every kind of hinge, drive and sensor."""
    made = [full_model(), *(random_system(MOVING, np.random.default_rng(seed)) for seed in range(3))]
    trees = [lj.Simulation(model).plant for model in made]
    flexible_ = [build(make()) for make in FLEXIBLE.values()]
    return [*trees, looped(trees[1]), looped(trees[2]), *flexible_, build(equipped())]


@pytest.fixture(scope="module", params=range(11))
def plant(request) -> Plant:
    return plants()[request.param]


def test_models_pass(refuse, plant):
    assert refuse(plant.ints) is None


def test_examples_pass(refuse):
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.yaml")):
        assert refuse(lj.Simulation(lj.load(path)).plant.ints) is None, path.name


def test_no_index_outside_passes(refuse, plant):
    names = {"topo": "topology", "node_row": "nodes", "dof_int": "velocities", "actuator_int": "actuators"}
    names |= {"sensor_int": "sensors", "part_body": "bodies with mass", "loop_int": "loops"}
    names |= {"term_int": "coupled coordinates", "walk": "paths of loops"}
    names |= {"group_int": "groups of loops", "listed": "groups of loops"}
    names |= {"modal_int": "flexible bodies", "attached_int": "flexible bodies"}
    names |= {"thruster_int": "force elements", "rotor_row": "force elements", "instrument_int": "instruments"}
    names |= {"motor_int": "motors and valves", "valve_int": "motors and valves"}
    start = layout.HEADER
    for name, rows, columns in layout.int_sections(plant.ints)[1:]:
        for row in range(rows if not layout.table(name).real else 0):
            for column in range(columns):
                place = start + row * columns + column
                for value in (-2, _ENDLESS, -_ENDLESS):
                    reported = refuse(np.concatenate([plant.ints[:place], [value], plant.ints[place + 1 :]]))
                    if is_index(plant, name, row, column):
                        assert reported == names[name], (name, row, column, value)
                    else:
                        assert reported is None, (name, row, column, value)
        start += rows * columns
    assert start == len(plant.ints)


def is_index(plant: Plant, name: str, row: int, column: int) -> bool:
    """Is this number of a table an index or a size that some kernel relies on?"""
    line = plant.sections[name][row]
    if name == "topo":
        slotted = line[layout.PATH] in (NUMBERS["general"], NUMBERS["modal"], NUMBERS["attachment"])
        if column in (layout.SLOT, layout.MAP):
            return bool(slotted if column == layout.SLOT else line[layout.KIND] == hinge_types.CUSTOM)
        return column not in _FLAGS
    if column in _LOOP_FLAGS.get(name, ()):
        return False
    if name == "actuator_int" and column == layout.AI_Q:
        return line[layout.AI_MODE] == layout.MODE_SERVO
    if name == "instrument_int":
        return column not in (instruments.NI_CHANNEL, instruments.NI_LEVEL)
    return not (name == "sensor_int" and column == layout.SI_SIZE)


@pytest.mark.parametrize("count", range(layout.C_VERSION, layout.HEADER))
@pytest.mark.parametrize("value", [-1, 2**30, _ENDLESS, -_ENDLESS])
def test_impossible_counts(refuse, count, value):
    ints = plants()[0].ints.copy()
    ints[count] = value
    assert refuse(ints) == "counts"


@pytest.mark.parametrize("place", [0, 4])
@pytest.mark.parametrize("count", [layout.C_GENERAL, layout.C_COMMANDS, layout.C_OUTPUTS, loops.C_ROWS])
def test_counts_that_no_table_bears_out(refuse, count, place):
    ints = plants()[place].ints.copy()
    ints[count] = 10**6
    assert refuse(ints) == "counts"


def test_coordinates_follow_each_other_as_bodies_do(refuse):
    """Kernels go through hinges until none with a quaternion follows, and then through coordinates alone."""
    forged, _, _ = base()
    topo = forged.sections["topo"]
    bodies = np.flatnonzero(topo[:, layout.NV] > 0)
    for place in ((bodies[-1], layout.QI), (bodies[-1], layout.VI), (bodies[1], layout.QI), (bodies[1], layout.VI)):
        topo[place] -= 1
        assert refuse(forged.ints) == "topology", place
        topo[place] += 1
    assert refuse(forged.ints) is None


@pytest.mark.parametrize("count", [loops.C_SWITCHES, loops.C_DRIVES, loops.C_FORCED, loops.C_FORCE_ROWS])
def test_counts_that_no_loop_bears_out(refuse, count):
    ints = plants()[4].ints.copy()
    ints[count] = ints[loops.C_ROWS] + 1
    assert refuse(ints) == "counts"


def test_scratch_of_groups_is_what_they_need(refuse):
    ints = plants()[4].ints.copy()
    for wrong in (-1, 1):
        ints[loops.C_GROUP_WORK] += wrong
        assert refuse(ints) == "groups of loops"
        ints[loops.C_GROUP_WORK] -= wrong


@pytest.mark.parametrize(
    ("section", "row", "column", "value", "expected"),
    [
        ("topo", 0, layout.GROUP, 0, "topology"),  # no member of the group
        ("dof_int", 0, layout.DI_MEMBER, 0, "velocities"),
        ("group_int", 0, loops.GI_PARENT, 0, "groups of loops"),  # its first body hangs on another one
        ("loop_int", 0, loops.L_GROUP, -1, "loops"),  # in no group, and not by force
        ("loop_int", 1, loops.L_ROWS, 7, "loops"),
        ("loop_int", 1, loops.L_COMMAND, -1, "loops"),  # switched by a command that it does not have
        ("loop_int", 2, loops.L_TERMS, 0, "loops"),  # more rows than velocities
        ("loop_int", 3, loops.L_KIND, loops.DISC - 1, "loops"),  # no kind
        ("loop_int", 1, loops.L_KIND, loops.BALL, "loops"),  # five rows
    ],
)
def test_tables_of_loops_that_contradict_each_other(refuse, section, row, column, value, expected):
    plant = plants()[4]
    forged = Plant(plant.ints.copy(), plant.floats)
    forged.sections[section][row, column] = value
    assert refuse(forged.ints) == expected


def base() -> tuple[Plant, int, int]:
    """The plant of a free flexible body, to forge, and its first modal link and node."""
    made = plants()[7]
    topo = made.sections["topo"]
    modal, node = (
        int(np.flatnonzero(topo[:, layout.PATH] == path)[0]) for path in (NUMBERS["modal"], NUMBERS["attachment"])
    )
    return Plant(made.ints.copy(), made.floats), modal, node


def test_tables_of_flexible_bodies_that_contradict_each_other(refuse):
    forged, modal, node = base()
    topo, bodies, nodes = (forged.sections[name] for name in ("topo", "modal_int", "attached_int"))
    other = 1 - topo[modal, layout.SLOT]
    assert bodies[0, flexible.MI_MODES] != bodies[1, flexible.MI_MODES]
    cases = [
        (topo, (modal, layout.SLOT), other, "topology"),  # another number of modes
        (topo, (modal, layout.NV), topo[modal, layout.NV] - 1, "topology"),
        (topo, (modal, layout.KIND), hinge_types.FREE, "topology"),
        (topo, (modal, layout.PATH), NUMBERS["general"], "topology"),
        (topo, (modal, layout.QI), forged.count(layout.C_Q) - 1, "topology"),
        (topo, (node, layout.UP), 0, "topology"),  # on no body
        (topo, (node, layout.UP), modal, "topology"),  # on the link that the hinge moves
        (topo, (node, layout.KIND), hinge_types.FIXED, "topology"),
        (nodes, (0, flexible.AN_MODAL), 1 - nodes[0, flexible.AN_MODAL], "flexible bodies"),  # and other lengths
        (nodes, (0, flexible.AN_CURVED), 0, "flexible bodies"),
        (nodes, (0, flexible.AN_COLUMN), 3, "flexible bodies"),  # amid those of a node
        (nodes, (0, flexible.AN_COLUMN), bodies[nodes[0, flexible.AN_MODAL], flexible.MI_RANK], "flexible bodies"),
        (bodies, (0, flexible.MI_RANK), bodies[0, flexible.MI_RANK] + 1, "flexible bodies"),
        (
            bodies,
            (1, flexible.MI_RANK),
            bodies[1, flexible.MI_MODES] // 6 * 6 + 6,
            "flexible bodies",
        ),  # no fewer than modes
        (bodies, (1, flexible.MI_CONDENSED), 1 - bodies[1, flexible.MI_CONDENSED], "flexible bodies"),
        (bodies, (0, flexible.MI_FULL), 0, "flexible bodies"),
        (bodies, (0, flexible.MI_MODES), bodies[0, flexible.MI_MODES] + 8, "flexible bodies"),
        (bodies, (1, flexible.MI_TABLE), 0, "flexible bodies"),  # longer than the table there
        (bodies, (1, flexible.MI_WORK), 0, "flexible bodies"),  # two that share their scratch
    ]
    for table, place, value, expected in cases:
        kept = table[place]
        table[place] = value
        assert refuse(forged.ints) == expected, (place, value)
        table[place] = kept
    assert refuse(forged.ints) is None


def test_scratch_of_flexible_bodies_is_what_they_need(refuse):
    ints = plants()[6].ints.copy()
    for wrong in (-8, 8):
        ints[flexible.C_MODAL_WORK] += wrong
        assert refuse(ints) == "flexible bodies"
        ints[flexible.C_MODAL_WORK] -= wrong


def test_tables_of_flexible_bodies_are_as_long_as_they_need(refuse):
    made = plants()[6]
    end = layout.HEADER
    for name, rows, columns in layout.int_sections(made.ints)[1:]:
        end += rows * columns
        if name == "modal_table":
            break
    longer, shorter = np.insert(made.ints, end, np.zeros(8, np.int64)), np.delete(made.ints, range(end - 8, end))
    for ints in (longer, shorter):
        ints[flexible.C_MODAL_TABLE] += len(ints) - len(made.ints)
        assert refuse(ints) == "flexible bodies"


def test_nodes_in_a_group_have_their_modes_there(refuse):
    forged = Plant(plants()[8].ints.copy(), plants()[8].floats)
    topo = forged.sections["topo"]
    node = int(np.flatnonzero((topo[:, layout.PATH] == NUMBERS["attachment"]) & (topo[:, layout.GROUP] >= 0))[0])
    topo[topo[node, layout.UP] - 1, [layout.GROUP, layout.MEMBER]] = -1
    assert refuse(forged.ints) == "topology"


def test_strain_is_of_flexible_bodies(refuse):
    forged, _, _ = base()
    sensors = forged.sections["sensor_int"]
    (strain,) = np.flatnonzero(sensors[:, layout.SI_TYPE] == outputs.STRAIN_ENERGY)
    sensors[strain, layout.SI_TARGET] = 1
    assert refuse(forged.ints) == "sensors"


@pytest.mark.parametrize(
    ("section", "row", "column", "value", "expected"),
    [
        ("actuator_int", 0, layout.AI_MOTOR, 2, "actuators"),  # of two
        ("thruster_int", 0, elements.TI_VALVE, 2, "force elements"),
        ("instrument_int", 0, instruments.NI_SIZE, 7, "instruments"),
        ("instrument_int", 0, instruments.NI_OUTPUTS, 4, "instruments"),  # more than it measures
        ("instrument_int", 3, instruments.NI_KIND, instruments.ATTITUDE, "instruments"),  # of one number
        ("instrument_int", 6, instruments.NI_KIND, instruments.DIRECTION, "instruments"),  # and five outputs
        ("instrument_int", 7, instruments.NI_OUTPUT, 10**6, "instruments"),
        ("instrument_int", 0, instruments.NI_RING, 0, "instruments"),  # where the next one's state begins
        ("instrument_int", 1, instruments.NI_STATE, 0, "instruments"),  # two that share their state
        ("motor_int", 1, drives.MO_STATE, 0, "motors and valves"),
        ("motor_int", 1, drives.MO_ELASTIC, 2, "motors and valves"),
        ("motor_int", 0, drives.MO_V, 10**6, "motors and valves"),
        ("valve_int", 0, drives.VA_THRUSTER, 2, "motors and valves"),
        ("valve_int", 0, drives.VA_RING, 1, "motors and valves"),
        ("valve_int", 0, drives.VA_RING, 2**40, "motors and valves"),
    ],
)
def test_tables_of_instruments_and_drives_that_contradict_each_other(refuse, section, row, column, value, expected):
    plant = plants()[10]
    forged = Plant(plant.ints.copy(), plant.floats)
    forged.sections[section][row, column] = value
    assert refuse(forged.ints) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [(instruments.C_INSTRUMENT_STATE, "instruments"), (drives.C_DRIVE_STATE, "motors and valves")],
)
def test_states_of_instruments_and_drives_are_what_they_need(refuse, count, expected):
    ints = plants()[10].ints.copy()
    for wrong in (-1, 1):
        ints[count] += wrong
        assert refuse(ints) == expected
        ints[count] -= wrong


def test_a_coupling_of_a_quasi_velocity(refuse):
    plant = plants()[4]
    forged = Plant(plant.ints.copy(), plant.floats)
    coupling = forged.sections["loop_int"][3]
    assert coupling[loops.L_KIND] == loops.COUPLING
    forged.sections["term_int"][coupling[loops.L_TERM], loops.TM_Q] = -1
    assert refuse(forged.ints) == "loops"


def test_no_hinge_of_a_model_with_loops_takes_the_path_of_a_free_base(refuse):
    ints = plants()[0].ints.copy()
    assert ints[layout.HEADER + layout.PATH] == NUMBERS["base"]
    forged = looped(plants()[0])
    forged.ints[layout.HEADER + layout.PATH] = NUMBERS["base"]
    assert refuse(forged.ints) == "topology"


def test_counts_whose_sum_only_fits_by_overflow(refuse):
    ints = plants()[0].ints.copy()
    ints[layout.C_BODIES] += 2**63 // layout.TOPO * 2  # TOPO times this is a few more than 2**64
    assert refuse(ints) == "counts"
    assert refuse(ints[:3]) == "counts"
    assert refuse(ints[:0]) == "counts"
    assert refuse(np.concatenate([plants()[0].ints, [0]])) == "counts"


def test_a_body_that_is_its_own_ancestor(refuse):
    ints = plants()[1].ints.copy()
    ints[layout.HEADER + layout.UP] = 1
    assert refuse(ints) == "topology"


@pytest.mark.long
@pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform")
def test_an_fmu_with_a_forged_index_is_refused(tmp_path):
    """The checksum is right, the file is not: an error and a log line, no crash."""
    path = Path(__file__).parents[2] / "examples" / "space_manipulator.yaml"
    lj.export_fmu(lj.load(path), tmp_path / "arm.fmu", platforms=["host"])
    with zipfile.ZipFile(tmp_path / "arm.fmu") as archive:
        archive.extractall(tmp_path / "arm")
    binaries = (tmp_path / "arm" / "binaries").rglob("*")
    (library,) = (path for path in binaries if path.suffix == targets.TARGETS[targets.host()].suffix)
    file = tmp_path / "arm" / "resources" / "plant.bin"
    good = file.read_bytes()
    token = good[64:104].split(b"\0")[0].decode()
    at_ints = struct.unpack_from("<Q", good, AT_INTS)[0]
    fmu = Fmu(library, 3, CO_SIMULATION, f"{file.parent}/", token)
    assert fmu.start() == OK
    fmu.free()
    for place, value in [(layout.UP, 10**6), (layout.QI, -5), (layout.VI, 2**40)]:
        bad = bytearray(good)
        struct.pack_into("<q", bad, at_ints + 8 * (layout.HEADER + place), value)
        file.write_bytes(sealed(bytes(bad)))
        fmu = Fmu(library, 3, CO_SIMULATION, f"{file.parent}/", token)
        assert fmu.c is None
        assert "its topology cannot be those of a model" in fmu.errors()[0]
