"""Nastran: grid and masses of a bulk data file, eigenvectors of a binary results file, through pyNastran."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.common.errors import MissingExtraError, ModelError
from limberjack.engine.files.bounded_file import is_there, size_of
from limberjack.engine.modes.description import NastranSpec
from limberjack.engine.modes.matrix_files import read_masses
from limberjack.engine.modes.numpy_archive import MOST_BYTES
from limberjack.engine.modes.reference import cross_matrix
from limberjack.engine.modes.results import Results
from limberjack.engine.modes.structure import need_scipy

#: the file in INCLUDE 'file'
_INCLUDE = re.compile(r"^\s*INCLUDE\s+['\"]?([^'\"\n]+?)['\"]?\s*$", re.MULTILINE | re.IGNORECASE)
#: mass elements that are understood
MASSES = ("CONM2",)


def nastran_results(spec: NastranSpec, folder: Path) -> Results:
    """The eigenmodes of SOL 103. ModelError for files that cannot be read or do not fit, MissingExtraError."""
    need_scipy()
    bulk, results = _opened(spec, folder)
    model, found = folder / spec.model, folder / spec.results
    ids = np.array(sorted(bulk.nodes))
    if not len(ids):
        raise ModelError("has no grid points", where=str(model), remedy="Name the bulk data file of the run")
    length, mass = spec.units.length, spec.units.mass
    positions = length * np.array([bulk.nodes[i].get_position() for i in ids])
    shapes, frequencies, generalized = _eigenvectors(results, bulk, ids, found)
    shapes = shapes / np.sqrt(generalized * mass)
    shapes[:, :3] /= length
    if spec.masses is not None:
        bodies = mass * read_masses(spec.masses, folder, ids), np.zeros((len(ids), 3)), np.zeros((len(ids), 3, 3))
    else:
        bodies = _nodal_bodies(bulk, ids, model)
        bodies = mass * bodies[0], length * bodies[1], mass * length**2 * bodies[2]
    return Results(
        source=f"Nastran, {found.name}",
        ids=ids,
        positions=positions,
        shapes=shapes,
        frequencies=frequencies,
        masses=bodies[0],
        centres=bodies[1],
        inertias=bodies[2],
        full_mass=None,
        turns=True,
        lines=_lines(bulk, ids),
    )


def _opened(spec: NastranSpec, folder: Path) -> tuple[Any, Any]:
    """Both files read by pyNastran."""
    try:
        from cpylog import SimpleLogger
        from pyNastran.bdf.bdf import BDF
        from pyNastran.op2.op2 import OP2
    except ModuleNotFoundError:
        raise MissingExtraError("reading Nastran results", "pyNastran", "nastran") from None
    except (ImportError, AttributeError):  # numpy 2.4 took out names that pyNastran imports
        raise MissingExtraError("reading Nastran results", "numpy below 2.4 for pyNastran", "nastran") from None
    log = SimpleLogger("critical")
    bulk, results = BDF(log=log, debug=False), OP2(log=log, debug=False)
    check_includes(folder / spec.model)
    _guarded(folder / spec.model, lambda name: bulk.read_bdf(name, punch=_bulk_only(name)))
    _guarded(folder / spec.results, results.read_op2)
    return bulk, results


def check_includes(path: Path) -> None:
    """ModelError for a file that INCLUDE names and that is none: pyNastran would open it."""
    waiting, seen = [path], {path}
    while waiting:  # every file once
        file = waiting.pop()
        size_of(file, MOST_BYTES)
        for name in _INCLUDE.findall(file.read_text(encoding="latin-1")):
            for found in (path.parent / name, file.parent / name):
                if found not in seen and is_there(found):
                    seen.add(found)
                    waiting.append(found)


def _bulk_only(name: str) -> bool:
    """Whether a file has no executive and case control before its bulk data."""
    with open(name, encoding="latin-1") as stream:
        return not any(line.split()[:2] == ["BEGIN", "BULK"] for line in map(str.upper, stream))


def _guarded(path: Path, read: Callable[[str], Any]) -> None:
    size_of(path, MOST_BYTES)
    try:
        read(str(path))
    except (Exception, SystemExit) as error:  # pyNastran raises many kinds for files it cannot read
        text = (str(error).strip().splitlines() or [type(error).__name__])[0]
        remedy = "Give the bulk data file and the .op2 file of one run (PARAM,POST,-1)"
        raise ModelError(
            f"pyNastran cannot read the file: {text.rstrip('.'):.120}", where=str(path), remedy=remedy
        ) from None


def _eigenvectors(results: Any, bulk: Any, ids: np.ndarray, path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shapes (N, 6, n) [rotation; translation] in basic axes, frequencies (n,) Hz, generalized masses (n,)."""
    if not results.eigenvectors:
        remedy = "Run SOL 103 with DISPLACEMENT=ALL and PARAM,POST,-1"
        raise ModelError("holds no eigenvectors", where=str(path), remedy=remedy)
    table = next(iter(results.eigenvectors.values()))
    rows = {int(node): i for i, (node, kind) in enumerate(table.node_gridtype) if kind == 1}
    absent = [int(i) for i in ids if int(i) not in rows]
    if absent:
        what = f"has no eigenvector at the grid point {absent[0]}"
        raise ModelError(what, where=str(path), remedy="Ask for DISPLACEMENT=ALL, and give the files of one run")
    data = np.asarray(table.data, dtype=float)[:, [rows[int(i)] for i in ids]]
    if np.iscomplexobj(table.data) or data.shape[2] != 6:
        raise ModelError("holds complex modes", where=str(path), remedy="Compute real modes (SOL 103)")
    shapes = np.empty((len(ids), 6, len(data)))
    for j, identity in enumerate(ids):
        frame = bulk.nodes[int(identity)].cd_ref
        if frame is not None and frame.type not in ("CORD1R", "CORD2R"):
            what = f"the displacements of the grid point {identity} are in a frame that is not rectangular"
            raise ModelError(what, where=str(path), remedy="Use rectangular displacement frames (CD)")
        to_basic = np.eye(3) if frame is None else frame.beta().T
        shapes[j, :3], shapes[j, 3:] = to_basic @ data[:, j, 3:].T, to_basic @ data[:, j, :3].T
    frequencies = np.asarray(table.mode_cycles, dtype=float)
    masses = np.ones(len(data))
    if results.eigenvalues:
        masses = np.asarray(next(iter(results.eigenvalues.values())).generalized_mass, dtype=float)[: len(data)]
    if len(masses) < len(data) or np.any(masses <= 0.0):
        raise ModelError("has modes without generalized mass", where=str(path), remedy="Compute the modes again")
    return shapes, np.abs(frequencies), masses


def _nodal_bodies(bulk: Any, ids: np.ndarray, path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses, centres, inertias about the nodes: every element's mass in equal parts at its nodes, and CONM2."""
    index = {int(identity): i for i, identity in enumerate(ids)}
    masses, moments, inertias = np.zeros(len(ids)), np.zeros((len(ids), 3)), np.zeros((len(ids), 3, 3))
    for element in bulk.elements.values():
        nodes = [index[int(node)] for node in element.node_ids if node is not None]
        if hasattr(element, "Mass") and nodes:
            np.add.at(masses, nodes, float(element.Mass()) / len(nodes))
    for number, item in bulk.masses.items():
        if item.type not in MASSES or item.cid != 0:
            what = f"the mass element {number} ({item.type}) is not understood"
            remedy = "Use CONM2 in basic axes, or give the masses of the nodes (masses: file.csv)"
            raise ModelError(what, where=str(path), remedy=remedy)
        j, offset, (xx, xy, yy, xz, yz, zz) = index[int(item.nid)], np.asarray(item.X, dtype=float), item.I
        masses[j] += item.mass
        moments[j] += item.mass * offset
        inertias[j] += np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]])
        inertias[j] -= item.mass * cross_matrix(offset) @ cross_matrix(offset)
    scale = float(bulk.params["WTMASS"].values[0]) if "WTMASS" in bulk.params else 1.0
    centres = moments / np.where(masses > 0.0, masses, 1.0)[:, None]
    return scale * masses, centres, scale * inertias


def _lines(bulk: Any, ids: np.ndarray) -> np.ndarray:
    """(E, 2) lines of one-dimensional elements, outlines of the others' first four nodes."""
    index = {int(identity): i for i, identity in enumerate(ids)}
    pairs = set()
    for element in bulk.elements.values():
        nodes = [index[int(node)] for node in element.node_ids[:4] if node is not None]
        ring = nodes if len(nodes) < 3 else [*nodes, nodes[0]]
        pairs |= {(min(a, b), max(a, b)) for a, b in itertools.pairwise(ring)}
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
