"""Sections of Plant and Work as Python counts them are the arrays that compiled code reads."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba import types
from numba.extending import overload

from limberjack.engine.algebra.array_views import Sections, total
from limberjack.engine.compile.compiled import OPTIONS
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.build import SENSOR_CODES, build, new_state
from limberjack.engine.model.plant import Plant
from limberjack.engine.tables import contacts, drives, elements, flexible, instruments, loops
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from limberjack.engine.tables.slopes import slope_sections
from tests.engine.full_model import full_model

plant_view, work_view = layout.plant_view, layout.work_view


def place(field, out):
    """Write (first element, rows, columns) of a vector or matrix, or a number, into out (3,)."""


@overload(place, jit_options=OPTIONS)
def _place(field, out):
    if isinstance(field, types.Array) and field.ndim == 2:

        def write(field, out):
            out[0], out[1], out[2] = (field[0, 0] if field.size else 0), field.shape[0], field.shape[1]
    elif isinstance(field, types.Array):

        def write(field, out):
            out[0], out[1], out[2] = (field[0] if field.size else 0), field.shape[0], 1
    else:

        def write(field, out):
            out[0], out[1], out[2] = field, 1, 1

    return write


def corners(view, ints: np.ndarray, vector: np.ndarray, fields: tuple[str, ...]) -> np.ndarray:
    """What compiled code sees in every field of a view; one generated statement a field."""
    lines = [f"    place(named.{name}, out[{i}])" for i, name in enumerate(fields)]
    source = "\n".join(["def look(ints, vector, out):", "    named = view(ints, vector)", *lines])
    scope = {"view": view, "place": place}
    exec(source, scope)
    out = np.full((len(fields), 3), -1.0)
    numba.njit(scope["look"], **OPTIONS)(ints, vector, out)
    return out


@pytest.fixture(scope="module")
def plant() -> Plant:
    return build(full_model())


#: counts of loops for which no table and no scratch is empty
LOOPS = {
    loops.C_LOOPS: 3,
    loops.C_ROWS: 7,
    loops.C_TERMS: 2,
    loops.C_WALK: 9,
    loops.C_GROUPS: 1,
    loops.C_LISTED: 11,
    loops.C_GROUP_WORK: 13,
    loops.C_SWITCHES: 2,
    loops.C_DRIVES: 1,
    loops.C_FORCED: 2,
    loops.C_FORCE_ROWS: 5,
}
#: and those of modal bodies
FLEXIBLE = {flexible.C_MODAL: 2, flexible.C_ATTACHED: 3, flexible.C_MODAL_TABLE: 19, flexible.C_MODAL_WORK: 23}

#: and those of force elements
ELEMENTS = {place: 2 + place % 3 for name, place in vars(elements).items() if name.startswith("C_")}
#: and those of instruments and drives with states
DEVICES = {
    instruments.C_INSTRUMENTS: 3,
    instruments.C_INSTRUMENT_STATE: 17,
    drives.C_MOTORS: 2,
    drives.C_VALVES: 3,
    drives.C_DRIVE_STATE: 21,
}
#: and those of contacts
CONTACTS = {
    contacts.C_CONTACTS: 2,
    contacts.C_COLLIDERS: 3,
    contacts.C_PAIRS: 4,
    contacts.C_CONTACT_WALK: 5,
    contacts.C_TOUCHES: 6,
    contacts.C_ACTIVE: 3,
    contacts.C_MESH_CORNERS: 7,
    contacts.C_MESH_FACES: 5,
    contacts.C_MESH_LINKS: 8,
}


def numbered(plant: Plant) -> Plant:
    """The same counts, those of loops, modal bodies, elements and devices, all else replaced by its own index."""
    head = plant.ints[: layout.HEADER].copy()
    for which, count in (LOOPS | FLEXIBLE | ELEMENTS | DEVICES | CONTACTS).items():
        head[which] = count
    ints = np.arange(total(layout.int_sections(head)))
    ints[: layout.HEADER] = head
    return Plant(ints, np.arange(total(layout.float_sections(head)), dtype=float))


def fields(view: type, *vectors: str) -> tuple[str, ...]:
    """Names of the arrays of a view, those of families as family.name."""
    families = {family.name: family for family in layout.FAMILIES}
    found: list[str] = []
    for name in view._fields:
        nested = families[name].tuple_of(vectors) if name in families else ()
        found += [f"{name}.{part}" for part in nested] or [name]
    return tuple(found)


def plain(name: str) -> str:
    """Name of the section that an array of a view shows."""
    renamed = {
        "loops.row": "row_work",
        "flexible.table": "modal_table",
        "drives.now": "motor_now",
        "drives.state": "motor_state",
        "contacts.walk": "contact_walk",
        "contacts.corner_int": "mesh_corner_int",
        "contacts.face_int": "mesh_face_int",
        "contacts.sector_int": "mesh_sector_int",
        "contacts.before": "touch_before",
        "contacts.path": "contact_path",
        "contacts.coblock": "contact_coblock",
    }
    return renamed.get(name, name.split(".")[-1])


def places(sections: Sections) -> dict[str, tuple[int, int, int]]:
    """Name → (first element, rows, columns)."""
    found, start = {}, 0
    for name, rows, columns in sections:
        found[name] = start, rows, columns
        start += rows * columns
    return found


def test_plant_sections_agree_with_the_compiled_view(plant):
    marked = numbered(plant)
    seen = fields(layout.Plant, "ints", "floats")
    out = dict(zip(seen, corners(plant_view, marked.ints, marked.floats, seen)))
    assert out.pop("commands")[0] == plant.count(layout.C_COMMANDS) > 0
    assert out.pop("outputs")[0] == plant.count(layout.C_OUTPUTS) > 0
    assert out.pop("elements.acting")[0] > 0
    expected = places(layout.int_sections(marked.ints)) | places(layout.float_sections(marked.ints))
    del expected["header"]
    expected["gravity"] = 0, 3, 1  # the fourth place of gravity is padding
    for table in layout.tables_of("ints"):
        if table.real:  # the bits of its first number are its place
            first, *size = expected[table.name]
            expected[table.name] = np.int64(first).view(np.float64), *size
    assert set(map(plain, out)) == set(expected)
    for name, corner in out.items():
        assert corner[1] * corner[2] > 0, name
        assert tuple(corner) == expected[plain(name)], name


@pytest.mark.parametrize("looped", [False, True])
def test_work_sections_agree_with_the_compiled_view(plant, looped):
    ints = numbered(plant).ints if looped else plant.ints
    sections = layout.work_sections(ints)
    work = np.arange(total(sections), dtype=float)
    seen = fields(layout.Work, "work")
    out = corners(work_view, ints, work, seen)
    assert [name for name, _, _ in sections] == list(map(plain, seen))
    for corner, (name, place) in zip(out, places(sections).items()):
        assert corner[1] * corner[2] == place[1] * place[2], name
        assert not corner[1] * corner[2] or tuple(corner) == place, name


@pytest.mark.parametrize("shape", [(1, 1, 2), (4, 3, 3), (9, 8, 5), (17, 5, 6)])
def test_a_groups_scratch_is_what_its_view_covers(shape):
    n, m, bodies = shape
    group = np.zeros(loops.GROUP_INT, dtype=np.int64)
    for column, value in ((loops.GI_DOFS, n), (loops.GI_ROWS, m), (loops.GI_BODIES, bodies), (loops.GI_WORK, 5)):
        group[column] = value
    size = loops.group_work_size(n, m, bodies)
    work = np.arange(5.0 + size)
    at = 5
    for start, rows, columns in corners(loops.group_view, group, work, loops.GroupWork._fields):
        assert start == at
        at += int(rows * columns)
    assert at == len(work)


@pytest.mark.parametrize("condensed", [0, 1])
@pytest.mark.parametrize(("n", "rank"), [(1, 0), (8, 6), (9, 6), (17, 12), (25, 24)])
def test_a_modal_links_scratch_is_what_its_view_covers(n, rank, condensed):
    modal = np.array([n, 0, 5, 1, rank, condensed])
    work = np.arange(5.0 + flexible.modal_work_size(n, rank, condensed > 0))
    at = 5
    for start, rows, columns in corners(flexible.modal_view, modal, work, flexible.ModalWork._fields):
        assert start == at or rows * columns == 0
        at += int(rows * columns)
    assert at == len(work)


def test_state_sections(plant):
    system = full_model()
    state = new_state(plant, system)
    assert [name for name, _, _ in layout.state_sections(plant.ints)][:5] == ["time", "steps", "q", "v", "command"]
    ends = {
        name: at + rows * columns for name, (at, rows, columns) in places(layout.state_sections(plant.ints)).items()
    }
    assert ends["command"] == layout.S_Q + system.nq + system.nv + len(system.command_names)
    assert len(state) == plant.state_size == ends["switch"]
    assert np.array_equal(state[layout.S_Q : layout.S_Q + system.nq], system.q0)


def test_vectors_start_on_cache_lines(plant):
    for vector in (plant.floats, plant.new_work()):
        assert vector.ctypes.data % 64 == 0
        assert vector.flags.c_contiguous
        assert vector.dtype == np.float64


def test_codes_of_hinges_and_sensors_are_those_of_the_kernels():
    from limberjack.engine.kernels.sensors import outputs

    assert [kind.code for kind in HINGE_TYPES.values()] == list(range(len(HINGE_TYPES)))
    for name, code in SENSOR_CODES.items():
        assert getattr(outputs, name.upper()) == code


def test_header_has_room_and_a_version(plant):
    assert plant.count(layout.C_VERSION) == layout.FORMAT_VERSION
    counts = [
        value
        for where in (layout, loops, flexible, elements, instruments, drives, contacts)
        for name, value in vars(where).items()
        if name.startswith("C_")
    ]
    assert sorted(set(counts)) == list(range(len(set(counts))))
    assert max(counts) < layout.HEADER


def test_compiled_sizes_are_those_of_the_vectors(plant):
    out = np.zeros(10, dtype=np.int64)
    entries().sizes(plant.ints, out)
    expected = [len(plant.ints), len(plant.floats), plant.work_size, plant.state_size]
    expected += [plant.observed_size, plant.surveyed_size, plant.switches_size, plant.count(layout.C_COMMANDS)]
    nq, nv, ny = (plant.count(count) for count in (layout.C_Q, layout.C_V, layout.C_OUTPUTS))
    scratch = total(slope_sections(plant.count(layout.C_BODIES), nv))
    expected += [scratch + 3 * ny * nv, (2 * nv + ny + 1) * (nq + nv + plant.count(layout.C_COMMANDS))]
    assert out.tolist() == expected


def test_fields_of_a_row_do_not_overlap():
    """(start, length) of what a body's Plant and Work rows hold."""
    body = [(layout.B_R, 9), (layout.B_P, 3), (layout.B_M, 1), (layout.B_H, 3), (layout.B_I, 6), (layout.B_X, 1)]
    row = [
        (layout.W_R, 9),
        (layout.W_P, 3),
        (layout.W_V, 6),
        (layout.W_ALPHA, 6),
        (layout.W_U, 6),
        (layout.W_DINV, 1),
        (layout.W_EPS, 1),
    ]
    acc = [(layout.A_I, 6), (layout.A_H, 9), (layout.A_M, 6), (layout.A_Z, 6)]
    gen = [(layout.G_H, 36), (layout.G_U, 36), (layout.G_L, 36), (layout.G_A, 6), (layout.G_EPS, 6)]
    for fields, size in ((body, layout.BODY), (row, layout.ROW), (acc, layout.ACC), (gen, layout.GEN)):
        places = [i for start, length in fields for i in range(start, start + length)]
        assert len(places) == len(set(places))
        assert max(places) < size


def test_parameters_point_at_what_their_names_say(plant):
    system = full_model()
    dofs = {n: d for body in system.bodies for n, d in zip(body.hinge.velocity_names, body.hinge.dofs)}
    assert plant.floats[plant.parameters["gravity.z"]] == system.gravity[2]
    for name, index in plant.parameters.items():
        owner, _, word = name.rpartition(".")
        kind, _, target = owner.partition(".")
        if kind == "hinge":
            assert plant.floats[index] == getattr(dofs[target], word), name
        elif kind == "body":
            assert plant.floats[index] == system.bodies[system.body_names.index(target)].inertia.mass, name
        elif kind == "actuator":
            actuator = next(a for a in system.actuators if a.name == target)
            assert plant.floats[index] == getattr(actuator, word), name
    free = {name for name in dofs if name.startswith("h0.")}
    assert {name.split(".", 1)[1].rpartition(".")[0] for name in plant.parameters if name[:5] == "hinge"} == set(
        dofs
    ) - free
