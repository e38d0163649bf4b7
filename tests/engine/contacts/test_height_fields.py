"""Height fields: gaps against quadratic programmes and planes, closed forms on slopes, ridges and peaks, files, what is
refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from benchmarks.contacts.random_drops import loaded, random_model
from limberjack.engine.common.errors import ModelError
from limberjack.engine.files import height_file
from limberjack.engine.files.height_file import read_heights
from limberjack.engine.model.archive import from_bytes, to_bytes
from limberjack.engine.model.build import build
from limberjack.engine.model.grounds import MOST_HEIGHTS
from limberjack.engine.tables.contacts import C_TOUCHES, ME_GAP, ME_NEAR, ME_NORMAL, TO_FORCE, TO_GAP, TOUCH
from tests.engine.contacts.least import hulls_apart
from tests.engine.contacts.scenes import ball, box, free, scene, solid_box, sphere
from tests.engine.contacts.test_meshes import CUBE, Pair, cloud, mesh, placed
from tests.validation.figures import figure

G = 9.80665
ON_GROUND = "{name: c, first: ground, second: b, friction: 0.5}"
LOAD = "sensors:\n  - {name: load, type: contact_force, target: c}"
FLAT = [[0.0] * 9 for _ in range(7)]
#: shapes of body b
KINDS = {
    "sphere": "type: sphere, radius: 0.12",
    "capsule": "type: capsule, radius: 0.05, length: 0.2",
    "box": "type: box, size: [0.2, 0.1, 0.3]",
    "cylinder": "type: cylinder, radius: 0.1, length: 0.2",
    "cone": "type: cylinder, radius: [0.1, 0.05], length: 0.2",
    "mesh": "",
}
#: (corners of the core, radius of the skin) of those that have corners
CORES = {
    "sphere": (np.zeros((1, 3)), 0.12),
    "capsule": (np.array([[0.0, 0.0, -0.1], [0.0, 0.0, 0.1]]), 0.05),
    "box": (CUBE * [1.0, 0.5, 1.5], 0.0),
    "mesh": (cloud(np.random.default_rng(5), 10), 0.0),
}

#: pose of the mesh of `test_what_is_a_hair_deep_is_not_found_deeper`
EDGE_ON_RIDGE = [0.447851898, -0.736817469, 0.16577983, -0.478587235, -0.484035213, -0.317389002, 0.080591912]


def ground(heights, size=(2.0, 1.5), body: str = "world", more: str = "") -> str:
    """The line of a height field."""
    rows = [[float(h) for h in row] for row in heights]
    name = "ground" if body == "world" else body
    return f"{{body: {body}, name: {name}, type: height_field, size: {list(size)}, heights: {rows}{more}}}"


def line(kind: str) -> str:
    return mesh("b", CORES["mesh"][0]) if kind == "mesh" else f"{{body: b, name: b, {KINDS[kind]}}}"


def hills(random: np.random.Generator, rows: int = 7, columns: int = 9, steep: float = 0.25) -> np.ndarray:
    return random.uniform(0.0, steep, (rows, columns))


def triangles(heights: np.ndarray, size: tuple[float, float]) -> np.ndarray:
    """(T, 3, 3) of the ground, each cell halved from (+x, -y) to (-x, +y)."""
    rows, columns = heights.shape
    x, y = np.linspace(-size[0] / 2, size[0] / 2, columns), np.linspace(-size[1] / 2, size[1] / 2, rows)
    corner = np.array([[[x[c], y[r], heights[r, c]] for c in range(columns)] for r in range(rows)])
    halves = []
    for r in range(rows - 1):
        for c in range(columns - 1):
            a, b, d, e = corner[r, c], corner[r, c + 1], corner[r + 1, c], corner[r + 1, c + 1]
            halves += [(a, b, d), (b, e, d)]
    return np.array(halves)


def touches(simulation: lj.Simulation) -> np.ndarray:
    """(touches, TOUCH) of the present state."""
    return simulation.state[-TOUCH * simulation.plant.count(C_TOUCHES) :].reshape(-1, TOUCH)


def random_pose(random: np.random.Generator, spread: float) -> np.ndarray:
    q = np.concatenate([random.normal(size=4), random.uniform(-spread, spread, 3)])
    q[:4] /= np.linalg.norm(q[:4])
    return q


@pytest.mark.parametrize("kind", CORES)
def test_gaps_are_those_of_programmes(tmp_path, kind):
    """Near the ground the gap is the least distance to any of its triangles; farther away it is not larger."""
    random, near, far = np.random.default_rng(7), 0, 0
    heights, size = hills(random), (2.0, 1.5)
    pair = Pair(tmp_path, [ground(heights, size, "a"), line(kind)])
    core, skin = CORES[kind]
    parts = triangles(heights, size)

    def apart(pose: np.ndarray) -> float:
        close = np.linalg.norm(parts.mean(axis=1) - pose[4:], axis=1) < 0.6
        return min(hulls_apart(placed(core, pose), each) for each in parts[close]) - skin

    for i in range(12):
        where, there = random_pose(random, 0.5), random_pose(random, 0.0)
        there[4:] = [*random.uniform(-0.6, 0.6, 2), 0.5]
        for _ in range(3 if i % 2 else 1):
            there[6] -= 0.95 * apart(there)
        found = apart(there)
        turn = Rotation.from_quat(where[:4], scalar_first=True)
        own = turn * Rotation.from_quat(there[:4], scalar_first=True)
        q = np.concatenate([where, own.as_quat(scalar_first=True), turn.apply(there[4:]) + where[4:]])
        row = pair.nearest(q)
        if row[ME_NEAR] == 0.0 or found < 1e-4 - 0.5 * skin:
            continue
        assert row[ME_GAP] <= found + 1e-9
        if found < 0.004:
            figure("gap to a height field", row[ME_GAP], found, unit="m", oracle="quadratic programme", atol=1e-9)
            near += 1
        else:
            assert row[ME_GAP] > 0.0
            far += 1
    assert near > 2
    assert far > 2


def test_what_is_a_hair_deep_is_not_found_deeper():
    """An edge on a ridge, of one drop of a million: the way out was searched towards the middle of the field, and ended
    80 mm above."""
    simulation, random = lj.Simulation(loaded(random_model(1690).text), dt=1e-9), np.random.default_rng(0)
    for _ in range(200):
        pose = np.array(EDGE_ON_RIDGE) + random.normal(0.0, 1e-6, 7)
        pose[:4] /= np.linalg.norm(pose[:4])
        simulation.q, simulation.v = pose, np.zeros(6)
        simulation.step()
        assert abs(simulation.output["gap"]) < 3e-5


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_shapes_that_are_nowhere_touch_nothing(tmp_path, bad):
    """A state that has diverged names no corner of the ground."""
    pair = Pair(tmp_path, [ground(FLAT, body="a"), line("box")])
    for i in range(14):
        q = np.array([1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0, 0.1])
        q[i] = bad
        assert not pair.nearest(q)[ME_GAP] < 0.0  # and no memory beside the heights is read


@pytest.mark.parametrize("kind", KINDS)
def test_level_ground_is_a_plane(tmp_path, kind):
    """Gaps and normals, of shapes that are near it or dip into it by up to a fifth of their size."""
    random, compared = np.random.default_rng(8), 0
    level = Pair(tmp_path, [ground(FLAT, body="a"), line(kind)])
    plane = Pair(tmp_path, ["{body: a, name: a, type: plane}", line(kind)])
    for _ in range(150):
        q = np.concatenate([[1.0, 0, 0, 0, 0, 0, 0], random_pose(random, 0.3)])
        q[13] = random.uniform(0.05, 0.2)
        expected, row = plane.nearest(q), level.nearest(q)
        if not -0.02 < expected[ME_GAP] < 0.004:
            continue
        assert row[ME_GAP] == pytest.approx(expected[ME_GAP], abs=2e-6 if kind in ("cylinder", "cone") else 1e-12)
        assert np.abs(row[ME_NORMAL : ME_NORMAL + 3] + expected[ME_NORMAL : ME_NORMAL + 3]).max() < 1e-12
        compared += 1
    assert compared > 10


def turned(simulation: lj.Simulation, rotation: Rotation, body: int = 0) -> None:
    q = simulation.q.copy()
    q[7 * body : 7 * body + 4] = rotation.as_quat(scalar_first=True)
    simulation.q = q


@pytest.mark.parametrize("kind", ["box", "cylinder", "mesh"])
def test_a_block_slides_over_many_triangles_as_down_a_slope(tmp_path, kind):
    """a = g (sin α - μ cos α) over a sheet whose triangles form one plane; nothing turns or jumps at their edges."""
    slope, friction = 0.5, 0.2
    x = np.linspace(-2.0, 2.0, 33)
    heights = np.tile(-math.tan(slope) * x, (9, 1))
    shape = {"box": box("b", [0.3, 0.2, 0.2]), "cylinder": f"{{body: b, name: b, {KINDS['cylinder']}}}"}
    body = free("b", 2.0, solid_box([0.2, 0.2, 0.2], 2.0), (0, 0, 0))
    contact = f"{{name: c, first: ground, second: b, friction: {friction}}}"
    shapes = [ground(heights, (4.0, 1.0)), shape.get(kind, mesh("b", CUBE))]
    simulation = lj.Simulation(scene(tmp_path, [body], shapes, [contact]), dt=1e-3)
    down = np.array([math.cos(slope), 0.0, -math.sin(slope)])
    up = np.array([math.sin(slope), 0.0, math.cos(slope)])
    start = -1.2 * down + 0.1 * up + [0.0, 0.013, 0.0]
    q = simulation.q.copy()
    q[:4], q[4:] = Rotation.from_euler("y", slope).as_quat(scalar_first=True), start
    simulation.q = q
    simulation.step(1000)
    way = (simulation.q[4:] - start) @ down
    expected = 0.5 * G * (math.sin(slope) - friction * math.cos(slope))
    figure("way of a block down triangles", way, expected, unit="m", oracle="closed form", rtol=1e-5)
    assert abs(simulation.q[5] - 0.013) < 1e-5
    assert abs((simulation.q[4:] - start) @ up) < 1e-5
    assert np.abs(simulation.q[:4] - q[:4]).max() < 1e-4


def test_a_ball_lies_between_the_flanks_of_a_valley(tmp_path):
    """It touches both: its centre is r / cos α over the line where they meet, and each bears m g / (2 cos α)."""
    slope, radius = 0.6, 0.2
    heights = np.tile(math.tan(slope) * np.abs(np.linspace(-1.0, 1.0, 3)), (3, 1))
    start = (0.0, 0.11, radius / math.cos(slope))
    system = scene(tmp_path, [ball("b", start, mass=2.0)], [ground(heights, (2.0, 2.0)), sphere("b", radius)],
                   ["{name: c, first: ground, second: b}"])  # fmt: skip
    simulation = lj.Simulation(system)
    simulation.step(2000)
    assert np.abs(simulation.q[4:] - start).max() < 1e-6
    forces = touches(simulation)[:, TO_FORCE : TO_FORCE + 3]
    forces = forces[np.abs(forces).max(axis=1) > 0.0]
    assert len(forces) == 2
    pushes = np.linalg.norm(forces, axis=1)
    figure(
        "force of a flank", pushes.max(), 2.0 * G / (2.0 * math.cos(slope)), unit="N", oracle="closed form", rtol=1e-6
    )
    assert np.abs(forces.sum(axis=0) - [0, 0, -2.0 * G]).max() < 1e-6


@pytest.mark.parametrize("start", [(0.0, 0.11, 0.1), (0.0, 0.11, 0.3)])
def test_a_ball_sinks_into_soft_flanks_of_a_valley(tmp_path, start):
    """By more than its radius: both flanks still bear it, each as deep as d = m g / (2 k cos α), so that its centre is
    (r - d) / cos α over, here below, the line where they meet."""
    slope, radius, mass, stiffness = 0.6, 0.1, 2.0, 60.0
    heights = np.tile(math.tan(slope) * np.abs(np.linspace(-1.0, 1.0, 3)), (3, 1))
    system = scene(tmp_path, [ball("b", start, mass=mass, radius=radius)], [ground(heights, (2.0, 2.0)), sphere("b")],
                   [f"{{name: c, first: ground, second: b, stiffness: {stiffness}, dissipation: 2}}"])  # fmt: skip
    simulation = lj.Simulation(system)
    simulation.step(15_000)
    height = (radius - mass * G / (2.0 * stiffness * math.cos(slope))) / math.cos(slope)
    assert height < -0.1
    figure("height in a soft valley", simulation.q[6], height, unit="m", oracle="closed form", rtol=1e-4)
    assert np.abs(simulation.q[4:6] - [0.0, 0.11]).max() < 1e-4


def height_at(surface: np.ndarray, x: float, y: float) -> float:
    """Of triangles (T, 3, 3) over a place."""
    for a, b, c in surface:
        u, v = np.linalg.solve(np.column_stack([b - a, c - a])[:2], [x - a[0], y - a[1]])
        if min(u, v, 1.0 - u - v) >= -1e-9:
            return float(a[2] + u * (b - a)[2] + v * (c - a)[2])
    raise AssertionError("beyond the border")


@pytest.mark.parametrize("seed", [0, 3, 11])
def test_a_ball_falls_into_soft_hills_but_not_through_them(tmp_path, seed):
    """One flank alone would bear it where it is m g / k cos α deep, four times its radius."""
    heights = hills(np.random.default_rng(seed))
    body = free("b", 20.0, [1.0, 1.0, 1.0], (0.1 * seed - 0.5, 0.0, 0.5))
    law = "stiffness: 400, dissipation: 2, friction: 0.9"
    shapes = [ground(heights), f"{{body: b, name: b, {KINDS['sphere']}}}"]
    simulation = lj.Simulation(scene(tmp_path, [body], shapes, [f"{{name: c, first: ground, second: b, {law}}}"]))
    simulation.step(4000)
    assert simulation.q[6] > -20.0 * G / 400.0
    assert np.abs(simulation.v[3:]).max() < 0.5


@pytest.mark.parametrize(("seed", "steps"), [(16, 1500), (189, 2400), (1, 2000)])
def test_balls_that_roll_over_compliant_hills_stay_on_them(tmp_path, seed, steps):
    """Also where a touch has returned what it took up and is still in the ground: its force gets ever smaller."""
    heights = hills(np.random.default_rng(seed), steep=0.06)
    body = free("b", 20.0, [1.0, 1.0, 1.0], (-0.5, 0.0, 0.2), "{vx: 0.3}")
    law = "stiffness: 2.0e+4, dissipation: 0.5, friction: 0.14"
    shapes = [ground(heights), f"{{body: b, name: b, {KINDS['sphere']}}}"]
    contact = f"{{name: c, first: ground, second: b, {law}}}"
    simulation = lj.Simulation(scene(tmp_path, [body], shapes, [contact], "gravity: [0, 0, -9.8]"))
    surface = triangles(heights, (2.0, 1.5))
    for _ in range(steps // 100):
        simulation.step(100)
        assert np.isfinite(touches(simulation)).all()
        x, y, z = simulation.q[4:]
        assert z > height_at(surface, x, y) + 0.12 - 0.02


@pytest.mark.parametrize(("place", "stands"), [(0.05, True), (0.12, False)])
def test_a_plate_stands_on_three_peaks_if_its_middle_is_between_them(tmp_path, place, stands):
    heights = np.zeros((5, 5))
    heights[1, 1] = heights[1, 3] = heights[3, 2] = 0.3  # at (-0.2, -0.2), (0.2, -0.2), (0, 0.2)
    plate = box("b", [1.0, 1.0, 0.04])
    body = free("b", 3.0, solid_box([1.0, 1.0, 0.04], 3.0), (place, 0.0, 0.32))
    simulation = lj.Simulation(scene(tmp_path, [body], [ground(heights, (0.8, 0.8)), plate], [ON_GROUND], LOAD))
    simulation.step(1500)
    if stands:  # at y = 0 the triangle reaches from x = -0.1 to 0.1
        assert np.abs(simulation.q[4:] - [place, 0.0, 0.32]).max() < 1e-5
        assert np.abs(simulation.output["load"] - [0, 0, 3.0 * G]).max() < 1e-4
    else:
        assert abs(simulation.q[:4]).min() < 0.999
        assert abs(simulation.q[0]) < 0.999


def test_a_beam_lies_on_a_ridge(tmp_path):
    """Across it, in balance: the ridge is an edge of triangles that fall away on both sides."""
    heights = np.tile([0.0, 0.0, 0.25, 0.0, 0.0], (5, 1))
    beam = "{body: b, name: b, type: capsule, radius: 0.05, length: 0.6}"
    body = free("b", 2.0, [0.1, 0.1, 0.01], (0.0, 0.03, 0.3))
    simulation = lj.Simulation(scene(tmp_path, [body], [ground(heights, (2.0, 2.0)), beam], [ON_GROUND], LOAD))
    turned(simulation, Rotation.from_euler("y", 90, degrees=True))
    simulation.step(300)
    assert np.abs(simulation.q[4:] - [0.0, 0.03, 0.3]).max() < 1e-5
    assert np.abs(simulation.output["load"] - [0, 0, 2.0 * G]).max() < 1e-2


LANDED = [
    ("sphere", "rolling_friction: 0.02"),
    ("capsule", "rolling_friction: 0.01"),
    ("box", ""),
    ("cylinder", "rolling_friction: 0.01"),
    ("cone", "rolling_friction: 0.01"),
    ("mesh", ""),
]


def landing(tmp_path: Path, law: str = "") -> lj.System:
    """One body of each kind over hills, in a bowl."""
    random = np.random.default_rng(12)
    x, y = np.meshgrid(np.linspace(-1, 1, 17), np.linspace(-1, 1, 17))
    heights = 0.5 * (x**2 + y**2) + random.uniform(0.0, 0.05, (17, 17))
    bodies, shapes, contacts = [], [ground(heights, (4.0, 4.0))], []
    for i, (kind, more) in enumerate(LANDED):
        place = (0.9 * math.cos(i), 0.9 * math.sin(i), 0.8)
        bodies.append(free(f"b{i}", 1.0, solid_box([0.2, 0.15, 0.3], 1.0), place, "{wx: 3, wy: 1}"))
        shapes.append(line(kind).replace("body: b, name: b", f"body: b{i}, name: b{i}"))
        given = ", ".join(filter(None, (f"friction: 0.4, {law}".rstrip(", "), more)))
        contacts.append(f"{{name: c{i}, first: ground, second: b{i}, {given}}}")
    return scene(tmp_path, bodies, shapes, contacts)


@pytest.mark.parametrize("law", ["", "stiffness: 1.0e5, dissipation: 0.5"])
def test_what_lands_loses_energy_and_does_not_sink(tmp_path, law):
    simulation = lj.Simulation(landing(tmp_path, law), dt=1e-3)
    held, start = [simulation.survey()[2]], simulation.survey()[2]
    for _ in range(60):
        simulation.step(50)
        held.append(simulation.survey()[2])
    if not law:  # compliant ground gives back what it has stored
        assert np.diff(held).max() < 1e-4 * abs(start)
    assert max(held) <= start + 1e-9
    assert held[-1] < start - 10.0
    assert touches(simulation)[:, TO_GAP].min() > (-2e-3 if law else -1e-4)
    assert np.abs(simulation.v).max() < 5.0


def test_batches_and_snapshots_have_the_bits_of_single_runs(tmp_path):
    system = landing(tmp_path)
    batch, single = lj.Batch(system, 3, dt=1e-3), lj.Simulation(system, dt=1e-3)
    batch.step(400)
    single.step(250)
    held = single.snapshot()
    single.step(150)
    for world in range(3):
        assert np.array_equal(batch.q[world], single.q)
    last = single.q.copy()
    single.restore(held)
    single.step(150)
    assert np.array_equal(single.q, last)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".txt"])
def test_heights_come_from_files(tmp_path, suffix):
    heights = hills(np.random.default_rng(1))
    path = tmp_path / f"hills{suffix}"
    if suffix == ".npy":
        np.save(path, heights)
    else:
        np.savetxt(path, heights, delimiter="," if suffix == ".csv" else " ")
    shape = f"{{body: world, name: ground, type: height_field, size: [2, 1.5], file: hills{suffix}, scale: 2.0}}"
    system = scene(tmp_path, [ball("b", (0, 0, 1))], [shape, sphere("b")], [ON_GROUND])
    assert np.array_equal(system.shapes[0].heights, 2.0 * heights)
    path.unlink()
    again = from_bytes(to_bytes(system), "a model")
    assert np.array_equal(build(again).floats, build(system).floats)


NO_TABLES = {
    "head.csv": (b"x,y\n1,2\n3,4\n", "line 1 has 'x', which is not a number"),
    "semicolons.csv": (b"# by hand\n\n1;2\n3;4\n", "line 3 has '1;2', which is not a number"),
    "ragged.txt": (b"1 2 3\n4 5 # a hole\n", "line 2 has 2 numbers, the first row 3"),
    "grouped.txt": (b"1_0 2\n3 4\n", "line 1 has '1_0'"),
    "empty.csv": (b"", "have the shape \\(0, 0\\)"),
    "text.npy": (b"hello", "it is truncated, holds objects, or is not a .npy file"),
    "complex.npy": (np.zeros((3, 3), complex), "it holds complex128, not real numbers"),
    "words.npy": (np.array([["a", "b"], ["c", "d"]]), "not real numbers"),
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_is_not_a_table_of_heights_is_reported_in_plain_words(tmp_path, name):
    content, text = NO_TABLES[name]
    if isinstance(content, bytes):
        (tmp_path / name).write_bytes(content)
    else:
        np.save(tmp_path / name, content)
    shape = f"{{body: world, name: ground, type: height_field, size: [2, 2], file: {name}}}"
    with pytest.raises(ModelError, match=text) as caught:
        scene(tmp_path, [ball("b", (0, 0, 1))], [shape, sphere("b")], [ON_GROUND])
    assert name in str(caught.value)


def test_an_array_that_is_shorter_than_it_says_takes_no_memory(tmp_path):
    """NumPy would set 8 TB aside first, and a MemoryError would end the command with a traceback."""
    np.save(tmp_path / "hills.npy", np.zeros((10, 10)))
    content = (tmp_path / "hills.npy").read_bytes()
    before, after = b"(10, 10), }" + b" " * 10, b"(1000000, 1000000), }"
    assert content.count(before) == 1
    (tmp_path / "hills.npy").write_bytes(content.replace(before, after))
    with pytest.raises(ModelError, match="it is truncated"):
        read_heights(tmp_path / "hills.npy", MOST_HEIGHTS)


def test_a_table_is_read_up_to_the_most_heights(tmp_path, monkeypatch):
    """Of 4 MiB of text no more numbers are read than a height field may have."""
    taken, number = [], height_file._number
    monkeypatch.setattr(height_file, "_number", lambda word, line: taken.append(None) or number(word, line))
    (tmp_path / "hills.csv").write_text("1 2\n" * (1 << 20))
    shape = "{body: world, name: ground, type: height_field, size: [2, 2], file: hills.csv}"
    with pytest.raises(ModelError, match=f"are more than {MOST_HEIGHTS}"):
        scene(tmp_path, [ball("b", (0, 0, 1))], [shape, sphere("b")], [ON_GROUND])
    assert len(taken) <= MOST_HEIGHTS + 2


HEIGHTS = "heights: [[0, 0], [0, 0]]"


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ("size: [2, 2]", "neither file nor heights is given"),
        (f"size: [2, 2], file: a.npy, {HEIGHTS}", "file and heights are both given"),
        ("size: [2, 2], file: a.npy", "the heights of 'a.npy' are not found"),
        ("size: [2, 2], file: a.png", "are in a file of another type"),
        ("size: [2, 2], file: bad.csv", "this is not a table of heights"),
        ("size: [2, 2], file: nan.csv", "are not all finite numbers"),
        ("size: [2, 2], file: row.csv", "two rows at least"),
        ("size: [2, 2], heights: [[0, 0], [0, 0, 0]]", "the rows have 2 or 3 heights"),
        ("size: [2, 2], heights: [[0, 0]]", "1 entries"),
        (f"size: [2, 0], {HEIGHTS}", "0"),
        ("size: [2, 2], file: large.npy", "at most 65536"),
    ],
)
def test_ground_that_cannot_be_is_refused_with_its_line(tmp_path, shape, text):
    (tmp_path / "bad.csv").write_text("1, 2\n3, x\n")
    (tmp_path / "nan.csv").write_text("1, 2\n3, nan\n")
    (tmp_path / "row.csv").write_text("1, 2\n")
    np.save(tmp_path / "large.npy", np.zeros((300, 300)))
    with pytest.raises(ModelError, match=text) as caught:
        scene(
            tmp_path,
            [ball("b", (0, 0, 1))],
            [f"{{body: world, name: ground, type: height_field, {shape}}}", sphere("b")],
            [ON_GROUND],
        )
    assert any(part in str(caught.value) for part in ("scene.yaml:", ".csv"))


@pytest.mark.parametrize("kind", ["plane", "funnel", "height_field"])
def test_pairs_that_cannot_touch_are_refused(tmp_path, kind):
    others = {
        "plane": "{body: b, name: b, type: plane}",
        "funnel": "{body: b, name: b, type: funnel, radius: [0.1, 0.2], length: 0.3}",
        "height_field": f"{{body: b, name: b, type: height_field, size: [1, 1], {HEIGHTS}}}",
    }
    with pytest.raises(ModelError, match="a pair that is not supported"):
        lj.Simulation(scene(tmp_path, [ball("b", (0, 0, 1))], [ground(FLAT), others[kind]], [ON_GROUND]))
