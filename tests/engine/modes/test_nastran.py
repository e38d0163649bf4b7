"""Nastran's files through pyNastran: a frame's nodal bodies as CONM2 and its modes as eigenvectors, read back."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from limberjack.engine.common.errors import MissingExtraError, ModelError
from limberjack.engine.modes import ModalData, integrals
from limberjack.engine.modes.describe import modal_data_of
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.integrals import modal_mass_matrix
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from tests.engine.modes.test_beams import elbow
from tests.validation.figures import figure

try:
    from cpylog import SimpleLogger
    from pyNastran.bdf.bdf import BDF
    from pyNastran.op2.op2 import OP2
    from pyNastran.op2.tables.lama_eigenvalues.lama_objects import RealEigenvalues
    from pyNastran.op2.tables.oug.oug_eigenvectors import RealEigenvectorArray
except (ImportError, AttributeError) as error:
    OP2, missing = None, f"pyNastran cannot be used: {error}"
else:
    missing = ""

needs_pynastran = pytest.mark.skipif(bool(missing), reason=missing)
#: largest displacement 1 of every mode, as Nastran's NORM=MAX; displacement axes turned about z by this angle
ANGLE = 0.7


@pytest.fixture(scope="module")
def data() -> ModalData:
    return reduce_structure(frame_structure(elbow(4)), Reduction("cantilever", "root", ("root", "hand"), 6, 0.01))


def write(folder: Path, data: ModalData, length: float = 1.0, mass: float = 1.0, unit_mass: bool = False) -> None:
    log = SimpleLogger("critical")
    bulk = BDF(log=log, debug=False)
    bulk.punch = True
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    bulk.add_cord2r(1, [0.0] * 3, [0.0, 0.0, 1.0], [c, s, 0.0])
    for i, place, m, centre, J in zip(data.node_ids, data.positions, data.masses, data.centres, data.inertias):
        bulk.add_grid(int(i), (place / length).tolist(), cd=1)
        own = (J - m * (centre @ centre * np.eye(3) - np.outer(centre, centre))) / mass / length**2
        I = [own[0, 0], -own[1, 0], own[1, 1], -own[2, 0], -own[2, 1], own[2, 2]]
        bulk.add_conm2(100 + int(i), int(i), m / mass, X=(centre / length).tolist(), I=I)
    bulk.write_bdf(str(folder / "a.bdf"), size=16, is_double=True)
    results = OP2(log=log, debug=False)
    results.is_nx = False
    to_axes = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    # in the file's units: T = ½ q̇² of its mass unit, length unit
    shapes = data.shapes * np.sqrt(mass) * np.array([length] * 3 + [1.0] * 3)[:, None]
    shapes = np.concatenate([to_axes @ shapes[:, 3:], to_axes @ shapes[:, :3]], axis=1)
    largest = np.ones(data.modes) if unit_mass else np.abs(shapes).max(axis=(0, 1))
    table = np.ascontiguousarray(np.moveaxis(shapes / largest, 2, 0)).astype("float32")
    modes, omega = np.arange(1, data.modes + 1, dtype="int32"), 2 * np.pi * data.frequencies()
    grid = np.column_stack([data.node_ids, np.ones(len(data.node_ids))]).astype("int32")
    results.eigenvectors[1] = RealEigenvectorArray.add_modal_case(
        "OUGV1", grid, table, 1, modes, (omega**2).astype("float32"), data.frequencies().astype("float32")
    )
    results.eigenvectors[1].table_code = 7  # eigenvectors
    values = RealEigenvalues("modes", "LAMA", data.modes)
    for i in range(data.modes):
        line = (i + 1, i + 1, omega[i] ** 2, omega[i], omega[i] / 2 / np.pi, largest[i] ** -2.0, 0.0)
        values.add_f06_line(line, i)
    results.eigenvalues["modes"] = values
    # pyNastran writes this table first of all, but asks for its place among the others too
    kinds = [kind for kind in results.get_table_types() if not kind.startswith("eigenvalues")]
    results.get_table_types = lambda: kinds
    results.write_op2(str(folder / "a.op2"))


def describe(folder: Path, more: str = "", kind: str = "cantilever", interface: str = "1, 4") -> Path:
    inboard = "inboard: 1, " if kind == "cantilever" else ""
    (folder / "a.yaml").write_text(
        f"limberjack_modes: 1\nname: a\nnastran: {{model: a.bdf, results: a.op2{more}}}\n"
        f"interface: [{interface}]\nreduction: {{kind: {kind}, {inboard}modes: 6, damping: 0.01}}\n"
    )
    return folder / "a.yaml"


@needs_pynastran
@pytest.mark.parametrize(
    ("length", "mass", "units"), [(1.0, 1.0, ""), (1e-3, 1e3, ", units: {length: 0.001, mass: 1000}")]
)
def test_modes_masses_axes_and_units(tmp_path, data, length, mass, units):
    write(tmp_path, data, length, mass)
    got = modal_data_of(describe(tmp_path, units))
    figure(
        "frequencies", got.frequencies(), data.frequencies(), unit="Hz", oracle="the frame that was written", rtol=1e-5
    )
    figure("masses", got.masses, data.masses, unit="kg", oracle="the frame that was written", rtol=1e-9)
    np.testing.assert_allclose(got.inertias, data.inertias, atol=1e-9)
    figure(
        "mode shapes",
        got.shapes,
        data.shapes,
        oracle="the frame that was written",
        atol=1e-5 * np.abs(data.shapes).max(),
        rtol=1e-7,
    )
    one, two = (modal_mass_matrix(integrals(item, attachments=["4"])) for item in (got, data_with_ids(data)))
    figure("modal mass matrix", one, two, oracle="the frame that was written", atol=1e-5, rtol=1e-7)


def data_with_ids(data: ModalData) -> ModalData:
    from dataclasses import replace

    return replace(data, node_names=("",) * len(data.node_names), inboard="1", interface=("1", "4"))


@needs_pynastran
@pytest.mark.parametrize(
    ("more", "kind", "interface", "words"),
    [
        (", units: {length: 1, mass: 2}", "cantilever", "1", None),
        (", masses: m.csv", "cantilever", "1", "the modal mass"),
        ("", "free-free", "1", "the results hold 0"),
        ("", "cantilever", "77", "no node '77'"),
        ("", "craig-bampton", "1", "no static modes"),
    ],
)
def test_faults(tmp_path, data, more, kind, interface, words):
    write(tmp_path, data)
    (tmp_path / "m.csv").write_text("node,mass\n4,1000\n")
    path = describe(tmp_path, more, kind, interface)
    if words is None:  # another unit of mass scales everything, which is no fault
        assert modal_data_of(path).masses.sum() == pytest.approx(2.0 * data.masses.sum())
        return
    with pytest.raises(ModelError, match=re.escape(words)):
        modal_data_of(path)


@needs_pynastran
def test_files_that_pynastran_cannot_read(tmp_path, data):
    write(tmp_path, data)
    for name, content in (("a.op2", b"no results"), ("a.bdf", b"GRID,1,0,x\n")):
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ModelError, match=f"{name}.*pyNastran cannot read"):
            modal_data_of(describe(tmp_path))
        (tmp_path / name).write_bytes(kept)
    (tmp_path / "a.op2").unlink()
    with pytest.raises(ModelError, match=r"a\.op2: the file does not exist"):
        modal_data_of(describe(tmp_path))


def test_without_pynastran_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyNastran", None)
    monkeypatch.setitem(sys.modules, "pyNastran.bdf", None)
    monkeypatch.setitem(sys.modules, "pyNastran.bdf.bdf", None)
    (tmp_path / "a.bdf").touch(), (tmp_path / "a.op2").touch()
    with pytest.raises(MissingExtraError, match=re.escape('pip install "limberjack[nastran]"')):
        modal_data_of(describe(tmp_path))
