"""Loops of the YAML format: every field arrives, and every wrong one is named with its line."""

import dataclasses
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgpack
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model import archive
from limberjack.engine.model.archive import from_bytes, to_bytes
from limberjack.engine.model.load import load
from limberjack.engine.model.places import plain_locate
from limberjack.engine.model.readers.schema import json_schema
from limberjack.engine.model.readers.yaml_reader import read_yaml
from limberjack.engine.model.system import LOOP_TYPES, System, Term
from limberjack.engine.model.validate import examine
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from tests.engine.model.test_archive import forged, same

HERE = Path(__file__).parent
LINKAGE = (HERE / "linkage.yaml").read_text()
DOCS = HERE.parents[2] / "docs" / "reference" / "model-format.md"


def checked(path: Path) -> System:
    """The system of a file before its loops are brought to close."""
    system, _, locate = read_yaml(path)
    return examine(system, "refuse", locate)


GOOD = to_bytes(checked(HERE / "linkage.yaml"))


@pytest.fixture(scope="module")
def linkage():
    return checked(HERE / "linkage.yaml")


def loop_of(system, name):
    return system.loops[system.loop_names.index(name)]


def test_names_types_and_commands(linkage):
    assert linkage.loop_names == ("pin", "rod", "stay", "wheel", "gear", "grasp", "ball", "brake")
    assert {loop.type for loop in linkage.loops} == set(LOOP_TYPES)
    drive = ("rod.position", "rod.velocity", "rod.acceleration")
    assert linkage.command_names == ("drive", *drive, "grasp.closed", "ball.closed", "brake.closed")
    firsts = [value for loop in linkage.loops for value in loop.first_commands]
    assert firsts == [0.0] * 6


def test_a_cut_hinge_has_both_frames(linkage):
    pin = loop_of(linkage, "pin")
    assert (pin.hinge.name, pin.hinge.type, pin.hinge.parent, pin.body) == ("pin", "revolute", "coupler", "rocker")
    assert (pin.method, pin.independent, pin.joins) == ("embed", ("crank",), True)
    np.testing.assert_array_equal(pin.hinge.axes, [[0, 0, 1]])
    np.testing.assert_allclose(pin.hinge.inboard.position, [0.4, 0, 0])
    np.testing.assert_allclose(pin.hinge.inboard.rotation, np.eye(3), atol=1e-16)  # node and pose on it undo each other
    np.testing.assert_allclose(pin.hinge.outboard.position, [0.2, 0, 0])
    assert pin.hinge.dofs == ()
    assert pin.hinge.q0.size == pin.hinge.v0.size == 0


def test_distances(linkage):
    rod, stay = loop_of(linkage, "rod"), loop_of(linkage, "stay")
    assert rod.length == pytest.approx(math.sqrt(14.0), rel=1e-15)  # as it is at the start
    assert (rod.driven, rod.body, rod.hinge.type) == (True, None, "free")
    assert (stay.length, stay.stabilisation, stay.projection) == (1.0, 5.0, True)
    assert stay.hinge.parent == "mast"


def test_wheels(linkage):
    wheel = loop_of(linkage, "wheel")
    assert (wheel.wheel.shape, wheel.wheel.radius, wheel.hinge.type) == ("disc", 0.4, "free")
    np.testing.assert_array_equal(wheel.wheel.axis, [0, 1, 0])
    assert (wheel.hinge.parent, wheel.body, wheel.method) == (None, "mast", "force")


def test_coupling_lock_weld_and_point(linkage):
    gear, grasp, ball, brake = (loop_of(linkage, name) for name in ("gear", "grasp", "ball", "brake"))
    assert gear.terms == (Term("motor", (1.0,)), Term("joint.angle", (-100.0, 0.5)))
    assert (gear.offset, gear.projection, gear.joins) == (0.0, False, False)
    assert (brake.locked, brake.switchable, brake.closed, brake.hinge) == ("joint", True, False, None)
    assert (grasp.hinge.type, ball.hinge.type, grasp.reach, ball.reach) == ("fixed", "spherical", 0.05, math.inf)
    np.testing.assert_allclose(grasp.hinge.inboard.rotation, Rotation.from_euler("z", 0.1).as_matrix(), atol=1e-15)
    np.testing.assert_allclose(grasp.hinge.outboard.rotation, Rotation.from_euler("z", 1).as_matrix(), atol=1e-15)
    assert (ball.method, grasp.method) == ("force", None)


def test_what_the_file_gives_of_the_start_is_held(linkage):
    assert linkage.held == ("crank", "knee", "joint.distance", "base.x", "base.y", "base.z")
    assert linkage.held_rates == ("crank", "rocker", "base.wx")
    system = load(HERE / "linkage.yaml")
    held = [system.coordinate_names.index(name) for name in system.held]
    np.testing.assert_array_equal(system.q0[held], linkage.q0[held])


def test_holding_the_root_holds_none_of_its_coordinates(tmp_path):
    start = "{position: [1, 0, 0], rpy: [0, 0, 0], velocity: [0, 0, 0, 0, 0, 0]}"
    body = f"{{name: b, mass: 0, hinge: {{type: free, parent: world, initial: {start}}}}}"
    mass = "mass: 1, inertia: {xx: 1, yy: 1, zz: 1}"
    arm = f"{{name: a, {mass}, hinge: {{type: planar, parent: b, axes: [[0, 0, 1], [1, 0, 0]],"
    path = tmp_path / "m.yaml"
    path.write_text(
        f"limberjack: 1\nname: m\nbodies:\n  - {body}\n  - {arm} initial: {{velocity: {{x: 1}}, position: 0}}}}}}\n"
    )
    free, held = load(path), load(path, base="fixed")
    assert free.held == (*(f"b.{c}" for c in ("qw", "qx", "qy", "qz", "x", "y", "z")), "a.angle", "a.x", "a.y")
    assert (held.held, held.held_rates) == (("a.angle", "a.x", "a.y"), ("a.x",))
    assert free.held_rates == (*(f"b.{v}" for v in ("wx", "wy", "wz", "vx", "vy", "vz")), "a.x")


def test_sensors_of_loops(linkage):
    assert [sensor.target for sensor in linkage.sensors] == ["pin", "gear", "rod", "grasp", "brake"]


def test_the_archive_keeps_loops_to_the_last_bit(linkage):
    back = from_bytes(to_bytes(linkage), "linkage.ljm")
    assert same(linkage, back)
    assert back.loops[1].length == linkage.loops[1].length


def columns(kind):
    return [field.name for field in dataclasses.fields(kind)]


JUNK = st.sampled_from([None, True, -1, 1.5, math.nan, 1e300, "", "pin", "lock", "embed", b"", [], [1], {}, 2**63])


@given(st.data())
def test_a_forged_loop_is_refused_or_gives_a_checked_model(data):
    """Any one value of an archive's loops exchanged for junk: ModelError, or a model that passes the checks."""
    _, content = msgpack.unpackb(GOOD[archive._HEADER.size :])
    node = content[columns(System).index("loops")]
    while True:
        place = data.draw(st.integers(0, len(node) - 1))
        if type(node[place]) is not list or not node[place] or data.draw(st.booleans()):
            break
        node = node[place]
    node[place] = data.draw(JUNK)
    try:
        system = from_bytes(forged(content), "model.ljm")
    except ModelError:
        return
    assert examine(system, "refuse", plain_locate).loop_names == system.loop_names


CUTS = {
    "fixed": "",
    "revolute": ", axis: [1, 0, 0]",
    "prismatic": ", axis: [1, 0, 0]",
    "helical": ", axis: [1, 0, 0], pitch: 0.01",
    "cylindrical": ", axis: [1, 0, 0]",
    "universal": ", axes: [[0, 3, 0], [1, 0, 0]]",
    "gimbal": ", axes: [[0, 0, 1], [0, 1, 0], [1, 0, 0]]",
    "spherical": "",
    "planar": ", axes: [[0, 0, 1], [0, 1, 0]]",
    "rolling": ", axes: [[0, 1, 0], [1, 0, 0]], radius: 0.3",
    "custom": ", map: [[1, 0], [0, 0], [0, 0], [0, 0], [0.1, 0], [0, 1]]",
}


def with_loop(loop: str) -> str:
    """The linkage with this one loop and no sensors."""
    return LINKAGE[: LINKAGE.index("loops:")] + f"loops:\n  - {{{loop}}}\n"


@pytest.mark.parametrize("kind", [kind for kind in HINGE_TYPES if kind != "free"])
def test_every_hinge_can_be_cut(kind, tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(with_loop(f"name: cut, type: hinge, hinge: {kind}, from: arm, to: mast{CUTS[kind]}"))
    hinge = checked(path).loops[0].hinge
    assert hinge.type == kind
    assert hinge.axes.shape == (HINGE_TYPES[kind].axes, 3)
    np.testing.assert_allclose(np.linalg.norm(hinge.axes, axis=1), 1.0)
    assert hinge.pitch == (0.01 if kind == "helical" else 0.0)
    assert hinge.radius == (0.3 if kind == "rolling" else 0.0)
    assert (hinge.map is not None) == (kind == "custom")


ENDS = "from: tip, to: base"
BAD = [
    ("name: a", "", "'type' is missing", "Give the loop type, one of: 'hinge', 'point'"),
    ("name: a, type: hing", "type", "unknown loop type 'hing'", "Use one of: 'hinge', 'point'"),
    ("name: a, type: revolute", "type", "unknown loop type", "hinge type: write type: hinge, hinge: revolute"),
    ("name: a, type: [hinge]", "type", "unknown loop type", "Use one of: 'hinge'"),
    (f"name: a, type: hinge, {ENDS}", "hinge", "'hinge' is missing", "Give the hinge type, one of: 'fixed'"),
    (f"name: a, type: hinge, hinge: revolut, {ENDS}", "hinge", "unknown hinge type 'revolut'", "'revolute'"),
    (f"name: a, type: hinge, hinge: free, {ENDS}", "hinge", "constrains nothing", "'spherical'"),
    (f"name: a, type: hinge, hinge: revolute, {ENDS}", "axis", "'axis' is missing", "Add axis"),
    (f"name: a, type: hinge, hinge: revolute, axis: [0, 0], {ENDS}", "axis", "2 entries", "Give at least 3"),
    (f"name: a, type: hinge, hinge: revolute, axis: [0, 0, 0], {ENDS}", "axis", "zero length", "direction"),
    (f"name: a, type: hinge, hinge: universal, axes: [[1, 0, 0], [1, 1, 0]], {ENDS}", "axes", "right angles", "ortho"),
    (f"name: a, type: hinge, hinge: spherical, axis: [0, 0, 1], {ENDS}", "axis", "spherical hinge loop", "Remove it"),
    (f"name: a, type: hinge, hinge: revolute, axis: [0, 0, 1], damping: 1, {ENDS}", "damping", "not a field", "Remove"),
    (f"name: a, type: hinge, hinge: custom, map: [[1], [1, 2], [0], [0], [0], [0]], {ENDS}", "map", "differ", "6 rows"),
    (f"name: a, type: hinge, hinge: custom, map: [[1], [1]], {ENDS}", "map", "2 entries", "Give at least 6"),
    (f"name: a, type: point, axis: [0, 0, 1], {ENDS}", "axis", "'axis' is not a field of a point loop", "Remove it"),
    (f"name: a, type: point, lenght: 1, {ENDS}", "lenght", "not a field of a point loop", "did you mean 'length'"),
    ("name: a, type: point, to: base", "from", "'from' is missing", "Add from"),
    ("name: a, type: point, from: tip", "to", "'to' is missing", "Add to"),
    ("name: a, type: point, from: tpi, to: base", "from", "joins 'tpi', which is not a body or node", "'tip'"),
    ("name: a, type: point, from: tip, to: {body: bse}", "to.body", "joins 'bse'", "'base'"),
    ("name: a, type: point, from: tip, to: {position: [0, 0, 0]}", "to.body", "'body' is missing", "Add body"),
    ("name: a, type: point, from: tip, to: {body: base, position: [0, 0]}", "to.position", "2 entries", "at least 3"),
    ("name: a, type: point, from: tip, to: {body: base, x: 1}", "to.x", "unknown field 'x'", "Remove it"),
    ("name: a, type: weld, from: tip, to: {body: base, quaternion: [1, 1, 0, 0]}", "to", "norm 1.41421", "orientation"),
    ("name: a, type: point, from: 5, to: base", "from", "5 is not text", "in quotes"),
    ("name: a, type: point, from: [tip], to: base", "from", "not a mapping", "Give a mapping"),
    ("name: a, type: point, from: tip, to: coupler", "to", "both frames are on the same body", "Join frames"),
    ("name: a, type: weld, from: base, to: mast", "to", "on bodies that are fixed to each other", "Join frames"),
    ("name: a, type: point, from: world, to: {body: world, position: [1, 0, 0]}", "to", "'a' joins the world", "Join"),
    (f"name: a, type: distance, {ENDS}, length: 0", "length", "length is 0", "above 0"),
    (f"name: a, type: distance, {ENDS}, length: -1", "length", "length is -1", "above 0"),
    ("name: a, type: distance, from: crank, to: world", "length", "at the same place at the start", "type point"),
    ("name: a, type: coupling", "terms", "'terms' is missing", "Add terms"),
    ("name: a, type: coupling, terms: {}", "terms", "0 entries", "at least 1"),
    ("name: a, type: coupling, terms: {motr: 1}", "terms.motr", "couples 'motr', which is not a coordinate", "'motor'"),
    ("name: a, type: coupling, terms: {base.x: 1}", "terms.base.x", "is not a velocity of its hinge", "join frames"),
    ("name: a, type: coupling, terms: {base.qw: 1}", "terms.base.qw", "rate is not a velocity of its hinge", "join"),
    ("name: a, type: coupling, terms: {motor: []}", "terms.motor", "0 entries", "at least 1"),
    ("name: a, type: coupling, terms: {motor: [1, 2, 3, 4, 5]}", "terms.motor", "5 entries", "at most 4"),
    ("name: a, type: coupling, terms: {motor: x}", "terms.motor", "'x' is not a number", "Give a number"),
    ("name: a, type: coupling, terms: {motor: 0}", "terms.motor", "are [0.0]", "not all zero"),
    ("name: a, type: coupling, terms: {motor: .nan}", "terms.motor", "not a finite number", "finite"),
    ("name: a, type: coupling, terms: [motor]", "terms", "is not a mapping", "Give a mapping"),
    ("name: a, type: coupling, terms: {motor: 1}, offset: .inf", "offset", "not a finite number", "finite"),
    ("name: a, type: coupling, terms: {motor: 1}, reach: 1", "reach", "not a field of a coupling loop", "Remove"),
    ("name: a, type: lock", "hinge", "'hinge' is missing", "Add hinge"),
    ("name: a, type: lock, hinge: elbow", "hinge", "locks 'elbow', which is not a hinge", "'motor'"),
    ("name: a, type: lock, hinge: mast", "hinge", "'mast', which is fixed already", "can move"),
    (f"name: a, type: point, {ENDS}, driven: true", "driven", "not a field of a point loop", "Remove"),
    (f"name: a, type: point, {ENDS}, method: minimal", "method", "unknown method 'minimal'", "'embed', 'force'"),
    (f"name: a, type: point, {ENDS}, closed: false", "closed", "starts open and is not switchable", "switchable: true"),
    (f"name: a, type: point, {ENDS}, closed: 0", "closed", "0 is not true or false", "true or false"),
    (f"name: a, type: point, {ENDS}, method: embed, switchable: true", "method", "cannot be embedded", "permanent"),
    (f"name: a, type: point, {ENDS}, independent: [knee], switchable: true", "independent", "cannot be", "permanent"),
    (f"name: a, type: point, {ENDS}, independent: [knee], method: force", "independent", "acts by force", "embed"),
    (f"name: a, type: point, {ENDS}, independent: [kne]", "independent", "'kne' is not a velocity", "'knee'"),
    (f"name: a, type: point, {ENDS}, independent: [knee, knee]", "independent", "names 'knee' twice", "once"),
    (f"name: a, type: point, {ENDS}, independent: knee", "independent", "'knee' is not a list", "Give a list"),
    (f"name: a, type: point, {ENDS}, stabilisation: -1", "stabilisation", "is -1", "at least 0"),
    (f"name: a, type: point, {ENDS}, method: embed, stabilisation: 2", "stabilisation", "is embedded", "method force"),
    (f"name: a, type: point, {ENDS}, method: embed, projection: false", "projection", "is embedded", "method force"),
    (f"name: a, type: point, {ENDS}, reach: 1", "reach", "loop that is not switchable has no reach", "Remove reach"),
    (f"name: a, type: point, {ENDS}, switchable: true, reach: 0", "reach", "reach is 0", "above 0"),
    (f"name: world , type: point, {ENDS}, nam: x", "nam", "'nam' is not a field", "did you mean 'name'"),
    (f'name: "a ", type: point, {ENDS}', "name", "begins or ends with a space", "plain name"),
    (f"type: point, {ENDS}", "name", "'name' is missing", "Add name"),
]  # fmt: skip


@pytest.mark.parametrize(("loop", "field", "words", "remedy"), BAD, ids=[f"{b[0][9:60]} {b[1]}" for b in BAD])
def test_error_names_line_field_and_remedy(loop, field, words, remedy, tmp_path):
    text = with_loop(loop)
    path = tmp_path / "linkage.yaml"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        load(path)
    error = caught.value
    line = len(text.splitlines())
    assert error.where == f"{path}:{line}, loops[0]" + (f".{field}" if field else ".type")
    assert words in error.what
    assert remedy in error.remedy


CHANGES = [
    ("name: rod,", "name: pin,", "name: pin,", "loops[1].name", "'pin' is used twice among the loops, first at"),
    (
        "name: drive",
        "name: grasp.closed",
        "  - name: grasp",
        "loops[5].name",
        "actuator 'grasp.closed' and loop 'grasp'",
    ),
    ("target: pin", "target: gear", "target: gear", "sensors[0].target", "which is not a loop that joins two frames"),
    ("target: grasp", "target: tip", "target: tip", "sensors[3].target", "measures 'tip', which is not a loop"),
    ("    to: {body: rocker, position: [0.2, 0, 0]}", "    to: {body: rockr}", "rockr", "loops[0].to.body", "'rockr'"),
    ("    axis: [0, 0, 2]\n    from", "    axis: [0, 0]\n    from", "axis: [0, 0]", "loops[0].axis", "2 entries"),
    ("loops:\n", "loops:\n  - 5\n", "  - 5", "loops[0]", "5 is not a mapping"),
    ("nodes:", "loop: []\nnodes:", "loop: []", "loop", "did you mean 'loops'"),
]


@pytest.mark.parametrize(("old", "new", "line", "field", "words"), CHANGES, ids=[c[4][:40] for c in CHANGES])
def test_error_in_a_longer_file(old, new, line, field, words, tmp_path):
    assert LINKAGE.count(old) >= 1
    text = LINKAGE.replace(old, new, 1)
    path = tmp_path / "linkage.yaml"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        load(path)
    number = next(i for i, row in enumerate(text.splitlines(), 1) if line in row)
    assert words in str(caught.value)
    assert caught.value.where == f"{path}:{number}, {field}"
    assert caught.value.remedy


def test_json_schema_of_loops():
    schema = json.loads(json_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    model = yaml.safe_load(LINKAGE)
    jsonschema.validate(model, schema)
    model["loops"][0]["lenght"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(model, schema)


def blocks():
    """The YAML examples of the section about loops."""
    text = DOCS.read_text(encoding="utf-8")
    section = text[text.index("### Loops") : text.index("### FMU")]
    return re.findall(r"```yaml\n(.*?)```", section, re.S)


def test_the_documented_mechanism_loads(tmp_path):
    path = tmp_path / "doc.yaml"
    (model,) = [block for block in blocks() if block.startswith("limberjack")]
    path.write_text(model)
    system = load(path)
    assert system.loops
    assert lj.load(path).loop_names == system.loop_names


def test_the_documented_examples_of_every_type_are_read(tmp_path):
    path = tmp_path / "doc.yaml"
    (loops,) = [block for block in blocks() if block.startswith("loops")]
    path.write_text(LINKAGE[: LINKAGE.index("loops:")] + loops)
    assert {loop.type for loop in checked(path).loops} == set(LOOP_TYPES)


def test_the_docs_name_every_type():
    text = DOCS.read_text(encoding="utf-8")
    for word in (*LOOP_TYPES, "embed", "force"):
        assert f"`{word}`" in text


def test_reading_needs_no_compiled_kernel():
    """In a process of its own: the library of entries is not loaded while a model with loops is."""
    code = (
        "from limberjack.engine.compile import library; from limberjack.engine.model.load import load\n"
        f"print(len(load({str(HERE / 'linkage.yaml')!r}).loops), library.load.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120.0, check=False)
    assert done.stdout.split() == ["8", "0"], done.stderr
