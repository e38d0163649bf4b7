"""Descriptions in YAML: what they make, the errors for wrong ones, and the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import limberjack.examples
from limberjack.cli import main
from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.yaml_document import read_document
from limberjack.engine.modes import read_modal_data
from limberjack.engine.modes.describe import modal_data_of
from limberjack.engine.modes.description import json_schema

DOCS = Path(__file__).parents[3] / "docs"
GOOD = """limberjack_modes: 1
name: mast
frame:
  nodes:
    - {name: root, position: [0, 0, 0]}
    - {name: tip, position: [0, 0, 2]}
  materials:
    - {name: steel, young: 2.1e11, poisson: 0.3, density: 7850}
  sections:
    - {name: bar, type: rectangle, width: 0.02, height: 0.03}
    - {name: pipe, type: tube, outer: 0.02, inner: 0.018}
  beams:
    - {from: root, to: tip, section: bar, material: steel, up: [0, 1, 0], elements: 10}
  masses:
    - {node: tip, mass: 0.5, com: [0, 0, 0.1], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}
interface: [root, tip]
reduction:
  kind: cantilever
  inboard: root
  modes: 4
  damping: 0.01
"""


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "mast.yaml"
    path.write_text(text)
    return path


def test_a_frame(tmp_path):
    data = modal_data_of(written(tmp_path))
    assert data.modes == 4
    assert data.interface == ("root", "tip")
    assert data.masses.sum() == pytest.approx(0.5 + 7850 * 0.02 * 0.03 * 2)
    # Dunkerley and Rayleigh: a massive tip bounds the first frequency of the soft plane between these two
    EI, m, M, L = 2.1e11 * 0.03 * 0.02**3 / 12, 4.71 * 2, 0.5, 2.1
    bare = 3.516 / 2 / np.pi / 4 * np.sqrt(EI / 4.71)
    assert np.sqrt(3 * EI / ((M + m) * L**3)) / 2 / np.pi < data.frequencies()[0] < bare
    np.testing.assert_array_equal(data.damping, 0.01)
    soft = data.shapes[1, 3:, 0]
    assert abs(soft[0]) > 1e3 * abs(soft[1])  # width 0.02 along y of the section = frame x: up is frame y


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        (("name: mast\n", ""), "", "'name' is missing"),
        (("limberjack_modes: 1", "limberjack_modes: 2"), "limberjack_modes", "Use one of: 1"),
        (("young: 2.1e11", "young: -1"), "frame.materials[0].young", "above 0"),
        (("young: 2.1e11", "young: steel"), "frame.materials[0].young", "is not a number"),
        (("poisson: 0.3, ", ""), "frame.materials[0]", "give either poisson or shear"),
        (("poisson: 0.3, ", "poisson: 0.3, shear: 1e9, "), "frame.materials[0]", "give either poisson"),
        (("poisson: 0.3", "poison: 0.3"), "frame.materials[0].poison", "did you mean 'poisson'"),
        (
            ("type: rectangle", "type: oval"),
            "frame.sections[0]",
            "unknown type 'oval'. Use one of: 'general', 'rectangle'",
        ),
        (("type: rectangle", "type: rectangel"), "frame.sections[0]", "did you mean 'rectangle'?"),
        (("type: rectangle, ", ""), "frame.sections[0]", "'type' is missing"),
        (("width: 0.02, ", ""), "frame.sections[0].width", "'width' is missing"),
        (("inner: 0.018", "inner: 0.03"), "frame.sections[1]", "not below the outer radius"),
        (("to: tip", "to: top"), "frame.beams[0].to", "there is no node 'top'. Use one of: 'root', 'tip'"),
        (("section: bar", "section: rod"), "frame.beams[0].section", "there is no section 'rod'"),
        (("material: steel", "material: iron"), "frame.beams[0].material", "there is no material 'iron'"),
        ((", up: [0, 1, 0]", ""), "frame.beams[0]", "'up' is missing"),
        (("up: [0, 1, 0]", "up: [0, 0, 3]"), "frame.beams[0]", "points along the beam"),
        (("elements: 10", "elements: 0"), "frame.beams[0].elements", "at least 1"),
        (("elements: 10", "elements: 2.5"), "frame.beams[0].elements", "whole number"),
        (("position: [0, 0, 2]", "position: [0, 0]"), "frame.nodes[1].position", "Give at least 3"),
        (("position: [0, 0, 2]", "position: [0, 0, .inf]"), "frame.nodes[1].position[2]", "finite"),
        (("name: tip, position", "name: root, position"), "frame.nodes[1].name", "two nodes are called 'root'"),
        (("position: [0, 0, 2]", "position: [0, 0, 0]"), "frame.beams[0]", "no length"),
        (("node: tip", "node: end"), "frame.masses[0].node", "there is no node 'end'"),
        (("xx: 0.01", "xx: -0.01"), "frame.masses[0].inertia", "not that of a body"),
        (("interface: [root, tip]", "interface: [root, top]"), "reduction", "called 'top'"),
        (("interface: [root, tip]", "interface: [{name: a, nodes: [1, 2, 3]}]"), "interface[0]", "Name a node"),
        (("kind: cantilever", "kind: clamped"), "reduction.kind", "Use one of: 'cantilever'"),
        (("  inboard: root\n", ""), "reduction", "hold the inboard node"),
        (("modes: 4", "modes: 400"), "structure 'mast'", "Ask for fewer modes"),
        (("damping: 0.01", "damping: [0.01]"), "reduction", "one for each of 4 modes"),
        (("  damping: 0.01\n", ""), "reduction.damping", "'damping' is missing"),
        (("damping: 0.01", "damping: 0.01\n  select: {below: 0.01}"), "reduction", "none of the 4 modes"),
        (("frame:", "frames:"), "frames", "did you mean 'frame'"),
    ],
)
def test_faults_name_line_field_cause_and_remedy(tmp_path, change, place, words):
    path = written(tmp_path, change)
    with pytest.raises(ModelError) as caught:
        modal_data_of(path)
    assert caught.value.where.startswith(str(path))
    assert caught.value.where.endswith(place)
    assert words in str(caught.value)
    if place and not place.startswith("structure"):
        assert f"{path}:" in caught.value.where  # with its line


def test_the_shipped_description_and_the_command(tmp_path, capsys):
    source = Path(limberjack.examples.__file__).parent / "modes" / "boom.yaml"
    out, plot, table = tmp_path / "boom.npz", tmp_path / "boom.png", tmp_path / "boom.csv"
    assert main(["modes", str(source), "-o", str(out), "--plot", str(plot), "--table", str(table)]) == 0
    printed = capsys.readouterr().out
    data = read_modal_data(out)
    assert plot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    rows = list(csv.DictReader(table.read_text().splitlines()))
    np.testing.assert_allclose([float(row["frequency_hz"]) for row in rows], data.frequencies(), rtol=1e-12)
    assert f"{data.frequencies()[0]:.5g}" in printed
    assert "effective mass" in printed
    assert main(["modes", str(out)]) == 0
    assert f"{data.frequencies()[0]:.5g}" in capsys.readouterr().out


def test_the_command_refuses_what_it_cannot_do(tmp_path, capsys):
    assert main(["modes", str(tmp_path / "none.yaml")]) == 2
    assert "does not exist" in capsys.readouterr().err
    path = written(tmp_path)
    assert main(["modes", str(path), "-o", str(tmp_path / "a.h5")]) == 2
    assert "ends in .npz" in capsys.readouterr().err
    assert main(["modes", str(path)]) == 0
    assert (tmp_path / "mast.npz").exists()
    assert main(["modes", str(tmp_path / "mast.npz"), "-o", "b.npz"]) == 2
    assert "holds modal data already" in capsys.readouterr().err
    assert main(["modes", str(tmp_path / "mast.npz"), "--table", str(tmp_path / "a.txt")]) == 2
    assert "end its name in .csv" in capsys.readouterr().err
    assert main(["modes", str(path), "--plot", str(tmp_path / "a.xyz")]) == 2
    said = capsys.readouterr()
    assert "a.xyz: not a picture that can be drawn; end its name in .png, .pdf, .svg." in said.err
    assert not said.out  # before the work
    (tmp_path / "arm.yaml").write_text("limberjack: 1\nname: arm\n")
    assert main(["modes", str(tmp_path / "arm.yaml")]) == 2
    assert "arm.yaml:1, limberjack: this is a model, not a description of modes" in capsys.readouterr().err


def test_json_schema_accepts_descriptions(tmp_path, capsys):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    assert main(["schema", "--modes"]) == 0
    text = capsys.readouterr().out
    check = jsonschema.Draft202012Validator(json.loads(text))
    example = Path(limberjack.examples.__file__).parent / "modes" / "boom.yaml"
    for good in (example, written(tmp_path)):
        check.validate(read_document(good).root.plain())
    wrong = written(tmp_path, ("elements: 10", "elments: 10"))
    assert not check.is_valid(read_document(wrong).root.plain())


def test_docs_name_every_field_of_descriptions():
    text = (DOCS / "how-to" / "modes.md").read_text(encoding="utf-8")
    schema = json.loads(json_schema())
    fields = {name for part in (schema, *schema["$defs"].values()) for name in part.get("properties", {})}
    missing = {name for name in fields if f"{name}:" not in text and f"`{name}`" not in text}
    assert not missing
