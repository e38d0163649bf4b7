"""CalculiX's own output: a block of solids computed by ccx, read as results and as matrices."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes import integrals
from limberjack.engine.modes.calculix import read_frd
from limberjack.engine.modes.describe import modal_data_of
from limberjack.engine.modes.effective_mass import effective_mass
from limberjack.engine.modes.solids import FULL, RULES, solid_mass
from tests.validation.figures import figure

needs_ccx = pytest.mark.skipif(shutil.which("ccx") is None, reason="CalculiX (ccx) is not installed")
SIZE, DENSITY = np.array([1.0, 0.04, 0.06]), 2700.0
CORNERS = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
#: middles of the bottom's, the top's and the upright edges: the order of CalculiX's input
MIDDLES = [(1, 0, 0), (2, 1, 0), (1, 2, 0), (0, 1, 0), (1, 0, 2), (2, 1, 2), (1, 2, 2), (0, 1, 2),
           (0, 0, 1), (2, 0, 1), (2, 2, 1), (0, 2, 1)]  # fmt: skip
TETS = ((0, 1, 3, 4), (1, 2, 3, 6), (1, 4, 5, 6), (3, 4, 6, 7), (1, 3, 4, 6))


class Block:
    """A bar of `count` bricks along x, as bricks or tetrahedra, linear or quadratic."""

    def __init__(self, kind: str, count: int = 8, unit: float = 1.0) -> None:
        self.kind, self.step, self.ids = kind, SIZE / (np.array([count, 1, 1]) * 2) / unit, {}
        self.elements = []
        for i in range(count):
            base = np.array([2 * i, 0, 0])
            corners = [base + np.array(c) for c in CORNERS]
            if kind.startswith("C3D8"):
                self.elements.append([self.node(c) for c in corners])
            elif kind == "C3D20":
                self.elements.append([self.node(c) for c in corners] + [self.node(base + np.array(m)) for m in MIDDLES])
            else:
                self.elements += [self.tetrahedron([corners[k] for k in tet]) for tet in TETS]

    def tetrahedron(self, p: list) -> list[int]:
        volume = np.linalg.det(np.array(p[1:]) - p[0])
        a, b, c, d = p if volume > 0 else (p[0], p[2], p[1], p[3])
        own = [a, b, c, d]
        if self.kind == "C3D10":
            own += [(a + b) / 2, (b + c) / 2, (c + a) / 2, (a + d) / 2, (b + d) / 2, (c + d) / 2]
        return [self.node(x) for x in own]

    def node(self, place) -> int:
        return self.ids.setdefault(tuple(np.asarray(place).astype(int).tolist()), len(self.ids) + 1)

    def face(self, x: int) -> list[int]:
        return [i for place, i in self.ids.items() if place[0] == x]

    def write(self, folder: Path, held: bool, solver: str = "", modes: int = 6, density=DENSITY, young=70e9) -> None:
        lines = ["*NODE, NSET=ALL"]
        lines += [f"{i}, " + ", ".join(f"{a * b:.10g}" for a, b in zip(p, self.step)) for p, i in self.ids.items()]
        lines.append(f"*ELEMENT, TYPE={self.kind}, ELSET=E")
        for number, nodes in enumerate(self.elements, start=1):
            cells = [str(number), *map(str, nodes)]
            lines += [", ".join(cells[:12]) + ("," if len(cells) > 12 else "")]
            lines += [", ".join(cells[12:])] if len(cells) > 12 else []
        lines += ["*NSET, NSET=ROOT", *(f"{i}," for i in self.face(0))]
        lines += ["*BOUNDARY", "ROOT, 1, 3"] if held else []
        lines += ["*MATERIAL, NAME=ALU2024", "*ELASTIC", f"{young}, 0.33", "*DENSITY", f"{density}"]
        lines += ["*SOLID SECTION, ELSET=E, MATERIAL=ALU2024"]
        lines += ["*STEP", f"*FREQUENCY{solver}", f"{modes}", "*NODE FILE", "U", "*END STEP"]
        (folder / "bar.inp").write_text("\n".join(lines) + "\n")

    def solve(self, folder: Path, **options) -> None:
        self.write(folder, **options)
        done = subprocess.run(["ccx", "bar"], cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]


def describe(folder: Path, source: str, interface: str = "", kind: str = "cantilever", modes: int = 6) -> Path:
    inboard = "inboard: root, " if kind != "free-free" else ""
    (folder / "bar.yaml").write_text(
        f"limberjack_modes: 1\nname: bar\n{source}\ninterface: [{interface}]\n"
        f"reduction: {{kind: {kind}, {inboard}modes: {modes}, damping: 0.002}}\n"
    )
    return folder / "bar.yaml"


def ties(block: Block, count: int = 8) -> str:
    return f"{{name: root, nodes: {block.face(0)}}}, {{name: tip, nodes: {block.face(2 * count)}}}"


def dat_tables(path: Path) -> dict[str, np.ndarray]:
    """Eigenvalues, participation factors and effective masses that ccx prints itself."""
    found: dict[str, list] = {}
    title = ""
    for line in path.read_text().splitlines():
        if re.match(r"\s+([A-Z] ){3,}", line):
            title = line.replace("   ", "_").replace(" ", "").strip("_")
        elif re.match(r"\s+\d+\s+-?0\.\d+E", line):
            found.setdefault(title, []).append([float(x) for x in line.split()[1:]])
    return {key: np.array(rows) for key, rows in found.items()}


@needs_ccx
@pytest.mark.parametrize("kind", ["C3D20", "C3D8", "C3D10", "C3D4"])
def test_results_agree_with_what_ccx_prints(tmp_path, kind):
    """Frequencies, and participation by our own mass of the mesh against ccx's factors about the origin."""
    block = Block(kind)
    block.solve(tmp_path, held=True)
    source = f"calculix: {{results: bar.frd, density: {DENSITY}}}"
    data = modal_data_of(describe(tmp_path, source, ties(block)))
    printed = dat_tables(tmp_path / "bar.dat")
    figure(
        "frequencies",
        data.frequencies(),
        printed["EIGENVALUE_OUTPUT"][:6, 2],
        unit="Hz",
        oracle="printed by CalculiX",
        rtol=1e-6,
    )
    frd = read_frd(tmp_path / "bar.frd")
    M = solid_mass(frd.positions, frd.elements, np.full(len(frd.elements), DENSITY), "test")
    moving = (~np.isin(frd.ids, block.face(0))).astype(float)  # ccx leaves out the mass of held nodes
    for i in range(3):
        theirs = printed["PARTICIPATION_FACTORS"][:6, i]
        np.testing.assert_allclose(moving @ (M @ frd.shapes[:, i]), theirs, atol=5e-6 * np.sqrt(DENSITY * 0.0024))
    figure("modal masses", np.diag(data.mass), 1.0, oracle="1", atol=1e-5, rtol=1e-7)
    made = integrals(data, "root", ["tip"])
    figure("mass", made.m, DENSITY * np.prod(SIZE), unit="kg", oracle="density by volume", rtol=1e-9)
    np.testing.assert_allclose(made.attachments[0].p0, [1.0, 0.0, 0.0], atol=1e-6)
    assert np.linalg.eigvalsh(effective_mass(data).residual)[0] > -1e-6


@needs_ccx
def test_tip_rotation_of_a_bending_mode_is_that_of_the_beam(tmp_path):
    """First bending of a slender cantilever: tip slope over deflection is 1.3765/L; shear and ends a few per mil."""
    block = Block("C3D20", 32)
    block.solve(tmp_path, held=True, modes=2)
    source = f"calculix: {{results: bar.frd, density: {{ALU2024: {DENSITY}}}}}"
    data = modal_data_of(describe(tmp_path, source, ties(block, 32), modes=2))
    tip = data.shapes[data.node("tip"), :, 0]
    figure(
        "turn of the tip over its deflection",
        abs(tip[2] / tip[4]),
        1.3765,
        oracle="closed form of a cantilever",
        rtol=5e-3,
    )
    root = data.shapes[data.node("root")]
    np.testing.assert_array_equal(root, 0.0)


@needs_ccx
def test_matrices_of_ccx_give_its_frequencies(tmp_path):
    """SOLVER=MATRIXSTORAGE of the floating block: reduced here, held by a rigid root, against results of ccx."""
    block = Block("C3D20")
    held, free = tmp_path / "held", tmp_path / "free"
    held.mkdir(), free.mkdir()
    block.solve(held, held=True)
    block.solve(free, held=False, solver=", SOLVER=MATRIXSTORAGE")
    source = "matrices: {stiffness: bar.sti, mass: bar.mas, nodes: bar.inp, freedoms: bar.dof}"
    data = modal_data_of(describe(free, source, ties(block).replace("name: tip", "name: end")))
    printed = dat_tables(held / "bar.dat")["EIGENVALUE_OUTPUT"][:6, 2]
    # the end face is rigid here, and free there: stiffer by little for a slender bar
    figure(
        "frequencies of reduced matrices",
        data.frequencies()[:4],
        printed[:4],
        unit="Hz",
        oracle="printed by CalculiX",
        rtol=2e-3,
    )
    root = f"{{name: root, nodes: {block.face(0)}}}"
    data = modal_data_of(describe(free, source, root))
    figure("frequencies of matrices", data.frequencies(), printed, unit="Hz", oracle="printed by CalculiX", rtol=1e-6)
    assert data.rigid[3, 3] == pytest.approx(DENSITY * np.prod(SIZE), rel=1e-9)


@needs_ccx
def test_free_free_results_and_nodal_masses(tmp_path):
    block = Block("C3D8I", count=12)
    block.solve(tmp_path, held=False, modes=12)
    ids = sorted(block.ids.values())
    ends = set(block.face(0)) | set(block.face(24))
    share = float(DENSITY * np.prod(SIZE) / 12 / 4)
    rows = "".join(f"{i},{share * (0.5 if i in ends else 1.0)!r}\n" for i in ids)
    (tmp_path / "m.csv").write_text("node,mass\n" + rows)
    source = "calculix: {results: bar.frd, masses: m.csv}"
    tie = ties(block, 12)
    data = modal_data_of(describe(tmp_path, source, tie, "free-free", 4))
    printed = dat_tables(tmp_path / "bar.dat")["EIGENVALUE_OUTPUT"][6:10, 2]
    np.testing.assert_allclose(data.frequencies(), printed, rtol=1e-4)
    assert data.masses.sum() == pytest.approx(DENSITY * np.prod(SIZE))
    made = integrals(data, inboard="root", attachments=["root"])
    np.testing.assert_allclose(made.attachments[0].Pt, 0.0, atol=1e-15)


@needs_ccx
def test_millimetres_and_tonnes(tmp_path):
    block = Block("C3D20", unit=1e-3)
    block.solve(tmp_path, held=True, density=2.7e-9, young=70e3)
    source = "calculix: {results: bar.frd, density: 2.7e-9, units: {length: 0.001, mass: 1000}}"
    data = modal_data_of(describe(tmp_path, source, ties(block)))
    printed = dat_tables(tmp_path / "bar.dat")["EIGENVALUE_OUTPUT"][:6, 2]
    np.testing.assert_allclose(data.frequencies(), printed, rtol=1e-5)
    assert data.masses.sum() == pytest.approx(6.48, rel=1e-6)
    np.testing.assert_allclose(np.diag(data.mass), 1.0, atol=1e-3)


@needs_ccx
@pytest.mark.parametrize(
    ("source", "interface", "kind", "words"),
    [
        ("density: 1000", "", "cantilever", "modal mass 0.37"),
        ("density: {STEEL: 7850}", "", "cantilever", "no density of the material 'ALU2024'"),
        ("density: 2700", "", "craig-bampton", "no static modes"),
        ("density: 2700", "", "free-free", "the sixth has"),
        ("density: 2700, masses: m.csv", "", "cantilever", "give either density or masses"),
        ("masses: m.csv", "", "cantilever", "m.csv: the file does not exist"),
        ("density: 2700", "5", "cantilever", "'5' has no rotations"),
        ("density: 2700", "99999", "cantilever", "no node '99999'"),
        ("density: 2700", "tip as root", "cantilever", "move the inboard node 'root'"),
    ],
)
def test_faults_of_results(tmp_path, source, interface, kind, words):
    block = Block("C3D20", count=4)
    block.solve(tmp_path, held=True, modes=8)
    root = f"{{name: root, nodes: {block.face(8 if interface == 'tip as root' else 0)}}}"
    extra = f", {interface}" if interface and interface != "tip as root" else ""
    path = describe(tmp_path, f"calculix: {{results: bar.frd, {source}}}", root + extra, kind, modes=2)
    with pytest.raises(ModelError, match=re.escape(words)):
        modal_data_of(path)


def test_faults_of_the_file(tmp_path):
    for name, text, words in (
        ("a.frd", "    1C\n", "holds no mesh"),
        ("b.frd", "    2C\n -1         1 0.00000E+00 0.00000E+00 0.0000xE+00\n -3\n", "b.frd:2: the line cannot"),
        ("c.frd", "    2C\n -1         1 0.00000E+00 0.00000E+00 0.00000E+00\n -3\n", "holds no modes"),
        ("d.dat", "", "not a file of CalculiX's results"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(ModelError, match=words):
            read_frd(tmp_path / name)
    with pytest.raises(ModelError, match="does not exist"):
        read_frd(tmp_path / "none.frd")


@pytest.mark.parametrize("count", [4, 8, 10, 20])
def test_mass_of_a_distorted_solid(count):
    """Volume by the divergence theorem on the straight-sided element, centre by a finer split into tetrahedra."""
    rule = RULES[count, FULL[count]]
    rng = np.random.default_rng(count)
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)] if count in (4, 10) else np.array(CORNERS) / 2.0)
    corners = corners @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3)))  # an affine map keeps faces plane
    if np.linalg.det(corners[1:4] - corners[0]) < 0 and count in (4, 10):
        corners = corners * [-1, 1, 1]
    middles = [(corners[a] + corners[b]) / 2 for a, b in rule.edges] if count in (10, 20) else []
    nodes = np.vstack([corners, *([middles] if middles else [])])
    M = solid_mass(nodes, [list(range(count))], np.array([3.0]), "test").toarray()
    edges = corners[[1, 2, 3]] - corners[0] if count in (4, 10) else corners[[1, 3, 4]] - corners[0]
    volume = abs(np.linalg.det(edges)) / (6.0 if count in (4, 10) else 1.0)
    assert M.sum() == pytest.approx(3.0 * volume)
    np.testing.assert_allclose(M.sum(axis=0) @ nodes / M.sum(), corners.mean(axis=0), atol=1e-12)
    second = nodes.T @ M @ nodes / M.sum() - np.outer(corners.mean(axis=0), corners.mean(axis=0))
    weight = {4: 0.0, 10: 1.0 / 20.0, 8: 1.0 / 24.0, 20: 1.0 / 24.0}[count]  # one point has no second moment
    spread = (corners - corners.mean(axis=0)).T @ (corners - corners.mean(axis=0))
    np.testing.assert_allclose(second, weight * spread, atol=1e-12)
    with pytest.raises(ModelError, match="inside out"):
        solid_mass(nodes * [-1, 1, 1], [list(range(count))], np.array([3.0]), "test")
    with pytest.raises(ModelError, match="5 nodes"):
        solid_mass(nodes, [[0, 1, 2, 3, 0]], np.array([3.0]), "test")
