"""Which elements of CalculiX have a mass from the mesh: all modes of ccx then have unit modal mass; others are refused.

Shells and beams: CalculiX expands them into solids, which its results hold.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes.describe import modal_data_of
from tests.engine.modes.test_calculix import CORNERS, DENSITY, MIDDLES, SIZE, Block, needs_ccx

LENGTH, WIDTH, THICK = 1.0, 0.1, 0.01


def wedges(kind: str, count: int = 6) -> Block:
    """A bar of bricks, each cut into two wedges."""
    block = Block("C3D8", count)
    block.kind, block.elements, block.ids = kind, [], {}
    edges = ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5))
    for i in range(count):
        corners = [np.array([2 * i, 0, 0]) + np.array(c) for c in CORNERS]
        for tri in ((0, 1, 2), (0, 2, 3)):
            p = [corners[k] for k in tri] + [corners[k + 4] for k in tri]
            p += [(p[a] + p[b]) // 2 for a, b in edges] if kind == "C3D15" else []
            block.elements.append([block.node(x) for x in p])
    return block


def thick(kind: str) -> Block:
    """Two by two bricks in the section."""
    block = Block("C3D20", 4)
    block.kind, block.elements, block.ids = kind, [], {}
    for i in range(4):
        for j, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
            base = np.array([2 * i, 2 * j, 2 * k])
            block.elements.append([block.node(base + np.array(c)) for c in [*CORNERS, *MIDDLES]])
    block.step = block.step * [1.0, 0.5, 0.5]
    return block


def plate(folder: Path, kind: str, output: str = "", across: int = 2) -> None:
    """A cantilever of shells, or of beams along its middle, solved by ccx."""
    quadratic = kind[1] in "68" or kind.startswith("B32")
    ids: dict[tuple[int, int], int] = {}

    def node(x: int, y: int) -> int:
        return ids.setdefault((x, y), len(ids) + 1)

    elements = []
    for x in range(0, 12, 2):
        if kind[0] == "B":
            elements += [[node(x, 0), node(x + 1, 0), node(x + 2, 0)]] if quadratic else [
                [node(x, 0), node(x + 1, 0)], [node(x + 1, 0), node(x + 2, 0)]]  # fmt: skip
            continue
        for y in range(0, 2 * across, 2):
            corners = [(x, y), (x + 2, y), (x + 2, y + 2), (x, y + 2)]
            for ring in (corners[:3], [corners[0], *corners[2:]]) if kind == "S6" else (corners,):
                sides = zip(ring, [*ring[1:], ring[0]])
                middles = [((a[0] + b[0]) // 2, (a[1] + b[1]) // 2) for a, b in sides] if quadratic else []
                elements.append([node(*p) for p in [*ring, *middles]])
    lines = ["*NODE", *(f"{i}, {x * LENGTH / 12}, {y * WIDTH / 2 / across}, 0." for (x, y), i in ids.items())]
    lines += [f"*ELEMENT, TYPE={kind}, ELSET=E", *(", ".join(map(str, [i, *e])) for i, e in enumerate(elements, 1))]
    lines += ["*MATERIAL, NAME=AL", "*ELASTIC", "70e9, 0.33", "*DENSITY", f"{DENSITY}"]
    beam = ["*BEAM SECTION, ELSET=E, MATERIAL=AL, SECTION=RECT", f"{THICK}, {THICK}", "0., 1., 0."]
    lines += beam if kind[0] == "B" else ["*SHELL SECTION, ELSET=E, MATERIAL=AL", f"{THICK}"]
    lines += ["*BOUNDARY", *(f"{i}, 1, 6" for (x, _), i in ids.items() if x == 0)]
    lines += ["*STEP", "*FREQUENCY", "4", f"*NODE FILE{output}", "U", "*END STEP"]
    (folder / "bar.inp").write_text("\n".join(lines) + "\n")
    done = subprocess.run(["ccx", "bar"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]


def described(folder: Path) -> Path:
    """Everything that is held lies at x = 0."""
    from limberjack.engine.modes.calculix import read_frd

    frd = read_frd(folder / "bar.frd")
    root = frd.ids[frd.positions[:, 0] < 1e-6].tolist()
    (folder / "bar.yaml").write_text(
        f"limberjack_modes: 1\nname: bar\ncalculix: {{results: bar.frd, density: {DENSITY}}}\n"
        f"interface: [{{name: root, nodes: {root}}}]\n"
        "reduction: {kind: cantilever, inboard: root, modes: 4, damping: 0.002}\n"
    )
    return folder / "bar.yaml"


@needs_ccx
@pytest.mark.parametrize("kind", ["C3D15", "C3D6", "C3D20R", "C3D8R"])
def test_wedges_and_reduced_integration(tmp_path, kind):
    block = thick(kind) if kind == "C3D20R" else Block(kind) if kind == "C3D8R" else wedges(kind)
    block.solve(tmp_path, held=True)
    data = modal_data_of(described(tmp_path))
    np.testing.assert_allclose(data.mass, np.eye(4), atol=2e-5)
    assert data.masses.sum() == pytest.approx(DENSITY * np.prod(SIZE))


@needs_ccx
@pytest.mark.parametrize("kind", ["S8", "S8R", "S6", "S4R", "B32", "B32R", "B31R"])
def test_shells_and_beams_that_ccx_expands(tmp_path, kind):
    plate(tmp_path, kind)
    data = modal_data_of(described(tmp_path))
    np.testing.assert_allclose(data.mass, np.eye(4), atol=1e-4)
    assert data.masses.sum() == pytest.approx(DENSITY * LENGTH * THICK * (THICK if kind[0] == "B" else WIDTH))


@needs_ccx
@pytest.mark.parametrize(
    ("kind", "output", "words"),
    [
        ("S4", "", "modal mass .* C3D8I, S4, B31"),
        ("S8", ", OUTPUT=2D", r"bar\.frd:\d+: element 1 is stored as a line or a surface.*OUTPUT=3D"),
        ("B32", ", OUTPUT=2D", r"bar\.frd:\d+: element 1 is stored as a line or a surface.*OUTPUT=3D"),
    ],
)
def test_elements_without_a_mass_are_refused(tmp_path, kind, output, words):
    plate(tmp_path, kind, output)
    with pytest.raises(ModelError, match=words):
        modal_data_of(described(tmp_path))


@needs_ccx
def test_hourglass_motion_is_refused(tmp_path):
    block = Block("C3D20", 8)
    block.kind = "C3D20R"
    block.solve(tmp_path, held=True)
    with pytest.raises(ModelError, match="hourglass"):
        modal_data_of(described(tmp_path))
