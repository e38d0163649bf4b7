"""CalculiX: results of a frequency step (.frd, text) with the mesh and the mode shapes.

CalculiX normalises modes to unit modal mass. Its matrices (*FREQUENCY, SOLVER=MATRIXSTORAGE: .sti, .mas, .dof) are
read as any program's, by matrix_files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import size_of
from limberjack.engine.modes.calculix_stress import LoadSteps, Solids
from limberjack.engine.modes.description import CalculixSpec, UnitsSpec
from limberjack.engine.modes.matrices import lumped_diagonal
from limberjack.engine.modes.matrix_files import read_masses
from limberjack.engine.modes.results import FULL_TOLERANCE, Results
from limberjack.engine.modes.solids import EDGES, solid_mass
from limberjack.engine.modes.structure import need_scipy

#: largest .frd file
MOST_BYTES = 4 * 1024**3
#: error of modal masses by the digits of the file
DIGITS = 1e-4
#: largest modal mass by full integration, less 1, of modes that reduced integration has computed
HOURGLASS = 0.3
#: element types of lines and surfaces (OUTPUT=2D)
FLAT = range(7, 13)


@dataclass(frozen=True, eq=False)
class FrdFile:
    """What is read of a .frd file, in its own units.

    ids, positions : (N,), (N, 3);  elements : nodes of each, indices;  numbers : of the elements;  materials : of each
    frequencies : (n,) as written, Hz;  shapes : (N, 3, n)
    """

    ids: np.ndarray
    positions: np.ndarray
    elements: list[list[int]]
    numbers: list[int]
    materials: list[str]
    frequencies: np.ndarray
    shapes: np.ndarray


def calculix_results(spec: CalculixSpec, folder: Path) -> Results:
    """The eigenmodes of a .frd file with masses of the mesh or given ones. ModelError for files that do not fit."""
    need_scipy()
    path = folder / spec.results
    frd = read_frd(path)
    length, mass = spec.units.length, spec.units.mass
    nodes = len(frd.ids)
    positions, full = length * frd.positions, None
    if spec.density is not None:
        density = _densities(spec.density, frd, path) * mass / length**3
        full = _mesh_mass(positions, frd, density, frd.shapes / np.sqrt(mass), str(path))
        masses = lumped_diagonal(full)
    else:
        assert spec.masses is not None
        masses = mass * read_masses(spec.masses, folder, frd.ids)
    # modes of unit modal mass in the file's units: shapes² × mass = 1
    shapes = np.concatenate([np.zeros_like(frd.shapes), frd.shapes / np.sqrt(mass)], axis=1)
    return Results(
        source=f"CalculiX, {path.name}",
        ids=frd.ids,
        positions=positions,
        shapes=shapes,
        frequencies=frd.frequencies,
        masses=masses,
        centres=np.zeros((nodes, 3)),
        inertias=np.zeros((nodes, 3, 3)),
        full_mass=full,
        turns=False,
        lines=_lines(frd.elements),
        deck=load_steps(frd, positions, spec.stress, folder, spec.units),
    )


def load_steps(frd: FrdFile, positions: np.ndarray, stress: str | None, folder: Path, units: UnitsSpec) -> LoadSteps:
    """What writes the unit loads of a mesh for CalculiX, and reads the stresses; positions (N, 3) m."""
    mesh = Solids(positions, frd.ids, np.array(frd.numbers, dtype=np.int64), frd.elements)
    force = units.mass * units.length
    return LoadSteps(mesh, None if stress is None else folder / stress, force, force / units.length**2)


def _mesh_mass(positions: np.ndarray, frd: FrdFile, density: np.ndarray, shapes: np.ndarray, where: str) -> Any:
    """Sparse (N, N) mass of the mesh, with the integration points that make the modes' mass nearest to 1.

    The file does not distinguish C3D20 from C3D20R, nor shells and beams that CalculiX expands into them: S8, S8R, B32.
    """
    full = solid_mass(positions, frd.elements, density, where)
    error = _modal_mass_error(full, shapes)
    if error <= DIGITS or not any(len(nodes) in (8, 20) for nodes in frd.elements):
        return full
    reduced = solid_mass(positions, frd.elements, density, where, reduced=True)
    other = _modal_mass_error(reduced, shapes)
    if other > error or (other > FULL_TOLERANCE and error > HOURGLASS):
        return full
    if error > HOURGLASS:
        what = "the mode shapes zigzag within elements of reduced integration (hourglass motion)"
        raise ModelError(what, where=where, remedy="Use more elements through the thickness, or C3D20, S8, C3D10")
    return reduced


def _modal_mass_error(mass: Any, shapes: np.ndarray) -> float:
    modal = sum(np.einsum("jr,jr->r", shapes[:, i], mass @ shapes[:, i]) for i in range(3))
    return float(np.abs(modal - 1.0).max())


def _densities(given: float | dict[str, float], frd: FrdFile, path: Path) -> np.ndarray:
    if isinstance(given, float):
        return np.full(len(frd.elements), given)
    absent = sorted(set(frd.materials) - set(given))
    if absent:
        what = f"there is no density of the material '{absent[0]}'"
        raise ModelError(what, where=str(path), remedy=f"Give densities of {', '.join(sorted(set(frd.materials)))}")
    return np.array([given[name] for name in frd.materials])


def _lines(elements: Sequence[Sequence[int]]) -> np.ndarray:
    """(E, 2) edges of the elements, each once."""
    pairs = {
        (min(nodes[a], nodes[b]), max(nodes[a], nodes[b])) for nodes in elements for a, b in EDGES.get(len(nodes), ())
    }
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def read_frd(path: Path, modes: bool = True) -> FrdFile:
    """Mesh and, unless `modes` is false, displacements of all modes. ModelError with file, line, cause and remedy."""
    if path.suffix.lower() != ".frd":
        what = "is not a file of CalculiX's results"
        raise ModelError(what, where=str(path), remedy="Name the .frd file of a frequency step")
    size_of(path, MOST_BYTES, "Write fewer results")
    return _Reader(path, modes).read()


class _Reader:
    """Goes through the lines once; blocks end with ' -3'."""

    def __init__(self, path: Path, modes: bool) -> None:
        self._path, self._modes = path, modes
        self._ids: list[int] = []
        self._positions: list[list[float]] = []
        self._elements: list[list[int]] = []
        self._numbers: list[int] = []
        self._material_of: list[int] = []
        self._names: dict[int, str] = {}
        self._frequencies: list[float] = []
        self._shapes: list[np.ndarray] = []
        self._index: dict[int, int] = {}
        self._line = 0

    def read(self) -> FrdFile:
        block, modal, frequency = "", False, 0.0
        try:
            with self._path.open(encoding="latin-1") as stream:
                for self._line, line in enumerate(stream, start=1):
                    if line.startswith("    2C"):
                        block = "nodes"
                    elif line.startswith("    3C"):
                        block = "elements"
                        self._index = {identity: i for i, identity in enumerate(self._ids)}
                    elif line.startswith("    1UMAT"):
                        self._names[int(line[9:14])] = line[14:].strip()
                    elif line.startswith("  100C"):
                        modal = self._modes and "MODAL" in line
                        frequency = float(line[12:24])
                    elif line.startswith(" -4"):
                        block = "shape" if modal and line[5:].startswith("DISP") else ""
                        if block:
                            self._frequencies.append(frequency)
                            self._shapes.append(np.zeros((len(self._ids), 3)))
                    elif line.startswith(" -3"):
                        block = ""
                    elif block and line[:3] in (" -1", " -2"):
                        self._record(block, line)
        except ModelError:
            raise
        except (ValueError, KeyError, IndexError) as error:
            what = f"the line cannot be understood ({error})"
            remedy = "Write the results as text, by *NODE FILE, without OUTPUT=2D"
            raise ModelError(what, where=f"{self._path}:{self._line}", remedy=remedy) from None
        return self._whole()

    def _record(self, block: str, line: str) -> None:
        if block == "nodes":
            self._ids.append(int(line[3:13]))
            self._positions.append(_three(line))
        elif block == "elements" and line.startswith(" -1"):
            if int(line[13:18]) in FLAT:
                what = f"element {int(line[3:13])} is stored as a line or a surface, without its thickness"
                remedy = "Write shells and beams expanded: *NODE FILE, OUTPUT=3D"
                raise ModelError(what, where=f"{self._path}:{self._line}", remedy=remedy)
            self._elements.append([])
            self._numbers.append(int(line[3:13]))
            self._material_of.append(int(line[23:28]))
        elif block == "elements":
            text = line[3:].rstrip("\n")
            self._elements[-1] += [self._index[int(text[i : i + 10])] for i in range(0, len(text.rstrip()), 10)]
        elif line.startswith(" -1"):
            self._shapes[-1][self._index[int(line[3:13])]] = _three(line)

    def _whole(self) -> FrdFile:
        if not self._ids or (self._modes and not self._frequencies):
            what = "holds no modes" if self._ids else "holds no mesh"
            remedy = "Run a *FREQUENCY step with *NODE FILE and U"
            raise ModelError(what, where=str(self._path), remedy=remedy)
        for what, values in (
            ("positions", self._positions),
            ("frequencies", self._frequencies),
            ("modes", self._shapes),
        ):
            if not np.all(np.isfinite(np.asarray(values))):
                remedy = "Run the frequency step again and look at its messages"
                raise ModelError(f"{what} are not finite numbers", where=str(self._path), remedy=remedy)
        names = [self._names.get(number, str(number)) for number in self._material_of]
        return FrdFile(
            np.array(self._ids),
            np.array(self._positions),
            self._elements,
            self._numbers,
            names,
            np.array(self._frequencies),
            np.stack(self._shapes, axis=2) if self._shapes else np.zeros((len(self._ids), 3, 0)),
        )


def _three(line: str) -> list[float]:
    return [float(line[13 + 12 * i : 25 + 12 * i]) for i in range(3)]
