"""Contacts of MJCF files are those that MuJoCo makes; collision shapes of URDF links have names."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.grounds import ground_corners

KINDS = {"sphere": "0.05", "capsule": "0.03 0.05", "box": "0.05 0.04 0.03", "cylinder": "0.04 0.05"}
FAR = 1e3


def random_file(rng: np.random.Generator) -> str:
    """Trees, welded and static bodies, bits, priorities, condim, friction, excludes and pairs."""

    def geom(name: str) -> str:
        kind = rng.choice(list(KINDS))
        numbers = " ".join(f"{each:.3f}" for each in rng.uniform(0.001, 1.0, 3))
        bits = f'contype="{rng.integers(0, 4)}" conaffinity="{rng.integers(0, 4)}" priority="{rng.integers(0, 2)}"'
        what = f'condim="{rng.choice([1, 3, 4, 6])}" friction="{numbers}" mass="1"'
        return f'<geom name="{name}" type="{kind}" size="{KINDS[kind]}" {bits} {what}/>'

    bodies, last = [], int(rng.integers(5, 9))
    for i in range(last):
        joint = rng.choice(["", '<joint type="hinge" axis="0 1 0"/>', '<joint type="slide"/>'], p=[0.3, 0.4, 0.3])
        geoms = "".join(geom(f"g{i}_{k}") for k in range(rng.integers(1, 3)))
        bodies.append(f'<body name="b{i}" pos="0 0 0.3">{joint}{geoms}')
    nested = "".join(f"{body}{'</body>' * rng.integers(0, 2)}" for body in bodies)
    nested += "</body>" * (nested.count("<body") - nested.count("</body>"))
    contact = f'<exclude body1="b0" body2="b{last - 1}"/>'
    contact += f'<pair geom1="g1_0" geom2="g{last - 1}_0" condim="4" friction="0.3 0.2 0.01 0.001 0.002"/>'
    over = '<option o_friction="0.6 0.5 0.02 0.001 0.003"><flag override="enable"/></option>'
    flag = rng.choice(["", '<option><flag filterparent="disable"/></option>', over])
    floor = '<geom name="floor" type="plane" size="0 0 1" contype="1" conaffinity="1"/>'
    return f"<mujoco>{flag}<worldbody>{floor}{nested}</worldbody><contact>{contact}</contact></mujoco>"


def theirs(path) -> dict[frozenset[str], tuple]:
    """What MuJoCo lets touch: all its contacts when everything is a sphere, and near everything."""
    spec = mujoco.MjSpec.from_file(str(path))
    for each in (*spec.geoms, *spec.pairs):
        each.margin = FAR
    spec.option.o_margin = 2.0 * FAR
    for geom in spec.geoms:
        if geom.type != mujoco.mjtGeom.mjGEOM_PLANE:
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [0.05, 0.0, 0.0]
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = {}
    for contact in data.contact:
        slide, slide_2, torsion, roll, roll_2 = contact.friction
        least = (min(slide, slide_2), torsion, min(roll, roll_2))
        acting = {1: 0, 3: 1, 4: 2, 6: 3}[int(contact.dim)]
        law = tuple(each if k < acting else 0.0 for k, each in enumerate(least))
        found[frozenset(model.geom(int(each)).name for each in contact.geom)] = law
    return found


def ours(system: lj.System) -> dict[frozenset[str], tuple]:
    found = {}
    for contact in system.contacts:
        for pair in contact.pairs():
            assert frozenset(pair) not in found, "a pair stands in two contacts"
            found[frozenset(pair)] = contact.friction, contact.torsional_friction, contact.rolling_friction
    return found


@pytest.mark.parametrize("seed", range(40))
def test_pairs_and_friction_are_those_of_mujoco(tmp_path, seed):
    path = tmp_path / "model.xml"
    path.write_text(random_file(np.random.default_rng(seed)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        system = lj.load(path, contacts=True)
    welded = mujoco.MjModel.from_xml_path(str(path))
    held = {geom.name: welded.body_weldid[geom.bodyid[0]] for geom in map(welded.geom, range(welded.ngeom))}
    found = ours(system)
    # a <pair> of bodies that are welded together moves nothing
    expected = {pair: law for pair, law in theirs(path).items() if len({held[name] for name in pair}) == 2}
    missing = expected.keys() - found.keys()
    kinds = {shape.name: shape.type for shape in system.shapes}
    supported = {
        frozenset(pair) for pair in [("plane", kind) for kind in KINDS] + [(a, b) for a in KINDS for b in KINDS]
    }
    assert found.keys() <= expected.keys()
    assert all(frozenset(kinds[name] for name in pair) in supported for pair in expected)
    for pair in missing:  # shapes that have no contact here, which the load says
        assert {kinds[name] for name in pair} <= {"box", "cylinder"}
        assert "do not touch" in str(caught[0].message)
    for pair, law in found.items():
        assert law == pytest.approx(expected[pair], abs=1e-12), pair


SCENE = """<mujoco><option timestep="0.001"/><worldbody><geom name="floor" type="plane" size="5 5 .1" {more}/>
<body name="ball" pos="0 0 .5"><freejoint/><geom name="ball" size=".1" mass="1" group="4"/></body>
</worldbody></mujoco>"""


def scene(tmp_path, more: str = ""):
    path = tmp_path / "ball.xml"
    path.write_text(SCENE.format(more=more))
    return path


def test_a_ball_comes_to_rest_on_the_floor(tmp_path):
    simulation = lj.Simulation(lj.load(scene(tmp_path), contacts=True))
    simulation.step(2000)
    assert abs(simulation.q[6] - 0.1) < 1e-6
    assert np.abs(simulation.v).max() < 1e-9


def test_without_the_option_nothing_touches(tmp_path):
    with pytest.warns(ModelWarning, match="contacts=True"):
        system = lj.load(scene(tmp_path))
    assert system.contacts == system.shapes == ()
    with pytest.raises(ModelError, match="contacts is 'yes'"):
        lj.load(scene(tmp_path), contacts="yes")


SOFT, NEARER = "solref and solimp of contacts are ignored", "shapes rest up to 0.01 m nearer than in MuJoCo"
PAIR = '<contact><pair geom1="ball" geom2="floor" {}/></contact>'
OVER = '<option {}><flag override="enable"/></option>'


@pytest.mark.parametrize(
    ("floor", "more", "words"),
    [
        ('solref="0.01 1"', "", SOFT),
        ('solimp="0.8 0.95 0.001"', "", SOFT),
        ('margin="0.01"', "", NEARER),
        ('margin="0.004" gap="0.001"', PAIR.format('margin="0.01"'), NEARER),
        ("", PAIR.format('solref="-100 -1"'), SOFT),
        ("", PAIR.format('friction="1 0.5 0.1 0.1 0.1"'), "the lesser acts along both"),
        ("", OVER.format('o_margin="0.01"'), NEARER),
        ("", OVER.format('o_solref="0.03 1"'), SOFT),
        ("", OVER.format('o_friction="1 1 0.1 0.1 0.2"'), "the lesser acts along both"),
        # nothing of these is left out
        ('gap="0.01" priority="1" solmix="2" condim="6"', "", ""),
        ('solref="0.01 1" margin="0.1"', PAIR.format(""), ""),
        ('solref="0.01 1" margin="0.1"', OVER.format(""), ""),
        ("", OVER.format('o_friction="1 1 0.1 0.1 0.1"'), ""),
    ],
)
def test_what_is_not_read_is_said(tmp_path, floor, more, words):
    path = scene(tmp_path, floor)
    path.write_text(path.read_text().replace("</mujoco>", f"{more}</mujoco>"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(lj.load(path, contacts=True).contacts) == 1
    assert [words in str(each.message) for each in caught] == [True] * bool(words)


def test_a_margin_is_how_much_higher_mujoco_rests(tmp_path):
    """What the warning of margins says, of two geoms with a margin each."""
    path = scene(tmp_path, 'margin="0.004"')
    path.write_text(path.read_text().replace('group="4"', 'margin="0.006" gap="0.002"'))
    with pytest.warns(ModelWarning, match=NEARER):
        simulation = lj.Simulation(lj.load(path, contacts=True))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    simulation.step(2000)
    mujoco.mj_step(model, data, 2000)
    nearer = data.qpos[2] - simulation.q[6]
    assert 0.005 < nearer < 0.0101  # MuJoCo's sum of both, of earlier versions the larger one less the gap


def test_a_pair_keeps_its_name(tmp_path):
    path = scene(tmp_path)
    pair = '<contact><pair name="ice" geom1="ball" geom2="floor" friction="0.01 0.01 0 0 0"/></contact></mujoco>'
    path.write_text(path.read_text().replace("</mujoco>", pair))
    (contact,) = lj.load(path, contacts=True).contacts
    assert (contact.name, contact.first, contact.second, contact.friction) == ("ice", ("ball",), ("floor",), 0.01)


URDF = """<robot name="r"><link name="base"><collision><geometry><sphere radius="0.1"/></geometry></collision>
<collision name="edge"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></collision>
<collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision>
<collision><geometry><mesh filename="a.xyz"/></geometry></collision>
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_collisions_of_urdf_have_names(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(URDF)
    assert lj.load(path).shapes == ()
    with pytest.warns(ModelWarning, match="a <collision> is ignored"):
        system = lj.load(path, contacts=True, base="free")
    assert [(shape.name, shape.type) for shape in system.shapes] == [
        ("base", "sphere"), ("edge", "box"), ("base_2", "cylinder"),
    ]  # fmt: skip
    floor = lj.Shape(None, "plane", np.ones(2), name="floor", position=np.array([0.0, 0.0, -0.2]))
    standing = lj.equip(system, floor, lj.Contact("ground", ("floor",), ("base", "base_2"), friction=0.5))
    simulation = lj.Simulation(standing, dt=1e-3)
    simulation.step(500)
    assert abs(simulation.q[6]) < 1e-6


def test_height_fields_have_mujocos_heights(tmp_path):
    """The surface against MuJoCo's rays, and a ball that comes to rest where MuJoCo's does."""
    rng, path = np.random.default_rng(3), tmp_path / "hills.xml"
    heights = rng.uniform(0.0, 1.0, (5, 7))
    heights[1:4, 2:5] *= 0.1  # a hollow
    numbers = " ".join(f"{h:.6f}" for h in heights.ravel())
    path.write_text(
        f'<mujoco><asset><hfield name="h" nrow="5" ncol="7" size="1.5 1 0.4 0.1" elevation="{numbers}"/></asset>'
        '<worldbody><geom name="ground" type="hfield" hfield="h" pos="0.1 0 -0.2" euler="0 0 20"/>'
        '<body pos="0.1 0 0.3"><freejoint/><geom name="ball" size="0.15" condim="6" friction="1 0.1 0.05"/></body>'
        "</worldbody></mujoco>"
    )
    system = lj.load(path, contacts=True)
    shape = next(each for each in system.shapes if each.type == "height_field")
    corners = ground_corners(shape) @ shape.rotation.T + shape.position
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    inner = (0.999 * (corners - shape.position) + shape.position).reshape(-1, 3)
    for x, y, z in inner:
        way = mujoco.mj_ray(model, data, [x, y, 2.0], [0.0, 0.0, -1.0], None, 1, 1, np.zeros(1, dtype=np.int32))
        assert abs(2.0 - way - z) < 2e-3  # 0.1 % beside the corner
    simulation = lj.Simulation(system, dt=1e-3)
    simulation.step(6000)
    mujoco.mj_step(model, data, round(6.0 / model.opt.timestep))
    assert np.abs(simulation.q[4:] - data.qpos[:3]).max() < 3e-3
