"""Every wrong YAML model gets an error with line, field path, words and a remedy."""

from pathlib import Path

import pytest

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.load import load

ARM = (Path(__file__).parent / "arm.yaml").read_text()
LINES = ARM.splitlines()


def line_of(text: str, start: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if start in line)


# (what is replaced, by what, the line is the one with this text, field path, words of the message)
CASES = [
    ("mass: 12.0", "mass: -12.0", "mass: -12.0", "bodies[1].mass", "Give a number of at least 0"),
    ("mass: 12.0", "mass: 2e30", "mass: 2e30", "bodies[1].mass", "Give a number of at most 1e+30"),
    ("mass: 12.0", "mass: .nan", "mass: .nan", "bodies[1].mass", "not a finite number"),
    ("mass: 12.0", "mass: heavy", "mass: heavy", "bodies[1].mass", "'heavy' is not a number"),
    ("mass: 12.0", 'mass: "12"', 'mass: "12"', "bodies[1].mass", "'12' is not a number"),
    ("mass: 12.0", 'mass: "12"', 'mass: "12"', "bodies[1].mass", "Give a number without quotes."),
    ("mass: 12.0", "mass: 12 kg", "mass: 12 kg", "bodies[1].mass", "Give a number without its unit; units are SI"),
    ("lower: -2, upper: 2", "lower: -2, upper: 90°", "90°", "bodies[1].hinge.limits.upper", "without its unit"),
    ("    mass: 12.0\n", "", "name: upper_arm", "bodies[1].mass", "'mass' is missing"),
    ("mass: 12.0", "mas: 12.0", "mas: 12.0", "bodies[1].mas", "did you mean 'mass'"),
    ("zz: 60, xy: 1.5", "zz: 161", "zz: 161", "bodies[0].inertia", "triangle inequality"),
    ("zz: 60, xy: 1.5", "zz: -60", "zz: -60", "bodies[0].inertia", "not positive"),
    ("zz: 60, xy: 1.5", "xy: 1.5", "xy: 1.5", "bodies[0].inertia.zz", "'zz' is missing"),
    ("[0, 0, 0.2]]", "[0, 1, 0.2]]", "[0, 1, 0.2]]", "bodies[1].inertia", "not symmetric"),
    ("[0, 0, 0.2]]", "[0, 0.2]]", "[0, 0.2]]", "bodies[1].inertia[2]", "2 entries"),
    ("com: [0.1, 0, 0]", "com: [0.1, 0]", "com: [0.1, 0]", "bodies[0].com", "2 entries"),
    ("com: [0.1, 0, 0]", "com: [0.1, 0, .inf]", "com:", "bodies[0].com[2]", "not a finite number"),
    ("type: revolute", "type: revolut", "type: revolut", "bodies[1].hinge.type", "unknown hinge type 'revolut'"),
    ("type: revolute", "type: revolut", "type: revolut", "bodies[1].hinge.type", "did you mean 'revolute'?"),
    ("      type: revolute\n", "", "name: shoulder", "bodies[1].hinge.type", "'type' is missing"),
    ("      axis: [0, 0, 2]\n", "", "name: shoulder", "bodies[1].hinge.axis", "'axis' is missing"),
    ("axis: [0, 0, 2]", "axis: [0, 0, 0]", "axis: [0, 0, 0]", "bodies[1].hinge.axis", "zero length"),
    ("axis: [0, 0, 2]", "axis: [0, 0]", "axis: [0, 0]", "bodies[1].hinge.axis", "2 entries"),
    ("[1, 0, 0]], damping", "[1, 0, 1]], damping", "wrist", "bodies[2].hinge.axes", "right angles"),
    ("parent: base", "parent: bse", "parent: bse", "bodies[1].hinge.parent", "not a body or node"),
    ("parent: base", "parent: hand", "parent: hand", "bodies[1].hinge.parent", "cycle"),
    ("parent: base", "parent: 5", "parent: 5", "bodies[1].hinge.parent", "not text"),
    ("rpy: [0, 0, 0.5]", "rpy: [0, 0, 0.5]\n      quaternion: [1, 0, 0, 0]", "shoulder", "hinge", "only one of"),
    ("rpy: [0, 0, 0.5]", "quaternion: [1, 1, 0, 0]", "name: shoulder", "bodies[1].hinge", "has the norm 1.41421"),
    ("rpy: [0, 0, 0.5]", "rotation: [[1,0,0],[0,1,0],[0,0,-1]]", "name: shoulder", "hinge", "right-handed"),
    ("friction_rate: 0.02", "friction_rate: 0", "friction_rate: 0", "hinge.friction_rate", "a number above 0"),
    ("damping: 0.2", "damping: -0.2", "damping: -0.2", "bodies[1].hinge.damping", "Give a number of at least 0"),
    ("lower: -2, upper: 2", "lower: 2, upper: -2", "limits: {lower: 2", "bodies[1].hinge.limits", "not below"),
    ("lower: -2, upper: 2", "lower: 2, upper: 2", "limits: {lower: 2", "bodies[1].hinge.limits", "not below"),
    ("damping: 0.5", "damping: [1]", "damping: [1]", "bodies[2].hinge.damping", "1 values for 2 coordinates"),
    ("damping: 0.5", "damping: {angle3: 1}", "angle3", "bodies[2].hinge.damping", "unknown coordinate 'angle3'"),
    ("damping: 0.5", "damping: {angle1: -1}", "angle1", "bodies[2].hinge.damping", "-1"),
    ("damping: 0.5", "upper: 0.5", "upper: 0.5", "bodies[2].hinge.upper", "Write limits: {lower: …, upper: …}"),
    ("damping: 0.5", "pitch: 0.5", "pitch", "bodies[2].hinge.pitch", "not a field of a universal hinge"),
    ("{angle2: {lower", "{angle9: {lower", "angle9", "bodies[2].hinge.limits", "unknown coordinate 'angle9'"),
    ("position: [0.1, 0.2]}", "position: [0.1]}", "[0.1]}", "bodies[2].hinge.initial.position", "1 values"),
    ("velocity: {wz: 0.1", "velocity: {w: 0.1", "w: 0.1", "bodies[0].hinge.initial.velocity", "unknown coordinate 'w'"),
    ("type: free,", "type: free, stiffness: 1,", "type: free", "bodies[0].hinge.stiffness", "quasi-velocities"),
    ("type: free,", "type: free, limits: {}, ", "type: free", "bodies[0].hinge.limits", "quasi-velocities"),
    ("name: hand", "name: upper_arm # 2", "# 2", "bodies[2].name", "used twice"),
    ("name: target", "name: hand", "name: hand, body", "nodes[1].name", "used twice"),
    ("name: hand", "name: world", "name: world", "bodies[2].name", "inertial frame"),
    ("name: hand", 'name: " hand"', '" hand"', "bodies[2].name", "begins or ends with a space"),
    ("name: hand", 'name: "ha\\u0007nd"', "u0007", "bodies[2].name", "unprintable"),
    ("name: wrist, type", "name: shoulder, type", "name: shoulder, type", "bodies[2].hinge.name", "used twice"),
    ("body: upper_arm", "body: upper", "body: upper,", "nodes[0].body", "does not exist"),
    ("coordinate: shoulder", "coordinate: elbow", "coordinate: elbow", "actuators[0].coordinate", "not a velocity"),
    ("mode: servo", "mode: servi", "mode: servi", "actuators[0].mode", "unknown mode 'servi'"),
    ("mode: servo", "mode: torque", "mode: torque", "actuators[0].kp", "mode torque does not use"),
    ("kp: 400", "kp: 0", "kp: 0", "actuators[0].kp", "no kp"),
    ("coordinate: shoulder", "coordinate: base.wx", "base.wx", "actuators[0].mode", "no position"),
    ("limit: 150", "limit: 0", "limit: 0", "actuators[0].limit", "a number above 0"),
    ("name: wrist_1", "name: shoulder", "wrist.angle1", "actuators[1].name", "used twice"),
    ("name: wrist_1", "name: shoulder.rate", "shoulder.rate", "actuators[1].name", "both take the command"),
    ("type: gyro", "type: giro", "type: giro", "sensors[0].type", "unknown type 'giro'"),
    ("type: gyro, target: base", "type: rate, target: base", "rate, target", "target", "for the node 'base', one"),
    ("type: gyro, target: base", "type: gyro, target: foot", "target: foot", "sensors[0].target", "is not a node"),
    ("type: reaction, target: wrist", "type: rate, target: base", "wrist_load", "sensors[1].target", "not a velocity"),
    ("name: wrist_load", "name: base_rate", "type: reaction", "sensors[1].name", "used twice"),
    ("limberjack: 1", "limberjack: 2", "limberjack: 2", "limberjack", "unknown limberjack 2"),
    ("limberjack: 1\n", "", "name: space_arm", "limberjack", "'limberjack' is missing"),
    ("dt: 1e-3", "dt: 0", "dt: 0", "simulation.dt", "a number above 0"),
    ("integrator: rk4", "integrator: euler", "euler", "simulation.integrator", "unknown integrator 'euler'"),
    ("gravity: [0, 0, 0]", "gravity: [0, 0, x]", "gravity", "gravity[2]", "'x' is not a number"),
    ("gravity: [0, 0, 0]", "gravity: [0, 0, true]", "gravity", "gravity[2]", "True is not a number"),
    ("name: space_arm\n", "name: a\nname: b\n", "name: b", "", "the key 'name' is given twice, first in line 2"),
    ("name: space_arm", "name: !!python/object:os.system x", "python/object", "", "tag"),
    ("name: space_arm", "name: *nowhere", "nowhere", "", "alias '*nowhere'"),
    ("name: space_arm", "name: [a", "gravity", "", "not valid YAML"),
    ("name: space_arm", "<<: {a: 1}", "<<", "", "merge keys"),
    ("name: space_arm", "name: 5", "name: 5", "name", "5 is not text"),
    ("name: space_arm", "name: a\nfmu: {output: []}", "fmu:", "fmu.output", "did you mean 'outputs'"),
    ("name: space_arm", "name: a\nfmu: {inputs: [1]}", "fmu:", "fmu.inputs[0]", "1 is not text"),
    ("name: space_arm", "name: a\nfmu: {inputs: [a, '']}", "fmu:", "fmu.inputs[1]", "the pattern '' is empty"),
    ("name: space_arm", "name: a\nfmu: {outputs: q}", "fmu:", "fmu.outputs", "'q' is not a list"),
    ("name: space_arm", "name: a\nfmu: {parameters: [ä]}", "fmu:", "fmu.parameters[0]", "printable ASCII"),
    ("name: space_arm", "name: a\nfmu: {outputs: [hinge.'a]}", "fmu:", "fmu.outputs[0]", "quote without its partner"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "field", "words"), CASES, ids=[f"{c[1][:40]}" for c in CASES])
def test_error_names_line_field_and_remedy(old, new, line, field, words, tmp_path):
    assert ARM.count(old) >= 1
    text = ARM.replace(old, new, 1)
    path = tmp_path / "arm.yaml"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        load(path)
    error = caught.value
    assert words in str(error)
    assert error.where.startswith(f"{path}:{line_of(text, line)}")
    assert error.where.endswith(field)
    assert error.remedy


def test_several_findings_are_reported_together(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(ARM.replace("mass: 12.0", "mass: -1").replace("axis: [0, 0, 2]", "axis: [0, 0]"))
    with pytest.raises(ModelError, match=r"bodies\[1\]\.mass.*also .*bodies\[1\]\.hinge\.axis: 2 entries"):
        load(path)


ONE = """limberjack: 1
name: one
bodies:
  - {{name: b, mass: {mass}, hinge: {{type: {hinge}, parent: world{more}}}}}
"""


@pytest.mark.parametrize(
    ("mass", "hinge", "more", "words"),
    [
        ("1", "free", "", "has mass but no inertia"),
        ("0", "free", "", "against no inertia"),
        ("0", "revolute", ", axis: [0, 0, 1]", "against no inertia"),
        ("0, inertia: {xx: 1, yy: 1, zz: 1}", "free", "", "without mass has rotational inertia"),
        ("1, inertia: {xx: 0, yy: 0, zz: 0}", "revolute", ", axis: [0, 0, 1]", "against no inertia"),
        ("1, inertia: {xx: 0, yy: 0, zz: 0}, com: [1, 0, 0]", "spherical", "", "against no inertia"),
        ("1, inertia: {xx: 1, yy: 1, zz: 1}", "custom", ", map: [[1],[1],[1],[1],[1]]", "5 entries"),
        ("1, inertia: {xx: 1, yy: 1, zz: 1}", "custom", ", map: [[1],[1,2],[1],[1],[1],[1]]", "differ in length"),
        ("1, inertia: {xx: 1, yy: 1, zz: 1}", "custom", ", map: [[1,1],[1,1],[0,0],[0,0],[0,0],[0,0]]", "dependent"),
        ("1, inertia: {xx: 1, yy: 1, zz: 1}", "rolling", ", axes: [[1,0,0],[0,1,0]], radius: 0", "a number above 0"),
        ("1, inertia: {xx: 1, yy: 1, zz: 1}", "helical", ", axis: [1, 0, 0]", "'pitch' is missing"),
        ("1, inertia: {xx: 1, yy: 1, zz: 1}", "cylindrical", ", axis: [1,0,0], damping: 2", "different units"),
        ("1, inertia: {xx: 1, yy: 1, zz: 1}", "spherical", ", rest: 2", "quasi-velocities"),
        ("1, inertia: {xx: 1, yy: 1, zz: 1}", "gimbal", ", axes: [[1,0,0],[0,1,0]]", "2 entries"),
    ],
)  # fmt: skip
def test_one_body(mass, hinge, more, words, tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(ONE.format(mass=mass, hinge=hinge, more=more))
    with pytest.raises(ModelError, match=words) as caught:
        load(path)
    assert f"{path}:4, bodies[0]" in caught.value.where


@pytest.mark.parametrize("more", ["armature: 0.1", "armature: 0.1, damping: 2"])
def test_massless_leaf_with_armature_is_fine(more, tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(ONE.format(mass=0, hinge="revolute", more=f", axis: [0, 0, 1], {more}"))
    assert load(path).nv == 1


def test_point_mass_on_an_arm_is_fine(tmp_path):
    path = tmp_path / "one.yaml"
    body = "1, inertia: {xx: 0, yy: 0, zz: 0}, com: [1, 0, 0]"
    path.write_text(ONE.format(mass=body, hinge="revolute", more=", axis: [0, 0, 1]"))
    assert load(path).nv == 1


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]" for a, b in zip("abcdefgh", "bcdefghi")
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (LAUGHS.encode(), "aliases expand to more than"),
        (b"[" * 5000, "deeper than 32"),
        (b"{a: " * 5000, "deeper than 32"),
        (b"- " * 5000 + b"x", "deeper than 32"),
        (b"", "is empty"),
        (b"# only a comment\n", "is empty"),
        (b"just words", "not a mapping"),
        (b"a: 1\n---\nb: 2\n", "second YAML document"),
        (b"a: 1\n\tb: 2\n", "Indent with spaces: the line begins with a tab"),
        (b"a: [1\nb: 2\n", "Correct this line or the one before it"),
        (b"limberjack_scenario: 1\nmodel: arm.yaml\n", "this is a scenario file, not a model.* 'limberjack hil'"),
        (b"\xff\xfe\x00\x00", "not UTF-8"),
        (b"name: a\x00b", "not valid YAML"),
        (b"&a [*a]", "no finished anchor"),
        (b"? [a, b]\n: c", "a key is not plain text"),
        (b"%YAML 9.9\n---\na: 1", "not valid YAML"),
    ],
    ids=lambda value: str(value[:20]),
)  # fmt: skip
def test_hostile_text(content, words, tmp_path):
    path = tmp_path / "hostile.yaml"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=words) as caught:
        load(path)
    assert str(path) in caught.value.where


def test_files_that_are_not_there_or_of_no_known_kind(tmp_path):
    with pytest.raises(ModelError, match="does not exist"):
        load(tmp_path / "missing.yaml")
    (tmp_path / "arm.yaml").write_text("")
    with pytest.raises(ModelError, match=r"does not exist.*did you mean '.*arm\.yaml'"):
        load(tmp_path / "arm.yml")
    (tmp_path / "dir.yaml").mkdir()
    with pytest.raises(ModelError, match="not a file but a folder"):
        load(tmp_path / "dir.yaml")
    (tmp_path / "arm.sdf").write_text("")
    with pytest.raises(ModelError, match="unknown kind of model file '.sdf'"):
        load(tmp_path / "arm.sdf")
    with pytest.raises(ModelError, match=r"arm: the name does not end in a format.*did you mean '.*arm\.yaml'"):
        load(tmp_path / "arm")
    with pytest.raises(ModelError, match="^load: this is a text of 1000[0-9] letters, not a path"):
        load("a: 1\n" + "x" * 10000)
    with pytest.raises(ModelError, match="does not end in a format"):
        load(".")
    big = tmp_path / "big.yaml"
    big.write_bytes(b"#" * (16 * 1024 * 1024 + 1))
    with pytest.raises(ModelError, match="larger than 16 MiB"):
        load(big)


def test_wrong_arguments(tmp_path):
    path = Path(__file__).parent / "arm.yaml"
    with pytest.raises(ModelError, match="base is 'loose'"):
        load(path, base="loose")
    with pytest.raises(ModelError, match="mimic is 'maybe'"):
        load(path, mimic="maybe")
