"""Geometric stiffness from CalculiX: static steps under unit loads, and the stresses that they print.

K_g = ∫ σ_ij ∂φ_r/∂x_i · ∂φ_s/∂x_j dV at CalculiX's own integration points. Every load is checked by virtual work:
∫ σ_ij ∂φ_r,i/∂x_j dV is the work of the load in each mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import size_of
from limberjack.engine.modes.numpy_archive import MOST_BYTES
from limberjack.engine.modes.solids import RULES

#: largest error of virtual work beside the sum of its terms
WORK = 0.02
#: elements at a time
CHUNK = 500
_TITLE = " stresses (elem, integ.pnt.,sxx,syy,szz,sxy,sxz,syz)"


@dataclass(frozen=True, eq=False)
class Solids:
    """A mesh, SI: positions (N, 3) m; ids (N,) of nodes, numbers (E,) of elements; elements as indices of nodes."""

    positions: np.ndarray
    ids: np.ndarray
    numbers: np.ndarray
    elements: list[list[int]]


@dataclass(frozen=True, eq=False)
class LoadSteps:
    """Static steps under unit loads of a mesh.

    results : the .dat file with their stresses, or None;  force, pressure : units of the deck, N and N/m²
    """

    mesh: Solids
    results: Path | None
    force: float
    pressure: float

    def write(self, path: Path, names: Sequence[str], loads: np.ndarray) -> None:
        """Steps for the end of a deck that has none, one for each load (L, N, 3), N. OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="ascii", errors="replace") as stream:
            stream.write("** Unit loads for limberjack: put '*INCLUDE, INPUT=<this file>' at the end of the deck in\n")
            stream.write("** place of its steps; the inboard nodes must be held there.\n*ELSET, ELSET=LIMBERJACK\n")
            stream.writelines(f"{number},\n" for number in self.mesh.numbers)
            for row, (name, load) in enumerate(zip(names, loads)):
                stream.write(f"** {name}\n*STEP\n*STATIC\n*CLOAD, OP=NEW\n")
                for j, axis in np.argwhere(load != 0.0):
                    stream.write(f"{self.mesh.ids[j]}, {axis + 1}, {load[j, axis] / self.force:.12g}\n")
                stream.write("*NODE FILE\nU\n" if row == 0 else "")  # writes the mesh
                stream.write("*EL PRINT, ELSET=LIMBERJACK\nS\n*END STEP\n")

    def stiffness(self, shapes: np.ndarray, names: Sequence[str], loads: np.ndarray) -> np.ndarray:
        """(L, n, n) modal stress stiffness of the loads (L, N, 3), from the printed stresses.

        shapes : (N, 3, n) of modes that the deck's supports hold
        Raises ModelError for another number of steps, other elements, or stresses that do not carry the loads.
        """
        assert self.results is not None
        keys, stresses = _of_steps(self.results, names)
        n = shapes.shape[2]
        found, work, size = np.zeros((len(names), n, n)), np.zeros((len(names), n)), np.zeros((len(names), n))
        for rows, slope, volume in _gradients(self.results, self.mesh, keys, shapes):
            flat = slope.reshape(-1, n)
            for row in range(len(names)):
                sigma = self.pressure * stresses[row, rows] * volume[:, None, None]
                found[row] += flat.T @ np.einsum("pij,pjcr->picr", sigma, slope).reshape(-1, n)
                terms = np.einsum("pij,pijr->pr", sigma, slope)
                work[row] += terms.sum(axis=0)
                size[row] += np.abs(terms).sum(axis=0)
        _check_work(self.results, names, work - np.einsum("ljc,jcr->lr", loads, shapes), size)
        return 0.5 * (found + np.swapaxes(found, 1, 2))


def _of_steps(path: Path, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Elements and points (P, 2), stresses (L, P, 3, 3) of all steps."""
    blocks = read_stresses(path)
    if len(blocks) != len(names):
        what = f"holds the stresses of {len(blocks)} steps, but the body has {len(names)} unit loads"
        raise ModelError(what, where=str(path), remedy="Run the steps that 'limberjack modes --unit-loads' writes, all")
    keys = blocks[0][0]
    for number, (other, _) in enumerate(blocks[1:], start=2):
        if not np.array_equal(keys, other):
            what = f"step {number} prints other elements or points than step 1"
            raise ModelError(what, where=str(path), remedy="Run the steps as they were written")
    return keys, np.array([block for _, block in blocks])


def _check_work(path: Path, names: Sequence[str], error: np.ndarray, size: np.ndarray) -> None:
    wrong = np.abs(error).max(axis=1) / np.maximum(size.max(axis=1), 1e-300)
    worst = int(np.argmax(wrong))
    if wrong[worst] > WORK:
        what = f"the stresses of step {worst + 1} do not carry the load '{names[worst]}' (virtual work)"
        remedy = "Write the unit loads again and run them with the mesh, units and supports of the modes"
        raise ModelError(what, where=str(path), remedy=remedy)


def _gradients(
    path: Path, mesh: Solids, keys: np.ndarray, shapes: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows (P,), ∂φ_c/∂x_i (P, 3, 3, n) as [:, i, c], volumes (P,) of the points, some elements at a time."""
    index = {int(number): i for i, number in enumerate(mesh.numbers)}
    starts = np.flatnonzero(np.diff(keys[:, 0], prepend=-1))
    counts = np.diff(np.append(starts, len(keys)))
    groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for start, count in zip(starts, counts):
        element = index.pop(int(keys[start, 0]), None)
        size = -1 if element is None else len(mesh.elements[element])
        if element is None or (size, int(count)) not in RULES:
            what = f"element {keys[start, 0]} with {count} integration points is not one of the mesh of the modes"
            raise ModelError(what, where=str(path), remedy="Use solids of 4, 6, 8, 10, 15 or 20 nodes, the same mesh")
        groups.setdefault((size, int(count)), []).append((int(start), element))
    if index:
        what = f"there are no stresses of element {next(iter(index))}"
        raise ModelError(what, where=str(path), remedy="Run the steps as they were written")
    for kind, members in groups.items():
        for at in range(0, len(members), CHUNK):
            yield _of_elements(kind, members[at : at + CHUNK], mesh, shapes)


def _of_elements(
    kind: tuple[int, int], members: Sequence[tuple[int, int]], mesh: Solids, shapes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rule = RULES[kind]
    nodes = np.array([mesh.elements[element] for _, element in members])
    jacobian = rule.slope @ mesh.positions[nodes][:, None]
    slope = np.linalg.solve(jacobian, np.broadcast_to(rule.slope, (len(members), *rule.slope.shape)))
    moved = np.einsum("eqik,ekcr->eqicr", slope, shapes[nodes], optimize=True)
    volume = rule.weight * np.linalg.det(jacobian)
    rows = np.array([start for start, _ in members])[:, None] + np.arange(kind[1])
    return rows.ravel(), moved.reshape(-1, *moved.shape[2:]), volume.ravel()


def read_stresses(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of every step: element and integration point (P, 2), stresses (P, 3, 3). ModelError with file and line."""
    if path.suffix.lower() != ".dat":
        what = "is not a file of CalculiX's printed results"
        raise ModelError(what, where=str(path), remedy="Name the .dat file of the steps with unit loads")
    size_of(path, MOST_BYTES, "Print fewer results")
    blocks: list[tuple[np.ndarray, np.ndarray]] = []
    lines: list[tuple[int, str]] = []
    inside = False
    with path.open(encoding="latin-1") as stream:
        for number, line in enumerate(stream, start=1):
            if inside and line[:10].strip().isdigit():
                lines.append((number, line))
            elif line.strip():
                blocks += [_block(path, lines)] if inside else []
                inside, lines = line.startswith(_TITLE), []
    blocks += [_block(path, lines)] if inside else []
    if not blocks:
        raise ModelError("holds no stresses", where=str(path), remedy="Run the steps with *EL PRINT, S")
    return blocks


def _block(path: Path, lines: list[tuple[int, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Element and point (P, 2), stresses (P, 3, 3), sorted by these."""
    try:
        rows = np.loadtxt([line for _, line in lines], ndmin=2)
    except ValueError:
        rows = np.zeros((0, 0))
    if not lines or rows.shape != (len(lines), 8) or not np.all(np.isfinite(rows)):
        rows = np.array([_numbers(path, number, line) for number, line in lines]).reshape(-1, 8)
    if not len(rows):
        raise ModelError("holds a step without stresses", where=str(path), remedy="Run the steps with *EL PRINT, S")
    order = np.lexsort((rows[:, 1], rows[:, 0]))
    return rows[order, :2].astype(np.int64), rows[order, 2:][:, [[0, 3, 4], [3, 1, 5], [4, 5, 2]]]


def _numbers(path: Path, number: int, line: str) -> list[float]:
    try:
        values = [float(line[:10]), float(line[10:14]), *(float(line[14 + 14 * i : 28 + 14 * i]) for i in range(6))]
    except ValueError:
        values = [np.nan]
    if not np.all(np.isfinite(values)):
        what = "the line does not hold element, integration point and six stresses"
        raise ModelError(what, where=f"{path}:{number}", remedy="Run the steps again and look at CalculiX's messages")
    return values
