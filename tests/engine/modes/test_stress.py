"""Geometric stiffness of bodies that are no built-in beams: CalculiX under unit loads, and matrices that are given.

Oracles: the foreshortening of built-in beams, which knows no stress; Southwell's coefficient of a spinning cantilever.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from scipy.linalg import eigh

from limberjack.cli import main
from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes import ModalData, integrals, read_modal_data, write_modal_data
from limberjack.engine.modes.describe import modal_data_of, write_unit_loads
from limberjack.engine.modes.frame import Beam, Frame, Material, rectangle
from limberjack.engine.modes.frame_structure import beam_model, frame_structure
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from limberjack.engine.modes.unit_loads import unit_loads
from tests.engine.kernels.flexible.test_beams import MODEL, model, squares
from tests.engine.modes.test_beams import straight
from tests.engine.modes.test_calculix import DENSITY, SIZE, Block, describe, needs_ccx, ties
from tests.engine.modes.test_calculix_elements import thick
from tests.engine.modes.test_matrices import common, write_nodes
from tests.engine.modes.test_matrices import describe as describe_matrices
from tests.validation.figures import figure

RESULTS = f"calculix: {{results: bar.frd, density: {DENSITY}, stress: loads.dat}}"
STORED = "matrices: {stiffness: bar.sti, mass: bar.mas, nodes: bar.inp, freedoms: bar.dof, stress: loads.dat}"
#: 16 bricks along the bar, which is stiffer at its clamped root by Poisson's effect: 1 % of frequency
COUNT, SAME = 16, 0.015


def run_loads(folder: Path, source: str, block: Block, count: int, kind: str = "cantilever") -> Path:
    """The unit loads of a description, solved by ccx; the description that names their stresses."""
    described = describe(folder, source.replace(", stress: loads.dat", ""), ties(block, count), kind, modes=6)
    write_unit_loads(described, folder / "unit.inp")
    block.write(folder, held=True)
    deck = (folder / "bar.inp").read_text()
    (folder / "loads.inp").write_text(deck[: deck.index("*STEP")] + "*INCLUDE, INPUT=unit.inp\n")
    done = subprocess.run(["ccx", "loads"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    return describe(folder, source, ties(block, count), kind, modes=6)


@pytest.fixture(scope="module")
def solved(tmp_path_factory) -> tuple[Path, Block]:
    """Results of a bar that is held, and its stresses under unit loads."""
    folder, block = tmp_path_factory.mktemp("held"), Block("C3D20", COUNT)
    block.solve(folder, held=True, modes=8)
    run_loads(folder, RESULTS, block, COUNT)
    return folder, block


@pytest.fixture(scope="module")
def beam() -> ModalData:
    """The same bar as a built-in beam with shear."""
    section, material = rectangle(SIZE[1], SIZE[2], True), Material(70e9, 70e9 / 2 / 1.33, DENSITY)
    member = Beam(("root", "tip"), section, material, np.array([0.0, 0.0, 1.0]), 32, "bar")
    frame = Frame("bar", ("root", "tip"), np.array([[0.0, 0, 0], [SIZE[0], 0, 0]]), (member,), ())
    return reduce_structure(frame_structure(frame, "consistent"), Reduction("cantilever", "root", ("tip",), 4))


def signed(data: ModalData) -> ModalData:
    """The first four modes, two in each plane, with a tip that moves to positive y or z."""
    tip = data.shapes[data.node("tip"), 3:, :4]
    sign = np.sign(tip[np.abs(tip).argmax(axis=0), np.arange(4)])
    made = {"shapes": data.shapes[:, :, :4] * sign, "mass": data.mass[:4, :4], "stiffness": data.stiffness[:4, :4]}
    if data.participation is not None:
        made["participation"] = data.participation[:, :4] * sign
    flip = np.outer(sign, sign)
    if data.foreshortening is not None:
        made["foreshortening"] = data.foreshortening[:, :, :4, :4] * flip
    if data.stress is not None:
        names = ("acceleration", "angular", "centrifugal", "force")
        cut = {name: getattr(data.stress, name)[..., :4, :4] * flip for name in names}
        made["stress"] = replace(data.stress, **cut)
    return replace(data, damping=data.damping[:4], **made)


@needs_ccx
def test_calculix_gives_the_second_order_of_the_beam(solved, beam):
    folder, block = solved
    got = integrals(signed(modal_data_of(describe(folder, RESULTS, ties(block, COUNT), modes=6))), "root", ["tip"])
    want = integrals(signed(beam), "root", ["tip"])
    for name in ("S2", "J2", "N1"):
        ours, theirs = getattr(got, name), getattr(want, name)
        figure(
            "integrals of second order",
            ours,
            theirs,
            oracle="beam elements",
            atol=SAME * np.abs(theirs).max(),
            rtol=1e-7,
        )
    G = want.attachments[0].G
    np.testing.assert_allclose(got.attachments[0].G, G, atol=SAME * np.abs(G).max())
    assert np.abs(G[0, 0, 0]) > 0.1 * np.abs(G).max()


def southwell(data: ModalData, mode: int, axis: int = 2) -> float:
    """(ω² - ω0²)/Ω² of one mode for spin about an axis of the root, the modes' coupling left out."""
    return float(-0.5 * integrals(data, "root").J2[mode, mode, axis, axis])


@needs_ccx
def test_calculix_bar_stiffens_with_spin_as_published(solved, beam):
    """First flapping: 1.193 in the first mode of a slender cantilever without hub; lagging has 1 less."""
    folder, block = solved
    data = signed(modal_data_of(describe(folder, RESULTS, ties(block, COUNT), modes=6)))
    flap = int(np.abs(data.shapes[data.node("tip"), 5, :2]).argmax())
    figure("Southwell's coefficient of flapping", southwell(data, flap), 1.193, oracle="published: 1.193", rtol=SAME)
    figure("Southwell's coefficient of lagging", southwell(data, 1 - flap), 0.193, oracle="published: 0.193", atol=SAME)
    for mode in range(4):
        figure(
            "Southwell's coefficients of four modes",
            southwell(data, mode),
            southwell(signed(beam), mode),
            oracle="beam elements",
            atol=SAME * 6.5,
        )


@needs_ccx
def test_a_calculix_body_spins_in_a_model_like_the_beam(solved, beam, tmp_path):
    """ω² of the modes at a constant rate of a hinge across the bar, by the engine: bending in and out of the plane."""
    folder, block = solved
    write_modal_data(modal_data_of(describe(folder, RESULTS, ties(block, COUNT), modes=4)), tmp_path / "bar.npz")
    write_modal_data(beam, tmp_path / "boom.npz")
    text = MODEL.replace("name: spinner", "name: spinner\nsimulation: {dt: 1e-4}")
    ours, theirs = model(tmp_path, text.replace("boom.npz", "bar.npz")), model(tmp_path, text)
    assert ours.warnings == ()
    for rate in (0.0, 200.0):
        figure(
            "squared frequencies of a spinning bar",
            squares(ours, rate),
            squares(theirs, rate),
            unit="rad²/s²",
            oracle="beam elements",
            rtol=0.03,
        )
    growth = [squares(system, 200.0) - squares(system, 0.0) for system in (ours, theirs)]
    np.testing.assert_allclose(growth[0], growth[1], rtol=0.03, atol=0.01 * 200.0**2)
    assert growth[0].max() > 200.0**2


@needs_ccx
def test_stresses_need_a_held_node(solved, tmp_path):
    folder, block = solved
    block.solve(tmp_path, held=False, modes=10)
    (tmp_path / "loads.dat").write_bytes((folder / "loads.dat").read_bytes())
    with pytest.raises(ModelError, match="body held at its inboard node, but the modes are free-free"):
        modal_data_of(describe(tmp_path, RESULTS, ties(block, COUNT), "free-free", modes=4))


@needs_ccx
def test_matrices_of_calculix_and_its_stresses(solved, tmp_path):
    """Craig-Bampton modes of the stored matrices, stresses of the same loads: the same spinning frequencies."""
    folder, block = solved
    block.solve(tmp_path, held=False, solver=", SOLVER=MATRIXSTORAGE")
    data = modal_data_of(run_loads(tmp_path, STORED, block, COUNT, "craig-bampton"))
    cantilever = modal_data_of(describe(folder, RESULTS, ties(block, COUNT), modes=6))
    for spin in (0.0, 400.0):
        one, two = (
            eigh(made.K - 0.5 * spin**2 * made.J2[:, :, 2, 2], made.Mff, eigvals_only=True)[:4]
            for made in (integrals(data, "root", ["tip"]), integrals(cantilever, "root", ["tip"]))
        )
        np.testing.assert_allclose(one, two, rtol=5e-3)


@needs_ccx
@pytest.mark.parametrize("kind", ["C3D10", "C3D8", "C3D4", "C3D20R"])
def test_stresses_of_every_element_carry_their_loads(tmp_path, kind):
    """What the reader checks by virtual work; slender bars of bad elements have the right trend of G at least."""
    count = 4 if kind == "C3D20R" else 8
    block = Block(kind.removesuffix("R"), count)
    block.kind = kind
    if kind == "C3D20R":
        block = thick(kind)
    block.solve(tmp_path, held=True, modes=8)
    data = modal_data_of(run_loads(tmp_path, RESULTS, block, count))
    made = integrals(data, "root", ["tip"])
    shape = data.shapes[data.node("tip"), 3:, 0]
    # of a uniform cantilever: 2.32/L at the tip, if the mode has the deflection 1 there
    assert made.attachments[0].G[0, 0, 0] == pytest.approx(-2.32 / 2 * (shape @ shape), rel=0.06)


def test_given_matrices_say_the_same_as_foreshortening(tmp_path):
    """Stress stiffness of a straight frame under unit loads, in mm and tonnes: integrals of its foreshortening."""
    model, structure = beam_model(straight(6)), frame_structure(straight(6))
    K, M = common(structure, 1e-3, 1e3)
    write_nodes(tmp_path, structure.positions * 1e3)
    scipy.sparse.save_npz(tmp_path / "K.npz", K)
    scipy.sparse.save_npz(tmp_path / "M.npz", M)
    nodes, tip = len(structure.positions), structure.node("tip")
    unit = np.zeros((3, nodes, 3))
    unit[:, tip] = np.eye(3)
    direct = reduce_structure(structure, Reduction("cantilever", "root", ("tip",), 4))

    def lumped(field):  # at the centres, without moments, which stretch no straight beam
        return structure.masses[:, None] * field

    names = []
    for row, load in enumerate(unit_loads(lumped, structure.positions + structure.centres, [unit])):
        forces = np.zeros((nodes, 6))
        forces[:, 3:] = load
        Kg = model.stress_stiffness(forces.ravel(), structure.node("root"))
        scale = 1e-3 if row < 3 else 1.0  # 1 mm/s², 1 rad/s², and 1 t·mm/s² = 1 N
        scipy.sparse.save_npz(tmp_path / f"s{row}.npz", common(replace(structure, stiffness=scale * Kg), 1e-3, 1e3)[0])
        names.append(f"s{row}.npz")
    pairs = dict(zip(("xx", "yy", "zz", "xy", "xz", "yz"), names[6:12]))
    stress = (f", stress: {{acceleration: [{', '.join(names[:3])}], angular: [{', '.join(names[3:6])}], "
              f"centrifugal: {str(pairs).replace(chr(39), '')}, forces: {{\"{tip + 1}\": [{', '.join(names[12:])}]}}}}"
              )  # fmt: skip
    more = ", units: {length: 0.001, mass: 1000}" + stress
    root = str(structure.node("root") + 1)
    data = modal_data_of(describe_matrices(tmp_path, "K.npz", "M.npz", more=more, inboard=root, interface=tip + 1))
    got, want = integrals(data, root, [str(tip + 1)], 4), integrals(direct, "root", ["tip"])
    turn = np.sign(np.einsum("jir,jir->r", data.shapes[:, :, :4], direct.shapes))
    for name in ("S2", "N1"):
        ours, theirs = getattr(got, name) * np.outer(turn, turn), getattr(want, name)
        np.testing.assert_allclose(ours, theirs, atol=2e-3 * np.abs(theirs).max(), err_msg=name)
    ours, theirs = got.J2 * np.outer(turn, turn)[:, :, None, None], want.J2
    np.testing.assert_allclose(ours, theirs, atol=2e-3 * np.abs(theirs).max())
    ours, theirs = got.attachments[0].G * np.outer(turn, turn), want.attachments[0].G
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())


@needs_ccx
def test_faults_of_stresses(solved, tmp_path):
    folder, block = solved
    for name in ("bar.frd", "loads.dat"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    tied, text = ties(block, COUNT), (folder / "loads.dat").read_text()
    first = text.index(" stresses", 10)
    for wrong, words in (
        ("", "holds no stresses"),
        (text[:first], "stresses of 1 steps, but the body has 15 unit loads"),
        (
            text.replace(" 0.1000000E+01\n", " 0.1E+01\n").replace("E+0", "E+x", 60),
            r"loads.dat:\d+: the line does not hold",
        ),
        (text[first:] + text[:first], "do not carry the load"),
    ):
        (tmp_path / "loads.dat").write_text(wrong)
        with pytest.raises(ModelError, match=words):
            modal_data_of(describe(tmp_path, RESULTS, tied, modes=6))
    with pytest.raises(ModelError, match=re.escape("none.dat: the file does not exist")):
        modal_data_of(describe(tmp_path, RESULTS.replace("loads.dat", "none.dat"), tied, modes=6))


@needs_ccx
def test_command_writes_unit_loads(solved, tmp_path, capsys):
    folder, block = solved
    (tmp_path / "bar.frd").write_bytes((folder / "bar.frd").read_bytes())
    source = RESULTS.replace(", stress: loads.dat", "")
    described = describe(tmp_path, source, ties(block, COUNT), modes=6)
    assert main(["modes", str(described), "--unit-loads", str(tmp_path / "unit.inp")]) == 0
    assert "15 steps" in capsys.readouterr().out
    assert (tmp_path / "unit.inp").read_text() == (folder / "unit.inp").read_text()
    assert main(["modes", str(described), "-o", str(tmp_path / "bar.npz")]) == 0
    assert "no geometric" in capsys.readouterr().out
    assert read_modal_data(tmp_path / "bar.npz").stress is None
